"""What a newcomer never has to set, learned from samples of the rows: kernel, feature scales, penalty and atoms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import ALL, LINE_ROWS, EnoughFor, Picked, Task, features_of_a_line, pick
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses
from kernelpursuit.learning.model import ALPHAS, Model
from kernelpursuit.learning.plan import (
    ATOMS,
    EVERY_ROW_BELOW,
    KERNEL,
    REFINING,
    SCALES_PART,
    SIMPLE,
    STARTS,
    WIDTHS_PART,
    EvidencePlan,
    Plan,
    WidthsPlan,
)
from kernelpursuit.learning.process import learn_process, losses_of_process
from kernelpursuit.learning.refine import Judge, refine
from kernelpursuit.learning.rivals import IN_DOUBT, STANDARD_ERRORS, is_worth_its_atoms, may_have_a_line
from kernelpursuit.learning.sample import Rows, Standard, Standardised
from kernelpursuit.learning.scales import (
    FIRST_ALPHA,
    Scales,
    first_model,
    judged_by_others,
    learn_scales,
    learn_scales_at_every_row,
    losses_of_atoms_at,
)
from kernelpursuit.learning.starts import (
    Starts,
    choose_starts,
    common_width_is_better,
    show_something,
    start_of_another,
)
from kernelpursuit.learning.wide import learn_common_scale
from kernelpursuit.pursuit import one_blas_thread
from kernelpursuit.rows import FEWEST_ROWS, Distinct
from kernelpursuit.stopping import StoppingRule

# Streams of random numbers; each stage has its own, so that what one draws does not move the others.
SHUFFLE, SCALES, REFINE = 11, 12, 13
# Another kernel is taken where it lowers the error by this part, and several widths likewise.
BETTER = 0.01
ONE_WIDTH, WIDTHS = (1.0,), (1.0, 4.0, 16.0)
# Scales are learned from labels with at least this penalty for each unit of mean weight: with less of it, scores that
# fit all rows run away, and what the leave-one-out approximation around them says of scales is wrong.
LEAST_FOR_LABELS = 0.1
# With more features than this for each row, and fewer rows than that, scales are judged by rows they were not tuned on;
# dealt to so many folds, or to two where rows are not so few.
DOUBTED, DOUBTED_BELOW, FOLDS = 0.03, 1000, 4
# The quantile of errors by which it is seen how much larger those of other rows are, and the most they are taken for.
LARGER, MOST_OPTIMISM = 0.9, 5.0
# Steps in vain, or so many for each degree of freedom, after which a loop over rows ends.
PATIENCE = 64
# With an atom at every row: steps of L-BFGS, and most scales for each row.
EVERY_ROW_STEPS, SCALES_A_ROW = 15, 0.25
# Penalties that are tried for the atoms as picked, as parts of the one that was learned with fewer; on how many rows.
PENALTIES = (0.1, 1.0, 10.0, 100.0)
PENALTY_ROWS = 6000


@dataclass(frozen=True)
class Learned:
    """What was learned, in the units of the caller.

    kernel     with one gamma for each feature
    alpha      the penalty
    scales     of the standardised features: how fast models vary with each, 0 for one that has no say
    atoms      the atoms, or None where only the scales were asked for
    rows       the training row at which each atom is centred, or was before it moved
    held_back  marks the rows that no atom was picked from, or None
    refined    whether atoms were moved
    trend      centre and spread of the features of a straight line that is in every model, or None
    simple     why a simple model is kept, in words, or None
    penalty    the penalty that alpha is of
    is_process whether kernel, scales and noise are those of a Gaussian process
    candidates numbers of the rows at which atoms may be, where they are not learned and not at all rows
    patience   steps in vain after which the loop over rows may end, or None
    optimism   how many times larger errors are of rows that scales were not tuned on
    """

    kernel: Kernel
    alpha: float
    scales: np.ndarray
    atoms: KernelAtoms | None
    rows: np.ndarray
    held_back: np.ndarray | None
    refined: bool
    trend: Standard | None = None
    simple: str | None = None
    penalty: str = "ridge"
    candidates: np.ndarray | None = None
    patience: int | None = None
    is_process: bool = False
    optimism: float = 1.0

    @property
    def says_all(self) -> bool:
        """Whether nothing is left for the loop but to pick and order atoms: all else was learned for it."""
        return self.atoms is not None or self.is_process


@one_blas_thread()
def learn(
    X: np.ndarray,
    y: np.ndarray,
    distinct: Distinct,
    kernels: Sequence[Kernel],
    task: Task,
    plan: Plan,
    gamma: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> Learned:
    """Learn scales and penalty, and atoms where the plan has some.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Rows, dense or sparse.
    y : array of shape (n_rows, n_targets)
        Targets as the loss takes them.
    distinct : Distinct
        Which rows differ, and their weights.
    kernels : list of Kernel
        Kernels to choose from, the first of them where others are not better.
    task : Task
        The loss, and how the loop is to run.
    plan : Plan
        How much each stage looks at.
    gamma : array of shape (n_features,), optional
        Inverse widths of the features, where those are not to be learned.
    counts : array of shape (n_rows,), optional
        How many observations each row stands for; by default one, with all its copies.
    """
    # Rows that are all looked at are dealt in one order, so that nothing is left to the seed.
    is_seen_whole = plan.evidence is not None and len(distinct) <= plan.evidence.n_rows
    shuffled = _generator(0 if is_seen_whole else task.seed, SHUFFLE).permutation(len(distinct))
    order = distinct.first[shuffled]
    standard = Standard.of(X, distinct.weights, distinct.first)
    rows = Rows(
        Standardised(X, order, standard).where_few(),
        _in_units(y[order].T, task),
        distinct.weights[shuffled],
        None if counts is None else counts[order],
    )
    if plan.evidence is not None and rows.n_effective < FEWEST_ROWS:
        plan = replace(plan, evidence=None)
    task = replace(task, line=features_of_a_line(rows.take(slice(LINE_ROWS)).Z))
    if task.loss is not None:
        task.loss.check_targets(rows.y)
        task = replace(task, loss=task.loss.resolve(rows.y, rows.weights))
    simple = None
    if gamma is None:
        assert plan.scales is not None
        kernel, scales, task, starts = _learn_scales(kernels[: plan.n_kernels], rows, task, plan)
        plan = plan.with_atoms_for(starts.dof)
        model = scales.model if task.alpha is None else replace(scales.model, alpha=task.alpha)
        # What a callback has cut short is not held against simple models.
        simple = None if task.watch.has_ended else _as_good(scales, starts, rows, task, plan)
    else:
        task = replace(task, trend=task.trend is True)
        kernel, model = kernels[0], first_model(rows.given, task.alpha)
        model = replace(model, scales=gamma**kernel.gamma_power * standard.spread)
    if plan.atoms is None or plan.evidence is not None:
        bare = _undone(kernel, model, standard, np.zeros(0, dtype=np.intp), None, refined=False, atoms=False)
        bare = replace(bare, trend=standard.only(task.line) if task.trend else None, simple=simple)
        if plan.evidence is not None:
            bare = replace(_at_rows(bare, order, rows, starts.dof, plan.evidence), optimism=scales.optimism)
        return bare
    picked, refined = _choose_atoms(kernel, model, rows, task, plan)
    trend = standard.only(task.line) if task.trend else None
    if not len(picked.rows):
        none = _undone(kernel, model, standard, picked.rows, None, refined=False, atoms=False)
        return replace(none, trend=trend, simple=simple)
    held_back, places = None, order[picked.rows]
    if not plan.picks_from_all:
        held_back, places = np.isin(distinct.which, shuffled[: plan.n_held_back]), order[plan.n_held_back + picked.rows]
    learned = _undone(kernel, picked.model, standard, places, held_back, refined=refined, atoms=True)
    return replace(learned, trend=trend, simple=simple)


@one_blas_thread()
def learn_wide(X: Any, y: np.ndarray, distinct: Distinct, kernel: Kernel, task: Task) -> Learned | None:
    """Learn one scale for all of many features, and the penalty, but no atoms; None where no feature varies."""
    found = learn_common_scale(X, y, distinct, kernel, task)
    if found is None:
        return None
    standard, scales, alpha = found
    model = Model(scales, alpha, np.zeros((0, len(scales))), np.zeros(0))
    return _undone(kernel, model, standard, np.zeros(0, dtype=np.intp), None, refined=False, atoms=False)


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
        patience=max(PATIENCE, int(dof / 2)),
    )


def _generator(seed: int, stream: int) -> np.random.Generator:
    return np.random.default_rng([seed, 0, stream])


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


def _penalised(task: Task, rows: Rows) -> Task:
    """The task with the penalty that scales are learned with."""
    if task.alpha is None or task.loss is None or task.loss.kind == "real":
        return task
    return replace(task, alpha=max(task.alpha, LEAST_FOR_LABELS * float(rows.weights.mean())))


def _learn_scales(kernels: Sequence[Kernel], rows: Rows, task: Task, plan: Plan) -> tuple[Kernel, Scales, Task, Starts]:
    """Learn scales from the best starts; beside a straight line where that is of use, or is better by itself.

    Returns the kernel, its scales, the task with the line settled, and the starts.
    """
    assert plan.scales is not None
    may_add = task.trend is None and may_have_a_line(rows, task)
    given, task = task, replace(task, trend=task.trend is True)
    penalised = _penalised(task, rows)
    task.watch.part(STARTS)
    first = first_model(rows.given, penalised.alpha)
    starts = choose_starts(kernels[0], first, rows, penalised, may_add_trend=may_add)
    penalised = replace(penalised, trend=starts.trend)
    if plan.evidence is not None:
        kernel, scales = _choose_kernel_by_evidence(kernels, starts, rows, penalised, plan.evidence)
    else:
        kernel, scales = _choose_kernel(kernels, starts, rows, penalised, plan)
    if may_add and not penalised.trend and _line_is_better(scales):
        penalised = replace(penalised, trend=True)
        if plan.evidence is not None:
            again = starts.at(scales.model)
            kernel, scales = _choose_kernel_by_evidence([kernel], again, rows, penalised, plan.evidence)
        else:
            kernel, scales = _choose_kernel(kernels, starts, rows, penalised, plan)
    return kernel, scales, replace(given, trend=penalised.trend), starts


def _as_good(scales: Scales, starts: Starts, rows: Rows, task: Task, plan: Plan) -> str | None:
    """Why what was learned is no better than the line where there is one, else than a constant; None where it is.

    A line is a fair model, and has the benefit of the doubt; a constant has it only where rows are so few that scales
    were tuned on all of them. Where scales are many for the rows, they fit what they are judged by, and the start has
    to be better than a constant.
    """
    simple = "a straight line" if task.trend else "a constant"
    words = f"on validation rows, they are no better than {simple}"
    if scales.losses is None or scales.simple is None:
        return words
    if scales.is_worth_it is not None:
        return None if scales.is_worth_it else f"their evidence is no higher than that of {simple}"
    is_doubted = not task.trend and not scales.is_tuned_on_others and not _scales_are_few(starts, rows)
    if is_doubted and not show_something(starts, rows, task):
        return words
    tunes_all = plan.evidence is not None or len(rows) < EVERY_ROW_BELOW
    n_tuned = scales.n_tuned if task.trend or tunes_all else 0
    # Where evidence has been heard, and is in doubt, rows have to be clearer.
    is_in_doubt = plan.evidence is not None and scales.is_tuned_on_others and not task.trend
    standard_errors = IN_DOUBT if is_in_doubt else STANDARD_ERRORS
    return None if is_worth_its_atoms(scales.losses, scales.simple, n_tuned, standard_errors) else words


def _scales_are_few(starts: Starts, rows: Rows) -> bool:
    """Whether features are few for the rows."""
    return starts.n_features <= SCALES_A_ROW * len(rows)


def _line_is_better(scales: Scales) -> bool:
    """Whether a straight line is better than a constant, and as good as what was learned."""
    if scales.line is None or scales.simple is None or scales.losses is None:
        return scales.losses is None
    return is_worth_its_atoms(scales.line, scales.simple) and not is_worth_its_atoms(
        scales.losses, scales.line, scales.n_tuned
    )


def _choose_kernel(
    kernels: Sequence[Kernel], starts: Starts, rows: Rows, task: Task, plan: Plan
) -> tuple[Kernel, Scales]:
    """Learn scales for the first kernel; the others have one round from there, on its last sample, to be better."""
    assert plan.scales is not None
    scales_plan = plan.scales.with_atoms_for(starts.dof, len(rows), starts.n_features)
    generator = _generator(task.seed, SCALES)
    samples = [generator.permutation(len(rows))[: scales_plan.n_rows] for _ in range(scales_plan.n_rounds)]

    # Too many scales, or too little penalty, fit the rows they are judged by.
    is_penalised = task.alpha is None or task.alpha >= FIRST_ALPHA
    is_held = is_penalised and _scales_are_few(starts, rows)

    def learned(kernel: Kernel, models: list[Model], samples: list[np.ndarray], rows: Rows = rows) -> Scales:
        if len(rows) < EVERY_ROW_BELOW and is_held:
            return learn_scales_at_every_row(kernel, models, rows, task, EVERY_ROW_STEPS)
        return learn_scales(kernel, models, rows, task, scales_plan, samples)

    task.watch.part(SCALES_PART)
    first = learned(kernels[0], starts.models, samples)
    if common_width_is_better(kernels[0], starts, first.model, rows, task):
        again = learned(kernels[0], [starts.common.model], samples[-1:])
        first = again if _is_better(again, first, part=0.0) else first
    kernel, best = kernels[0], first
    task.watch.part(KERNEL)
    for i, rival in enumerate(kernels[1:]):
        start = start_of_another(kernels[0], first.model, rival, rows, task)
        if start is None:
            continue
        with task.watch.within(i / len(kernels[1:]), (i + 1) / len(kernels[1:]), f"kernel {i + 2} of {len(kernels)}"):
            tried = learned(rival, [start], samples[-1:])
        if _is_better(tried, first) and (best is first or _is_better(tried, best, part=0.0)):
            # What the simple models come to was found for all rounds of the first kernel.
            kernel, best = rival, replace(tried, losses=first.losses, simple=first.simple, line=first.line)
    if best.losses is None or not is_penalised:
        return kernel, best

    def judge(others: Rows, both: Rows, judged: np.ndarray) -> Losses | None:
        found = learned(kernel, starts.models[:1], [np.arange(len(others))], others)
        if found.losses is None:
            return None
        return losses_of_atoms_at(others, kernel, found.model, both, judged, task)

    return kernel, _judged_again(best, starts, rows, task, judge)


def _choose_kernel_by_evidence(
    kernels: Sequence[Kernel], starts: Starts, rows: Rows, task: Task, plan: EvidencePlan
) -> tuple[Kernel, Scales]:
    """Learn kernel, scales and noise by the evidence of a Gaussian process."""
    task.watch.part(SCALES_PART)
    rows = rows.of_unit_noise()
    kernel, best = learn_process(kernels, starts.models, rows, task, plan)

    def judge(others: Rows, both: Rows, judged: np.ndarray) -> Losses:
        found = learn_process([kernel], starts.models, others, task, plan)[1]
        return losses_of_process(kernel, found.model, both, judged, task)

    if task.watch.has_ended:
        return kernel, best
    again = _judged_again(best, starts, rows, task, judge)
    if again.is_tuned_on_others:
        again = replace(again, optimism=_optimism(best, again))
    return kernel, again if best.is_worth_it is None else replace(best, optimism=again.optimism)


def _optimism(tuned: Scales, judged: Scales) -> float:
    """How many times larger errors are of rows that scales were not tuned on, by the larger ones of both."""
    assert tuned.losses is not None
    assert judged.losses is not None
    large = [np.quantile(one.values[one.shares > 0], LARGER) for one in (tuned.losses, judged.losses)]
    return float(np.clip(np.sqrt(large[1] / large[0]), 1.0, MOST_OPTIMISM)) if large[0] > 0 else 1.0


def _judged_again(
    scales: Scales,
    starts: Starts,
    rows: Rows,
    task: Task,
    judge: Callable[[Rows, Rows, np.ndarray], Losses | None],
) -> Scales:
    """The same scales, and where those are many for the rows, with losses of rows that others like them were tuned on.

    So many scales, tuned on so few rows, say little of others; those of other rows say what they are worth.
    """
    if starts.n_features < max(2, DOUBTED * len(rows)) or len(rows) >= DOUBTED_BELOW:
        return scales
    task.watch.part(SIMPLE)
    judged = judged_by_others(rows, task, judge, FOLDS if len(rows) < EVERY_ROW_BELOW else 2)
    if judged is None:
        return scales
    losses, simple, line = judged
    return replace(scales, losses=losses, simple=simple, line=line, is_tuned_on_others=True)


def _is_better(tried: Scales, other: Scales, part: float = BETTER) -> bool:
    """Whether scales of one kernel have clearly lower losses than those of another, where both have some."""
    if tried.last is None or other.last is None:
        return False
    return tried.last.are_clearly_below(other.last, part)


def _choose_atoms(kernel: Kernel, model: Model, rows: Rows, task: Task, plan: Plan) -> tuple[Picked, bool]:
    """Pick atoms in one width or several, and move them where that is planned and pays."""
    assert plan.atoms is not None
    held_back, rest = rows.take(slice(plan.n_held_back)), rows.take(slice(plan.n_held_back, None))
    judge = Judge(kernel, held_back, task)
    # Atoms that may move will have a width each.
    task.watch.part(WIDTHS_PART)
    widths = ONE_WIDTH if plan.refine is not None else _choose_widths(kernel, model, rest, judge, plan.widths)
    task.watch.part(ATOMS)
    seen = rows if plan.picks_from_all else rest
    sample, n_candidates = seen.take(slice(plan.atoms.n_rows)), plan.atoms.n_candidates // len(widths)
    rule: StoppingRule = ALL
    if plan.atoms.patience is not None:
        rule = EnoughFor(patience=plan.atoms.patience, times_the_rows=len(rows) / len(sample))
    picked = pick(
        kernel,
        model,
        sample,
        task,
        max_atoms=plan.atoms.n_atoms,
        n_candidates=n_candidates,
        factors=widths,
        rule=rule,
    )
    if not len(picked.rows):
        return picked, False
    moved = picked
    task.watch.part(REFINING)
    if plan.refine is not None:
        moved = refine(kernel, picked, rest, judge, plan.refine, _generator(task.seed, REFINE))
    chosen = _with_best_penalty(kernel, moved, rows.take(slice(PENALTY_ROWS)), task)
    return chosen, moved is not picked


def _choose_widths(kernel: Kernel, model: Model, rows: Rows, judge: Judge, plan: WidthsPlan) -> tuple[float, ...]:
    """One width, or several, where the rows that are held back gain from it: few atoms of as many candidates tell."""
    if not len(judge.held_back):
        return ONE_WIDTH
    sample, losses = rows.take(slice(plan.n_rows)), []
    for i, widths in enumerate((ONE_WIDTH, WIDTHS)):
        n_candidates = plan.n_candidates // len(widths)
        with judge.task.watch.within(i / 2, (i + 1) / 2):
            picked = pick(
                kernel, model, sample, judge.task, max_atoms=plan.n_atoms, n_candidates=n_candidates, factors=widths
            )
        if not len(picked.rows):
            return ONE_WIDTH
        losses.append(judge.losses(picked, sample))
    return WIDTHS if losses[1].are_clearly_below(losses[0], BETTER) else ONE_WIDTH


def _with_best_penalty(kernel: Kernel, picked: Picked, rows: Rows, task: Task) -> Picked:
    """The atoms with the penalty, where that is not given, that has the least error over these rows."""
    if task.alpha is not None:
        return picked
    objective = LeaveOneOut(picked.target(kernel, rows, np.ones(len(rows)), task), task.n_threads)
    K = picked.model.values(kernel.spec, rows.Z, task.n_threads)
    tried = np.clip(picked.model.alpha * np.array(PENALTIES), *ALPHAS)
    errors = objective.errors(K, tried)
    return replace(picked, model=replace(picked.model, alpha=float(tried[int(np.argmin(errors))])))


def _undone(
    kernel: Kernel,
    model: Model,
    standard: Standard,
    places: np.ndarray,
    held_back: np.ndarray | None,
    *,
    refined: bool,
    atoms: bool,
) -> Learned:
    """What was learned of standardised features, said of those that the caller has."""
    spread = np.where(standard.spread > 0, standard.spread, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        gamma = (model.scales / spread) ** (1.0 / kernel.gamma_power)
    if not (np.isfinite(gamma).all() and gamma.any()):
        raise ValueError("X is so large, or varies by so little, that its squares leave the range; scale X first.")
    resolved = kernel.with_gamma(gamma)
    centers: Any = KernelAtoms(resolved, standard.undo(model.centers), factors=model.factors) if atoms else None
    return Learned(resolved, model.alpha, model.scales, centers, places, held_back, refined)
