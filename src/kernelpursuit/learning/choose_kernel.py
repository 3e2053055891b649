"""One kernel of several, with the scales that were learned for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Task
from kernelpursuit.learning.constants import (
    CROSS_VALIDATED_BELOW,
    CROSS_VALIDATED_FEATURES_A_ROW,
    EVERY_ROW_BELOW,
    EVERY_ROW_STEPS,
    FIRST_ALPHA,
    MAX_OPTIMISM_OF_ERRORS,
    MAX_SCALES_A_ROW,
    MIN_KERNEL_GAIN,
    MIN_TIE_GAIN,
    N_FOLDS,
    OPTIMISM_QUANTILE,
    TIE_EXPONENTS,
)
from kernelpursuit.learning.leave_one_out import Losses
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.plan import KERNEL_STAGE, SCALES_STAGE, SIMPLE_STAGE, EvidencePlan, Plan
from kernelpursuit.learning.process import learn_process, losses_of_process, tie_scales
from kernelpursuit.learning.sample import SCALES_STREAM, Rows, drawn_from
from kernelpursuit.learning.scales import (
    Scales,
    cross_validated_losses,
    learn_scales,
    learn_scales_at_every_row,
    losses_of_atoms_at,
)
from kernelpursuit.learning.starts import Starts, common_width_is_better, start_of_another


def scales_are_few(starts: Starts, rows: Rows) -> bool:
    """Whether features are few for the rows."""
    return starts.n_features <= MAX_SCALES_A_ROW * len(rows)


def choose_kernel(
    kernels: Sequence[Kernel], starts: Starts, rows: Rows, task: Task, plan: Plan
) -> tuple[Kernel, Scales]:
    """Learn scales for the first kernel; the others have one round from there, on its last sample, to be better."""
    assert plan.scales is not None
    scales_plan = plan.scales.with_atoms_for(starts.dof, len(rows), starts.n_features)
    generator = drawn_from(task.seed, SCALES_STREAM)
    samples = [generator.permutation(len(rows))[: scales_plan.n_rows] for _ in range(scales_plan.n_rounds)]

    # Too many scales, or too little penalty, fit their validation rows.
    is_penalised = task.alpha is None or task.alpha >= FIRST_ALPHA
    scales_are_determined = is_penalised and scales_are_few(starts, rows)

    def learned(kernel: Kernel, models: list[Model], samples: list[np.ndarray], rows: Rows = rows) -> Scales:
        if len(rows) < EVERY_ROW_BELOW and scales_are_determined:
            return learn_scales_at_every_row(kernel, models, rows, task=task, n_steps=EVERY_ROW_STEPS)
        return learn_scales(kernel, models, rows, task=task, plan=scales_plan, samples=samples)

    task.watch.part(SCALES_STAGE)
    first = learned(kernels[0], starts.models, samples)
    if common_width_is_better(kernels[0], starts, first.model, rows=rows, task=task):
        again = learned(kernels[0], [starts.common.model], samples[-1:])
        first = again if is_better(again, first, fraction=0.0) else first
    kernel, best = kernels[0], first
    task.watch.part(KERNEL_STAGE)
    for i, rival in enumerate(kernels[1:]):
        start = start_of_another(kernels[0], first.model, rival, rows=rows, task=task)
        if start is None:
            continue
        with task.watch.within(i / len(kernels[1:]), (i + 1) / len(kernels[1:]), f"kernel {i + 2} of {len(kernels)}"):
            tried = learned(rival, [start], samples[-1:])
        if is_better(tried, first) and (best is first or is_better(tried, best, fraction=0.0)):
            # What the simple models come to was found for all rounds of the first kernel.
            kernel, best = rival, replace(tried, losses=first.losses, simple=first.simple, line=first.line)
    if best.losses is None or not is_penalised:
        return kernel, best

    if not _scales_are_many(starts, rows):
        return kernel, best

    def fold_losses(others: Rows, both: Rows, is_validation: np.ndarray) -> list[Losses] | None:
        found = learned(kernel, starts.models[:1], [np.arange(len(others))], others)
        if found.losses is None:
            return None
        return [losses_of_atoms_at(others, kernel, found.model, both=both, is_validation=is_validation, task=task)]

    return kernel, _cross_validated(best, rows, task, fold_losses)[0]


def choose_kernel_by_evidence(
    kernels: Sequence[Kernel], starts: Starts, rows: Rows, task: Task, plan: EvidencePlan
) -> tuple[Kernel, Scales]:
    """Learn kernel, scales and noise by the evidence of a Gaussian process."""
    task.watch.part(SCALES_STAGE)
    rows = rows.of_unit_noise()
    kernel, best = learn_process(kernels, starts.models, rows, task=task, plan=plan)
    if task.watch.has_ended or not _scales_are_many(starts, rows):
        return kernel, best

    def tied_losses(others: Rows, both: Rows, is_validation: np.ndarray) -> list[Losses]:
        found = learn_process([kernel], starts.models, others, task=task, plan=plan)[1]
        tied = [tie_scales(kernel, found, t, others, task=task, plan=plan) for t in TIE_EXPONENTS]
        return [losses_of_process(kernel, one.model, both, is_validation=is_validation, task=task) for one in tied]

    again, exponent = _best_tie(_cross_validated(best, rows, task, tied_losses))
    best = tie_scales(kernel, best, exponent, rows, task=task, plan=plan)
    again = replace(again, model=best.model, n_tied=best.n_tied)
    again = replace(again, optimism=_optimism(best, again))
    return kernel, again if best.is_worth_it is None else replace(best, optimism=again.optimism)


def _best_tie(several: Sequence[Scales]) -> tuple[Scales, float]:
    """Of scales that are tied by each of `TIE_EXPONENTS`, the best on other folds; free ones unless those are worse."""
    errors = [np.inf if one.losses is None else one.losses.mean for one in several]
    best = int(np.argmin(errors))
    best = best if errors[best] < (1 - MIN_TIE_GAIN) * errors[0] else 0
    return several[best], TIE_EXPONENTS[best]


def _optimism(tuned: Scales, validated: Scales) -> float:
    """How many times larger errors are of rows that scales were not tuned on, by the larger ones of both."""
    assert tuned.losses is not None
    assert validated.losses is not None
    large = [np.quantile(one.values[one.shares > 0], OPTIMISM_QUANTILE) for one in (tuned.losses, validated.losses)]
    return float(np.clip(np.sqrt(large[1] / large[0]), 1.0, MAX_OPTIMISM_OF_ERRORS)) if large[0] > 0 else 1.0


def _scales_are_many(starts: Starts, rows: Rows) -> bool:
    """Whether there are so many scales for so few rows that they fit these too well."""
    n_many = max(2, CROSS_VALIDATED_FEATURES_A_ROW * len(rows))
    return starts.n_features >= n_many and len(rows) < CROSS_VALIDATED_BELOW


def _cross_validated(
    scales: Scales, rows: Rows, task: Task, fold_losses: Callable[[Rows, Rows, np.ndarray], list[Losses] | None]
) -> list[Scales]:
    """The same scales with the losses, by cross-validation, of each model that `fold_losses` returns those of.

    Scales that were tuned without a fold do not know it.
    """
    task.watch.part(SIMPLE_STAGE)
    found = cross_validated_losses(rows, task, fold_losses, N_FOLDS if len(rows) < EVERY_ROW_BELOW else 2)
    if found is None:
        return [scales]
    several, simple, line = found
    return [replace(scales, losses=one, simple=simple, line=line, is_cross_validated=True) for one in several]


def is_better(tried: Scales, other: Scales, fraction: float = MIN_KERNEL_GAIN) -> bool:
    """Whether scales of one kernel have clearly lower losses than those of another, where both have some."""
    if tried.last is None or other.last is None:
        return False
    return tried.last.are_clearly_below(other.last, fraction)
