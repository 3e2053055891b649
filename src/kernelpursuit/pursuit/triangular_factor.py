"""The triangular factor of a model over all rows, from moments: passes over blocks, and nothing of n x k numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dpocon

from kernelpursuit.pursuit.moments import ModelColumns, Moments, MomentsOf
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.rows import block_size

# Products of columns whose reciprocal condition number is above this say all that least squares ask for: rounding is
# multiplied by no more than its inverse, and 1e4 eps sqrt(n_columns) is about 1e-10.
WELL_CONDITIONED = 1e-4
# Rows of the sample that columns are made nearly orthonormal on, for each column; fewer than twice as many are all
# looked at twice instead.
ROWS_A_COLUMN = 16
# What is added to the squares of columns on a sample, which may not see all of them.
UNSEEN = 1e-11
MAX_ROUNDS = 3


@dataclass(frozen=True)
class TriangularFactor:
    """Columns of a model as sums of orthonormal directions.

    R             upper triangular, column j = sum_t R_tj direction t; `R'R = G + L`
    b             products of the directions with the targets, shape (n_columns, n_targets)
    target_norm   root of the weighted sum of squared targets
    total_weight  sum of the sample weights
    """

    R: np.ndarray
    b: np.ndarray
    target_norm: float
    total_weight: float

    def reordered(self, columns: np.ndarray) -> TriangularFactor:
        """The factor of the same columns in another order: Householder's, of k x k numbers."""
        Q, R = qr(self.R[:, columns], mode="economic", check_finite=False)
        signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
        return TriangularFactor(signs[:, None] * R, (Q * signs).T @ self.b, self.target_norm, self.total_weight)

    @property
    def new_parts(self) -> np.ndarray:
        """The fraction of each column's squared length that is new beside those before it."""
        return np.square(np.diagonal(self.R)) / np.einsum("ij,ij->j", self.R, self.R)


def triangularise(stream: Stream, penalties: np.ndarray) -> TriangularFactor | None:
    """Return the factor of columns over all rows; None where they are numerically dependent.

    Parameters
    ----------
    stream : Stream
        The rows, and the columns: what is fixed, then atoms.
    penalties : array of shape (n_atoms, n_atoms)
        The penalty L over atoms; what is fixed has none.

    Notes
    -----
    The Cholesky factor of G loses twice as many digits as there are between its columns. So the columns are first made
    nearly orthonormal, by the factor of a sample of the rows, where they are not nearly so by themselves; products of
    these are well conditioned. Where the sample has missed something, or rows are too few for one, a second pass goes
    on where the first has ended, as in CholeskyQR2 (Yamamoto et al. 2015). The sample's part is that of the sketch in
    randomised Cholesky QR (Balabanov 2022): it decides about rounding, and not about what is computed.

    Time: `n k²` multiplications a pass, or twice as many where columns are made orthonormal; mostly one pass.
    """
    columns = stream.columns
    R = _factor_of_sample(stream, penalties)
    for _ in range(MAX_ROUNDS):
        whitened = columns if R is None else columns.orthonormal(R)
        moments = stream.reduce(MomentsOf(whitened), block_size(len(columns)))
        penalty = penalty_of(whitened, penalties)
        U = moments.factor(penalty)
        if U is None:
            return None
        R = U if R is None else np.triu(U @ R)
        if dpocon(U, np.abs(moments.gram + penalty).sum(axis=0).max())[0] > WELL_CONDITIONED:
            b = solve_upper(U, moments.products, transposed=True)
            return TriangularFactor(R, b, moments.target_norm, moments.total_weight)
    return None


def penalty_of(columns: ModelColumns, penalties: np.ndarray) -> np.ndarray:
    """The penalty L between columns, or between directions, shape (n_columns, n_columns)."""
    n_fixed = columns.n_fixed
    if columns.inverse is None:
        return np.pad(penalties, ((n_fixed, 0), (n_fixed, 0)))
    of_atoms = columns.inverse[n_fixed:]
    return of_atoms.T @ penalties @ of_atoms


def _factor_of_sample(stream: Stream, penalties: np.ndarray) -> np.ndarray | None:
    """R of some of the rows, as if they were all; None where no columns need it, or rows are few."""
    columns = stream.columns
    n_sample = ROWS_A_COLUMN * len(columns)
    if stream.n_rows < 2 * n_sample:
        return None
    n_sample = min(n_sample, stream.in_memory.n_rows)
    sample = stream.sample(n_sample)
    moments = Moments.of_block(columns.values(sample.X), sample.y.T, sample.weights)
    gram = moments.gram * (stream.n_rows / n_sample) + penalty_of(columns, penalties)
    gram[np.diag_indices_from(gram)] *= 1.0 + UNSEEN
    # An atom that no row of the sample is near, and that has no penalty, is left as it is.
    gram[np.diag_indices_from(gram)] += np.where(np.diagonal(gram) > 0, 0.0, 1.0)
    U = Moments(
        gram, moments.products, moments.target_squares, total_weight=moments.total_weight, n_rows=n_sample
    ).factor(np.zeros_like(gram))
    if U is None or dpocon(U, np.abs(gram).sum(axis=0).max())[0] > WELL_CONDITIONED:
        return None
    return U
