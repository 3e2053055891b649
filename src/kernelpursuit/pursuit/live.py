"""Least squares over rows that keep coming: atoms stay, and what is known of the rows adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf

from kernelpursuit.penalties import Atoms, Penalty
from kernelpursuit.pursuit.moments import ModelColumns, Moments, MomentsOf
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.pursuit.triangular_factor import WELL_CONDITIONED
from kernelpursuit.rows import ArraySource, RowBlock, block_size

# The least part of a new atom's squared length that is new beside the others: rounding of values leaves four digits.
NEW = 1e-12
# Where rows that count tell nothing of some atoms, products are indefinite by rounding. A ridge of the mean square of a
# direction times the first of these that makes them definite stands for what is not known.
RIDGES = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True)
class Solution:
    """The models of every size k = 0, 1, ... over the rows so far.

    R, b             the triangular factor of all columns, and the coefficients of its directions
    cost             penalised cost, shape (n_sizes,)
    target_residual  sums of squared residuals, shape (n_sizes, n_targets)
    dof              effective degrees of freedom, shape (n_sizes,)
    ridge            of the mean square of a direction, which was added to factorise the products; commonly 0
    """

    R: np.ndarray
    b: np.ndarray
    cost: np.ndarray
    target_residual: np.ndarray
    dof: np.ndarray
    ridge: float = 0.0


@dataclass(frozen=True)
class LiveFit:
    """A least-squares fit by its moments, to which rows are added.

    columns   what is fixed, then atoms, as the directions that `R` leads from
    R         from these directions to the columns
    moments   of the directions, over all rows so far
    penalty, alpha   what holds the weights of atoms back

    Notes
    -----
    Columns that are nearly dependent lose twice as many digits in G as there are between them. So moments are those of
    directions that are nearly orthonormal over the rows so far: those of the fit that this began with, and new ones
    when they are so no more.
    """

    columns: ModelColumns
    R: np.ndarray
    moments: Moments
    penalty: str | Penalty | None
    alpha: float

    @classmethod
    def of(
        cls, columns: ModelColumns, fitted: Solution, rows: Moments, *, penalty: str | Penalty | None, alpha: float
    ) -> LiveFit:
        """What a fit leaves: with `R'R = G + L`, its directions have the products `I - R^-T L R^-1`.

        Of `rows`, the sum of the weights and the number of rows are taken; they need not be looked at again.
        """
        live = cls(columns.orthonormal(fitted.R), fitted.R, rows, penalty=penalty, alpha=alpha)
        gram = np.eye(len(fitted.R)) - live._penalty_of_directions(live._matrix())
        explained = 2 * np.square(fitted.b).sum(axis=0) - np.einsum("ij,ik,kj->j", fitted.b, gram, fitted.b)
        squares = fitted.target_residual[-1] + explained
        return replace(live, moments=replace(rows, gram=gram, products=fitted.b, target_squares=squares))

    def added(self, block: RowBlock, forgetting: float = 1.0, n_threads: int | None = 1) -> LiveFit:
        """The fit with more rows; every row counts `forgetting` times as much as the one after it.

        Cost: `n k²` multiplications and n k kernel values.
        """
        n_rows, weights = len(block), block.weights
        moments = self.moments
        if forgetting < 1:
            weights = block.sample_weights * forgetting ** np.arange(n_rows - 1, -1, -1.0)
            moments = moments.times(forgetting**n_rows)
        source = ArraySource(block.X, block.y, weights)
        more = source.reduce(MomentsOf(self.columns), block_size(len(self.columns)), n_threads=n_threads)
        return replace(self, moments=moments + more)

    def with_atoms(self, columns: ModelColumns, block: RowBlock, earlier: RowBlock) -> tuple[LiveFit, np.ndarray]:
        """The fit with more atoms after those it has, and which of the new ones they are.

        `columns` are all atoms, of which those are left out that are dependent on others. The rows of the block are
        among those that were added already, with these weights; a few `earlier` rows stand for all the others, with
        the weight of these, and with what the model leaves of them for targets.

        Notes
        -----
        To the rows of the block, a new atom is what it is. To those before them it is what the directions say of it, by
        the regression on the earlier rows, and beside it what that leaves, which is orthogonal to the directions. So
        products stay those of one set of columns, and the fit that of least squares. What is new in an atom is found by
        its values, less their projection on the directions: so it keeps the digits that the difference of squares
        would lose.
        """
        old, inverse, moments = len(self.columns), self.columns.inverse, self.moments
        assert inverse is not None
        L = replace(self, columns=columns)._matrix()
        between, own_penalty = inverse.T @ L[:old, old:], self._penalty_of_directions(L[:old, :old])
        U, _ = self._factor(own_penalty)
        root, root_earlier = np.sqrt(block.sample_weights), np.sqrt(earlier.sample_weights)
        before, more = self.columns.values(block.X) * root, columns.values(block.X)[old:] * root
        known, seen = self.columns.values(earlier.X) * root_earlier, columns.values(earlier.X)[old:] * root_earlier
        own = np.einsum("ij,ij->i", more, more) + np.einsum("ij,ij->i", seen, seen) + np.diagonal(L)[old:]
        # Directions have unit products over all rows; a ridge stands for what so few rows do not tell of these.
        A = np.linalg.solve(known @ known.T + old / max(len(earlier), 1) * np.eye(old), known @ seen.T)
        seen, more = seen - A.T @ known, more - A.T @ before
        P = solve_upper(U, solve_upper(U, before @ more.T + between - own_penalty @ A, transposed=True))
        y, gram_before = block.y * root[:, None], moments.gram - before @ before.T
        more = more - P.T @ before
        cross = before @ more.T - gram_before @ P
        products = more @ y - P.T @ (moments.products - before @ y) + seen @ (earlier.y * root_earlier[:, None])
        inside = more @ more.T + seen @ seen.T + P.T @ gram_before @ P
        P = A + P
        # The penalty between what is left: atoms as sums of the old ones and of themselves.
        sums = np.vstack([-inverse @ P, np.eye(len(more))])
        R, kept = _new_directions(inside + sums.T @ L @ sums, own)
        inside = solve_upper(R, solve_upper(R, inside[np.ix_(kept, kept)], transposed=True).T, transposed=True)
        cross = solve_upper(R, cross[:, kept].T, transposed=True).T
        gram = np.block([[moments.gram, cross], [cross.T, 0.5 * (inside + inside.T)]])
        products = np.vstack([moments.products, solve_upper(R, products[kept], transposed=True)])
        whole = np.block([[self.R, P[:, kept]], [np.zeros((len(kept), old)), R]])
        n_atoms = old - columns.n_fixed
        atoms = columns.dictionary.take(columns.atoms[np.concatenate([np.arange(n_atoms), n_atoms + kept])])
        columns = replace(columns, dictionary=atoms, atoms=np.arange(atoms.n_atoms)).orthonormal(whole)
        return replace(self, columns=columns, R=whole, moments=replace(moments, gram=gram, products=products)), kept

    def solved(self) -> tuple[Solution, LiveFit]:
        """The models of every size, and this fit with directions that are nearly orthonormal again."""
        L = self._matrix()
        penalty = self._penalty_of_directions(L)
        total = self.moments.gram + penalty
        U, ridge = self._factor(penalty)
        R, b = np.triu(U @ self.R), solve_upper(U, self.moments.products, transposed=True)
        live = self
        if not dpocon(U, np.abs(total).sum(axis=0).max())[0] > WELL_CONDITIONED:
            half = solve_upper(U, self.moments.gram, transposed=True)
            gram = solve_upper(U, np.ascontiguousarray(half.T), transposed=True)
            moments = replace(self.moments, gram=0.5 * (gram + gram.T), products=b)
            live = replace(self, columns=replace(self.columns, inverse=None).orthonormal(R), R=R, moments=moments)
        return replace(self._criteria(R, b, L), ridge=ridge), live

    def _factor(self, penalty: np.ndarray) -> tuple[np.ndarray, float]:
        """R with `R'R = G + L`, and the ridge that was needed for it, commonly 0."""
        U = self.moments.factor(penalty)
        if U is not None:
            return U, 0.0
        size = float(np.trace(self.moments.gram + penalty)) / len(penalty)
        for ridge in RIDGES:
            U = self.moments.factor(penalty + ridge * size * np.eye(len(penalty)))
            if U is not None:
                return U, ridge
        raise ValueError(
            "atoms are dependent on each other over the rows that count; give a larger alpha, or a forgetting nearer "
            "to 1."
        )

    def _criteria(self, R: np.ndarray, b: np.ndarray, L: np.ndarray) -> Solution:
        """What products alone say of every size: with P the penalty between directions, I - P are their products."""
        n_fixed, squares = self.columns.n_fixed, self.moments.target_squares
        inverse = solve_upper(R, np.eye(len(R)))
        products = np.eye(len(R)) - inverse.T @ L @ inverse
        sizes = slice(max(n_fixed - 1, 0), None)

        def of_sizes(sums: np.ndarray) -> np.ndarray:
            """Sums over the columns of every size."""
            return sums[sizes] if n_fixed else np.concatenate([np.zeros((1, *sums.shape[1:])), sums])

        explained = np.cumsum(np.square(b), axis=0)
        fitted = np.stack(
            [np.diagonal(np.cumsum(np.cumsum(np.outer(one, one) * products, axis=0), axis=1)) for one in b.T], axis=1
        )
        residual = np.maximum(squares - of_sizes(2 * explained - fitted), 0.0)
        cost = np.maximum(squares.sum() - of_sizes(explained).sum(axis=1), 0.0)
        dof = of_sizes(np.cumsum(np.diagonal(products)))
        return Solution(R, b, cost, target_residual=residual, dof=dof)

    def _matrix(self) -> np.ndarray:
        """L between columns; what is fixed has none."""
        n_fixed, n_columns = self.columns.n_fixed, len(self.columns)
        atoms = self.columns.dictionary.take(self.columns.atoms)
        L = np.zeros((n_columns, n_columns))
        found, _ = resolve_penalty(self.penalty, self.alpha, Atoms.of(atoms, self.moments.total_weight))
        if found is not None:
            L[n_fixed:, n_fixed:] = found.matrix()
        return L

    def _penalty_of_directions(self, L: np.ndarray) -> np.ndarray:
        assert self.columns.inverse is not None
        return self.columns.inverse.T @ L @ self.columns.inverse


def _new_directions(products: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The triangular factor of products between atoms, and which of them have something new beside those before."""
    left, kept = products.copy(), []
    for j in range(len(own)):
        if left[j, j] > NEW * own[j]:
            kept.append(j)
            left = left - np.outer(left[:, j], left[j]) / left[j, j]
    chosen = np.array(kept, dtype=np.intp)
    # What is barely new may be lost in rounding; as a metric, a little more will do.
    R, failed = dpotrf(products[np.ix_(chosen, chosen)] + NEW * np.diag(own[chosen]), clean=1)
    n_kept = failed - 1 if failed else len(chosen)
    return R[:n_kept, :n_kept], chosen[:n_kept]
