"""Kernel, scales and noise of a Gaussian process with an atom at every row, learned by its evidence.

This is for rows so few that a matrix with a row and a column for each of them, or of a thousand of them, can be
inverted some dozen times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Task, target_around
from kernelpursuit.learning.constants import (
    ALPHA_LIMITS,
    COMMON_SCALE_FACTORS,
    COMMON_SCALE_FEATURES_A_ROW,
    COMMON_SCALE_NOISES,
    CORRECTION_STANDARD_ERRORS,
    EVIDENCE_GAIN_A_PARAMETER,
    EVIDENCE_GAIN_OF_STARTS,
    FAST_FEATURE_FACTOR,
    FAST_FEATURE_ROWS,
    FAST_FEATURE_STEPS,
    FINER_COMMON_SCALE_FACTORS,
    FINER_SCALE_FACTORS,
    FIRST_ALPHA,
    KERNELS_TIME_FRACTION,
    MAX_FAST_FEATURE_TRIALS,
    MIN_CORRECTION_GAIN,
    MIN_EVIDENCE_GAIN,
    MIN_KERNEL_EVIDENCE_GAIN,
    PRIOR_SPREAD_OF_LABELS,
    SCALE_AND_NOISE_FACTORS,
    SCALE_LIMITS,
    TIED_NOISE_FACTORS,
    TIED_SCALE_FACTORS,
)
from kernelpursuit.learning.evidence import Evidence
from kernelpursuit.learning.leave_one_out import Losses
from kernelpursuit.learning.model import MinimiseSpec, Model, minimise
from kernelpursuit.learning.plan import EvidencePlan
from kernelpursuit.learning.rivals import losses_of_a_line, losses_without_atoms, predicts_better
from kernelpursuit.learning.sample import Rows
from kernelpursuit.learning.scales import Scales, without_irrelevant_features


@dataclass(frozen=True)
class Process:
    """A kernel with scales and noise: the penalty of the model is the noise over the variance of the process."""

    kernel: Kernel
    model: Model


class _SampleEvidence:
    """Some rows, on which processes are compared and tuned."""

    def __init__(self, rows: Rows, task: Task, is_validation: np.ndarray | None = None):
        self.rows, self.task = rows, task
        is_validation = np.ones(len(rows)) if is_validation is None else is_validation
        target = target_around(np.zeros_like(rows.y), rows, is_validation, task)
        self.evidence = Evidence(target, shares_variance=not task.classes)

    def error(self, process: Process) -> float:
        """What the evidence comes to, in the unit of a squared target."""
        return self.evidence.error(self._values(process), process.model.alpha)

    def minus_two_log(self, process: Process) -> float:
        """`-2 log evidence`, but for a constant."""
        return self.evidence.minus_two_log(self.error(process))

    def gain(self, process: Process) -> float:
        """What -2 log evidence is lower by than without any atoms."""
        return self.evidence.gain(self._values(process), process.model.alpha)

    def losses(self, process: Process) -> Losses:
        """Leave-one-out losses."""
        return self.evidence.losses(self._values(process), process.model.alpha)

    def tuned(self, process: Process, n_steps: int) -> Process:
        """Minimise -2 log evidence by L-BFGS over scales and noise."""
        spec = MinimiseSpec(
            n_steps,
            alphas=(self.evidence.least_noise, ALPHA_LIMITS[1]),
            prior_spread=PRIOR_SPREAD_OF_LABELS if self.task.classes else None,
            n_threads=self.task.n_threads,
            watch=self.task.watch,
        )
        start = self._at_every_row(process.model)
        found = minimise(start, process.kernel.spec, self.rows.Z, self.evidence, spec=spec)
        return replace(process, model=found.model)

    def at(self, kernel: Kernel, model: Model, scales: np.ndarray, alpha: float) -> Process:
        """A process of other scales and noise, both within their limits."""
        alpha = max(alpha, self.evidence.least_noise)
        return Process(kernel, replace(model, scales=np.minimum(scales, SCALE_LIMITS[1]), alpha=alpha))

    def _at_every_row(self, model: Model) -> Model:
        return replace(model, centers=self.rows.Z, width_factors=np.ones(len(self.rows)))

    def _values(self, process: Process) -> np.ndarray:
        model = self._at_every_row(process.model)
        return model.values(process.kernel.spec, self.rows.Z, self.task.n_threads)


def learn_process(
    kernels: Sequence[Kernel], starts: Sequence[Model], rows: Rows, task: Task, plan: EvidencePlan
) -> tuple[Kernel, Scales]:
    """Tune every kernel on some rows, and the best of them on more.

    The weights of rows are those of `Rows.of_unit_noise`; leave-one-out losses are of the rows of the last trial.
    Cost: a few dozen inverses of a matrix with a row for each of up to `plan.n_first` rows, and two dozen factors and
    inverses for up to `plan.n_rows`.
    """
    few = _SampleEvidence(rows.take(slice(plan.n_first)), task)
    more = few if len(rows) <= plan.n_first else _SampleEvidence(rows.take(slice(plan.n_rows)), task)
    with task.watch.within(0.0, KERNELS_TIME_FRACTION):
        found = _tune_each(kernels, starts, few, plan)
    if task.watch.has_ended:
        more = few
    with task.watch.within(KERNELS_TIME_FRACTION, 1.0):
        process = _tune_best(found, kernels, starts[-1], few=few, more=more, plan=plan)
    kept = without_irrelevant_features(process.model, lambda model: more.error(replace(process, model=model)))
    process = replace(process, model=kept)
    gain, n_tuned = more.gain(process), int((starts[0].scales > 0).sum()) + 1
    if n_tuned - 1 > COMMON_SCALE_FEATURES_A_ROW * len(few.rows):
        common = _best_in_common(process.kernel, starts[-1], few)
        if few.gain(common) + EVIDENCE_GAIN_A_PARAMETER * (n_tuned - 2) > few.gain(process):
            process, gain, n_tuned = common, more.gain(common), 2
    process, losses = _corrected(process, more)
    everywhere = np.ones(len(more.rows))
    simple, line = losses_without_atoms(more.rows, everywhere, task), losses_of_a_line(more.rows, everywhere, task)
    is_worth_it, by_chance = None, EVIDENCE_GAIN_A_PARAMETER * (n_tuned + 1) + EVIDENCE_GAIN_OF_STARTS
    if gain < MIN_EVIDENCE_GAIN:
        is_worth_it = False
    elif gain > by_chance and predicts_better(losses, simple):
        is_worth_it = True
    model = replace(starts[0], scales=process.model.scales, alpha=process.model.alpha)
    return process.kernel, Scales(model, losses, simple, last=losses, line=line, is_worth_it=is_worth_it)


def losses_of_process(kernel: Kernel, model: Model, rows: Rows, is_validation: np.ndarray, task: Task) -> Losses:
    """Leave-one-out losses of validation rows, with an atom at every row."""
    return _SampleEvidence(rows, task, is_validation).losses(Process(kernel, model))


def tie_scales(
    kernel: Kernel, scales: Scales, exponent: float, rows: Rows, *, task: Task, plan: EvidencePlan
) -> Scales:
    """Scales drawn towards a common one, as powers of what they were.

    Width and noise are those of the least leave-one-out error. An exponent of 1 leaves them as they are, and one of 0
    makes them all equal.
    """
    if exponent == 1.0 or not scales.model.scales.any():
        return scales
    trial, model = _SampleEvidence(rows.take(slice(plan.n_rows)), task), scales.model
    used = model.scales > 0
    # Powers leave the length of all scales together what it was.
    powers = np.where(used, np.power(model.scales, exponent, where=used, out=np.zeros_like(model.scales)), 0.0)
    powers *= np.linalg.norm(model.scales) / np.linalg.norm(powers)
    tried = [
        trial.at(kernel, model, factor * powers, of_noise * model.alpha)
        for factor in TIED_SCALE_FACTORS
        for of_noise in TIED_NOISE_FACTORS
    ]
    several = [trial.losses(process) for process in tried]
    least = int(np.argmin([losses.mean for losses in several]))
    best, losses = tried[least], several[least]
    return replace(
        scales,
        model=replace(model, scales=best.model.scales, alpha=best.model.alpha),
        losses=losses,
        last=losses,
        n_tied=0 if exponent else int(used.sum()) - 1,
    )


def _best_in_common(kernel: Kernel, start: Model, trial: _SampleEvidence) -> Process:
    """The best of some processes with one scale for all features: where rows are few, they may tell of no more."""
    used = start.scales > 0
    scales = np.where(used, np.exp(np.log(start.scales[used]).mean()), 0.0)
    tried = [
        trial.at(kernel, start, factor * scales, alpha)
        for factor in COMMON_SCALE_FACTORS
        for alpha in COMMON_SCALE_NOISES
    ]
    return min(tried, key=trial.error)


def _tune_each(
    kernels: Sequence[Kernel], starts: Sequence[Model], trial: _SampleEvidence, plan: EvidencePlan
) -> list[Process]:
    """The first kernel from the best of all starts, and the others from where that one ended."""
    starts = [*starts, *_one_fast_feature(kernels[0], starts[-1], trial)]
    n_runs = len(starts) + len(kernels) - 1

    def tuned(run: int, kernel: Kernel, start: Model) -> Process:
        with trial.task.watch.within(run / n_runs, (run + 1) / n_runs):
            return trial.tuned(Process(kernel, start), plan.n_steps)

    first = min((tuned(run, kernels[0], start) for run, start in enumerate(starts)), key=trial.error)
    return [first, *(tuned(len(starts) + i, kernel, first.model) for i, kernel in enumerate(kernels[1:]))]


def _one_fast_feature(kernel: Kernel, common: Model, trial: _SampleEvidence) -> list[Model]:
    """The best of starts in which one feature is fast, after a few steps: for a product with something of mean zero.

    The periodogram along a feature does not show that, and a search from a common width loses both.
    """
    features = np.flatnonzero(common.scales > 0)
    if (
        not 1 < len(features) <= MAX_FAST_FEATURE_TRIALS
        or len(trial.rows) < FAST_FEATURE_ROWS
        or trial.task.watch.has_ended
    ):
        return []
    trial, tried = _SampleEvidence(trial.rows.take(slice(FAST_FEATURE_ROWS)), trial.task), []
    for feature in features:
        scales = common.scales.copy()
        scales[feature] *= FAST_FEATURE_FACTOR
        tried.append(trial.tuned(trial.at(kernel, common, scales, FIRST_ALPHA), FAST_FEATURE_STEPS))
    return [min(tried, key=trial.error).model]


def _tune_best(
    found: Sequence[Process],
    kernels: Sequence[Kernel],
    common: Model,
    few: _SampleEvidence,
    more: _SampleEvidence,
    plan: EvidencePlan,
) -> Process:
    """The best on all of the rows of the processes that were found on few, and of finer ones, tuned there."""
    finer = [] if more.task.watch.has_ended else list(_finer(found, kernels, common, more))
    best, least = 0, np.inf
    for i, process in enumerate([*found, *finer]):
        error = more.minus_two_log(process) + MIN_KERNEL_EVIDENCE_GAIN * (process.kernel is not kernels[0])
        if error < least:
            best, least = i, error
        if more.task.watch.ask(0.0):
            break
    if best >= len(found):
        return more.tuned(finer[best - len(found)], plan.n_steps)
    return found[best] if more is few else more.tuned(found[best], plan.n_last_steps)


def _finer(
    found: Sequence[Process], kernels: Sequence[Kernel], common: Model, trial: _SampleEvidence
) -> Iterator[Process]:
    """Finer scales than were found, and than a common one.

    What varies fast in a small region looks like noise to a search that starts from wide kernels, or from few rows.
    """
    for one in found:
        for factor in FINER_SCALE_FACTORS:
            yield trial.at(one.kernel, one.model, factor * one.model.scales, FIRST_ALPHA)
    for kernel in kernels:
        for factor in FINER_COMMON_SCALE_FACTORS:
            yield trial.at(kernel, common, factor * common.scales, FIRST_ALPHA)


def _corrected(process: Process, trial: _SampleEvidence) -> tuple[Process, Losses]:
    """A process and its leave-one-out losses, or one of less noise or finer scales where those are clearly lower.

    Evidence assumes a stationary process. Of a function with jumps, it takes what is left beside them for
    noise; the leave-one-out error does not.
    """
    first = least = trial.losses(process)
    best, model = process, process.model
    for factor, of_noise in () if trial.task.watch.has_ended else SCALE_AND_NOISE_FACTORS:
        tried = trial.at(process.kernel, model, factor * model.scales, of_noise * model.alpha)
        losses = trial.losses(tried)
        if losses.mean < least.mean and losses.are_clearly_below(
            first, MIN_CORRECTION_GAIN, CORRECTION_STANDARD_ERRORS
        ):
            best, least = tried, losses
    return best, least
