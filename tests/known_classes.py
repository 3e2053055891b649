"""Rows whose classes are drawn with known probabilities."""

import numpy as np
from scipy.special import softmax

# Directions along which the scores of up to six classes vary.
DIRECTIONS = np.random.default_rng(99).normal(size=(2, 6))


def draw_classes(n, seed, n_classes=2, steepness=2.0):
    """Rows, classes that were drawn for them, and the probabilities of all classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if n_classes == 2:
        score = steepness * (np.sin(2 * X[:, 0]) + X[:, 1])
        p = softmax(np.column_stack([np.zeros(n), score]), axis=1)
    else:
        along = X @ DIRECTIONS[:, :n_classes]
        p = softmax(steepness * (np.sin(1.5 * along) + 0.5 * along), axis=1)
    y = (rng.uniform(size=(n, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return X, np.minimum(y, n_classes - 1), p


def log_loss_of(p, y):
    """Mean log loss of the true classes."""
    return -np.log(p[np.arange(len(y)), y]).mean()


def calibration_error(p, y, n_bins=10):
    """Expected calibration error of the predicted class, over bins of equally many rows."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.array_split(np.argsort(sure), n_bins)
    return sum(len(rows) * abs(sure[rows].mean() - right[rows].mean()) for rows in bins) / len(y)
