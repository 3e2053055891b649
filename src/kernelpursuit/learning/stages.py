"""What a newcomer never has to set, learned from samples of the rows: kernel, feature scales, penalty and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Picked, Task, pick
from kernelpursuit.learning.leave_one_out import LeaveOneOut
from kernelpursuit.learning.model import ALPHAS, Model
from kernelpursuit.learning.plan import AtomsPlan, Plan, ScalesPlan
from kernelpursuit.learning.refine import Judge, refine
from kernelpursuit.learning.sample import Distinct, Rows, Standard, joined
from kernelpursuit.learning.scales import Scales, first_model, learn_scales
from kernelpursuit.pursuit import one_blas_thread

# Streams of random numbers; each stage has its own, so that what one draws does not move the others.
SHUFFLE, SCALES, REFINE = 11, 12, 13
# A feature whose scale is below this part of the largest has no say.
OUT = 3e-3
# Another kernel is taken where it lowers the error by this part, and several widths likewise.
BETTER = 0.01
WIDTHS = (1.0, 4.0, 16.0)
TRIAL_ATOMS = 128
# Penalties that are tried for the atoms as picked, as parts of the one that was learned with fewer.
PENALTIES = (0.1, 1.0, 10.0, 100.0)


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
    """

    kernel: Kernel
    alpha: float
    scales: np.ndarray
    atoms: KernelAtoms | None
    rows: np.ndarray
    held_back: np.ndarray | None
    refined: bool


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
        # Samples are small: threads of the BLAS would wait for each other, at the expense of the native core.
        with one_blas_thread():
            kernel, scales = _choose_kernel(kernels, rows, task, plan.scales)
        model = _without_idle_features(scales.model)
    else:
        kernel, model = kernels[0], first_model(rows.Z, task.alpha)
        model = replace(model, scales=gamma**kernel.gamma_power * standard.spread)
    if plan.atoms is None:
        return _undone(kernel, model, standard, np.zeros(0, dtype=np.intp), None, refined=False, atoms=False)
    picked, refined = _choose_atoms(kernel, model, rows, task, plan)
    if not len(picked.rows):
        return _undone(kernel, model, standard, picked.rows, None, refined=False, atoms=False)
    held_back = np.isin(distinct.which, shuffled[: plan.n_held_back])
    places = order[plan.n_held_back + picked.rows]
    return _undone(kernel, picked.model, standard, places, held_back, refined=refined, atoms=True)


def _generator(task: Task, stream: int) -> np.random.Generator:
    return np.random.default_rng([task.seed, 0, stream])


def _in_units(y: np.ndarray, task: Task) -> np.ndarray:
    """Targets of the squared loss in units in which they are no larger than one; others as they are."""
    if task.loss is not None:
        return y
    size = float(np.abs(y - y.mean(axis=1, keepdims=True)).max()) or 1.0
    return y / size


def _choose_kernel(kernels: Sequence[Kernel], rows: Rows, task: Task, plan: ScalesPlan) -> tuple[Kernel, Scales]:
    """Learn scales for the first kernel; from there each has one more round, on one sample, and the best is taken."""
    start = first_model(rows.Z, task.alpha)
    first = learn_scales(kernels[0], start, rows, task, plan, _generator(task, SCALES))
    if len(kernels) == 1:
        return kernels[0], first
    once = replace(plan, n_rounds=1)
    tried = [learn_scales(kernel, first.model, rows, task, once, _generator(task, SCALES)) for kernel in kernels]
    best = int(np.argmin([found.error for found in tried]))
    if tried[best].error < tried[0].error * (1 - BETTER):
        return kernels[best], tried[best]
    return kernels[0], first


def _without_idle_features(model: Model) -> Model:
    scales = model.scales
    return replace(model, scales=np.where(scales >= OUT * scales.max(initial=0.0), scales, 0.0))


def _choose_atoms(kernel: Kernel, model: Model, rows: Rows, task: Task, plan: Plan) -> tuple[Picked, bool]:
    """Pick atoms from the rows that are not held back, in one width or several, and move them where that pays."""
    assert plan.atoms is not None
    held_back, rest = rows.take(slice(plan.n_held_back)), rows.take(slice(plan.n_held_back, None))
    judge = Judge(kernel, held_back, task)
    sample = rest.take(slice(plan.atoms.n_rows))
    picked = pick(kernel, model, sample, task, max_atoms=plan.atoms.n_atoms, n_candidates=plan.atoms.n_candidates)
    refined = False
    if not len(picked.rows):
        return picked, refined
    if len(held_back):
        picked = _in_several_widths(kernel, picked, sample, judge, plan.atoms)
    if plan.refine is not None and len(held_back):
        moved = refine(kernel, picked, rest, judge, plan.refine, _generator(task, REFINE))
        refined = moved is not picked
        picked = moved
    if task.alpha is None:
        picked = _with_best_penalty(kernel, picked, rest.take(slice(2 * plan.atoms.n_rows)), held_back, task)
    return picked, refined


def _in_several_widths(kernel: Kernel, picked: Picked, sample: Rows, judge: Judge, plan: AtomsPlan) -> Picked:
    """Atoms in one width, or where the rows that are held back gain from it, in several: as many, at fewer rows.

    A few atoms tell: the first of those in one width are what a shorter path would have picked.
    """

    def in_widths(n_atoms: int) -> Picked:
        n_candidates = -(-min(plan.n_candidates, len(sample)) // len(WIDTHS))
        return pick(
            kernel,
            picked.model,
            sample,
            judge.task,
            max_atoms=n_atoms,
            n_candidates=n_candidates,
            factors=WIDTHS,
        )

    few = min(TRIAL_ATOMS, len(picked.rows))
    first = picked.first(few)
    first = first.moved(kernel, first.model, sample, judge.task)
    gained = judge.error(in_widths(few), sample) < judge.error(first, sample) * (1 - BETTER)
    return in_widths(plan.n_atoms) if gained else picked


def _with_best_penalty(kernel: Kernel, picked: Picked, sample: Rows, held_back: Rows, task: Task) -> Picked:
    """The atoms with the penalty that has the least error over all rows of the sample and those held back."""
    rows = joined(sample, held_back)
    objective = LeaveOneOut(picked.target(kernel, rows, np.ones(len(rows)), task))
    K = picked.model.values(kernel.spec, rows.Z, task.n_threads)
    tried = np.clip(picked.model.alpha * np.array(PENALTIES), *ALPHAS)
    errors = [objective.error(K, alpha) for alpha in tried]
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
