"""What the loop asks of a fit, whatever follows when an atom is picked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol, Self

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.basis import Basis
from kernelpursuit.pursuit.models import Models
from kernelpursuit.pursuit.penalty import PenaltyMatrix


class Outcome(Enum):
    """What came of adding an atom."""

    ADDED = "it was added"
    DEPENDENT = "it is numerically dependent on the picked ones"
    ENDED = "the fit ends before it"
    WORTHLESS = "it would not lower the cost"


@dataclass
class ExaminedAtoms:
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


@dataclass(frozen=True)
class Design:
    """Columns that a model may have, over rows with weights: functions that are always in, and atoms with a penalty.

    engine    products with the atoms, on rows with the weights of this design
    fixed     values of the functions that are always in, never penalised (the intercept), shape (n_fixed, n_rows)
    penalty   the penalty over atoms, or None
    capacity  atoms to make room for at first
    """

    engine: Engine
    fixed: np.ndarray
    penalty: PenaltyMatrix | None = None
    capacity: int = 0

    def weighted(self, weights: np.ndarray) -> Design:
        """The same columns over the same rows with other weights."""
        return replace(self, engine=self.engine.weighted(weights))

    def fixed_columns(self) -> np.ndarray:
        """Values of the fixed functions, times the root of the weights."""
        return np.sqrt(self.engine.weights) * self.fixed


class Fit(Protocol):
    """What the loop asks of a fit; everything on rows is times the root of their weights."""

    @property
    def engine(self) -> Engine:
        """Products with the dictionary; its weights are the sample weights, or the working weights under a loss."""

    @property
    def sample_weights(self) -> np.ndarray:
        """Weights of the rows in the cost."""

    @property
    def penalty(self) -> PenaltyMatrix | None:
        """The penalty over atoms."""

    @property
    def quadratic(self) -> SquaredFit:
        """The least-squares fit by which atoms are scored: the fit itself, or that of an approximation to its loss."""

    @property
    def targets(self) -> np.ndarray:
        """Targets, or the working response, shape (n_targets, n_rows)."""

    @property
    def residual(self) -> np.ndarray:
        """`targets - D w`."""

    @property
    def residual_norm(self) -> float:
        """Root of the sum of squared residuals."""

    @property
    def leverage(self) -> np.ndarray | None:
        """The diagonal of the hat matrix, where all weights are refitted."""

    @property
    def initial_cost(self) -> float:
        """Cost without any atom."""

    @property
    def n_targets(self) -> int:
        """Number of targets."""

    @property
    def n_fixed(self) -> int:
        """Number of columns that are always in."""

    @property
    def n_steps(self) -> int:
        """Steps taken so far."""

    @property
    def atoms(self) -> list[int]:
        """Atoms of the model."""

    @property
    def places(self) -> dict[int, int]:
        """All atoms that were ever picked, by the order of their first time."""

    @property
    def used(self) -> np.ndarray:
        """The same as an array, in that order."""

    @property
    def rcond(self) -> float:
        """Reciprocal condition number of the basis with the atom last looked at, where that is watched."""

    @property
    def end_reason(self) -> str:
        """Why the fit refuses to go on, where it does."""

    @property
    def may_repeat(self) -> bool:
        """Whether an atom may be picked again."""

    @property
    def skips_dependent(self) -> bool:
        """Whether atoms of which next to nothing is new are left out for good."""

    def cost(self) -> float:
        """What is minimised."""

    def misfit(self) -> float:
        """What the model leaves: the root of the cost without the penalty."""

    def look_ahead(self, atoms: np.ndarray) -> int:
        """Prepare for atoms that will be examined and added one by one, in this order; return for how many.

        Other atoms may come all the same.
        """

    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms."""

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """Which examined atoms are numerically dependent on the picked ones, and so never worth another look."""

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined and let the weights follow."""

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Let atom `coming` take the place of atom `leaving` where that lowers the cost (or `always`)."""

    def models(self, scale: float) -> Models:
        """The models of every step so far, their targets divided by `scale`; what it holds may change with the fit."""

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the model's atoms, shape (n_fixed + n_atoms, n_targets)."""

    def finish(self, k: int) -> dict[str, float]:
        """Do what is left to do for the model after k steps, which is kept; return the figures that have changed."""


