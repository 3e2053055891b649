"""What a newcomer never has to set, learned from samples of the rows: kernel, feature scales, penalty and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import ALL, EnoughFor, Picked, Task, pick
from kernelpursuit.learning.leave_one_out import LeaveOneOut
from kernelpursuit.learning.model import ALPHAS, Model
from kernelpursuit.learning.order import pick_in_order
from kernelpursuit.learning.plan import (
    ATOMS,
    KERNEL,
    ORDER,
    REFINING,
    SCALES_PART,
    WIDTHS_PART,
    Plan,
    ScalesPlan,
    WidthsPlan,
)
from kernelpursuit.learning.refine import Judge, refine
from kernelpursuit.learning.sample import Distinct, Rows, Standard
from kernelpursuit.learning.scales import Scales, first_model, learn_scales
from kernelpursuit.pursuit import Script, one_blas_thread
from kernelpursuit.stopping import StoppingRule

# Streams of random numbers; each stage has its own, so that what one draws does not move the others.
SHUFFLE, SCALES, REFINE = 11, 12, 13
# Another kernel is taken where it lowers the error by this part, and several widths likewise.
BETTER = 0.01
ONE_WIDTH, WIDTHS = (1.0,), (1.0, 4.0, 16.0)
# Scales are learned from labels with at least this penalty for each unit of mean weight: with less of it, scores that
# fit all rows run away, and what the leave-one-out approximation around them says of scales is wrong.
LEAST_FOR_LABELS = 0.1
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
    script     the steps in which the loop is to pick them, where those are known
    """

    kernel: Kernel
    alpha: float
    scales: np.ndarray
    atoms: KernelAtoms | None
    rows: np.ndarray
    held_back: np.ndarray | None
    refined: bool
    script: Script | None = None


@one_blas_thread()
def learn(
    X: np.ndarray,
    y: np.ndarray,
    distinct: Distinct,
    kernels: Sequence[Kernel],
    task: Task,
    plan: Plan,
    gamma: np.ndarray | None = None,
) -> Learned:
    """Learn scales and penalty, and atoms where the plan has some.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Dense rows.
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
    """
    shuffled = _generator(task, SHUFFLE).permutation(len(distinct))
    order = distinct.first[shuffled]
    standard = Standard.of(X[distinct.first], distinct.weights)
    rows = Rows(standard.apply(X[order]), _in_units(y[order].T, task), distinct.weights[shuffled])
    if task.loss is not None:
        task.loss.check_targets(rows.y)
        task = replace(task, loss=task.loss.resolve(rows.y, rows.weights))
    if gamma is None:
        assert plan.scales is not None
        kernel, scales = _choose_kernel(kernels[: plan.n_kernels], rows, _penalised(task, rows), plan.scales)
        model = scales.model if task.alpha is None else replace(scales.model, alpha=task.alpha)
    else:
        kernel, model = kernels[0], first_model(rows.Z, task.alpha)
        model = replace(model, scales=gamma**kernel.gamma_power * standard.spread)
    if plan.atoms is None:
        return _undone(kernel, model, standard, np.zeros(0, dtype=np.intp), None, refined=False, atoms=False)
    picked, refined = _choose_atoms(kernel, model, rows, task, plan)
    if not len(picked.rows):
        return _undone(kernel, model, standard, picked.rows, None, refined=False, atoms=False)
    held_back, places = None, order[picked.rows]
    if not plan.picks_from_all:
        held_back, places = np.isin(distinct.which, shuffled[: plan.n_held_back]), order[plan.n_held_back + picked.rows]
    learned = _undone(kernel, picked.model, standard, places, held_back, refined=refined, atoms=True)
    if task.loss is not None:
        return learned
    task.watch.part(ORDER)
    return replace(learned, script=pick_in_order(kernel, picked.model, replace(rows, y=y[order].T), task))


def _generator(task: Task, stream: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, 0, stream])


def _in_units(y: np.ndarray, task: Task) -> np.ndarray:
    """Targets of the squared loss in units in which they are no larger than one; others as they are."""
    if task.loss is not None:
        return y
    size = float(np.abs(y - y.mean(axis=1, keepdims=True)).max()) or 1.0
    return y / size


def _penalised(task: Task, rows: Rows) -> Task:
    """The task with the penalty that scales are learned with."""
    if task.alpha is None or task.loss is None or task.loss.kind == "real":
        return task
    return replace(task, alpha=max(task.alpha, LEAST_FOR_LABELS * float(rows.weights.mean())))


def _choose_kernel(kernels: Sequence[Kernel], rows: Rows, task: Task, plan: ScalesPlan) -> tuple[Kernel, Scales]:
    """Learn scales for the first kernel; the others have one round from there, on its last sample, to be better."""
    start, generator = first_model(rows.Z, task.alpha), _generator(task, SCALES)
    samples = [generator.permutation(len(rows))[: plan.n_rows] for _ in range(plan.n_rounds)]
    task.watch.part(SCALES_PART)
    first = learn_scales(kernels[0], start, rows, task, plan, samples)
    kernel, found = kernels[0], first
    task.watch.part(KERNEL)
    for i, rival in enumerate(kernels[1:]):
        with task.watch.within(i / len(kernels[1:]), (i + 1) / len(kernels[1:]), f"kernel {i + 2} of {len(kernels)}"):
            tried = learn_scales(rival, first.model, rows, task, plan, samples[-1:])
        if _is_better(tried, first) and (found is first or _is_better(tried, found, part=0.0)):
            kernel, found = rival, tried
    return kernel, found


def _is_better(tried: Scales, other: Scales, part: float = BETTER) -> bool:
    """Whether scales of one kernel have clearly lower losses than those of another, where both have some."""
    if tried.losses is None or other.losses is None:
        return False
    return tried.losses.are_clearly_below(other.losses, part)


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
        moved = refine(kernel, picked, rest, judge, plan.refine, _generator(task, REFINE))
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
