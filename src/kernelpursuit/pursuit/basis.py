"""An orthonormal basis of the picked atoms in the inner product <i, j> = d_i' d_j + L_ij.

Letters, as in the rest of this folder:

    V    sample values v_t of the directions, one row each
    R    upper triangular, atom k = sum_t R_tk direction t
    L    the penalty between picked atoms, None where there is no penalty
    p    <atom, direction t> for every t
    rho  length of what is new in an atom, R_kk

Direction t has the weights T_t = R^{-1} e_t over the picked atoms, so a product with it in the penalty is a product
with `R^{-T}`; nothing of the size of the data is needed for that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

# An atom is numerically dependent when less than this part of its squared length is new. It is a few hundred times
# what rounding leaves of an atom that is exactly dependent, and what the running scores can still resolve.
DEPENDENT = 1e-13
# Daniel, Gragg, Kaufman and Stewart (1976): orthogonalise again when the length fell below this part.
REORTHOGONALISE_BELOW = 0.5**0.5
MAX_SWEEPS = 4
# Rows handled at a time where one sweep's subtraction and the next one's projection share a read of V.
CHUNK_ROWS = 8192


@dataclass
class Direction:
    """What is new in an atom: its length, its products with the basis, and its sample values."""

    rho: float
    p: np.ndarray
    values: np.ndarray
    sweeps: int


class Basis:
    """The directions so far, and the factor R that leads from them back to the atoms."""

    def __init__(self, n_rows: int, capacity: int, penalised: bool):
        self.size = 0
        self._V = np.empty((capacity, n_rows))
        self._R = np.zeros((capacity, capacity))
        self._L = np.zeros((capacity, capacity)) if penalised else None

    @property
    def V(self) -> np.ndarray:
        """Sample values of the directions, shape (size, n_rows)."""
        return self._V[: self.size]

    @property
    def R(self) -> np.ndarray:
        """The triangular factor, shape (size, size)."""
        return self._R[: self.size, : self.size]

    @property
    def L(self) -> np.ndarray | None:
        """The penalty between picked atoms, shape (size, size)."""
        return None if self._L is None else self._L[: self.size, : self.size]

    def project(self, columns: np.ndarray, between: np.ndarray | None) -> np.ndarray:
        """`p` for several atoms at once, shape (size, n_columns): one matrix product over the basis.

        `between` holds the penalty between picked atoms (rows) and these atoms (columns).
        """
        p = self.V @ columns.T
        if between is not None and self.size:
            p += self._back(between)
        return p

    def weights(self, b: np.ndarray) -> np.ndarray:
        """Weights of the picked atoms for coefficients `b` of the directions: R^{-1} b."""
        return solve_triangular(self.R, b, check_finite=False) if self.size else b

    def _back(self, x: np.ndarray) -> np.ndarray:
        return solve_triangular(self.R, x, trans="T", check_finite=False)

    def orthogonalise(
        self, column: np.ndarray, p: np.ndarray, inner: float, between: np.ndarray | None, own_penalty: float
    ) -> Direction | None:
        """Return what is new in an atom, or None where that is nothing but rounding.

        Parameters
        ----------
        column : sample values of the atom
        p : its products with the directions, as `project` gives them
        inner : <atom, atom>
        between : penalty between picked atoms and this one, or None
        own_penalty : the atom's own entry of L

        Notes
        -----
        Classical Gram-Schmidt, repeated until a sweep no longer shortens the vector by more than 1/sqrt(2). A sweep
        subtracts `p` and, in the same read of V, projects what is left, so k sweeps read V k + 1 times, not 2k.
        """
        z = column.copy()
        total = np.zeros_like(p)
        length = np.sqrt(inner)
        floor = np.sqrt(DEPENDENT * inner)
        for sweep in range(1, MAX_SWEEPS + 1):
            before, total = length, total + p
            z, p, squared = self._sweep(z, p)
            if self._L is not None:
                q, left, squared_penalty = self._penalty_left(total, between, own_penalty)
                p, squared = p + left, squared + squared_penalty
            length = np.sqrt(max(squared, 0.0))
            if length <= floor:
                return None
            if length > REORTHOGONALISE_BELOW * before:
                return Direction(float(length), total, z, sweep)
        return None

    def _sweep(self, z: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Subtract `p` from z in place; return z, its products with V, and its squared length."""
        after = np.zeros_like(p)
        squared = 0.0
        for start in range(0, len(z), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            part = z[rows]
            if self.size:
                V = self.V[:, rows]
                part -= p @ V
                after += V @ part
            squared += float(part @ part)
        return z, after, squared

    def _penalty_left(
        self, p: np.ndarray, between: np.ndarray | None, own_penalty: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The penalty's share after subtracting `p`: weights q, products with the directions, squared length."""
        assert self._L is not None
        if not self.size:
            return p, p, own_penalty
        cross = np.zeros(self.size) if between is None else between
        q = self.weights(p)
        Lq = self.L @ q
        squared = own_penalty - 2 * float(q @ cross) + float(q @ Lq)
        return q, self._back(cross - Lq), max(squared, 0.0)

    def append(self, direction: Direction, between: np.ndarray | None, own_penalty: float) -> np.ndarray:
        """Add a direction; return its sample values, of unit length in the inner product."""
        t = self.size
        self._R[:t, t] = direction.p
        self._R[t, t] = direction.rho
        np.divide(direction.values, direction.rho, out=self._V[t])
        if self._L is not None:
            self._L[t, t] = own_penalty
            if between is not None:
                self._L[:t, t] = self._L[t, :t] = between
        self.size += 1
        return self._V[t]
