"""The mean squared error on validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes


@dataclass(frozen=True)
class ValidationError(Reducer):
    """`validation`, the weighted mean squared error on rows that were not fitted; several targets are averaged.

    limits  the largest absolute prediction of every target, shape (n_targets,), or None
    weight  sum of the weights of the rows
    losses  weighted sum of their squared errors, shape (n_sizes,)
    """

    limits: np.ndarray | None = None
    weight: float = 0.0
    losses: float | np.ndarray = 0.0

    def of_block(self, sizes: Sizes) -> ValidationError:
        """The errors of these rows, with predictions kept within the limits."""
        residual = sizes.residual
        if self.limits is not None:
            y, limits = sizes.block.y.T[:, None], self.limits[:, None, None]
            root = np.sqrt(sizes.block.sample_weights)
            residual = root * (y - np.clip(y - residual / root, -limits, limits))
        losses = np.einsum("jki,jki->k", residual, residual) / len(residual)
        return ValidationError(self.limits, sizes.block.total_weight, losses)

    def __add__(self, other: ValidationError) -> ValidationError:
        """The errors of the rows of both."""
        return ValidationError(self.limits, self.weight + other.weight, self.losses + other.losses)

    def result(self) -> dict[str, np.ndarray]:
        """The column."""
        return {"validation": np.asarray(self.losses) / self.weight}
