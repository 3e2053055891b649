"""One scale for each feature and the penalty, learned with few atoms: `gamma="learn"`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import PickSpec, Task, fitted_scores, pick, target_around
from kernelpursuit.learning.constants import (
    FIRST_ALPHA,
    IRRELEVANT_ERROR_FRACTION,
    MAX_CROSS_VALIDATED_ATOMS,
    MAX_RELATIVE_LOSS,
    PICK_TIME_FRACTION,
    SMALL_SCALE_FRACTION,
)
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses, joined_losses
from kernelpursuit.learning.model import MinimiseSpec, Model, minimise
from kernelpursuit.learning.plan import ScalesPlan
from kernelpursuit.learning.rivals import losses_of_a_line, losses_without_atoms
from kernelpursuit.learning.sample import Rows, joined, varies


@dataclass(frozen=True)
class Scales:
    """A model without atoms, and the leave-one-out losses that its scales and penalty had on validation rows.

    losses  on rows that no atom was picked from; None where no atom could be picked
    simple  those of the model without atoms, on the same rows
    last    those of the last sample alone
    line    those of a straight line, on the same rows as `losses`; None where rows are too few for one
    is_cross_validated  whether these losses are of rows that scales like these were not tuned on
    is_worth_it  whether evidence says by itself that atoms are worth it, or that they are not; None where it does not
    optimism  how many times larger errors are of rows that scales were not tuned on, where that was looked at
    n_tied  how many scales are not free, since they are equal to another
    """

    model: Model
    losses: Losses | None
    simple: Losses | None = None
    last: Losses | None = None
    line: Losses | None = None
    is_cross_validated: bool = False
    is_worth_it: bool | None = None
    optimism: float = 1.0
    n_tied: int = 0

    @property
    def n_tuned(self) -> int:
        """How many numbers were tuned on validation rows: a scale for each feature, and the penalty; or none."""
        return 0 if self.is_cross_validated else int((self.model.scales > 0).sum()) + 1 - self.n_tied


def first_model(Z: Matrix, alpha: float | None = None) -> Model:
    """All features that vary alike, and as wide as rows are apart; no atoms."""
    used = varies(Z)
    scales = np.where(used, np.sqrt(0.5 / max(int(used.sum()), 1)), 0.0)
    return Model(scales, FIRST_ALPHA if alpha is None else alpha, np.zeros((0, len(used))), np.zeros(0))


@dataclass(frozen=True)
class _Round:
    """What one round found, and how it was validated."""

    model: Model
    objective: LeaveOneOut
    rows: Rows
    losses: Losses

    @property
    def is_validation(self) -> np.ndarray:
        """Marks the validation rows."""
        return (self.objective.target.validation_share > 0).astype(np.float64)

    def again(self, kernel: Kernel, model: Model, task: Task) -> Losses:
        """The losses of the same atoms with the scales and the penalty of another model."""
        tried = replace(self.model, scales=model.scales, alpha=model.alpha)
        return self.objective.losses(tried.values(kernel.spec, self.rows.Z, task.n_threads), tried.alpha)


def learn_scales(
    kernel: Kernel,
    starts: Sequence[Model],
    rows: Rows,
    task: Task,
    plan: ScalesPlan,
    samples: Sequence[np.ndarray],
) -> Scales:
    """Alternate between picking atoms on half of a sample and optimising scales and penalty on the other half.

    An atom that fits noise is no help with rows that it was not picked from: so scales do not become so fine that
    every outlier has an atom. Each round takes the next of the samples, given by the numbers of their rows; of several
    starts, the best of the first round goes on. The logarithms of all rounds but the first are averaged, which counts
    for most where rows are few.
    """
    model, rounds = starts[0], list[_Round]()
    for i, numbers in enumerate(samples):
        name = None if len(samples) == 1 else f"scales, round {i + 1} of {len(samples)}"
        with task.watch.within(i / len(samples), (i + 1) / len(samples), name):
            tried = [
                found
                for start in (starts if not rounds else (model,))
                if (found := _round(kernel, start, rows.take(numbers), task=task, plan=plan)) is not None
            ]
        if not tried:
            break
        rounds.append(min(tried, key=lambda found: found.losses.mean))
        model = rounds[-1].model
    if not rounds:
        return Scales(starts[0], None)
    counted = rounds[1:] or rounds
    scales, used = np.zeros_like(model.scales), model.scales > 0
    scales[used] = np.exp(np.mean([np.log(found.model.scales[used]) for found in counted], axis=0))
    alpha = task.alpha
    if alpha is None:
        alpha = float(np.exp(np.mean([np.log(found.model.alpha) for found in counted])))
    last = rounds[-1]
    averaged = replace(model, scales=scales, alpha=alpha)
    kept = without_irrelevant_features(averaged, lambda tried: last.again(kernel, tried, task).mean)
    lines = [losses_of_a_line(found.rows, found.is_validation, task) for found in counted]
    return Scales(
        replace(starts[0], scales=kept.scales, alpha=alpha),
        joined_losses([found.losses for found in counted]),
        joined_losses([losses_without_atoms(found.rows, found.is_validation, task) for found in counted]),
        last=last.losses,
        line=None
        if any(line is None for line in lines)
        else joined_losses([line for line in lines if line is not None]),
    )


def _round(kernel: Kernel, start: Model, sample: Rows, task: Task, plan: ScalesPlan) -> _Round | None:
    """Pick atoms on one half of a sample, and optimise on the other; None where there is no atom to pick."""
    half = (len(sample) + 1) // 2
    n_atoms = max(1, min(plan.n_atoms, len(sample) // plan.rows_an_atom))
    with task.watch.within(0.0, PICK_TIME_FRACTION):
        picked = pick(kernel, start, sample.take(slice(half)), task, spec=PickSpec(n_atoms, plan.n_candidates))
    if not len(picked.rows):
        return None
    is_validation = np.zeros(len(sample))
    is_validation[half:] = 1.0
    objective = LeaveOneOut(picked.target(kernel, sample, is_validation, task), task.n_threads)
    with task.watch.within(PICK_TIME_FRACTION, 1.0):
        return _optimised(kernel, picked.model, sample, objective=objective, task=task, n_steps=plan.n_steps)


def _optimised(kernel: Kernel, start: Model, rows: Rows, objective: LeaveOneOut, task: Task, n_steps: int) -> _Round:
    """Minimise the leave-one-out error by L-BFGS over scales and penalty."""
    spec = MinimiseSpec(n_steps, penalty_is_given=task.alpha is not None, n_threads=task.n_threads, watch=task.watch)
    model = minimise(start, kernel.spec, rows.Z, objective, spec=spec).model
    losses = objective.losses(model.values(kernel.spec, rows.Z, task.n_threads), model.alpha)
    return _Round(model, objective, rows, losses)


def learn_scales_at_every_row(kernel: Kernel, starts: Sequence[Model], rows: Rows, task: Task, n_steps: int) -> Scales:
    """Optimise scales and penalty with an atom at every row, for so few rows that none can be spared for validation.

    No atom is chosen, so that the leave-one-out error of all rows owes nothing to a choice.
    """
    everywhere = np.ones(len(rows))
    found = list[_Round]()
    for start in starts:
        start = replace(start, centers=rows.Z, width_factors=everywhere)
        scores = fitted_scores(start.values(kernel.spec, rows.Z, task.n_threads), rows, task, start.alpha)
        objective = LeaveOneOut(target_around(scores, rows, everywhere, task), task.n_threads)
        found.append(_optimised(kernel, start, rows, objective=objective, task=task, n_steps=n_steps))
    best = min(found, key=lambda one: one.losses.mean)
    kept = without_irrelevant_features(best.model, lambda tried: best.again(kernel, tried, task).mean)
    model = replace(starts[0], scales=kept.scales, alpha=best.model.alpha)
    simple, line = losses_without_atoms(rows, everywhere, task), losses_of_a_line(rows, everywhere, task)
    return Scales(model, best.losses, simple, last=best.losses, line=line)


def losses_of_atoms_at(
    others: Rows, kernel: Kernel, model: Model, both: Rows, is_validation: np.ndarray, task: Task
) -> Losses:
    """Leave-one-out losses of validation rows, with atoms at the others."""
    centers = others.take(slice(MAX_CROSS_VALIDATED_ATOMS)).Z
    model = replace(model, centers=centers, width_factors=np.ones(len(centers)))
    values = model.values(kernel.spec, both.Z, task.n_threads)
    scores = fitted_scores(values, both, task, model.alpha)
    return LeaveOneOut(target_around(scores, both, is_validation, task), task.n_threads).losses(values, model.alpha)


def cross_validated_losses(
    rows: Rows, task: Task, fold_losses: Callable[[Rows, Rows, np.ndarray], list[Losses] | None], n_folds: int
) -> tuple[list[Losses], Losses, Losses | None] | None:
    """Losses of several models, of that without atoms and of a line, on rows that scales were not tuned on.

    Rows are dealt to `n_folds`, and each fold in turn has the validation rows of what is tuned on the others.
    `fold_losses` is given the others, both, and marks of the validation rows, and returns each model's losses of both.
    None where nothing could be learned.
    """
    learned, simple, lines = list[list[Losses]](), list[Losses](), list[Losses]()
    for fold in range(n_folds):
        numbers = np.arange(len(rows))
        others, validation = rows.take(numbers % n_folds != fold), rows.take(numbers % n_folds == fold)
        both = joined(others, validation)
        is_validation = np.repeat([0.0, 1.0], [len(others), len(validation)])
        found = fold_losses(others, both, is_validation)
        if found is None:
            return None
        simple.append(losses_without_atoms(both, is_validation, task))
        # Predictions will be kept near the range of the targets.
        most = MAX_RELATIVE_LOSS * simple[-1].values[len(others) :].max()
        learned.append([replace(one, values=np.minimum(one.values, most)) for one in found])
        line = losses_of_a_line(both, is_validation, task)
        lines += [] if line is None else [line]
    line = joined_losses(lines) if len(lines) == n_folds else None
    return [joined_losses(folds) for folds in zip(*learned)], joined_losses(simple), line


def without_irrelevant_features(model: Model, error: Callable[[Model], float]) -> Model:
    """Leave out the features of small scales where the error allows it, or as many of the smallest as halving finds."""
    order = np.argsort(model.scales, kind="stable")

    def without(n_features: int) -> Model:
        scales = model.scales.copy()
        scales[order[:n_features]] = 0.0
        return replace(model, scales=scales)

    before = error(model)
    fewest, tried = (
        int((model.scales == 0).sum()),
        int((model.scales < SMALL_SCALE_FRACTION * model.scales.max()).sum()),
    )
    too_many = tried + 1
    while too_many - fewest > 1:
        if error(without(tried)) <= before + IRRELEVANT_ERROR_FRACTION * abs(before):
            fewest = tried
        else:
            too_many = tried
        tried = (fewest + too_many) // 2
    return without(fewest)
