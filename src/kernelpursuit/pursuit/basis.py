"""An orthonormal basis of the picked atoms in the inner product <i, j> = d_i' d_j + L_ij.

The penalty is turned into coordinates: with a Cholesky factor C of L over the picked atoms, `C'C = L`, the inner
product is the plain one of the vectors (d_j, c_j), sample values followed by a column of C. So there is one
Gram-Schmidt process for every penalty, and with none the second part has no length.

Letters, as in the rest of this folder:

    V    the directions, one row each: sample values v_t, then coordinates in the penalty
    R    upper triangular, atom k = sum_t R_tk direction t
    p    <atom, direction t> for every t
    rho  length of what is new in an atom, R_kk
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsv

from kernelpursuit import _native

# An atom is numerically dependent when less than this part of its squared length is new. It is a few hundred times
# what rounding leaves of an atom that is exactly dependent, and what the running scores can still resolve.
DEPENDENT = 1e-13
# Daniel, Gragg, Kaufman and Stewart (1976): orthogonalise again when the length fell below this part.
REORTHOGONALISE_BELOW = 0.5**0.5
MAX_SWEEPS = 4
# What rounding may leave of a squared pivot of L, relative to the diagonal entry.
PIVOT_FLOOR = 4 * np.finfo(np.float64).eps
# Directions that there is room for from the start; memory is taken only as they come.
FIRST_ROOM = 1024


def grown(array: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the array with room for at least `n_rows` rows: itself, or a copy of twice the size."""
    if n_rows <= len(array):
        return array
    larger = np.empty((max(n_rows, 2 * len(array)), *array.shape[1:]))
    larger[: len(array)] = array
    return larger


@dataclass
class Direction:
    """What is new in an atom: its length, its products with the basis, and its vector, not yet of unit length."""

    rho: float
    p: np.ndarray
    vector: np.ndarray


class Basis:
    """The directions so far, and the factor R that leads from them back to the atoms.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    capacity : int
        Directions to make room for at first; the room grows as needed.
    penalised : bool
        Whether atoms have coordinates in a penalty.
    """

    def __init__(self, n_rows: int, capacity: int, penalised: bool, n_threads: int | None = None):
        self.size = 0
        self.n_rows = n_rows
        self.n_coordinates = 0
        self.n_floored = 0
        self.n_threads = n_threads
        capacity = min(capacity, FIRST_ROOM)
        self._vectors = np.empty((capacity, n_rows + capacity * penalised))
        self._R = np.zeros((capacity, capacity))
        self._C = np.zeros((capacity * penalised, capacity * penalised))

    def reserve(self) -> None:
        """Make room for one more direction, twice as much as there was where there is none."""
        room = len(self._R)
        if self.size < room:
            return
        room = 2 * max(room, 1)
        self._R = np.pad(self._R, (0, room - len(self._R)))
        if self._C.size:
            self._C = np.pad(self._C, (0, room - len(self._C)))
            wide = np.zeros((room, self.n_rows + room))
            wide[: self.size, : self._vectors.shape[1]] = self.vectors
            self._vectors = wide
        else:
            self._vectors = grown(self._vectors, room)

    @property
    def full_width(self) -> int:
        """Length of a vector, coordinates not yet in use included."""
        return self._vectors.shape[1]

    @property
    def width(self) -> int:
        """How many entries of a vector are in use. Sums stop there, so that they do not depend on the capacity."""
        return self.n_rows + self.n_coordinates

    @property
    def vectors(self) -> np.ndarray:
        """The directions in full, shape (size, full_width)."""
        return self._vectors[: self.size]

    @property
    def V(self) -> np.ndarray:
        """Sample values of the directions, shape (size, n_rows)."""
        return self.vectors[:, : self.n_rows]

    @property
    def R(self) -> np.ndarray:
        """The triangular factor, shape (size, size)."""
        return self._R[: self.size, : self.size]

    def lift(self, columns: np.ndarray, between: np.ndarray | None, own: np.ndarray) -> np.ndarray:
        """Vectors of atoms from their sample values, shape (n_columns, full_width).

        `between` holds L between the penalised atoms of the basis (rows) and these (columns), None for zeros; `own`
        their own entries of L. An atom's part of its own takes the next free coordinate.
        """
        if not self._C.size:
            return columns
        vectors = np.zeros((len(columns), self._vectors.shape[1]))
        vectors[:, : self.n_rows] = columns
        coordinates = vectors[:, self.n_rows :]
        m = self.n_coordinates
        left = own
        if between is not None and m:
            # One right-hand side at a time: LAPACK may round several of them in another way, and what an atom is
            # must not depend on what it is looked at with.
            factor = np.asfortranarray(self._C[:m, :m])
            for j, column in enumerate(between.T):
                coordinates[j, :m] = dtrsv(factor, column, trans=1)
            left = own - np.einsum("ij,ij->i", coordinates, coordinates)
        coordinates[:, m] = np.sqrt(np.maximum(left, PIVOT_FLOOR * own))
        return vectors

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """`p` for several atoms at once, shape (size, n_vectors): one read of the basis."""
        return _native.stored_rmatvec(self.vectors, vectors, n_threads=self.n_threads).T

    def orthogonalise(self, vector: np.ndarray, p: np.ndarray) -> Direction | None:
        """Return what is new in an atom, or None where that is nothing but rounding.

        `p` are the atom's products with the directions, as `project` gives them.

        Notes
        -----
        Classical Gram-Schmidt, repeated until a sweep no longer shortens the vector by more than 1/sqrt(2). A sweep
        subtracts `p` and, in the same read of the basis, projects what is left: k sweeps read it k + 1 times, not 2k.
        """
        z = vector.copy()
        total = np.zeros_like(p)
        length = float(np.linalg.norm(vector))
        floor = DEPENDENT**0.5 * length
        for _ in range(MAX_SWEEPS):
            before, total = length, total + p
            p, squared = _native.sweep(self.vectors, p, z, self.n_threads)
            length = squared**0.5
            if length <= floor:
                return None
            if length > REORTHOGONALISE_BELOW * before:
                return Direction(length, total, z)
        return None

    def append(self, direction: Direction, coordinates: np.ndarray | None) -> np.ndarray:
        """Add a direction, and its atom's column of C where the atom is penalised; return the unit vector."""
        t, m = self.size, self.n_coordinates
        self._R[:t, t] = direction.p
        self._R[t, t] = direction.rho
        np.divide(direction.vector, direction.rho, out=self._vectors[t])
        if coordinates is not None and self._C.size:
            self._C[: m + 1, m] = coordinates[: m + 1]
            self.n_coordinates += 1
            own = float(coordinates @ coordinates)
            self.n_floored += bool(coordinates[m] ** 2 <= 2 * PIVOT_FLOOR * own)
        self.size += 1
        return self._vectors[t]
