"""Running scores of every atom, kept up to date by one pass `D'v` a step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np

from kernelpursuit.pursuit.fits import Fit, IncrementFit, OrthogonalFit, ResidualFit
from kernelpursuit.pursuit.fits.base import column_squares

# Both are by whether scores are computed from float64 values. Products with float32 values have a relative error of
# about 1e-7 over the root of their number, some 1e-9; with float64 values, of some 1e-16 times the root of the steps.
#
# u is recomputed from the residual itself once the residual has fallen by this factor since it last was: u keeps the
# rounding of the time when it was computed, which by then has grown by the inverse, and is still below 1e-6 of it.
ANCHOR_AGAIN_BELOW = {True: 1e-3, False: 3e-2}
# What rounding can leave of an atom's squared length that should be zero.
NOISE = {True: 1e-14, False: 1e-9}

# A selection rule, as a function of u, a and <j, j>.
Rate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Scores:
    """`u_j` (what is left for atom j to explain) and `a_j` (what of it is still new), for all atoms or some of them.

    atoms   those that are scored, ascending; None for all
    inner   <j, j>
    noise   below this, a is not known, only that it is small
    """

    atoms: np.ndarray | None = None
    inner: np.ndarray
    noise: np.ndarray
    u: np.ndarray
    a: np.ndarray

    def added(self) -> None:
        """Note that the fit has taken a step."""

    def exchanged(self) -> None:
        """Note that one atom of the fit has taken the place of another."""

    def update(self) -> None:
        """Bring u and a up to date by one pass over the dictionary."""

    def complete(self) -> None:
        """Bring u and a of all atoms up to date, where only some are scored."""
        self.update()

    def values(self, rate: Rate) -> np.ndarray:
        """What a selection rule makes of the scores, larger for better atoms."""
        # Below the noise a is not known, only that it is small: the floor keeps such atoms from looking splendid.
        return rate(self.u, np.maximum(self.a, self.noise), self.inner)

    def best_correlation(self) -> float:
        """The largest `|u_j| / sqrt(<j, j>)`, over atoms and with targets taken together."""
        squares = column_squares(self.u)
        largest = np.divide(squares, self.inner, out=np.zeros_like(squares), where=self.inner > 0).max(initial=0.0)
        return float(np.sqrt(largest))


def running_scores(fit: Fit) -> Scores:
    """The scores that suit a fit: those of the least-squares fit that it is, or has."""
    quadratic = fit.quadratic
    if isinstance(quadratic, OrthogonalFit):
        return RunningScores(quadratic)
    assert isinstance(quadratic, ResidualFit)
    return ResidualScores(quadratic)


class RunningScores(Scores):
    """Scores of a fit with a basis, by what every new direction takes away.

    Directions may be added several at a time: they wait until scores are asked for, and one pass over the
    dictionary then serves them all.
    """

    def __init__(self, fit: OrthogonalFit):
        self.fit = fit
        self._has_begun = False
        # A penalty that depends on the order has all atoms scored before the first is picked; others not before they
        # are asked for.
        self._in_order = fit.penalty is not None and fit.penalty.depends_on_order
        if self._in_order:
            self._begin()

    def _begin(self) -> None:
        """Score all atoms from nothing, with the directions that there are."""
        fit, engine = self.fit, self.fit.engine
        self._has_begun = True
        self._n_reweighted = fit.n_reweighted
        self.inner = engine.sqnorms() + fit.own_penalties
        self.noise = NOISE[engine.is_exact] * self.inner
        self.a = self.inner.copy()
        self.u = np.zeros((fit.n_targets, engine.n_atoms))
        self._n_seen = 0
        self._penalty_rows: list[np.ndarray] = []
        self._anchor()

    def _anchor(self) -> None:
        """Let the next pass compute u from the residual as it is now."""
        self._n_refits = self.fit.n_refits
        self._anchored_at = self.fit.basis.size
        self._anchor_norm = self.fit.residual_norm
        self._anchor_residual: np.ndarray | None = self.fit.residual.copy()

    @property
    def n_waiting(self) -> int:
        """How many directions are in no score yet."""
        return self.fit.basis.size - self._n_seen

    @property
    def is_to_begin(self) -> bool:
        """Whether the next update computes u from a residual, or all from nothing, and so has to be of all atoms."""
        if not self._has_begun or self.fit.n_reweighted != self._n_reweighted:
            return True
        return self._anchor_residual is not None or self.fit.n_refits != self._n_refits

    def narrowed(self, atoms: np.ndarray) -> RunningScores:
        """These scores for some atoms alone, ascending, that go on by themselves for as long as none is to begin."""
        few = copy.copy(self)
        few.atoms = atoms
        few.inner, few.noise = self.inner[atoms], self.noise[atoms]
        few.u, few.a = self.u[:, atoms], self.a[atoms]
        # Where atoms have no share in a direction, one zero stands for all.
        few._penalty_rows = [row if len(row) == 1 else row[atoms] for row in self._penalty_rows]
        return few

    def added(self) -> None:
        """Note that the fit has a new direction."""
        # With a penalty that depends on the order, u is no product of atoms with a residual, so it stays as it began.
        if not self._has_begun or self._in_order:
            return
        if self.fit.residual_norm < ANCHOR_AGAIN_BELOW[self.fit.engine.is_exact] * self._anchor_norm:
            self._anchor()

    def exchanged(self) -> None:
        """Score all atoms from nothing, by one pass for all directions: those after the atom that left are others."""
        self._has_begun = False

    def update(self) -> None:
        """Bring u and a up to date: one pass over the dictionary for all directions that wait.

        Where rows have other weights now, that is all directions; where just the residual is another, it joins them.
        """
        if not self._has_begun or self.fit.n_reweighted != self._n_reweighted:
            self._begin()
        elif self.fit.n_refits != self._n_refits:
            self._anchor()
        basis, n_seen = self.fit.basis, self._n_seen
        waiting = basis.V[n_seen:]
        if self._anchor_residual is None and not len(waiting):
            return
        vectors = waiting if self._anchor_residual is None else np.vstack([waiting, self._anchor_residual])
        products = self.fit.engine.correlate(vectors, self.atoms)
        p = products[: len(waiting)]
        lost = self._penalise(p)
        if self._anchor_residual is not None:
            self.u = products[len(waiting) :]
            for t, row in enumerate(self._penalty_rows[: self._anchored_at]):
                self.u -= np.outer(self.fit.b[t], row)
            self._anchor_residual = None
        for t, (row, taken) in enumerate(zip(p, lost), start=n_seen):
            self.a -= taken
            if t >= self._anchored_at:
                self.u -= np.outer(self.fit.b[t], row)
        self._n_seen = basis.size

    def _penalise(self, p: np.ndarray) -> Iterator[np.ndarray]:
        """Add to each p_t the penalty's share, in place; return what each direction takes of every a_j."""
        if self._in_order:
            # What is along q_t goes from d_j, its coordinate does not: (q_t'd_j)² / ||q_t||².
            waiting = self.fit.basis.V[self._n_seen :]
            squares = np.einsum("ij,ij->i", waiting, waiting)
            lost = [np.square(row) / square if square > 0 else np.zeros_like(row) for row, square in zip(p, squares)]
            p /= np.where(squares > 0, squares, 1.0)[:, None]
            return iter(lost)
        if self.fit.penalty is not None:
            self._add_penalty(p)
        return map(np.square, p)

    def _add_penalty(self, p: np.ndarray) -> None:
        """Add to each p_t the penalty's share `T_t' L_.j`, by the recurrence that orthogonalising is."""
        fit, R = self.fit, self.fit.basis.R
        assert fit.penalty is not None
        scored = np.arange(fit.engine.n_atoms) if self.atoms is None else self.atoms
        for t, row in enumerate(p, start=self._n_seen):
            atom = fit.atoms[t - fit.n_fixed] if t >= fit.n_fixed else None
            share = None if atom is None else fit.penalty.between(np.array([atom]), scored)
            if share is None:
                self._penalty_rows.append(np.zeros(1))
                continue
            new = share[0]
            for s in range(fit.n_fixed, t):
                new -= R[s, t] * self._penalty_rows[s]
            new /= R[t, t]
            self._penalty_rows.append(new)
            row += new


