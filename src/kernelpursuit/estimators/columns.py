"""Columns that hold text or dates, named with what to do about them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.rows.columns import DATES, TEXT

LABELS = "give numbers, or use KernelPursuitClassifier for labels"
# What a column is called where there is no other.
WHOLE = "it"
# Values of a column that are looked at for one that is no number.
MOST_LOOKED_AT = 100_000


def refuse_dates(X: Matrix) -> None:
    """Refuse columns of dates and of time spans: NumPy would take the number of their nanoseconds for a feature."""
    for name, column in _columns(X, "mM"):
        found = _first(column, (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta))
        if found is not None:
            raise ValueError(f"{name} holds dates or times, such as {_shown(found)}; {DATES}.")


def column_of_text(X: Matrix) -> str | None:
    """The sentence for the first column with a value that is text and no number, or None."""
    for name, column in _columns(X, "OUST"):
        found = _first(column, str)
        if found is not None:
            return f"{name} holds text, such as {found!r}; {LABELS if name == WHOLE else TEXT}"
    return None


def _columns(X: Matrix, kinds: str) -> Iterator[tuple[str, np.ndarray]]:
    """Names and values of the columns whose values are of one of these kinds, or objects."""
    kinds += "O"
    if hasattr(X, "columns") and hasattr(X, "__getitem__") and not hasattr(X, "tocsr"):
        for name in X.columns:
            column = X[name]
            if getattr(column, "ndim", 1) == 1 and not _is_numeric(column):
                values = np.asarray(column)
                if values.dtype.kind in kinds:
                    yield f"column {name!r}", values
        return
    if hasattr(X, "to_numpy"):
        X = np.asarray(X)  # one column of a data frame
    if not isinstance(X, (np.ndarray, list, tuple)):
        return
    try:
        values = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:
        return  # rows of different lengths, of which scikit-learn has its own sentence
    if values.dtype.kind not in kinds or values.ndim not in (1, 2):
        return
    if values.ndim == 1:
        yield WHOLE, values
        return
    for j in range(values.shape[1]):
        yield f"column {j} (counted from 0)", values[:, j]


def _is_numeric(column: Any) -> bool:
    dtype = getattr(column, "dtype", None)
    return getattr(dtype, "kind", "O") in "biuf"


def _first(values: np.ndarray, kinds: Any) -> Any:
    """The first value of one of these kinds; of text, the first that is not a number."""
    if values.dtype.kind in "mM":
        known = values[~np.isnat(values)]
        return known[0] if len(known) else values[0] if len(values) else None
    for value in values[:MOST_LOOKED_AT].tolist():
        if isinstance(value, kinds) and not (isinstance(value, str) and _is_number(value)):
            return value
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:
    return re.sub(r"[T ]00:00:00(\.0+)?$", "", str(value))
