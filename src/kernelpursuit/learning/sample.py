"""Rows as learning sees them: standardised, shuffled once, and dealt out in samples."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.learning.constants import (
    COMMON_ROWS,
    MAX_EVIDENCE_WEIGHT,
    MAX_STANDARD_WEIGHT,
    MAX_STANDARDISED_VALUES,
    MAX_TARGET_RANGES,
    RARE_SHARE,
    TARGET_QUANTILES,
)
from kernelpursuit.learning.gross_errors import gross_errors
from kernelpursuit.pursuit.reducers.quantiles import evenly
from kernelpursuit.rows import Distinct, Statistics, slices

# A feature whose values differ by less than this fraction of their size is constant but for rounding: a mean of n
# values is off by up to some n eps of their size, 1e-12 for thousands of rows.
CONSTANT_TOLERANCE = 1e-12
# Streams of random numbers; each stage has its own, so that what one draws does not move the others.
SHUFFLE_STREAM, SCALES_STREAM, REFINE_STREAM, FINAL_LOSS_STREAM, CODES_STREAM = 11, 12, 13, 14, 15
CLASSES_STREAM = 16
# Gross errors are no more than so many spreads from the centre: that is 100 widths of a kernel with the least scale of
# 1e-4, where all vanish, and no square overflows.
STANDARDISED_LIMITS = (-1e6, 1e6)
# Some rows: a slice, their numbers, or marks.
Selection = slice | np.ndarray


@dataclass(frozen=True)
class Standard:
    """Centre and spread of every feature; the spread of a constant one is 0, and it is left out."""

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: Matrix, weights: np.ndarray, rows: np.ndarray | None = None) -> Standard:
        """Weighted mean and standard deviation without gross errors, so that no square over- or underflows.

        Of the rows of X that are named, or of all, some are looked at at a time. Sparse rows keep their origin, since
        kernels of differences do not depend on it.
        """
        share = _shares(weights)
        parts = [
            (part if rows is None else rows[part], share[part])
            for part in slices(len(weights), max(1, MAX_STANDARDISED_VALUES // _values_a_row(X)))
        ]
        if sp.issparse(X):
            return _of_sparse_rows(X, parts)
        largest = np.max([np.abs(_dense_rows(X, which)).max(axis=0) for which, _ in parts], axis=0)
        size = np.where(largest > 0, largest, 1.0)
        if len(parts) == 1:
            relative = _dense_rows(X, parts[0][0]) / size
            center = share @ relative
            spread = np.sqrt(share @ np.square(relative - center))
        else:
            found = (Statistics.of_block(_dense_rows(X, which), shares, size) for which, shares in parts)
            center, spread = _center_and_spread(found)
        for j in range(X.shape[1]):
            column = np.asarray(X[:, j] if rows is None else X[rows, j], dtype=np.float64)
            wild = gross_errors(column)
            if wild.any():
                usual, values = share[~wild] / share[~wild].sum(), column[~wild]
                size[j] = np.abs(values).max() or 1.0
                center[j] = usual @ (values / size[j])
                spread[j] = np.sqrt(usual @ np.square(values / size[j] - center[j]))
        spread[spread <= CONSTANT_TOLERANCE] = 0.0
        return cls(center * size, spread * size)

    def apply(self, X: Matrix) -> Matrix:
        """Standardised rows; constant features are 0. Of sparse rows, all are sparse."""
        used = self.spread > 0
        divisor = np.where(used, self.spread, 1.0)
        if sp.issparse(X):
            return sp.csr_array(X.astype(np.float64).multiply(np.where(used, 1.0 / divisor, 0.0)))
        return np.where(
            used, np.clip((np.asarray(X, dtype=np.float64) - self.center) / divisor, *STANDARDISED_LIMITS), 0.0
        )

    def only(self, features: np.ndarray) -> Standard:
        """The same with all other features left out."""
        spread = np.zeros_like(self.spread)
        spread[features] = self.spread[features]
        return Standard(self.center, spread)

    def undo(self, Z: np.ndarray) -> np.ndarray:
        """Rows in the units of the caller; constant features are at their constant."""
        return Z * self.spread + self.center


def _shares(weights: np.ndarray) -> np.ndarray:
    """Shares that sum to one; a row of a very large weight counts for no more than some others."""
    usual = usual_weights(weights, MAX_STANDARD_WEIGHT)
    return usual / usual.sum()


def _values_a_row(X: Matrix) -> int:
    """Values of a row that are stored, on average."""
    return max(1, -(-X.nnz // X.shape[0]) if sp.issparse(X) else X.shape[1])


def _dense_rows(X: Matrix, which: Selection) -> np.ndarray:
    return np.asarray(X[which], dtype=np.float64)


def _center_and_spread(found: Iterable[Statistics]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over blocks, added up in their order."""
    total = functools.reduce(operator.add, found)
    return total.mean, total.spread


