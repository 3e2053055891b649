"""The simple models that a learned one has to be better than: a constant, and a straight line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpursuit.learning.atoms import Task, fitted_scores, target_around
from kernelpursuit.learning.constants import (
    MAX_OPTIMISM_OF_LOSSES,
    MAX_TREND_FEATURES_A_ROW,
    MODEL_STANDARD_ERRORS,
    USUAL_LOSS_QUANTILE,
)
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses
from kernelpursuit.learning.sample import Rows, effective_size


def losses_without_atoms(rows: Rows, is_validation: np.ndarray, task: Task) -> Losses:
    """Leave-one-out losses of the constant, and of the line where the task has one, on validation rows."""
    scores = fitted_scores(np.zeros((0, len(rows))), rows, task, 0.0)
    return LeaveOneOut(target_around(scores, rows, is_validation, task), task.n_threads).without_atoms()


def may_have_a_line(rows: Rows, task: Task) -> bool:
    """Whether rows are dense, and enough for a line, unpenalised, along all features."""
    n_rows = effective_size(rows.weights, rows.units)
    return not rows.is_sparse and task.intercept and 0 < len(task.line) <= MAX_TREND_FEATURES_A_ROW * n_rows


def losses_of_a_line(rows: Rows, is_validation: np.ndarray, task: Task) -> Losses | None:
    """Leave-one-out losses of a straight line; None where rows are too few for one."""
    return losses_without_atoms(rows, is_validation, replace(task, trend=True)) if may_have_a_line(rows, task) else None


def predicts_better(learned: Losses, simple: Losses) -> bool:
    """Whether the losses of a learned model are lower; of wild rows only as much counts as of the others."""
    most = np.quantile(simple.values[simple.shares > 0], USUAL_LOSS_QUANTILE)
    return bool(np.minimum(learned.values, most) @ learned.shares < np.minimum(simple.values, most) @ simple.shares)


def is_worth_its_atoms(
    learned: Losses, simple: Losses, n_tuned: int = 0, standard_errors: float = MODEL_STANDARD_ERRORS
) -> bool:
    """Whether a learned model is better than a simple one, by more than chance.

    Losses are of the same rows, none of which an atom was picked from. Of numbers that were tuned on these rows, each
    makes the mean of n losses too small by about 2 / n of it (as in Akaike's criterion); that is made up for up to a
    factor of `MOST_OPTIMISM`, since numbers under a prior are not free.
    """
    n_validation = 1.0 / float(np.square(simple.shares).sum())
    factor = min(1 + 2 * n_tuned / n_validation, MAX_OPTIMISM_OF_LOSSES)
    # Of a wild row, only as much as of the others.
    usual = np.minimum(learned.values, np.quantile(learned.values[learned.shares > 0], USUAL_LOSS_QUANTILE))
    raised = learned.values + (factor - 1) * usual
    return replace(learned, values=raised).are_clearly_below(simple, 0.0, standard_errors)
