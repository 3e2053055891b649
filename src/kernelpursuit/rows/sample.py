"""A sample of rows that one pass finds, whatever the blocks are and wherever they lie: those of the lowest keys."""

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
    if len(numbers) <= most:
        return numbers
    return numbers[np.sort(np.argpartition(keys_of(numbers, seed), most)[:most])]


@dataclass(frozen=True)
class RowSample:
    """Up to `most` rows, those of the lowest keys; samples of two sets of rows add up to one of both.

    A row of weight 0 is in no sample.

    parts  rows that may be in it, as blocks; more than are wanted until it is asked for
    keys   of the rows of each part
    """

    most: int
    parts: tuple[RowBlock, ...] = ()
    keys: tuple[np.ndarray, ...] = ()

    @classmethod
    def of_block(cls, block: RowBlock, most: int, seed: int, bound: np.uint64) -> RowSample:
        """Those of a block that may be in it."""
        keys = keys_of(block.numbers, seed)
        # How many rows have a weight is not known, and so no bound on the keys of enough of them.
        kept = np.flatnonzero(keys <= bound if block.weights is None else block.weights > 0)
        kept = kept if len(kept) <= most else np.sort(kept[np.argpartition(keys[kept], most)[:most]])
        return cls(most, (_rows_of(block, kept),), (keys[kept],))

    def __add__(self, other: RowSample) -> RowSample:
        """The sample of both; rows that cannot be in it go when there are twice as many as are wanted."""
        both = RowSample(self.most, self.parts + other.parts, self.keys + other.keys)
        return both.reduced() if sum(map(len, both.parts)) > 2 * self.most else both

    def reduced(self) -> RowSample:
        """The same in one part, of no more rows than are wanted, in the order of their numbers."""
        keys, numbers = np.concatenate(self.keys), np.concatenate([part.numbers for part in self.parts])
        kept = np.arange(len(keys))
        if len(kept) > self.most:
            kept = np.argpartition(keys, self.most)[: self.most]
        kept = kept[np.argsort(numbers[kept])]
        rows = _rows_of(_joined(self.parts), kept)
        return RowSample(self.most, (rows,), (keys[kept],))

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
