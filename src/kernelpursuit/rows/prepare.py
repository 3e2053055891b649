"""What is done to every block of rows before a fit sees it, wherever the block lies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from kernelpursuit.rows.source import RowBlock


@dataclass(frozen=True)
class Prepared:
    """A block as a fit takes it; rows of weight 0 are left out, and what is None is left as it is.

    targets      least and largest value of each target, shape (2, n_targets); rows beyond are left out
    features     least and largest value of each feature, shape (2, n_features); values beyond are moved there
    unit         of the targets, shape (n_targets,) or a number
    weight_unit  of the weights, which then say nothing of how often a row was seen: each is one observation
    left_out     numbers of rows that are not fitted, ascending
    """

    targets: np.ndarray | None = None
    features: np.ndarray | None = None
    unit: np.ndarray | float = 1.0
    weight_unit: float | None = None
    left_out: np.ndarray | None = None

    def __call__(self, block: RowBlock) -> RowBlock:
        """The rows that are left of a block, changed."""
        block = _only(block, self._kept(block))
        X = block.X
        if self.features is not None and not sp.issparse(X) and len(block) and self._leave_range(X):
            X = np.clip(X, *self.features.astype(X.dtype))
        weights, counts = block.weights, block.counts
        if self.weight_unit is not None and weights is not None:
            weights, counts = weights / self.weight_unit, np.ones(len(block))
        return replace(block, X=X, y=block.y / self.unit, weights=weights, counts=counts)

    def _kept(self, block: RowBlock) -> np.ndarray:
        kept = np.ones(len(block), dtype=bool)
        if block.weights is not None:
            kept &= block.weights > 0
        if self.targets is not None:
            kept &= ((block.y >= self.targets[0]) & (block.y <= self.targets[1])).all(axis=1)
        if self.left_out is not None:
            kept &= ~np.isin(block.numbers, self.left_out)
        return kept

    def _leave_range(self, X: np.ndarray) -> bool:
        assert self.features is not None
        return bool((X.min(axis=0) < self.features[0]).any() or (X.max(axis=0) > self.features[1]).any())


def _only(block: RowBlock, kept: np.ndarray) -> RowBlock:
    """The marked rows of a block; the block itself where all are."""
    if kept.all():
        return block
    return RowBlock(
        block.start,
        block.X[kept],
        block.y[kept],
        weights=None if block.weights is None else block.weights[kept],
        counts=None if block.counts is None else block.counts[kept],
        kept=block.numbers[kept],
    )
