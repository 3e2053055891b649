"""What least squares needs to know of rows: products of columns with each other and with targets, which add up.

Letters, as in the rest of this folder:

    D   columns of a model on rows, one row each: what is fixed, then atoms; times the root of the sample weights
    G   D D', the products of the columns with each other
    c   D y, their products with the targets
    R   upper triangular, R'R = G + L
    V   the directions R^-T D: orthonormal, with their coordinates in the penalty L
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.rows import RowBlock

# Directions are made so many at a time, each of the atoms up to their own.
PANEL = 64


@dataclass(frozen=True)
class Moments:
    """Products over rows; those of two sets of rows add up to those of both.

    Sums are taken in the order in which they are written: the same blocks in the same order give the same bits.

    gram            G, shape (n_columns, n_columns)
    products        c, shape (n_columns, n_targets)
    target_squares  y'y of each target, shape (n_targets,)
    total_weight    sum of the sample weights
    n_rows          number of rows

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.pursuit.moments import Moments
    >>> D, y = np.arange(12.0).reshape(3, 4), np.ones((1, 4))
    >>> both = Moments.of_block(D[:, :1], y[:, :1]) + Moments.of_block(D[:, 1:], y[:, 1:])
    >>> bool((both.gram == D @ D.T).all()), both.n_rows
    (True, 4)
    """

    gram: np.ndarray
    products: np.ndarray
    target_squares: np.ndarray
    total_weight: float
    n_rows: int

    @classmethod
    def of_block(cls, columns: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> Moments:
        """The moments of one block: columns of shape (n_columns, n_rows), targets of shape (n_targets, n_rows).

        Cost: `n_columns² n_rows` multiplications, by one symmetric product.
        """
        total = float(columns.shape[1])
        if weights is not None:
            root, total = np.sqrt(weights), float(weights.sum())
            columns, y = columns * root, y * root
        return cls(
            columns @ columns.T, columns @ y.T, np.einsum("ij,ij->i", y, y), total_weight=total, n_rows=columns.shape[1]
        )

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of rows."""
        return Moments(
            self.gram + other.gram,
            self.products + other.products,
            self.target_squares + other.target_squares,
            total_weight=self.total_weight + other.total_weight,
            n_rows=self.n_rows + other.n_rows,
        )

    def times(self, factor: float) -> Moments:
        """The moments of rows that count so many times as much."""
        return Moments(
            factor * self.gram,
            factor * self.products,
            factor * self.target_squares,
            total_weight=factor * self.total_weight,
            n_rows=self.n_rows,
        )

    @property
    def target_norm(self) -> float:
        """The root of the sum of all squared targets."""
        return float(np.sqrt(self.target_squares.sum()))

    def factor(self, penalty: np.ndarray) -> np.ndarray | None:
        """R with `R'R = G + L`, for a penalty matrix L; None where a column is dependent on those before it."""
        R, failed = dpotrf(self.gram + penalty, clean=1)
        return None if failed or not np.isfinite(R).all() else R


@dataclass(frozen=True)
class ModelColumns:
    """The columns of a model as functions of rows: the constant, what is always in, then atoms.

    dictionary, atoms  the atoms, by their numbers in a dictionary
    always             other functions that are fixed, or None
    intercept          whether there is a constant
    inverse            R^-1, where directions are wanted in place of columns; else None
    """

    dictionary: Dictionary
    atoms: np.ndarray
    always: Dictionary | None
    intercept: bool
    inverse: np.ndarray | None = None

    @property
    def n_fixed(self) -> int:
        """Number of columns that are in every model."""
        return int(self.intercept) + (0 if self.always is None else self.always.n_atoms)

    def __len__(self) -> int:
        """Number of columns."""
        return self.n_fixed + len(self.atoms)

    def orthonormal(self, R: np.ndarray) -> ModelColumns:
        """The directions that R leads from."""
        return replace(self, inverse=solve_upper(R, np.eye(len(R))))

    def values(self, X: Matrix) -> np.ndarray:
        """Values of the columns on rows, or of the directions, shape (n_columns, n_rows)."""
        out, first = np.empty((len(self), X.shape[0])), int(self.intercept)
        out[:first] = 1.0
        if self.always is not None:
            always = self.always.block(self.always.rows(X), np.arange(self.always.n_atoms), n_threads=1)
            out[first : self.n_fixed] = always
        if len(self.atoms):
            self.dictionary.fill(self.dictionary.rows(X), self.atoms, out[self.n_fixed :], 1)
        return out if self.inverse is None else directions(self.inverse, out)


def directions(inverse: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`R^-T D` from `R^-1`: matrix products that leave out most of what is zero, and that threads can share.

    A triangular solve would hold the interpreter's lock, and be no more accurate: both round to about the condition of
    R, which is the root of that of G.
    """
    out = np.empty_like(columns)
    for start in range(0, len(inverse), PANEL):
        stop = min(start + PANEL, len(inverse))
        np.matmul(inverse[:stop, start:stop].T, columns[:stop], out=out[start:stop])
    return out


@dataclass(frozen=True)
class MomentsOf:
    """The moments of columns on a block of rows, for a pass over a source."""

    columns: ModelColumns

    def __call__(self, block: RowBlock) -> Moments:
        """The moments of these rows."""
        return Moments.of_block(self.columns.values(block.X), block.y.T, block.weights)
