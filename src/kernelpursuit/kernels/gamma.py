"""What `gamma` may be, and the number that "scale" stands for."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix

# Entries that differ by less than this fraction of their mean are one value but for rounding: each carries a few eps
# (2.2e-16) of its size, and so does the mean. 45 eps leave room for the arithmetic that made them.
CONSTANT_TO_ROUNDING = 1e-14


def resolve_gamma(gamma: ArrayLike, X: Matrix, weights: np.ndarray | None = None) -> float | np.ndarray:
    """Turn `gamma` into a positive float or an array with one value for each feature of `X`."""
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f"gamma={gamma!r} is not known; give a number, one number per feature, or 'scale'.")
        return _scale_gamma(X, weights)
    try:
        value = np.asarray(gamma)
        value = value.astype(np.float64, casting="same_kind" if value.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise ValueError(f"gamma={gamma!r} is not usable; give a number, one per feature, or 'scale'.") from None
    if value.ndim > 1 or (value.ndim == 1 and value.shape[0] != X.shape[1]):
        raise ValueError(f"gamma has shape {value.shape}, but X has {X.shape[1]} features; give one number for each.")
    if not np.isfinite(value).all() or (value < 0).any() or not (value > 0).any():
        raise ValueError(f"gamma={gamma!r} is not usable; gamma must be positive (single features may have 0).")
    return float(value) if value.ndim == 0 else value


def _scale_gamma(X: Matrix, weights: np.ndarray | None) -> float:
    """`1 / (n_features * variance over all entries)`, rows counted by their weights; 1 / n_features if constant."""
    if X.shape[0] == 0:
        return 1.0 / max(X.shape[1], 1)
    n_features = X.shape[1]
    row_weights = np.ones(X.shape[0]) if weights is None else weights
    row_weights = row_weights / row_weights.sum() / n_features
    if sp.issparse(X):
        # The entries that are not stored are zero, and count in the mean.
        mean = float(row_weights @ np.asarray(X.sum(axis=1)).ravel())
        variance = float(row_weights @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) - mean**2
    else:
        X = np.asarray(X, dtype=np.float64)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            mean = float(row_weights @ X.sum(axis=1))
            variance = float(row_weights @ np.square(X - mean).sum(axis=1))
    if not np.isfinite(variance):
        raise ValueError("gamma='scale' overflows, since the squares of X do; divide X by a constant first.")
    # Relative to the size of the entries, so that data of one value (up to rounding) counts as constant.
    if variance > max((CONSTANT_TO_ROUNDING * abs(mean)) ** 2, np.finfo(np.float64).tiny):
        return 1.0 / variance / n_features
    if float(X.max()) - float(X.min()) > CONSTANT_TO_ROUNDING * abs(mean):
        raise ValueError("gamma='scale' overflows, since X varies by next to nothing; multiply X by a constant first.")
    return 1.0 / n_features
