"""Kernels of x - c: the same gamma gives each about the width of the Gaussian exp(-gamma ||x - c||²)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernelpursuit._validate import check_number
from kernelpursuit.kernels.formula import FormulaKernel


class RBF(FormulaKernel):
    """Gaussian kernel `exp(-gamma ||x - c||²)`.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    kind = "rbf"


class Laplacian(FormulaKernel):
    """Laplacian kernel `exp(-gamma sum_f |x_f - c_f|)`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.kernels import Laplacian
    >>> around = np.array([[1.0, 1.0], [2.0, 0.0]])  # both at distance 2, feature by feature
    >>> Laplacian(gamma=0.5)(np.zeros((1, 2)), around).round(3)
    array([[0.368, 0.368]])
    """

    kind = "laplacian"
    gamma_power = 1.0


class Matern12(FormulaKernel):
    """Matern kernel of smoothness 1/2, `exp(-r)` with `r = sqrt(2 gamma) ||x - c||`.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, Matern12
    >>> Matern12(gamma=1.0)([[0.0]], [[0.01], [0.1], [1.0]]).round(4)  # falls steeply at once: for rough functions
    array([[0.986 , 0.8681, 0.2431]])
    >>> RBF(gamma=1.0)([[0.0]], [[0.01], [0.1], [1.0]]).round(4)
    array([[0.9999, 0.99  , 0.3679]])
    """

    kind = "matern12"


class Matern32(FormulaKernel):
    """Matern kernel of smoothness 3/2, `(1 + √3 r) exp(-√3 r)` with `r = sqrt(2 gamma) ||x - c||`.

    Examples
    --------
    >>> from kernelpursuit.kernels import Matern32
    >>> Matern32(gamma=1.0)([[0.0]], [[0.01], [0.1], [1.0]]).round(4)  # for functions with one derivative
    array([[0.9997, 0.9745, 0.2978]])
    """

    kind = "matern32"


class Matern52(FormulaKernel):
    """Matern kernel of smoothness 5/2, `(1 + √5 r + 5r²/3) exp(-√5 r)` with `r = sqrt(2 gamma) ||x - c||`.

    Examples
    --------
    >>> from kernelpursuit.kernels import Matern52
    >>> Matern52(gamma=1.0)([[0.0]], [[0.01], [0.1], [1.0]]).round(4)  # for functions with two derivatives
    array([[0.9998, 0.9837, 0.3173]])
    """

    kind = "matern52"


@dataclass(frozen=True, eq=False, repr=False)
class RationalQuadratic(FormulaKernel):
    """Rational quadratic kernel `(1 + gamma ||x - c||² / shape) ** -shape`; the Gaussian as `shape` grows.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, RationalQuadratic
    >>> RationalQuadratic(gamma=1.0, shape=0.5)([[0.0]], [[1.0], [10.0]]).round(3)  # reaches far
    array([[0.577, 0.071]])
    >>> RBF(gamma=1.0)([[0.0]], [[1.0], [10.0]]).round(3)
    array([[0.368, 0.   ]])
    """

    shape: float = 1.0

    kind: ClassVar[str] = "rational_quadratic"

    def __post_init__(self) -> None:
        check_number("shape", self.shape, low=0, strict=True)

    @property
    def parameters(self) -> tuple[float, float]:
        """The shape."""
        return float(self.shape), 0.0
