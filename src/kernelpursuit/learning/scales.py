"""One scale for each feature and the penalty, learned with few atoms: `gamma="learn"`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import Task, pick
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses
from kernelpursuit.learning.model import Descent, Model, descend
from kernelpursuit.learning.plan import ScalesPlan
from kernelpursuit.learning.sample import Rows

FIRST_ALPHA = 1e-2
# The fraction of a round's time in which atoms are picked, about.
PICKING = 0.4
# Features have no say whose scales are below this part of the largest, and without which the error is higher by no more
# than the second. By the error alone, few rows would do without features that do matter.
SMALL, IDLE = 0.1, 1e-3


@dataclass(frozen=True)
class Scales:
    """A model without atoms, and the losses that its scales and penalty had, in the last round, on rows left out.

    The losses count on rows that no atom was picked from. None where no atom could be picked.
    """

    model: Model
    losses: Losses | None


def first_model(Z: np.ndarray, alpha: float | None = None) -> Model:
    """All features that vary alike, and as wide as rows are apart; no atoms."""
    used = Z.any(axis=0)
    scales = np.where(used, np.sqrt(0.5 / max(int(used.sum()), 1)), 0.0)
    return Model(scales, FIRST_ALPHA if alpha is None else alpha, np.zeros((0, Z.shape[1])), np.zeros(0))


def learn_scales(
    kernel: Kernel,
    start: Model,
    rows: Rows,
    task: Task,
    plan: ScalesPlan,
    samples: Sequence[np.ndarray],
) -> Scales:
    """Alternate between picking atoms on half of a sample and moving scales and penalty downhill on the other half.

    An atom that fits noise is no help with rows that it was not picked from: so scales do not become so fine that
    every outlier has an atom. Each round takes the next of the samples, given by the numbers of their rows. The
    logarithms of all rounds but the first are averaged, which counts for most where rows are few.
    """
    model, found, objective, judged_by = start, list[Descent](), None, start.centers
    for i, numbers in enumerate(samples):
        sample, fractions = rows.take(numbers), np.array([i, i + PICKING, i + 1]) / len(samples)
        name = None if len(samples) == 1 else f"scales, round {i + 1} of {len(samples)}"
        half = (len(sample) + 1) // 2
        n_atoms = max(1, min(plan.n_atoms, len(sample) // plan.rows_an_atom))
        with task.watch.within(fractions[0], fractions[1], name):
            seen = sample.take(slice(half))
            picked = pick(kernel, model, seen, task, max_atoms=n_atoms, n_candidates=plan.n_candidates)
        if not len(picked.rows):
            break
        judged = np.zeros(len(sample))
        judged[half:] = 1.0
        objective, judged_by = LeaveOneOut(picked.target(kernel, sample, judged, task), task.n_threads), sample.Z
        with task.watch.within(fractions[1], fractions[2], name):
            descent = descend(
                picked.model,
                kernel.spec,
                sample.Z,
                objective,
                steps=plan.n_steps,
                moves=False,
                penalty_is_given=task.alpha is not None,
                n_threads=task.n_threads,
                watch=task.watch,
            )
        model = descent.model
        found.append(descent)
    if objective is None:
        return Scales(start, None)
    counted = found[1:] or found
    scales = np.zeros_like(start.scales)
    used = start.scales > 0
    scales[used] = np.exp(np.mean([np.log(descent.model.scales[used]) for descent in counted], axis=0))
    alpha = task.alpha
    if alpha is None:
        alpha = float(np.exp(np.mean([np.log(descent.model.alpha) for descent in counted])))

    def losses(model: Model) -> Losses:
        return objective.losses(model.values(kernel.spec, judged_by, task.n_threads), model.alpha)

    kept = _without_idle_features(replace(model, scales=scales, alpha=alpha), lambda tried: losses(tried).mean)
    return Scales(replace(start, scales=kept.scales, alpha=alpha), losses(model))


def _without_idle_features(model: Model, error: Callable[[Model], float]) -> Model:
    """Leave out the features of small scales where the error allows it, or as many of the smallest as halving finds."""
    order = np.argsort(model.scales, kind="stable")

    def without(n_features: int) -> Model:
        scales = model.scales.copy()
        scales[order[:n_features]] = 0.0
        return replace(model, scales=scales)

    before = error(model)
    fewest, tried = int((model.scales == 0).sum()), int((model.scales < SMALL * model.scales.max()).sum())
    too_many = tried + 1
    while too_many - fewest > 1:
        if error(without(tried)) <= before + IDLE * abs(before):
            fewest = tried
        else:
            too_many = tried
        tried = (fewest + too_many) // 2
    return without(fewest)
