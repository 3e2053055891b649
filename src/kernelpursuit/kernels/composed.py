"""Sums, products and multiples of kernels, each one kernel: its terms' rows side by side, and their steps in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kernelpursuit._native.spec import Step
from kernelpursuit._types import EmbeddingOrigin, Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.kernels.base import Kernel


class Composed(Kernel):
    """A kernel made of others, its `terms`.

    Each term has a gamma of its own or takes the estimator's; each has its own columns of the embedded rows. Nothing is
    learned for composed kernels.
    """

    terms: tuple[Kernel, ...]

    @abstractmethod
    def _of(self, terms: tuple[Kernel, ...]) -> Self:
        """Return the same combination of other terms."""

    @property
    def is_mercer(self) -> bool:  # type: ignore[override]
        """Whether all terms are: sums, products and multiples of positive semidefinite kernels are so again."""
        return all(term.is_mercer for term in self.terms)

    @property
    def gamma(self) -> tuple[Any, ...] | None:
        """The gammas of the terms, or None where one is left to the estimator."""
        return None if self.takes_gamma else tuple(term.gamma for term in self.terms)

    @property
    def takes_gamma(self) -> bool:
        """Whether any term does."""
        return any(term.takes_gamma for term in self.terms)

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of all terms."""
        return sum(term.columns for term in self.terms)

    def with_gamma(self, gamma: ArrayLike | None) -> Self:
        """Return this kernel with another gamma: in the terms that have none of their own, or in all if all have."""
        is_open = [term.takes_gamma or not self.takes_gamma for term in self.terms]
        return self._of(tuple(t.with_gamma(gamma) if o else t for t, o in zip(self.terms, is_open)))

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Self:
        """Resolve every term."""
        return self._of(tuple(term.resolve(X, gamma, weights) for term in self.terms))

    def origin(self, X: Matrix) -> tuple[EmbeddingOrigin, ...]:
        """The origin of every term."""
        return tuple(term.origin(X) for term in self.terms)

    def embed(self, X: Matrix, origin: EmbeddingOrigin) -> Matrix:
        """Rows as each term takes them, side by side; sparse if all are."""
        parts = [term.embed(X, o) for term, o in zip(self.terms, origin)]
        for term, part in zip(self.terms, parts):
            if part.shape[1] != term.columns * X.shape[1]:
                raise ValueError(
                    f"{term!r} embeds {X.shape[1]} features in {part.shape[1]} columns, which is not its columns="
                    f"{term.columns} for each; say how many there are."
                )
        if all(map(sp.issparse, parts)):
            return sp.csr_array(sp.hstack(parts))
        return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])

    def _diagonals(self, z: np.ndarray) -> Iterator[np.ndarray]:
        """The diagonal of every term, from its columns."""
        ends = np.cumsum([0, *(term.columns for term in self.terms)]) * (z.shape[1] // self.columns)
        for term, (first, last) in zip(self.terms, pairwise(ends)):
            yield term.diagonal(z[:, first:last])


@dataclass(frozen=True, repr=False)
class _Chain(Composed):
    """Two or more kernels joined by one operator; chains of the same operator are one chain."""

    terms: tuple[Kernel, ...]

    operation: ClassVar[str]
    sign: ClassVar[str]

    def __post_init__(self) -> None:
        flat = [inner for term in self.terms for inner in (term.terms if type(term) is type(self) else (term,))]
        if len(flat) < 2 or not all(isinstance(term, Kernel) for term in flat):
            raise ValueError(f"{type(self).__name__} takes a tuple of two or more kernel objects, not {self.terms!r}.")
        object.__setattr__(self, "terms", tuple(flat))

    def _of(self, terms: tuple[Kernel, ...]) -> Self:
        return type(self)(terms)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The terms one after the other, each joined to what came before."""
        join = ((self.operation, 0.0, 0.0, 0),)
        return reduce(lambda before, term: before + term.steps + join, self.terms[1:], self.terms[0].steps)

    def __repr__(self) -> str:
        """Show the terms with the operator between them."""
        return f" {self.sign} ".join(map(self._show, self.terms))

    def _show(self, term: Kernel) -> str:
        return _in_brackets(term)


class Sum(_Chain):
    """The sum of kernels, `k_1(x, c) + k_2(x, c) + ...`, written `k_1 + k_2`.

    One atom for each centre; a list of kernels has one for each kernel and centre.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, Linear
    >>> wave_on_a_line = RBF(gamma=0.5) + Linear(gamma=1.0)
    >>> wave_on_a_line([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 5.   ]])
    """

    operation = "sum"
    sign = "+"

    def _show(self, term: Kernel) -> str:
        return repr(term)

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """The sum of the terms' diagonals."""
        return sum(self._diagonals(z), np.zeros(z.shape[0]))


class Product(_Chain):
    """The product of kernels, `k_1(x, c) k_2(x, c) ...`, written `k_1 * k_2`.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, Periodic
    >>> fading_week = RBF(gamma=0.01) * Periodic(period=7.0, gamma=1.0)
    >>> fading_week([[0.0]], [[3.5], [7.0], [14.0]]).round(3)
    array([[0.006, 0.613, 0.141]])
    """

    operation = "product"
    sign = "*"

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """The product of the terms' diagonals."""
        with np.errstate(over="ignore", invalid="ignore"):
            return reduce(np.multiply, self._diagonals(z))


@dataclass(frozen=True, repr=False)
class Scaled(Composed):
    """A positive multiple of a kernel, `factor * k(x, c)`, written `2.0 * k`.

    Examples
    --------
    >>> from kernelpursuit.kernels import RBF, Linear
    >>> 2.0 * RBF(gamma=1.0) + Linear()
    2.0 * RBF(gamma=1.0) + Linear()
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Scaled takes a kernel object, not {self.kernel!r}.")
        check_number("factor", self.factor, low=0, strict=True)

    @property
    def terms(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The kernel alone."""
        return (self.kernel,)

    def _of(self, terms: tuple[Kernel, ...]) -> Self:
        return replace(self, kernel=terms[0])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The kernel, then the multiplication."""
        return (*self.kernel.steps, ("multiple", float(self.factor), 0.0, 0))

    def diagonal(self, z: np.ndarray) -> np.ndarray:
        """The multiple of the kernel's diagonal."""
        return self.factor * self.kernel.diagonal(z)

    def __repr__(self) -> str:
        """Show the factor before the kernel."""
        return f"{float(self.factor)!r} * {_in_brackets(self.kernel)}"


def _in_brackets(kernel: Kernel) -> str:
    """The kernel as a factor that is read back as it was."""
    return f"({kernel!r})" if isinstance(kernel, Composed) else repr(kernel)
