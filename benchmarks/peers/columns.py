"""Sparse linear models on the columns of a kernel: orthogonal matching pursuit, LASSO, and L1 logistic regression.

Columns are the values of the Gaussian kernel at up to 2,000 training rows, drawn at random. Predictions compute only
those that have a weight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from regression_methods import COSTS
from sets import Split
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Lasso, LogisticRegression, OrthogonalMatchingPursuit
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from .fitted import FOLDS, GRID_ROWS, Fitted, fit_best, n_outputs

COLUMNS = 2000
SIZES = (10, 30, 100, 300, 512)  # the last is the most atoms of ours below 10,000 rows
STRENGTHS = np.logspace(-6, -1, 6)  # of the L1 penalty


class KernelColumns(TransformerMixin, BaseEstimator):
    """Values of the Gaussian kernel at training rows; gamma is 1 over the number of features where it is None."""

    def __init__(self, gamma: float | None = None, random_state: int = 0) -> None:
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: object = None) -> Self:
        """Draw the rows at which the columns are centred."""
        self.centers_ = X[np.random.default_rng(self.random_state).permutation(len(X))[:COLUMNS]]
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the values of the kernel at these rows."""
        return rbf_kernel(X, self.centers_, gamma=self.gamma)


def fit_columns(linear: Any, grid: dict[str, Any], split: Split) -> tuple[Any, dict[str, Any]]:
    """Fit a linear model on kernel columns; the grid is of this model, and gets widths where it has anything."""
    grid = {f"{type(linear).__name__.lower()}__{name}": values for name, values in grid.items()}
    grid |= {"kernelcolumns__gamma": split.gammas} if grid else {}
    return fit_best(make_pipeline(KernelColumns(random_state=split.seed), linear), grid, split)


def sparse(model: Any, coef: np.ndarray, scores_to: Callable[[np.ndarray], np.ndarray], split: Split) -> Fitted:
    """Return the model with its columns of weight 0 left out; `coef` has a line for every output."""
    used = np.flatnonzero(np.any(coef != 0, axis=0))
    columns = model[0]
    columns.centers_, weights = columns.centers_[used], coef[:, used]

    def predict(rows: np.ndarray) -> np.ndarray:
        values = columns.transform(rows) if len(used) else np.zeros((len(rows), 0))
        return scores_to(values @ weights.T)

    size = len(used)
    return Fitted(predict, size, size * split.train.shape[1] + weights.size + len(weights))


def for_numbers(linear: Any, grid: dict[str, Any], split: Split) -> Fitted:
    """Fit a linear model of numbers on kernel columns."""
    model, chosen = fit_columns(linear, grid, split)
    fitted = sparse(model, model[1].coef_[None], lambda scores: scores[:, 0] + model[1].intercept_, split)
    fitted.chosen = chosen
    return fitted


def matching_pursuit(split: Split, tuned: bool) -> Fitted:
    """Fit orthogonal matching pursuit: a tenth of the columns; tuned, at the best of 5 sizes and 5 widths.

    A size is at most the number of columns that the folds of the search have.
    """
    rows = min(GRID_ROWS, len(split.train))
    sizes = sorted({min(size, rows * (FOLDS - 1) // FOLDS) for size in SIZES})
    return for_numbers(OrthogonalMatchingPursuit(), {"n_nonzero_coefs": sizes} if tuned else {}, split)


def lasso(split: Split, tuned: bool) -> Fitted:
    """Fit LASSO; tuned, at the best of 6 penalties and 5 widths, with the Gram matrix computed once, to save time."""
    return for_numbers(Lasso(precompute=tuned), {"alpha": STRENGTHS} if tuned else {}, split)


def l1_logistic(split: Split, tuned: bool) -> Fitted:
    """Fit logistic regression under an L1 penalty, a class against the rest; tuned, the best of costs and widths."""
    binary = LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=split.seed)
    linear = OneVsRestClassifier(binary)
    model, chosen = fit_columns(linear, {"estimator__C": COSTS} if tuned else {}, split)
    binaries, classes = model[1].estimators_, model[1].classes_
    coef = np.concatenate([one.coef_ for one in binaries])
    intercept = np.concatenate([one.intercept_ for one in binaries])

    def to_classes(scores: np.ndarray) -> np.ndarray:
        scores = scores + intercept
        return classes[(scores[:, 0] > 0).astype(int) if n_outputs(split) == 1 else scores.argmax(axis=1)]

    fitted = sparse(model, coef, to_classes, split)
    fitted.chosen = chosen
    return fitted
