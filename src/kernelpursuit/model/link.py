"""From the scores of a model to what it predicts: numbers, counts or probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from kernelpursuit.losses import Loss
from kernelpursuit.pursuit.measure import one_each


@dataclass(frozen=True)
class Link:
    """How scores, shape (n_rows, n_scores), become predictions.

    loss                 the loss that was minimised; None for the squared one
    inverse_temperature  what scores are multiplied by before they become probabilities, where the loss has none of its
                         own
    """

    loss: Loss | None
    inverse_temperature: float = 1.0

    @property
    def is_identity(self) -> bool:
        """Whether scores are predictions of numbers as they are."""
        return self.loss is None or type(self.loss).mean is Loss.mean

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """The targets that scores predict: the scores themselves, or for counts their exponentials."""
        return scores if self.loss is None else self.loss.mean(scores.T).T

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, shape (n_rows, n_classes).

        Those of the loss, or `softmax(t s)` with the inverse temperature t; of one score s, the classes have -s and s.
        """
        own = None if self.loss is None else self.loss.probabilities(scores.T)
        if own is not None:
            return own.T
        return softmax(self.inverse_temperature * one_each(scores.T), axis=0).T
