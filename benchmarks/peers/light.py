"""Boosted trees of LightGBM."""

from __future__ import annotations

from lightgbm import LGBMClassifier, LGBMRegressor
from sets import Split

from .fitted import Fitted, fit_best
from .trees import GRID_ROWS, fitted, grid


def lightgbm(split: Split, tuned: bool) -> Fitted:
    """Fit LightGBM; tuned, at the best of 8 settings."""
    model = (LGBMClassifier if split.is_classes else LGBMRegressor)(verbose=-1, n_jobs=1, random_state=split.seed)
    settings = grid(("num_leaves", "min_child_samples", "learning_rate", "n_estimators")) if tuned else []
    model, chosen = fit_best(model, settings, split, GRID_ROWS)
    leaves = [tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]]
    return fitted(model, leaves, chosen)
