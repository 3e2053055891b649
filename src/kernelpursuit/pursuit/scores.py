"""Running scores of every atom, kept up to date by one pass `D'v` a step."""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.state import PursuitState

# u is recomputed from the residual itself once the residual has fallen by this factor since it last was: what
# rounding left in u is then still small against what u has become.
ANCHOR_AGAIN_BELOW = {True: 1e-3, False: 3e-2}  # by whether scores are float64
# What rounding can leave of an atom's squared length that should be zero.
NOISE = {True: 1e-14, False: 1e-9}


class RunningScores:
    """`u_j` (what is left for atom j to explain) and `a_j` (what of it is still new), for all atoms.

    Directions may be added several at a time: they wait until scores are asked for, and one pass over the
    dictionary then serves them all.
    """

    def __init__(self, state: PursuitState):
        self.state = state
        engine = state.engine
        self.inner = engine.sqnorms() + state.own_penalties
        self.noise = NOISE[engine.is_exact] * self.inner
        self.a = self.inner.copy()
        self.u = np.zeros((state.residual.shape[0], engine.n_atoms))
        self._n_seen = 0
        self._penalty_rows: list[np.ndarray] = []
        self._anchor()

    def _anchor(self) -> None:
        """Let the next pass compute u from the residual as it is now."""
        self._anchored_at = self.state.basis.size
        self._anchor_norm = self.state.residual_norm
        self._anchor_residual: np.ndarray | None = self.state.residual.copy()

    def added(self) -> None:
        """Note that the state has a new direction."""
        if self.state.residual_norm < ANCHOR_AGAIN_BELOW[self.state.engine.is_exact] * self._anchor_norm:
            self._anchor()

    def update(self) -> None:
        """Bring u and a up to date: one pass over the dictionary for all directions that wait."""
        basis, n_seen = self.state.basis, self._n_seen
        waiting = basis.V[n_seen:]
        if self._anchor_residual is None and not len(waiting):
            return
        vectors = waiting if self._anchor_residual is None else np.vstack([waiting, self._anchor_residual])
        products = self.state.engine.correlate(vectors)
        p = products[: len(waiting)]
        if self.state.penalty is not None:
            self._add_penalty(p)
        if self._anchor_residual is not None:
            self.u = products[len(waiting) :]
            for t, row in enumerate(self._penalty_rows[: self._anchored_at]):
                self.u -= np.outer(self.state.b[t], row)
            self._anchor_residual = None
        for t, row in enumerate(p, start=n_seen):
            self.a -= np.square(row)
            if t >= self._anchored_at:
                self.u -= np.outer(self.state.b[t], row)
        self._n_seen = basis.size

    def _add_penalty(self, p: np.ndarray) -> None:
        """Add to each p_t the penalty's share `T_t' L_.j`, by the recurrence that orthogonalising is."""
        state, R = self.state, self.state.basis.R
        assert state.penalty is not None
        everything = np.arange(state.engine.n_atoms)
        for t, row in enumerate(p, start=self._n_seen):
            atom = state.atoms[t - state.n_fixed] if t >= state.n_fixed else None
            share = None if atom is None else state.penalty.between(np.array([atom]), everything)
            if share is None:
                self._penalty_rows.append(np.zeros(1))
                continue
            new = share[0]
            for s in range(state.n_fixed, t):
                new -= R[s, t] * self._penalty_rows[s]
            new /= R[t, t]
            self._penalty_rows.append(new)
            row += new
