"""Refined atoms: centres, one width factor each, and feature scales, optimised together by L-BFGS.

The criterion is the penalised cost of a sample that has many times more rows than the model has atoms, a fresh one
each round. Whether a round is kept is decided by the leave-one-out error of validation rows. The derivative of that
error itself would take six times the work, for a correction that hardly matters with that many rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Picked, Task
from kernelpursuit.learning.constants import MAX_VALIDATOR_ROWS, MIN_REFINE_GAIN
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses, PenalisedCost
from kernelpursuit.learning.model import MinimiseSpec, minimise
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
    """Refine atoms on a sample of the rows, a fresh one each round, while the error of the validation rows falls."""
    n_rows, task = plan.sample_for(len(picked.rows)), validator.task

    def fresh() -> Rows:
        return rows.take(generator.permutation(len(rows))[:n_rows])

    spec = MinimiseSpec(
        plan.n_steps,
        moves_atoms=True,
        penalty_is_given=True,
        n_threads=task.n_threads,
        watch=task.watch,
    )
    sample = fresh()
    least = validator.losses(picked, sample).mean
    for i in range(plan.n_rounds):
        criterion = PenalisedCost(picked.target(kernel, sample, np.ones(len(sample)), task), task.n_threads)
        with task.watch.within(i / plan.n_rounds, (i + 1) / plan.n_rounds, f"refining, round {i + 1}"):
            found = minimise(picked.model, kernel.spec, sample.Z, criterion, spec=spec)
        moved = picked.moved(kernel, found.model, sample, task)
        sample = fresh()
        error = validator.losses(moved, sample).mean
        if error < least:
            picked = moved
        if not error < least * (1 - MIN_REFINE_GAIN):
            break
        least = error
    return picked
