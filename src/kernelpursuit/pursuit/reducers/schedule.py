"""How often what is costly is looked at anew while models grow."""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.constants import MANY_SCORES, SCORES_GROWTH


def is_due(size: int, last: int, growth: float) -> bool:
    """Whether a model of this size has grown by this factor since the last look; the first two always have."""
    return size <= 1 or size >= growth * last


def looked_at(n_sizes: int, n_scores: int, has_counts: bool) -> np.ndarray:
    """For each size, that whose scores stand for its own, shape (n_sizes,): mostly itself.

    Of very many scores, one that is a fiftieth smaller does; not where rows have counts, whose loss is looked at too.
    """
    sizes = np.arange(n_sizes)
    if n_scores <= MANY_SCORES or has_counts:
        return sizes
    last = 0
    for size in range(n_sizes):
        last = size if is_due(size, last, SCORES_GROWTH) else last
        sizes[size] = last
    return sizes