def _of_sparse_rows(X: Matrix, parts: Sequence[tuple[Selection, np.ndarray]]) -> Standard:
    """The origin, and the standard deviation of every feature; values that are not stored are zeros."""
    largest = np.zeros(X.shape[1])
    for which, _ in parts:
        np.maximum(largest, np.asarray(abs(X[which]).max(axis=0).todense()).ravel(), out=largest)
    center, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for which, share in parts:
        relative = sp.csr_array(X[which].astype(np.float64).multiply(1.0 / np.where(largest > 0, largest, 1.0)))
        center += relative.T @ share
        squares += relative.multiply(relative).T @ share
    spread = np.sqrt(np.maximum(squares - np.square(center), 0.0))
    # What cancels leaves the root of the rounding.
    spread[spread <= np.sqrt(CONSTANT_TOLERANCE)] = 0.0
    return Standard(np.zeros(X.shape[1]), spread * largest)


@dataclass(frozen=True)
class Standardised:
    """Rows of X by their numbers, that are standardised when they are looked at."""

    X: Matrix
    numbers: np.ndarray
    standard: Standard

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of features."""
        return len(self.numbers), self.X.shape[1]

    def __getitem__(self, which: Selection) -> Matrix:
        """Some of the rows; standardised now, where they are few enough to be kept so."""
        return replace(self, numbers=self.numbers[which]).where_few()

    def where_few(self) -> Matrix:
        """The rows themselves, where they are few enough."""
        return self.values() if len(self.numbers) * _values_a_row(self.X) <= MAX_STANDARDISED_VALUES else self

    def values(self) -> Matrix:
        """The standardised rows, dense or sparse as X is."""
        return self.standard.apply(self.X[self.numbers])


@dataclass(frozen=True)
class Rows:
    """Some standardised rows, their targets of shape (n_targets, n_rows), weights, and counts where those are not one.

    The rows may be sparse, or many and not standardised yet; they are made dense and standardised where their values
    are asked for, and so never all of them at once.
    """

    given: Matrix
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray | None = None

    @property
    def units(self) -> np.ndarray:
        """How many observations each row stands for: left out, it goes once."""
        return np.ones(len(self)) if self.counts is None else self.counts

    @property
    def n_effective(self) -> float:
        """How many observations of equal weight say as much; a row of very large weight counts as a large one."""
        return effective_size(usual_weights(self.weights), self.units)

    @property
    def noise_unit(self) -> float:
        """The sum of weights for each such observation: a row of this weight has the noise of one."""
        return float(usual_weights(self.weights).sum()) / self.n_effective

    def of_unit_noise(self) -> Rows:
        """The rows with weights in that unit."""
        return replace(self, weights=self.weights / self.noise_unit)

    @property
    def Z(self) -> np.ndarray:
        """The rows as a dense array."""
        given = self.given.values() if isinstance(self.given, Standardised) else self.given
        return given.toarray() if sp.issparse(given) else given

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return sp.issparse(self.given.X if isinstance(self.given, Standardised) else self.given)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.weights)

    def take(self, which: Selection) -> Rows:
        """These rows."""
        counts = None if self.counts is None else self.counts[which]
        return Rows(self.given[which], self.y[:, which], self.weights[which], counts)


def varies(Z: Matrix) -> np.ndarray:
    """Which features of standardised rows have other values than 0."""
    if isinstance(Z, Standardised):
        return Z.standard.spread > 0
    if sp.issparse(Z):
        return np.bincount(Z.indices[Z.data != 0], minlength=Z.shape[1]) > 0
    return Z.any(axis=0)


def without_wild_values(y: np.ndarray) -> np.ndarray:
    """Targets, those far beyond nearly all others moved nearer: one of them would decide what squares say."""
    low, high = np.quantile(y, TARGET_QUANTILES, axis=1, keepdims=True)
    far = MAX_TARGET_RANGES * (high - low)
    return np.where(far > 0, np.clip(y, low - far, high + far), y)


def effective_size(weights: np.ndarray, units: np.ndarray) -> float:
    """How many observations of equal weight say as much as rows of these weights, each of which stands for some.

    That is Kish's effective size, `(sum w)² / sum (w² / units)`.
    """
    relative = weights / weights.max()
    return float(relative.sum() ** 2 / (np.square(relative) / units).sum())


def usual_weights(weights: np.ndarray, most: float = MAX_EVIDENCE_WEIGHT) -> np.ndarray:
    """Weights of which none is more than so many times the median: one row does not outweigh all others."""
    return np.minimum(weights, most * np.median(weights))


def joined(first: Rows, second: Rows) -> Rows:
    """Rows of both."""
    return Rows(
        np.vstack([first.Z, second.Z]),
        np.hstack([first.y, second.y]),
        np.concatenate([first.weights, second.weights]),
        None if first.counts is None else np.concatenate([first.units, second.units]),
    )


def drawn_from(seed: int, stream: int) -> np.random.Generator:
    """Random numbers of one stream."""
    return np.random.default_rng([seed, 0, stream])


def with_fewer_common_rows(
    classes: np.ndarray, weights: np.ndarray | None, distinct: Distinct, seed: int
) -> np.ndarray | None:
    """Weights that leave out most rows of common classes where others are rare, and make up for it in what is left.

    All samples then hold rows of the rare ones, and sums over them are the same on average.
    """
    given = np.ones(len(classes)) if weights is None else weights
    # In an order that is no matter of how rows were given.
    of_distinct = classes[distinct.first]
    # A class of few rows is rare in samples, whatever weight its rows have.
    shares = np.bincount(of_distinct) / len(distinct)
    if shares[shares > 0].min() >= RARE_SHARE:
        return weights
    generator, factors = drawn_from(seed, CLASSES_STREAM), np.zeros(len(distinct))
    for label in range(len(shares)):
        members = np.flatnonzero(of_distinct == label)
        kept = members if len(members) <= COMMON_ROWS else generator.permutation(members)[:COMMON_ROWS]
        if len(kept):
            factors[kept] = distinct.weights[members].sum() / distinct.weights[kept].sum()
    return np.where(distinct.which >= 0, given * factors[distinct.which], 0.0)


def with_unseen_rows(marks: np.ndarray, seen: np.ndarray, weights: np.ndarray | None, distinct: Distinct) -> np.ndarray:
    """Marks of validation rows with as large a share of the rows that were left out of learning.

    `seen` are the weights that were learned with, and `weights` those that rows have.
    """
    is_left_out = seen == 0 if weights is None else (seen == 0) & (weights > 0)
    # Copies of a row stay together, and the order of rows is no matter.
    unseen, share = np.unique(distinct.which[is_left_out]), marks[seen > 0].mean()
    more = evenly(unseen, int(share * len(unseen)))
    return marks | np.isin(distinct.which, more)
