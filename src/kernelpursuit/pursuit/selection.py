"""How the next atom is picked: who is looked at, and by which score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._validate import check_number, check_option
from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.fits import ExaminedAtoms, Fit, OrthogonalFit, Outcome
from kernelpursuit.pursuit.fits.base import column_squares
from kernelpursuit.pursuit.scores import Rate, Scores, running_scores
from kernelpursuit.pursuit.shortlist import ShortlistScores, largest
from kernelpursuit.stopping import ALL_PICKED

# Scores this close (relative) count as equal, so that rounding does not break a tie: the lowest atom number does. A
# score is a quotient of sums over rows; those of thousands of rows, in another order, agree to some 1e-13.
TIE = 1e-12
# How many of the best running scores are computed again before one is picked, where rounding may have put them in the
# wrong order; twice as many each time that all of them turn out to be dependent.
N_RECHECKED = 8
MAX_RECHECKED = 512
# Scores are in the right order, those from float32 values but for a fraction CLOSE, where more than this fraction of
# the best atom is new: rounding leaves some 1e-15 of an atom's squared length in `a`, or 1e-9 of it (`scores.NOISE`),
# so that `u²/a` is known to 1e-8 or 1e-5 of it.
RESOLVED = {True: 1e-7, False: 1e-4}  # by whether scores are float64
CLOSE = 1e-3
# An atom is worth nothing when its squared correlation is below what rounding leaves of it: a product with a residual
# that should be zero is a few eps of the target, and this is the square of that, relative to the cost of no atom.
WORTHLESS = (8 * np.finfo(np.float64).eps) ** 2

# Most atoms that candidates="auto" looks at.
AUTO_CANDIDATES = 10_000
# What a seed is used for before the first step: streams of random numbers that share no prefix with those of a step.
CANDIDATES, HELD_OUT, FOLDS = 1, 2, 3

NOTHING_TO_GAIN = "no atom lowers the cost any more"
DEPENDENT_ONLY = "every atom left is numerically dependent on the picked ones"


def _gain(u: np.ndarray, a: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Drop of the penalised cost when the step is taken, u²/a: with all weights refitted where the update does so."""
    a = np.broadcast_to(a, u.shape)
    return np.divide(np.square(u), a, out=np.zeros_like(u), where=a > 0).sum(axis=0)


