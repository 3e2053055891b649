"""The simple models that a learned one has to be better than: a constant, and a straight line."""

from __future__ import annotations

import numpy as np

from kernelpursuit.learning.atoms import Task, reweighted, target_around
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses
from kernelpursuit.learning.sample import Rows

# A learned model has to be better than a simple one by this many standard errors of the difference, row by row.
STANDARD_ERRORS = 1.0


def losses_without_atoms(rows: Rows, judged: np.ndarray, task: Task) -> Losses:
    """Leave-one-out losses of the constant, and of the line where the task has one, on the rows that are judged."""
    scores = np.zeros_like(rows.y)
    if task.loss is not None:
        scores = reweighted(np.zeros((0, len(rows))), scores, rows, task, 0.0).T @ task.fixed(rows.Z)
    return LeaveOneOut(target_around(scores, rows, judged, task), task.n_threads).without_atoms()


def is_worth_its_atoms(learned: Losses, simple: Losses) -> bool:
    """Whether a learned model is better than a simple one, by more than chance.

    Losses are of the same rows, none of which an atom was picked from.
    """
    return learned.are_clearly_below(simple, 0.0, STANDARD_ERRORS)
