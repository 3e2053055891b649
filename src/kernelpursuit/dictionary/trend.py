"""A straight line: the features themselves, standardised, as functions of a row."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike
from scipy.linalg import qr

from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.dictionary.base import Dictionary

# A feature whose standard deviation is below this fraction of its largest value is constant but for rounding: that is
# 1e-16 of the value, and four more digits are needed for standardised values that mean anything.
CONSTANT_TO_ROUNDING = 1e-12
# A feature of which no more than this fraction is independent of the others is left out: its coefficient would carry a
# thousand times the error that it has alone (the inverse of the fraction).
LEAST_INDEPENDENT = 1e-3


class LinearTrend(Dictionary):
    """A straight line: one atom for every feature that varies, its standardised value.

    `Always(LinearTrend())` puts a linear model, unpenalised, beside the atoms that are picked; `trend="linear"` of the
    estimators is that.

    Parameters
    ----------
    center, spread : arrays of shape (n_features,), optional
        What is subtracted from each feature, and what it is divided by, 0 for one that is left out; by default mean
        and standard deviation of the training rows.
    features : array of int, optional
        The features that are atoms; by default all that are not left out.
    training_rows : array of int, optional
        -1 for each atom, since none is centred at a training row.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.dictionary import Always, LinearTrend
    >>> model = KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=1.0)
    """

    def __init__(
        self,
        center: np.ndarray | None = None,
        spread: np.ndarray | None = None,
        *,
        features: np.ndarray | None = None,
        training_rows: np.ndarray | None = None,
    ):
        self.center = center
        self.spread = spread
        self.features = np.flatnonzero(spread) if features is None and spread is not None else features
        self.training_rows = training_rows

    @property
    def n_atoms(self) -> int:
        """Number of features that vary."""
        if self.features is None:
            raise ValueError("LinearTrend() has no atoms before it has seen rows.")
        return len(self.features)

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> LinearTrend:
        """Fill in means and standard deviations of the rows."""
        if self.spread is not None:
            return self
        if sp.issparse(X):
            raise ValueError("trend='linear' needs dense rows, and X is sparse and large; use trend=None.")
        X = np.asarray(X, dtype=np.float64)
        size = np.abs(X).max(axis=0)
        relative = X / np.where(size > 0, size, 1.0)
        center = np.average(relative, axis=0, weights=weights)
        spread = np.sqrt(np.average(np.square(relative - center), axis=0, weights=weights))
        kept = np.zeros_like(spread)
        varies = np.flatnonzero(spread > CONSTANT_TO_ROUNDING)
        seen = slice(None) if weights is None else weights > 0
        features = varies[independent((relative[seen][:, varies] - center[varies]) / spread[varies])]
        if len(features) >= relative[seen].shape[0] - 1:
            raise ValueError(
                f"trend='linear' needs more rows than the {len(features)} features that vary; use trend=None."
            )
        kept[features] = spread[features]
        return LinearTrend(center * size, kept * size)

    def take(self, atoms: np.ndarray) -> LinearTrend:
        """Return just these features."""
        assert self.features is not None
        nowhere = np.full(len(atoms), -1)
        return LinearTrend(self.center, self.spread, features=self.features[atoms], training_rows=nowhere)

    def state(self) -> State:
        """Centre and spread of the features, and which of them are in."""
        return {
            "center": self.center,
            "spread": self.spread,
            "features": self.features,
            "training_rows": self.training_rows,
        }

    @classmethod
    def from_state(cls, state: State) -> LinearTrend:
        """Return the line that `state` describes."""
        return cls(**state)

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Standardised features."""
        assert self.features is not None
        assert self.center is not None
        assert self.spread is not None
        which = self.features[atoms]
        columns = rows[:, which].toarray() if sp.issparse(rows) else np.asarray(rows)[:, which]
        values = (columns.astype(np.float64, copy=False) - self.center[which]) / self.spread[which]
        return np.ascontiguousarray(values.T, dtype=dtype)

    def __repr__(self) -> str:
        """Show that it is the line."""
        return "LinearTrend()"


def independent(Z: np.ndarray) -> np.ndarray:
    """Features, in ascending order, that are no sums of each other and the constant."""
    if not Z.shape[1]:
        return np.zeros(0, dtype=np.intp)
    R, order = qr(Z - Z.mean(axis=0), mode="r", pivoting=True)
    sizes = np.abs(R.diagonal())
    return np.sort(order[: len(sizes)][sizes > LEAST_INDEPENDENT * sizes[0]])
