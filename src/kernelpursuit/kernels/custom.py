"""Kernels that are Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import as_floats


@dataclass(frozen=True)
class CallableKernel:
    """A user's function `function(X, C)` that returns the values of shape (n_rows, n_centres).

    It may be asymmetric or indefinite. Say `is_mercer=True` to use it with rules that need a positive semidefinite
    kernel (`selection="residual"`, `penalty="rkhs"`).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.kernels import CallableKernel
    >>> overlap = CallableKernel(lambda X, C: np.minimum(X[:, None], C).sum(axis=2), is_mercer=True)
    >>> overlap(np.array([[1.0, 0.0], [0.5, 0.5]]))  # of histograms
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    function: Callable[[Matrix, Matrix], ArrayLike]
    is_mercer: bool = False

    def __call__(self, X: Matrix, C: Matrix = None) -> np.ndarray:
        """Evaluate and check the values."""
        C = X if C is None else C
        values = as_floats(f"kernel={self.name}", self.function(X, C)).astype(np.float64, copy=False)
        wanted = (X.shape[0], C.shape[0])
        if values.shape != wanted:
            raise ValueError(
                f"kernel={self.name} returned an array of shape {values.shape} for {wanted[0]} rows and {wanted[1]} "
                f"centres; it must return one of shape {wanted}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"kernel={self.name} returned NaN or infinity; it must be finite for every row of X.")
        return values

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__name__", repr(self.function))
