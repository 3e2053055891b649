"""Errors over folds: every row predicted by a path that was fitted without it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpursuit._types import ValidationSet
from kernelpursuit.pursuit.selection import FOLDS
from kernelpursuit.pursuit.spec import TrainingRows


def fold_errors(
    errors_without: Callable[[np.ndarray, ValidationSet], np.ndarray],
    rows: TrainingRows,
    groups: np.ndarray,
    *,
    n_folds: int,
    n_steps: int,
    seed: int,
) -> np.ndarray:
    """Mean errors after 0, 1, ..., n_steps steps, over folds; NaN where a fold's path was shorter.

    `errors_without(weights, fold)` fits with weights that are zero on the fold, and returns the errors there, of shape
    (n_measures, n_steps + 1). Rows are dealt to folds at random, one group after the other, so that
    each fold has its share of every group; a row of weight zero is in none.
    """
    X, y = rows.X, rows.y
    weights = np.ones(X.shape[0]) if rows.weights is None else rows.weights
    usable = np.flatnonzero(weights)
    check_folds(n_folds, weights, len(weights))
    dealt = np.random.default_rng([seed, 0, FOLDS]).permutation(usable)
    dealt = dealt[np.argsort(groups[dealt], kind="stable")]
    total, out = 0.0, np.zeros((1, n_steps + 1))
    for first in range(n_folds):
        fold = np.sort(dealt[first::n_folds])
        without = weights.copy()
        without[fold] = 0.0
        errors = errors_without(without, (X[fold], y[fold], weights[fold]))[:, : n_steps + 1]
        errors = np.pad(errors, ((0, 0), (0, n_steps + 1 - errors.shape[1])), constant_values=np.nan)
        out = out + errors * weights[fold].sum()
        total += weights[fold].sum()
    return out / total


def check_folds(n_folds: int, weights: np.ndarray | None, n_rows: int) -> None:
    """Refuse more folds than rows that have a weight."""
    n_usable = n_rows if weights is None else np.count_nonzero(weights)
    if n_usable < n_folds:
        raise ValueError(
            f"stop='cv' deals rows to {n_folds} folds, for which n_samples={n_usable} is too few; give fewer folds."
        )
