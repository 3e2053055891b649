"""Which target a model is exported to, what that may be told, and what is said of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelpursuit._files import PathLike, as_path, write_whole
from kernelpursuit._validate import check_flag, check_option
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.checks import check_coverage
from kernelpursuit.export.c99 import c_name, write_c
from kernelpursuit.export.describe import describe
from kernelpursuit.export.description import Description, Interval
from kernelpursuit.export.javascript import write_javascript
from kernelpursuit.export.onnx_model import OPSET, write_onnx
from kernelpursuit.export.python import write_python
from kernelpursuit.export.quantised import Quantised
from kernelpursuit.export.rounding import float32_error
from kernelpursuit.export.sql import write_sql
from kernelpursuit.rows import dense

ENDINGS = {
    ".onnx": "onnx",
    ".h": "c",
    ".c": "c",
    ".mjs": "javascript",
    ".js": "javascript",
    ".py": "python",
    ".sql": "sql",
}
TARGETS = ("onnx", "c", "javascript", "python", "sql")
DIALECTS = ("duckdb", "sqlite")
# What else a target may be told.
OPTIONS = {
    "onnx": ("dtype", "interval"),
    "c": ("dtype", "quantise", "interval"),
    "javascript": ("interval",),
    "python": ("interval",),
    "sql": ("table", "key", "dialect", "interval"),
}
DEFAULTS = {"dtype": "float64", "interval": None, "quantise": False, "table": "rows", "key": None, "dialect": "duckdb"}
# Microseconds of one call with one row, and nanoseconds of a multiply-add and of an exponential in it: near what
# benchmarks/export.py measures (docs/export.md), to say of what order a time is.
COSTS = {
    "onnx": (15.0, 1.0, 8.0),
    "c": (0.02, 0.5, 4.0),
    "javascript": (0.2, 1.5, 8.0),
    "python": (35.0, 1.0, 5.0),
    "sql": (8000.0, 2.0, 20.0),
}


@dataclass(frozen=True)
class Exported:
    """Facts about a file that `export` has written.

    path           of the file
    target         language and type, such as "C99 in double"
    n_bytes        size of the file
    multiply_adds  of one prediction, in addition to `exponentials`
    microseconds   estimated time of one prediction, called with one row
    note           any further remark, such as the error of quantisation

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=10, stop="max").fit(*make_chirp(100))
    >>> written = model.export("chirp.h")
    >>> written.target, written.multiply_adds, written.exponentials
    ('C99 in double', 20, 10)
    >>> written.n_bytes == written.path.stat().st_size
    True
    """

    path: Path
    target: str
    n_bytes: int
    multiply_adds: int
    exponentials: int
    microseconds: float
    note: str = ""

    def __repr__(self) -> str:
        """Say it in a line."""
        note = f"; {self.note}" if self.note else ""
        return (
            f"{self.path}: {self.target}, {self.n_bytes:,} bytes; {self.multiply_adds:,} multiply-adds and "
            f"{self.exponentials:,} exponentials, about {_two_digits(self.microseconds)} µs a prediction{note}"
        )


def _two_digits(value: float) -> str:
    """A number with two digits that count, and never an exponent from 10 on."""
    return f"{value:.2g}" if value < 10 else f"{float(f'{value:.1e}'):,.0f}"


def export(estimator: BaseKernelPursuit, path: PathLike, to: str | None, options: dict[str, object]) -> Exported:
    """Write a fitted estimator in another language; see `BaseKernelPursuit.export`."""
    goal = as_path(path)
    target = _target(goal, to)
    given = {key: value for key, value in options.items() if value != DEFAULTS[key]}
    for key in given.keys() - set(OPTIONS[target]):
        known = [one for one in TARGETS if key in OPTIONS[one]]
        raise ValueError(f"{key}={given[key]!r} is for exports to {' and '.join(known)}; leave it out for {target}.")
    dtype = check_option("dtype", options["dtype"], ("float64", "float32"))
    interval = options["interval"]
    coverage = None if interval is None else check_coverage("interval", interval)
    if coverage is not None and hasattr(estimator, "classes_"):
        raise ValueError("interval is for regressors; a classifier exports its probabilities.")
    is_flat = getattr(estimator, "_y_ndim", 1) == 1
    description = describe(estimator.model_, names_of(estimator), is_flat=is_flat, coverage=coverage)
    if target in ("c", "javascript", "sql"):
        _check_bounded(description.interval, coverage)
    quantised = None
    if check_flag("quantise", options["quantise"]):
        quantised = Quantised.of(description, _tried_rows(estimator))
    content, language = _written(target, description, goal, dtype=dtype, options=options, quantised=quantised)
    write_whole(goal, content)
    notes = []
    if quantised is not None:
        notes.append(_change("int16 centres change", quantised.error))
    if target == "c" and dtype == "float32" and description.n_atoms:
        notes.append(_change("float changes", float32_error(description, _tried_rows(estimator))))
    return _report(goal, target, description, language, content=content, note="; ".join(notes))


def names_of(estimator: BaseKernelPursuit) -> Sequence[str]:
    """Names of the features; x0, x1, ... where there are none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else [str(one) for one in names]


