"""Atoms that are plain functions: the constant, and whatever the user writes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.dictionary.base import Dictionary


class Functions(Dictionary):
    """One atom for every function; each takes rows `X` and returns one value a row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.dictionary import Functions
    >>> trend = Functions(lambda X: X[:, 0], lambda X: np.sin(X[:, 1]))
    """

    def __init__(self, *functions: Callable[[Matrix], ArrayLike]):
        if not functions:
            raise ValueError("Functions() is empty; give at least one function of the rows X.")
        for function in functions:
            if not callable(function):
                raise ValueError(f"Functions takes functions of the rows X, not {function!r}.")
        self.functions: Sequence[Callable[[Matrix], ArrayLike]] = functions

    @property
    def n_atoms(self) -> int:
        """Number of functions."""
        return len(self.functions)

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Functions:
        """Functions need nothing of the data."""
        return self.take(np.arange(self.n_atoms))

    def take(self, atoms: np.ndarray) -> Functions:
        """Return just these functions."""
        taken = copy.copy(self)
        taken.functions = tuple(self.functions[j] for j in atoms)
        taken.training_rows = np.full(len(atoms), -1)
        return taken

    def state(self) -> State:
        """The functions, which a file does not hold, and the training row of each."""
        return {"functions": tuple(self.functions), "training_rows": self.training_rows}

    @classmethod
    def from_state(cls, state: State) -> Dictionary:
        """Return the functions that `state` holds."""
        functions = state["functions"]
        made = cls(*functions) if functions else cls(_one).take(np.zeros(0, dtype=np.intp))
        return made.with_training_rows(state["training_rows"])

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the functions, checked for shape and finiteness."""
        out = np.empty((len(atoms), rows.shape[0]), dtype=dtype)
        for k, j in enumerate(atoms):
            function = self.functions[j]
            name = _name(function)
            values = np.asarray(function(rows), dtype=np.float64)
            if values.shape not in ((rows.shape[0],), (rows.shape[0], 1)):
                raise ValueError(
                    f"The dictionary function {name} returned shape {values.shape} for {rows.shape[0]} rows; "
                    "it must return one value for each row."
                )
            if not np.isfinite(values).all():
                raise ValueError(f"The dictionary function {name} returned NaN or infinity.")
            out[k] = values.reshape(-1)
        return out

    def __repr__(self) -> str:
        """Show the functions' names."""
        return f"Functions({', '.join(map(_name, self.functions))})"


def _name(function: Callable[[Matrix], ArrayLike]) -> str:
    return getattr(function, "__name__", repr(function))


def _one(X: Matrix) -> np.ndarray:
    return np.ones(X.shape[0])


class Constant(Functions):
    """The function 1 as an atom that may be picked (`fit_intercept` fits an intercept that is always in).

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.dictionary import Constant, KernelAtoms
    >>> kernel = Constant() + KernelAtoms("rbf")
    >>> X, y = make_chirp(100)
    >>> model = KernelPursuitRegressor(kernel=kernel, gamma=3.0, fit_intercept=False, max_atoms=30).fit(X, y + 50)
    >>> int(model.path_.atom[0])  # the constant is picked first
    0
    """

    def __init__(self) -> None:
        super().__init__(_one)

    def state(self) -> State:
        """How often the constant is in: once, or where no such atom was picked, never."""
        return {"n_atoms": self.n_atoms, "training_rows": self.training_rows}

    @classmethod
    def from_state(cls, state: State) -> Dictionary:
        """Return the constant that `state` describes."""
        if state["n_atoms"] not in (0, 1):
            raise ValueError(f"n_atoms={state['n_atoms']!r} is not usable; the constant is in once, or not.")
        return cls().take(np.zeros(state["n_atoms"], dtype=np.intp)).with_training_rows(state["training_rows"])

    def __repr__(self) -> str:
        """Show that it is the constant."""
        return "Constant()"
