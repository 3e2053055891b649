"""What leave-one-out scores say: the loss they have, wrong classes, and the inverse temperature of probabilities."""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.criteria.base import Criterion, RowFacts
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.measure import Measure, inverse_temperature
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import Entry
from kernelpursuit.pursuit.working import INTERPOLATED, loo_prediction, one_minus_leverage

# Of more scores than this, the inverse temperature is taken anew only when the model has grown by a tenth.
FEW_SCORES = 20_000


class LeaveOneOutScores(Criterion):
    """`loo`, `loo_se`, `loo_error` and `inverse_temperature` of scores that each row would have without it.

    They are those of `working.py`, one Newton step away; for the squared loss that is exact. Without leverages, the
    scores are those that the rows have.

    Parameters
    ----------
    rows : RowFacts
        What is known of the rows.
    targets : array of shape (n_targets, n_rows)
        Targets in their own units.
    measure : Measure
        How far scores are from them.
    nugget : NuggetShare or None
        The share of a nugget in the values at the training rows.
    """

    def __init__(self, rows: RowFacts, targets: np.ndarray, measure: Measure, nugget: NuggetShare | None):
        self.rows = rows
        self.targets = targets
        self.measure = measure
        self.nugget = nugget
        self._last_found, self._found_for = 1.0, 0  # and how many atoms it was found for

    def entry(self, fit: Fit) -> Entry:
        """What is known of the scores of the fit as it is."""
        measure, y, weights, leverage = self.measure, self.targets, self.rows.weights, fit.leverage
        left = np.ones(1) if leverage is None else one_minus_leverage(leverage, self.rows.observations)
        known = leverage is not None and float(left.min()) > INTERPOLATED
        hidden: float | np.ndarray = 0.0
        if self.nugget is not None:
            hidden = self.nugget.shift() if known else self.nugget.moved()
        scores = loo_prediction(fit.targets, fit.residual, left if known else np.ones(1)) - hidden
        scores /= np.sqrt(fit.engine.weights) * self.rows.scale
        entry: Entry = {}
        if leverage is not None and (measure.loss is not None or self.rows.counts is not None):
            entry.update(self._mean_loss(measure.losses(y, scores) if known else np.full(len(weights), np.inf)))
        if measure.classes and leverage is not None:
            wrong = float(weights @ measure.wrong(y, scores)) / self.rows.total_weight if known else np.inf
            entry["loo_error"] = wrong
        if measure.needs_inverse_temperature:
            entry["inverse_temperature"] = self._inverse_temperature(scores, len(fit.atoms))
        return entry

    def _mean_loss(self, losses: np.ndarray) -> dict[str, float]:
        """The weighted mean of losses, and its standard error."""
        weights, total = self.rows.weights, self.rows.total_weight
        mean = float(weights @ losses) / total
        largest = float(np.abs(losses).max()) or 1.0
        spread = weights @ np.square((losses - mean) / largest) / total if np.isfinite(mean) else np.inf
        return {"loo": mean, "loo_se": largest * float(np.sqrt(spread / max(self.rows.n_units - 1.0, 1.0)))}

    def _inverse_temperature(self, scores: np.ndarray, size: int) -> float:
        """The inverse temperature of the scores; of many, that of a model up to a tenth smaller."""
        if scores.size <= FEW_SCORES or size >= 1.1 * self._found_for or size <= 1:
            start = self._last_found
            self._last_found = inverse_temperature(self.targets, scores, self.rows.weights, start)
            self._found_for = size
        return self._last_found
