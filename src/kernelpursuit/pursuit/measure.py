"""How far scores are from targets, row by row: the loss, wrong classes, and probabilities that fit them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from kernelpursuit.losses import Loss

NEWTON_STEPS = 20
# Scores are multiplied by no more than this over their root mean square: classes that they tell apart without error
# would ask for infinity.
SHARPEST = 100.0


@dataclass(frozen=True)
class Measure:
    """What is recorded of a fit beside its cost.

    loss     the loss that is fitted; None for the squared one
    classes  whether targets are codes of classes, so that scores can name a wrong one
    """

    loss: Loss | None = None
    classes: bool = False

    def losses(self, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Loss of every row; the squared one is averaged over targets. Both arrays of shape (n_targets, n_rows)."""
        if self.loss is None:
            return np.square(y - scores).mean(axis=0)
        return checked_value(self.loss, "value", self.loss.value(y, scores), scores.shape[1:])

    def wrong(self, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Which rows are put in a wrong class: by the sign of one score, or by the largest of several."""
        return classes_of(y) != classes_of(scores)

    @property
    def needs_inverse_temperature(self) -> bool:
        """Whether scores become probabilities only by a factor that must be found."""
        if not self.classes:
            return False
        return self.loss is None or self.loss.probabilities(np.zeros((1 + (self.loss.kind == "classes"), 1))) is None


def classes_of(scores: np.ndarray) -> np.ndarray:
    """Number of the class that scores or codes, shape (n_targets, n_rows), name: by sign if one, else the largest."""
    return (scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)


def one_each(scores: np.ndarray) -> np.ndarray:
    """A score for each class; of one score s, the two classes have -s and s."""
    return np.vstack([-scores, scores]) if len(scores) == 1 else scores


def score_gaps(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """How far the score of the true class is below the largest, shape (1, n_rows); 0 where it is the largest itself."""
    both = one_each(scores)
    return (both.max(axis=0) - both[classes_of(y), np.arange(both.shape[1])])[None]


def checked_value(loss: Loss, what: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What a loss has returned, in a sentence refused where it is no array of finite numbers of the right shape."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(
            f"The {what} of loss={loss!r} has shape {values.shape} where {shape} is wanted; see losses.Loss."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"The {what} of loss={loss!r} is NaN or infinite at finite scores; scale y, or bound the loss."
        )
    return values


def inverse_temperature(y: np.ndarray, scores: np.ndarray, weights: np.ndarray, start: float = 1.0) -> float:
    """The factor t for which the probabilities `softmax(t scores)` fit the classes best, by Newton's method.

    One factor, and no shift: the class with the largest score stays the most probable. Scores should be of rows that
    were not fitted, or left out, else they are too far apart. Each class gets the benefit of one more row in doubt
    (after Platt 1999), so that t is finite where scores tell all rows apart.
    """
    both, true = one_each(scores), classes_of(y)
    root_mean_square = float(np.sqrt(np.square(both).mean()))
    if not 0 < root_mean_square < np.inf:
        return 1.0
    centred = both - both.mean(axis=0)
    uncertain = 1.0 / (weights.sum() + len(both))
    wanted = (1 - uncertain) * centred[true, np.arange(len(true))]
    highest = SHARPEST / root_mean_square
    t = min(max(start, 0.0), highest)
    low, high = 0.0, highest
    for _ in range(NEWTON_STEPS):
        p = np.exp(log_softmax(t * centred, axis=0))
        mean = np.einsum("ij,ij->j", p, centred)
        gradient = float(weights @ (mean - wanted))
        curvature = float(weights @ (np.einsum("ij,ij->j", p, np.square(centred)) - np.square(mean)))
        # The gradient rises with t, so that its sign says on which side the minimum is.
        low, high = (t, high) if gradient < 0 else (low, t)
        new = t - gradient / curvature if curvature > 0 else 0.5 * (low + high)
        new = new if low <= new <= high else 0.5 * (low + high)
        if abs(new - t) <= 1e-12 * highest / SHARPEST:
            return new
        t = new
    return t
