"""Values that are taken for errors: alone, or a code for missing ones, and far from all others of their column.

A heavy tail is no error. A value is only taken for one where a gap parts it from the others that is many times as wide
as all of those together, so that the usual shapes of data (normal, lognormal, exponential, counts, rare events, t with
three degrees of freedom) have none.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.exceptions import GrossErrorWarning
from kernelpursuit.learning.constants import (
    CODE_FRACTION,
    CODE_GAP,
    FEW_GROSS_ERRORS,
    GROSS_ERROR_FRACTION,
    GROSS_ERROR_GAP,
    MAX_RANGES_AWAY,
    MIN_DISTINCT_VALUES,
    MIN_TAIL,
    MIN_VALUES,
    TAIL_FRACTION,
    TAIL_LOG_ODDS,
)

# Numbers that are written for missing values.
MISSING_VALUE_CODES = (-999.0, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0)
# How many values a warning names.
MAX_NAMED_VALUES = 3


def gross_errors(values: np.ndarray) -> np.ndarray:
    """Mark the gross errors of one column, shape (n_rows,).

    The range of the others leaves out as many of the smallest (for errors at the top) as could be errors themselves,
    so that errors on both sides do not hide each other. Cost: a sort, where the extremes are far enough out for that.
    """
    values = np.asarray(values, dtype=np.float64)
    found = np.zeros(len(values), dtype=bool)
    if len(values) < MIN_VALUES:
        return found
    for code in {float(values.min()), float(values.max())}.intersection(MISSING_VALUE_CODES):
        found |= _is_code(values, code)
    rest = np.flatnonzero(~found)
    if len(rest) < MIN_VALUES or not _has_extremes(values[rest]):
        return found
    ordered = np.sort(values[rest])
    top, bottom = _lowest_error(ordered), -_lowest_error(-ordered[::-1])
    found[rest] = (values[rest] >= top) | (values[rest] <= bottom)
    return found


def _is_code(values: np.ndarray, code: float) -> np.ndarray:
    """Mark a code of missing values, where it is far from all others."""
    marked = values == code
    others = values[~marked]
    if marked.sum() > CODE_FRACTION * len(values) or len(others) < MIN_VALUES or others.max() == others.min():
        return np.zeros_like(marked)
    gap = min(abs(code - others.min()), abs(code - others.max()))
    return marked if gap > CODE_GAP * (others.max() - others.min()) else np.zeros_like(marked)


def _has_extremes(values: np.ndarray) -> bool:
    """Whether an extreme is so many standard deviations out as the few gross errors of a column must be."""
    # In units of the largest, so that no square overflows.
    relative = values / (np.abs(values).max() or 1.0)
    few = _most_errors(len(values))
    away = np.abs(relative - relative.mean()).max()
    return bool(away > 0.5 * np.sqrt((len(values) - few) / few) * relative.std())


def _most_errors(n_values: int) -> int:
    return max(FEW_GROSS_ERRORS, int(GROSS_ERROR_FRACTION * n_values))


def _lowest_error(ordered: np.ndarray) -> float:
    """The least of the gross errors at the top of ascending values; infinite where there are none."""
    n, few = len(ordered), _most_errors(len(ordered))
    # In halves, so that no difference overflows.
    half = ordered / 2
    below = half[n - few - 1 : n - 1]  # the largest that is left, if the m = few, ..., 1 largest are errors
    is_gap = (half[n - few :] - below) / GROSS_ERROR_GAP > below - half[few]
    for place in n - few + np.flatnonzero(is_gap):
        others = ordered[few:place]
        if len(np.unique(others)) >= MIN_DISTINCT_VALUES and not _belongs_to_tail(ordered[place], others):
            return float(ordered[place])
    return np.inf


def _belongs_to_tail(value: float, others: np.ndarray) -> bool:
    """Whether a value is as far out as a heavy tail, with the index of the others, may reach.

    Where the m largest distances from the median have a tail of `(d / d_0) ** (-1 / H)` beyond the least of them, d_0,
    the mean of their `log(d / d_0)` is H (Hill's estimate), and the largest has one of about `H log m`.
    """
    middle = float(np.median(others))
    # In units of the value, so that no difference overflows.
    distances = np.abs(others / value - middle / value)
    distances = np.sort(distances[distances > 0])
    tail = distances[-max(MIN_TAIL, int(TAIL_FRACTION * len(distances))) :]
    if len(tail) < MIN_TAIL:
        return True
    # Of few values, the estimate may be too small by so much.
    index = float(np.log(tail / tail[0]).mean()) * (1.0 + 2.0 / np.sqrt(len(tail)))
    return float(np.log(abs(1.0 - middle / value) / tail[0])) < index * (np.log(len(tail)) + TAIL_LOG_ODDS)


def gross_errors_of(X: np.ndarray) -> dict[int, np.ndarray]:
    """By column of a dense array, the marks of its gross errors, for the columns that have some."""
    marks = ((j, gross_errors(X[:, j])) for j in range(X.shape[1]))
    return {j: marked for j, marked in marks if marked.any()}


def tame_features(X: Matrix, rows: np.ndarray | None, names: Sequence[str] | None) -> Matrix:
    """Warn of the gross errors of features, and return rows in which they are no farther than any kernel reaches.

    There they are as alone as where they were, but do not take the digits of the others when those are centred. `rows`
    are the numbers that the caller has for the rows of X. Sparse rows stay as they are.
    """
    found = {} if sp.issparse(X) else gross_errors_of(X)
    if found:
        n_values = sum(int(marked.sum()) for marked in found.values())
        places = [
            f"{X[row, j]:g} in {_column(j, names)}, row {row if rows is None else rows[row]}"
            for j, marked in found.items()
            for row in np.flatnonzero(marked)[:MAX_NAMED_VALUES]
        ]
        warnings.warn(
            f"X holds {_count(n_values)} far from all others: {_some(places, n_values)}; features are standardised "
            "without such values, but correct them, fill them in, or drop the rows.",
            GrossErrorWarning,
            stacklevel=7,
        )
        X = X.copy()
    for j, marked in found.items():
        usual = X[~marked, j]
        reach = MAX_RANGES_AWAY * (usual.max() - usual.min())
        X[:, j] = np.clip(X[:, j], usual.min() - reach, usual.max() + reach)
    return X


def usual_targets(y: np.ndarray, extremes: np.ndarray) -> np.ndarray:
    """Least and largest of each target that is no gross error, shape (2, n_targets), infinite where none is one.

    `y` are the targets of a sample, and `extremes` the least and the largest of all, both of shape (any, n_targets).
    Between usual values and errors the limit is half-way.
    """
    limits = np.tile([[-np.inf], [np.inf]], y.shape[1])
    for j, (column, beyond) in enumerate(zip(y.T, extremes.T)):
        values = np.concatenate([column, beyond])
        marked = gross_errors(values)
        usual = values[~marked]
        below, above = values[marked & (values < usual.min())], values[marked & (values > usual.max())]
        if len(below):
            limits[0, j] = 0.5 * below.max() + 0.5 * usual.min()
        if len(above):
            limits[1, j] = 0.5 * above.min() + 0.5 * usual.max()
    if np.isfinite(limits).any():
        strange = np.unique(extremes[((extremes < limits[0]) | (extremes > limits[1])).any(axis=1)])
        warnings.warn(
            f"y holds values far from all others: {_some([f'{value:g}' for value in strange], len(strange))}; such "
            "rows are left out of the fit; correct or drop them, or use loss='huber', which is robust.",
            GrossErrorWarning,
            stacklevel=7,
        )
    return limits


def range_of_features(X: Matrix) -> np.ndarray | None:
    """Values of features farther than which no kernel reaches, shape (2, n_features), from a sample; None if sparse."""
    if sp.issparse(X):
        return None
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    reach = MAX_RANGES_AWAY * (high - low)
    return np.array([low - reach, high + reach])


def wild_targets(y: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    """Mark the rows of which a target is a gross error, and warn of them; `y` of shape (n_rows, n_targets)."""
    found = gross_errors_of(y)
    wild = np.zeros(len(y), dtype=bool)
    places = []
    for j, marked in found.items():
        wild |= marked
        column = "" if y.shape[1] == 1 else f"target {j}, "
        places += [f"{y[i, j]:g} in {column}row {i if rows is None else rows[i]}" for i in np.flatnonzero(marked)]
    if places:
        warnings.warn(
            f"y holds {_count(len(places))} far from all others: {_some(places, len(places))}; such rows are left out "
            "of the fit; correct or drop them, or use loss='huber', which is robust.",
            GrossErrorWarning,
            stacklevel=7,
        )
    return wild


def _column(j: int, names: Sequence[str] | None) -> str:
    return f"feature {j}" if names is None else f"feature {names[j]!r}"


def _count(n_values: int) -> str:
    return "a value" if n_values == 1 else f"{n_values} values"


def _some(places: list[str], n_values: int) -> str:
    return ", ".join(places[:MAX_NAMED_VALUES]) + (", ..." if n_values > MAX_NAMED_VALUES else "")
