"""Writes the path while the loop runs: criteria of every step, at O(n) each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit.dictionary import Dictionary
from kernelpursuit.pursuit.basis import grown
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.state import PursuitState

# A leverage this close to one leaves nothing of the row for the others to say: its leave-one-out error is infinite.
INTERPOLATED = 1e-10


class Monitor:
    """Follows the error on held-out rows: the values of every direction there, by the recurrence of the basis."""

    def __init__(
        self,
        dictionary: Dictionary,
        X: Any,
        targets: np.ndarray,
        weights: np.ndarray,
        scale: float,
        n_threads: int | None = None,
    ):
        self.dictionary = dictionary
        self.rows = dictionary.rows(X)
        self.targets = targets * scale
        self.weights = weights / weights.sum()
        self.directions = np.empty((0, X.shape[0]))
        self.n_threads = n_threads
        self.prediction = np.zeros_like(self.targets)
        self.n_seen = 0

    def follow(self, state: PursuitState) -> float:
        """Add the directions that are new in `state`; return the mean squared error over rows and targets."""
        R = state.basis.R
        self.directions = grown(self.directions, state.basis.size)
        for t in range(self.n_seen, state.basis.size):
            values = self.directions[t]
            if t < state.n_fixed:
                values[:] = 1.0
            else:
                atom = np.array([state.atoms[t - state.n_fixed]])
                values[:] = self.dictionary.block(self.rows, atom, n_threads=self.n_threads)[0]
            values -= R[:t, t] @ self.directions[:t]
            values /= R[t, t]
            self.prediction += np.outer(state.b[t], values)
        self.n_seen = state.basis.size
        return float((np.square(self.targets - self.prediction) @ self.weights).mean())


class Recorder:
    """Collects the path of a running pursuit.

    `scale` is the power of two by which the targets were multiplied; everything recorded is in their own units.
    """

    def __init__(self, state: PursuitState, max_atoms: int, scale: float, monitor: Monitor | None = None):
        self.state = state
        self.scale = scale
        self.monitor = monitor
        self.n_steps = 0
        names = ("cost", "residual_norm", "dof", "loo", "loo_se", "validation")
        self._columns = {name: np.full(max_atoms + 1, np.nan) for name in names}
        self._target_residual = np.empty((max_atoms + 1, state.residual.shape[0]))
        weights = state.engine.weights
        # Leaving "one" out of a row of weight w takes away one unit of weight, or all of it where w < 1.
        self._unit = 1.0 / np.maximum(weights, 1.0)
        self._total_weight = float(weights.sum())
        self._n_units = float(np.maximum(weights, 1.0).sum())
        self._nugget = NuggetShare(state) if state.engine.nugget else None

    def record(self) -> None:
        """Write the entry of the current number of atoms."""
        k = len(self.state.atoms)
        columns, state = self._columns, self.state
        self.n_steps = k
        left = 1.0 - state.leverage * self._unit
        residual, without = self._residuals(left)
        self._target_residual[k] = np.einsum("ij,ij->i", residual, residual) / self.scale**2
        columns["cost"][k] = state.cost() / self.scale**2
        columns["residual_norm"][k] = state.residual_norm / self.scale
        columns["dof"][k] = state.leverage.sum()
        interpolated = (left <= INTERPOLATED).any()
        columns["loo"][k], columns["loo_se"][k] = (np.inf, np.inf) if interpolated else self._mean_square(without)
        if self.monitor is not None:
            columns["validation"][k] = self.monitor.follow(state) / self.scale**2

    def _residuals(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of the function that predicts, and those at rows left out, `r_i / (1 - h_i)` each."""
        residual = self.state.residual
        with np.errstate(divide="ignore", invalid="ignore"):
            without = residual / left
            if self._nugget is None:
                return residual, without
            self._nugget.follow()
            rows = self._nugget.rows
            added, added_without = self._nugget.added(left, self._unit)
            residual = residual.copy()
            residual[:, rows] += added
            without[:, rows] += added_without
        return residual, without

    def _mean_square(self, residual: np.ndarray) -> tuple[float, float]:
        """Mean over rows and targets of squared residuals (which carry the weights), and its standard error."""
        weights = self.state.engine.weights
        total = self._total_weight
        weighted = np.square(residual).mean(axis=0)
        mean = float(weighted.sum() / total)
        spread = float((np.square(weighted / weights - mean) @ weights) / total)
        error = np.sqrt(spread / max(self._n_units - 1.0, 1.0))
        return mean / self.scale**2, float(error) / self.scale**2

    def path(self, end_reason: str = "", skipped: list[tuple[int, int]] | None = None) -> PursuitPath:
        """Return the path so far; its arrays are views while the loop runs."""
        rows = slice(0, self.n_steps + 1)
        view = {name: column[rows] for name, column in self._columns.items()}
        validation = view.pop("validation")
        state = self.state
        return PursuitPath(
            atom=np.asarray(state.atoms, dtype=np.intp),
            R=state.basis.R,
            b=state.b[: state.basis.size] / self.scale,
            n_fixed=state.n_fixed,
            total_weight=self._total_weight,
            n_units=self._n_units,
            target_residual=self._target_residual[rows],
            validation=None if self.monitor is None else validation,
            skipped=list(skipped or []),
            n_floored=state.basis.n_floored,
            end_reason=end_reason,
            **view,
        )
