"""How the next atom is picked: who is looked at, and by which score."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from kernelpursuit._validate import check_number, check_option
from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.penalty import require_mercer, require_training_rows
from kernelpursuit.pursuit.scores import RunningScores
from kernelpursuit.pursuit.state import PursuitState, Shortlist

# Scores this close (relative) count as equal, so that rounding does not break a tie: the lowest atom number does.
TIE = 1e-12
# How many of the best running scores are computed again before one is picked, by whether they are float64; twice as
# many each time that all of them turn out to be dependent.
N_RECHECKED = {True: 1, False: 8}
MOST_RECHECKED = 512
# An atom is worth nothing when its squared correlation is below what rounding leaves of it.
WORTHLESS = (8 * np.finfo(np.float64).eps) ** 2

# Most atoms that candidates="auto" looks at.
AUTO_CANDIDATES = 10_000
# What a seed is used for before the first step: streams of random numbers that share no prefix with those of a step.
CANDIDATES, HELD_OUT = 1, 2

NOTHING_TO_GAIN = "no atom lowers the cost any more"
DEPENDENT_ONLY = "every atom left is numerically dependent on the picked ones"
ALL_PICKED = "every atom has been picked"


class Outcome(Enum):
    """What came of looking at a few atoms."""

    ADDED = "one of them was added"
    WORTHLESS = "none is worth adding"
    DEPENDENT = "all are numerically dependent on the picked ones"


def _squares(u: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", u, u)


def _gain(u: np.ndarray, a: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Drop of the penalised cost when all weights are refitted, u²/a."""
    return np.divide(_squares(u), a, out=np.zeros_like(a), where=a > 0)