def _check_bounded(interval: Interval | None, coverage: float | None) -> None:
    """Refuse intervals without bound where the language has no word for infinity that all its readers know."""
    if interval is not None and not np.isfinite(interval.quantile).all():
        raise ValueError(
            f"interval={coverage} has no bound for this model, which interpolates training rows; leave it out, or "
            "export a smaller model, as by model.at(10)."
        )


def _target(path: Path, to: str | None) -> str:
    if to is not None:
        return check_option("to", to, TARGETS)
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        raise ValueError(f"path={str(path)!r} ends in none of {', '.join(ENDINGS)}; say what it is, as in to='onnx'.")
    return found


def _written(
    target: str,
    description: Description,
    path: Path,
    *,
    dtype: str,
    options: dict[str, object],
    quantised: Quantised | None,
) -> tuple[bytes, str]:
    """The content of the file, and in words what it is in."""
    if target == "onnx":
        return write_onnx(description, dtype), f"ONNX opset {OPSET}, {dtype}"
    if target == "c":
        kind = "float" if dtype == "float32" else "double"
        return write_c(description, c_name(path.stem), dtype, quantised).encode(), f"C99 in {kind}"
    if target == "javascript":
        return write_javascript(description).encode(), "JavaScript"
    if target == "python":
        return write_python(description).encode(), "Python"
    table, key = options["table"], options["key"]
    if not isinstance(table, str) or not (key is None or isinstance(key, str)):
        raise ValueError(f"table={table!r} and key={key!r} are not usable; give names of a table and of a column.")
    dialect = check_option("dialect", options["dialect"], DIALECTS)
    return write_sql(description, table, dialect, key).encode(), f"SQL for {dialect}"


def _tried_rows(estimator: BaseKernelPursuit) -> np.ndarray:
    """Rows of the training data that a model has: its centres."""
    centers = estimator.centers_
    rows = np.zeros((0, 1)) if centers is None else dense(centers, np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    if not len(rows):
        raise ValueError("quantise=True is for centres, and this model has none; leave it out.")
    # And half-way between neighbours in the list, where no atom has its peak.
    return np.vstack([rows, 0.5 * (rows + np.roll(rows, 1, axis=0))])


def _change(what: str, error: float) -> str:
    return f"{what} predictions by up to {error:.1g} of their range, at centres and between"


def _report(path: Path, target: str, description: Description, language: str, *, content: bytes, note: str) -> Exported:
    at_least, a_sum, an_exponential = COSTS[target]
    n, m = description.multiply_adds, description.exponentials
    return Exported(
        path,
        language,
        n_bytes=len(content),
        multiply_adds=n,
        exponentials=m,
        microseconds=at_least + 1e-3 * (a_sum * n + an_exponential * m),
        note=note,
    )
