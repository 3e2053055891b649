"""Whether a target is a number or a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REGRESSION, CLASSIFICATION = "regression", "classification"
# Whole numbers are taken for classes where there are no more different ones than this, with so many rows each.
MOST_CLASSES, ROWS_A_CLASS = 20, 5


@dataclass(frozen=True)
class Task:
    """Regression or classification, and why."""

    name: str
    why: str

    @property
    def is_classification(self) -> bool:
        """Whether targets are classes."""
        return self.name == CLASSIFICATION


def decide(targets: np.ndarray, name: str) -> Task:
    """Tell numbers from classes by the first targets: text, true and false, and few whole numbers are classes.

    Parameters
    ----------
    targets : array of shape (n_rows, n_targets)
    name : str
        Of the target, for the reason.
    """
    if targets.shape[1] > 1:
        return Task(REGRESSION, f"{name} are several targets")
    values = targets[:, 0]
    if values.dtype.kind in "OUS":
        return Task(CLASSIFICATION, f"{name!r} holds text")
    if values.dtype.kind == "b":
        return Task(CLASSIFICATION, f"{name!r} holds true and false")
    known = values[np.isfinite(values)]
    different = np.unique(known)
    if (different != np.trunc(different)).any():
        return Task(REGRESSION, f"{name!r} holds numbers that are not whole")
    if not 2 <= len(different) <= MOST_CLASSES or len(different) * ROWS_A_CLASS > len(known):
        return Task(REGRESSION, f"{name!r} holds {len(different):,} different numbers in {len(known):,} rows")
    return Task(CLASSIFICATION, f"{name!r} holds {len(different)} different whole numbers")
