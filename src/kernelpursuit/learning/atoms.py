"""Atoms for a model, picked by the one greedy loop on a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Always, Dictionary, KernelAtoms, LinearTrend
from kernelpursuit.dictionary.trend import independent
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.constants import (
    ALPHA_LIMITS,
    MIN_VARYING_ROWS,
    N_REWEIGHTING_ROUNDS,
    TREND_PENALTY,
)
from kernelpursuit.learning.leave_one_out import Observed, Target
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.sample import Rows
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import LoopSpec, PursuitPath, TrainingRows, Watch, resolve_threads, run_pursuit
from kernelpursuit.stopping import Loo, Max, StoppingRule

# A row with less than this for 1 - h beside a line is alone along some feature; the least 1 - h that leave-one-out
# errors tell from 0 (`leave_one_out.MIN_ONE_MINUS_LEVERAGE`).
SOLE_ROW_TOLERANCE = 1e-6
# Scale of a feature that kernels do not see, and a line does: squares of differences of up to ten spreads are below
# eps, and no kernel value changes.
NEGLIGIBLE_SCALE = 1e-9
# The rule that keeps every atom.
KEEP_ALL = Max()


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

    def fired(self, path: PursuitPath) -> bool:
        """Whether there are enough, and the error of the sample falls no more."""
        return super().fired(path) and path.n_steps >= self._wanted(path)

    def choose(self, path: PursuitPath) -> int:
        """As many more than the sample would keep as the rows are more."""
        return min(path.n_steps, self._wanted(path))

    def _wanted(self, path: PursuitPath) -> int:
        return max(1, int(np.ceil(super().choose(path) * self.times_the_rows ** (1 / 3))))


@dataclass(frozen=True)
class Task:
    """What is learned, beside rows: what loops on samples of them are told, and what of models is given.

    base   the loop that those on samples differ from in their atoms and penalty alone
    alpha  the strength of the penalty, where it is given; else None
    trend  whether every model has a straight line in it, unpenalised; None leaves it to the rows
    line   features that it goes along
    watch  told of every stage, and may ask to end it
    """

    base: LoopSpec
    alpha: float | None = None
    trend: bool | None = False
    line: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    watch: Watch = field(default_factory=Watch)

    @property
    def loss(self) -> Loss | None:
        """The loss; None for the squared one."""
        return self.base.loss

    @property
    def classes(self) -> bool:
        """Whether targets are codes of classes."""
        return self.base.classes

    @property
    def intercept(self) -> bool:
        """Whether every model has a constant."""
        return self.base.fit_intercept

    @property
    def seed(self) -> int:
        """That of all that is drawn."""
        return self.base.seed

    def fixed(self, Z: Matrix) -> np.ndarray:
        """Values of what every model has, shape (n_fixed, n_rows): the constant, then the line."""
        ones = np.ones((int(self.intercept), Z.shape[0]))
        return np.vstack([ones, Z[:, self.line].T]) if self.trend else ones

    @property
    def n_threads(self) -> int:
        """Threads of the native core, and of large products."""
        return resolve_threads(self.base.n_jobs)

    def under(self, loss: Loss | None) -> Task:
        """The same under another loss."""
        return replace(self, base=replace(self.base, loss=loss))

    def loop(self, dictionary: Dictionary, max_atoms: int, alpha: float) -> LoopSpec:
        """What a loop over a sample is told; nobody asks how many of its rows are in a wrong class."""
        return replace(self.base, dictionary=dictionary, max_atoms=max_atoms, alpha=alpha, classes=False)


@dataclass(frozen=True)
class Picked:
    """A model with the atoms that were picked, the rows they are centred at, and weights (of what is fixed first)."""

    model: Model
    rows: np.ndarray
    weights: np.ndarray

    def scores(self, kernel: Kernel, Z: np.ndarray, task: Task) -> np.ndarray:
        """Scores of rows, shape (n_targets, n_rows)."""
        n_fixed = len(self.weights) - len(self.rows)
        scores = self.weights[n_fixed:].T @ self.model.values(kernel.spec, Z, task.n_threads)
        return scores + self.weights[:n_fixed].T @ task.fixed(Z)

    def first(self, n_atoms: int) -> Picked:
        """The atoms that were picked first; under the squared loss, whose weights nobody asks for."""
        model = replace(
            self.model, centers=self.model.centers[:n_atoms], width_factors=self.model.width_factors[:n_atoms]
        )
        n_fixed = len(self.weights) - len(self.rows)
        return replace(self, model=model, rows=self.rows[:n_atoms], weights=self.weights[: n_fixed + n_atoms])

    def moved(self, kernel: Kernel, model: Model, rows: Rows, task: Task) -> Picked:
        """The same atoms moved, and under another loss than the squared one, with weights that fit them.

        The squared loss does not ask for the weights.
        """
        if task.loss is None:
            return replace(self, model=model)
        values = model.values(kernel.spec, rows.Z, task.n_threads)
        weights = reweighted(values, self.scores(kernel, rows.Z, task), rows, task, alpha=model.alpha)
        return replace(self, model=model, weights=weights)

    def target(self, kernel: Kernel, rows: Rows, is_validation: np.ndarray, task: Task) -> Target:
        """What rows say, around the scores that this model gives them.

        Copies of a row are one row here, and go together when it is left out: one that stayed would tell of the other.
        """
        scores = np.zeros_like(rows.y) if task.loss is None else self.scores(kernel, rows.Z, task)
        return target_around(scores, rows, is_validation, task)


def reweighted(values: np.ndarray, scores: np.ndarray, rows: Rows, task: Task, alpha: float) -> np.ndarray:
    """Weights of what is fixed and of atoms of these values that fit a loss, by iterated weighted least squares."""
    fixed = task.fixed(rows.Z)
    columns = np.vstack([fixed, values])
    penalties = np.full(len(columns), max(alpha, ALPHA_LIMITS[0]))
    # The constant is free; a line that tells classes apart without error would run away.
    penalties[: len(fixed)] = TREND_PENALTY * rows.weights.sum()
    penalties[: int(task.intercept)] = 0.0
    weights = np.zeros((len(columns), len(rows.y)))
    for _ in range(N_REWEIGHTING_ROUNDS):
        target = target_around(scores, rows, np.ones(len(rows)), task)
        weighted = columns * target.working_weights
        weights = np.linalg.solve(weighted @ columns.T + np.diag(penalties), weighted @ target.response.T)
        scores = weights.T @ columns
    return weights


def fitted_scores(values: np.ndarray, rows: Rows, task: Task, alpha: float) -> np.ndarray:
    """Scores of rows by atoms of these values, whose weights fit the loss; the squared loss does not ask for them."""
    scores = np.zeros_like(rows.y)
    if task.loss is None:
        return scores
    return reweighted(values, scores, rows, task, alpha=alpha).T @ np.vstack([task.fixed(rows.Z), values])


def target_around(scores: np.ndarray, rows: Rows, is_validation: np.ndarray, task: Task) -> Target:
    """What rows say around scores; each goes as a whole when it is left out, or one of several that it stands for."""
    trend = rows.Z[:, task.line].T if task.trend else None
    observed = Observed(
        y=rows.y,
        weights=rows.weights,
        loss=task.loss,
        validation_weights=is_validation,
        intercept=task.intercept,
        counts=rows.units,
        trend=trend,
    )
    return Target(observed, scores)


@dataclass(frozen=True)
class PickSpec:
    """What atoms are picked from, and how many.

    max_atoms      the largest number of atoms
    n_candidates   atoms may be at so many rows, the first
    width_factors  of gamma; a candidate in each of them is at every such row
    rule           how many of the picked atoms are kept
    """

    max_atoms: int
    n_candidates: int
    width_factors: Sequence[float] = (1.0,)
    rule: StoppingRule = field(default_factory=Max)


def pick(kernel: Kernel, model: Model, rows: Rows, task: Task, spec: PickSpec) -> Picked:
    """Pick atoms by their gain on all of the rows; scales and penalty are the model's."""
    n, factors = min(spec.n_candidates, len(rows)), spec.width_factors
    scales = model.scales
    if task.trend:
        # The line sees features that the kernel does not: they stay, so small that no kernel value changes.
        scales = np.where(scales > 0, scales, NEGLIGIBLE_SCALE)
    scaled, unit = rows.Z * scales, kernel.with_gamma(1.0)
    parts: list[Dictionary] = [KernelAtoms(unit, scaled[:n], factors=np.full(n, factor)) for factor in factors]
    if task.trend:
        line = _without_lone_rows(rows.Z, task.line[independent(rows.Z[:, task.line])])
        spread = np.zeros_like(scales)
        spread[line] = scales[line]
        parts.append(Always(LinearTrend(np.zeros_like(scales), spread)))
    loop = task.loop(sum(parts[1:], start=parts[0]), spec.max_atoms, model.alpha)
    weights = None if (rows.weights == 1).all() else rows.weights
    counts = None if weights is None else rows.units
    y = np.ascontiguousarray(rows.y.T)
    sample = TrainingRows(scaled, y, weights, counts)
    found = run_pursuit(sample, replace(loop, rule=spec.rule), callback=task.watch)
    path, k = found.path, found.n_kept
    atoms = path.atoms(k)
    places = atoms % n
    picked = replace(model, centers=rows.Z[places], width_factors=np.asarray(factors, dtype=np.float64)[atoms // n])
    fitted = path.weights(k)
    if task.trend:
        # Features that are sums of others on these rows have no weight.
        has_weight = np.append(np.ones(int(task.intercept), dtype=bool), np.isin(task.line, line))
        fixed = np.zeros((len(has_weight), fitted.shape[1]))
        fixed[has_weight] = fitted[: path.n_fixed]
        fitted = np.vstack([fixed, fitted[path.n_fixed :]])
    return Picked(picked, places, fitted)


def _without_lone_rows(Z: np.ndarray, line: np.ndarray) -> np.ndarray:
    """The features of a line without those along which one row of a sample is alone: nothing would be left of it.

    The leave-one-out error of such a row is infinite, whatever atoms there are, and so tells none of them apart.
    """
    while len(line):
        Q = np.linalg.qr(np.column_stack([np.ones(len(Z)), Z[:, line]]))[0]
        leverage = np.einsum("ij,ij->i", Q, Q)
        row = int(np.argmax(leverage))
        if leverage[row] < 1 - SOLE_ROW_TOLERANCE:
            break
        line = np.delete(line, np.argmax(np.abs(Z[row, line])))
    return line


def features_of_a_line(Z: np.ndarray) -> np.ndarray:
    """Features that a line may go along: no sums of others, and varying in more than a few rows."""
    n_away = (np.median(Z, axis=0) != Z).sum(axis=0)
    features = np.flatnonzero(n_away >= min(MIN_VARYING_ROWS, len(Z) / 2))
    return features[independent(Z[:, features])]
