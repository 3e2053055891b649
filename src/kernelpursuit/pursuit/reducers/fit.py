"""How close models are to the targets, and how many numbers that takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes


@dataclass(frozen=True)
class Residuals(Reducer):
    """Sums of squared residuals of each target, `target_residual`, and the root of their sum, `residual_norm`."""

    squares: float | np.ndarray = 0.0

    def of_block(self, sizes: Sizes) -> Residuals:
        """The sums over these rows, shape (n_sizes, n_targets)."""
        return Residuals(np.einsum("jki,jki->kj", sizes.residual, sizes.residual))

    def __add__(self, other: Residuals) -> Residuals:
        """The sums over both."""
        return Residuals(self.squares + other.squares)

    def result(self) -> dict[str, np.ndarray]:
        """Both columns."""
        squares = np.asarray(self.squares)
        return {"target_residual": squares, "residual_norm": np.sqrt(squares.sum(axis=1))}


@dataclass(frozen=True)
class Freedom(Reducer):
    """Effective degrees of freedom, `dof`: the sum of the leverages."""

    leverage: float | np.ndarray = 0.0

    def of_block(self, sizes: Sizes) -> Freedom:
        """The sum over these rows, shape (n_sizes,)."""
        return Freedom(sizes.leverage.sum(axis=1))

    def __add__(self, other: Freedom) -> Freedom:
        """The sum over both."""
        return Freedom(self.leverage + other.leverage)

    def result(self) -> dict[str, np.ndarray]:
        """The column."""
        return {"dof": np.asarray(self.leverage)}
