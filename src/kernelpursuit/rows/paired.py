"""Features of one source with the targets and the weights of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from kernelpursuit.rows.source import RowBlock, RowSource


class PairedSource(RowSource):
    """Rows whose targets or weights lie elsewhere, one for each row in the same order.

    Parameters
    ----------
    source : RowSource
        The features, and what is not given apart.
    y, weights : RowSource, optional
        Sources without features, whose targets are the targets or the one weight of the rows.
    """

    def __init__(self, source: RowSource, y: RowSource | None = None, weights: RowSource | None = None):
        self._source, self._others = source, {"y": y, "sample_weight": weights}
        self.n_features, self.feature_names = source.n_features, source.feature_names
        self.n_targets = source.n_targets if y is None else y.n_targets
        self.n_rows = source.n_rows
        for name, other in self._others.items():
            if other is None:
                continue
            if self.n_rows is not None and other.n_rows not in (None, self.n_rows):
                raise ValueError(f"{name} has {other.n_rows:,} rows, but X has {self.n_rows:,}; give one for each row.")
            self.n_rows = other.n_rows if self.n_rows is None else self.n_rows
        if weights is not None and weights.n_targets != 1:
            raise ValueError(f"sample_weight has {weights.n_targets} columns; give one weight for each row.")

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Blocks of all sources side by side."""
        given = {name: other.blocks(size, start) for name, other in self._others.items() if other is not None}
        for block, *others in zip_longest(self._source.blocks(size, start), *given.values()):
            beside = dict(zip(given, others))
            for name, other in beside.items():
                n_here, n_there = (0 if one is None else len(one) for one in (block, other))
                if n_here != n_there:
                    first, more = (name, "X") if n_there < n_here else ("X", name)
                    end = (other if n_there < n_here else block) or RowBlock(start, np.empty(0), np.empty((0, 0)))
                    raise ValueError(
                        f"{first} ends after {start + len(end):,} rows, but {more} goes on; give one for each row."
                    )
            if "y" in beside:
                block = replace(block, y=beside["y"].y)
            if "sample_weight" in beside:
                block = replace(block, weights=np.asarray(beside["sample_weight"].y[:, 0], dtype=np.float64))
            yield block
            start += len(block)

    def where(self, number: int) -> str:
        """The row where its features are."""
        return self._source.where(number)
