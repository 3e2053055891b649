"""Rows that are given to a report: checked as those of a prediction are, and a sample where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernelpursuit._types import Matrix
from kernelpursuit.estimators.checks import ROWS, check_targets, one_sentence
from kernelpursuit.estimators.labels import check_known_kind
from kernelpursuit.rows import is_source
from kernelpursuit.rows.sample import sample_numbers

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

# Rows on which errors are measured, and of these, rows on which intervals are.
MEASURED_ROWS, INTERVAL_ROWS = 20_000, 1_000
# Seed of the samples: the same page for the same rows.
SEED = 0


@dataclass(frozen=True)
class GivenRows:
    """Rows and what is known of them.

    n_given  how many there were
    numbers  of those that errors are measured on, among all, ascending
    X        these rows
    y        their targets, shape (n_rows, n_targets), or the places of their classes, shape (n_rows,)
    """

    n_given: int
    numbers: np.ndarray
    X: Matrix
    y: np.ndarray

    def __len__(self) -> int:
        """Rows that errors are measured on."""
        return len(self.numbers)

    def some(self, most: int) -> np.ndarray:
        """Places of a sample of so many of them, ascending."""
        return sample_numbers(np.arange(len(self)), most, SEED)


def given_rows(estimator: BaseKernelPursuit, X: Matrix, y: Any) -> GivenRows | None:
    """Check rows and targets against what the estimator was fitted with; None where there are none."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        missing, there = ("X", "y") if X is None else ("y", "X")
        raise ValueError(f"{missing} is missing; give it beside {there}, or neither.")
    if is_source(X):
        raise ValueError("X is a file or a source of rows; give an array or a frame, of a sample if need be.")
    with one_sentence("X", X):
        X = validate_data(estimator, X, reset=False, **ROWS)
    targets = _targets(estimator, y, X.shape[0])
    numbers = sample_numbers(np.arange(X.shape[0]), MEASURED_ROWS, SEED)
    return GivenRows(X.shape[0], numbers, X[numbers], targets[numbers])


def _targets(estimator: BaseKernelPursuit, y: Any, n_rows: int) -> np.ndarray:
    """Targets with one column each, or places of classes."""
    classes = estimator.model_.classes
    if classes is not None:
        labels = check_known_kind(y, n_rows, classes)
        with one_sentence("y"):
            unseen = np.setdiff1d(labels, classes)
        if len(unseen):
            raise ValueError(f"y holds the label {unseen.tolist()[0]!r}, which no training row has; leave it out.")
        return np.searchsorted(classes, labels)
    targets = check_targets(estimator, y, n_rows)
    targets = targets[:, None] if targets.ndim == 1 else targets
    n_targets = estimator.model_.models[0].path.n_targets
    if targets.shape[1] != n_targets:
        raise ValueError(f"y has {targets.shape[1]} targets, but the model was fitted with {n_targets}; give as many.")
    return targets
