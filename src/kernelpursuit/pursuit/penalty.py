"""The penalty matrix L of the inner product <i, j> = d_i' d_j + L_ij over atoms, and what of it is in a basis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dtrsv

from kernelpursuit import _native
from kernelpursuit._validate import check_number
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.penalties import Atoms, Penalty, as_penalty
from kernelpursuit.pursuit.basis import Basis

# A positive semidefinite L leaves of an atom's own entry, beside its coordinates, zero but for rounding: eps times the
# condition of what was factored, which `orthogonal.VANISHED_PENALTY` keeps below 1e9. Less than this is no rounding.
NEGATIVE = -1e-6


class Picked(NamedTuple):
    """Atoms in which others have their coordinates.

    basis    the basis of the model
    n_fixed  its first directions, which are not penalised
    atoms    the atoms that brought a coordinate, in order
    """

    basis: Basis
    n_fixed: int
    atoms: np.ndarray


class PenaltyMatrix:
    """`L = strength P` over the atoms that are searched, read entry by entry, and as coordinates of atoms.

    Parameters
    ----------
    penalty : Penalty
        P, and what goes with it.
    atoms : Atoms
        What P is over.
    strength : float
        Above 0.
    """

    def __init__(self, penalty: Penalty, atoms: Atoms, strength: float):
        self.penalty = penalty
        self.atoms = atoms
        self.strength = strength
        self.rewards_copies = penalty.rewards_copies
        self.depends_on_order = penalty.depends_on_order
        self.is_diagonal = penalty.is_diagonal
        self.is_norm = penalty.is_norm

    def diagonal(self) -> np.ndarray:
        """`L_jj` for every atom."""
        return self.strength * self._checked("diagonal", self.penalty.diagonal(self.atoms), (len(self.atoms),))

    def between(self, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
        """`L_ij`, shape (len(first), len(second)), a new array; None where L is diagonal."""
        if self.is_diagonal:
            return None
        found = self.penalty.between(self.atoms, first, second)
        return self.strength * self._checked("between", found, (len(first), len(second)))

    def matrix(self) -> np.ndarray:
        """All of L, shape (n_atoms, n_atoms): of few atoms, and none whose order decides."""
        places = np.arange(len(self.atoms))
        between = self.between(places, places)
        return np.diag(self.diagonal()) if between is None else between

    def coordinates(self, picked: Picked, atoms: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Coordinates of atoms in those that the picked have, shape (len(atoms), n_picked): `C^{-T} L_ij`."""
        coordinates = np.zeros((len(atoms), len(picked.atoms)))
        between = self.between(picked.atoms, atoms) if len(picked.atoms) else None
        if between is not None:
            # One right-hand side at a time: LAPACK may round several of them in another way, and what an atom is
            # must not depend on what it is looked at with.
            factor = np.asfortranarray(picked.basis.C)
            for row, column in zip(coordinates, between.T):
                row[:] = dtrsv(factor, column, trans=1)
        return coordinates

    def own_part(self, own: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """What of the atoms' own entries of L is not in these coordinates, and takes one of their own."""
        left = own - np.einsum("ij,ij->i", coordinates, coordinates)
        if not (self.is_norm or self.is_diagonal) and (left < NEGATIVE * own).any():
            raise ValueError(f"penalty={self.penalty!r} is not positive semidefinite; give a matrix that is.")
        return left

    def _checked(self, what: str, values: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray:
        found = np.array(np.nan) if values is None else np.asarray(values, dtype=np.float64)
        if found.shape != shape:
            raise ValueError(
                f"`{what}` of penalty={self.penalty!r} has shape {found.shape} where {shape} is wanted; see "
                "penalties.Penalty."
            )
        # A kernel that overflows is told so by its columns.
        usable = self.penalty.needs_mercer or np.isfinite(found).all()
        if not usable or (what == "diagonal" and (found < 0).any()):
            raise ValueError(
                f"`{what}` of penalty={self.penalty!r} has entries that are no numbers, infinite or, on the diagonal, "
                "negative; give those of a positive semidefinite matrix."
            )
        return found


class OrderedPenaltyMatrix(PenaltyMatrix):
    """L of atoms orthogonalised one after the other, which grows with the model.

    With `D = Q U`, U unit upper triangular, `L = strength U'U`: so an atom has the coordinates
    `sqrt(strength) q_t'd / ||q_t||²`, and vectors that are orthogonal on the rows stay so with their coordinates.
    """

    def between(self, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
        """None: entries are known by coordinates alone."""
        return None

    def coordinates(self, picked: Picked, atoms: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """`sqrt(strength) q_t'd / ||q_t||²`, from the directions `v_t = q_t / R_tt`."""
        basis = picked.basis
        V = basis.V[picked.n_fixed :]
        lengths = np.einsum("ij,ij->i", V, V) * np.diagonal(basis.R)[picked.n_fixed :]
        products = np.sqrt(self.strength) * _native.stored_rmatvec(V, columns, n_threads=basis.n_threads)
        # An atom that is zero on all rows has a direction in the penalty alone.
        return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)

    def own_part(self, own: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """All of it, whatever the coordinates: L grows with them."""
        return own


def resolve_penalty(penalty: str | Penalty | None, alpha: float, atoms: Atoms) -> tuple[PenaltyMatrix | None, float]:
    """Return the penalty matrix (or None) and the nugget that `penalty` and `alpha` mean for these atoms."""
    check_number("alpha", alpha, low=0)
    found = as_penalty(penalty)
    if found is None:
        return None, 0.0
    if found.needs_mercer:
        require_mercer(atoms.dictionary, f"penalty={penalty!r}")
    if found.needs_training_rows:
        require_training_rows(atoms.dictionary, f"penalty={penalty!r}")
    if found.changes_dictionary:
        return None, float(alpha)
    if not alpha > 0:
        return None, 0.0
    matrix = OrderedPenaltyMatrix if found.depends_on_order else PenaltyMatrix
    return matrix(found, atoms, found.strength(alpha, atoms)), 0.0


def require_mercer(dictionary: Dictionary, what: str) -> None:
    """Refuse a dictionary that is not made of sections of a positive semidefinite kernel."""
    if not dictionary.is_mercer:
        raise ValueError(
            f"{what} needs a symmetric positive semidefinite kernel, which this dictionary is not; "
            "use selection='gain', update='orthogonal', exchange=False and penalty='ridge', or say is_mercer=True "
            "where you know better."
        )


def require_training_rows(dictionary: Dictionary, what: str) -> None:
    """Refuse a dictionary whose atoms are not all centred on training rows."""
    rows = dictionary.training_rows
    if rows is None or len(rows) == 0 or (rows < 0).any():
        raise ValueError(f"{what} needs every atom to be a kernel at a training row; leave `centers` out.")
