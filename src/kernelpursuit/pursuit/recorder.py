"""Writes the path while the loop runs: criteria of every step, at O(n) each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit.pursuit.coherence import mutual_coherence
from kernelpursuit.pursuit.criteria import (
    Criterion,
    LeastSquares,
    LeaveOneOutScores,
    Monitor,
    PlainResiduals,
    RowFacts,
)
from kernelpursuit.pursuit.criteria.squares import widened_range
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.measure import Measure
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import Entry, PursuitPath
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.reducers import LEVELS, calibration_rows
from kernelpursuit.pursuit.selection import Selector

COLUMNS = (
    *("cost", "residual_norm", "dof", "rcond", "correlation"),
    *("loo", "loo_se", "loo_error", "validation", "validation_error", "inverse_temperature"),
)
PLAIN = Measure()


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
        self.measure = measure
        self.facts = problem.facts()
        self.monitor = monitor
        self.rows = rows = RowFacts.of(fit, problem)
        nugget = NuggetShare(fit) if fit.engine.nugget else None
        has_loo = fit.leverage is not None
        self._has_quantiles = intervals and has_loo and (measure.loss is None or measure.classes)
        calibration = calibration_rows(len(rows.weights), problem.calibrates)
        self.criteria: list[Criterion] = []
        if has_loo and measure.loss is None:
            limits = None if margin is None else widened_range(problem.targets.T, margin)[:, :, None]
            of_errors = calibration if self._has_quantiles and not measure.classes else None
            self.criteria.append(LeastSquares(rows, nugget, of_errors, limits))
        else:
            self.criteria.append(PlainResiduals(rows, nugget))
        if measure.classes or measure.loss is not None:
            targets = problem.targets / problem.scale
            self.criteria.append(LeaveOneOutScores(rows, targets, measure, nugget, calibration=calibration))
        if monitor is not None:
            self.criteria.append(monitor)
        self._columns = {name: np.full(max_steps + 1, np.nan) for name in COLUMNS}
        self._size = np.zeros(max_steps + 1, dtype=np.intp)
        self._target_residual = np.empty((max_steps + 1, fit.n_targets))
        self._column_residual = None if nugget is None else np.empty_like(self._target_residual)
        self._coherence: float | None = None
        n_quantiles = 1 if measure.classes else fit.n_targets
        self._quantiles = np.full((max_steps + 1, len(LEVELS), n_quantiles), np.nan)

    def record(self) -> None:
        """Write the entry of the current number of steps."""
        fit, k = self.fit, self.fit.n_steps
        self._size[k] = len(fit.atoms)
        arrays = {**self._columns, "target_residual": self._target_residual, "loo_quantiles": self._quantiles}
        for name, value in self.entry().items():
            arrays[name][k] = value
        if self._column_residual is not None:
            self._column_residual[k] = np.einsum("ij,ij->i", fit.residual, fit.residual) / self.scale**2

    def entry(self) -> Entry:
        """All that is recorded of the fit as it is."""
        fit, scale = self.fit, self.scale
        entry: Entry = {"cost": fit.cost() / scale**2, "residual_norm": fit.misfit() / scale, "rcond": fit.rcond}
        for criterion in self.criteria:
            entry.update(criterion.entry(fit))
        return entry

    def note_correlation(self, value: float, k: int) -> None:
        """Write the largest correlation of an atom with what the model after k steps leaves."""
        self._columns["correlation"][k] = value / self.scale

    def note_coherence(self) -> None:
        """Compute, once, how far two atoms may point the same way."""
        if self._coherence is None:
            self._coherence = mutual_coherence(self.fit.engine)

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
            "inverse_temperature": not self.measure.needs_inverse_temperature,
        }
        view.update({name: None for name, is_absent in absent.items() if is_absent})
        return PursuitPath(
            atom=np.asarray(selector.picks, dtype=np.intp),
            size=self._size[rows],
            used=fit.used,
            models=fit.models(self.scale),
            n_fixed=fit.n_fixed,
            n_targets=fit.n_targets,
            total_weight=self.rows.total_weight,
            n_units=self.rows.n_units,
            target_residual=self._target_residual[rows],
            column_residual=None if self._column_residual is None else self._column_residual[rows],
            coherence=self._coherence,
            loo_quantiles=self._quantiles[rows] if self._has_quantiles else None,
            skipped=list(selector.skipped),
            swaps=list(selector.swaps),
            end_reason=end_reason,
            **self.facts,
            **view,
        )
