"""Where rows come from: blocks of them, in order and as often as asked, and any few by their numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit._types import Matrix

# What is made of a block takes about so many bytes: small enough to stay near, large enough for matrix products.
BLOCK_BYTES = 16 * 2**20
# A block has no fewer rows than this, nor more than that.
LEAST_ROWS, MOST_ROWS = 256, 2**16


@dataclass(frozen=True)
class RowBlock:
    """Some consecutive rows.

    start    number of the first of them
    X        their features, of shape (n_rows, n_features), dense or CSR
    y        their targets, of shape (n_rows, n_targets)
    weights  their sample weights; None for ones
    counts   how often each was seen, where its weight says something else; else None
    """

    start: int
    X: Matrix
    y: np.ndarray
    weights: np.ndarray | None = None
    counts: np.ndarray | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.start + len(self)

    @property
    def sample_weights(self) -> np.ndarray:
        """The weights, ones where there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())


class RowSource(ABC):
    """Rows that can be passed over more than once, always in the same order.

    A source holds no state of a pass, so that several may go on at once, and can be pickled.
    """

    #: Numbers of rows, features and targets.
    n_rows: int
    n_features: int
    n_targets: int

    @abstractmethod
    def blocks(self, size: int) -> Iterator[RowBlock]:
        """Yield all rows in blocks of at most this size; the blocks are not to be written to."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> RowBlock:
        """The rows of these numbers, in this order, copied; `start` of the block means nothing."""


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

    def blocks(self, size: int) -> Iterator[RowBlock]:
        """Slices of the arrays, which are views but for a CSR matrix."""
        for part in slices(self.n_rows, size):
            yield self._at(part, part.start)

    def take(self, rows: np.ndarray) -> RowBlock:
        """Gather rows by their numbers."""
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
