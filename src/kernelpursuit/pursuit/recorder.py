"""Writes the path while the loop runs: criteria of every step, at O(n) each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit import _native
from kernelpursuit.pursuit.coherence import mutual_coherence
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.measure import Measure, temperature
from kernelpursuit.pursuit.monitor import Monitor
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.reducers import LEVELS, calibration_rows, conformal_quantiles
from kernelpursuit.pursuit.selection import Selector
from kernelpursuit.pursuit.working import INTERPOLATED, loo_error, loo_prediction, one_minus_leverage

COLUMNS = (
    *("cost", "residual_norm", "dof", "rcond", "correlation"),
    *("loo", "loo_se", "loo_error", "validation", "validation_error", "temperature"),
)
PLAIN = Measure()
# Of more scores than this, the temperature is taken anew only when the model has grown by a tenth.
FEW_SCORES = 20_000


class Recorder:
    """Collects the path of a running pursuit.

    Parameters
    ----------
    fit : Fit
        The fit that is followed.
    max_steps : int
        Most steps that will be recorded.
    problem : Problem
        What is fitted. Everything recorded is in the targets' own units.
    measure : Measure
        How far scores are from targets.
    monitor : Monitor, optional
        Who follows the error on held-out rows.
    intervals : bool
        Whether to record the quantiles of leave-one-out errors.
    margin : float, optional
        The fraction of the range of the targets by which predictions of rows that are left out may be outside it.
    """

    def __init__(
        self,
        fit: Fit,
        max_steps: int,
        problem: Problem,
        *,
        measure: Measure = PLAIN,
        monitor: Monitor | None = None,
        intervals: bool = True,
        margin: float | None = None,
    ):
        self.fit = fit
        self.scale = problem.scale
        self.targets = problem.targets / problem.scale
        self.measure = measure
        self._needs_temperature = measure.needs_temperature
        self.facts = problem.facts()
        self.monitor = monitor
        self._columns = {name: np.full(max_steps + 1, np.nan) for name in COLUMNS}
        self._size = np.zeros(max_steps + 1, dtype=np.intp)
        self._target_residual = np.empty((max_steps + 1, fit.n_targets))
        weights = fit.sample_weights
        self._total_weight = float(weights.sum())
        self._counts = problem.counts
        self._n_units = float((np.maximum(weights, 1.0) if self._counts is None else self._counts).sum())
        self._observations = np.maximum(weights if self._counts is None else self._counts, 1.0)
        self._limits = None if margin is None else _widened(problem.targets, margin)
        self._last_temperature, self._temperature_of = 1.0, 0  # and how many atoms it was found for
        self._nugget = NuggetShare(fit) if fit.engine.nugget else None
        self._column_residual = None if self._nugget is None else np.empty_like(self._target_residual)
        self._coherence: float | None = None
        self._calibrating = calibration_rows(len(weights), problem.judged)
        self._intervals = intervals and fit.leverage is not None and measure.loss is None
        self._quantiles = np.full((max_steps + 1, len(LEVELS), fit.n_targets), np.nan)

    def record(self) -> None:
        """Write the entry of the current number of steps."""
        fit, k = self.fit, self.fit.n_steps
        self._size[k] = len(fit.atoms)
        arrays = {**self._columns, "target_residual": self._target_residual, "loo_quantiles": self._quantiles}
        for name, value in self.entry().items():
            arrays[name][k] = value
        if self._column_residual is not None:
            self._column_residual[k] = np.einsum("ij,ij->i", fit.residual, fit.residual) / self.scale**2

    def entry(self) -> dict[str, Any]:
        """All that is recorded of the fit as it is."""
        fit, square = self.fit, self.scale**2
        entry: dict[str, Any] = {
            "cost": fit.cost() / square,
            "residual_norm": fit.misfit() / self.scale,
            "rcond": fit.rcond,
        }
        if fit.leverage is not None and self.measure.loss is None:
            entry.update(self._least_squares(fit.leverage))
        else:
            residual = fit.residual if self._nugget is None else fit.residual + self._nugget.moved()
            entry["dof"] = fit.n_fixed + len(fit.atoms) if fit.leverage is None else fit.leverage.sum()
            entry["target_residual"] = np.einsum("ij,ij->i", residual, residual) / square
        if self.measure.classes or self.measure.loss is not None:
            entry.update(self._left_out(fit.leverage))
        if self.monitor is not None:
            entry.update(self.monitor.follow(fit))
            entry["validation"] /= square
        return entry

    def _left_out(self, leverage: np.ndarray | None) -> dict[str, float]:
        """What the scores that each row would have without it say; without leverages, those that it has.

        Leave-one-out scores are those of `working.py`; for the squared loss they are exact.
        """
        fit, measure, y, weights = self.fit, self.measure, self.targets, self.fit.sample_weights
        left = np.ones(1) if leverage is None else one_minus_leverage(leverage, self._observations)
        known = leverage is not None and float(left.min()) > INTERPOLATED
        hidden: Any = 0.0
        if self._nugget is not None:
            hidden = self._nugget.shift() if known else self._nugget.moved()
        scores = loo_prediction(fit.targets, fit.residual, left if known else np.ones(1)) - hidden
        scores /= np.sqrt(fit.engine.weights) * self.scale
        entry: dict[str, float] = {}
        if leverage is not None and (measure.loss is not None or self._counts is not None):
            losses = measure.losses(y, scores) if known else np.full(len(weights), np.inf)
            entry["loo"] = mean = float(weights @ losses) / self._total_weight
            largest = float(np.abs(losses).max()) or 1.0
            spread = (
                weights @ np.square((losses - mean) / largest) / self._total_weight if np.isfinite(mean) else np.inf
            )
            entry["loo_se"] = largest * float(np.sqrt(spread / max(self._n_units - 1.0, 1.0)))
        if measure.classes and leverage is not None:
            entry["loo_error"] = float(weights @ measure.wrong(y, scores)) / self._total_weight if known else np.inf
        if self._needs_temperature:
            size = len(fit.atoms)
            if scores.size <= FEW_SCORES or size >= 1.1 * self._temperature_of or size <= 1:
                self._last_temperature = temperature(y, scores, weights, self._last_temperature)
                self._temperature_of = size
            entry["temperature"] = self._last_temperature
        return entry

    def note_correlation(self, value: float, k: int) -> None:
        """Write the largest correlation of an atom with what the model after k steps leaves."""
        self._columns["correlation"][k] = value / self.scale

    def note_coherence(self) -> None:
        """Compute, once, how far two atoms may point the same way."""
        if self._coherence is None:
            self._coherence = mutual_coherence(self.fit.engine)

    def _least_squares(self, leverage: np.ndarray) -> dict[str, Any]:
        """What residuals and leverages say, those of the function that predicts.

        Leaving "one" out of a row of weight w takes away one unit of weight, or all of it where w < 1.
        """
        engine, square = self.fit.engine, self.scale**2
        weights = engine.weights if engine.is_weighted else None
        moved, shift = (None, None) if self._nugget is None else (self._nugget.moved(), self._nugget.shift())
        squares, dof, least, loo, spread = _native.criteria(
            self.fit.residual, leverage, weights, moved, shift, engine.n_threads
        )
        if self._counts is not None or self._limits is not None:
            least, loo, spread = self._criteria_by_rows(leverage, shift)
        error = np.sqrt(spread / max(self._n_units - 1.0, 1.0))
        known = least > INTERPOLATED
        return {
            "target_residual": squares / square,
            "dof": dof,
            "loo": loo / square if known else np.inf,
            "loo_se": error / square if known else np.inf,
            "loo_quantiles": self._quantiles_of_errors(leverage, shift) if known and self._intervals else np.inf,
        }

    def _criteria_by_rows(self, leverage: np.ndarray, shift: np.ndarray | None) -> tuple[float, float, float]:
        """What `_native.criteria` says of leave-one-out errors, with counts for weights above one, and within limits.

        A row that is far from all others has no kernel but its own: without it there is only the constant, which
        kernels that reach over all the others may have led anywhere. Predictions are not led there.
        """
        left = one_minus_leverage(leverage, self._observations)
        errors = loo_error(self.fit.residual, np.maximum(left, INTERPOLATED))
        if shift is not None:
            errors = errors + shift
        if self._limits is not None:
            targets, root = self.fit.targets, np.sqrt(self.fit.engine.weights)
            errors = targets - root * np.clip((targets - errors) / root, *self._limits)
        losses, share = np.square(errors).mean(axis=0), self.fit.sample_weights / self._total_weight
        loo = float(losses.sum()) / self._total_weight
        spread = share @ np.square(losses / self.fit.sample_weights - loo)
        return float(left.min()), loo, float(spread)

    def _quantiles_of_errors(self, leverage: np.ndarray, shift: np.ndarray | None) -> np.ndarray:
        """Quantiles of the absolute leave-one-out errors of the calibration rows, shape (n_levels, n_targets)."""
        rows = self._calibrating
        errors = loo_error(self.fit.residual[:, rows], one_minus_leverage(leverage[rows], self._observations[rows]))
        if shift is not None:
            errors = errors + shift[:, rows]
        errors = np.abs(errors) / (np.sqrt(self.fit.engine.weights[rows]) * self.scale)
        return conformal_quantiles(errors, self.fit.sample_weights[rows])

    def path(self, selector: Selector, end_reason: str = "") -> PursuitPath:
        """Return the path so far; its arrays are views while the loop runs."""
        rows = slice(0, self.fit.n_steps + 1)
        view: dict[str, Any] = {name: column[rows] for name, column in self._columns.items()}
        fit = self.fit
        absent = {
            "loo": fit.leverage is None,
            "loo_se": fit.leverage is None,
            "loo_error": fit.leverage is None or not self.measure.classes,
            "validation": self.monitor is None,
            "validation_error": self.monitor is None or not self.measure.classes,
            "temperature": not self._needs_temperature,
        }
        view.update({name: None for name, is_absent in absent.items() if is_absent})
        return PursuitPath(
            atom=np.asarray(selector.picks, dtype=np.intp),
            size=self._size[rows],
            used=fit.used,
            models=fit.models(self.scale),
            n_fixed=fit.n_fixed,
            n_targets=fit.n_targets,
            total_weight=self._total_weight,
            n_units=self._n_units,
            target_residual=self._target_residual[rows],
            column_residual=None if self._column_residual is None else self._column_residual[rows],
            coherence=self._coherence,
            loo_quantiles=self._quantiles[rows] if self._intervals else None,
            skipped=list(selector.skipped),
            swaps=list(selector.swaps),
            end_reason=end_reason,
            **self.facts,
            **view,
        )


def _widened(targets: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """The range of every target, widened by a fraction of it on either side, each of shape (n_targets, 1)."""
    least, most = targets.min(axis=1, keepdims=True), targets.max(axis=1, keepdims=True)
    return least - margin * (most - least), most + margin * (most - least)
