"""Atoms for a model, picked by the one greedy loop on a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelpursuit.dictionary import Dictionary, KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.leave_one_out import Target
from kernelpursuit.learning.model import ALPHAS, Model
from kernelpursuit.learning.sample import Rows
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Settings, Watch, resolve_threads, run_pursuit
from kernelpursuit.stopping import Loo, Max, StoppingRule

# Rounds of reweighting after atoms have moved.
REWEIGHTED = 5
# The rule that keeps every atom.
ALL = Max()


@dataclass(repr=False)
class EnoughFor(Loo):
    """Keep so many atoms as more rows than the path has seen may ask for.

    The leave-one-out error of a sample is least where what one more atom explains is no more than the noise it lets
    in. The noise of n rows in place of a sample is less by their ratio. Where what is left to explain falls as 1 / k²,
    the least of the sum is at a k that grows with the third root of it.

    Parameters
    ----------
    times_the_rows : how many samples there are in all rows
    """

    times_the_rows: float = 1.0

    def fired(self, path: Any) -> bool:
        """Whether there are enough, and the error of the sample falls no more."""
        return super().fired(path) and path.n_steps >= self._wanted(path)

    def choose(self, path: Any) -> int:
        """As many more than the sample would keep as the rows are more."""
        return min(path.n_steps, self._wanted(path))

    def _wanted(self, path: Any) -> int:
        return max(1, int(np.ceil(super().choose(path) * self.times_the_rows ** (1 / 3))))


@dataclass(frozen=True)
class Task:
    """What is learned, beside rows: the loss (None for the squared one), a penalty that is given, and how to run.

    `watch` is told of every stage, and may ask to end it.
    """

    loss: Loss | None
    classes: bool
    intercept: bool
    seed: int
    n_jobs: int | None
    memory_budget: int | None
    alpha: float | None = None
    watch: Watch = field(default_factory=Watch)

    @property
    def n_threads(self) -> int:
        """Threads of the native core, and of large products."""
        return resolve_threads(self.n_jobs)


@dataclass(frozen=True)
class Picked:
    """A model with the atoms that were picked, the rows they are centred at, and weights (the constant first)."""

    model: Model
    rows: np.ndarray
    weights: np.ndarray

    def scores(self, kernel: Kernel, Z: np.ndarray, task: Task) -> np.ndarray:
        """Scores of rows, shape (n_targets, n_rows)."""
        n_fixed = len(self.weights) - len(self.rows)
        scores = self.weights[n_fixed:].T @ self.model.values(kernel.spec, Z, task.n_threads)
        return scores + self.weights[:n_fixed].sum(axis=0)[:, None]

    def moved(self, kernel: Kernel, model: Model, rows: Rows, task: Task) -> Picked:
        """The same atoms moved, and under another loss than the squared one, with weights that fit them.

        The weights are found by iterated weighted least squares; the squared loss does not ask for them.
        """
        if task.loss is None:
            return replace(self, model=model)
        values, n_fixed = model.values(kernel.spec, rows.Z, task.n_threads), int(task.intercept)
        columns = np.vstack([np.ones((n_fixed, len(rows))), values])
        penalties = np.full(len(columns), max(model.alpha, ALPHAS[0]))
        penalties[:n_fixed] = 0.0
        scores, weights = self.scores(kernel, rows.Z, task), self.weights
        for _ in range(REWEIGHTED):
            target = Target.around(scores, rows.y, rows.weights, task.loss, np.ones(len(rows)), task.intercept)
            weighted = columns * target.metric
            weights = np.linalg.solve(weighted @ columns.T + np.diag(penalties), weighted @ target.response.T)
            scores = weights.T @ columns
        return replace(self, model=model, weights=weights)

    def target(self, kernel: Kernel, rows: Rows, judged: np.ndarray, task: Task) -> Target:
        """What rows say, around the scores that this model gives them.

        Copies of a row are one row here, and go together when it is left out: one that stayed would tell of the other.
        """
        scores = np.zeros_like(rows.y) if task.loss is None else self.scores(kernel, rows.Z, task)
        return Target.around(scores, rows.y, rows.weights, task.loss, judged, task.intercept, np.ones(len(rows)))


def pick(
    kernel: Kernel,
    model: Model,
    rows: Rows,
    task: Task,
    *,
    max_atoms: int,
    n_candidates: int,
    factors: Sequence[float] = (1.0,),
    rule: StoppingRule = ALL,
) -> Picked:
    """Pick atoms at the first `n_candidates` rows, in each of the widths, by their gain on all of the rows.

    Scales and penalty are the model's.
    """
    n = min(n_candidates, len(rows))
    centers, unit = rows.Z[:n] * model.scales, kernel.with_gamma(1.0)
    parts: list[Dictionary] = [KernelAtoms(unit, centers, factors=np.full(n, factor)) for factor in factors]
    settings = Settings(
        dictionary=sum(parts[1:], start=parts[0]),
        max_atoms=max_atoms,
        seed=task.seed,
        alpha=model.alpha,
        fit_intercept=task.intercept,
        memory_budget=task.memory_budget,
        n_jobs=task.n_jobs,
        loss=task.loss,
        classes=task.classes,
        intervals=False,
    )
    weights = None if (rows.weights == 1).all() else rows.weights
    counts = None if weights is None else np.ones(len(rows))
    Z, y = rows.Z * model.scales, np.ascontiguousarray(rows.y.T)
    found = run_pursuit(Z, y, settings, rule, weights, counts=counts, callback=task.watch)
    path, k = found.path, found.n_kept
    atoms = path.atoms(k)
    places = atoms % n
    picked = replace(model, centers=rows.Z[places], factors=np.asarray(factors, dtype=np.float64)[atoms // n])
    return Picked(picked, places, path.weights(k))
