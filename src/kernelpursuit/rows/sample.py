"""A sample of rows that one pass finds, whatever the blocks are and wherever they lie: those of the lowest keys.

Of rows with labels, the lowest keys of every class come before all others, so that the sample has rows of rare classes.
A row that is left out of the sample of some rows is not in that of more: within its class as many rows stay before it,
and so each sum of samples needs to hold no more rows than are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.rows.source import RowBlock

# Constants of the generator splitmix64 (Steele, Lea and Flood 2014), of which a key is one step.
GOLDEN, FIRST, SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
# Where the number of rows is known, so many more than are wanted are looked at, in standard deviations of their number.
SLACK = 8.0


def keys_of(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A random number of 64 bits for each row, which its number and the seed decide alone."""
    state = numbers.astype(np.uint64) + np.uint64(seed * int(GOLDEN) % 2**64)
    state = (state + np.uint64(1)) * GOLDEN
    state = (state ^ (state >> np.uint64(30))) * FIRST
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))


def bound_of_keys(most: int, n_rows: int | None) -> np.uint64:
    """A key below which there are nearly surely as many rows as are wanted; the largest where nothing is known."""
    if n_rows is None or n_rows == 0:
        return np.uint64(2**64 - 1)
    share = (most + SLACK * np.sqrt(most) + SLACK) / n_rows
    return np.uint64(2**64 - 1) if share >= 1 else np.uint64(share * 2.0**64)


def sample_numbers(numbers: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Of ascending numbers of rows, those of a sample of so many: the one that a pass over these rows would find."""
    return numbers[sampled_places(keys_of(numbers, seed), most)]


def sampled_places(keys: np.ndarray, most: int, groups: np.ndarray | None = None, of_each: int = 0) -> np.ndarray:
    """Places, ascending, of the lowest keys; of groups, first those of up to `of_each` rows of every one.

    Where there are too many groups for that, each has as many rows as any other has, as far as it goes.
    """
    if len(keys) <= most:
        return np.arange(len(keys))
    lowest = np.sort(np.argpartition(keys, most)[:most])
    if groups is None or not of_each:
        return lowest
    # Groups that have their rows among the lowest keys need no others.
    has_few = np.bincount(groups[lowest], minlength=int(groups.max()) + 1) < of_each
    may_be = has_few[groups]
    may_be[lowest] = True
    places = np.flatnonzero(may_be)
    ranks = _ranks(keys[places], groups[places], of_each)
    return np.sort(places[np.lexsort((keys[places], ranks))[:most]])


def _ranks(keys: np.ndarray, groups: np.ndarray, most: int) -> np.ndarray:
    """How many keys of its group are below each key, up to so many."""
    order = np.lexsort((keys, groups))
    ordered, ranks = groups[order], np.empty(len(keys), dtype=np.intp)
    ranks[order] = np.minimum(np.arange(len(keys)) - np.searchsorted(ordered, ordered), most)
    return ranks


def groups_of(labels: np.ndarray) -> np.ndarray:
    """A number for the class of every row."""
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1]
    known: dict[object, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels.tolist()], dtype=np.intp)


@dataclass(frozen=True)
class RowSample:
    """Up to `most` rows, those of the lowest keys; samples of two sets of rows add up to one of both.

    A row of weight 0 is in no sample.

    parts    rows that may be in it, as blocks; more than are wanted until it is asked for
    keys     of the rows of each part
    of_each  so many rows of each class, by labels that are the targets, come before others; 0 where there are none
    """

    most: int
    parts: tuple[RowBlock, ...] = ()
    keys: tuple[np.ndarray, ...] = ()
    of_each: int = 0

    @classmethod
    def of_block(cls, block: RowBlock, most: int, seed: int, bound: np.uint64, of_each: int = 0) -> RowSample:
        """Those of a block that may be in it."""
        keys = keys_of(block.numbers, seed)
        # How many rows have a weight is not known, and so no bound on the keys of enough of them.
        may_be = keys <= bound if block.weights is None else block.weights > 0
        if of_each and block.weights is None:
            may_be |= _ranks(keys, groups_of(block.y[:, 0]), of_each) < of_each
        kept = np.flatnonzero(may_be)
        found = cls(most, (_rows_of(block, kept),), (keys[kept],), of_each)
        return found.reduced() if len(kept) > most else found

    def __add__(self, other: RowSample) -> RowSample:
        """The sample of both; rows that cannot be in it go when there are twice as many as are wanted."""
        both = RowSample(self.most, self.parts + other.parts, self.keys + other.keys, self.of_each)
        return both.reduced() if sum(map(len, both.parts)) > 2 * self.most else both

    def reduced(self) -> RowSample:
        """The same in one part, of no more rows than are wanted, in the order of their numbers."""
        keys, joined = np.concatenate(self.keys), _joined(self.parts)
        groups = groups_of(joined.y[:, 0]) if self.of_each else None
        kept = sampled_places(keys, self.most, groups, self.of_each)
        kept = kept[np.argsort(joined.numbers[kept])]
        return RowSample(self.most, (_rows_of(joined, kept),), (keys[kept],), self.of_each)

    @property
    def rows(self) -> RowBlock:
        """The rows, in the order of their numbers."""
        (rows,) = self.reduced().parts
        return rows


def _rows_of(block: RowBlock, places: np.ndarray) -> RowBlock:
    """Some rows of a block, copied."""
    numbers = block.numbers[places]
    return RowBlock(
        int(numbers[0]) if len(numbers) else block.start,
        block.X[places],
        block.y[places],
        weights=None if block.weights is None else block.weights[places],
        counts=None if block.counts is None else block.counts[places],
        kept=numbers,
    )


def _joined(parts: tuple[RowBlock, ...]) -> RowBlock:
    return RowBlock(
        parts[0].start,
        _stacked([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        weights=_together([part.weights for part in parts]),
        counts=_together([part.counts for part in parts]),
        kept=np.concatenate([part.numbers for part in parts]),
    )


def _stacked(parts: list[Matrix]) -> Matrix:
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.vstack(parts)


def _together(parts: list[np.ndarray | None]) -> np.ndarray | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None
