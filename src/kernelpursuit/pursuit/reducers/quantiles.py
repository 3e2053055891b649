"""Quantiles of leave-one-out errors, for intervals that hold a given fraction of new targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes

# Coverages at which the quantiles of leave-one-out errors are kept; closer where they rise fast.
LEVELS = np.concatenate([np.linspace(0.0, 0.9, 37), np.linspace(0.905, 0.995, 19), [0.999]])
# Rows whose leave-one-out errors stand for those of all.
CALIBRATION_ROWS = 2000


def calibration_rows(n_rows: int, judged: np.ndarray | None) -> np.ndarray:
    """Numbers, ascending, of the rows whose leave-one-out errors are kept: at most 2,000 of those that are marked.

    Errors of rows that atoms were picked from are too small; where others are marked, those alone calibrate.
    """
    rows = np.arange(n_rows) if judged is None else np.flatnonzero(judged)
    return rows[np.linspace(0, len(rows) - 1, min(CALIBRATION_ROWS, len(rows))).astype(np.intp)]


def conformal_quantiles(errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Quantiles of absolute errors of shape (n_targets, n_rows) at all levels, shape (n_levels, n_targets).

    As in conformal prediction, the row that is to be predicted counts as one more, with an error above all others. Of
    weights below one, which are no counts, that one more row has the weight of the others.
    """
    order = np.argsort(errors, axis=1)
    out = np.empty((len(LEVELS), len(errors)))
    for target, (error, ascending) in enumerate(zip(errors, order)):
        reached = np.cumsum(weights[ascending]) / (weights.sum() + min(1.0, weights.mean()))
        place = np.minimum(np.searchsorted(reached, LEVELS), errors.shape[1] - 1)
        out[:, target] = error[ascending[place]]
    return out


@dataclass(frozen=True)
class LeaveOneOutQuantiles(Reducer):
    """`loo_quantiles`, shape (n_sizes, n_levels, n_targets), of the absolute leave-one-out errors of some rows.

    rows   numbers of the calibration rows, ascending
    found  of each block that has some: the number of the first, absolute errors of shape (n_targets, n_sizes, n_found),
           and weights
    """

    rows: np.ndarray
    found: tuple[tuple[int, np.ndarray, np.ndarray], ...] = ()

    def of_block(self, sizes: Sizes) -> LeaveOneOutQuantiles:
        """The errors of the calibration rows among these."""
        block = sizes.block
        first, last = np.searchsorted(self.rows, [block.start, block.stop])
        places = self.rows[first:last] - block.start
        if not len(places):
            return LeaveOneOutQuantiles(self.rows)
        weights = block.sample_weights[places]
        errors = np.abs(sizes.loo_error[:, :, places]) / np.sqrt(weights)
        return LeaveOneOutQuantiles(self.rows, ((int(first), errors, weights),))

    def __add__(self, other: LeaveOneOutQuantiles) -> LeaveOneOutQuantiles:
        """The errors of the rows of both."""
        return LeaveOneOutQuantiles(self.rows, self.found + other.found)

    def result(self) -> dict[str, np.ndarray]:
        """The quantiles of all rows that were seen; infinite where an error is."""
        found = sorted(self.found, key=lambda part: part[0])
        errors = np.concatenate([part[1] for part in found], axis=2)
        weights = np.concatenate([part[2] for part in found])
        return {"loo_quantiles": np.array([conformal_quantiles(size, weights) for size in errors.swapaxes(0, 1)])}
