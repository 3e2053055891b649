"""What a fit hands back, and the search that tuned peers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sets import Split
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

FOLDS = 3
GRID_ROWS = 2000  # most rows that a search has, drawn from the training rows


@dataclass
class Fitted:
    """A fitted model, and how large it is.

    `size` counts what the peer itself counts (atoms, support vectors, inducing rows, features, leaves); `numbers` what
    a prediction needs to have stored, which goes across peers.
    """

    predict: Callable[[np.ndarray], np.ndarray]
    size: int
    numbers: int
    chosen: dict[str, Any] = field(default_factory=dict)
    at: Callable[[int], Any] | None = None  # smaller models of the same fit, where there are any


def searched(model: Any, grid: dict[str, Any] | Sequence[dict[str, Any]], split: Split, most: int = GRID_ROWS) -> Any:
    """Return the model, not fitted, with the best parameters of a grid, and these parameters.

    They are the best by 3-fold cross-validation on at most so many training rows: of squared errors, or of the fraction
    of right classes.
    """
    rows = split.drawn(most)
    kind, scoring = (StratifiedKFold, "accuracy") if split.is_classes else (KFold, "neg_mean_squared_error")
    folds = kind(FOLDS, shuffle=True, random_state=split.seed)
    search = GridSearchCV(model, grid, cv=folds, scoring=scoring, refit=False, n_jobs=1)
    chosen = search.fit(split.train[rows], split.y[rows]).best_params_
    return model.set_params(**chosen), chosen


def fit_best(model: Any, grid: Any, split: Split, most: int = GRID_ROWS) -> tuple[Any, dict[str, Any]]:
    """Fit a model to all training rows with the best parameters of a grid; an empty grid leaves it as it is."""
    chosen = {}
    if grid:
        model, chosen = searched(model, grid, split, most)
    return model.fit(split.train, split.y), chosen


def n_outputs(split: Split) -> int:
    """How many scores a prediction has: one for numbers and two classes, else one a class."""
    n_classes = len(np.unique(split.y)) if split.is_classes else 1
    return n_classes if n_classes > 2 else 1
