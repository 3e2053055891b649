"""Which rows differ, found by sorting their numbers column by column: a few bytes for each row, and no copy of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.rows.source import block_size, slices

# Rows of more columns than this, and of more values in all, are compared by digests, as sparse ones are: so that rows
# that would not be made dense come in the same order as if they were.
MOST_COLUMNS, MOST_VALUES = 1000, 2**25
# Fewer rows that differ than this say nothing of scales.
FEWEST_ROWS = 6


@dataclass(frozen=True)
class Distinct:
    """Rows that differ, in an order that does not depend on how they were given.

    A row that was given twice is here once, with the sum of the weights: so what is learned from samples of them is
    the same for a row of weight 2 and a row that is there twice.

    first    number of the first given row that equals each of them
    weights  their weights
    which    of them each given row is, -1 for a row of weight 0
    """

    first: np.ndarray
    weights: np.ndarray
    which: np.ndarray

    @classmethod
    def of(cls, X: Matrix, y: np.ndarray, weights: np.ndarray | None) -> Distinct:
        """Find the rows of (X, y) that differ."""
        seen = None if weights is None or weights.all() else np.flatnonzero(weights)
        which, first = _numbered(X, y, seen)
        given = None if weights is None else weights if seen is None else weights[seen]
        total = np.bincount(which, weights=given).astype(np.float64)
        if seen is None:
            return cls(first, total, which)
        everywhere = np.full(X.shape[0], -1)
        everywhere[seen] = which
        return cls(seen[first], total, everywhere)

    def __len__(self) -> int:
        """How many they are."""
        return len(self.first)

    def are_enough(self, X: Matrix) -> bool:
        """Whether enough of them differ, and in their features, for something to be learned."""
        if len(self) < FEWEST_ROWS:
            return False
        if sp.issparse(X):
            return bool(distinct_numbers(X[self.first]).any())
        one = np.asarray(X[self.first[0]])
        parts = slices(len(self), block_size(X.shape[1]))
        return any(bool((np.asarray(X[self.first[part]]) != one).any()) for part in parts)


def distinct_numbers(rows: Matrix) -> np.ndarray:
    """Number the rows so that equal ones have the same: 0, 1, ... in an order that is no matter of where they are.

    It is that of their numbers, of which rounding to float32 changes little; of sparse rows, and of very many
    numbers, that of digests.
    """
    return _numbered(rows, np.empty((rows.shape[0], 0)), None)[0]


def _numbered(X: Matrix, y: np.ndarray, seen: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows (X, y) that are seen, None for all, and the first place at which each number is."""
    n_columns = X.shape[1] + y.shape[1]
    n_rows = X.shape[0] if seen is None else len(seen)
    if sp.issparse(X) or n_columns > MOST_COLUMNS or n_rows * n_columns > MOST_VALUES:
        keys = _digests(X, y, seen)
        order = np.argsort(keys, kind="stable")
        is_new = np.append(True, keys[order[1:]] != keys[order[:-1]])[: len(order)]
    else:
        order, is_new = _sorted([*X.T, *y.T], seen)
    numbers = np.empty(n_rows, dtype=np.intp)
    numbers[order] = np.cumsum(is_new) - 1
    return numbers, order[is_new]


def _sorted(columns: Sequence[np.ndarray], seen: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The order of rows by their last column, ties by the one before it and so on, and where a row differs from before.

    Of every other column, only rows that tie in all columns after it are read: mostly they are few, and where all do,
    as in a column of labels, one column is in memory at a time. Equal rows stay in their order.
    """
    *others, last = columns
    last = np.asarray(last if seen is None else last[seen])
    order = np.argsort(last, kind="stable")
    is_new = _changes(last[order])
    for column in reversed(others):
        # Rows that tie with the one before or after.
        (tied,) = np.nonzero(~(is_new & np.append(is_new[1:], True)))
        if not len(tied):
            break
        rows, group = order[tied], np.cumsum(is_new)[tied]
        values = column[rows if seen is None else seen[rows]]
        again = np.lexsort((values, group))
        order[tied] = rows[again]
        # Groups stay where they are, and are divided where values differ.
        is_new[tied] = _changes(group) | _changes(values[again])
    return order, is_new


def _changes(ordered: np.ndarray) -> np.ndarray:
    """Marks values that differ from the one before; the first does."""
    changes = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return changes


def _digests(X: Matrix, y: np.ndarray, seen: np.ndarray | None) -> np.ndarray:
    """Digests of rows, those of the same numbers alike, made of some rows at a time."""
    n_rows = X.shape[0] if seen is None else len(seen)
    keys = np.empty(n_rows, dtype="S16")
    for part in slices(n_rows, block_size(min(X.shape[1], 2**10))):
        which = part if seen is None else seen[part]
        rows, targets = X[which], y[which]
        if not y.shape[1]:
            entries = sp.csr_array(rows, copy=True)
        elif sp.issparse(X):
            entries = sp.hstack([sp.csr_array(rows, dtype=np.float64), sp.csr_array(targets)], format="csr")
        else:
            entries = sp.csr_array(np.hstack([np.asarray(rows, dtype=np.float64), targets]))
        entries.sum_duplicates()
        entries.eliminate_zeros()
        indices, bounds = entries.indices.astype(np.int64), zip(entries.indptr[:-1], entries.indptr[1:])
        keys[part] = [
            blake2b(indices[i:j].tobytes() + entries.data[i:j].tobytes(), digest_size=16).digest() for i, j in bounds
        ]
    return keys
