"""Where rows come from: blocks of them, in order and as often as asked, and any few by their numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit._native.threads import in_parts
from kernelpursuit._types import Matrix

# What is made of a block takes about so many bytes: small enough to stay near, large enough for matrix products.
BLOCK_BYTES = 16 * 2**20
# A block has no fewer rows than this, nor more than that.
LEAST_ROWS, MOST_ROWS = 256, 2**16
# Blocks that are handed out to threads at a time.
BLOCKS_AT_A_TIME = 8


class Added(Protocol):
    """What adds up over blocks."""

    def __add__(self, other: Self, /) -> Self:
        """The same of the rows of both."""


Sum = TypeVar("Sum", bound=Added)


@dataclass(frozen=True)
class RowBlock:
    """A block of consecutive rows.

    start    number of the first of them
    X        their features, of shape (n_rows, n_features), dense or CSR
    y        their targets, of shape (n_rows, n_targets)
    weights  their sample weights; None for ones
    counts   how often each was seen, where its weight says something else; else None
    kept     their numbers, where some between them were left out; None where they are consecutive

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.rows import open_rows
    >>> source = open_rows(np.arange(10.0).reshape(5, 2), y=np.arange(5.0))
    >>> first, second = source.blocks(3)
    >>> first.X.shape, second.start, second.numbers, second.total_weight
    ((3, 2), 3, array([3, 4]), 2.0)
    """

    start: int
    X: Matrix
    y: np.ndarray
    weights: np.ndarray | None = None
    counts: np.ndarray | None = None
    kept: np.ndarray | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the rows, ascending."""
        return np.arange(self.start, self.start + len(self)) if self.kept is None else self.kept

    @property
    def sample_weights(self) -> np.ndarray:
        """The sample weights; ones if there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())


class RowSource(ABC):
    """Base of sources of rows, which can be read more than once, always in the same order.

    A source holds no state of a pass, so that several may go on at once, and can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.rows import RowBlock, RowSource
    >>> class Waves(RowSource):
    ...     n_rows, n_features, n_targets = 3000, 1, 1
    ...     def blocks(self, size, start=0):
    ...         for first in range(start, self.n_rows, size):
    ...             x = np.arange(first, min(first + size, self.n_rows))[:, None] / 500
    ...             yield RowBlock(first, x, np.sin(x))
    >>> KernelPursuitRegressor(gamma=1.0, max_atoms=10).fit(Waves()).predict([[1.0]]).round(2)
    array([0.84])
    """

    #: Number of rows; None where only a pass over them tells.
    n_rows: int | None
    #: Numbers of features and targets.
    n_features: int
    n_targets: int
    #: Names of the features, where they have some.
    feature_names: Sequence[str] | None = None

    @abstractmethod
    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Yield all rows from number `start` on in blocks of this size, the last of which may be smaller.

        The blocks are not to be written to.
        """

    def reduce(
        self,
        work: Callable[[RowBlock], Sum | None],
        size: int,
        *,
        n_threads: int | None = 1,
        told: Callable[[int, Sum], object] | None = None,
        before: tuple[int, Sum] | None = None,
    ) -> Sum:
        """Return the sum over blocks of what `work` returns for each, added in their order.

        Parameters
        ----------
        work : callable
            It may run anywhere, in any order, and on several blocks at once; a source of rows that lie elsewhere
            pickles it. None says nothing.
        size : int
            Rows of a block.
        n_threads : int, optional
            Threads that take blocks in turn.
        told : callable, optional
            Told, after some blocks, how many rows are done and what their sum is; a true answer ends the pass there.
        before : tuple, optional
            What `told` was told of an earlier pass, to go on from there.
        """
        done, total = (0, None) if before is None else before
        blocks = self.blocks(size, done)
        while batch := list(islice(blocks, BLOCKS_AT_A_TIME)):
            for found in in_parts(len(batch), len(batch), n_threads, _on_one_of(batch, work)):
                total = total if found is None else found if total is None else total + found
            done = max([done, *(int(block.numbers[-1]) + 1 for block in batch if len(block))])
            if told is not None and total is not None and told(done, total):
                break
        if total is None:
            raise ValueError("the source has no rows; give at least one.")
        return total

    def where(self, number: int) -> str:
        """What a sentence calls a row: its number, counted from 0, and its file where there is one."""
        return f"row {number:,}"

    def map(self, change: Callable[[RowBlock], RowBlock]) -> RowSource:
        """Return the same rows with a change to every block, made when it is read."""
        return MappedSource(self, change)


