"""What one pass over rows tells of their features: counts, weights, ranges, means and spreads that add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Statistics:
    """Sums over rows, by column; those of two sets of rows add up to those of both.

    n_rows   number of rows
    weight   sum of their weights
    low, high   least and largest value of each column
    mean     weighted mean of each column
    squares  weighted sum of squared distances from the mean

    Notes
    -----
    Means and squares are joined as Chan, Golub and LeVeque (1983) do, so that nothing cancels where the mean is large
    beside the spread. They are taken of `values / unit`, with a unit for each column that is the caller's to choose, so
    that no square over- or underflows.
    """

    n_rows: int
    weight: float
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of_block(cls, values: ArrayLike, weights: np.ndarray | None = None, unit: ArrayLike = 1.0) -> Statistics:
        """Sums over one block of dense rows, shape (n_rows, n_columns)."""
        values = np.asarray(values, dtype=np.float64)
        share = np.ones(len(values)) if weights is None else weights
        weight, relative = float(share.sum()), values / unit
        mean = share @ relative / weight if weight > 0 else np.zeros(values.shape[1])
        squares = share @ np.square(relative - mean)
        return cls(len(values), weight, values.min(axis=0), high=values.max(axis=0), mean=mean, squares=squares)

    def __add__(self, other: Statistics) -> Statistics:
        """The sums over both sets of rows."""
        weight = self.weight + other.weight
        part = other.weight / weight if weight > 0 else 0.0
        apart = other.mean - self.mean
        return Statistics(
            self.n_rows + other.n_rows,
            weight,
            np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            mean=self.mean + part * apart,
            squares=self.squares + other.squares + self.weight * part * np.square(apart),
        )

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation of each column, in its unit."""
        return np.sqrt(self.squares / self.weight)
