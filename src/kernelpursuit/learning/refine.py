"""Atoms moved to where they serve best: centres, one width each, and feature scales, by gradient.

What is lowered is the penalised cost of a sample that has many times more rows than the model has atoms, a fresh one
each round; what decides is the leave-one-out error of rows that are held back. The derivative of that error itself
would take six times the work, for a correction that hardly matters with that many rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Picked, Task
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses, PenalisedCost
from kernelpursuit.learning.model import descend
from kernelpursuit.learning.plan import RefinePlan
from kernelpursuit.learning.sample import Rows, joined

# Rows of a sample that the weights of a model are fitted to when it is judged.
MOST_ROWS = 6000
# A round that lowers the error of the rows that are held back by less than this part was the last.
WORTHWHILE = 2e-3


@dataclass(frozen=True)
class Judge:
    """Judges models by rows that are held back: their error, each left out, with weights from them and a sample."""

    kernel: Kernel
    held_back: Rows
    task: Task

    def losses(self, picked: Picked, sample: Rows) -> Losses:
        """The losses of the rows that are held back."""
        sample = sample.take(slice(MOST_ROWS))
        rows = joined(sample, self.held_back)
        judged = np.repeat([0.0, 1.0], [len(sample), len(self.held_back)])
        objective = LeaveOneOut(picked.target(self.kernel, rows, judged, self.task), self.task.n_threads)
        model = picked.model
        return objective.losses(model.values(self.kernel.spec, rows.Z, self.task.n_threads), model.alpha)


def refine(
    kernel: Kernel,
    picked: Picked,
    rows: Rows,
    judge: Judge,
    plan: RefinePlan,
    generator: np.random.Generator,
) -> Picked:
    """Move atoms downhill on a sample of the rows, a fresh one each round, while the rows held back gain from it."""
    n_rows = plan.sample_for(len(picked.rows))

    def fresh() -> Rows:
        return rows.take(generator.permutation(len(rows))[:n_rows])

    sample = fresh()
    least = judge.losses(picked, sample).mean
    for i in range(plan.n_rounds):
        objective = PenalisedCost(picked.target(kernel, sample, np.ones(len(sample)), judge.task), judge.task.n_threads)
        with judge.task.watch.within(i / plan.n_rounds, (i + 1) / plan.n_rounds, f"refining, round {i + 1}"):
            descent = descend(
                picked.model,
                kernel.spec,
                sample.Z,
                objective,
                steps=plan.n_steps,
                moves=True,
                penalty_is_given=True,
                n_threads=judge.task.n_threads,
                watch=judge.task.watch,
            )
        moved = picked.moved(kernel, descent.model, sample, judge.task)
        sample = fresh()
        error = judge.losses(moved, sample).mean
        if error < least:
            picked = moved
        if not error < least * (1 - WORTHWHILE):
            break
        least = error
    return picked
