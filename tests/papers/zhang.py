"""T. Zhang, Approximation bounds for some sparse kernel regression algorithms, Neural Computation 14, 2002.

`R(w) = 1/n sum_i (f(x_i) - y_i)² / 2 + lambda/2 ||w||²` (eq. 11) for w = sum_i alpha_i phi(x_i), so that f = K alpha on
the rows and ||w||² = alpha' K alpha. With sample weights s, the mean is one of weighted rows. One target.
"""

import numpy as np
from papers.trace import ROUNDING, Trace, lead, norm


def risk(K, y, lam, alpha, s=None):
    """R(w) of eq. 11."""
    s = np.ones(len(y)) if s is None else s
    return 0.5 * s @ np.square(K @ alpha - y) / s.sum() + 0.5 * lam * alpha @ K @ alpha


def greedy(K, y, lam, n_steps, s=None):
    """Algorithm 1: i_k, alpha_k and beta_k that minimise R(beta_k w + alpha_k x_i); an i may come again."""
    return kappa_greedy(K, y, lam, [np.arange(K.shape[1])] * n_steps, s)


def kappa_greedy(K, y, lam, subsets, s=None):
    """Algorithm 3, with the subset S_k of every step given."""
    y = np.asarray(y, dtype=K.dtype)
    s = np.ones(len(y)) if s is None else s
    trace, w = Trace.start(K, y[:, None]), np.zeros(K.shape[1], dtype=K.dtype)
    unit = np.eye(K.shape[1], dtype=K.dtype)
    for k, subset in enumerate(subsets, start=1):
        found = {i: two_weights(K, y, lam, w, i, s) for i in sorted(subset)}
        drops = np.full(K.shape[1], -np.inf)
        for i, (beta, alpha) in found.items():
            drops[i] = risk(K, y, lam, w, s) - risk(K, y, lam, beta * w + alpha * unit[i], s)
        i, clear = lead(drops, k * _noise(K, y, w, s), sorted(subset))
        beta, alpha = found[i]
        w = beta * w
        w[i] += alpha
        trace.record(i, w[:, None], (y - K @ w)[:, None], clear)
    return trace


def two_weights(K, y, lam, w, i, s):
    """(beta, alpha) at which the derivatives of R(beta w + alpha x_i) are zero: two linear equations.

    Where both vectors point one way, as for w = 0 or the atom that w consists of, the shortest solution.
    """
    n, f, k = s.sum(), K @ w, K[:, i]
    A = np.array(
        [
            [f @ (s * f) / n + lam * w @ f, f @ (s * k) / n + lam * f[i]],
            [f @ (s * k) / n + lam * f[i], k @ (s * k) / n + lam * K[i, i]],
        ]
    )
    b = np.array([f @ (s * y) / n, k @ (s * y) / n])
    determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    if determinant <= 1e-14 * A[0, 0] * A[1, 1]:
        return np.linalg.lstsq(A.astype(float), b.astype(float), rcond=1e-13)[0]
    return (A[1, 1] * b[0] - A[0, 1] * b[1]) / determinant, (A[0, 0] * b[1] - A[1, 0] * b[0]) / determinant


def _noise(K, y, w, s=None):
    """How far rounding moves R: changes dK do so by r' dK w / n; what weights are off by enters squared."""
    s = np.ones(len(y)) if s is None else s
    r = norm(np.sqrt(s) * (y - K @ w))
    return ROUNDING * (s @ np.square(y) + r * norm(np.sqrt(s)[:, None] * K) * norm(w)) / s.sum()


def random(K, y, lam, drawn, s=None):
    """Algorithm 2 for the samples drawn: the minimum of R over the span of the first k of them, for every k."""
    y = np.asarray(y, dtype=K.dtype)
    trace = Trace.start(K, y[:, None])
    for k in range(1, len(drawn) + 1):
        w = _minimum(K, y, lam, list(drawn[:k]), s)
        trace.record(drawn[k - 1], w[:, None], (y - K @ w)[:, None], True)
    return trace


def subspace(K, y, lam, n_steps, s=None):
    """Algorithm 4: i_k and w^k in the span of all picked that minimise R."""
    y = np.asarray(y, dtype=K.dtype)
    trace, picked, w = Trace.start(K, y[:, None]), [], np.zeros(K.shape[1])
    for _ in range(n_steps):
        left = [j for j in range(K.shape[1]) if j not in picked]
        models = {i: _minimum(K, y, lam, [*picked, i], s) for i in left}
        drops = np.full(K.shape[1], -np.inf)
        for i, tried in models.items():
            drops[i] = risk(K, y, lam, w, s) - risk(K, y, lam, tried, s)
        i, clear = lead(drops, _noise(K, y, w, s), left)
        picked.append(i)
        w = models[i]
        trace.record(i, w[:, None], (y - K @ w)[:, None], clear)
    return trace


def _minimum(K, y, lam, atoms, s=None):
    """The minimum of R over the span of atoms, as least squares on rows stacked with a root of lambda K."""
    s = np.ones(len(y)) if s is None else s
    root = np.sqrt(s / s.sum())
    values, vectors = np.linalg.eigh(K[np.ix_(atoms, atoms)].astype(float))
    penalty = np.sqrt(lam * np.maximum(values, 0.0))[:, None] * vectors.T
    rows = np.vstack([root[:, None] * K[:, atoms], penalty]).astype(float)
    targets = np.concatenate([root * y, np.zeros(len(atoms))]).astype(float)
    w = np.zeros(K.shape[1])
    w[atoms] = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return w


def stagewise(K, y, lam, n_steps, s=None):
    """Algorithm 1 without its scaling (beta_k = 1): the step that section 4 compares it with."""
    y = np.asarray(y, dtype=K.dtype)
    s = np.ones(len(y)) if s is None else s
    trace, w = Trace.start(K, y[:, None]), np.zeros(K.shape[1], dtype=K.dtype)
    for k in range(1, n_steps + 1):
        r, f = y - K @ w, K @ w
        curvature = s @ np.square(K) / s.sum() + lam * np.diag(K)
        alpha = (K.T @ (s * r) / s.sum() - lam * f) / curvature
        drop = 0.5 * np.square(alpha) * curvature
        i, clear = lead(drop, k * ROUNDING * norm(np.sqrt(s) * y) ** 2 / s.sum())
        w = w.copy()
        w[i] += alpha[i]
        trace.record(i, w[:, None], (y - K @ w)[:, None], clear)
    return trace