def _correlation(u: np.ndarray, a: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Squared correlation with what is left, u²/<j, j>."""
    return np.divide(column_squares(u), inner, out=np.zeros_like(inner), where=inner > 0)


SCORES: dict[str, Rate] = {
    "gain": _gain,
    "correlation": _correlation,
}
NAMES = ("residual", "correlation", "gain", "random")


class Selector:
    """Picks an atom a step and adds it to the fit.

    Parameters
    ----------
    selection : {"residual", "correlation", "gain", "random"}
        The rule. "residual": the training row with the largest residual (Nair eq. 5). "correlation":
        `|u_j| / sqrt(<j, j>)`, the best step with one atom alone (the one-dimensional problems of Nair section 3.1).
        "gain": `u_j² / a_j`, exactly what the penalised cost drops by. "random": any atom.
    n_looked_at : int or None
        How many atoms, drawn at random each step, are looked at; None for all.
    seed : int
        Step t draws from a generator seeded by (seed, t + 1), so that a longer path starts with the shorter one.
    fit : Fit
        What atoms are added to.
    shortlist : int
        Steps that one pass over all atoms serves; 1 for a pass a step.
    """

    def __init__(self, selection: str, n_looked_at: int | None, seed: int, fit: Fit, *, shortlist: int = 1):
        self.selection = selection
        self.n_looked_at = n_looked_at
        self.seed = seed
        self.fit = fit
        dictionary = fit.engine.dictionary
        self.training_rows = dictionary.training_rows
        rows = np.arange(fit.engine.n_rows)
        self._one_atom_a_row = self.training_rows is not None and np.array_equal(self.training_rows, rows)
        self.alive = np.ones(fit.engine.n_atoms, dtype=bool)
        if fit.penalty is not None and fit.penalty.rewards_copies:
            self.alive &= ~dictionary.repeated()
        self.picks: list[int] = []
        self.skipped: list[tuple[int, int]] = []
        self.swaps: list[tuple[int, int, int]] = []
        self.correlation_before = np.nan  # the largest correlation of an atom with what was left before the last step
        self.scores: Scores | None = None
        if selection in SCORES and n_looked_at is None:
            self.scores = self._scores(shortlist)

    def _scores(self, shortlist: int) -> Scores:
        """Scores of all atoms at every step, or of those on a shortlist."""
        if shortlist == 1:
            return running_scores(self.fit)
        quadratic = self.fit.quadratic
        assert isinstance(quadratic, OrthogonalFit), "no other fit has directions that can wait"
        return ShortlistScores(quadratic, shortlist, SCORES[self.selection], self.alive)

    def step(self) -> str | None:
        """Add the next atom to the fit; return None, or why there is none."""
        self.best_correlation()
        reason = self._add_best()
        if reason is not None and self.scores is not None and self.scores.atoms is not None:
            # What the atoms that are not on the shortlist are worth by now is not known.
            self.scores.complete()
            reason = self._add_best()
        return reason

    def _add_best(self) -> str | None:
        if not self.alive.any():
            return DEPENDENT_ONLY if self.skipped else ALL_PICKED
        for attempt in range(len(self.alive)):
            atoms = self._propose(attempt)
            if not len(atoms):
                break
            answer = self._try(self.fit.examine(atoms))
            if answer is not Outcome.DEPENDENT:
                return None if answer is Outcome.ADDED else str(answer)
        return DEPENDENT_ONLY

    def force(self, atom: int) -> bool:
        """Add a given atom (one that an earlier fit picked)."""
        return self._try(self.fit.examine(np.array([atom])), always=True) is Outcome.ADDED

    def skip(self, atom: int | np.integer) -> None:
        """Leave an atom out for good, since it is numerically dependent on the picked ones."""
        self.alive[atom] = False
        self.skipped.append((self.fit.n_steps, int(atom)))

    def exchange(self) -> None:
        """Let the atom with the largest residual take the place of the one with the smallest, where that pays.

        Nair algorithm 1, steps 1 and 2, over all atoms, however many are looked at in a step; the fit does the rest.
        """
        squares = self._squared_residuals()
        inside = np.sort(np.asarray(self.fit.atoms, dtype=np.intp))
        leaving = inside[squares[inside] <= squares[inside].min() * (1 + TIE)][0]
        outside = np.flatnonzero(self.alive)
        while len(outside):
            coming = int(outside[np.argmax(squares[outside] >= squares[outside].max() * (1 - TIE))])
            # A copy of an atom of the model cannot come; the row with the next largest residual may.
            if self.swap(int(leaving), coming) is not Outcome.DEPENDENT:
                break
            outside = outside[outside != coming]

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Exchange two atoms where that lowers the cost (or `always`)."""
        outcome = self.fit.swap(leaving, coming, always)
        if outcome is Outcome.ADDED:
            # What depended on the leaving atom may not depend on the coming one.
            self.alive[[leaving, *(atom for _, atom in self.skipped)]] = True
            self.alive[self.fit.atoms] = False
            self.swaps.append((self.fit.n_steps, leaving, coming))
            if self.scores is not None:
                self.scores.exchanged()
        return outcome

    def best_correlation(self) -> float:
        """The largest correlation of an atom with what is left; NaN where not all atoms are scored."""
        if self.scores is None:
            return np.nan
        self.scores.update()
        self.correlation_before = self.scores.best_correlation()
        return self.correlation_before

    def _try(self, examined: ExaminedAtoms, always: bool = False) -> Outcome | str:
        """Add the best of those examined, if it is worth it (or `always`); a sentence says why the fit ends here."""
        scores = self._score(examined)
        for atom in examined.atoms[dependent := self.fit.dependent(examined)]:
            self.skip(atom)
        scores[dependent] = -np.inf
        while (best := scores.max()) > -np.inf:
            k = int(np.flatnonzero(scores >= best * (1 - TIE))[0])
            if not always and self._is_worthless(examined, k):
                return NOTHING_TO_GAIN
            outcome, atom = self.fit.add(examined, k), int(examined.atoms[k])
            if outcome is Outcome.ENDED:
                return self.fit.end_reason
            if outcome is Outcome.ADDED:
                self.picks.append(atom)
                self.alive[atom] = self.fit.may_repeat
                if self.scores is not None:
                    self.scores.added()
                return outcome
            if not self.fit.may_repeat:
                self.skip(atom)
            scores[k] = -np.inf
        return Outcome.DEPENDENT

    def _score(self, examined: ExaminedAtoms) -> np.ndarray:
        if self.selection in SCORES:
            return SCORES[self.selection](examined.u, examined.a, examined.inner)
        # The others have proposed one atom alone.
        return np.zeros(len(examined.atoms))

    def _is_worthless(self, examined: ExaminedAtoms, k: int) -> bool:
        if self.selection not in SCORES or self.n_looked_at is not None:
            return False
        correlation = _correlation(examined.u[:, [k]], examined.a, examined.inner[[k]])
        return bool(correlation[0] <= WORTHLESS * self.fit.initial_cost)

    def _squared_residuals(self) -> np.ndarray:
        """Squared residual, in units of the target, at the training row of every atom; a new array."""
        squares = column_squares(self.fit.residual)
        if self.fit.engine.is_weighted:
            squares /= self.fit.engine.weights
        return squares if self._one_atom_a_row else squares[self.training_rows]

    def _propose(self, attempt: int) -> np.ndarray:
        """Atoms to look at in earnest, ascending."""
        if self.scores is not None:
            return self._best_running(attempt)
        if self.selection == "residual" and self.n_looked_at is None:
            squares = self._squared_residuals()
            squares[~self.alive] = -1.0
            largest = squares.max()
            return np.array([np.argmax(squares >= largest * (1 - TIE))] if largest >= 0 else [], dtype=np.intp)
        left = np.flatnonzero(self.alive)
        if self.selection == "random" or self.n_looked_at is not None:
            # Counted from one: a seed padded with zeros is the same seed.
            generator = np.random.default_rng([self.seed, self.fit.n_steps + 1, attempt + 1])
            n_drawn = 1 if self.selection == "random" else min(self.n_looked_at or 1, len(left))
            left = np.sort(generator.choice(left, size=min(n_drawn, len(left)), replace=False))
        if self.selection == "residual" and len(left):
            squares = self._squared_residuals()[left]
            return left[[np.argmax(squares >= squares.max() * (1 - TIE))]]
        return left

    def _best_running(self, attempt: int) -> np.ndarray:
        """The atoms with the best running scores, to be looked at again."""
        assert self.scores is not None
        self.scores.update()
        scores, exact = self.scores, self.fit.engine.is_exact
        numbers = np.arange(len(self.alive)) if scores.atoms is None else scores.atoms
        values = scores.values(SCORES[self.selection])
        if exact and self.fit.skips_dependent:
            for atom in numbers[self.alive[numbers] & (scores.a <= DEPENDENT * scores.inner)]:
                self.skip(atom)
        alive = self.alive[numbers]
        values = np.where(alive, values, -np.inf)
        n_alive = int(alive.sum())
        if not n_alive:
            return np.zeros(0, dtype=int)
        best = np.flatnonzero(values >= values.max() * (1 - TIE))[:1]
        if attempt == 0 and (scores.a[..., best] > RESOLVED[exact] * scores.inner[best]).all():
            # Only those that rounding may have put in the wrong order.
            close = best if exact else np.flatnonzero(values >= values.max() * (1 - CLOSE))
            if len(close) <= N_RECHECKED:
                return numbers[close]
        n_wanted = min(N_RECHECKED << min(attempt, 10), MAX_RECHECKED, n_alive)
        return numbers[largest(values, n_wanted)]


def resolve_candidates(candidates: ArrayLike, n_atoms: int, seed: int) -> tuple[np.ndarray | None, int | None]:
    """Return (the fixed subset of atoms, or None for all; how many are looked at a step, or None for all)."""
    candidates = check_candidates(candidates)
    if isinstance(candidates, str):
        if candidates == "all" or n_atoms <= AUTO_CANDIDATES:
            return None, None
        drawn = np.random.default_rng([seed, 0, CANDIDATES]).choice(n_atoms, size=AUTO_CANDIDATES, replace=False)
        return np.sort(drawn), None
    if isinstance(candidates, (int, np.integer)) and not isinstance(candidates, bool):
        return None, int(candidates)
    return _check_subset(candidates, n_atoms), None


def check_candidates(candidates: ArrayLike) -> Any:
    """Return `candidates` if it is a name or a number that can be meant; lists are checked with the dictionary."""
    if isinstance(candidates, str):
        return check_option("candidates", candidates, ("auto", "all"), "a number, or a list of atom numbers")
    if isinstance(candidates, (int, np.integer)) and not isinstance(candidates, bool):
        return check_number("candidates", int(candidates), low=1, integer=True)
    return candidates


def _check_subset(candidates: ArrayLike, n_atoms: int) -> np.ndarray:
    subset = np.asarray(candidates)
    if subset.dtype == bool and subset.shape == (n_atoms,):
        subset = np.flatnonzero(subset)
    if subset.ndim != 1 or len(subset) == 0 or not np.issubdtype(subset.dtype, np.integer):
        raise ValueError(
            f"candidates={candidates!r} is not usable; give 'all', 'auto', a number of atoms to look at each step, "
            "or a list of atom numbers."
        )
    if subset.min() < 0 or subset.max() >= n_atoms:
        wrong = subset.min() if subset.min() < 0 else subset.max()
        raise ValueError(f"candidates names atom {wrong}, but there are {n_atoms} (numbered from 0).")
    return np.unique(subset)
