"""The loss of several classes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.losses.base import Loss

# A row never asks for a step that is longer than this and what its class lies behind by.
LONGEST_STEP = 32.0


@dataclass(frozen=True, repr=False)
class Softmax(Loss):
    """Negative log-likelihood of classes, `log sum_c exp(f_c) - f_true`.

    The curvature is `max_c 2 p_c (1 - p_c)`, at most 1/2. It bounds the largest eigenvalue of the Hessian
    `diag(p) - p p'` by Gershgorin's circles, as the constant 1/2 of Boehning (1992) does for all scores. Where the
    class of a row has almost no probability it is raised, so that a step stays within reach of the other scores.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import Softmax
    >>> scores = np.array([[0.0, 3.0], [0.0, 0.0], [0.0, 0.0]])  # three classes, two rows
    >>> Softmax().probabilities(scores).round(3)
    array([[0.333, 0.909],
           [0.333, 0.045],
           [0.333, 0.045]])
    """

    name = "softmax"
    kind = "classes"
    only_differences = True

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets that are not 1 in one output and 0 in the others, in every row."""
        if len(y) < 2:
            raise ValueError("loss='softmax' needs one output for each class; give y at least two outputs.")
        if not (np.isin(y, (0, 1)).all() and (y.sum(axis=0) == 1).all()):
            raise ValueError("loss='softmax' needs a row of y to be 1 for its class and 0 else; code the classes so.")

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        top = f.max(axis=0)
        return np.log(np.exp(f - top).sum(axis=0)) + (top - (y * f).sum(axis=0))

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Probabilities minus the targets."""
        return self.probabilities(f) - y

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Bound on the largest eigenvalue of the Hessian."""
        p = self.probabilities(f)
        behind = f.max(axis=0) - (y * f).sum(axis=0)
        return np.maximum((2 * p * (1 - p)).max(axis=0), np.abs(p - y).max(axis=0) / (LONGEST_STEP + behind))

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Logarithms of the shares of the classes, with mean 0; a class without rows has the share 2e-16."""
        shares = y @ weights / weights.sum()
        logs = np.log(np.maximum(shares, np.finfo(float).eps))
        return logs - logs.mean()

    def probabilities(self, f: np.ndarray) -> np.ndarray:
        """Softmax of the scores."""
        grown = np.exp(f - f.max(axis=0))
        return grown / grown.sum(axis=0)
