"""Columns that are in every model, as directions of a basis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelpursuit.pursuit.basis import Basis, Direction
from kernelpursuit.pursuit.fits.base import dot
from kernelpursuit.pursuit.models import FixedPart


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


class Centred(NamedTuple):
    """An atom without its part along the fixed columns.

    column  what is left of its sample values
    p       its products with the directions of the fixed columns
    """

    column: np.ndarray
    p: np.ndarray


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
        self._p: list[np.ndarray] = []  # products of the directions with every atom, in order of place

    def centred(self, column: np.ndarray) -> Centred:
        """An atom's column without its part along the fixed columns."""
        p = self.basis.project(column[None])[:, 0]
        for product, direction in zip(p, self.basis.V):
            column = column - product * direction
        return Centred(column, p)

    def enter(self, atom: Centred) -> None:
        """Note an atom that is picked for the first time."""
        self._p.append(atom.p)

    def part(self, scale: float) -> FixedPart:
        """The fixed columns' share of every model."""
        p = np.array(self._p).reshape(len(self._p), self.basis.size).T
        return FixedPart(self.basis.R, self.b / scale, p)
