"""Kernels of one formula: a few parameters, a name that the native core knows, and a scale for each feature."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kernelpursuit._native.spec import Formula, Step
from kernelpursuit._types import EmbeddingOrigin, Matrix
from kernelpursuit.kernels.base import Kernel
from kernelpursuit.kernels.gamma import resolve_gamma


@dataclass(frozen=True, eq=False)
class FormulaKernel(Kernel):
    """A kernel of one formula of the native core, of embedded inputs z = (x - origin) * s.

    The feature scales s carry `gamma`. A subclass names the formula (`kind`), gives its `parameters`, and `diagonal`
    where that is not 1; one that does more to a row than to scale it overrides `embed`.

    Parameters
    ----------
    gamma : float, array of shape (n_features,), "scale" or None
        Inverse width, or one for each feature. "scale" is `1 / (n_features * X.var())`. None means: whatever the
        estimator's `gamma` says (and "scale" of the first argument when the kernel is called by itself).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.kernels import FormulaKernel
    >>> class Cosine(FormulaKernel):
    ...     kind = "linear"
    ...     is_stationary = False
    ...     def embed(self, X, origin):
    ...         z = super().embed(X, origin)
    ...         return z / np.linalg.norm(z, axis=1, keepdims=True)
    >>> Cosine(gamma=1.0)([[1.0, 0.0]], [[5.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.707]])
    """

    gamma: Any = None

    is_stationary: ClassVar[bool] = True

    @property
    def parameters(self) -> tuple[float, float]:
        """The two numbers of the formula beside gamma, as the native core takes them."""
        return 0.0, 0.0

    @property
    def spec(self) -> Formula:
        """The formula and its numbers, as the native core takes them."""
        return (self.kind, *self.parameters)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The formula as the only step."""
        return ((self.kind, *self.parameters, self.columns),)

    @property
    def takes_gamma(self) -> bool:
        """Whether gamma was left out."""
        return self.gamma is None

    def with_gamma(self, gamma: ArrayLike | None) -> FormulaKernel:
        """Return this kernel with another gamma."""
        return replace(self, gamma=gamma)

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> FormulaKernel:
        """Return this kernel with gamma as numbers: its own, else `gamma`, for rows like those of `X`."""
        chosen = gamma if self.gamma is None else self.gamma
        return self.with_gamma(resolve_gamma(chosen, X, weights))

    def feature_scales(self) -> np.ndarray:
        """The factors s of the embedding."""
        return np.asarray(self.gamma, dtype=np.float64) ** self.gamma_power

    def origin(self, X: Matrix) -> EmbeddingOrigin:
        """Where the embedding of rows like `X` has its origin.

        Values of a stationary kernel depend on differences alone, so it is free: near the data, float32 keeps their
        digits. Sparse rows stay where they are.
        """
        return X.mean(axis=0, dtype=np.float64) if self.is_stationary and X.shape[0] and not sp.issparse(X) else 0.0

    def embed(self, X: Matrix, origin: EmbeddingOrigin) -> Matrix:
        """Rows z = (x - origin) * s, in float64; a copy. Sparse rows that are shifted are sparse no more."""
        if sp.issparse(X) and not np.any(origin):
            scales = np.broadcast_to(self.feature_scales(), X.shape[1])
            return sp.csr_array(X.astype(np.float64).multiply(scales))
        z = np.array(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        z -= origin
        z *= self.feature_scales()
        return z

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """k(x, x) for embedded rows `z`; 1 for every stationary kernel."""
        return np.ones(z.shape[0])

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
