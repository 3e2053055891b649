"""Rows as a fit that learns takes them: copies joined, weights of mean one, wild targets left out, targets in units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.learning.constants import DENSE_UP_TO, MAX_CATEGORIES, MAX_SCALES, REPEATED_FRACTION
from kernelpursuit.learning.gross_errors import gross_errors, tame_features, wild_targets
from kernelpursuit.learning.sample import CONSTANT_TOLERANCE
from kernelpursuit.rows import Distinct, distinct_numbers

# Beside the largest, a smaller weight changes nothing; it is taken for this one, so that its root stays in range.
MIN_RELATIVE_WEIGHT = 1e-30
# Weights are equal, or whole numbers of times the least, up to rounding: of sums of thousands of copies (n eps), and of
# weights that were written with nine digits or divided by their sum.
EQUAL_WEIGHT_TOLERANCE, WHOLE_NUMBER_TOLERANCE = 1e-12, 1e-9


@dataclass(frozen=True)
class DistinctRows:
    """What is learned from: rows, some of which may be copies of others.

    X, y      rows, dense or sparse, and targets as the loss takes them, shape (n_rows, n_targets)
    distinct  which rows differ, and their weights
    counts    how many observations each row stands for; None for one, with all its copies
    """

    X: Matrix
    y: np.ndarray
    distinct: Distinct
    counts: np.ndarray | None = None


@dataclass(frozen=True)
class Observations:
    """What is left of given rows, each of them once.

    X, y     rows and targets of shape (n_rows, n_targets)
    weights  of mean one, or how many observations a row stands for; None for ones
    counts   how many observations a row stands for, where its weight says something else; None for the weights
    rows     numbers of the given rows; None for all of them
    units    of the targets, one for each, where there are several; else None
    """

    X: Matrix
    y: np.ndarray
    weights: np.ndarray | None
    counts: np.ndarray | None
    rows: np.ndarray | None
    units: np.ndarray | None

    @property
    def each(self) -> np.ndarray | None:
        """How many observations each row stands for; None where that is one."""
        if self.weights is None:
            return None
        return np.maximum(self.weights, 1.0) if self.counts is None else self.counts

    @property
    def standardised(self) -> np.ndarray:
        """The targets in their units."""
        return self.y if self.units is None else self.y / self.units


def observe(
    X: Matrix,
    y: np.ndarray,
    weights: np.ndarray | None,
    counted: np.ndarray | None,
    *,
    squared: bool,
    bears_outliers: bool,
    names: Sequence[str] | None = None,
) -> Observations:
    """Join copies of rows, normalise weights, and look for gross errors.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows, n_targets)
    weights : array of shape (n_rows,), optional
        How much each row counts; a row of weight 0 is left out.
    counted : array of shape (n_rows,), optional
        How often each row was seen, where its weight says something else.
    squared : bool
        Whether targets are numbers of the squared loss, which have units.
    bears_outliers : bool
        Whether targets are labels, or their loss bears outliers, so that wild ones need not be looked for.
    names : sequence of str, optional
        Names of the features.

    Notes
    -----
    Equal rows, in features and target, are one observation that was copied: with its copies, it is left out as a
    whole. Where targets are categories and features are too, or repeat with other targets, equal rows are observations
    of their own; of those a whole row is no more than one. In both cases weights that are all equal are no weights,
    and a row of weight 2 is the row twice.
    """
    X = _dense_where_it_fits(X)
    rows, weights, counts = _joined(X, y, weights, counted)
    if rows is not None:
        X, y = X[rows], y[rows]
    X = tame_features(X, rows, names)
    if not bears_outliers:
        wild = wild_targets(y, rows)
        if wild.any():
            kept = np.flatnonzero(~wild)
            rows = kept if rows is None else rows[kept]
            X, y = X[kept], y[kept]
            # Without counts, weights are how many observations a row stands for.
            weights = None if weights is None else weights[kept]
            weights = weights if weights is None or counts is None else _of_mean_one(weights)
            counts = None if counts is None else counts[kept]
    return Observations(
        X, y, weights, counts=counts, rows=rows, units=target_units(y) if squared and y.shape[1] > 1 else None
    )


def _dense_where_it_fits(X: Matrix) -> Matrix:
    if not sp.issparse(X):
        return X
    fits = X.shape[1] <= MAX_SCALES and X.shape[0] * X.shape[1] <= DENSE_UP_TO
    return X.toarray() if fits else sp.csr_array(X)


def _joined(
    X: Matrix, y: np.ndarray, weights: np.ndarray | None, counted: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Numbers of the rows that differ, their weights and counts; each of these None where it says nothing."""
    relative = None if weights is None else _relative(weights)
    distinct = Distinct.of(X, y, relative)
    order = np.argsort(distinct.first)
    rows, sums = distinct.first[order], distinct.weights[order]
    seen = distinct.which >= 0
    times = relative if relative is None or counted is None else _relative(counted)
    counts = _counts(distinct.which[seen], None if times is None else times[seen])[order]
    if (counts > 1).any() and _copies_are_observations(X, y, distinct):
        same = _are_equal(sums / counts)
        weights = counts if same else sums * (counts.sum() / sums.sum())
        kept_counts = None if same else counts
    else:
        weights = None if _are_equal(sums) else _of_mean_one(sums)
        kept_counts = None if weights is None else np.ones(len(rows))
    return (None if len(rows) == X.shape[0] else rows), weights, kept_counts


def _relative(weights: np.ndarray) -> np.ndarray:
    """Weights beside the largest, those that are not zero with enough digits left."""
    return np.where(weights > 0, np.maximum(weights / weights.max(), MIN_RELATIVE_WEIGHT), 0.0)


def _of_mean_one(weights: np.ndarray) -> np.ndarray:
    return weights / weights.mean()


def _are_equal(weights: np.ndarray) -> bool:
    return bool(weights.max() - weights.min() <= EQUAL_WEIGHT_TOLERANCE * weights.max())


def _counts(which: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """How many observations each distinct row stands for, by weights that are whole numbers of times the least.

    Of other weights, each given row is one. What all have in common is divided out: if every row was given a hundred
    times, that is no more than once.
    """
    each = np.ones(len(which))
    if weights is not None:
        times = weights / weights[weights > 0].min()
        if times.max() < 2**31 and (np.abs(times - np.round(times)) <= WHOLE_NUMBER_TOLERANCE * times).all():
            each = np.round(times)
    counts = np.bincount(which, weights=each).astype(np.int64)
    return (counts // np.gcd.reduce(counts)).astype(np.float64)


def _copies_are_observations(X: Matrix, y: np.ndarray, distinct: Distinct) -> bool:
    """Whether equal rows were seen more than once, and not copied: targets are categories, and features repeat."""
    first = distinct.first
    if any(_is_real(column) for column in y[first].T):
        return False
    if len(np.unique(distinct_numbers(X[first]))) <= (1 - REPEATED_FRACTION) * len(first):
        return True
    return not sp.issparse(X) and not any(_is_real(column[first]) for column in X.T)


def _is_real(column: np.ndarray) -> bool:
    return len(np.unique(column)) > min(MAX_CATEGORIES, len(column) // 2)


def target_units(y: np.ndarray) -> np.ndarray:
    """A unit for each target, its standard deviation without gross errors; of a constant one, its size."""
    units = np.empty(y.shape[1])
    for j, column in enumerate(y.T):
        size = float(np.abs(column).max()) or 1.0
        spread = float((column[~gross_errors(column)] / size).std())
        units[j] = size * (spread if spread > CONSTANT_TOLERANCE else 1.0)
    return units
