"""Refined atoms: centres, one width factor each, and feature scales, optimised together by L-BFGS.

The criterion is the penalised cost of a sample that has many times more rows than the model has atoms, a fresh one
each round. Whether a round is kept is decided by the leave-one-out error of validation rows. The derivative of that
error itself would take six times the work, for a correction that hardly matters with that many rows.

Scales come from far fewer atoms, which pay for what a feature does by itself before they pay for what two do together.
So they may be too small for all the atoms that are refined, with a minimum beyond a plateau. Where rows are many, the
first round therefore also starts from finer scales, and rounds go on until the scales have settled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Picked, Task
from kernelpursuit.learning.constants import (
    ALPHA_LIMITS,
    FINER_REFINE_FACTOR,
    MAX_VALIDATOR_ROWS,
    MIN_REFINE_GAIN,
    SCALE_LIMITS,
    SETTLED_FACTOR,
    SMALL_SCALE_FRACTION,
)
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses, PenalisedCost
from kernelpursuit.learning.model import MinimiseSpec, Model, minimise
from kernelpursuit.learning.plan import RefinePlan
from kernelpursuit.learning.sample import Rows, joined


@dataclass(frozen=True)
class Validator:
    """Leave-one-out errors of models on validation rows, with coefficients fitted to these and `n_rows` of a sample."""

    kernel: Kernel
    validation: Rows
    task: Task
    n_rows: int = MAX_VALIDATOR_ROWS

    def losses(self, picked: Picked, sample: Rows) -> Losses:
        """The leave-one-out losses of the validation rows."""
        sample = sample.take(slice(self.n_rows))
        rows = joined(sample, self.validation)
        is_validation = np.repeat([0.0, 1.0], [len(sample), len(self.validation)])
        criterion = LeaveOneOut(picked.target(self.kernel, rows, is_validation, self.task), self.task.n_threads)
        model = picked.model
        return criterion.losses(model.values(self.kernel.spec, rows.Z, self.task.n_threads), model.alpha)


def refine(
    kernel: Kernel,
    picked: Picked,
    rows: Rows,
    validator: Validator,
    plan: RefinePlan,
    generator: np.random.Generator,
) -> Picked:
    """Refine atoms on a sample of the rows, a fresh one each round, and return those with the least validation error.

    A round that does not lower that error is the last, unless the scales still move; so is that after which there were
    enough.
    """
    n_rows, task = plan.sample_for(len(picked.rows)), validator.task
    most_rounds = plan.n_rounds + plan.n_settling_rounds

    def fresh() -> Rows:
        return rows.take(generator.permutation(len(rows))[:n_rows])

    spec = MinimiseSpec(
        plan.n_steps,
        moves_atoms=True,
        penalty_is_given=True,
        n_threads=task.n_threads,
        watch=task.watch,
    )

    def moved(start: Picked, sample: Rows) -> Picked:
        criterion = PenalisedCost(start.target(kernel, sample, np.ones(len(sample)), task), task.n_threads)
        found = minimise(start.model, kernel.spec, sample.Z, criterion, spec=spec)
        return start.moved(kernel, found.model, sample, task)

    sample = fresh()
    least, last = validator.losses(picked, sample).mean, picked
    for i in range(most_rounds):
        starts = [last, _finer(last, task)] if plan.tries_finer and i == 0 else [last]
        with task.watch.within(i / most_rounds, (i + 1) / most_rounds, f"refining, round {i + 1}"):
            tried = [moved(start, sample) for start in starts]
        sample = fresh()
        errors = [validator.losses(one, sample).mean for one in tried]
        before, last, error = last, tried[int(np.argmin(errors))], min(errors)
        is_enough = i + 1 >= plan.n_rounds or not error < least * (1 - MIN_REFINE_GAIN)
        if error < least:
            picked, least = last, error
        if is_enough and (not plan.n_settling_rounds or _have_settled(before.model, last.model)):
            break
    return picked


def _finer(picked: Picked, task: Task) -> Picked:
    """The same atoms in finer scales, with a penalty that goes with them where it is not given."""
    model = picked.model
    alpha = model.alpha if task.alpha is not None else model.alpha * FINER_REFINE_FACTOR**2
    scales = np.minimum(model.scales * FINER_REFINE_FACTOR, SCALE_LIMITS[1])
    return replace(picked, model=replace(model, scales=scales, alpha=min(alpha, ALPHA_LIMITS[1])))


def _have_settled(before: Model, after: Model) -> bool:
    """Whether the scales of all features that count have changed by little."""
    counts = after.scales > SMALL_SCALE_FRACTION * after.scales.max()
    return bool((np.abs(np.log(after.scales[counts] / before.scales[counts])) <= np.log(SETTLED_FACTOR)).all())
