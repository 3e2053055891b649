"""Kernels: small objects that hold their parameters and are called as `k(X, C)`."""

from __future__ import annotations

from typing import Any

from kernelpursuit._validate import check_option
from kernelpursuit.kernels.base import Kernel, resolve_gamma
from kernelpursuit.kernels.custom import CallableKernel
from kernelpursuit.kernels.dot import Linear, Polynomial, Sigmoid
from kernelpursuit.kernels.stationary import RBF, Laplacian, Matern12, Matern32, Matern52, RationalQuadratic

BY_NAME: dict[str, type[Kernel]] = {
    kernel.kind: kernel
    for kernel in (
        RBF,
        Laplacian,
        Matern12,
        Matern32,
        Matern52,
        RationalQuadratic,
        Polynomial,
        Linear,
        Sigmoid,
    )
}


def as_kernel(kernel: Any) -> Kernel | CallableKernel:
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
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "Polynomial",
    "RationalQuadratic",
    "Sigmoid",
    "as_kernel",
    "resolve_gamma",
]
