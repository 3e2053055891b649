"""Boosted trees: the histogram gradient boosting of scikit-learn, and what LightGBM shares with it."""

from __future__ import annotations

from typing import Any

from sets import Split
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from .fitted import Fitted, fit_best

GRID_ROWS = 5000  # most rows that a search has: what suits trees depends on how many rows there are
LEAVES, ROWS_IN_LEAF = (7, 31), (5, 20)
RATES = ((0.1, 100), (0.05, 300))  # learning rates, and the number of trees that goes with each
NODE = 4  # numbers in a node that splits: feature, threshold, and where to go on


def grid(names: tuple[str, str, str, str]) -> list[dict[str, Any]]:
    """Return the grid, by a library's names for leaves, rows in a leaf, learning rate and number of trees."""
    leaves, rows, rate, trees = names
    return [{leaves: LEAVES, rows: ROWS_IN_LEAF, rate: [one], trees: [number]} for one, number in RATES]


def fitted(model: Any, leaves: list[int], chosen: dict[str, Any]) -> Fitted:
    """Return a fitted model with these numbers of leaves in its trees."""
    return Fitted(model.predict, sum(leaves), sum(n + NODE * (n - 1) for n in leaves), chosen)


def histogram_boosting(split: Split, tuned: bool) -> Fitted:
    """Fit the histogram gradient boosting of scikit-learn; tuned, at the best of 8 settings."""
    kind = HistGradientBoostingClassifier if split.is_classes else HistGradientBoostingRegressor
    settings = grid(("max_leaf_nodes", "min_samples_leaf", "learning_rate", "max_iter")) if tuned else []
    model, chosen = fit_best(kind(random_state=split.seed), settings, split, GRID_ROWS)
    leaves = [tree.get_n_leaf_nodes() for step in model._predictors for tree in step]
    return fitted(model, leaves, chosen)
