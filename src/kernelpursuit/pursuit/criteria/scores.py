"""What leave-one-out scores say: the loss they have, wrong classes, and how sure one may be of the right one."""

from __future__ import annotations

import numpy as np

from kernelpursuit.pursuit.constants import MANY_SCORES, SCORES_GROWTH
from kernelpursuit.pursuit.criteria.base import Criterion, RowFacts
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.measure import Measure, classes_of
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import Entry
from kernelpursuit.pursuit.reducers import Calibrator, is_due
from kernelpursuit.pursuit.working import INTERPOLATED, loo_prediction, one_minus_leverage


class LeaveOneOutScores(Criterion):
    """`loo`, `loo_se`, `loo_error`, `inverse_temperature` and `loo_quantiles` of scores that rows would have, left out.

    They are those of `working.py`, one Newton step away; for the squared loss that is exact. Without leverages, the
    scores are those that the rows have. The quantiles, of classes, are those of how far the score of the true class is
    below the largest.

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
    calibration : array of int
        Rows whose scores calibrate probabilities and sets of classes.
    """

    def __init__(
        self,
        rows: RowFacts,
        targets: np.ndarray,
        measure: Measure,
        nugget: NuggetShare | None,
        calibration: np.ndarray,
    ):
        self.rows = rows
        self.targets = targets
        self.measure = measure
        self.nugget = nugget
        self.calibration = calibration
        self._true = classes_of(targets) if measure.classes else None
        self._last: Entry = {}
        self._last_for = 0  # atoms
        self._calibrator = Calibrator(
            targets[:, calibration], rows.weights[calibration], measure.needs_inverse_temperature
        )

    def entry(self, fit: Fit) -> Entry:
        """What is known of the scores of the fit as it is."""
        measure, y, weights, leverage = self.measure, self.targets, self.rows.weights, fit.leverage
        left = np.ones(1) if leverage is None else one_minus_leverage(leverage, self.rows.observations)
        known = leverage is not None and float(left.min()) > INTERPOLATED
        if known and measure.loss is None and self.rows.counts is None and self._is_recent(len(fit.atoms)):
            return self._last
        hidden: float | np.ndarray = 0.0
        if self.nugget is not None:
            hidden = self.nugget.shift() if known else self.nugget.moved()
        scores = loo_prediction(fit.targets, fit.residual, left if known else np.ones(1)) - hidden
        scores /= np.sqrt(fit.engine.weights) * self.rows.scale
        entry: Entry = {}
        if leverage is not None and (measure.loss is not None or self.rows.counts is not None):
            entry.update(self._mean_loss(measure.losses(y, scores) if known else np.full(len(weights), np.inf)))
        if measure.classes and leverage is not None:
            wrong = float(weights @ (classes_of(scores) != self._true)) / self.rows.total_weight if known else np.inf
            entry["loo_error"] = wrong
        if measure.classes:
            entry.update(self._calibrator.entry(scores[:, self.calibration], len(fit.atoms), known))
        self._last, self._last_for = entry, len(fit.atoms)
        return entry

    def _is_recent(self, size: int) -> bool:
        """Whether, of very many scores, those that were looked at last will do."""
        return self.targets.size > MANY_SCORES and not is_due(size, self._last_for, SCORES_GROWTH)

    def _mean_loss(self, losses: np.ndarray) -> dict[str, float]:
        """The weighted mean of losses, and its standard error."""
        weights, total = self.rows.weights, self.rows.total_weight
        mean = float(weights @ losses) / total
        largest = float(np.abs(losses).max()) or 1.0
        spread = weights @ np.square((losses - mean) / largest) / total if np.isfinite(mean) else np.inf
        return {"loo": mean, "loo_se": largest * float(np.sqrt(spread / max(self.rows.n_units - 1.0, 1.0)))}
