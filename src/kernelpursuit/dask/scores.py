"""How good predictions are, as sums over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from kernelpursuit._types import Matrix
from kernelpursuit.rows import RowBlock, RowSource, Statistics, block_size


@dataclass(frozen=True)
class Score:
    """A score of a fitted estimator; subclasses say of what values it is."""

    model: BaseEstimator

    def __call__(self, block: RowBlock) -> Statistics:
        """Sums over a block."""
        return Statistics.of_block(self.values(block), block.weights)

    def statistics(self, source: RowSource) -> Statistics:
        """Sums over all rows."""
        return source.reduce(self, block_size(source.n_features + 2 * source.n_targets))

    def predicted(self, X: Matrix) -> np.ndarray:
        """Predictions of a block, whose columns are those of the fit."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            return self.model.predict(X)
        import pandas as pd

        return self.model.predict(pd.DataFrame(X, columns=names))

    def values(self, block: RowBlock) -> np.ndarray:
        """Values of which the score is a matter of means and squares, shape (n_rows, n_values)."""
        raise NotImplementedError


@dataclass(frozen=True)
class RSquared(Score):
    """R², the mean over targets."""

    def values(self, block: RowBlock) -> np.ndarray:
        """Errors, then targets."""
        y = np.asarray(block.y, dtype=np.float64)
        return np.hstack([y - self.predicted(block.X).reshape(y.shape), y])

    def score(self, source: RowSource) -> float:
        """R² of all rows, 1 or 0 for a target that is a constant."""
        found = self.statistics(source)
        errors, spread = np.split(found.squares, 2)
        errors = errors + found.weight * np.square(found.mean[: len(errors)])
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(spread > 0, errors / spread, np.where(errors > 0, 1.0, 0.0))
        return float(np.mean(1.0 - left))


@dataclass(frozen=True)
class Accuracy(Score):
    """The fraction of labels that are predicted."""

    def values(self, block: RowBlock) -> np.ndarray:
        """Whether each label is the predicted one."""
        return (self.predicted(block.X) == block.y[:, 0]).astype(np.float64)[:, None]

    def score(self, source: RowSource) -> float:
        """The fraction of all rows."""
        return float(self.statistics(source).mean[0])
