"""An orthonormal basis of the picked atoms in the inner product <i, j> = d_i' d_j + L_ij.

The penalty is turned into coordinates: with a Cholesky factor C of L over the picked atoms, `C'C = L`, the inner
product is the plain one of the vectors (d_j, c_j), sample values followed by a column of C. So there is one
Gram-Schmidt process for every penalty, and with none the second part has no length.

Letters, as in the rest of this folder:

    V, T  the directions, one row each: sample values v_t, and coordinates in the penalty
    R     upper triangular, atom k = sum_t R_tk direction t
    p     <atom, direction t> for every t
    rho   length of what is new in an atom, R_kk
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from kernelpursuit import _native
from kernelpursuit.pursuit.products import inner_products, subtract_products
from kernelpursuit.pursuit.triangular import solve_upper

# An atom is numerically dependent when less than this fraction of its squared length is new. Running scores know that
# fraction as a difference of sums of k squares, to about k eps: 1e-13 for the few hundred atoms of a model.
DEPENDENT = 1e-13
# Orthogonalise again while the cosine with a direction of the basis is, root mean square, above this: a few eps is what
# the rounding of the subtraction itself leaves. Two sweeps do it as a rule (Kahan's "twice is enough"), twice as many
# where nearly nothing is new.
ORTHOGONAL = 8 * np.finfo(np.float64).eps
MAX_SWEEPS = 4
# Directions that there is room for from the start; memory is taken only as they come.
FIRST_ROOM = 1024
# Atoms of a block are orthogonalised against the basis this many at a time. Below a fraction CLEARLY_NEW of its squared
# length that is new, an atom is left to `orthogonalise`: the Cholesky factor of a panel squares its condition number,
# and has a fraction of 1e-10 with a relative error of 64 eps / 1e-10, four digits.
PANEL = 64
CLEARLY_NEW = 1e-10


def grown(array: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the array with room for at least `n_rows` rows: itself, or a copy of twice the size."""
    if n_rows <= len(array):
        return array
    larger = np.empty((max(n_rows, 2 * len(array)), *array.shape[1:]))
    larger[: len(array)] = array
    return larger


@dataclass
class Direction:
    """What is new in an atom: its length, its products with the basis, and its vector, made to be of unit length.

    The values lie where the direction will in the basis, and are valid until others are looked for.
    """

    rho: float
    p: np.ndarray
    values: np.ndarray
    coordinates: np.ndarray


