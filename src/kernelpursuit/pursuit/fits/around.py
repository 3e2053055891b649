"""What every fit of a loss forwards to the least-squares fit that it has."""

from __future__ import annotations

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.fits.base import ExaminedAtoms, Outcome, SquaredFit
from kernelpursuit.pursuit.models import Explicit
from kernelpursuit.pursuit.objective import Objective
from kernelpursuit.pursuit.penalty import PenaltyMatrix


class FitAround:
    """A fit of a loss, around a least-squares fit of its local quadratic approximation.

    The least-squares fit has the atoms, the rows with their working weights and the columns; the fit of the loss says
    when to move it, and where to.

    Parameters
    ----------
    objective : Objective
        The loss, targets and sample weights.
    quadratic : SquaredFit
        The least-squares fit.
    """

    quadratic: SquaredFit
    initial_cost: float

    def __init__(self, objective: Objective, quadratic: SquaredFit):
        self.objective = objective
        self.quadratic = quadratic
        self._places: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []

    @property
    def engine(self) -> Engine:
        """Products with the dictionary, on rows with the working weights."""
        return self.quadratic.engine

    @property
    def sample_weights(self) -> np.ndarray:
        """Weights of the rows in the loss."""
        return self.objective.weights

    @property
    def penalty(self) -> PenaltyMatrix | None:
        """The penalty over atoms."""
        return self.quadratic.penalty

    @property
    def targets(self) -> np.ndarray:
        """The working response, times the root of the working weights."""
        return self.quadratic.targets

    @property
    def residual(self) -> np.ndarray:
        """Its residual."""
        return self.quadratic.residual

    @property
    def residual_norm(self) -> float:
        """The norm of that."""
        return self.quadratic.residual_norm

    @property
    def leverage(self) -> np.ndarray | None:
        """Leverages of the least-squares fit."""
        return self.quadratic.leverage

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return self.quadratic.n_targets

    @property
    def n_fixed(self) -> int:
        """Number of columns that are always in."""
        return self.quadratic.n_fixed

    @property
    def n_steps(self) -> int:
        """Steps taken so far."""
        return self.quadratic.n_steps

    @property
    def atoms(self) -> list[int]:
        """Atoms of the model."""
        return self.quadratic.atoms

    @property
    def places(self) -> dict[int, int]:
        """All atoms that were ever picked, by the order of their first time."""
        return self.quadratic.places

    @property
    def used(self) -> np.ndarray:
        """The same as an array, in that order."""
        return self.quadratic.used

    @property
    def rcond(self) -> float:
        """Reciprocal condition number of the basis with the atom last looked at."""
        return self.quadratic.rcond

    @property
    def end_reason(self) -> str:
        """Why the fit refuses to go on, where it does."""
        return self.quadratic.end_reason

    @property
    def may_repeat(self) -> bool:
        """Whether an atom may be picked again."""
        return self.quadratic.may_repeat

    @property
    def skips_dependent(self) -> bool:
        """Whether atoms of which next to nothing is new are left out for good."""
        return self.quadratic.skips_dependent

    def look_ahead(self, atoms: np.ndarray) -> int:
        """For none: every refit gives the rows other weights, in which other directions are orthonormal."""
        return 0

    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms in the local quadratic approximation."""
        return self.quadratic.examine(atoms)

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """Which examined atoms are numerically dependent on the picked ones."""
        return self.quadratic.dependent(examined)

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Refuse: what an exchange gains is known for the squared loss alone."""
        raise NotImplementedError(f"{type(self).__name__} exchanges no atoms")

    def models(self, scale: float) -> Explicit:
        """The models by their weights after every step."""
        return Explicit(self._places, self._weights, None, scale)
