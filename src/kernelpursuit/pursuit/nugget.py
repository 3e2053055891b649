"""What a nugget hides: the difference between the columns that are fitted and the function that predicts.

With `K + alpha I` in place of K, the column of an atom carries alpha at the atom's own training row, and only there;
the function that `predict` evaluates does not. At the row of picked atom a, its residual is `r + alpha w_a`, and its
leave-one-out residual `e + alpha w_a'`, where w' are the weights without that row.
"""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.state import PursuitState


class NuggetShare:
    """Follows the weights w of the picked atoms and, for each, `s_a = (G^{-1} d_i)_a` at its own row i.

    G is `D'D` over the model's columns and d_i its i-th row. Both come from the columns of `R^{-1}`, one a step, at
    O(k²) each.
    """

    def __init__(self, state: PursuitState):
        self.state = state
        self.alpha = state.engine.nugget
        self.inverse = np.zeros((0, 0))  # R^{-1}
        self.weights = np.zeros((0, state.residual.shape[0]))
        self.s = np.zeros(0)

    @property
    def rows(self) -> np.ndarray:
        """The training row of every picked atom."""
        training_rows = self.state.engine.dictionary.training_rows
        assert training_rows is not None
        return training_rows[np.asarray(self.state.atoms, dtype=np.intp)]

    def follow(self) -> None:
        """Take in the directions that are new in the state."""
        state, basis = self.state, self.state.basis
        fixed = state.n_fixed
        for t in range(len(self.s), basis.size):
            column = np.zeros(t + 1)
            column[:t] = -self.inverse @ basis.R[:t, t] / basis.R[t, t]
            column[t] = 1.0 / basis.R[t, t]
            self.inverse = np.pad(self.inverse, (0, 1))
            self.inverse[:, t] = column
            self.weights = np.vstack([self.weights, np.zeros_like(state.b[[t]])]) + np.outer(column, state.b[t])
            at_own_rows = np.concatenate([np.zeros(fixed), basis.V[t, self.rows[: max(0, t + 1 - fixed)]]])[: t + 1]
            self.s = np.append(self.s, 0.0) + column * at_own_rows

    def added(self, left: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What to add to the residuals and to the leave-one-out residuals at `rows`, shape (n_targets, n_atoms) each.

        Both are in the weighted units of the state. `left` is `1 - h_i` and `unit` the part of a row's weight that
        leaving one out takes away.
        """
        state, rows = self.state, self.rows
        root = np.sqrt(state.engine.weights[rows])
        w, s = self.weights[state.n_fixed :].T, self.s[state.n_fixed :]
        moved = s * unit[rows] * state.residual[:, rows] / left[rows]
        return self.alpha * root * w, self.alpha * root * (w - moved)
