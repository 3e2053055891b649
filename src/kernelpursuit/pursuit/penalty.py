"""The penalty matrix L of the inner product <i, j> = d_i' d_j + L_ij over atoms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsv

from kernelpursuit import _native
from kernelpursuit._validate import check_number, check_option
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.pursuit.basis import Basis


class Penalty(ABC):
    """The matrix L, read entry by entry, and as coordinates of atoms.

    A nugget is not among the subclasses: it changes the dictionary (K + alpha I in place of K), not the inner
    product, so the engine adds it.
    """

    #: Whether an atom could be worth picking again in a second copy, since two copies share its weight.
    rewards_copies = False
    #: Whether L is diagonal, so that the coordinate of an atom is its own.
    is_diagonal = False

    @abstractmethod
    def diagonal(self, n_atoms: int) -> np.ndarray:
        """`L_jj` for every atom."""

    def between(self, picked: np.ndarray, atoms: np.ndarray) -> np.ndarray | None:
        """`L_ij` for picked i and other atoms j, shape (len(picked), len(atoms)); None where all are zero."""
        return None

    def coordinates(
        self, basis: Basis, n_fixed: int, picked: np.ndarray, atoms: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        """Coordinates of atoms in those that the `picked` have, shape (len(atoms), len(picked)): `C^{-T} L_ij`."""
        coordinates = np.zeros((len(atoms), len(picked)))
        between = self.between(picked, atoms) if len(picked) else None
        if between is not None:
            # One right-hand side at a time: LAPACK may round several of them in another way, and what an atom is
            # must not depend on what it is looked at with.
            factor = np.asfortranarray(basis.C)
            for row, column in zip(coordinates, between.T):
                row[:] = dtrsv(factor, column, trans=1)
        return coordinates

    def own_part(self, own: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """What of the atoms' own entries of L is not in these coordinates, and takes one of their own."""
        return own - np.einsum("ij,ij->i", coordinates, coordinates)


class Ridge(Penalty):
    """`alpha ||w||²` over the weights (Hagiwara eq. 3).

    Two copies of an atom would halve its penalty, so only the first copy is offered: with that, a row given twice is
    a row of weight two.
    """

    rewards_copies = True
    is_diagonal = True

    def __init__(self, alpha: float):
        self.alpha = alpha

    def diagonal(self, n_atoms: int) -> np.ndarray:
        """Alpha for every atom."""
        return np.full(n_atoms, self.alpha)


class RKHS(Penalty):
    """`n alpha w' K w`, the squared norm of the function in the space of its kernel (Zhang eq. 1).

    `n` is the sum of the sample weights.
    """

    def __init__(self, alpha: float, total_weight: float, dictionary: Dictionary, n_threads: int | None = None):
        self.factor = alpha * total_weight
        self.dictionary = dictionary
        self.n_threads = n_threads

    def diagonal(self, n_atoms: int) -> np.ndarray:
        """`n alpha k(c, c)` for every atom."""
        return self.factor * self.dictionary.own_values()

    def between(self, picked: np.ndarray, atoms: np.ndarray) -> np.ndarray:
        """`n alpha k(c_i, c_j)`."""
        return self.factor * self.dictionary.gram(picked, atoms, self.n_threads)


class OrthogonalRidge(Penalty):
    """`alpha ||v||²` over the weights v of the orthogonalised atoms q_t, not of unit length (Hagiwara eq. 15).

    With `D = Q U`, U unit upper triangular, that is `L = alpha U'U`: so an atom has the coordinates
    `sqrt(alpha) q_t'd / ||q_t||²`, and vectors that are orthogonal on the rows stay so with their coordinates.
    """

    rewards_copies = True

    def __init__(self, alpha: float):
        self.alpha = alpha

    def diagonal(self, n_atoms: int) -> np.ndarray:
        """Alpha for every atom, which it has before any was picked."""
        return np.full(n_atoms, self.alpha)

    def coordinates(
        self, basis: Basis, n_fixed: int, picked: np.ndarray, atoms: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        """`sqrt(alpha) q_t'd / ||q_t||²`, from the directions `v_t = q_t / R_tt`."""
        V = basis.V[n_fixed:]
        lengths = np.einsum("ij,ij->i", V, V) * np.diagonal(basis.R)[n_fixed:]
        products = np.sqrt(self.alpha) * _native.stored_rmatvec(V, columns, n_threads=basis.n_threads)
        # An atom that is zero on all rows has a direction in the penalty alone.
        return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)

    def own_part(self, own: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Alpha, whatever the coordinates: L grows with them."""
        return own


NAMES = ("ridge", "rkhs", "nugget", "ols")


def resolve_penalty(
    penalty: Any, alpha: float, total_weight: float, dictionary: Dictionary, n_threads: int | None = None
) -> tuple[Penalty | None, float]:
    """Return the penalty object (or None) and the nugget that `penalty` and `alpha` mean for this dictionary."""
    check_number("alpha", alpha, low=0)
    if penalty is None:
        return None, 0.0
    check_option("penalty", penalty, NAMES, "None")
    if penalty == "rkhs":
        require_mercer(dictionary, "penalty='rkhs'")
        return (RKHS(alpha, total_weight, dictionary, n_threads) if alpha > 0 else None), 0.0
    if penalty == "nugget":
        require_training_rows(dictionary, "penalty='nugget'")
        return None, float(alpha)
    return ({"ridge": Ridge, "ols": OrthogonalRidge}[penalty](alpha) if alpha > 0 else None), 0.0


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
