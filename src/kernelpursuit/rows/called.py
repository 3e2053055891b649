"""Rows from a function that returns an iterator of blocks, called anew for each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kernelpursuit.rows.arrays import as_rows, rechunked
from kernelpursuit.rows.source import RowBlock, RowSource
from kernelpursuit.rows.streams import name_of


def first_of(function: Callable[[], Iterable[Any]]) -> Any:
    """What a function yields first; it has to return something new to iterate over each time."""
    name, found = name_of(function), function()
    if not isinstance(found, Iterable):
        raise TypeError(f"{name} returned a {type(found).__name__}; let it return an iterator of blocks of rows.")
    again = iter(found)
    if again is found and function() is found:
        raise ValueError(f"{name} returned the same iterator twice; let it make a new one at every call.")
    first = next(again, None)
    if hasattr(again, "close"):
        again.close()
    if first is None:
        raise ValueError(f"{name} yields no rows; give at least one.")
    return first


class CalledSource(RowSource):
    """Rows of `(X, y)` or `(X, y, weights)` tuples, or of arrays X, that a function yields.

    Parameters
    ----------
    function : callable
        Called without arguments at the beginning of every pass. It should yield the same rows each time.
    """

    n_rows = None

    def __init__(self, function: Callable[[], Iterable[Any]], first: Any):
        self._function, self._name = function, name_of(function)
        self._n_arrays = len(first) if isinstance(first, tuple) else 1
        X, y, *_ = self._arrays(0, first)
        self.n_features, self.n_targets = X.shape[1], y.shape[1]

    def _arrays(self, number: int, found: Any) -> list[Any]:
        """Features, targets and weights of what was yielded, in two, two and one dimensions."""
        place = f"block {number} that {self._name} yields"
        found = found if isinstance(found, tuple) else (found,)
        if not 1 <= len(found) <= 3 or len(found) != self._n_arrays:
            raise ValueError(
                f"{place} is a tuple of {len(found)}; yield (X, y), (X, y, weights) or X, and always the same."
            )
        X = as_rows(found[0], f"X of {place}")
        if X.ndim != 2:
            raise ValueError(f"X of {place} has the shape {X.shape}; yield a table of rows and columns.")
        y = np.asarray(found[1]) if len(found) > 1 else np.empty((X.shape[0], 0))
        arrays = [X, y[:, None] if y.ndim == 1 else y]
        if len(found) == 3:
            arrays.append(np.asarray(found[2], dtype=np.float64))
        for what, one in zip(("y", "weights"), arrays[1:]):
            if one.shape[:1] != X.shape[:1]:
                raise ValueError(f"{what} of {place} has the shape {one.shape}, but X has {X.shape[0]} rows.")
        shape = tuple(one.shape[1] for one in arrays[:2])
        if hasattr(self, "n_targets") and shape != (self.n_features, self.n_targets):
            raise ValueError(
                f"{place} has {shape[0]} features and {shape[1]} targets, but the first one has {self.n_features} and "
                f"{self.n_targets}; yield the same columns every time."
            )
        return arrays

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """What the function yields, joined and cut."""
        pieces = (self._arrays(number, found) for number, found in enumerate(self._function()))
        for X, y, *weights in rechunked(_after(pieces, start), size):
            yield RowBlock(start, X, y, weights=weights[0] if weights else None)
            start += X.shape[0]

    def where(self, number: int) -> str:
        """The row, by its number over all blocks."""
        return f"row {number:,} of what {self._name} yields"


def _after(pieces: Iterator[list[Any]], start: int) -> Iterator[list[Any]]:
    """Leave out the first rows, and pieces without rows."""
    for piece in pieces:
        n_rows = piece[0].shape[0]
        skipped = min(start, n_rows)
        start -= skipped
        if skipped < n_rows:
            yield [one[skipped:] for one in piece] if skipped else piece
