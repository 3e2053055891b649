"""The size of errors as a function of the row: a penalised gamma regression of absolute errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from kernelpursuit.model.constants import (
    MAX_NOISE_STEP,
    MIN_NOISE_ROWS,
    MIN_RELATIVE_ERROR,
    N_NOISE_ROUNDS,
    NOISE_PENALTIES,
    NOISE_STANDARD_ERRORS,
)
from kernelpursuit.pursuit.working import loo_prediction, one_minus_leverage

# Where other rows have less than this fraction of the weight, they say nothing of one.
MIN_REMAINING_WEIGHT = 1e-9
# Directions of columns with less than this of the largest sum of squares are rounding: that of inner products is some
# n eps of the largest, 1e-12 for thousands of rows, and a hundredfold of it is taken for it.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class LogScale:
    """`log s(x) = constant + sum_j coef_j (c_j(x) - center_j)` of the columns c, kept within what was seen.

    low, high   least and largest value over the rows that it was fitted to
    """

    constant: float
    coef: np.ndarray
    center: np.ndarray
    low: float
    high: float

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        """Values at rows whose columns are these, shape (n_rows, n_columns)."""
        if not self.coef.any():
            return np.full(len(columns), self.constant)
        return np.clip(self.constant + (columns - self.center) @ self.coef, self.low, self.high)

    def times(self, factor: float) -> LogScale:
        """The scale times a positive factor."""
        shift = float(np.log(factor))
        moved = {name: getattr(self, name) + shift for name in ("constant", "low", "high")}
        return replace(self, **moved)


def fit_log_scale(
    columns: np.ndarray, errors: np.ndarray, weights: np.ndarray, groups: list[int]
) -> tuple[LogScale, np.ndarray]:
    """Fit the logarithm of the size of errors to columns, by least penalised deviance of a gamma distribution.

    Also returns its value at each of the rows, fitted without that row.

    Minimises `sum_i w_i (|e_i| / s_i + log s_i) + n penalty ||coef||²` by iterated least squares, in which the working
    weights are those of the rows. The penalty has the least leave-one-out deviance, in closed form around the minimum;
    where that is not clearly below the deviance of one size for all rows, the size is one for all.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        What the size may depend on.
    errors : array of shape (n_rows,)
        Errors, in units in which their mean absolute value is one.
    weights : array of shape (n_rows,)
        Sample weights with mean one.
    groups : list of int
        Sizes of groups of columns that lie side by side; each group as a whole may vary as much as any other.
    """
    n, t, total = len(errors), np.maximum(np.abs(errors), MIN_RELATIVE_ERROR), weights.sum()
    mean = float(weights @ t / total)
    start = float(np.log(mean))
    one_size = LogScale(start, np.zeros(columns.shape[1]), columns[0], low=start, high=start)
    # A row that has all of the weight leaves nothing to say what its error would be.
    rest = 1.0 - weights / total
    loo_of_one = np.full(n, start)
    known = rest > MIN_REMAINING_WEIGHT
    loo_of_one[known] = np.log(np.maximum(mean - weights * t / total, MIN_RELATIVE_ERROR)[known] / rest[known])
    basis = _Basis.of(columns, weights, groups) if n >= MIN_NOISE_ROWS else None
    if basis is None:
        return one_size, loo_of_one
    before = _deviance(t, loo_of_one)
    best, loo, least = one_size, loo_of_one, float(weights @ before)
    for penalty in NOISE_PENALTIES:
        share = basis.squares / (basis.squares + penalty * n)
        eta, constant, along = np.full(n, start), start, np.zeros(len(share))
        for _ in range(N_NOISE_ROUNDS):
            z = _working_response(t, eta)
            constant = float(weights @ z / total)
            along = share * ((basis.root * (z - constant)) @ basis.U)
            eta = constant + basis.U @ along / basis.root
        leverage = np.minimum(weights / total + np.square(basis.U) @ share, 0.999)
        z = _working_response(t, eta)
        without = loo_prediction(z, z - eta, one_minus_leverage(leverage))
        after = float(weights @ _deviance(t, without))
        if after < least:
            least, loo = after, without
            best = LogScale(constant, basis.coef(along), basis.center, low=float(eta.min()), high=float(eta.max()))
    less = before - _deviance(t, loo)
    gain = float(weights @ less / total)
    error = float(np.sqrt(np.square(weights) @ np.square(less - gain))) / total
    return (best, np.clip(loo, best.low, best.high)) if gain > NOISE_STANDARD_ERRORS * error else (one_size, loo_of_one)


@dataclass(frozen=True)
class _Basis:
    """Columns by their principal directions: U with orthonormal columns, times the roots of `squares`."""

    U: np.ndarray
    squares: np.ndarray
    turn: np.ndarray
    center: np.ndarray
    unit: np.ndarray
    root: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, weights: np.ndarray, groups: list[int]) -> _Basis | None:
        """Centre and scale columns; None where none varies."""
        center, root = weights @ columns / weights.sum(), np.sqrt(weights)
        spread = np.sqrt(weights @ np.square(columns - center) / weights.sum())
        unit = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
        unit *= np.repeat(np.sqrt(columns.shape[1] / len(groups) / np.maximum(groups, 1)), groups)
        weighted = (columns - center) * unit * root[:, None]
        squares, turn = eigh(weighted.T @ weighted, check_finite=False)
        kept = squares > RANK_TOLERANCE * squares.max()
        if not kept.any():
            return None
        squares, turn = squares[kept], turn[:, kept]
        return cls(weighted @ turn / np.sqrt(squares), squares, turn, center=center, unit=unit, root=root)

    def coef(self, along: np.ndarray) -> np.ndarray:
        """Coefficients of the columns as they were given."""
        return self.unit * (self.turn @ (along / np.sqrt(self.squares)))


def _deviance(t: np.ndarray, log_scale: np.ndarray) -> np.ndarray:
    """Deviance of each row."""
    return t * np.exp(-log_scale) + log_scale


def _working_response(t: np.ndarray, eta: np.ndarray) -> np.ndarray:
    return eta + np.clip(t * np.exp(-eta) - 1.0, -1.0, MAX_NOISE_STEP)
