"""Quantiles of leave-one-out errors, for intervals that hold a given fraction of new targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.working import INTERPOLATED

# Coverages at which the quantiles of leave-one-out errors are kept; closer where they rise fast.
LEVELS = np.concatenate([np.linspace(0.0, 0.9, 37), np.linspace(0.905, 0.995, 19), [0.999]])
# Rows whose leave-one-out errors stand for those of all.
CALIBRATION_ROWS = 2000


def calibration_rows(n_rows: int, calibrates: np.ndarray | None) -> np.ndarray:
    """Numbers, ascending, of the rows whose leave-one-out errors are kept: at most 2,000 of those that are marked.

    Errors of rows that atoms were picked from are too small; where others are marked, those alone calibrate.
    """
    return evenly(np.arange(n_rows) if calibrates is None else np.flatnonzero(calibrates), CALIBRATION_ROWS)


def evenly(numbers: np.ndarray, at_most: int) -> np.ndarray:
    """At most so many of these numbers, as far apart as they can be."""
    return numbers[np.linspace(0, len(numbers) - 1, min(at_most, len(numbers))).astype(np.intp)]


def conformal_quantiles(errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Quantiles of absolute errors of shape (n_targets, n_rows) at all levels, shape (n_levels, n_targets).

    Of weights below one, which are no counts, the row that is to be predicted has the weight of the others.
    """
    one_more = min(1.0, weights.mean())
    return np.column_stack([quantiles(error, weights, LEVELS, one_more) for error in errors])


def quantiles(scores: np.ndarray, weights: np.ndarray, levels: np.ndarray, one_more: float = 1.0) -> np.ndarray:
    """Weighted quantiles of scores, shape (n_levels,), as in conformal prediction.

    The row that is to be predicted counts as one more, of weight `one_more`, with a score above all others.
    """
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order]) / (weights.sum() + one_more)
    return scores[order[np.minimum(np.searchsorted(reached, levels), len(scores) - 1)]]


@dataclass(frozen=True)
class LeaveOneOutQuantiles(Reducer):
    """`loo_quantiles`, shape (n_sizes, n_levels, n_targets), of the absolute leave-one-out errors of some rows.

    rows   numbers of the calibration rows, ascending
    scale  what targets are multiplied by; the quantiles are in units of the targets themselves
    found  of each block that has some: the number of the first, absolute errors of shape (n_targets, n_sizes, n_found),
           and weights
    least  the least `1 - h` of any row, shape (n_sizes,)
    """

    rows: np.ndarray
    scale: float = 1.0
    found: tuple[tuple[int, np.ndarray, np.ndarray], ...] = ()
    least: float | np.ndarray = np.inf

    def of_block(self, sizes: Sizes) -> LeaveOneOutQuantiles:
        """The errors of the calibration rows among these."""
        block = sizes.block
        places = np.flatnonzero(np.isin(block.numbers, self.rows))
        if not len(places):
            return replace(self, found=(), least=sizes.least_left)
        first = block.numbers[places[0]]
        weights = block.sample_weights[places]
        errors = np.abs(sizes.loo_error(places)) / np.sqrt(weights)
        return replace(self, found=((int(first), errors, weights),), least=sizes.least_left)

    def __add__(self, other: LeaveOneOutQuantiles) -> LeaveOneOutQuantiles:
        """The errors of the rows of both."""
        return replace(self, found=self.found + other.found, least=np.minimum(self.least, other.least))

    def result(self) -> dict[str, np.ndarray]:
        """The quantiles of all rows that were seen; infinite where any row is interpolated."""
        found = sorted(self.found, key=lambda part: part[0])
        errors = np.concatenate([part[1] for part in found], axis=2)
        weights = np.concatenate([part[2] for part in found])
        quantiles = np.array([conformal_quantiles(size, weights) for size in errors.swapaxes(0, 1)]) / self.scale
        quantiles[np.asarray(self.least) <= INTERPOLATED] = np.inf
        return {"loo_quantiles": quantiles}
