"""Where `D'v` is computed: from the part of D that fits the memory budget, and in tiles for the rest.

D holds the values of every atom (column) on every training row, times the root of the sample weights. The block
that is kept and the tiles that are recomputed go through the same arithmetic in the same order, so the budget
changes how long a fit takes and never which atoms it picks. Values are stored without weights: engines that differ
only in the weights of the rows share them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit import _native
from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.dictionary.base import tiles

# Below this many values the whole dictionary is scored in float64: it is small enough to be fast anyway.
FLOAT64_UP_TO = 8_000_000
# Columns whose root mean square leaves this range are not scored in float32, which reaches from 1e-38 to 3e38: within
# it, values 1e23 times larger or smaller than the root mean square are still represented. Products are float64.
FLOAT32_RANGE = (1e-15, 1e15)

OVERFLOW = "The kernel overflows on these rows; scale X, or give a smaller gamma, degree or (for a nugget) alpha."


def require_finite(squares: np.ndarray) -> None:
    """Refuse atoms whose squared norms are not finite."""
    if not np.isfinite(squares).all():
        raise ValueError(OVERFLOW)


class StoredValues:
    """Values of the atoms on the training rows, without weights: some are kept, the others computed each time.

    Parameters
    ----------
    dictionary : Dictionary
        A resolved dictionary.
    X : array of shape (n_rows, n_features)
        The training rows.
    memory_budget : int
        Bytes that the kept block may take.
    n_threads : int, optional
        Threads of the native core.
    """

    def __init__(self, dictionary: Dictionary, X: Matrix, memory_budget: int, n_threads: int | None = None):
        self.dictionary = dictionary
        self.n_rows: int = X.shape[0]
        self.memory_budget = memory_budget
        self.n_threads = n_threads
        self.rows = dictionary.rows(X)
        self._kept: np.ndarray | None = None
        self._dtype: np.dtype | None = None

    @property
    def dtype(self) -> np.dtype:
        """The float type of the scores, which the first squared norms have decided."""
        assert self._dtype is not None
        return self._dtype

    @property
    def n_kept(self) -> int:
        """Number of atoms whose values are kept in memory."""
        return 0 if self._kept is None else self._kept.shape[0]

    @property
    def is_kept(self) -> bool:
        """Whether values are kept already, be they none for want of memory."""
        return self._kept is not None

    def rmatvec(self, V: np.ndarray, atoms: np.ndarray | None = None) -> np.ndarray:
        """Products of atoms with vectors, shape (n_vectors, n_atoms): of all atoms, or of those given, ascending."""
        if self._kept is None:
            self._kept = self._keep()
        n_kept = self.n_kept if atoms is None else int(np.searchsorted(atoms, self.n_kept))
        kept = self._kept if atoms is None else self._kept[atoms[:n_kept]]
        out = np.empty((len(V), self.dictionary.n_atoms if atoms is None else len(atoms)))
        out[:, :n_kept] = _native.stored_rmatvec(kept, V, n_threads=self.n_threads)
        if n_kept < out.shape[1]:
            rest = np.arange(n_kept, out.shape[1]) if atoms is None else atoms[n_kept:]
            out[:, n_kept:] = self.dictionary.rmatvec(self.rows, V, rest, self.dtype, n_threads=self.n_threads)
        return out

    def sqnorms(self, weights: np.ndarray) -> np.ndarray:
        """Weighted sums of squares of every atom: of the values that are kept, and the rest by the same arithmetic."""
        if self._kept is None:
            return self._first_sqnorms(weights)
        out, n_atoms = np.empty(self.dictionary.n_atoms), self.dictionary.n_atoms
        for tile in tiles(n_atoms, self.n_rows * self.dtype.itemsize):
            values = self._kept[tile]
            if tile.stop > self.n_kept:
                # Of a tile that is kept in part, all is evaluated: it is the same to the last bit.
                values = self.dictionary.block(self.rows, np.arange(tile.start, tile.stop), self.dtype, self.n_threads)
            out[tile] = _native.stored_rmatvec(np.square(values), weights[None], n_threads=self.n_threads)[0]
        return out

    def _first_sqnorms(self, weights: np.ndarray) -> np.ndarray:
        """Squared norms before any value is kept; they tell, once, whether scores from float32 are safe."""
        everything = np.arange(self.dictionary.n_atoms)
        small = self.n_rows * len(everything) <= FLOAT64_UP_TO
        # What was decided for one set of weights stays so for others.
        tried: Any = (np.float64,) if small else (np.float32, np.float64)
        for dtype in tried if self._dtype is None else (self._dtype.type,):
            with np.errstate(over="ignore", invalid="ignore"):
                sqnorms = self.dictionary.sqnorms(self.rows, weights, everything, dtype, n_threads=self.n_threads)
            size = np.sqrt(sqnorms / weights.sum())
            low, high = FLOAT32_RANGE
            if dtype == tried[-1] or (np.isfinite(sqnorms).all() and size.min() > low and size.max() < high):
                break
        self._dtype = np.dtype(dtype)
        return sqnorms

    def _keep(self) -> np.ndarray:
        """Values of as many atoms as fit the budget."""
        bytes_per_atom = max(1, self.n_rows * self.dtype.itemsize)
        n_kept = min(self.dictionary.n_atoms, self.memory_budget // bytes_per_atom)
        kept = np.empty((n_kept, self.n_rows), dtype=self.dtype)
        self.dictionary.fill(self.rows, np.arange(n_kept), kept, self.n_threads)
        return kept


class Engine:
    """Products with the dictionary on the training rows.

    Parameters
    ----------
    dictionary : Dictionary
        A resolved dictionary.
    X : array of shape (n_rows, n_features)
        The training rows.
    weights : array of shape (n_rows,), optional
        Weights of the rows, all positive.
    nugget : float
        Added to each atom's value at its own training row (Nair's K + alpha I in place of K).
    memory_budget : int
        Bytes that the kept block may take.
    n_threads : int, optional
        Threads of the native core.

    Notes
    -----
    An engine never changes. `weighted` returns one with other weights over the same stored values.

    Scores are computed from float32 values once the dictionary has more than eight million of them, summed in
    float64; `columns`, of which the basis and the solution are made, are float64 always.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        X: Matrix,
        *,
        weights: np.ndarray | None = None,
        nugget: float = 0.0,
        memory_budget: int,
        n_threads: int | None = None,
    ):
        self._begin(StoredValues(dictionary, X, memory_budget, n_threads), weights, nugget)

    def _begin(self, values: StoredValues, weights: np.ndarray | None, nugget: float) -> None:
        self._values = values
        self.dictionary = values.dictionary
        self.n_rows = values.n_rows
        self.n_atoms = values.dictionary.n_atoms
        self.n_threads = values.n_threads
        self.nugget = nugget
        self.weights = np.ones(self.n_rows) if weights is None else weights
        self._root = None if weights is None else np.sqrt(weights)
        self._sqnorms: np.ndarray | None = None

    def weighted(self, weights: np.ndarray) -> Engine:
        """The engine for the same rows with other weights; stored values are shared, since they have no weights in."""
        engine = Engine.__new__(Engine)
        engine._begin(self._values, weights, self.nugget)
        return engine

    @property
    def is_weighted(self) -> bool:
        """Whether rows differ in weight, or all have another than one."""
        return self._root is not None

    @property
    def is_exact(self) -> bool:
        """Whether scores are computed from float64 values."""
        self._plan()
        return self._values.dtype == np.float64

    @property
    def n_kept(self) -> int:
        """Number of atoms whose values are kept in memory."""
        return self._values.n_kept

    def sqnorms(self) -> np.ndarray:
        """`d_j' d_j` for every atom."""
        if self._sqnorms is None:
            self._sqnorms = self._with_nugget(self._values.sqnorms(self.weights))
        return self._sqnorms

    def correlate(self, V: np.ndarray, atoms: np.ndarray | None = None) -> np.ndarray:
        """`D' v` for every vector in the rows of `V`: shape (n_vectors, n_atoms). One pass over the dictionary.

        Where `atoms` are given, ascending, it is over these alone, and has the bits that the whole pass has for them.
        """
        self._plan()
        weighted = np.ascontiguousarray(V if self._root is None else V * self._root)
        out = self._values.rmatvec(weighted, atoms)
        if self.nugget:
            assert self.dictionary.training_rows is not None
            rows = self.dictionary.training_rows
            out += self.nugget * weighted[:, rows if atoms is None else rows[atoms]]
        return out

    def examine(self, atoms: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`D' v` for every vector in the rows of `V` and `d_j' d_j`, over the given atoms alone, in float64."""
        weighted = np.ascontiguousarray(V if self._root is None else V * self._root)
        weights = self.weights if self.is_weighted else None
        products, squares = self.dictionary.examine(
            self._values.rows, weighted, weights, atoms, n_threads=self.n_threads
        )
        if self.nugget:
            assert self.dictionary.training_rows is not None
            rows = self.dictionary.training_rows[atoms]
            products += self.nugget * weighted[:, rows]
            squares += self.weights[rows] * self.nugget * (2 * self.dictionary.own_values()[atoms] + self.nugget)
        require_finite(squares)
        return products, squares

    def columns(self, atoms: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Values of single atoms in float64, shape (len(atoms), n_rows); in `out`, where that is given.

        They are not checked: `require_finite` of their squared norms does it in passing.
        """
        values = np.empty((len(atoms), self.n_rows)) if out is None else out
        self.dictionary.fill(self._values.rows, np.asarray(atoms), values, self.n_threads)
        if self.nugget:
            assert self.dictionary.training_rows is not None
            values[np.arange(len(atoms)), self.dictionary.training_rows[atoms]] += self.nugget
        if self._root is not None:
            values *= self._root
        return values

    def _plan(self) -> None:
        """Compute squared norms before values are kept: they decide the float type of the scores."""
        if not self._values.is_kept:
            self.sqnorms()

    def _with_nugget(self, sqnorms: np.ndarray) -> np.ndarray:
        """Squared norms with what the nugget adds to them; all must be finite."""
        if self.nugget:
            own_weights = self.weights[self.dictionary.training_rows]
            with np.errstate(over="ignore", invalid="ignore"):
                sqnorms = sqnorms + own_weights * self.nugget * (2 * self.dictionary.own_values() + self.nugget)
        require_finite(sqnorms)
        return sqnorms
