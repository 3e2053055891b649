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
    """Laplacian kernel `exp(-gamma sum_f |x_f - c_f|)`."""

    kind = "laplacian"
    gamma_power = 1.0


class Matern12(FormulaKernel):
    """Matern kernel of smoothness 1/2, `exp(-r)` with `r = sqrt(2 gamma) ||x - c||`."""

    kind = "matern12"


class Matern32(FormulaKernel):
    """Matern kernel of smoothness 3/2, `(1 + √3 r) exp(-√3 r)` with `r = sqrt(2 gamma) ||x - c||`."""

    kind = "matern32"


class Matern52(FormulaKernel):
    """Matern kernel of smoothness 5/2, `(1 + √5 r + 5r²/3) exp(-√5 r)` with `r = sqrt(2 gamma) ||x - c||`."""

    kind = "matern52"


@dataclass(frozen=True, eq=False, repr=False)
class RationalQuadratic(FormulaKernel):
    """Rational quadratic kernel `(1 + gamma ||x - c||² / shape) ** -shape`; the Gaussian as `shape` grows."""

    shape: float = 1.0

    kind: ClassVar[str] = "rational_quadratic"

    def __post_init__(self) -> None:
        check_number("shape", self.shape, low=0, strict=True)

    @property
    def parameters(self) -> tuple[float, float]:
        """The shape."""
        return float(self.shape), 0.0
