"""What every transcription returns, and how far each of its choices was beyond the doubt that rounding casts.

Transcriptions work in the precision of the matrix they are given: extended precision (`np.longdouble`) leaves in a
comparison only the rounding of the other side. Targets have the shape (n_rows, n_targets) inside; where a paper takes
the absolute value of a number for one target, several have the norm over targets.
"""

from dataclasses import dataclass, field

import numpy as np

# What is off in a kernel value or a product, in relative terms, on the side that a transcription is compared with.
ROUNDING = 16 * np.finfo(np.float64).eps
# A choice whose lead is a smaller part of its score than this is not counted as clear.
LEAST_LEAD = 1e-7


@dataclass
class Trace:
    """Step by step: what was picked, and weights of all atoms and residuals after it; entry 0 is the empty model."""

    weights: list
    residuals: list
    picks: list = field(default_factory=list)
    swaps: list = field(default_factory=list)
    rcond: list = field(default_factory=lambda: [np.nan])
    n_clear: int = 0
    in_doubt: bool = False

    @classmethod
    def start(cls, D, y):
        return cls([np.zeros((D.shape[1], y.shape[1]))], [y])

    @property
    def n_steps(self):
        return len(self.picks)

    def record(self, pick, weights, residual, clear):
        """Note a step; `n_clear` counts the first steps of which every choice was clear."""
        self.picks.append(int(pick))
        self.weights.append(np.array(weights, dtype=float))
        self.residuals.append(residual)
        self.in_doubt |= not clear
        self.n_clear += not self.in_doubt

    def atoms(self, k):
        """Atoms that have a weight after k steps, ascending."""
        return np.flatnonzero(self.weights[k].any(axis=1))

    def residual_norm(self, k):
        return float(norm(self.residuals[k]))


def norm(x, axis=None):
    return np.sqrt(np.square(x).sum(axis=axis))


def as_columns(y, like):
    y = np.asarray(y, dtype=like.dtype)
    return y[:, None] if y.ndim == 1 else y


def lead(scores, noise=0.0, among=None):
    """Return who has the largest score (the lowest number among equals), and whether this is beyond noise."""
    scores = np.asarray(scores, dtype=float)
    noise = np.broadcast_to(np.minimum(noise, 1e300).astype(float), scores.shape)
    among = np.arange(len(scores)) if among is None else np.asarray(among)
    best = among[np.argmax(scores[among])]
    others = among[among != best]
    rivals = (scores + noise)[others].max(initial=-np.inf)
    return int(best), bool(scores[best] - noise[best] - LEAST_LEAD * abs(scores[best]) > rivals)


def orthogonalise(Q, x):
    """Return (q, h, rho) with x = Q h + rho q, q a unit vector orthogonal to Q: Gram-Schmidt, done again twice."""
    h = np.zeros(Q.shape[1], dtype=x.dtype)
    for _ in range(3):
        more = Q.T @ x
        x, h = x - Q @ more, h + more
    rho = norm(x)
    return (x / rho if rho > 0 else x), h, rho


def thin_qr(A):
    Q, R = np.zeros((len(A), 0), dtype=A.dtype), np.zeros((0, 0), dtype=A.dtype)
    for column in A.T:
        Q, R = append_column(Q, R, column)
    return Q, R


def append_column(Q, R, column):
    """Thin QR with one more column (Nair eq. 6 to 8)."""
    q, h, rho = orthogonalise(Q, column)
    R = np.vstack([np.hstack([R, h[:, None]]), np.append(np.zeros_like(h), rho)])
    return np.hstack([Q, q[:, None]]), R


def back_substitute(R, b):
    x = np.zeros_like(b)
    for i in reversed(range(len(R))):
        x[i] = (b[i] - R[i, i + 1 :] @ x[i + 1 :]) / R[i, i]
    return x


def least_squares(A, y):
    Q, R = thin_qr(A)
    return back_substitute(R, Q.T @ y)


def spread_out(atoms, w, n_atoms):
    """Weights of `atoms` among those of all."""
    out = np.zeros((n_atoms, w.shape[1]))
    out[list(atoms)] = w
    return out


def refit_noise(A, size_of_w, size_of_r):
    """How far rounding moves the residual, of norm `size_of_r`, that least squares on the columns A leaves.

    To first order, changes dA move it by -P dA w - (A+)' dA' r, so by no more than ||dA|| (||w|| + ||r|| / s) with s
    the least singular value of A: the condition number times what is left, and the size of what cancels.
    """
    size_of_w, size_of_r = np.asarray(size_of_w, dtype=float), np.asarray(size_of_r, dtype=float)
    if not A.shape[1]:
        return ROUNDING * size_of_r
    s = np.linalg.svd(A.astype(float), compute_uv=False)
    least = max(s[-1], np.finfo(float).eps * s[0])
    return ROUNDING * (s[0] * (size_of_w + size_of_r / least) + size_of_r)


def turn_noise(A, onto, lengths, full):
    """How far rounding turns, or changes the length of, what is left of columns with coefficients `onto` on A.

    As an angle of at most one. `lengths` are those of what is left, `full` those of the columns: squared lengths that
    the other side keeps by subtraction are known to some rounding of what they were at first.
    """
    lengths, full = np.asarray(lengths, dtype=float), np.asarray(full, dtype=float)
    moved = refit_noise(A, norm(onto, axis=0), lengths)
    turned = np.divide(moved, lengths, out=np.ones_like(lengths), where=moved < lengths)
    share = np.divide(lengths, full, out=np.zeros_like(lengths), where=full > 0) ** 2
    return np.minimum(turned + np.divide(ROUNDING, share, out=np.ones_like(share), where=share > ROUNDING), 1.0)
