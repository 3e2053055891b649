"""What the loop asks of a fit, whatever follows when an atom is picked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.basis import Basis, Direction
from kernelpursuit.pursuit.models import FixedPart, Models
from kernelpursuit.pursuit.penalty import Penalty


class Outcome(Enum):
    """What came of adding an atom."""

    ADDED = "it was added"
    DEPENDENT = "it is numerically dependent on the picked ones"
    ENDED = "the fit ends before it"
    WORTHLESS = "it would not lower the cost"


@dataclass
class Shortlist:
    """A few atoms with everything that a selection rule may want to know of them, in float64.

    atoms    their numbers, ascending
    inner    <j, j>
    u        what is left for j to explain, shape (n_targets, n_atoms)
    a        what of j is still new, shape (n_atoms,), or (n_targets, n_atoms) where targets differ in it
    details  what the fit wants to know again when one of them is added
    """

    atoms: np.ndarray
    inner: np.ndarray
    u: np.ndarray
    a: np.ndarray
    details: Any = None


class Fit(ABC):
    """The fit so far.

    Parameters
    ----------
    engine : Engine
        Products with the dictionary.
    targets : array of shape (n_targets, n_rows)
        Targets, times the root of the sample weights.
    penalty : Penalty or None
        The penalty over atoms.
    basis : Basis
        Empty; every fit has the fixed columns in it, and one that refits all weights, the atoms as well.
    """

    #: Whether an atom may be picked again.
    may_repeat = False
    #: Whether atoms of which next to nothing is new are left out for good.
    skips_dependent = False
    #: The diagonal of the hat matrix, where the fit is a least-squares one.
    leverage: np.ndarray | None = None
    #: `y - D w`, times the root of the sample weights, shape (n_targets, n_rows).
    residual: np.ndarray
    #: Root of the weighted sum of squared residuals.
    residual_norm: float
    #: Cost without any atom.
    initial_cost: float
    #: How often the weights of the rows have changed, and how often all weights of the model were replaced.
    n_metrics = 0
    n_refits = 0

    def __init__(self, engine: Engine, targets: np.ndarray, penalty: Penalty | None, basis: Basis):
        self.engine = engine
        self.penalty = penalty
        self.own_penalties = np.zeros(engine.n_atoms) if penalty is None else penalty.diagonal(engine.n_atoms)
        self.basis = basis
        self.targets = targets
        self.sample_weights = engine.weights
        self.n_targets = targets.shape[0]
        self.n_steps = 0
        self.n_fixed = 0
        self.atoms: list[int] = []  # those of the model
        self.places: dict[int, int] = {}  # all that were ever picked, by order of their first time
        self.end_reason = ""  # why the fit refuses to go on, where it does
        self.rcond = np.nan  # of the basis with the atom last looked at

    @property
    def used(self) -> np.ndarray:
        """Atoms that were ever picked, in the order of their first time."""
        return np.fromiter(self.places, dtype=np.intp, count=len(self.places))

    @abstractmethod
    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""

    def misfit(self) -> float:
        """What the model leaves: the root of the cost without the penalty."""
        return self.residual_norm

    def scores(self) -> np.ndarray:
        """Values of the model on the training rows, shape (n_targets, n_rows)."""
        return (self.targets - self.residual) / np.sqrt(self.engine.weights)

    def finish(self, k: int) -> dict[str, Any]:
        """Do what is left to do for the model after k steps, which is kept; return the figures that have changed."""
        return {}

    def foresee(self, atoms: np.ndarray) -> int:
        """Prepare for atoms that will be examined and added one by one, in this order; return for how many.

        Other atoms may come all the same.
        """
        return 0

    @abstractmethod
    def examine(self, atoms: np.ndarray) -> Shortlist:
        """Exact scores of a few atoms."""

    @abstractmethod
    def add(self, shortlist: Shortlist, k: int) -> Outcome:
        """Add the k-th atom of a shortlist and let the weights follow."""

    def dependent(self, shortlist: Shortlist) -> np.ndarray:
        """Which atoms of a shortlist are numerically dependent on the picked ones, and so never worth another look."""
        return np.zeros(len(shortlist.atoms), dtype=bool)

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Let atom `coming` take the place of atom `leaving` where that lowers the cost (or `always`)."""
        raise NotImplementedError(f"{type(self).__name__} exchanges no atoms")

    @abstractmethod
    def models(self, scale: float) -> Models:
        """The models of every step so far, their targets divided by `scale`; what it holds may change with the fit."""

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the model's atoms, shape (n_fixed + n_atoms, n_targets)."""
        return self.models(1.0).weights(self.n_steps)

    def is_copy(self, atom: int) -> bool:
        """Whether an atom is the same function as one of the model."""
        return bool(self.engine.dictionary.same_as(atom, np.asarray(self.atoms, dtype=np.intp)).any())

    def _place(self, atom: int) -> int:
        """Place of an atom on the path, a new one where it was never picked before."""
        return self.places.setdefault(int(atom), len(self.places))


class ResidualFit(Fit):
    """A fit that has no basis of its atoms: what is left for an atom to explain is its product with the residual.

    centred_targets  targets without their part along the fixed columns, shape (n_targets, n_rows)
    """

    #: Whether a step also multiplies all weights by a factor.
    rescales = False
    centred_targets: np.ndarray

    def new(self, inner: np.ndarray, along: np.ndarray | None) -> np.ndarray:
        """What of atoms is new to a step that changes the weight of one of them alone: all of it, `<j, j>`."""
        return inner


def column_squares(values: np.ndarray) -> np.ndarray:
    """Sums of squares over the first axis."""
    return np.einsum("ij,ij->j", values, values)


def frobenius(values: np.ndarray) -> float:
    """Root of the sum of squares."""
    return float(np.sqrt(dot(values, values)))


def dot(first: np.ndarray, second: np.ndarray) -> float:
    """Sum of products; not by BLAS, whose sums change with its threads, which then wait at the core's expense."""
    return float(np.einsum("i,i->", first.ravel(), second.ravel()))


def fixed_direction(basis: Basis, column: np.ndarray) -> Direction:
    """What is new in a fixed column."""
    p = basis.project(column[None])[:, 0]
    direction = basis.orthogonalise(column, np.zeros(0), p, dot(column, column))
    if direction is None:
        raise ValueError(
            "The functions that are always in, the intercept among them, are linearly dependent on the training rows; "
            "leave one out, or use fit_intercept=False."
        )
    return direction


class FixedColumns:
    """The fixed columns of a fit that refits no atom, taken out of targets and atoms alike.

    So the weights of the fixed columns are always the best for those of the atoms.
    """

    def __init__(self, basis: Basis, targets: np.ndarray, fixed: np.ndarray):
        self.basis = basis
        for column in fixed:
            basis.append(fixed_direction(basis, column))
        self.b = basis.V @ targets.T
        self.targets = targets - self.b.T @ basis.V
        self.p: list[np.ndarray] = []  # products of the directions with every atom, in order of place

    def centred(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """An atom's column without its part along the fixed columns, and its products with their directions."""
        p = self.basis.project(column[None])[:, 0]
        for part, direction in zip(p, self.basis.V):
            column = column - part * direction
        return column, p

    def part(self, scale: float) -> FixedPart:
        """The fixed columns' share of every model."""
        p = np.array(self.p).reshape(len(self.p), self.basis.size).T
        return FixedPart(self.basis.R, self.b / scale, p)
