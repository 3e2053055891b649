"""Rows as learning sees them: standardised, shuffled once, and dealt out in samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelpursuit.learning.gross_errors import gross_errors_of

# Fewer rows that differ than this say nothing of scales.
FEWEST_ROWS = 20
# A feature whose values differ by less than this part of their size is constant but for rounding.
CONSTANT = 1e-12
# Of more features than this, none has a scale of its own.
MOST_SCALES = 1000
# A sparse X of up to this many entries, zeros included (256 MB), is made dense.
DENSE_UP_TO = 2**25
# In centre and spread, and in evidence, a row counts for no more than so many of median weight.
MOST_TIMES, MOST_IN_EVIDENCE = 100.0, 10.0
# Targets beyond nearly all others by more than this times their range are wild.
NEARLY_ALL, FAR = (0.02, 0.98), 2.0
# Gross errors are no more than so many spreads from the centre: there all kernels vanish, and no square overflows.
LIMITS = (-1e6, 1e6)


@dataclass(frozen=True)
class Standard:
    """Centre and spread of every feature; the spread of a constant one is 0, and it is left out."""

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: Any, weights: np.ndarray) -> Standard:
        """Weighted mean and standard deviation without gross errors, so that no square over- or underflows.

        Sparse rows keep their origin, since kernels of differences do not depend on it.
        """
        if sp.issparse(X):
            return _of_sparse_rows(X, weights)
        X = np.asarray(X, dtype=np.float64)
        share = _shares(weights)
        largest = np.abs(X).max(axis=0)
        size = np.where(largest > 0, largest, 1.0)
        relative = X / size
        center = share @ relative
        spread = np.sqrt(share @ np.square(relative - center))
        for j, wild in gross_errors_of(X).items():
            usual, values = share[~wild] / share[~wild].sum(), X[~wild, j]
            size[j] = np.abs(values).max() or 1.0
            center[j] = usual @ (values / size[j])
            spread[j] = np.sqrt(usual @ np.square(values / size[j] - center[j]))
        spread[spread <= CONSTANT] = 0.0
        return cls(center * size, spread * size)

    def apply(self, X: Any) -> Any:
        """Standardised rows; constant features are 0. Of sparse rows, all are sparse."""
        used = self.spread > 0
        divisor = np.where(used, self.spread, 1.0)
        if sp.issparse(X):
            return sp.csr_array(X.astype(np.float64).multiply(np.where(used, 1.0 / divisor, 0.0)))
        return np.where(used, np.clip((np.asarray(X, dtype=np.float64) - self.center) / divisor, *LIMITS), 0.0)

    def only(self, features: np.ndarray) -> Standard:
        """The same with all other features left out."""
        spread = np.zeros_like(self.spread)
        spread[features] = self.spread[features]
        return Standard(self.center, spread)

    def undo(self, Z: np.ndarray) -> np.ndarray:
        """Rows in the units of the caller; constant features are at their constant."""
        return Z * self.spread + self.center


def _shares(weights: np.ndarray) -> np.ndarray:
    """Shares that sum to one; a row of a very large weight has no more say than some others in what is usual."""
    usual = usual_weights(weights, MOST_TIMES)
    return usual / usual.sum()


def _of_sparse_rows(X: Any, weights: np.ndarray) -> Standard:
    """The origin, and the standard deviation of every feature; values that are not stored are zeros."""
    share = _shares(weights)
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel().astype(np.float64)
    relative = sp.csr_array(X.astype(np.float64).multiply(1.0 / np.where(largest > 0, largest, 1.0)))
    center = relative.T @ share
    spread = np.sqrt(np.maximum(relative.multiply(relative).T @ share - np.square(center), 0.0))
    # What cancels leaves the root of the rounding.
    spread[spread <= np.sqrt(CONSTANT)] = 0.0
    return Standard(np.zeros(X.shape[1]), spread * largest)


@dataclass(frozen=True)
class Rows:
    """Some standardised rows, their targets of shape (n_targets, n_rows), weights, and counts where those are not one.

    The rows may be sparse; they are made dense where their values are asked for, and so never all of them at once.
    """

    given: Any
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
        return self.given.toarray() if sp.issparse(self.given) else self.given

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.weights)

    def take(self, which: Any) -> Rows:
        """These rows."""
        counts = None if self.counts is None else self.counts[which]
        return Rows(self.given[which], self.y[:, which], self.weights[which], counts)


@dataclass(frozen=True)
class Distinct:
    """Rows that differ, in an order that does not depend on how they were given.

    A row that was given twice is here once, with the sum of the weights: so what is learned from samples of them is
    the same for a row of weight 2 and a row that is there twice.

    first    number of the first given row that equals each of them
    weights  their weights
    which    of them each given row is, -1 for a row of weight 0
    """

    first: np.ndarray
    weights: np.ndarray
    which: np.ndarray

    @classmethod
    def of(cls, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Distinct:
        """Find the rows of (X, y) that differ."""
        seen = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        rows = X if len(seen) == X.shape[0] else X[seen]
        if sp.issparse(X):
            both = sp.hstack([sp.csr_array(rows, dtype=np.float64), sp.csr_array(y[seen])], format="csr")
        else:
            both = np.hstack([np.asarray(rows, dtype=np.float64), y[seen]])
        which = distinct_numbers(both)
        first = np.unique(which, return_index=True)[1]
        everywhere = np.full(X.shape[0], -1)
        everywhere[seen] = which
        given = None if weights is None else weights[seen]
        return cls(seen[first], np.bincount(which, weights=given).astype(np.float64), everywhere)

    def __len__(self) -> int:
        """How many they are."""
        return len(self.first)

    def are_enough(self, X: Any) -> bool:
        """Whether enough of them differ, and in their features, for something to be learned."""
        if len(self) < FEWEST_ROWS:
            return False
        if sp.issparse(X):
            return bool(distinct_numbers(X[self.first]).any())
        return bool((X[self.first] != X[self.first[0]]).any())


def varies(Z: Any) -> np.ndarray:
    """Which features of standardised rows have other values than 0."""
    if sp.issparse(Z):
        return np.bincount(Z.indices[Z.data != 0], minlength=Z.shape[1]) > 0
    return Z.any(axis=0)


def distinct_numbers(rows: Any) -> np.ndarray:
    """Number the rows so that equal ones have the same: 0, 1, ... in an order that is no matter of where they are.

    It is that of their numbers, of which rounding to float32 changes little; of rows that would not be made dense, that
    of digests.
    """
    if sp.issparse(rows) or rows.size > DENSE_UP_TO or rows.shape[1] > MOST_SCALES:
        entries = sp.csr_array(rows, copy=True)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        indices, bounds = entries.indices.astype(np.int64), zip(entries.indptr[:-1], entries.indptr[1:])
        keys = [
            blake2b(indices[i:j].tobytes() + entries.data[i:j].tobytes(), digest_size=16).digest() for i, j in bounds
        ]
        return np.unique(np.array(keys), return_inverse=True)[1].reshape(-1)
    order = np.lexsort(rows.T)
    is_new = np.concatenate([[True], (rows[order[1:]] != rows[order[:-1]]).any(axis=1)])
    numbers = np.empty(len(rows), dtype=np.intp)
    numbers[order] = np.cumsum(is_new) - 1
    return numbers


def without_wild_values(y: np.ndarray) -> np.ndarray:
    """Targets, those far beyond nearly all others moved nearer: one of them would decide what squares say."""
    low, high = np.quantile(y, NEARLY_ALL, axis=1, keepdims=True)
    far = FAR * (high - low)
    return np.where(far > 0, np.clip(y, low - far, high + far), y)


def effective_size(weights: np.ndarray, units: np.ndarray) -> float:
    """How many observations of equal weight say as much as rows of these weights, each of which stands for some.

    That is Kish's effective size, `(sum w)² / sum (w² / units)`.
    """
    relative = weights / weights.max()
    return float(relative.sum() ** 2 / (np.square(relative) / units).sum())


def usual_weights(weights: np.ndarray, most: float = MOST_IN_EVIDENCE) -> np.ndarray:
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
