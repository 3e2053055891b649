"""What a nugget hides: the difference between the columns that are fitted and the function that predicts.

With `K + alpha I` in place of K, the column of an atom carries alpha at the atom's own training row, and only there;
the function that `predict` evaluates does not. At the row of picked atom a, its residual is `r + alpha w_a`, and its
leave-one-out residual `e + alpha w_a'`, where w' are the weights without that row.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from kernelpursuit.pursuit.fits import Fit, OrthogonalFit
from kernelpursuit.pursuit.working import loo_error, one_minus_leverage


class NuggetShare:
    """Follows what the nugget hides, for every picked atom at its own training row."""

    def __init__(self, fit: Fit):
        self.fit = fit
        self.alpha = fit.engine.nugget
        self._own = np.zeros(0)  # (R^{-1} v_i)_a for the fixed columns (zero) and every atom a at its own row i
        self._n_drops = 0

    @property
    def rows(self) -> np.ndarray:
        """The training row of every picked atom."""
        training_rows = self.fit.engine.dictionary.training_rows
        assert training_rows is not None
        return training_rows[np.asarray(self.fit.atoms, dtype=np.intp)]

    def moved(self) -> np.ndarray:
        """What to add to the residuals for those of the function that predicts, shape (n_targets, n_rows)."""
        return self._scattered(self._added())

    def shift(self) -> np.ndarray:
        """What to add to the leave-one-out residuals, shape (n_targets, n_rows).

        Without one of the c_i observations of a row, the weights are `w - G^{-1} d_i (r_i / c_i) / (1 - h_i / c_i)`,
        where G is `D'D` over the model's columns and d_i its i-th row; `G^{-1} d_i = R^{-1} v_i`, of which only the
        entry of the atom at that row is wanted.
        """
        fit, rows = self.fit, self.rows
        assert fit.leverage is not None
        counts = np.maximum(fit.engine.weights[rows], 1.0)
        own = self._follow()[fit.n_fixed :]
        with np.errstate(divide="ignore", invalid="ignore"):
            left = one_minus_leverage(fit.leverage[rows], counts)
            less = own / counts * loo_error(fit.residual[:, rows], left)
            return self._scattered(self._added() - self.alpha * self._root() * less)

    def _added(self) -> np.ndarray:
        """`alpha w_a`, in the weighted units of the fit, shape (n_targets, n_atoms)."""
        return self.alpha * self._root() * self.fit.weights()[self.fit.n_fixed :].T

    def _scattered(self, values: np.ndarray) -> np.ndarray:
        # Several atoms may have their centre at one row.
        out = np.zeros_like(self.fit.residual)
        np.add.at(out.T, self.rows, values.T)
        return out

    def _follow(self) -> np.ndarray:
        """Take in the directions that are new in the fit, O(k²) each; all of them where an exchange turned them."""
        fit = self.fit.quadratic
        assert isinstance(fit, OrthogonalFit)
        if len(fit.drops) != self._n_drops:
            self._own, self._n_drops = np.zeros(0), len(fit.drops)
        for t in range(len(self._own), fit.basis.size):
            unit = np.zeros(t + 1)
            unit[t] = 1.0
            column = solve_triangular(fit.basis.R[: t + 1, : t + 1], unit, check_finite=False)
            rows = self.rows[: max(0, t + 1 - fit.n_fixed)]
            at_own_rows = np.concatenate([np.zeros(fit.n_fixed), fit.basis.V[t, rows]])[: t + 1]
            self._own = np.append(self._own, 0.0) + column * at_own_rows
        return self._own

    def _root(self) -> np.ndarray:
        return np.sqrt(self.fit.engine.weights[self.rows])
