"""What a kernel is: how it sees rows, the steps that the native core runs on these, and operators to combine it."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit import _native
from kernelpursuit._native import spec as native_spec
from kernelpursuit._types import EmbeddingOrigin, Matrix
from kernelpursuit._validate import ByName

#: A formula and its numbers, or the steps of several, as the native core takes them.
Spec = native_spec.Kernel


class Kernel(ByName, ABC):
    """A function k(x, c) of a row and a centre that the native core evaluates.

    Rows and centres are *embedded* first (`embed`): shifted, scaled, and whatever else a kernel does to one row at a
    time. The core runs `steps` on what comes of it, and knows no scales at all. Kernels add up and multiply, with each
    other and with positive numbers: `RBF(1.0) + Linear()`, `2.0 * RBF(1.0) * Periodic(period=7.0)`.

    Subclass `FormulaKernel` for a kernel of your own.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, Linear
    >>> kernel = RBF() + 0.1 * Linear(gamma=1.0)
    >>> kernel.takes_gamma, kernel.is_mercer
    (True, True)
    >>> kernel.with_gamma(0.5)
    RBF(gamma=0.5) + 0.1 * Linear(gamma=1.0)
    """

    #: Inverse width; None where it is left to the estimator's `gamma`, and a tuple for several kernels in one.
    gamma: Any
    #: Name of the core's formula, for kernels that have one.
    kind: ClassVar[str]
    #: Feature scales are `gamma ** gamma_power`, for kernels that have one formula.
    gamma_power: ClassVar[float] = 0.5
    #: Whether every Gram matrix is positive semidefinite.
    is_mercer: ClassVar[bool] = True
    #: Whether k is a function of one scaled distance between x and c: scales can be learned, and atoms have factors.
    is_stationary: ClassVar[bool] = False
    #: Columns of embedded rows for each feature.
    columns: ClassVar[int] = 1
    # NumPy's numbers leave multiplication to `__rmul__`.
    __array_ufunc__ = None

    @property
    @abstractmethod
    def steps(self) -> tuple[native_spec.Step, ...]:
        """Formulas and operations in postfix order, as the native core takes them."""

    @property
    def spec(self) -> Spec:
        """What the native core takes for this kernel."""
        return self.steps

    @property
    @abstractmethod
    def takes_gamma(self) -> bool:
        """Whether a width is left to the estimator's `gamma`."""

    @abstractmethod
    def with_gamma(self, gamma: ArrayLike | None) -> Kernel:
        """Return this kernel with another gamma."""

    @abstractmethod
    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Kernel:
        """Return this kernel with gamma as numbers: its own, else `gamma`, for rows like those of `X`."""

    @abstractmethod
    def origin(self, X: Matrix) -> EmbeddingOrigin:
        """Where the embedding of rows like `X` has its origin."""

    @abstractmethod
    def embed(self, X: Matrix, origin: EmbeddingOrigin) -> Matrix:
        """Rows as the steps take them, in float64; a copy. Sparse rows stay sparse where zeros stay zeros."""

    @abstractmethod
    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """k(x, x) for embedded rows `z`."""

    def __call__(self, X: Matrix, C: Matrix = None) -> np.ndarray:
        """Kernel matrix of shape (n_rows, n_centres); `C` defaults to `X`."""
        X = np.atleast_2d(np.asarray(X))
        C = X if C is None else np.atleast_2d(np.asarray(C))
        kernel = self.resolve(X)
        dtype = np.result_type(X, C, np.float32)
        origin = kernel.origin(X)
        z, c = (kernel.embed(A, origin).astype(dtype, copy=False) for A in (X, C))
        return _native.block(kernel.spec, z, c)

    def __add__(self, other: object) -> Kernel:
        """Return the sum of two kernels: one atom for each centre. A dictionary makes a union of it instead."""
        from kernelpursuit.kernels.composed import Sum

        if isinstance(other, Kernel):
            return Sum((self, other))
        return _refuse_unless_dictionary(self, "+", other)

    def __radd__(self, other: object) -> Kernel:
        """Return the kernel itself for 0, with which the builtin `sum` begins."""
        if isinstance(other, numbers.Real) and other == 0:
            return self
        return _refuse_unless_dictionary(self, "+", other)

    def __mul__(self, other: object) -> Kernel:
        """Return the product with another kernel, or with a positive number."""
        from kernelpursuit.kernels.composed import Product, Scaled

        if isinstance(other, Kernel):
            return Product((self, other))
        if isinstance(other, numbers.Real):
            factor: Any = other
            return Scaled(self, factor)
        return _refuse_unless_dictionary(self, "*", other)

    def __rmul__(self, other: object) -> Kernel:
        """Return the product with a positive number."""
        return self * other


def _refuse_unless_dictionary(kernel: Kernel, operator: str, other: object) -> Any:
    """Leave dictionaries, which know what to do with a kernel, to themselves."""
    if isinstance(other, (str, numbers.Number)) or callable(other):
        raise TypeError(f"{kernel!r} {operator} {other!r} is no kernel; write a kernel object, such as Linear().")
    return NotImplemented
