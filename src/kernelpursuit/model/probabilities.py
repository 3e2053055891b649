"""Probabilities whose largest is that of the predicted class, whatever rounding has done to them."""

from __future__ import annotations

import numpy as np


def agreeing(p: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return probabilities of which the first of the largest is the predicted class's in every row.

    Scores that differ in their last digits have probabilities that are equal, or, rounded, in another order. In such
    rows the predicted class changes places with the most probable one, and gets the next larger number.

    Parameters
    ----------
    p : array of shape (n_samples, n_classes)
        Probabilities.
    predicted : array of shape (n_samples,)
        Column of the predicted class.
    """
    top = p.argmax(axis=1)
    rows = np.flatnonzero(top != predicted)
    if not len(rows):
        return p
    p = p.copy()
    largest, other = p[rows, top[rows]], p[rows, predicted[rows]]
    p[rows, top[rows]] = other
    p[rows, predicted[rows]] = np.nextafter(largest, np.ones_like(largest))
    return p