class ResidualScores(Scores):
    """Scores of a fit without a basis, by one pass `D'r` a step: all but the penalty's share is computed anew."""

    def __init__(self, fit: ResidualFit):
        self.fit = fit
        engine, n_targets = fit.engine, fit.n_targets
        products = engine.correlate(np.vstack([fit.centred_targets, fit.basis.V]))
        self._along_targets = products[:n_targets]
        full = engine.sqnorms() + fit.own_penalties
        self.noise = NOISE[engine.is_exact] * full
        # What the fixed columns leave of an atom is a difference, and below the noise not known.
        self.inner = np.maximum(full - column_squares(products[n_targets:]), self.noise)
        self._share = np.zeros((n_targets, engine.n_atoms))  # (L w)_j
        self.u = self._along_targets.copy()
        self.a = fit.new(self.inner, self.u * 0.0 if fit.rescales else None)
        self._is_old = False
        self._n_refits = fit.n_refits

    def added(self) -> None:
        """Note that the fit has taken a step."""
        self._is_old = True
        if self.fit.penalty is None:
            return
        assert isinstance(self.fit, IncrementFit), "no other fit by its residual has a penalty"
        if self.fit.n_refits != self._n_refits:
            self._n_refits = self.fit.n_refits
            self._share = self.fit.share(np.arange(self.fit.engine.n_atoms))
            return
        step = self.fit.last_step
        self._share *= step.factor[:, None]
        between = self.fit.penalty.between(np.array([step.atom]), np.arange(self.fit.engine.n_atoms))
        if between is None:
            self._share[:, step.atom] += step.added * self.fit.own_penalties[step.atom]
        else:
            self._share += np.outer(step.added, between[0])

    def exchanged(self) -> None:
        """Note that the residual is another."""
        self._is_old = True

    def update(self) -> None:
        """One pass over the dictionary, where a step was taken since the last."""
        if not self._is_old:
            return
        products = self.fit.engine.correlate(self.fit.residual)
        self.u = products - self._share
        along = self._along_targets - products + self._share if self.fit.rescales else None
        self.a = self.fit.new(self.inner, along)
        self._is_old = False
