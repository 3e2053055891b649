"""Writes the path while the loop runs: criteria of every step, at O(n) each."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from kernelpursuit import _native
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.pursuit.basis import grown
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.selection import Selector

# A leverage this close to one leaves nothing of the row for the others to say: its leave-one-out error is infinite.
INTERPOLATED = 1e-10


class Monitor:
    """Follows the error on held-out rows, where it keeps the values of every atom that was picked."""

    def __init__(
        self,
        dictionary: Dictionary,
        X: Any,
        targets: np.ndarray,
        weights: np.ndarray,
        scale: float,
        limits: np.ndarray | None = None,
        n_threads: int | None = None,
    ):
        self.dictionary = dictionary
        self.rows = dictionary.rows(X)
        self.targets = targets * scale
        self.weights = weights / weights.sum()
        self.limits = None if limits is None else (limits * scale)[:, None]
        self.values = np.empty((0, X.shape[0]))
        self.n_seen = 0
        self.n_threads = n_threads

    def again(self) -> Monitor:
        """Return one for another fit, on the same rows."""
        fresh = copy.copy(self)
        fresh.values, fresh.n_seen = self.values[:0], 0
        return fresh

    def follow(self, fit: Fit) -> float:
        """Return the mean squared error over rows and targets of the fit as it is."""
        used = fit.used
        self.values = grown(self.values, len(used))
        if len(used) > self.n_seen:
            new = self.dictionary.block(self.rows, used[self.n_seen :], n_threads=self.n_threads)
            self.values[self.n_seen : len(used)] = new
            self.n_seen = len(used)
        weights = fit.weights()
        places = [fit.places[atom] for atom in fit.atoms]
        # The fixed columns are the intercept: one everywhere.
        prediction = weights[: fit.n_fixed].sum(axis=0)[:, None] + weights[fit.n_fixed :].T @ self.values[places]
        if self.limits is not None:
            prediction = np.clip(prediction, -self.limits, self.limits)
        return float((np.square(self.targets - prediction) @ self.weights).mean())


class Recorder:
    """Collects the path of a running pursuit.

    Parameters
    ----------
    fit : Fit
        The fit that is followed.
    max_steps : int
        Most steps that will be recorded.
    scale : float
        The power of two by which the targets were multiplied; everything recorded is in their own units.
    facts : dict
        What the path knows of the problem as a whole: `n_candidates`, `n_features` and `largest_target`.
    monitor : Monitor, optional
        Who follows the error on held-out rows.
    """

    def __init__(self, fit: Fit, max_steps: int, scale: float, facts: dict[str, Any], monitor: Monitor | None = None):
        self.fit = fit
        self.scale = scale
        self.facts = facts
        self.monitor = monitor
        names = ("cost", "residual_norm", "dof", "loo", "loo_se", "validation", "rcond", "correlation")
        self._columns = {name: np.full(max_steps + 1, np.nan) for name in names}
        self._size = np.zeros(max_steps + 1, dtype=np.intp)
        self._target_residual = np.empty((max_steps + 1, fit.n_targets))
        weights = fit.engine.weights
        self._total_weight = float(weights.sum())
        self._n_units = float(np.maximum(weights, 1.0).sum())
        self._nugget = NuggetShare(fit) if fit.engine.nugget else None

    def record(self) -> None:
        """Write the entry of the current number of steps."""
        fit, k = self.fit, self.fit.n_steps
        self._size[k] = len(fit.atoms)
        for name, value in self.entry().items():
            (self._target_residual if name == "target_residual" else self._columns[name])[k] = value

    def entry(self) -> dict[str, Any]:
        """All that is recorded of the fit as it is."""
        fit, square = self.fit, self.scale**2
        entry: dict[str, Any] = {
            "cost": fit.cost() / square,
            "residual_norm": fit.residual_norm / self.scale,
            "rcond": fit.rcond,
        }
        if fit.leverage is None:
            residual = fit.residual if self._nugget is None else fit.residual + self._nugget.moved()
            entry["dof"] = fit.n_fixed + len(fit.atoms)
            entry["target_residual"] = np.einsum("ij,ij->i", residual, residual) / square
        else:
            entry.update(self._least_squares(fit.leverage))
        if self.monitor is not None:
            entry["validation"] = self.monitor.follow(fit) / square
        return entry

    def note_correlation(self, value: float, k: int) -> None:
        """Write the largest correlation of an atom with what the model after k steps leaves."""
        self._columns["correlation"][k] = value / self.scale

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
        error = np.sqrt(spread / max(self._n_units - 1.0, 1.0))
        known = least > INTERPOLATED
        return {
            "target_residual": squares / square,
            "dof": dof,
            "loo": loo / square if known else np.inf,
            "loo_se": error / square if known else np.inf,
        }

    def path(self, selector: Selector, end_reason: str = "") -> PursuitPath:
        """Return the path so far; its arrays are views while the loop runs."""
        rows = slice(0, self.fit.n_steps + 1)
        view: dict[str, Any] = {name: column[rows] for name, column in self._columns.items()}
        fit = self.fit
        if fit.leverage is None:
            view["loo"] = view["loo_se"] = None
        if self.monitor is None:
            view["validation"] = None
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
            skipped=list(selector.skipped),
            swaps=list(selector.swaps),
            end_reason=end_reason,
            **self.facts,
            **view,
        )