class SquaredFit(ABC):
    """A fit of the squared loss, or of a local quadratic approximation to another.

    Parameters
    ----------
    design : Design
        The columns, and the weights of the rows.
    targets : array of shape (n_targets, n_rows)
        Targets, times the root of the weights.
    basis : Basis
        Empty; every fit has the fixed columns in it, and one that refits all weights, the atoms as well.
    """

    may_repeat = False
    skips_dependent = False
    leverage: np.ndarray | None = None
    residual: np.ndarray
    residual_norm: float
    initial_cost: float

    def __init__(self, design: Design, targets: np.ndarray, basis: Basis):
        n_atoms = design.engine.n_atoms
        self.design = design
        self.own_penalties = np.zeros(n_atoms) if design.penalty is None else design.penalty.diagonal()
        self.basis = basis
        self.targets = targets
        self.n_targets = targets.shape[0]
        self.n_steps = 0
        self.n_fixed = 0
        self.atoms: list[int] = []
        self.places: dict[int, int] = {}
        self.end_reason = ""
        self.rcond = np.nan
        self.n_reweighted = 0  # how often the weights of the rows have changed
        self.n_refits = 0  # how often all weights of the model were replaced

    @property
    def engine(self) -> Engine:
        """Products with the dictionary, on rows with the weights of the fit."""
        return self.design.engine

    @property
    def penalty(self) -> PenaltyMatrix | None:
        """The penalty over atoms."""
        return self.design.penalty

    @property
    def sample_weights(self) -> np.ndarray:
        """Weights of the rows in the cost."""
        return self.engine.weights

    @property
    def quadratic(self) -> Self:
        """The fit itself."""
        return self

    @property
    def used(self) -> np.ndarray:
        """Atoms that were ever picked, in the order of their first time."""
        return np.fromiter(self.places, dtype=np.intp, count=len(self.places))

    @abstractmethod
    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""

    def misfit(self) -> float:
        """The norm of the residual."""
        return self.residual_norm

    def scores(self) -> np.ndarray:
        """Values of the model on the training rows, shape (n_targets, n_rows)."""
        return (self.targets - self.residual) / np.sqrt(self.engine.weights)

    def finish(self, k: int) -> dict[str, float]:
        """Nothing: a least-squares fit is always complete."""
        return {}

    def look_ahead(self, atoms: np.ndarray) -> int:
        """For none."""
        return 0

    @abstractmethod
    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms."""

    @abstractmethod
    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined and let the weights follow."""

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """None of them."""
        return np.zeros(len(examined.atoms), dtype=bool)

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Refuse: where weights are not refitted, those that the others have would be wrong."""
        raise NotImplementedError(f"{type(self).__name__} exchanges no atoms")

    @abstractmethod
    def models(self, scale: float) -> Models:
        """The models of every step so far."""

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the model's atoms, shape (n_fixed + n_atoms, n_targets)."""
        return self.models(1.0).weights(self.n_steps)

    def is_copy(self, atom: int) -> bool:
        """Whether an atom is the same function as one of the model."""
        return bool(self.engine.dictionary.same_as(atom, np.asarray(self.atoms, dtype=np.intp)).any())

    def _place(self, atom: int) -> int:
        """Place of an atom on the path, a new one where it was never picked before."""
        return self.places.setdefault(int(atom), len(self.places))


class ResidualFit(SquaredFit):
    """A fit that has no basis of its atoms: what is left for an atom to explain is its product with the residual.

    centred_targets  targets without their part along the fixed columns, shape (n_targets, n_rows)
    """

    #: Whether a step also multiplies all weights by a factor.
    rescales: bool = False
    centred_targets: np.ndarray

    def new(self, inner: np.ndarray, along: np.ndarray | None) -> np.ndarray:
        """What of atoms is new to a step that changes the weight of one of them alone: all of it, `<j, j>`.

        `along` are the products <j, model>, shape (n_targets, n_atoms), where the step scales the model.
        """
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
