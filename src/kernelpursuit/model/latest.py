"""Of rows that keep coming, the latest ones, and a few that stand for all before them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpursuit.model.constants import BUFFER_ROWS, EARLIER_ROWS
from kernelpursuit.rows import RowBlock, dense


def begun(block: RowBlock) -> tuple[RowBlock, RowBlock]:
    """The latest rows, and those that stand for the others, of a first block."""
    return aged(None, none_of(block), block, 1.0)


def none_of(rows: RowBlock) -> RowBlock:
    """A block without rows, of the same features and targets."""
    return RowBlock(0, rows.X[:0], rows.y[:0])


def aged(latest: RowBlock | None, earlier: RowBlock, block: RowBlock, forgetting: float) -> tuple[RowBlock, RowBlock]:
    """The latest rows, and those that stand for the others, after a block; with weights as the sums have them now."""
    faded = forgetting ** float(len(block))
    n_left = max(0, len(block) - BUFFER_ROWS)
    # Of a long block, only what is kept is made dense.
    left = np.linspace(0, n_left - 1, min(n_left, EARLIER_ROWS)).astype(np.intp)
    ages = forgetting ** np.arange(len(block) - 1, -1, -1.0)
    weights = block.sample_weights * ages
    few = taken(block, left, weights[left] * (weights[:n_left].sum() / max(weights[left].sum(), np.finfo(float).tiny)))
    new = taken(block, np.arange(n_left, len(block)), weights[n_left:])
    before = [] if latest is None else [replace(latest, weights=latest.sample_weights * faded)]
    whole = together([*before, new])
    n_out = max(0, len(whole) - BUFFER_ROWS)
    out = taken(whole, np.arange(n_out), whole.sample_weights[:n_out])
    whole = taken(whole, np.arange(n_out, len(whole)), whole.sample_weights[n_out:])
    earlier = replace(earlier, weights=earlier.sample_weights * faded)
    return whole, _thinned(together([one for one in (earlier, out, few) if len(one)] or [earlier]))


def taken(block: RowBlock, which: np.ndarray, weights: np.ndarray) -> RowBlock:
    """Some rows of a block, dense, with these weights."""
    return RowBlock(0, dense(block.X[which]), block.y[which], weights=weights, kept=block.numbers[which])


def together(blocks: list[RowBlock]) -> RowBlock:
    """The rows of all blocks, in this order."""
    if len(blocks) == 1:
        return blocks[0]
    arrays = ((one.X, one.y, one.sample_weights, one.numbers) for one in blocks)
    X, y, weights, numbers = (np.concatenate(parts) for parts in zip(*arrays))
    return RowBlock(0, X, y, weights=weights, kept=numbers)


def _thinned(block: RowBlock) -> RowBlock:
    """At most `EARLIER_ROWS` of the rows, at equal steps of their weight, with the weight of all."""
    total = block.total_weight
    if len(block) <= EARLIER_ROWS or not total > 0:
        return taken(block, np.arange(len(block))[-EARLIER_ROWS:], block.sample_weights[-EARLIER_ROWS:])
    steps = (np.arange(EARLIER_ROWS) + 0.5) * (total / EARLIER_ROWS)
    which = np.minimum(np.searchsorted(np.cumsum(block.sample_weights), steps), len(block) - 1)
    return taken(block, which, np.full(EARLIER_ROWS, total / EARLIER_ROWS))
