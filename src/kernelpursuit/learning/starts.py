"""Scales to start from: a grid of common widths, and for each feature the rate at which what is left still varies.

L-BFGS finds a minimum near its start. A start that is much too wide sees nothing of a fast wave, and one that is much
too narrow nothing at all; so several are compared first, by the leave-one-out error of kernel ridge regression with an
atom at every row of a small sample. With `A = K + alpha W⁻¹` it is `(A⁻¹ t)_i / (A⁻¹)_ii` for row i, in closed form.

One common width is not enough where one feature of ten is fast. How fast is read off the periodogram of the
leave-one-out errors along each feature: under pure noise its values are exponential, so that a peak is told from chance
by a threshold, and a peak at angular frequency w asks for a scale of about w / 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from kernelpursuit import _native
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Task
from kernelpursuit.learning.constants import (
    FALSE_PEAK_PROBABILITY,
    FAST_FEATURE_FACTOR,
    FAST_START_FROM,
    FREQUENCY_FRACTIONS,
    MAX_EXPLAINED_START_ERROR,
    MAX_FAST_FEATURE_TRIALS,
    MAX_FAST_START_ERROR,
    MAX_PERIODS,
    MAX_START_ROWS,
    MAX_TOTAL_PERIODS,
    MIN_FREQUENCY_RATIO,
    MIN_PERIODS,
    MIN_START_GAIN,
    MIN_START_ROWS,
    N_FREQUENCY_ROUNDS,
    OTHER_KERNEL_SCALE_FACTORS,
    PEAK_POWER_FRACTION,
    SCALE_LIMITS,
    START_PENALTIES,
    START_SCALE_FACTORS,
)
from kernelpursuit.learning.leave_one_out import MIN_ONE_MINUS_LEVERAGE, Losses, inverse_of_square
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.rivals import is_worth_its_atoms, losses_without_atoms
from kernelpursuit.learning.sample import Rows, without_wild_values


@dataclass(frozen=True)
class Start:
    """Scales to start from, with a straight line beside the kernel or without, and what a sample says of them.

    losses  leave-one-out losses of the sample
    errors  its leave-one-out errors, shape (n_targets, n_rows)
    dof     effective degrees of freedom of the kernel's part
    """

    model: Model
    trend: bool
    losses: Losses
    errors: np.ndarray
    dof: float


@dataclass(frozen=True)
class Starts:
    """Where to start from: `fast` where some features ask for scales of their own; rounds of learning decide."""

    first: Model
    common: Start
    fast: Start | None

    @property
    def models(self) -> list[Model]:
        """The models to start from."""
        return [self.common.model] if self.fast is None else [self.fast.model, self.common.model]

    def at(self, model: Model) -> Starts:
        """The start from a model that was found."""
        return replace(self, common=replace(self.common, model=model), fast=None)

    @property
    def n_features(self) -> int:
        """How many features vary."""
        return int((self.first.scales > 0).sum())

    @property
    def trend(self) -> bool:
        """Whether a straight line is of use."""
        return self._best.trend

    @property
    def dof(self) -> float:
        """The degrees of freedom of the sample's fit, where it varies faster than the first model; else 0."""
        return self._best.dof if (self._best.model.scales > self.first.scales).any() else 0.0

    @property
    def _best(self) -> Start:
        return self.common if self.fast is None or self.common.losses.mean < self.fast.losses.mean else self.fast


def choose_starts(kernel: Kernel, first: Model, rows: Rows, task: Task, *, may_add_trend: bool) -> Starts:
    """The first model, or others where those are clearly better by the leave-one-out error of a sample.

    Labels are taken for numbers here: their codes have the closed form, and are as hard to predict.
    """
    search = _Search(kernel, first, _sample(rows), task=task, may_add_trend=may_add_trend)
    common = search.start(first.scales)
    for factor in START_SCALE_FACTORS[1:]:
        common = search.better(common, first.scales * factor)
    fast, best = None, common
    for _ in range(N_FREQUENCY_ROUNDS):
        tried = [search.start(scales) for scales in search.with_fast_features(best)]
        least = min(tried, key=lambda start: start.losses.mean, default=None)
        if least is None or least.losses.mean > MAX_FAST_START_ERROR * best.losses.mean:
            break
        fast = least if fast is None or least.losses.mean < fast.losses.mean else fast
        if fast.losses.mean >= best.losses.mean:
            break
        best = fast
    explains_little = common.losses.mean > MAX_EXPLAINED_START_ERROR * search.constant_error
    if fast is None and explains_little and len(rows) >= FAST_START_FROM:
        fast = min(map(search.start, search.with_one_fast_feature()), key=lambda one: one.losses.mean, default=None)
    return Starts(first, common, fast)


