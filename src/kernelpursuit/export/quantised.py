"""Centres as 16-bit integers: a quarter of the bytes of float64, and what that costs in predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.export.description import Description
from kernelpursuit.export.evaluate import scores

LEVELS = 2**15 - 1


@dataclass(frozen=True)
class Quantised:
    """Centres of each block as `offset + step * level`.

    blocks   for each, levels of shape (n_atoms, n_columns), steps and offsets of the columns
    error    the largest change of a score, over the rows that were tried, in units of the range of scores there
    """

    blocks: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]
    error: float

    @classmethod
    def of(cls, description: Description, rows: np.ndarray) -> Quantised:
        """Quantise the centres of a description, and try rows."""
        found, changed = [], []
        for block in description.blocks:
            low, high = block.centers.min(axis=0), block.centers.max(axis=0)
            step = np.where(high > low, (high - low) / (2 * LEVELS), 1.0)
            offset = 0.5 * (low + high)
            levels = np.rint((block.centers - offset) / step).astype(np.int16)
            found.append((levels, step, offset))
            changed.append(replace(block, centers=offset + step * levels))
        before, after = scores(description, rows), scores(replace(description, blocks=tuple(changed)), rows)
        size = float(np.ptp(before)) or 1.0
        return cls(tuple(found), float(np.abs(after - before).max()) / size)
