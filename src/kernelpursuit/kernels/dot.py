"""Kernels of the scaled product t = gamma x·c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernelpursuit._validate import check_number
from kernelpursuit.kernels.formula import FormulaKernel


class Linear(FormulaKernel):
    """Linear kernel `gamma x·c`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.kernels import RBF, Linear
    >>> X = np.linspace(0.0, 9.0, 50)[:, None]
    >>> y = 3.0 * X[:, 0] + np.sin(X[:, 0])
    >>> kernel = [Linear(gamma=1.0), RBF(gamma=1.0)]  # waves on a line
    >>> KernelPursuitRegressor(kernel=kernel, max_atoms=20).fit(X, y).score(X, y) > 0.999
    True
    """

    kind = "linear"
    is_stationary = False

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """||z||²."""
        return np.einsum("ij,ij->i", z, z)


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(FormulaKernel):
    """Polynomial kernel `(gamma x·c + coef0) ** degree`; Mercer where `coef0 >= 0`.

    Examples
    --------
    >>> from kernelpursuit.kernels import Polynomial
    >>> Polynomial(gamma=1.0, degree=2, coef0=1.0)([[1.0], [2.0]])  # (x c + 1)²
    array([[ 4.,  9.],
           [ 9., 25.]])
    >>> Polynomial(coef0=-1.0).is_mercer
    False
    """

    degree: int = 3
    coef0: float = 1.0

    kind: ClassVar[str] = "polynomial"
    is_stationary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("degree", self.degree, low=1, integer=True)
        check_number("coef0", self.coef0, low=-np.finfo(float).max)

    @property
    def is_mercer(self) -> bool:  # type: ignore[override]
        """Whether every Gram matrix is positive semidefinite."""
        return self.coef0 >= 0

    @property
    def parameters(self) -> tuple[float, float]:
        """Offset and degree."""
        return float(self.coef0), float(self.degree)

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """(||z||² + coef0) ** degree."""
        with np.errstate(over="ignore"):
            return (np.einsum("ij,ij->i", z, z) + self.coef0) ** self.degree


@dataclass(frozen=True, eq=False, repr=False)
class Sigmoid(FormulaKernel):
    """Sigmoid kernel `tanh(gamma x·c + coef0)`; indefinite.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.kernels import Sigmoid
    >>> model = KernelPursuitRegressor(kernel=Sigmoid(gamma=0.1, coef0=-1.0), max_atoms=10).fit(*make_chirp(100))
    >>> model.kernel.is_mercer  # so penalty="rkhs" is not for it
    False
    """

    coef0: float = 0.0

    kind: ClassVar[str] = "sigmoid"
    is_mercer: ClassVar[bool] = False
    is_stationary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("coef0", self.coef0, low=-np.finfo(float).max)

    @property
    def parameters(self) -> tuple[float, float]:
        """Offset."""
        return float(self.coef0), 0.0

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """tanh(||z||² + coef0)."""
        return np.tanh(np.einsum("ij,ij->i", z, z) + self.coef0)
