"""Where `D'v` is computed: from the part of D that fits the memory budget, and in tiles for the rest.

D holds the values of every atom (column) on every training row, times the root of the sample weights. The block
that is kept and the tiles that are recomputed go through the same arithmetic in the same order, so the budget
changes how long a fit takes and never which atoms it picks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit import _native
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


class Engine:
    """Products with the dictionary on the training rows.

    Parameters
    ----------
    dictionary : Dictionary
        A resolved dictionary.
    X : array of shape (n_rows, n_features)
        The training rows.
    weights : array of shape (n_rows,), optional
        Sample weights, all positive.
    nugget : float
        Added to each atom's value at its own training row (Nair's K + alpha I in place of K).
    memory_budget : int
        Bytes that the kept block may take.
    n_threads : int, optional
        Threads of the native core.

    Notes
    -----
    Scores are computed from float32 values once the dictionary has more than eight million of them, summed in
    float64; `columns`, of which the basis and the solution are made, are float64 always.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        X: Any,
        *,
        weights: np.ndarray | None = None,
        nugget: float = 0.0,
        memory_budget: int,
        n_threads: int | None = None,
    ):
        self.dictionary = dictionary
        self.n_rows: int = X.shape[0]
        self.n_atoms = dictionary.n_atoms
        self.nugget = nugget
        self.n_threads = n_threads
        self.memory_budget = memory_budget
        self.weights = np.ones(self.n_rows) if weights is None else weights
        self._root = None if weights is None else np.sqrt(weights)
        self._rows = dictionary.rows(X)
        self._kept: np.ndarray | None = None
        self._dtype: np.dtype | None = None
        self._sqnorms: np.ndarray | None = None

    def reweight(self, weights: np.ndarray) -> None:
        """Give the rows other weights; values that are kept stay, since they do not have them in."""
        self.weights, self._root, self._sqnorms = weights, np.sqrt(weights), None

    @property
    def is_weighted(self) -> bool:
        """Whether rows differ in weight, or all have another than one."""
        return self._root is not None

    @property
    def is_exact(self) -> bool:
        """Whether scores are computed from float64 values."""
        self._plan()
        return self._dtype == np.float64

    @property
    def n_kept(self) -> int:
        """Number of atoms whose values are kept in memory."""
        return 0 if self._kept is None else self._kept.shape[0]

    def sqnorms(self) -> np.ndarray:
        """`d_j' d_j` for every atom."""
        if self._sqnorms is None and self._kept is not None:
            self._sqnorms = self._sqnorms_again()
        self._plan()
        assert self._sqnorms is not None
        return self._sqnorms

    def correlate(self, V: np.ndarray) -> np.ndarray:
        """`D' v` for every vector in the rows of `V`: shape (n_vectors, n_atoms). One pass over the dictionary."""
        self._plan()
        weighted = np.ascontiguousarray(V if self._root is None else V * self._root)
        if self._kept is None:
            self._keep()
        assert self._kept is not None
        out = np.empty((V.shape[0], self.n_atoms))
        kept = self.n_kept
        out[:, :kept] = _native.stored_rmatvec(self._kept, weighted, n_threads=self.n_threads)
        if kept < self.n_atoms:
            rest = np.arange(kept, self.n_atoms)
            out[:, kept:] = self.dictionary.rmatvec(self._rows, weighted, rest, self._dtype, n_threads=self.n_threads)
        if self.nugget:
            out += self.nugget * weighted[:, self.dictionary.training_rows]
        return out

    def examine(self, atoms: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`D' v` for every vector in the rows of `V` and `d_j' d_j`, over the given atoms alone, in float64."""
        weighted = np.ascontiguousarray(V if self._root is None else V * self._root)
        weights = self.weights if self.is_weighted else None
        products, squares = self.dictionary.examine(self._rows, weighted, weights, atoms, n_threads=self.n_threads)
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
        self.dictionary.fill(self._rows, np.asarray(atoms), values, self.n_threads)
        if self.nugget:
            assert self.dictionary.training_rows is not None
            values[np.arange(len(atoms)), self.dictionary.training_rows[atoms]] += self.nugget
        if self._root is not None:
            values *= self._root
        return values

    def _plan(self) -> None:
        """Resolve, once, the float type of the scores; the squared norms tell whether float32 is safe."""
        if self._sqnorms is not None or self._kept is not None:
            return
        everything = np.arange(self.n_atoms)
        small = self.n_rows * self.n_atoms <= FLOAT64_UP_TO
        # What is kept in one float type stays in it when the weights change.
        tried: Any = (np.float64,) if small else (np.float32, np.float64)
        for dtype in tried if self._dtype is None else (self._dtype.type,):
            with np.errstate(over="ignore", invalid="ignore"):
                sqnorms = self.dictionary.sqnorms(self._rows, self.weights, everything, dtype, n_threads=self.n_threads)
            size = np.sqrt(sqnorms / self.weights.sum())
            low, high = FLOAT32_RANGE
            if dtype == tried[-1] or (np.isfinite(sqnorms).all() and size.min() > low and size.max() < high):
                break
        self._sqnorms, self._dtype = self._with_nugget(sqnorms), np.dtype(dtype)

    def _with_nugget(self, sqnorms: np.ndarray) -> np.ndarray:
        """Squared norms with what the nugget adds to them; all must be finite."""
        if self.nugget:
            own_weights = self.weights[self.dictionary.training_rows]
            with np.errstate(over="ignore", invalid="ignore"):
                sqnorms = sqnorms + own_weights * self.nugget * (2 * self.dictionary.own_values() + self.nugget)
        require_finite(sqnorms)
        return sqnorms

    def _sqnorms_again(self) -> np.ndarray:
        """Squared norms under other weights: from the values that are kept, and the rest by the same arithmetic."""
        assert self._kept is not None
        assert self._dtype is not None
        out, weights = np.empty(self.n_atoms), self.weights[None]
        for tile in tiles(self.n_atoms, self.n_rows * self._dtype.itemsize):
            values = self._kept[tile]
            if tile.stop > self.n_kept:
                # Of a tile that is kept in part, all is evaluated: it is the same to the last bit.
                atoms = np.arange(tile.start, tile.stop)
                values = self.dictionary.block(self._rows, atoms, self._dtype, self.n_threads)
            out[tile] = _native.stored_rmatvec(np.square(values), weights, n_threads=self.n_threads)[0]
        return self._with_nugget(out)

    def _keep(self) -> None:
        """Keep as many atoms as fit the budget."""
        assert self._dtype is not None
        bytes_per_atom = max(1, self.n_rows * self._dtype.itemsize)
        n_kept = min(self.n_atoms, self.memory_budget // bytes_per_atom)
        self._kept = np.empty((n_kept, self.n_rows), dtype=self._dtype)
        self.dictionary.fill(self._rows, np.arange(n_kept), self._kept, self.n_threads)
