"""Kernels: small objects that hold their parameters, are called as `k(X, C)`, and add up and multiply."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_option
from kernelpursuit.kernels.base import Kernel
from kernelpursuit.kernels.composed import Product, Scaled, Sum
from kernelpursuit.kernels.custom import CallableKernel
from kernelpursuit.kernels.dot import Linear, Polynomial, Sigmoid
from kernelpursuit.kernels.formula import FormulaKernel
from kernelpursuit.kernels.gamma import resolve_gamma
from kernelpursuit.kernels.periodic import Periodic
from kernelpursuit.kernels.stationary import RBF, Laplacian, Matern12, Matern32, Matern52, RationalQuadratic

BY_NAME: dict[str, type[FormulaKernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern12": Matern12,
    "matern32": Matern32,
    "matern52": Matern52,
    "rational_quadratic": RationalQuadratic,
    "periodic": Periodic,
    "polynomial": Polynomial,
    "linear": Linear,
    "sigmoid": Sigmoid,
}

#: What stands for a kernel: its name, an object, or a function `f(X, C)`.
KernelLike: TypeAlias = str | Kernel | CallableKernel | Callable[[Matrix, Matrix], ArrayLike]


def as_kernel(kernel: KernelLike) -> Kernel | CallableKernel:
    """Return the kernel object for a name, a kernel object, or a callable `f(X, C)`."""
    if isinstance(kernel, (Kernel, CallableKernel)):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return CallableKernel(kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError("kernel='precomputed' stands for all columns of X; it cannot be one kernel among others.")
    return BY_NAME[check_option("kernel", kernel, BY_NAME)]()


__all__ = [
    "BY_NAME",
    "RBF",
    "CallableKernel",
    "FormulaKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "resolve_gamma",
]
