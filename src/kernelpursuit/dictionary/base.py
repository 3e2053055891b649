"""What a dictionary is: an ordered list of functions of a row (atoms), and their values on rows.

Values come *atom-major*: `block` returns shape (n_atoms, n_rows), so that each atom's values lie side by side in
memory and `D'v` reads the dictionary once from front to back.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit import _native
from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.rows import slices

if TYPE_CHECKING:
    from kernelpursuit.dictionary.union import DictionaryLike

# Scratch for tiles of a dictionary that only knows how to evaluate blocks.
TILE_BYTES = 32 * 2**20


class Dictionary(ABC):
    """An ordered list of atoms.

    A dictionary is used in two steps. As the user writes it, it may still leave things to the data (centres at the
    training rows, gamma="scale"); `resolve(X)` returns one with everything filled in. Only that one has values.

    Subclasses give `block`, `take`, `n_atoms`; those that can do better than tiles of `block` override `rmatvec`,
    `sqnorms` and `matvec`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.dictionary import Dictionary
    >>> class Steps(Dictionary):
    ...     def __init__(self, thresholds):
    ...         self.thresholds = np.asarray(thresholds)
    ...     @property
    ...     def n_atoms(self):
    ...         return len(self.thresholds)
    ...     def take(self, atoms):
    ...         return Steps(self.thresholds[atoms])
    ...     def block(self, rows, atoms, dtype=np.float64, n_threads=None):
    ...         return (rows[:, 0] > self.thresholds[atoms, None]).astype(dtype)
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> X = np.linspace(0.0, 1.0, 100)[:, None]
    >>> model = KernelPursuitRegressor(kernel=Steps(np.arange(10) / 10), max_atoms=2, stop="max")
    >>> model.fit(X, 2.0 * (X[:, 0] > 0.3) - (X[:, 0] > 0.7)).center_indices_
    array([3, 7])
    """

    #: The training row at which each atom is centred, -1 for an atom that has none; set by `resolve`.
    training_rows: np.ndarray | None = None

    @property
    def is_mercer(self) -> bool:
        """Whether the atoms are sections k(., c) of a symmetric positive semidefinite kernel."""
        return False

    @property
    @abstractmethod
    def n_atoms(self) -> int:
        """Number of atoms."""

    def count(self, X: Matrix) -> int:
        """Number of atoms that it will have once it is resolved on rows `X`."""
        return self.n_atoms

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Dictionary:
        """Return this dictionary with everything filled in that the training rows `X` decide."""
        return self

    def rows(self, X: Matrix) -> RowForm:
        """Return `X` in the form that this dictionary evaluates; made once, used for many blocks."""
        return X

    @abstractmethod
    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the given atoms on rows, shape (len(atoms), n_rows)."""

    def fill(self, rows: RowForm, atoms: np.ndarray, out: np.ndarray, n_threads: int | None = None) -> None:
        """Write the values of the given atoms into `out`, in its float type."""
        for tile in tiles(len(atoms), out.shape[1] * out.dtype.itemsize):
            out[tile] = self.block(rows, atoms[tile], out.dtype, n_threads)

    @abstractmethod
    def take(self, atoms: np.ndarray) -> Dictionary:
        """Return the dictionary of just these atoms, in this order."""

    def with_training_rows(self, training_rows: np.ndarray | None) -> Dictionary:
        """Return the same atoms, centred at the training rows of these numbers.

        A subclass whose copies are incomplete (`copy.copy` goes by `__getstate__`) overrides it.
        """
        same = copy.copy(self)
        same.training_rows = training_rows
        return same

    @property
    def takes_gamma(self) -> bool:
        """Whether a kernel here leaves its width to the estimator's `gamma`."""
        return False

    @property
    def follows_rows(self) -> bool:
        """Whether an atom centred at a training row goes when that row does."""
        return True

    def free(self) -> Dictionary:
        """Return this dictionary without what it keeps of the training data beside its atoms."""
        return self

    def state(self) -> State:
        """What this dictionary is made of, by name: arrays, numbers, kernels and dictionaries, for `from_state`."""
        raise ValueError(f"{self!r} is made of functions, which cannot be written down as arrays.")

    @classmethod
    def from_state(cls, state: State) -> Dictionary:
        """Return the dictionary that `state` describes."""
        raise ValueError(f"{cls.__name__} cannot be made from arrays.")

    def repeated(self) -> np.ndarray:
        """Which atoms are the same function as an earlier one, as far as that is easy to see."""
        return np.zeros(self.n_atoms, dtype=bool)

    def same_as(self, atom: int, others: np.ndarray) -> np.ndarray:
        """Which of the other atoms are the same function as `atom`, as far as that is easy to see."""
        return np.asarray(others) == atom

    @property
    def centers(self) -> np.ndarray | None:
        """The centres, one row an atom, or None where the atoms have none."""
        return None

    def gram(self, atoms: np.ndarray, others: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Inner products of atoms in the space of their kernel, shape (len(atoms), len(others)); Mercer only."""
        raise ValueError(f"{type(self).__name__} has no positive semidefinite kernel behind it.")

    def own_values(self) -> np.ndarray:
        """The value of every atom at its own centre; for a Mercer dictionary, the diagonal of `gram`."""
        raise ValueError(f"{type(self).__name__} has atoms without a centre.")

    def rmatvec(
        self,
        rows: RowForm,
        V: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """`D' v` for every vector v in the rows of `V`, over the given atoms: shape (n_vectors, len(atoms))."""
        out = np.empty((V.shape[0], len(atoms)))
        for tile in tiles(len(atoms), V.shape[1] * np.dtype(dtype).itemsize):
            values = self.block(rows, atoms[tile], dtype, n_threads)
            out[:, tile] = _native.stored_rmatvec(values, V, n_threads=n_threads)
        return out

    def sqnorms(
        self,
        rows: RowForm,
        weights: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """Weighted squared norms `sum_i w_i d_ij²` of the given atoms."""
        out = np.empty(len(atoms))
        for tile in tiles(len(atoms), len(weights) * 8):
            values = self.block(rows, atoms[tile], dtype, n_threads).astype(np.float64, copy=False)
            out[tile] = np.einsum("ij,ij,j->i", values, values, weights)
        return out

    def examine(
        self, rows: RowForm, V: np.ndarray, weights: np.ndarray | None, atoms: np.ndarray, n_threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What `rmatvec` and `sqnorms` give in float64, from one evaluation of the atoms; no weights are ones."""
        products, squares = np.empty((V.shape[0], len(atoms))), np.empty(len(atoms))
        for tile in tiles(len(atoms), V.shape[1] * 8):
            values = self.block(rows, atoms[tile], np.float64, n_threads)
            products[:, tile], squares[tile] = _native.stored_examine(values, V, n_threads)
            if weights is not None:
                squares[tile] = np.einsum("ij,ij,j->i", values, values, weights)
        return products, squares

    def matvec(self, rows: RowForm, coef: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """`D c` for every column of `coef`: shape (n_rows, n_targets)."""
        values = self.block(rows, np.arange(self.n_atoms), np.float64, n_threads)
        return values.T @ coef

    def __add__(self, other: DictionaryLike) -> Dictionary:
        """Return the union: the atoms of this dictionary, then those of the other."""
        from kernelpursuit.dictionary.union import Union, as_dictionary

        return Union(self, as_dictionary(other))

    def __radd__(self, other: DictionaryLike) -> Dictionary:
        """Return the union with a kernel or function on the left."""
        from kernelpursuit.dictionary.union import Union, as_dictionary

        return Union(as_dictionary(other), self)


def tiles(n_items: int, bytes_per_item: int, tile_bytes: int | None = None) -> Iterator[slice]:
    """Slices over `n_items` whose values take about `tile_bytes` each, by default `TILE_BYTES`."""
    return slices(n_items, max(1, (tile_bytes or TILE_BYTES) // max(1, bytes_per_item)))
