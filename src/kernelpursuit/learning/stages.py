"""What a newcomer never has to set, learned from samples of the rows: kernel, feature scales, penalty and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Task, features_of_a_line
from kernelpursuit.learning.choose_atoms import choose_atoms
from kernelpursuit.learning.choose_kernel import choose_kernel, choose_kernel_by_evidence, is_better, scales_are_few
from kernelpursuit.learning.constants import (
    EVERY_ROW_BELOW,
    LONG_LINE_FEATURES_A_ROW,
    MAX_CODES,
    MODEL_STANDARD_ERRORS,
    PROCESS_PATIENCE,
    TREND_ROWS,
    UNCLEAR_EVIDENCE_STANDARD_ERRORS,
)
from kernelpursuit.learning.learned import Learned, to_original_units
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.observations import DistinctRows
from kernelpursuit.learning.plan import STARTS_STAGE, EvidencePlan, Plan
from kernelpursuit.learning.rivals import is_worth_its_atoms, may_have_a_line
from kernelpursuit.learning.sample import CODES_STREAM, SHUFFLE_STREAM, Rows, Standard, Standardised, drawn_from
from kernelpursuit.learning.scales import Scales, first_model
from kernelpursuit.learning.starts import Starts, choose_starts, show_something
from kernelpursuit.learning.wide import learn_common_scale
from kernelpursuit.pursuit import one_blas_thread
from kernelpursuit.rows import FEWEST_ROWS


@one_blas_thread()
def learn(
    given: DistinctRows, kernels: Sequence[Kernel], task: Task, plan: Plan, gamma: np.ndarray | None = None
) -> Learned:
    """Learn scales and penalty, and atoms where the plan has some.

    Parameters
    ----------
    given : DistinctRows
        Rows and targets.
    kernels : list of Kernel
        Kernels to choose from, the first of them where others are not better.
    task : Task
        The loss, and how the loop is to run.
    plan : Plan
        How much each stage looks at.
    gamma : array of shape (n_features,), optional
        Inverse widths of the features, where those are not to be learned.
    """
    distinct = given.distinct
    # Rows that are all looked at are dealt in one order, so that nothing is left to the seed.
    is_seen_whole = plan.evidence is not None and len(distinct) <= plan.evidence.n_rows
    shuffled = drawn_from(0 if is_seen_whole else task.seed, SHUFFLE_STREAM).permutation(len(distinct))
    order = distinct.first[shuffled]
    standard = Standard.of(given.X, distinct.weights, distinct.first)
    rows = Rows(
        Standardised(given.X, order, standard).where_few(),
        _in_units(_few_codes(given.y[order], task).T, task),
        distinct.weights[shuffled],
        None if given.counts is None else given.counts[order],
    )
    if plan.evidence is not None and rows.n_effective < FEWEST_ROWS:
        plan = replace(plan, evidence=None)
    task = replace(task, line=features_of_a_line(rows.take(slice(TREND_ROWS)).Z))
    if task.loss is not None:
        task.loss.check_targets(rows.y)
        task = task.under(task.loss.resolve(rows.y, rows.weights))
    simple = None
    if gamma is None:
        assert plan.scales is not None
        kernel, scales, task, starts = _learn_scales(kernels[: plan.n_kernels], rows, task, plan)
        plan = plan.with_atoms_for(starts.dof)
        model = scales.model if task.alpha is None else replace(scales.model, alpha=task.alpha)
        # What a callback has cut short is not held against simple models.
        simple = None if task.watch.has_ended else _as_good(scales, starts, rows, task=task, plan=plan)
    else:
        task = replace(task, trend=task.trend is True)
        kernel, model = kernels[0], first_model(rows.given, task.alpha)
        model = replace(model, scales=gamma**kernel.gamma_power * standard.spread)
    if plan.atoms is None or plan.evidence is not None:
        bare = to_original_units(
            kernel, model, standard, places=np.zeros(0, dtype=np.intp), is_validation=None, refined=False, atoms=False
        )
        bare = replace(bare, trend=standard.only(task.line) if task.trend else None, simple=simple)
        if plan.evidence is not None:
            bare = replace(_at_rows(bare, order, rows, dof=starts.dof, plan=plan.evidence), optimism=scales.optimism)
        return bare
    picked, refined = choose_atoms(kernel, model, rows, task=task, plan=plan)
    trend = standard.only(task.line) if task.trend else None
    if not len(picked.rows):
        none = to_original_units(
            kernel, model, standard, places=picked.rows, is_validation=None, refined=False, atoms=False
        )
        return replace(none, trend=trend, simple=simple)
    is_validation, places = None, order[picked.rows]
    if not plan.picks_from_all:
        is_validation = np.isin(distinct.which, shuffled[: plan.n_validation])
        places = order[plan.n_validation + picked.rows]
    learned = to_original_units(
        kernel, picked.model, standard, places=places, is_validation=is_validation, refined=refined, atoms=True
    )
    return replace(learned, trend=trend, simple=simple)


@one_blas_thread()
def learn_wide(given: DistinctRows, kernel: Kernel, task: Task) -> Learned | None:
    """Learn one scale for all of many features, and the penalty, but no atoms; None where no feature varies."""
    found = learn_common_scale(given, kernel, task)
    if found is None:
        return None
    standard, scales, alpha = found
    model = Model(scales, alpha, np.zeros((0, len(scales))), np.zeros(0))
    return to_original_units(
        kernel, model, standard, places=np.zeros(0, dtype=np.intp), is_validation=None, refined=False, atoms=False
    )


def _at_rows(learned: Learned, order: np.ndarray, rows: Rows, dof: float, plan: EvidencePlan) -> Learned:
    """Scales and noise of a Gaussian process, for a loop that picks atoms at rows under its own penalty.

    `n alpha K`, where n is the sum of the weights, is the noise times the kernel: with an atom at every row, the model
    is the posterior mean.
    """
    return replace(
        learned,
        is_process=True,
        alpha=learned.alpha * rows.noise_unit / float(rows.weights.sum()),
        penalty="rkhs",
        candidates=order[: plan.n_candidates] if len(order) > plan.n_candidates else None,
        patience=max(PROCESS_PATIENCE, int(dof / 2)),
    )


def _few_codes(y: np.ndarray, task: Task) -> np.ndarray:
    """Targets, shape (n_rows, n_targets); codes of many classes in fewer numbers, by a random projection.

    Errors of codes are sums over classes of squares, which such a projection keeps on average; over thousands of rows
    little is left of what it changes for each.
    """
    n_codes = y.shape[1]
    if not task.classes or n_codes <= MAX_CODES:
        return y
    random = drawn_from(task.seed, CODES_STREAM).normal(size=(n_codes, MAX_CODES))
    return y @ np.linalg.qr(random)[0]


def _in_units(y: np.ndarray, task: Task) -> np.ndarray:
    """Targets of the squared loss in units in which they are no larger than one; others as they are.

    Where there is a constant in the model, they have mean 0: digits that are all alike are lost to what differs.
    """
    if task.loss is not None:
        return y
    y = _below_one(y)
    centred = y - y.mean(axis=1, keepdims=True)
    size = float(np.abs(centred).max()) or 1.0
    return (centred if task.intercept else y) / size


def _below_one(y: np.ndarray) -> np.ndarray:
    """Targets divided by a power of two, which rounds nothing: sums of large ones would be out of range."""
    return np.ldexp(y, -np.frexp(np.abs(y).max())[1])


def _learn_scales(kernels: Sequence[Kernel], rows: Rows, task: Task, plan: Plan) -> tuple[Kernel, Scales, Task, Starts]:
    """Learn scales from the best starts; beside a straight line where that is of use, or is better by itself.

    Returns the kernel, its scales, the task with the line resolved, and the starts.
    """
    assert plan.scales is not None
    may_add = task.trend is None and may_have_a_line(rows, task)
    task = replace(task, trend=task.trend is True)
    task.watch.part(STARTS_STAGE)
    first = first_model(rows.given, task.alpha)
    starts = choose_starts(kernels[0], first, rows, task, may_add_trend=may_add)
    without_line, task = task, replace(task, trend=starts.trend)
    kernel, scales = _best_kernel(kernels, starts, rows, task=task, plan=plan)
    if may_add and task.trend and len(task.line) > LONG_LINE_FEATURES_A_ROW * len(rows) and not task.watch.has_ended:
        # A long line costs much, and hides from scales what varies with few features.
        others = choose_starts(kernels[0], first, rows, without_line, may_add_trend=False)
        rival, tried = _best_kernel(kernels, others, rows, task=without_line, plan=plan)
        if is_better(tried, scales, fraction=0.0):
            return rival, tried, without_line, others
    if may_add and not task.trend and _line_is_better(scales):
        task = replace(task, trend=True)
        again = starts if plan.evidence is None else starts.at(scales.model)
        kernel, scales = _best_kernel(kernels if plan.evidence is None else [kernel], again, rows, task=task, plan=plan)
    return kernel, scales, task, starts


def _best_kernel(
    kernels: Sequence[Kernel], starts: Starts, rows: Rows, task: Task, plan: Plan
) -> tuple[Kernel, Scales]:
    """One of the kernels with scales: by evidence where rows are few, else by leave-one-out errors of samples."""
    if plan.evidence is not None:
        return choose_kernel_by_evidence(kernels, starts, rows, task=task, plan=plan.evidence)
    return choose_kernel(kernels, starts, rows, task=task, plan=plan)


def _as_good(scales: Scales, starts: Starts, rows: Rows, task: Task, plan: Plan) -> str | None:
    """Why what was learned is no better than the line where there is one, else than a constant; None where it is.

    Numbers that were tuned on the validation rows are made up for against a line, and against a constant only where
    rows are so few that scales were tuned on all of them. Where scales are many for the rows, they fit their validation
    rows too well, and the start has to be better than a constant.
    """
    simple = "a straight line" if task.trend else "a constant"
    words = f"on validation rows, they are no better than {simple}"
    if scales.losses is None or scales.simple is None:
        return words
    if scales.is_worth_it is not None:
        return None if scales.is_worth_it else f"their evidence is no higher than that of {simple}"
    scales_are_undetermined = not task.trend and not scales.is_cross_validated and not scales_are_few(starts, rows)
    if scales_are_undetermined and not show_something(starts, rows, task):
        return words
    tunes_all = plan.evidence is not None or len(rows) < EVERY_ROW_BELOW
    n_tuned = scales.n_tuned if task.trend or tunes_all else 0
    # Where evidence has not decided, rows have to be clearer.
    evidence_is_unclear = plan.evidence is not None and scales.is_cross_validated and not task.trend
    standard_errors = UNCLEAR_EVIDENCE_STANDARD_ERRORS if evidence_is_unclear else MODEL_STANDARD_ERRORS
    return None if is_worth_its_atoms(scales.losses, scales.simple, n_tuned, standard_errors) else words


def _line_is_better(scales: Scales) -> bool:
    """Whether a straight line is better than a constant, and as good as what was learned."""
    if scales.line is None or scales.simple is None or scales.losses is None:
        return scales.losses is None
    return is_worth_its_atoms(scales.line, scales.simple) and not is_worth_its_atoms(
        scales.losses, scales.line, scales.n_tuned
    )
