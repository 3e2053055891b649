"""Slow, literal transcriptions of the papers' algorithms, in dense matrices.

Nothing here is updated from step to step: every candidate is refitted by least squares, every row is really left
out. `D` holds the values of every atom on every row (n_rows, n_atoms), `L` the penalty between atoms, `y` the
targets (n_rows, n_targets).
"""

from dataclasses import dataclass, field, replace

import numpy as np


def refit(A, y, L=None, weights=None):
    """Weights that minimise sum_i s_i ||y_i - A_i w||² + w' L w: least squares on rows stacked with a root of L."""
    root = np.ones(len(A)) if weights is None else np.sqrt(weights)
    rows, targets = root[:, None] * A, root[:, None] * y
    if L is not None:
        values, vectors = np.linalg.eigh(L)
        rows = np.vstack([rows, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T])
        targets = np.vstack([targets, np.zeros((len(L), y.shape[1]))])
    return np.linalg.lstsq(rows, targets, rcond=None)[0]


def penalised_cost(A, y, w, L=None, weights=None):
    squares = np.square(y - A @ w).sum(axis=1)
    fit = squares.sum() if weights is None else weights @ squares
    return fit if L is None else fit + np.trace(w.T @ L @ w)


@dataclass
class Model:
    """A dictionary on the training rows with a penalty; sub-models by lists of atoms.

    `nugget` is the part of the columns D that the function does not have when it predicts.
    """

    D: np.ndarray
    y: np.ndarray
    L: np.ndarray | None = None
    weights: np.ndarray | None = None
    intercept: bool = False
    nugget: float = 0.0

    def __post_init__(self):
        self.y = self.y[:, None] if self.y.ndim == 1 else self.y
        self._fits = {}

    def columns(self, atoms):
        ones = np.ones((len(self.D), int(self.intercept)))
        return np.hstack([ones, self.D[:, atoms]])

    def predicting_columns(self, atoms):
        """The columns of the function that predicts, which has no nugget."""
        columns = self.columns(atoms)
        columns[atoms, int(self.intercept) + np.arange(len(atoms))] -= self.nugget
        return columns

    def predicting_residual(self, atoms):
        return self.y - self.predicting_columns(atoms) @ self.fit(atoms)

    def noise_variance(self, atoms):
        """Mean square times n / (n - dof), where n counts a row by its weight, but not below one."""
        s = self.rows_weights()
        n = np.maximum(s, 1.0).sum()
        mean = s @ np.square(self.predicting_residual(atoms)) / s.sum()
        return mean * n / (n - np.trace(self.hat(atoms)))

    def penalty(self, atoms):
        """L over the picked atoms, with a row and a column of zeros for the intercept."""
        if self.L is None:
            return None
        return np.pad(self.L[np.ix_(atoms, atoms)], (int(self.intercept), 0))

    def fit(self, atoms):
        key = tuple(atoms)
        if key not in self._fits:
            self._fits[key] = refit(self.columns(atoms), self.y, self.penalty(atoms), self.weights)
        return self._fits[key]

    def residual(self, atoms):
        return self.y - self.columns(atoms) @ self.fit(atoms)

    def cost(self, atoms):
        return penalised_cost(self.columns(atoms), self.y, self.fit(atoms), self.penalty(atoms), self.weights)

    def rows_weights(self):
        return np.ones(len(self.D)) if self.weights is None else self.weights

    def gain(self, atoms, j):
        """Pre-fitting (Vincent and Bengio section 2.3; ORMP): what the cost drops by with j added, all refitted."""
        return self.cost(atoms) - self.cost([*atoms, j])

    def correlation(self, atoms, j):
        """Back-fitting: squared correlation of j with what is left, in the inner product d_i' d_j + L_ij."""
        s, w = self.rows_weights(), self.fit(atoms)[int(self.intercept) :]
        u = (s * self.D[:, j]) @ self.residual(atoms)
        inner = s @ np.square(self.D[:, j])
        if self.L is not None:
            u = u - self.L[j, atoms] @ w
            inner = inner + self.L[j, j]
        return float(u @ u / inner)

    def largest_residual(self, atoms, j):
        """Nair's greedy rule: the squared residual at the row of centre j."""
        return float(np.square(self.residual(atoms)[j]).sum())

    def hat(self, atoms):
        """H with fitted = H y, in coordinates times the root of the weights."""
        root = np.sqrt(self.rows_weights())[:, None]
        A, penalty = root * self.columns(atoms), self.penalty(atoms)
        normal = A.T @ A + (0.0 if penalty is None else penalty)
        return A @ np.linalg.solve(normal, A.T)

    def leave_one_out(self, atoms):
        """Mean and standard error of squared errors of models fitted without one row, or one unit of its weight."""
        s = self.rows_weights()
        errors = np.empty(len(s))
        for i in range(len(s)):
            without = s.copy()
            without[i] -= min(1.0, s[i])
            w = replace(self, weights=without).fit(atoms)
            errors[i] = np.square(self.y[i] - self.predicting_columns(atoms)[i] @ w).mean()
        mean = np.average(errors, weights=s)
        spread = np.average((errors - mean) ** 2, weights=s)
        return mean, np.sqrt(spread / (np.maximum(s, 1.0).sum() - 1))


