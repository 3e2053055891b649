"""All that a page shows, as values that JSON can hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.model.sizes import ManySizes
from kernelpursuit.report import classes, numbers
from kernelpursuit.report.atoms import AtomTable, atom_table
from kernelpursuit.report.criteria import Group, Series, criteria_of
from kernelpursuit.report.curves import CurvePlan, Curves, curves_of
from kernelpursuit.report.facts import names_of, outputs_of, scales_of
from kernelpursuit.report.packing import packed
from kernelpursuit.report.remarks import remarks_on_classes, remarks_on_model, remarks_on_numbers
from kernelpursuit.report.rows import GivenRows
from kernelpursuit.report.states import States, states_of
from kernelpursuit.report.usage import usage_of

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

#: What `json.dumps` takes.
Plain: TypeAlias = Any

# Numbers that grow with the sizes of a path, of which each takes about three letters.
MOST_NUMBERS = 150_000
# Sizes, rows, features with a curve and outputs that a page shows at most, and at least.
SIZES, ROWS, CURVES, OUTPUTS = (25, 200), (60, 300), (3, 6), (1, 8)
POINTS = 24


@dataclass(frozen=True)
class Plan:
    """How much a page shows.

    outputs     places of the targets or classes
    scores      places of the scores that these belong to
    n_rows      rows whose predictions are shown
    n_features  features that have a curve
    n_sizes     sizes of the path
    """

    outputs: list[int]
    scores: list[int]
    n_rows: int
    n_features: int
    n_sizes: int

    @classmethod
    def of(cls, model: FittedModel | OneVsRestModel, has_rows: bool) -> Plan:
        """Spread a given number of numbers: of many targets fewer rows and curves, and if need be fewer sizes."""
        n_scores = sum(one.path.n_targets for one in model.models)
        n_outputs = n_scores if model.classes is None else len(model.classes)
        outputs = [1] if model.classes is not None and n_outputs == 2 else list(range(min(n_outputs, OUTPUTS[1])))
        n_shown = len(outputs)
        n_rows = max(ROWS[0], ROWS[1] // n_shown) if model.classes is None else ROWS[1]
        n_features = max(CURVES[0], CURVES[1] - n_shown // 2)
        of_a_size = n_features * POINTS * n_shown + (n_rows * (2 if model.classes is not None else n_shown)) * has_rows
        return cls(
            outputs,
            scores=[0] if n_scores == 1 else outputs,
            n_rows=n_rows,
            n_features=n_features,
            n_sizes=int(np.clip(MOST_NUMBERS // of_a_size, *SIZES)),
        )


def content_of(estimator: BaseKernelPursuit, rows: GivenRows | None) -> Plain:
    """Compute what a page about a fitted estimator shows."""
    model = estimator.model_
    plan = Plan.of(model, rows is not None)
    states = states_of(estimator, plan.n_sizes)
    many = ManySizes.of(model, states.sizes)
    n_threads = estimator._n_threads
    names, outputs = names_of(estimator), outputs_of(model)
    groups, remarks = criteria_of(many.models), remarks_on_model(model, states)
    found: dict[str, Plain] = {
        "kind": "numbers" if model.classes is None else "classes",
        "tiles": _tiles_of_path(groups),
    }
    if isinstance(model, FittedModel) and model.classes is None:
        intervals = numbers.intervals_of(many, rows, n_threads)
        if rows is not None:
            errors = numbers.number_errors(many, rows, plan.n_rows, n_threads)
            remarks += remarks_on_numbers(model, states.kept, errors, intervals=intervals, rows=rows)
            found["tiles"] += _tiles_of_numbers(errors)
            found["rows"] = _numbers_shown(errors, rows, plan)
            _add_rows(groups, "loss", errors.loss)
        found["intervals"] = None if intervals is None else _intervals(intervals)
    elif rows is not None:
        wrong = classes.class_errors(many, rows, plan.n_rows, n_threads)
        remarks += remarks_on_classes(model, states.kept, wrong, rows)
        found["tiles"] += _tiles_of_classes(wrong)
        found["rows"] = _classes_shown(wrong, rows)
        found |= _calibration(wrong, outputs)
        if isinstance(model, FittedModel):
            _add_rows(groups, "wrong", wrong.wrong)
    curve_plan = CurvePlan(plan.n_features, POINTS, plan.outputs)
    curves = curves_of(model, states.sizes, rows, plan=curve_plan, n_threads=n_threads)
    leading = [] if isinstance(curves, str) else [curve.feature for curve in curves.curves]
    table = atom_table(many.models, states.kept, plan.scores, leading)
    found |= {
        "states": _states(states, many),
        "outputs": [outputs[i] for i in plan.outputs],
        "n_outputs": len(outputs),
        "classes": outputs if model.classes is not None else None,
        "criteria": [_group(group) for group in groups],
        "curves": curves if isinstance(curves, str) else _curves(curves, names),
        "scales": _scales(estimator, names),
        "atoms": _atoms(table, names),
        "usage": [vars(one) for one in usage_of(estimator)],
        "remarks": remarks,
    }
    return found


# -- Sizes and criteria ------------------------------------------------------------------------------------------------


def _states(states: States, many: ManySizes) -> Plain:
    return {
        "sizes": states.sizes,
        "atoms": [int(one.n_atoms) for one in many.models],
        "n_slider": states.n_slider,
        "n_path": states.n_path,
        "kept": states.kept,
        "rules": [vars(rule) for rule in states.rules],
        "refused": states.refused,
    }


def _add_rows(groups: list[Group], key: str, values: np.ndarray) -> None:
    """The same criterion on the rows given, beside those of the path."""
    for group in groups:
        if group.key == key:
            group.series.append(Series("the rows given", values))


def _group(group: Group) -> Plain:
    series = [
        {"label": one.label, "values": plain(one.values), "error": None if one.error is None else plain(one.error)}
        for one in group.series
    ]
    return {"key": group.key, "title": group.title, "log": group.is_log, "series": series}


def _tile(label: str, values: np.ndarray, unit: str = "") -> Plain:
    """One number for each size, or for each output and size."""
    return {"label": label, "values": plain(values), "unit": unit}


def _tiles_of_path(groups: list[Group]) -> list[Plain]:
    """What the path says of the error of the size that is shown."""
    tiles = []
    for group in groups:
        if group.key not in ("loss", "wrong") or group.series[0].label != "each row left out":
            continue
        values = group.series[0].values
        if group.key == "wrong":
            tiles.append(_tile("wrong class, each row left out", values, "%"))
        elif group.title == "Mean squared error":
            tiles.append(_tile("root mean squared error, each row left out", np.sqrt(values)))
        else:
            tiles.append(_tile(f"{group.title.lower()}, each row left out", values))
    return tiles


# -- Rows given --------------------------------------------------------------------------------------------------------


def _tiles_of_numbers(errors: numbers.NumberErrors) -> list[Plain]:
    return [
        _tile("root mean squared error on the rows given", np.sqrt(errors.squared).T),
        _tile("mean absolute error on the rows given", errors.absolute.T),
        _tile("R² on the rows given", errors.explained.T),
    ]


def _tiles_of_classes(errors: classes.ClassErrors) -> list[Plain]:
    return [
        _tile("wrong class on the rows given", errors.wrong, "%"),
        _tile("log loss on the rows given", errors.log_loss),
        _tile("Brier score on the rows given", errors.brier),
    ]


def _rows(rows: GivenRows, shown: np.ndarray) -> dict[str, Plain]:
    return {"n_given": rows.n_given, "n_measured": len(rows), "numbers": rows.numbers[shown].tolist()}


def _numbers_shown(errors: numbers.NumberErrors, rows: GivenRows, plan: Plan) -> Plain:
    shown, truth = _rows(rows, errors.shown), rows.y[errors.shown].T
    some = [{"true": plain(truth[i]), "predicted": packed(errors.predicted[:, i])} for i in plan.outputs]
    return {**shown, "targets": some}


def _classes_shown(errors: classes.ClassErrors, rows: GivenRows) -> Plain:
    return {
        **_rows(rows, errors.shown),
        "true": rows.y[errors.shown].tolist(),
        "named": packed(errors.named, 1),
        "probability": packed(errors.of_true, 2),
    }


def _calibration(errors: classes.ClassErrors, labels: list[str]) -> dict[str, Plain]:
    curves = ["the class that is named" if which < 0 else labels[which] for which in classes.curves_of(len(labels))]
    sets = None
    if errors.held is not None:
        sets = {"asked": classes.COVERAGES, "held": plain(errors.held), "sizes": plain(errors.sizes)}
    return {
        "reliability": {"curves": curves, "bins": packed(errors.reliability)},
        "confusion": None if errors.confusion is None else packed(errors.confusion),
        "sets": sets,
    }


def _intervals(intervals: numbers.Intervals) -> Plain:
    return {
        "asked": numbers.COVERAGES,
        "left_out": plain(intervals.left_out),
        "n_rows": intervals.n_rows,
        "held": plain(intervals.held),
        "width": plain(intervals.width),
    }


# -- Features and atoms ------------------------------------------------------------------------------------------------


def _curves(curves: Curves, names: list[str]) -> Plain:
    features = [
        {
            "name": names[curve.feature],
            "points": plain(curve.points),
            "marks": plain(curve.marks),
            "values": packed(curve.values, 2),
        }
        for curve in curves.curves
    ]
    return {"features": features, "n_ranked": curves.n_ranked, "background": curves.background, "extent": curves.extent}


def _scales(estimator: BaseKernelPursuit, names: list[str]) -> Plain:
    found = scales_of(estimator)
    if found is None:
        return None
    features, values, n_left = found
    return {"names": [names[j] for j in features], "values": plain(np.array(values)), "n_left": n_left}


def _atoms(table: AtomTable, names: list[str]) -> Plain:
    return {
        "numbers": table.numbers.tolist(),
        "what": table.what,
        "n_left": table.n_left,
        "names": [names[j] for j in table.features],
        "centers": plain(table.centers),
        "weights": packed(table.weights),
        "staged": table.is_staged,
        "ordered": table.is_ordered,
    }


def plain(values: np.ndarray | None) -> Plain:
    """Numbers with nine digits, in lists as JSON has them; None for what is no number."""
    if values is None:
        return None
    if values.ndim > 1:
        return [plain(one) for one in values]
    return [float(f"{one:.9g}") if math.isfinite(one) else None for one in values.tolist()]
