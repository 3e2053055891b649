"""The fraction of rows that scores put in a wrong class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.measure import classes_of
from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.working import INTERPOLATED
from kernelpursuit.rows import RowBlock, slices

# Scores are made so many numbers at a time (2 MB), which stay near until the largest is found.
SCORES_AT_A_TIME = 2**18


@dataclass(frozen=True)
class LeaveOneOutWrong(Reducer):
    """`loo_error`, the weighted fraction of rows whose leave-one-out scores name a wrong class.

    Where a row is interpolated, it is infinite.

    places  for each size, that whose scores stand for its own, shape (n_sizes,), ascending
    weight  sum of the weights
    wrong   that of the rows in a wrong class, for each size among the places
    least   the least `1 - h` of every size
    """

    places: np.ndarray
    weight: float = 0.0
    wrong: float | np.ndarray = 0.0
    least: float | np.ndarray = np.inf

    def of_block(self, sizes: Sizes) -> LeaveOneOutWrong:
        """The rows of this block."""
        block, looked_at = sizes.block, np.unique(self.places)
        y = _weighted(block)
        true, wrong = classes_of(y), np.empty(len(looked_at))
        for part in slices(len(looked_at), max(1, SCORES_AT_A_TIME // y.size)):
            which = looked_at[part]
            # Scores times what is left of the row, which is positive: the largest is the same, and nothing is divided.
            scores = y[:, None] * sizes.one_minus_leverage[which]
            scores -= sizes.residual[:, which]
            wrong[part] = _weight_of(are_wrong(scores, true), block)
        return LeaveOneOutWrong(self.places, block.total_weight, wrong, sizes.least_left)

    def __add__(self, other: LeaveOneOutWrong) -> LeaveOneOutWrong:
        """The rows of both."""
        least = np.minimum(self.least, other.least)
        return LeaveOneOutWrong(self.places, self.weight + other.weight, self.wrong + other.wrong, least)

    def result(self) -> dict[str, np.ndarray]:
        """The column."""
        each = np.asarray(self.wrong)[np.searchsorted(np.unique(self.places), self.places)]
        return {"loo_error": np.where(np.asarray(self.least) > INTERPOLATED, each / self.weight, np.inf)}


@dataclass(frozen=True)
class ValidationWrong(Reducer):
    """`validation_error`, the weighted fraction of rows that were not fitted and are put in a wrong class.

    limits  the largest absolute score of every target, shape (n_targets,), or None
    weight  sum of the weights
    wrong   that of the rows in a wrong class, shape (n_sizes,)
    """

    limits: np.ndarray | None = None
    weight: float = 0.0
    wrong: float | np.ndarray = 0.0

    def of_block(self, sizes: Sizes) -> ValidationWrong:
        """The rows of this block, with scores kept within the limits."""
        block = sizes.block
        y, limits = _weighted(block), None if self.limits is None else self.limits[:, None, None]
        true, wrong = classes_of(y), np.empty(sizes.n_sizes)
        for part in slices(sizes.n_sizes, max(1, SCORES_AT_A_TIME // y.size)):
            scores = y[:, None] - sizes.residual[:, part]
            if limits is not None:
                # Scores at a limit are equal, and go to the first class, only if they are in the units of the limit.
                scores = np.clip(scores / np.sqrt(block.sample_weights), -limits, limits)
            wrong[part] = _weight_of(are_wrong(scores, true), block)
        return ValidationWrong(self.limits, block.total_weight, wrong)

    def __add__(self, other: ValidationWrong) -> ValidationWrong:
        """The rows of both."""
        return ValidationWrong(self.limits, self.weight + other.weight, self.wrong + other.wrong)

    def result(self) -> dict[str, np.ndarray]:
        """The column."""
        return {"validation_error": np.asarray(self.wrong) / self.weight}


def are_wrong(scores: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Whether scores of shape (n_targets, n_sizes, n_rows) name another class than the true one of each row.

    As `classes_of` names classes: by the sign of one score, else by the first of the largest. Returns the shape
    (n_sizes, n_rows); several scores are overwritten.
    """
    if len(scores) == 1:
        return (scores[0] > 0) != true.astype(bool)
    # Ten times as fast as `argmax` along the first axis: is the true class below the largest of the others?
    every = np.arange(scores.shape[2])
    own = scores[true, :, every].T
    scores[true, :, every] = -np.inf
    others = scores.max(axis=0)
    wrong: np.ndarray = own < others
    sizes, rows = np.nonzero(own == others)
    wrong[sizes, rows] = scores[:, sizes, rows].argmax(axis=0) < true[rows]
    return wrong


def _weighted(block: RowBlock) -> np.ndarray:
    """Targets times the root of the weights, as residuals are, shape (n_targets, n_rows)."""
    y = np.ascontiguousarray(block.y.T)
    return y if block.weights is None else y * np.sqrt(block.weights)


def _weight_of(marks: np.ndarray, block: RowBlock) -> np.ndarray:
    """The sum of the weights of the rows that are marked, shape (n_sizes,)."""
    return np.count_nonzero(marks, axis=1) if block.weights is None else marks @ block.weights
