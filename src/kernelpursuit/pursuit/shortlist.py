"""Scores by shortlists: some atoms are followed for several steps, and one pass over the dictionary serves them."""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.fits import OrthogonalFit
from kernelpursuit.pursuit.scores import Rate, RunningScores, Scores

# Atoms on a shortlist for each step that it is to last. The best atoms are often neighbours, and once one of them is
# picked the others are worth little. Of 16 steps, a pass was measured to serve 6 to 8 with 4 atoms, 7 to 11 with 8, and
# 10 to 12 with 16, which take twice the products in every step, and no less time.
ATOMS_PER_STEP = 8


class ShortlistScores(Scores):
    """Exact scores of the atoms on a shortlist, and of all atoms every few steps.

    After a pass over the dictionary all scores are exact, and the best atom is picked. The next best ones are the
    shortlist: for the steps that follow, only their scores are brought up to date, and the best of them is picked.
    The next pass is over the dictionary with all directions since at once. It comes after `n_steps` steps, or before,
    when no atom on the shortlist is worth what the best of the others was at the last pass. That is no bound, since
    the score of an atom may also rise when others are picked, but it mostly falls.

    Parameters
    ----------
    fit : OrthogonalFit
        The fit, with a basis of its atoms.
    n_steps : int
        Steps from one pass to the next, at most; above 1.
    rate : callable
        The selection rule.
    alive : array of bool
        Which atoms may be picked; the selector's own, which changes.
    """

    def __init__(self, fit: OrthogonalFit, n_steps: int, rate: Rate, alive: np.ndarray):
        self._all = RunningScores(fit)
        self._listed: RunningScores | None = None
        self._n_steps = n_steps
        self._rate = rate
        self._alive = alive
        self._best_outside = -np.inf

    def added(self) -> None:
        """Note that the fit has a new direction."""
        self._all.added()

    def exchanged(self) -> None:
        """Note that one atom of the fit has taken the place of another."""
        self._all.exchanged()

    def update(self) -> None:
        """Bring the shortlist up to date, or all atoms where it has done its steps or is worth too little."""
        if self._all.is_to_begin or self._all.n_waiting >= self._n_steps:
            self.complete()
            return
        if not self._all.n_waiting:
            return
        if self._listed is None:
            self._listed = self._shortlist()
        self._listed.update()
        values = np.where(self._alive[self._listed.atoms], self._listed.values(self._rate), -np.inf)
        if values.max(initial=-np.inf) < self._best_outside:
            self.complete()
        else:
            self._show(self._listed)

    def complete(self) -> None:
        """Bring all atoms up to date; the next shortlist is made of what they are worth now."""
        self._all.update()
        self._listed = None
        self._show(self._all)

    def best_correlation(self) -> float:
        """The largest `|u_j| / sqrt(<j, j>)`; NaN between passes, where it is not known."""
        return np.nan if self.atoms is not None else super().best_correlation()

    def _shortlist(self) -> RunningScores:
        """The scores of the atoms that were best at the last pass, ties to the lowest number."""
        values = np.where(self._alive, self._all.values(self._rate), -np.inf)
        atoms = largest(values, min(self._n_steps * ATOMS_PER_STEP, int(self._alive.sum())))
        values[atoms] = -np.inf
        self._best_outside = float(values.max())
        return self._all.narrowed(atoms)

    def _show(self, scores: RunningScores) -> None:
        self.atoms, self.inner, self.noise = scores.atoms, scores.inner, scores.noise
        self.u, self.a = scores.u, scores.a


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the `count` largest values are, ascending; of equal ones, the first."""
    if not count:
        return np.zeros(0, dtype=np.intp)
    threshold = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > threshold)
    level = np.flatnonzero(values == threshold)[: count - len(above)]
    return np.sort(np.concatenate([above, level]))