def _on_one_of(batch: Sequence[RowBlock], work: Callable[[RowBlock], Sum | None]) -> Callable[[slice], Sum | None]:
    return lambda part: work(batch[part.start])


class MappedSource(RowSource):
    """A source whose blocks are changed as they come; `change` may leave out rows, but not move them."""

    def __init__(self, source: RowSource, change: Callable[[RowBlock], RowBlock]):
        self._source, self._change = source, change
        self.n_rows, self.n_features = source.n_rows, source.n_features
        self.n_targets, self.feature_names = source.n_targets, source.feature_names

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """The blocks of the source, changed."""
        return map(self._change, self._source.blocks(size, start))

    def where(self, number: int) -> str:
        """The row of the source, which keeps its number."""
        return self._source.where(number)

    def reduce(
        self,
        work: Callable[[RowBlock], Sum | None],
        size: int,
        *,
        n_threads: int | None = 1,
        told: Callable[[int, Sum], object] | None = None,
        before: tuple[int, Sum] | None = None,
    ) -> Sum:
        """The sum where the rows are; blocks are changed there too."""
        return self._source.reduce(Chained(self._change, work), size, n_threads=n_threads, told=told, before=before)


@dataclass(frozen=True)
class Chained(Generic[Sum]):
    """One function of a block after the other; nothing comes of a block of which no row is left."""

    change: Callable[[RowBlock], RowBlock]
    work: Callable[[RowBlock], Sum | None]

    def __call__(self, block: RowBlock) -> Sum | None:
        """What the work makes of the changed block."""
        changed = self.change(block)
        return self.work(changed) if len(changed) else None


class ArraySource(RowSource):
    """Rows in an array, a CSR matrix or a memory map, of which no more than a block is read at a time.

    Parameters
    ----------
    X : array, memory map or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows, n_targets) or (n_rows,)
    weights, counts : arrays of shape (n_rows,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.rows import ArraySource
    >>> source = ArraySource(np.arange(10.0).reshape(5, 2), np.arange(5.0))
    >>> [len(block) for block in source.blocks(2)]
    [2, 2, 1]
    """

    n_rows: int

    def __init__(self, X: Matrix, y: ArrayLike, weights: np.ndarray | None = None, counts: np.ndarray | None = None):
        self._X = sp.csr_array(X) if sp.issparse(X) and X.format != "csr" else X
        y = np.asarray(y)
        self._y = y[:, None] if y.ndim == 1 else y
        self._weights, self._counts = weights, counts
        self.n_rows, self.n_features = X.shape
        self.n_targets = self._y.shape[1]
        for name, given in {"y": self._y, "weights": weights, "counts": counts}.items():
            if given is not None and len(given) != self.n_rows:
                raise ValueError(f"{name} has {len(given)} rows, but X has {self.n_rows}; give one for each row.")

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Slices of the arrays, which are views but for a CSR matrix."""
        for first in range(start, self._X.shape[0], size):
            yield self._at(slice(first, first + size), first)

    def take(self, rows: np.ndarray) -> RowBlock:
        """Gather rows by their numbers, in this order; `start` of the block means nothing."""
        return self._at(np.asarray(rows), 0)

    def _at(self, which: slice | np.ndarray, start: int) -> RowBlock:
        X = self._X[which]
        weights = None if self._weights is None else self._weights[which]
        counts = None if self._counts is None else self._counts[which]
        return RowBlock(start, X if sp.issparse(X) else np.asarray(X), self._y[which], weights=weights, counts=counts)


def dense(X: Matrix, dtype: DTypeLike | None = None) -> np.ndarray:
    """Rows as a plain array, of a float type where one is given."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=dtype)


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most this size."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def block_size(values_a_row: int, bytes_of_block: int = BLOCK_BYTES) -> int:
    """How many rows a block has of which so many float64 values a row are made."""
    return int(np.clip(bytes_of_block // (8 * max(values_a_row, 1)), LEAST_ROWS, MOST_ROWS))