def start_of_another(kernel: Kernel, found: Model, rival: Kernel, rows: Rows, task: Task) -> Model | None:
    """The scales from which another kernel may be better than the one that scales were found for; None where not."""
    sample = _sample(rows)
    least = _Search(kernel, found, sample, task=task, may_add_trend=False).start(found.scales)
    search = _Search(rival, found, sample, task=task, may_add_trend=False)
    best = min(
        (search.start(found.scales * factor) for factor in OTHER_KERNEL_SCALE_FACTORS),
        key=lambda start: start.losses.mean,
    )
    return best.model if best.losses.mean < least.losses.mean else None


def common_width_is_better(kernel: Kernel, starts: Starts, found: Model, rows: Rows, task: Task) -> bool:
    """Whether the best common width is clearly better than scales that were learned."""
    learned = _Search(kernel, found, _sample(rows), task=task, may_add_trend=False).start(found.scales)
    return starts.common.trend == learned.trend and starts.common.losses.are_clearly_below(
        learned.losses, MIN_START_GAIN
    )


def show_something(starts: Starts, rows: Rows, task: Task) -> bool:
    """Whether the best common width, of which little was tuned, is better than a constant by more than chance."""
    sample = _sample(rows)
    constant = replace(task.under(None), trend=False)
    least = losses_without_atoms(replace(sample, y=without_wild_values(sample.y)), np.ones(len(sample)), constant)
    return is_worth_its_atoms(starts.common.losses, least)


