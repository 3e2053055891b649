"""The mean squared leave-one-out error, and its standard error over rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.working import INTERPOLATED


@dataclass(frozen=True)
class LeaveOneOutError(Reducer):
    """`loo`, the weighted mean of squared leave-one-out errors, its standard error `loo_se`, `n_units` and `weight`.

    Several targets are averaged. Where a row is interpolated, both are infinite.

    weight, n_units  sum of the weights, and number of observations
    mean, squares    of the errors, shape (n_sizes,), and the weighted sum of squared distances from it
    least            the least `1 - h`
    """

    weight: float = 0.0
    n_units: float = 0.0
    mean: float | np.ndarray = 0.0
    squares: float | np.ndarray = 0.0
    least: float | np.ndarray = np.inf

    def of_block(self, sizes: Sizes) -> LeaveOneOutError:
        """The error of these rows."""
        weights, total = sizes.block.weights, sizes.block.total_weight
        with np.errstate(invalid="ignore", over="ignore"):
            losses = _losses(sizes)
            mean = losses.sum(axis=1) / total
            apart = losses if weights is None else losses / weights
            apart -= mean[:, None]
            np.square(apart, out=apart)
            squares = apart.sum(axis=1) if weights is None else apart @ weights
        n_units = float(sizes.units.sum())
        return LeaveOneOutError(total, n_units, mean, squares=squares, least=sizes.least_left)

    def __add__(self, other: LeaveOneOutError) -> LeaveOneOutError:
        """The error of the rows of both; means and squares are joined so that nothing cancels."""
        weight = self.weight + other.weight
        part = other.weight / weight if weight > 0 else 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            apart = other.mean - self.mean
            mean = self.mean + part * apart
            squares = self.squares + other.squares + self.weight * part * np.square(apart)
        return LeaveOneOutError(
            weight, self.n_units + other.n_units, mean, squares=squares, least=np.minimum(self.least, other.least)
        )

    def result(self) -> dict[str, np.ndarray]:
        """Both columns, and both numbers."""
        known = self.least > INTERPOLATED
        error = np.sqrt(self.squares / self.weight / max(self.n_units - 1.0, 1.0))
        return {
            "loo": np.where(known, self.mean, np.inf),
            "loo_se": np.where(known, error, np.inf),
            "n_units": np.asarray(self.n_units),
            "weight": np.asarray(self.weight),
        }


def _losses(sizes: Sizes) -> np.ndarray:
    """Squared leave-one-out errors times the weights, the mean over targets, shape (n_sizes, n_rows)."""
    if len(sizes.residual) == 1:
        errors = sizes.loo_error()[0]
        return np.square(errors, out=errors)
    # Squares add up before they are divided: of many targets, nothing else of that many numbers is made.
    squares = np.einsum("jki,jki->ki", sizes.residual, sizes.residual)
    with np.errstate(divide="ignore"):
        squares /= len(sizes.residual) * np.square(sizes.one_minus_leverage)
    return squares
