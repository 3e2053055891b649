"""How to use a model and where to take it: lines of Python for each, and what does not work for this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelpursuit.export.describe import describe
from kernelpursuit.model import FittedModel
from kernelpursuit.report.facts import names_of

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

# What stands for the model of the size that the page shows; the page puts it in.
MODEL = "{model}"


@dataclass(frozen=True)
class Snippet:
    """A few lines to copy: what they are for, the lines, and a remark."""

    title: str
    code: str
    note: str = ""


def usage_of(estimator: BaseKernelPursuit) -> list[Snippet]:
    """What can be done with this model; every line runs as it stands."""
    return [
        *_predictions(estimator),
        Snippet("Another rule", 'other = model.select("one-se")\nprint(other.stop_reason_)', "Nothing is refitted."),
        Snippet("Save this size", f'{MODEL}.save("model.kp")', "Numbers and text, no code; safe to load."),
        Snippet("Load it", 'import kernelpursuit\n\nmodel = kernelpursuit.load("model.kp")'),
        *_exports(estimator),
    ]


def _predictions(estimator: BaseKernelPursuit) -> list[Snippet]:
    model = estimator.model_
    rows = "Rows hold the values of every column, or of the picked ones alone." if model.is_precomputed else ""
    if model.classes is not None:
        found = [Snippet("Predict with this size", f"labels = {MODEL}.predict(X)\np = {MODEL}.predict_proba(X)", rows)]
        if isinstance(model, FittedModel) and model.path.loo_quantiles is not None:
            found.append(
                Snippet("Sets that hold the class 90 % of the time", f"sets = {MODEL}.predict_set(X, coverage=0.9)")
            )
        return found
    found = [Snippet("Predict with this size", f"y = {MODEL}.predict(X)", rows)]
    if isinstance(model, FittedModel) and model.path.loo_quantiles is not None:
        code = f"lower, upper = {MODEL}.predict_interval(X, coverage=0.9)"
        found.append(Snippet("Intervals that hold 90 % of new targets", code))
    return found


def _exports(estimator: BaseKernelPursuit) -> list[Snippet]:
    """One snippet for each language, or the reason why there is none."""
    try:
        describe(estimator.model_, names_of(estimator))
    except ValueError as error:
        return [Snippet("Export", "", str(error))]
    return [
        Snippet(
            "Export to ONNX", f'{MODEL}.export("model.onnx")', "Needs the extra: pip install 'kernelpursuit[onnx]'."
        ),
        Snippet(
            "Export to C", f'{MODEL}.export("model.h", dtype="float32")', "One header without memory from the heap."
        ),
        Snippet("Export to JavaScript", f'{MODEL}.export("model.mjs")', "One module without imports."),
        Snippet("Export to Python", f'{MODEL}.export("model_alone.py")', "One file that needs NumPy alone."),
        Snippet("Export to SQL", f'{MODEL}.export("model.sql", table="rows")', "One SELECT for DuckDB or SQLite."),
    ]
