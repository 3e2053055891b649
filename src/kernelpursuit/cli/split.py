"""Some rows of a source, and the rows that are held out to test on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernelpursuit.rows import RowBlock, RowSource
from kernelpursuit.rows.arrays import rechunked


class SomeRows(RowSource):
    """The rows of a source that are wanted, counted anew, in blocks of the size that is asked for.

    So passes over them have the same blocks, and fits of them the same bits, as of the same rows alone.

    Parameters
    ----------
    source : RowSource
    wanted : bool array of shape (n_rows,)
    """

    n_rows: int

    def __init__(self, source: RowSource, wanted: np.ndarray):
        self._source, self._wanted = source, wanted
        self.n_rows = int(wanted.sum())
        self.n_features, self.n_targets = source.n_features, source.n_targets
        self.feature_names = source.feature_names

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Blocks of the wanted rows alone."""
        for X, y, *weights in rechunked(self._pieces(size, start), size):
            yield RowBlock(start, X, y, weights=weights[0] if weights else None)
            start += X.shape[0]

    def _pieces(self, size: int, start: int) -> Iterator[list[np.ndarray]]:
        if start >= self.n_rows:
            return
        for block in self._source.blocks(size, self._number_of(start)):
            chosen = self._wanted[block.start : block.start + len(block)]
            if chosen.any():
                arrays = [block.X, block.y, *([] if block.weights is None else [block.weights])]
                yield [one[chosen] for one in arrays]

    def _number_of(self, row: int) -> int:
        """The number in the source of one of these rows."""
        return int(np.flatnonzero(self._wanted)[row])

    def where(self, number: int) -> str:
        """The row in the source."""
        return self._source.where(self._number_of(number))


def held_out(n_rows: int, share: float, seed: int) -> np.ndarray:
    """Which rows are tested on: those of scikit-learn's `train_test_split` of the numbers of rows, with this seed."""
    from sklearn.model_selection import train_test_split

    _, tested = train_test_split(np.arange(n_rows), test_size=share, random_state=seed)
    is_tested = np.zeros(n_rows, dtype=bool)
    is_tested[tested] = True
    return is_tested