@dataclass
class Picks:
    """Atoms in order, and how long every choice was beyond doubt."""

    atoms: list = field(default_factory=list)
    n_clear: int = 0


def greedy(model, n_atoms, score, candidates=None):
    """Pick, `n_atoms` times, the candidate with the best score; the lowest number among equals.

    `candidates` is a list, or a function of (step, atoms left) that returns who is looked at.
    """
    picks, clear = Picks(), True
    for step in range(n_atoms):
        left = [j for j in range(model.D.shape[1]) if j not in picks.atoms]
        if callable(candidates):
            left = list(candidates(step, left))
        elif candidates is not None:
            left = [j for j in left if j in candidates]
        scores = np.array([score(model, picks.atoms, j) for j in left])
        best = int(np.argmax(scores))
        second = np.delete(scores, best).max(initial=0.0)
        # Scores are differences of costs, known to some eps of the target.
        clear &= scores[best] - second > 1e-6 * scores[best] + 1e-13 * np.square(model.y).sum()
        picks.atoms.append(left[best])
        picks.n_clear += clear
    return picks


def regularised_forward_selection(G, y, alpha, n_atoms):
    """Hagiwara section 2.2, eq. 5 to 7, with the matrices P_k; returns atoms, cost reductions and P."""
    P, atoms, reductions = np.eye(len(y)), [], []
    for _ in range(n_atoms):
        c2 = {}
        for j in set(range(G.shape[1])) - set(atoms):
            Pg = P @ G[:, j]
            H = np.outer(Pg, Pg) / (alpha + G[:, j] @ Pg)
            c2[j] = y @ H @ y
        best = max(sorted(c2), key=c2.get)
        Pg = P @ G[:, best]
        P = P - np.outer(Pg, Pg) / (alpha + G[:, best] @ Pg)
        atoms.append(best)
        reductions.append(c2[best])
    return atoms, np.array(reductions), P


def textbook_ormp(D, y, n_atoms):
    """Orthogonal residual matching pursuit that rewrites every column at every step, in extended precision.

    Stops where what is new in the best atom, or the lead of the best over the second, is no longer beyond doubt in
    double precision; returns the atoms until then.
    """
    Q, r = D.astype(np.longdouble), y.astype(np.longdouble)
    inner = np.square(Q).sum(axis=0)
    atoms = []
    for _ in range(n_atoms):
        a, u = np.square(Q).sum(axis=0), Q.T @ r
        scores = np.where(a > 1e-10 * inner, u**2 / np.maximum(a, 1e-30), 0.0)
        scores[atoms] = 0.0
        order = np.argsort(scores)
        best, second = order[-1], order[-2]
        new = float(a[best] / inner[best])
        doubt = 1e-6 + 1e-14 / new + 1e-14 * float(np.sqrt(inner[best] / scores[best]) * np.linalg.norm(y))
        rivals_hidden = (a <= 1e-10 * inner) & (a > 1e-14 * inner)
        rivals_hidden[atoms] = False
        if scores[best] - scores[second] <= doubt * scores[best] or rivals_hidden.any():
            break
        atoms.append(int(best))
        q = Q[:, best] / np.sqrt(a[best])
        for _ in range(2):
            Q = Q - np.outer(q, q @ Q)
        r = r - q * (q @ r)
    return atoms
