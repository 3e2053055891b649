"""Atoms in one width or several, moved where that pays, with the best penalty for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import KEEP_ALL, EnoughFor, Picked, PickSpec, Task, pick
from kernelpursuit.learning.constants import (
    ALPHA_LIMITS,
    GROWTH_ROWS,
    MIN_GROWING_ATOMS,
    MIN_GROWTH_GAIN,
    MIN_HALF_GAIN,
    MIN_KERNEL_GAIN,
    ONE_WIDTH_FACTOR,
    PENALTY_ROWS,
    PICKED_PENALTY_FACTORS,
    WIDTH_FACTORS,
)
from kernelpursuit.learning.leave_one_out import LeaveOneOut
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.plan import (
    ATOMS_STAGE,
    GROWTH_STAGE,
    REFINE_STAGE,
    WIDTHS_STAGE,
    AtomsPlan,
    Plan,
    RefinePlan,
    WidthsPlan,
)
from kernelpursuit.learning.refine import Validator, refine
from kernelpursuit.learning.sample import REFINE_STREAM, Rows, drawn_from
from kernelpursuit.stopping import StoppingRule


def choose_atoms(kernel: Kernel, model: Model, rows: Rows, task: Task, plan: Plan) -> tuple[Picked, bool]:
    """Pick atoms in one width or several, and move them where that is planned and pays; more of them where that pays.

    More atoms than the plan begins with are tried only where the last of those that it begins with were of use, and
    kept only where the validation rows clearly gain. Picking and refining them takes two to four times the rest.
    """
    assert plan.atoms is not None
    validation, rest = rows.take(slice(plan.n_validation)), rows.take(slice(plan.n_validation, None))
    validator = Validator(kernel, validation, task)
    # Atoms that may move will have a width each.
    task.watch.part(WIDTHS_STAGE)
    widths = (
        ONE_WIDTH_FACTOR
        if plan.refine is not None
        else _choose_widths(kernel, model, rest, validator=validator, plan=plan.widths)
    )
    seen = rows if plan.picks_from_all else rest

    def picked_by(atoms: AtomsPlan) -> Picked:
        sample = seen.take(slice(atoms.n_rows))
        rule: StoppingRule = KEEP_ALL
        if atoms.patience is not None:
            rule = EnoughFor(patience=atoms.patience, times_the_rows=len(rows) / len(sample))
        spec = PickSpec(atoms.n_atoms, atoms.n_candidates // len(widths), width_factors=widths, rule=rule)
        return pick(kernel, model, sample, task, spec=spec)

    generator = drawn_from(task.seed, REFINE_STREAM)

    def refined(picked: Picked, refine_plan: RefinePlan | None = plan.refine) -> Picked:
        if refine_plan is None:
            return picked
        return refine(kernel, picked, rest, validator=validator, plan=refine_plan, generator=generator)

    task.watch.part(ATOMS_STAGE)
    picked = picked_by(plan.atoms)
    if not len(picked.rows):
        return picked, False
    task.watch.part(REFINE_STAGE)
    moved = refined(picked)
    # What more atoms are good for shows only with coefficients that are fitted to many rows.
    on_more_rows = replace(validator, n_rows=GROWTH_ROWS)
    if plan.more is not None and not task.watch.has_ended and _second_half_pays(picked, rest, on_more_rows):
        task.watch.part(GROWTH_STAGE)
        more, more_plan = picked_by(plan.more), plan.refine
        if more_plan is not None and more_plan.n_settling_rounds:
            # Scales that have settled are a better start than those that were learned with few atoms.
            settled = replace(more.model, scales=moved.model.scales, alpha=moved.model.alpha)
            more = replace(more, model=settled)
            more_plan = replace(more_plan, n_settling_rounds=0, tries_finer=False)
        if len(more.rows) > len(picked.rows):
            grown, least = refined(more, more_plan), on_more_rows.losses(moved, rest)
            if on_more_rows.losses(grown, rest).are_clearly_below(least, MIN_GROWTH_GAIN):
                picked, moved = more, grown
    chosen = _with_best_penalty(kernel, moved, rows.take(slice(PENALTY_ROWS)), task)
    return chosen, moved is not picked


def _second_half_pays(picked: Picked, rows: Rows, validator: Validator) -> bool:
    """Whether there are many atoms, and the second half of them clearly lowers the error of the validation rows.

    Atoms are those that were picked, in their order and not refined, so that the first half is a model of its own.
    """
    n_atoms = len(picked.rows)
    if n_atoms < MIN_GROWING_ATOMS:
        return False
    half = validator.losses(picked.first(n_atoms // 2), rows)
    return validator.losses(picked, rows).are_clearly_below(half, MIN_HALF_GAIN)


def _choose_widths(
    kernel: Kernel, model: Model, rows: Rows, validator: Validator, plan: WidthsPlan
) -> tuple[float, ...]:
    """One width factor, or several, where they lower the error of validation rows with few atoms."""
    if not len(validator.validation):
        return ONE_WIDTH_FACTOR
    sample, losses = rows.take(slice(plan.n_rows)), []
    for i, widths in enumerate((ONE_WIDTH_FACTOR, WIDTH_FACTORS)):
        spec = PickSpec(plan.n_atoms, plan.n_candidates // len(widths), width_factors=widths)
        with validator.task.watch.within(i / 2, (i + 1) / 2):
            picked = pick(kernel, model, sample, validator.task, spec=spec)
        if not len(picked.rows):
            return ONE_WIDTH_FACTOR
        losses.append(validator.losses(picked, sample))
    return WIDTH_FACTORS if losses[1].are_clearly_below(losses[0], MIN_KERNEL_GAIN) else ONE_WIDTH_FACTOR


def _with_best_penalty(kernel: Kernel, picked: Picked, rows: Rows, task: Task) -> Picked:
    """The atoms with the penalty, where that is not given, that has the least error over these rows."""
    if task.alpha is not None:
        return picked
    objective = LeaveOneOut(picked.target(kernel, rows, np.ones(len(rows)), task), task.n_threads)
    K = picked.model.values(kernel.spec, rows.Z, task.n_threads)
    tried = np.clip(picked.model.alpha * np.array(PICKED_PENALTY_FACTORS), *ALPHA_LIMITS)
    errors = objective.errors(K, tried)
    return replace(picked, model=replace(picked.model, alpha=float(tried[int(np.argmin(errors))])))