def _sample(rows: Rows) -> Rows:
    return rows.take(slice(min(max(len(rows) // 2, MIN_START_ROWS), MAX_START_ROWS)))


class _Search:
    """Compares starts on a sample of rows."""

    def __init__(self, kernel: Kernel, first: Model, rows: Rows, task: Task, may_add_trend: bool):
        self.kernel, self.model, self.rows, self.task = kernel, first, rows, task
        self.shares = rows.weights / rows.weights.sum()
        self.noise = rows.weights.mean() / rows.weights
        self.y = without_wild_values(rows.y)
        choices = (False, True) if may_add_trend else (bool(task.trend),)
        self.fixed = {trend: replace(task, trend=trend).fixed(rows.Z) for trend in choices}

    def start(self, scales: np.ndarray) -> Start:
        """These scales, with the better penalty, and with a line where that is clearly better."""
        return self._least(list(self._tried(scales)))

    def better(self, start: Start, scales: np.ndarray) -> Start:
        """A start, or one of these scales, where that is clearly better."""
        other = self.start(scales)
        return other if other.losses.are_clearly_below(start.losses, MIN_START_GAIN) else start

    @property
    def constant_error(self) -> float:
        """The mean square of the targets around their means."""
        centred = self.y - (self.y @ self.shares)[:, None]
        return float(np.square(centred).mean(axis=0) @ self.shares)

    def with_one_fast_feature(self) -> Iterator[np.ndarray]:
        """Scales in which one feature is fast: a product with something of mean zero shows in no periodogram."""
        features = np.flatnonzero(self.model.scales > 0)
        for feature in features if 1 < len(features) <= MAX_FAST_FEATURE_TRIALS else ():
            for others in (self.model.scales, self.model.scales / 3):
                scales = others.copy()
                scales[feature] = FAST_FEATURE_FACTOR * self.model.scales[feature]
                yield scales

    def _least(self, starts: list[Start]) -> Start:
        """The best of starts; the first of those with a line has to be clearly better than the best without."""
        least = starts[0]
        for start in starts[1:]:
            if start.trend and not least.trend:
                is_better = start.losses.are_clearly_below(least.losses, MIN_START_GAIN)
            else:
                is_better = start.losses.mean < least.losses.mean
            least = start if is_better else least
        return least

    def _tried(self, scales: np.ndarray) -> Iterator[Start]:
        """What scales come to, with each of the penalties, without a line and with it."""
        scaled = self.rows.Z * np.clip(scales, 0.0, SCALE_LIMITS[1])
        K = _native.block(self.kernel.spec, scaled, scaled, n_threads=self.task.n_threads)
        inverses = [_inverse_with(K, alpha * self.noise) for alpha in START_PENALTIES]
        for trend, fixed in self.fixed.items():
            for alpha, inverse in zip(START_PENALTIES, inverses):
                yield self._start(replace(self.model, scales=scales), trend, fixed, alpha=alpha, inverse=inverse)

    def _start(self, model: Model, trend: bool, fixed: np.ndarray, alpha: float, inverse: np.ndarray | None) -> Start:
        """What a fit comes to: with P = A⁻¹ less what is fixed, in its metric, the error of row i is (P y)_i / P_ii."""
        y = self.y
        if inverse is None:
            return Start(model, trend, Losses(np.full(len(self.rows), np.inf), self.shares), errors=y, dof=0.0)
        dof = float(len(self.rows) - alpha * self.noise @ inverse.diagonal())
        left, diagonal = y @ inverse, inverse.diagonal()
        if len(fixed):
            along = fixed @ inverse
            solved = np.linalg.lstsq(along @ fixed.T, along, rcond=1e-10)[0]
            left = left - (y @ along.T) @ solved
            diagonal = diagonal - np.einsum("ij,ij->j", along, solved)
        # A row that the line alone can follow has an error without bound.
        errors = left / np.maximum(diagonal, MIN_ONE_MINUS_LEVERAGE * inverse.diagonal())
        return Start(model, trend, Losses(np.square(errors).mean(axis=0), self.shares), errors=errors, dof=dof)

    def with_fast_features(self, start: Start) -> Iterator[np.ndarray]:
        """Scales in which the features along which the errors still vary are as fast as that."""
        frequency = fast_frequencies(self.rows.Z, start.errors * self.rows.weights, used=self.model.scales > 0)
        for fraction in FREQUENCY_FRACTIONS if frequency.any() else ():
            wanted = fraction * frequency
            fast = wanted > MIN_FREQUENCY_RATIO * start.model.scales
            if fast.any():
                for others in (start.model.scales, self.model.scales, self.model.scales / 3):
                    yield np.where(fast, wanted, others)


def _inverse_with(K: np.ndarray, diagonal: np.ndarray) -> np.ndarray | None:
    """The inverse of K with this on its diagonal; None where that is singular."""
    A = K.copy()
    A[np.diag_indices_from(A)] += diagonal
    try:
        return inverse_of_square(cholesky(A, overwrite_a=True, check_finite=False))
    except LinAlgError:
        return None


def fast_frequencies(Z: np.ndarray, errors: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The angular frequency at which errors, shape (n_targets, n_rows), vary along each feature; 0 where they do not.

    The periodogram `|sum_i r_i exp(-i w z_i)|² / sum_i r_i²` is taken along one feature at a time.
    """
    found = np.zeros(Z.shape[1])
    energy = np.square(errors).sum(axis=1)
    errors = errors[energy > 0] / np.sqrt(energy[energy > 0])[:, None]
    features = np.flatnonzero(used)
    if not len(features) or not len(errors):
        return found
    limit = max(MIN_PERIODS, min(MAX_PERIODS, MAX_TOTAL_PERIODS // len(features)))
    ranges = np.subtract(*np.quantile(Z, [0.95, 0.05], axis=0)) / 0.9
    threshold = np.log(2 * limit * len(features) * len(errors) / FALSE_PEAK_PROBABILITY)
    for feature in features[ranges[features] > 0]:
        # Beyond half the number of its values, a frequency looks like a lower one.
        n_periods = min(limit, len(np.unique(Z[:, feature])) // 2)
        frequencies = np.pi / ranges[feature] * np.arange(1, 2 * n_periods + 1)
        phases = np.outer(Z[:, feature], frequencies)
        power = np.square(errors @ np.cos(phases)) + np.square(errors @ np.sin(phases))
        largest = power.max(axis=0, initial=0.0)
        if largest.max(initial=0.0) > threshold:
            found[feature] = frequencies[np.flatnonzero(largest >= PEAK_POWER_FRACTION * largest.max())[0]]
    return found
