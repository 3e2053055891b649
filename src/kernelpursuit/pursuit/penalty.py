"""The penalty matrix L of the inner product <i, j> = d_i' d_j + L_ij over atoms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kernelpursuit._validate import check_number, check_option
from kernelpursuit.dictionary import Dictionary


class Penalty(ABC):
    """The matrix L, read entry by entry.

    A nugget is not among the subclasses: it changes the dictionary (K + alpha I in place of K), not the inner
    product, so the engine adds it.
    """

    #: Whether an atom could be worth picking again in a second copy, since two copies share its weight.
    rewards_copies = False

    @abstractmethod
    def diagonal(self, n_atoms: int) -> np.ndarray:
        """`L_jj` for every atom."""

    def between(self, picked: np.ndarray, atoms: np.ndarray) -> np.ndarray | None:
        """`L_ij` for picked i and other atoms j, shape (len(picked), len(atoms)); None where all are zero."""
        return None


class Ridge(Penalty):
    """`alpha ||w||²` over the weights (Hagiwara eq. 3).

    Two copies of an atom would halve its penalty, so only the first copy is offered: with that, a row given twice is
    a row of weight two.
    """

    rewards_copies = True

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


NAMES = ("ridge", "rkhs", "nugget")


def resolve_penalty(
    penalty: Any, alpha: float, total_weight: float, dictionary: Dictionary, n_threads: int | None = None
) -> tuple[Penalty | None, float]:
    """Return the penalty object (or None) and the nugget that `penalty` and `alpha` mean for this dictionary."""
    check_number("alpha", alpha, low=0)
    if penalty is None:
        return None, 0.0
    check_option("penalty", penalty, NAMES)
    if penalty == "rkhs":
        require_mercer(dictionary, "penalty='rkhs'")
        return (RKHS(alpha, total_weight, dictionary, n_threads) if alpha > 0 else None), 0.0
    if penalty == "nugget":
        require_training_rows(dictionary, "penalty='nugget'")
        return None, float(alpha)
    return (Ridge(alpha) if alpha > 0 else None), 0.0


def require_mercer(dictionary: Dictionary, what: str) -> None:
    """Refuse a dictionary that is not made of sections of a positive semidefinite kernel."""
    if not dictionary.is_mercer:
        raise ValueError(
            f"{what} needs a symmetric positive semidefinite kernel, which this dictionary is not; "
            "use selection='gain' and penalty='ridge', or say is_mercer=True where you know better."
        )


def require_training_rows(dictionary: Dictionary, what: str) -> None:
    """Refuse a dictionary whose atoms are not all centred on training rows."""
    rows = dictionary.training_rows
    if rows is None or len(rows) == 0 or (rows < 0).any():
        raise ValueError(f"{what} needs every atom to be a kernel at a training row; leave `centers` out.")