def _correlation(u: np.ndarray, a: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Squared correlation with what is left, u²/<j, j>."""
    return np.divide(_squares(u), inner, out=np.zeros_like(inner), where=inner > 0)


SCORES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "gain": _gain,
    "correlation": _correlation,
}
NAMES = ("residual", "correlation", "gain", "random")


class Selector:
    """Picks an atom a step and adds it to the state.

    Parameters
    ----------
    selection : {"residual", "correlation", "gain", "random"}
        The rule. "residual": the training row with the largest residual. "correlation": `|u_j| / sqrt(<j, j>)`.
        "gain": `u_j² / a_j`, exactly what the penalised cost drops by. "random": any atom.
    n_looked_at : int or None
        How many atoms, drawn at random each step, are looked at; None for all.
    seed : int
        Step t draws from a generator seeded by (seed, t + 1), so that a longer path starts with the shorter one.
    """

    def __init__(self, selection: str, n_looked_at: int | None, seed: int, state: PursuitState):
        self.selection = check_option("selection", selection, NAMES)
        self.n_looked_at = n_looked_at
        self.seed = seed
        self.state = state
        dictionary = state.engine.dictionary
        if selection == "residual":
            require_training_rows(dictionary, "selection='residual'")
            require_mercer(dictionary, "selection='residual'")
        self.training_rows = dictionary.training_rows
        self.alive = np.ones(state.engine.n_atoms, dtype=bool)
        if state.penalty is not None and state.penalty.rewards_copies:
            self.alive &= ~dictionary.repeated()
        self.skipped: list[tuple[int, int]] = []
        needs_all = selection in SCORES and n_looked_at is None
        self.scores = RunningScores(state) if needs_all else None

    def step(self) -> str | None:
        """Add the next atom to the state; return None, or why there is none."""
        if not self.alive.any():
            return DEPENDENT_ONLY if self.skipped else ALL_PICKED
        for attempt in range(len(self.alive)):
            atoms = self._propose(attempt)
            if not len(atoms):
                break
            outcome = self._try(self.state.examine(atoms))
            if outcome is not Outcome.DEPENDENT:
                return None if outcome is Outcome.ADDED else NOTHING_TO_GAIN
        return DEPENDENT_ONLY

    def force(self, atom: int) -> bool:
        """Add a given atom (one that an earlier fit picked)."""
        return self._try(self.state.examine(np.array([atom])), always=True) is Outcome.ADDED

    def skip(self, atom: int | np.integer) -> None:
        """Leave an atom out for good, since it is numerically dependent on the picked ones."""
        self.alive[atom] = False
        self.skipped.append((len(self.state.atoms), int(atom)))

    def _try(self, shortlist: Shortlist, always: bool = False) -> Outcome:
        """Add the best of a shortlist, if it is worth it (or `always`)."""
        scores = self._score(shortlist)
        scores[shortlist.a <= DEPENDENT * shortlist.inner] = -np.inf
        for atom in shortlist.atoms[np.isneginf(scores)]:
            self.skip(atom)
        while (best := scores.max()) > -np.inf:
            k = int(np.flatnonzero(scores >= best * (1 - TIE))[0])
            if not always and self._is_worthless(shortlist, k):
                return Outcome.WORTHLESS
            if self.state.add(shortlist, k):
                self.alive[shortlist.atoms[k]] = False
                if self.scores is not None:
                    self.scores.added()
                return Outcome.ADDED
            self.skip(shortlist.atoms[k])
            scores[k] = -np.inf
        return Outcome.DEPENDENT

    def _score(self, shortlist: Shortlist) -> np.ndarray:
        if self.selection in SCORES:
            return SCORES[self.selection](shortlist.u, shortlist.a, shortlist.inner)
        if self.selection == "residual":
            return self._squared_residuals()[shortlist.atoms]
        return np.zeros(len(shortlist.atoms))

    def _is_worthless(self, shortlist: Shortlist, k: int) -> bool:
        if self.selection not in SCORES or self.n_looked_at is not None:
            return False
        correlation = _correlation(shortlist.u[:, [k]], shortlist.a[[k]], shortlist.inner[[k]])
        return bool(correlation[0] <= WORTHLESS * self.state.initial_cost)

    def _squared_residuals(self) -> np.ndarray:
        """Squared residual, in units of the target, at the training row of every atom."""
        squares = _squares(self.state.residual) / self.state.engine.weights
        return squares[self.training_rows]

    def _propose(self, attempt: int) -> np.ndarray:
        """Atoms to look at in earnest, ascending."""
        if self.scores is not None:
            return self._best_running(attempt)
        left = np.flatnonzero(self.alive)
        if self.selection == "random" or self.n_looked_at is not None:
            # Counted from one: a seed padded with zeros is the same seed.
            generator = np.random.default_rng([self.seed, len(self.state.atoms) + 1, attempt + 1])
            n_drawn = 1 if self.selection == "random" else min(self.n_looked_at or 1, len(left))
            left = np.sort(generator.choice(left, size=min(n_drawn, len(left)), replace=False))
        if self.selection == "residual" and len(left):
            squares = self._squared_residuals()[left]
            return left[squares >= squares.max() * (1 - TIE)][:1]
        return left

    def _best_running(self, attempt: int) -> np.ndarray:
        """The atoms with the best running scores, to be looked at again."""
        assert self.scores is not None
        self.scores.update()
        scores, exact = self.scores, self.state.engine.is_exact
        # Below the noise a is not known, only that it is small: the floor keeps such atoms from looking splendid.
        values = SCORES[self.selection](scores.u, np.maximum(scores.a, scores.noise), scores.inner)
        if exact:
            for atom in np.flatnonzero(self.alive & (scores.a <= DEPENDENT * scores.inner)):
                self.skip(atom)
        values = np.where(self.alive, values, -np.inf)
        n_wanted = min(N_RECHECKED[exact] << min(attempt, 10), MOST_RECHECKED, int(self.alive.sum()))
        if n_wanted == 0:
            return np.zeros(0, dtype=int)
        if n_wanted == 1:
            return np.flatnonzero(values >= values.max() * (1 - TIE))[:1]
        threshold = np.partition(values, -n_wanted)[-n_wanted]
        above = np.flatnonzero(values > threshold)
        level = np.flatnonzero(values == threshold)[: n_wanted - len(above)]
        return np.sort(np.concatenate([above, level]))


def resolve_candidates(candidates: Any, n_atoms: int, seed: int) -> tuple[np.ndarray | None, int | None]:
    """Return (the fixed subset of atoms, or None for all; how many are looked at a step, or None for all)."""
    if isinstance(candidates, str):
        if check_option("candidates", candidates, ("auto", "all")) == "all" or n_atoms <= AUTO_CANDIDATES:
            return None, None
        drawn = np.random.default_rng([seed, 0, CANDIDATES]).choice(n_atoms, size=AUTO_CANDIDATES, replace=False)
        return np.sort(drawn), None
    if isinstance(candidates, (int, np.integer)) and not isinstance(candidates, bool):
        return None, check_number("candidates", int(candidates), low=1, integer=True)
    return _check_subset(candidates, n_atoms), None


def _check_subset(candidates: Any, n_atoms: int) -> np.ndarray:
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
