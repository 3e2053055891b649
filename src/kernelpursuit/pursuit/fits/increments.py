"""One weight at a time: the new atom's alone (stagewise), or with one factor for all the others (rescale).

The same letters as everywhere: u = <j, left>, what is left for atom j to explain, is here `d_j'r - (L w)_j`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelpursuit import _native
from kernelpursuit.pursuit.basis import DEPENDENT, Basis, grown
from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Outcome, ResidualFit, column_squares, dot, frobenius
from kernelpursuit.pursuit.fits.fixed import Centred, FixedColumns
from kernelpursuit.pursuit.models import Increments
from kernelpursuit.pursuit.working import LocalQuadratic


class Details(NamedTuple):
    """What is known of examined atoms beside their scores.

    full    <j, j> with the part along the fixed columns, against which what is left of it is measured
    along   <j, model>, shape (n_targets, n_atoms); None where a step does not scale the model
    """

    full: np.ndarray
    along: np.ndarray | None


class Step(NamedTuple):
    """`w <- factor w + added e_atom`, for every target; both of shape (n_targets,)."""

    atom: int
    added: np.ndarray
    factor: np.ndarray


class IncrementFit(ResidualFit):
    """A fit whose step changes the weight of one atom, and may scale all others alike.

    Without scaling it is the stagewise fit (Vincent and Bengio figure 1). With it (Zhang algorithms 1 and 3), the model
    F is at its best length, so what is left is orthogonal to it, and the best of `beta F + alpha X_j` is a projection
    on what of X_j is orthogonal to F: the gain is u²/a as ever, with `a = <j, j> - <j, F>² / <F, F>`.

    Parameters
    ----------
    design, targets
        As for `SquaredFit`.
    shrinkage : float
        Fraction of the optimal step that is taken.
    rescales : bool
        Whether a step also multiplies all other weights by the best factor.
    """

    may_repeat = True

    def __init__(self, design: Design, targets: np.ndarray, shrinkage: float = 1.0, rescales: bool = False):
        engine, n_targets = design.engine, len(targets)
        super().__init__(design, targets, Basis(engine.n_rows, len(design.fixed), False, engine.n_threads))
        self.shrinkage = shrinkage
        self.rescales = rescales
        self.n_fixed = len(design.fixed)
        self.fixed = FixedColumns(self.basis, targets, design.fixed_columns())
        self.centred_targets = self.fixed.targets
        n_fitted = n_targets if rescales else 0
        # Residual, what is fitted (where it is scaled), and the fixed directions, as atoms are multiplied with them.
        self._vectors = np.vstack([self.centred_targets, np.zeros((n_fitted, engine.n_rows)), self.basis.V])
        self.residual = self._vectors[:n_targets]
        self._fitted = self._vectors[n_targets : n_targets + n_fitted]
        self.residual_norm = frobenius(self.residual)
        self._fitted_squares = np.zeros(n_targets)
        self._values = np.zeros((0, n_targets))  # weights by place
        self.penalties = np.zeros(n_targets)  # w' L w of every target
        self._place_of_step: list[int] = []
        self._steps = np.zeros((0, n_targets))
        self._factors = np.zeros((0, n_targets))
        self.initial_cost = self.cost()

    @property
    def values(self) -> np.ndarray:
        """Weights of all atoms that were ever picked, in order of place, shape (n_atoms, n_targets)."""
        return self._values[: len(self.places)]

    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""
        return self.residual_norm**2 + float(self.penalties.sum())

    def fitted_squares(self) -> np.ndarray:
        """Squared length of the model, `||D w||² + w' L w`, for every target."""
        return self._fitted_squares + self.penalties

    def share(self, atoms: np.ndarray) -> np.ndarray:
        """`(L w)_j`, shape (n_targets, n_atoms)."""
        share = np.zeros((self.n_targets, len(atoms)))
        if self.penalty is None or not self.places:
            return share
        between = self.penalty.between(self.used, atoms)
        if between is not None:
            # Not by BLAS: what an atom's share is must not depend on the atoms it is asked for with.
            values = np.ascontiguousarray(self.values.T)
            return _native.stored_rmatvec(np.ascontiguousarray(between.T), values, n_threads=1)
        for i, atom in enumerate(atoms):
            if atom in self.places:
                share[:, i] = self.own_penalties[atom] * self.values[self.places[atom]]
        return share

    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms, whose columns are not kept."""
        products, squares = self.engine.examine(atoms, self._vectors)
        share, n_targets, fitted = self.share(atoms), self.n_targets, self._fitted
        full = squares + self.own_penalties[atoms]
        inner = full - column_squares(products[n_targets + len(fitted) :])
        along = products[n_targets : n_targets + len(fitted)] + share if self.rescales else None
        new = self.new(inner, along)
        return ExaminedAtoms(atoms, inner, products[:n_targets] - share, new, details=Details(full, along))

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """Atoms that are sums of the fixed columns."""
        return examined.inner <= DEPENDENT * examined.details.full

    def new(self, inner: np.ndarray, along: np.ndarray | None) -> np.ndarray:
        """What of atoms is new to what the step can change: all of it, or what is not along the model."""
        if along is None:
            return super().new(inner, along)
        squares = self.fitted_squares()[:, None]
        part = np.divide(np.square(along), squares, out=np.zeros_like(along), where=squares > 0)
        return np.maximum(inner - part, 0.0)

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined, or add to its weight where the model has it already.

        The step is computed from the atom's column without its part along the fixed columns, of whose squared length
        what was examined knows only a difference.
        """
        atom, u, details = int(examined.atoms[k]), examined.u[:, k], examined.details
        centred = self.fixed.centred(self.engine.columns(examined.atoms[[k]])[0])
        inner = np.array([self.inner(atom, centred)])
        along = None if details.along is None else details.along[:, [k]]
        new = np.broadcast_to(self.new(inner, along), (self.n_targets, 1))[:, 0]
        usable = new > DEPENDENT * details.full[k]
        if not usable.any():
            return Outcome.DEPENDENT
        added = self.shrinkage * np.divide(u, new, out=np.zeros_like(u), where=usable)
        factor = np.ones_like(added)
        if along is not None:
            squares = self.fitted_squares()
            factor -= np.divide(along[:, 0] * added, squares, out=np.zeros_like(added), where=squares > 0)
        step = Step(atom, added, factor)
        self.take(step, centred)
        self._move(step, centred.column)
        return Outcome.ADDED

    def inner(self, atom: int, centred: Centred) -> float:
        """`<j, j>` of an atom without its part along the fixed columns, from its column."""
        return dot(centred.column, centred.column) + float(self.own_penalties[atom])

    def take(self, step: Step, centred: Centred) -> None:
        """Take a step with the weights; the residual is left to follow by `approximate`, or as `add` has it."""
        atom, added, factor = step.atom, step.added, step.factor
        share = self.share(np.array([atom]))[:, 0]
        self.penalties = factor**2 * self.penalties + 2 * factor * added * share + added**2 * self.own_penalties[atom]
        if atom not in self.places:
            self.atoms.append(atom)
            self.fixed.enter(centred)
            self._values = grown(self._values, len(self.atoms))
            self._values[self._place(atom)] = 0.0
        place, t = self.places[atom], self.n_steps
        self._values[: len(self.places)] *= factor
        self._values[place] += added
        self._place_of_step.append(place)
        self._steps, self._factors = grown(self._steps, t + 1), grown(self._factors, t + 1)
        self._steps[t], self._factors[t] = added, factor
        self.n_steps = t + 1

    def _move(self, step: Step, column: np.ndarray) -> None:
        """Let the residual follow."""
        if self.rescales:
            self._fitted *= step.factor[:, None]
            self._fitted += np.outer(step.added, column)
            np.subtract(self.centred_targets, self._fitted, out=self.residual)
            self._fitted_squares = np.einsum("ij,ij->i", self._fitted, self._fitted)
        else:
            self.residual -= np.outer(step.added, column)
        self.residual_norm = frobenius(self.residual)

    def approximate(self, local: LocalQuadratic) -> None:
        """Take the residual of a local quadratic approximation around the model as it is."""
        self.residual[:] = local.residual
        self.residual_norm = frobenius(self.residual)
        self.targets = local.targets

    def replace_weights(self, values: np.ndarray, penalties: np.ndarray) -> None:
        """Give all atoms other weights, which have these penalties; the residual is left to `approximate`."""
        self._values[: len(self.places)] = values
        self.penalties = penalties
        self.n_refits += 1

    @property
    def last_step(self) -> Step:
        """The last step."""
        t = self.n_steps - 1
        return Step(int(self.used[self._place_of_step[t]]), self._steps[t], self._factors[t])

    def models(self, scale: float) -> Increments:
        """The models by what every step did."""
        t, places = self.n_steps, np.array(self._place_of_step, dtype=np.intp)
        return Increments(places, self._steps[:t] / scale, self._factors[:t], self.fixed.part(scale))

    def weights(self) -> np.ndarray:
        """Weights as they are, without adding up all steps."""
        return self.fixed.part(1.0).beside(np.arange(len(self.places)), self.values)
