"""Rows as learning sees them: standardised, shuffled once, and dealt out in samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Fewer rows that differ than this say nothing of scales.
FEWEST_ROWS = 20
# A feature whose values differ by less than this part of their size is constant but for rounding.
CONSTANT = 1e-12


@dataclass(frozen=True)
class Standard:
    """Centre and spread of every feature; the spread of a constant one is 0, and it is left out."""

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray) -> Standard:
        """Weighted mean and standard deviation, computed so that no square over- or underflows."""
        X = np.asarray(X, dtype=np.float64)
        share = weights / weights.sum()
        largest = np.abs(X).max(axis=0)
        size = np.where(largest > 0, largest, 1.0)
        relative = X / size
        center = share @ relative
        spread = np.sqrt(share @ np.square(relative - center))
        spread[spread <= CONSTANT] = 0.0
        return cls(center * size, spread * size)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Standardised rows; constant features are 0."""
        used = self.spread > 0
        return np.where(used, (np.asarray(X, dtype=np.float64) - self.center) / np.where(used, self.spread, 1.0), 0.0)

    def only(self, features: np.ndarray) -> Standard:
        """The same with all other features left out."""
        spread = np.zeros_like(self.spread)
        spread[features] = self.spread[features]
        return Standard(self.center, spread)

    def undo(self, Z: np.ndarray) -> np.ndarray:
        """Rows in the units of the caller; constant features are at their constant."""
        return Z * self.spread + self.center


@dataclass(frozen=True)
class Rows:
    """Some standardised rows, their targets of shape (n_targets, n_rows), and weights."""

    Z: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.weights)

    def take(self, which: Any) -> Rows:
        """These rows."""
        return Rows(self.Z[which], self.y[:, which], self.weights[which])


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
    def of(cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> Distinct:
        """Find the rows of (X, y) that differ."""
        seen = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        both = np.hstack([np.asarray(X, dtype=np.float64), y])[seen]
        # In the order of their numbers, of which rounding to float32 changes little.
        order = np.lexsort(both.T)
        is_new = np.concatenate([[True], (both[order[1:]] != both[order[:-1]]).any(axis=1)])
        first, which = order[is_new], np.empty(len(seen), dtype=np.intp)
        which[order] = np.cumsum(is_new) - 1
        everywhere = np.full(len(X), -1)
        everywhere[seen] = which
        given = None if weights is None else weights[seen]
        return cls(seen[first], np.bincount(which, weights=given).astype(np.float64), everywhere)

    def __len__(self) -> int:
        """How many they are."""
        return len(self.first)

    def are_enough(self, X: np.ndarray) -> bool:
        """Whether enough of them differ, and in their features, for something to be learned."""
        return len(self) >= FEWEST_ROWS and bool((X[self.first] != X[self.first[0]]).any())


def joined(first: Rows, second: Rows) -> Rows:
    """Rows of both."""
    return Rows(
        np.vstack([first.Z, second.Z]),
        np.hstack([first.y, second.y]),
        np.concatenate([first.weights, second.weights]),
    )
