"""What holds the weights of atoms back: `penalty="ridge"` and its kin, and penalties of one's own.

A model with weights w minimises `sum_i s_i loss(y_i, f(x_i)) + w' L w`. The matrix is `L = alpha P`, with the
estimator's `alpha`: a penalty is given without a strength, as a name or as an object, `penalty=RKHS()`. One of your own
is a subclass of `Penalty` with P, and says what it needs of the atoms and which choices it goes with.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar

import numpy as np

from kernelpursuit._validate import ByName, check_option
from kernelpursuit.dictionary import Dictionary


@dataclass(frozen=True)
class Atoms:
    """The atoms that a penalty is over.

    Parameters
    ----------
    dictionary : Dictionary
        The atoms that are searched, resolved: `dictionary.centers` are those of kernels.
    numbers : array of shape (n_atoms,)
        Their numbers in the dictionary as it was given; others where `candidates` or weights of 0 leave some out.
    total_weight : float
        Sum of the sample weights.
    n_threads : int, optional
        Threads of the native core.

    Examples
    --------
    >>> from kernelpursuit.dictionary import Functions
    >>> from kernelpursuit.penalties import RKHS, Atoms, Ridge
    >>> atoms = Atoms.of(Functions(abs, float), total_weight=10.0)
    >>> Ridge().diagonal(atoms)
    array([1., 1.])
    >>> Ridge().strength(0.1, atoms), RKHS().strength(0.1, atoms)
    (0.1, 1.0)
    """

    dictionary: Dictionary
    numbers: np.ndarray
    total_weight: float
    n_threads: int | None = None

    @classmethod
    def of(cls, dictionary: Dictionary, total_weight: float, numbers: np.ndarray | None = None) -> Atoms:
        """All atoms of a dictionary, or those of the given numbers in a larger one."""
        return cls(dictionary, np.arange(dictionary.n_atoms) if numbers is None else numbers, total_weight)

    def __len__(self) -> int:
        return self.dictionary.n_atoms


class Penalty(ByName, ABC):
    """The matrix P of the penalty `alpha w' P w`, symmetric and positive semidefinite.

    A subclass has `diagonal`, and `between` where atoms are not penalised each for itself. The attributes say what goes
    with it; those below are right for any matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.penalties import Penalty
    >>> class FarFromZero(Penalty):
    ...     # Centres at large x cost more.
    ...     def diagonal(self, atoms):
    ...         return 1.0 + atoms.dictionary.centers[:, 0] ** 2
    >>> model = KernelPursuitRegressor(gamma=3.0, penalty=FarFromZero(), alpha=1e-3, max_atoms=40).fit(*make_chirp(200))
    >>> model.penalty.is_diagonal  # so `between` is not needed
    True
    """

    #: Whether atoms have to be sections of a positive semidefinite kernel, or all centred at training rows.
    needs_mercer: ClassVar[bool] = False
    needs_training_rows: ClassVar[bool] = False
    #: Whether `w' P w` is zero only where the function is: an atom of whose penalty nothing is new is a sum of others.
    is_norm: ClassVar[bool] = False
    #: Whether the matrix is that of the weights of atoms orthogonalised in the order in which they are picked.
    depends_on_order: ClassVar[bool] = False
    #: Whether alpha is added to the dictionary, K + alpha I in place of K, and there is no matrix.
    changes_dictionary: ClassVar[bool] = False
    #: Whether a second copy of an atom is worth picking, since two share its weight; only the first is then offered.
    rewards_copies: ClassVar[bool] = False
    #: Names of the updates it goes with, and whether it goes with any loss.
    allowed_updates: ClassVar[tuple[str, ...]] = ("orthogonal", "stagewise", "rescale")
    for_any_loss: ClassVar[bool] = True

    @property
    def is_diagonal(self) -> bool:
        """Whether P is diagonal: `between` is not overridden, and the order of the atoms does not matter."""
        return type(self).between is Penalty.between and not self.depends_on_order

    def strength(self, alpha: float, atoms: Atoms) -> float:
        """Return the factor of P: alpha."""
        return float(alpha)

    @abstractmethod
    def diagonal(self, atoms: Atoms) -> np.ndarray:
        """`P_jj` for every atom, shape (n_atoms,)."""

    def between(self, atoms: Atoms, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
        """`P_ij` for i in `first` and j in `second`, shape (len(first), len(second)), where P is not diagonal.

        Both count the atoms from 0 in the order of `atoms`, and may share some.
        """
        return None

    def __repr__(self) -> str:
        """Show the parameters of `__init__` that are kept under their names and are not the default."""
        # A method may have the name of a parameter: attributes of the object alone are looked at.
        kept = {one.name for one in fields(self) if one.repr} if is_dataclass(self) else set(vars(self))
        taken = inspect.signature(type(self).__init__).parameters.values()
        shown = [(one.name, repr(getattr(self, one.name)), repr(one.default)) for one in taken if one.name in kept]
        changed = [f"{name}={value}" for name, value, default in shown if value != default]
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True, repr=False)
class Ridge(Penalty):
    """`alpha ||w||²` over the coefficients (Hagiwara eq. 3).

    Two copies of an atom would halve its penalty, so only the first copy is offered: with that, a row given twice is
    a row of weight two.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.penalties import Ridge
    >>> settings = {"gamma": 3.0, "penalty": Ridge(), "max_atoms": 20, "stop": "max"}
    >>> models = [KernelPursuitRegressor(alpha=alpha, **settings).fit(*make_chirp(200)) for alpha in (1e-6, 1.0)]
    >>> bool(abs(models[0].coef_).max() > 10 * abs(models[1].coef_).max())
    True
    """

    rewards_copies = True

    def diagonal(self, atoms: Atoms) -> np.ndarray:
        """One for every atom."""
        return np.ones(len(atoms))


@dataclass(frozen=True, repr=False)
class RKHS(Penalty):
    """`n alpha w' K w`, the squared norm of the function in the space of its kernel (Zhang eq. 1).

    `n` is the sum of the sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.penalties import RKHS
    >>> X, y = make_chirp(50)
    >>> settings = {"kernel": "rbf", "gamma": 3.0, "fit_intercept": False, "max_atoms": 50, "stop": "max"}
    >>> model = KernelPursuitRegressor(penalty=RKHS(), alpha=0.01, **settings).fit(X, y)
    >>> exact = KernelRidge(kernel="rbf", gamma=3.0, alpha=50 * 0.01).fit(X, y)  # every row has a weight
    >>> bool(np.allclose(model.predict(X), exact.predict(X)))
    True
    """

    needs_mercer = True
    is_norm = True

    def strength(self, alpha: float, atoms: Atoms) -> float:
        """`n alpha`."""
        return alpha * atoms.total_weight

    def diagonal(self, atoms: Atoms) -> np.ndarray:
        """`k(c, c)` for every atom."""
        return atoms.dictionary.own_values()

    def between(self, atoms: Atoms, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """`k(c_i, c_j)`."""
        return atoms.dictionary.gram(first, second, atoms.n_threads)


@dataclass(frozen=True, repr=False)
class Nugget(Penalty):
    """No penalty, but `K + alpha I` in place of K (Nair's regularised Gram matrix).

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.penalties import Nugget
    >>> settings = {"kernel": "rbf", "gamma": 3.0, "selection": "residual", "max_atoms": 30, "stop": "max"}
    >>> model = KernelPursuitRegressor(penalty=Nugget(), alpha=0.1, **settings).fit(*make_chirp(200))
    >>> bool(model.path_.residual_norm[-1] < 0.5 * model.path_.residual_norm[0])
    True
    """

    needs_training_rows = True
    changes_dictionary = True
    allowed_updates = ("orthogonal", "stagewise", "rescale", "minres")
    for_any_loss = False

    def diagonal(self, atoms: Atoms) -> np.ndarray:
        """Zero."""
        return np.zeros(len(atoms))


@dataclass(frozen=True, repr=False)
class OLS(Penalty):
    """`alpha ||v||²` over the coefficients v of the orthogonalised atoms q_t, not of unit length (Hagiwara eq. 15).

    It is the penalty of regularised orthogonal least squares. With `D = Q U`, U unit upper triangular, it is
    `L = alpha U'U`, in the order in which atoms are picked.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.penalties import OLS
    >>> model = KernelPursuitRegressor(gamma=3.0, penalty=OLS(), alpha=1e-3, stop="loo").fit(*make_chirp(200))
    >>> bool(model.path_.dof[model.n_atoms_] < model.n_atoms_ + 1)  # weights are held back
    True
    """

    depends_on_order = True
    rewards_copies = True
    allowed_updates = ("orthogonal",)
    for_any_loss = False

    def diagonal(self, atoms: Atoms) -> np.ndarray:
        """One for every atom, which it has before any was picked."""
        return np.ones(len(atoms))


BY_NAME: dict[str, type[Penalty]] = {"ridge": Ridge, "rkhs": RKHS, "nugget": Nugget, "ols": OLS}


def check_penalty(penalty: object, *others: str) -> str | Penalty | None:
    """Return `penalty` if it is a penalty, the name of one, None, or one of the other words that the caller takes."""
    if penalty is None or isinstance(penalty, Penalty):
        return penalty
    return check_option("penalty", penalty, (*others, *BY_NAME), "None")


def as_penalty(penalty: object) -> Penalty | None:
    """Return the penalty for a name, a penalty or None."""
    known = check_penalty(penalty)
    return BY_NAME[known]() if isinstance(known, str) else known


__all__ = ["BY_NAME", "OLS", "RKHS", "Atoms", "Nugget", "Penalty", "Ridge", "as_penalty", "check_penalty"]
