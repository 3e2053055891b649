"""What a kernel is: its parameters, the name of its formula, and how inputs are scaled for it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from kernelpursuit import _native
from kernelpursuit._validate import ByName

Spec = tuple[str, float, float]


@dataclass(frozen=True, eq=False)
class Kernel(ByName):
    """A function k(x, c) of a row and a centre that the native core can evaluate.

    Subclasses name a formula of the core (`kind`) in terms of *embedded* inputs z = (x - origin) * s, where the
    feature scales s carry `gamma`, so that the core itself knows no scales at all.

    Parameters
    ----------
    gamma : float, array of shape (n_features,), "scale" or None
        Inverse width, or one for each feature. "scale" is `1 / (n_features * X.var())`. None means: whatever the
        estimator's `gamma` says (and "scale" of the first argument when the kernel is called by itself).
    """

    gamma: Any = None

    kind: ClassVar[str]
    is_mercer: ClassVar[bool] = True
    is_stationary: ClassVar[bool] = True
    gamma_power: ClassVar[float] = 0.5  # z = x * gamma ** gamma_power

    @property
    def parameters(self) -> tuple[float, float]:
        """The two numbers of the formula beside gamma, as the native core takes them."""
        return 0.0, 0.0

    @property
    def spec(self) -> Spec:
        """The formula and its numbers, as the native core takes them."""
        return (self.kind, *self.parameters)

    def with_gamma(self, gamma: Any) -> Kernel:
        """Return this kernel with another gamma."""
        return replace(self, gamma=gamma)

    def resolve(self, X: Any, gamma: Any = "scale", weights: np.ndarray | None = None) -> Kernel:
        """Return this kernel with gamma as numbers: its own, else `gamma`, for rows like those of `X`."""
        chosen = gamma if self.gamma is None else self.gamma
        return self.with_gamma(resolve_gamma(chosen, X, weights))

    def feature_scales(self) -> np.ndarray:
        """The factors s of the embedding."""
        return np.asarray(self.gamma, dtype=np.float64) ** self.gamma_power

    def origin(self, X: Any) -> Any:
        """Where the embedding of rows like `X` has its origin.

        Values of a stationary kernel depend on differences alone, so it is free: near the data, float32 keeps their
        digits. Sparse rows stay where they are.
        """
        return X.mean(axis=0, dtype=np.float64) if self.is_stationary and X.shape[0] and not sp.issparse(X) else 0.0

    def embed(self, X: Any, origin: Any) -> np.ndarray:
        """Dense rows as the formula takes them, z = (x - origin) * s, in float64; a copy."""
        z = np.array(X, dtype=np.float64)
        z -= origin
        z *= self.feature_scales()
        return z

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """k(x, x) for embedded rows `z`; 1 for every stationary kernel."""
        return np.ones(z.shape[0])

    def __call__(self, X: Any, C: Any = None) -> np.ndarray:
        """Kernel matrix of shape (n_rows, n_centres); `C` defaults to `X`."""
        X = np.atleast_2d(np.asarray(X))
        C = X if C is None else np.atleast_2d(np.asarray(C))
        kernel = self.resolve(X)
        dtype = np.result_type(X, C, np.float32)
        origin = kernel.origin(X)
        z, c = (kernel.embed(A, origin).astype(dtype, copy=False) for A in (X, C))
        return _native.block(kernel.spec, z, c)

    def __repr__(self) -> str:
        """Show the parameters that were given."""
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) is not None]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        """Two kernels are equal if they are of one class with equal parameters."""
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        """Hash by class and formula; gamma may be an array, so it does not count."""
        return hash((type(self), self.parameters))


def resolve_gamma(gamma: Any, X: Any, weights: np.ndarray | None = None) -> Any:
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


def _scale_gamma(X: Any, weights: np.ndarray | None) -> float:
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
    if variance > max((1e-14 * abs(mean)) ** 2, np.finfo(np.float64).tiny):
        return 1.0 / variance / n_features
    if _spread(X) > 1e-14 * abs(mean):
        raise ValueError("gamma='scale' overflows, since X varies by next to nothing; multiply X by a constant first.")
    return 1.0 / n_features


def _spread(X: Any) -> float:
    return float(X.max()) - float(X.min())
