"""What a reader of a report should be warned of."""

from __future__ import annotations

import numpy as np

from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.report.classes import ClassErrors, calibration_error
from kernelpursuit.report.numbers import COVERAGES, Intervals, NumberErrors
from kernelpursuit.report.rows import GivenRows
from kernelpursuit.report.states import States
from kernelpursuit.stopping import Max

# Weights lose about half of their digits below this reciprocal condition number.
ILL_CONDITIONED = 1e-8
# An error on the rows given so many times the leave-one-out error is worth a word; so is a difference between what
# intervals hold and should, and between probabilities and fractions, above this and what chance explains.
MUCH_LARGER, OFF, UNCALIBRATED = 1.3, 0.05, 0.1
# Standard errors that chance explains.
CHANCE = 2.5


def remarks_on_model(model: FittedModel | OneVsRestModel, states: States) -> list[str]:
    """Warnings that the model alone gives rise to."""
    found = []
    if not model.n_atoms:
        found.append("The model that is kept has no atom: it predicts a constant.")
    if states.n_path == 1:
        found.append("The path has a single model, so that there is no size to choose.")
    if "still falling" in model.reason or "was not reached" in model.reason:
        found.append("The path ended before its stopping rule had seen enough; a larger max_atoms may lower the error.")
    if "interrupted" in model.reason:
        found.append("The fit was interrupted, and the model is the best found so far.")
    if any(_is_of_kept_atoms(one) for one in model.models):
        found.append(
            f"The squared loss has picked and counted the atoms; the path is that of the final loss over these "
            f"{states.n_path}, so that other rules choose among them."
        )
    skipped = {atom for one in model.models for _, atom in one.path.skipped}
    if skipped:
        s, were = ("", "was") if len(skipped) == 1 else ("s", "were")
        found.append(f"{len(skipped)} atom{s} {were} left out as numerically dependent on those that were picked.")
    for one in model.models:
        rcond = one.path.rcond[one.n_steps]
        if rcond < ILL_CONDITIONED:
            found.append(
                f"The atoms are nearly dependent (reciprocal condition number {rcond:.1g}): weights are large and of "
                "both signs, and their last digits are rounding. A larger alpha or fewer atoms help."
            )
            break
    if any(one.path.loo is not None and not np.isfinite(one.path.loo[one.n_steps]) for one in model.models):
        found.append("A training row is interpolated, so that there is no leave-one-out error.")
    scales = model.origin.scales
    if scales is not None and (n_irrelevant := int((scales == 0).sum())):
        have = "is irrelevant: it has" if n_irrelevant == 1 else "are irrelevant: they have"
        found.append(f"{n_irrelevant} of {len(scales)} features {have} scale 0.")
    return found


def _is_of_kept_atoms(model: FittedModel) -> bool:
    """Whether the path begins with atoms that another loss has kept: of classes that were learned."""
    is_final = model.classes is not None and model.measure.loss is not None
    return is_final and model.origin.scales is not None and isinstance(model.origin.auto_rule, Max)


def remarks_on_numbers(
    model: FittedModel, kept: int, errors: NumberErrors, intervals: Intervals | None, rows: GivenRows
) -> list[str]:
    """Warnings that the rows given to a regressor give rise to."""
    found = []
    if errors.n_faded:
        found.append(
            f"{errors.n_faded:,} of {len(rows):,} rows lie far outside the training rows, where predictions return to "
            "the base of the model."
        )
    loo = None if model.path.loo is None else model.path.loo[model.n_steps]
    if loo is not None and errors.loss[kept] > MUCH_LARGER**2 * loo:
        found.append(_larger(float(np.sqrt(errors.loss[kept] / loo))))
    if intervals is not None and intervals.held is not None:
        j = COVERAGES.index(0.9)
        for target, held in enumerate(intervals.held[kept, :, j]):
            chance = CHANCE * np.sqrt(0.09 / intervals.n_rows)
            if held < 0.9 - OFF - chance:
                of = "" if rows.y.shape[1] == 1 else f" of target {target}"
                found.append(f"Intervals of 90 % hold {held:.0%} of the targets{of} on the rows given.")
    return found


def remarks_on_classes(
    model: FittedModel | OneVsRestModel, kept: int, errors: ClassErrors, rows: GivenRows
) -> list[str]:
    """Warnings that the rows given to a classifier give rise to."""
    found = []
    if isinstance(model, FittedModel) and model.path.loo_error is not None:
        loo, wrong = model.path.loo_error[model.n_steps], errors.wrong[kept]
        chance = CHANCE * np.sqrt(max(loo, 1.0 / len(rows)) / len(rows))
        if wrong > MUCH_LARGER * loo + chance:
            found.append(
                f"{wrong:.1%} of the rows given are put in a wrong class, {loo:.1%} of the training rows, each left "
                "out: the rows given may be of another kind."
            )
    off = float(calibration_error(errors.reliability)[kept])
    if off > UNCALIBRATED:
        found.append(f"Probabilities are {off:.0%} off on average, on the rows given.")
    unseen = np.setdiff1d(np.arange(errors.n_classes), rows.y)
    if len(unseen):
        s = "" if len(unseen) == 1 else "es"
        found.append(f"{len(unseen)} class{s} of the model {'is' if not s else 'are'} not among the rows given.")
    return found


def _larger(factor: float) -> str:
    return (
        f"The error on the rows given is {factor:.1f} times the leave-one-out error of the training rows: the rows "
        "given may be of another kind."
    )