@dataclass
class Rotations:
    """How the basis was turned when an atom left it.

    column               the atom's column of R
    cosines, sines       of the rotations in planes (t, t + 1), (t + 1, t + 2), ..., where t was the atom's position
    values, coordinates  the direction that left, of unit length; valid until the next one is appended
    """

    column: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    values: np.ndarray
    coordinates: np.ndarray


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
        self.n_coordinates = 0
        self.n_threads = n_threads
        self.penalised = penalised
        capacity = min(capacity, FIRST_ROOM)
        self._V = np.empty((capacity, n_rows))
        self._R = np.zeros((capacity, capacity))
        room = capacity * penalised
        self._T, self._C = np.zeros((capacity, room)), np.zeros((room, room))

    def reserve(self, n_more: int = 1) -> None:
        """Make room for more directions and coordinates, twice as much as there was where there is too little."""
        room, wanted = len(self._R), max(self.size, self.n_coordinates) + n_more
        if wanted <= room:
            return
        room = max(2 * room, wanted)
        self._V = grown(self._V, room)
        self._R = np.pad(self._R, (0, room - len(self._R)))
        if self.penalised:
            self._T, self._C = (np.pad(square, (0, room - len(square))) for square in (self._T, self._C))
        else:
            self._T = np.zeros((room, 0))

    @property
    def V(self) -> np.ndarray:
        """Sample values of the directions, shape (size, n_rows)."""
        return self._V[: self.size]

    @property
    def T(self) -> np.ndarray:
        """Coordinates of the directions in the penalty, shape (size, n_coordinates)."""
        return self._T[: self.size, : self.n_coordinates]

    @property
    def R(self) -> np.ndarray:
        """The triangular factor, shape (size, size)."""
        return self._R[: self.size, : self.size]

    @property
    def C(self) -> np.ndarray:
        """The Cholesky factor of L over the atoms that have a coordinate, `C'C = L`."""
        return self._C[: self.n_coordinates, : self.n_coordinates]

    def project(self, values: np.ndarray, coordinates: np.ndarray | None = None) -> np.ndarray:
        """`p` for several atoms at once, shape (size, n_atoms): one read of the basis.

        Coordinates beyond those that directions have so far do not count.
        """
        p = _native.stored_rmatvec(self.V, values, n_threads=self.n_threads).T
        if coordinates is not None and self.n_coordinates:
            p += _native.stored_rmatvec(self.T, coordinates[:, : self.n_coordinates], n_threads=1).T
        return p

    def orthogonalise(
        self,
        values: np.ndarray,
        coordinates: np.ndarray,
        p: np.ndarray,
        inner: float,
        dependent: float = DEPENDENT,
    ) -> Direction | None:
        """Return what is new in an atom, or None where that is less than a fraction `dependent` of its length squared.

        `p` are the atom's products with the directions, as `project` gives them, and `inner` its squared length.

        Notes
        -----
        Classical Gram-Schmidt, repeated until the vector is orthogonal to the basis to a few eps (Daniel, Gragg,
        Kaufman and Stewart, 1976). A sweep subtracts `p` and, in the same read of the basis, projects what is left:
        so it is known, and need not be guessed from the lengths, whether another sweep is needed.
        """
        self.reserve()
        z, c, m = self._V[self.size], coordinates.copy(), self.n_coordinates
        z[:] = values
        total = np.zeros_like(p)
        for _ in range(MAX_SWEEPS):
            total = total + p
            after, squared = _native.sweep(self.V, p, z, self.n_threads)
            if len(c):
                c[:m] -= p @ self.T
                after += self.T @ c[:m]
                squared += float(c @ c)
            p = after
            if squared <= dependent * inner:
                return None
            if p @ p <= ORTHOGONAL**2 * max(self.size, 1) * squared:
                rho = squared**0.5
                z /= rho
                return Direction(rho, total, z, c / rho)
        return None

    def room_ahead(self, n_more: int) -> np.ndarray:
        """Where the next directions will lie, shape (n_more, n_rows), for atoms to be written and made orthonormal."""
        self.reserve(n_more)
        return self._V[self.size : self.size + n_more]

    def orthogonalise_ahead(self, own: np.ndarray) -> list[Direction]:
        """Make atoms in `room_ahead` orthonormal: the directions they will be, if they are appended in this order.

        `own` are their coordinates in the penalty, one each, which no other atom has; with no penalty they are not
        looked at. The list ends before the first atom of which too little is new to be resolved here.

        Notes
        -----
        Block Gram-Schmidt with Cholesky factors of panels, until the factor of what is left is close to one (Yamamoto
        et al. 2015): matrix products, where one atom after the other reads the basis over and over.
        """
        start, found = self.size, list[Direction]()
        if self.penalised:
            self._T[start : start + len(own)] = 0.0
            columns = self.n_coordinates + np.arange(len(own))
            self._T[start + np.arange(len(own)), columns] = own
        for first in range(start, start + len(own), PANEL):
            end = min(first + PANEL, start + len(own))
            p, U, lengths = self._orthogonal_panel(first, end)
            clear = np.diagonal(U) > np.sqrt(CLEARLY_NEW) * lengths
            n_clear = len(clear) if clear.all() else int(np.argmin(clear))
            for j in range(n_clear):
                t = first + j
                known = t - start + self.n_coordinates + 1 if self.penalised else 0
                products = np.concatenate([p[:, j], U[:j, j]])
                found.append(Direction(float(U[j, j]), products, self._V[t], self._T[t, :known].copy()))
            if first + n_clear < end:
                break
        return found

    def _orthogonal_panel(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Make the rows from first to end orthonormal, to those before them and among themselves.

        Returns the factor that leads back, products with the rows before and upper triangular, and the lengths that
        the rows had. All of them are for the leading rows alone, where a later one is dependent on these.
        """
        before, panel = (self._V[:first], self._T[:first]), (self._V[first:end], self._T[first:end])
        lengths = np.sqrt(sum(np.einsum("ij,ij->i", part, part) for part in panel))
        total, U = np.zeros((first, end - first)), np.eye(end - first)
        for _ in range(MAX_SWEEPS):
            p = inner_products(before[0], panel[0], self.n_threads) + before[1] @ panel[1].T
            for part, old in zip(panel, before):
                subtract_products(part, [(p.T, old)], self.n_threads)
            total += p @ U
            among = inner_products(panel[0], panel[0], self.n_threads) + panel[1] @ panel[1].T
            factor, n_failed = dpotrf(among, clean=1)
            if n_failed:
                n_left = n_failed - 1
                factor, _ = dpotrf(among[:n_left, :n_left], clean=1) if n_left else (among[:0, :0], 0)
                panel = panel[0][:n_left], panel[1][:n_left]
                total, U, lengths = total[:, :n_left], U[:n_left, :n_left], lengths[:n_left]
            for part in panel:
                # In place: the rows of a part are the columns that BLAS sees.
                part[:] = dtrsm(1.0, factor, part.T, side=1, overwrite_b=1).T if part.size else part
            n_left = _n_finite(panel[0])
            if n_left < len(factor):
                # Rounding has left a pivot so small of a dependent row that dividing by it overflows.
                factor, panel = factor[:n_left, :n_left], (panel[0][:n_left], panel[1][:n_left])
                total, U, lengths = total[:, :n_left], U[:n_left, :n_left], lengths[:n_left]
            U = factor @ U
            # A factor this close to one was taken of rows that are orthonormal to its square.
            if np.abs(factor - np.eye(len(factor))).max(initial=0.0) <= ORTHOGONAL**0.5:
                return total, U, lengths
        return total[:, :0], U[:0, :0], lengths[:0]

    def append(self, direction: Direction) -> None:
        """Add a direction."""
        t = self.size
        self._R[:t, t] = direction.p
        self._R[t, t] = direction.rho
        if self.penalised:
            self._T[t] = 0.0
            self._T[t, : len(direction.coordinates)] = direction.coordinates
        self.size += 1

    def add_coordinate(self, coordinates: np.ndarray) -> None:
        """Let an atom bring the coordinate that is the last of its own: `coordinates` is its column of C."""
        m = self.n_coordinates
        self._C[: m + 1, m] = coordinates
        self.n_coordinates = m + 1

    def reweight(self, factor: np.ndarray) -> np.ndarray:
        """Multiply sample values by a factor for every row, and make the directions orthonormal again.

        Returns S, by which coordinates in the old directions become those in the new ones. The directions are the
        rows of a matrix whose condition is at most that of the factors, so that two rounds of Cholesky (Yamamoto et
        al. 2015) leave them orthonormal to rounding: matrix products, where Gram-Schmidt would read the basis often.
        """
        V, T = self.V, self.T
        V *= factor
        S = np.eye(self.size)
        for _ in range(2):
            U = cholesky(V @ V.T + T @ T.T, check_finite=False)
            V[:] = solve_upper(U, V, transposed=True)
            T[:] = solve_upper(U, T, transposed=True)
            S = U @ S
        self._R = self._R.copy()
        self._R[: self.size, : self.size] = np.triu(S @ self._R[: self.size, : self.size])
        return S

    def drop(self, t: int) -> Rotations:
        """Take the atom at position t out of the factorisation (Nair algorithm 3).

        Without its column R is upper Hessenberg; Givens rotations of rows t, t + 1, ... make it triangular again, and
        turn the directions along. The last direction then belongs to none of the atoms left.
        """
        last = self.size - 1
        # A new array: factors that were handed out stay what they were.
        self._R = R = self._R.copy()
        column = R[: last + 1, t].copy()
        R[: last + 1, t:last] = R[: last + 1, t + 1 : last + 1]
        R[: last + 1, last] = 0.0
        cosines, sines = np.ones(last - t), np.zeros(last - t)
        for i in range(t, last):
            length = float(np.hypot(R[i, i], R[i + 1, i]))
            c, s = R[i, i] / length, R[i + 1, i] / length
            R[i : i + 2, i:last] = np.array([[c, s], [-s, c]]) @ R[i : i + 2, i:last]
            R[i, i], R[i + 1, i] = length, 0.0
            cosines[i - t], sines[i - t] = c, s
        _native.rotate(self._V[t : last + 1], cosines, sines, self.n_threads)
        if self.penalised:
            _native.rotate(self._T[t : last + 1], cosines, sines, 1)
        self.size = last
        values, coordinates = self._V[last], self._T[last, : self.n_coordinates]
        return Rotations(column, cosines, sines, values=values, coordinates=coordinates)


def _n_finite(rows: np.ndarray) -> int:
    """How many of the leading rows are finite."""
    finite = np.isfinite(rows).all(axis=1)
    return len(rows) if finite.all() else int(np.argmin(finite))
