"""Kernels in many widths from one table of distances: what a grid of gammas would otherwise compute again each time.

The kernels of `kernelpursuit.kernels.stationary` are functions `phi(gamma s)` of a sum s over features, of squared
differences or, for the Laplacian, of absolute ones. The sums between centres and training rows are kept, and every
gamma applies phi to a multiple of them.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit import _native
from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.dictionary.base import Dictionary, tiles
from kernelpursuit.dictionary.kernel_atoms import EmbeddedRows, KernelAtoms
from kernelpursuit.dictionary.union import Union
from kernelpursuit.kernels import Kernel

# Columns that models are made of are asked for a few at a time, and evaluated from the rows: with the bits that they
# have without a table. From this many atoms on it is a pass over the dictionary, and served by the table.
MANY_ATOMS = 64
# From this many features on, reading a sum and mapping it takes less time than evaluating the kernel, which below is as
# fast as memory: measured in float64, 1.3 against 3.0 ns at 32 features and 1.9 against 2.2 at 16; in float32, 0.9
# against 1.3 and 0.8 against 0.9.
WORTH_FROM = 32
# And from this many, where rows or atoms have to be gathered first: 4.1 against 5.2 ns at 64, 3.9 against 4.1 at 32.
GATHER_FROM = 64
# Sums are gathered and mapped in pieces of this size, which stay in the cache on their way.
PIECE_BYTES = 2**20


class DistanceTable:
    """Sums of squared or absolute differences between centres and training rows, at one gamma.

    They are computed when they are first asked for.

    Parameters
    ----------
    atoms : KernelAtoms
        The centres, resolved on the rows; its gamma is that of the sums, `gamma`.
    X : array of shape (n_rows, n_features)
        The training rows.
    dtype : float32 or float64
        Float type of the sums. Values of a wider type are not made of them.
    """

    def __init__(self, atoms: KernelAtoms, X: np.ndarray, dtype: DTypeLike):
        self.gamma = float(atoms.kernel.gamma)
        self.dtype: np.dtype = np.dtype(dtype)
        self.n_rows = X.shape[0]
        self._atoms = atoms
        self._X = X
        self._sums: np.ndarray | None = None
        self._number_of_row: dict[bytes, int] | None = None

    def sums(self, n_threads: int | None = None) -> np.ndarray:
        """The sums, shape (n_centres, n_rows)."""
        if self._sums is None:
            rows, centers = self._atoms.rows(self._X), self._atoms.rows(self._atoms.centers)
            self._sums = _native.distances(
                self._atoms.kernel.spec, centers[self.dtype], rows[self.dtype], n_threads=n_threads
            )
        return self._sums

    def find(self, X: Matrix) -> np.ndarray | None:
        """Which training row each row of `X` is, or None where one is none of them.

        Rows are told by what they hold: those of a fold come as copies, and equal rows have equal distances.
        """
        if sp.issparse(X) or X.dtype != self._X.dtype or X.shape[1:] != self._X.shape[1:]:
            return None
        if X is self._X:
            return np.arange(self.n_rows)
        if self._number_of_row is None:
            self._number_of_row = {key: i for i, key in enumerate(_keys(self._X))}
        numbers = np.array([self._number_of_row.get(key, -1) for key in _keys(X)], dtype=np.intp)
        return None if (numbers < 0).any() else numbers

    def values(
        self,
        kernel: Kernel,
        atoms: np.ndarray,
        rows: np.ndarray,
        dtype: DTypeLike | None = None,
        out: np.ndarray | None = None,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """Values of a kernel of this family and of any gamma at centres and rows, shape (len(atoms), len(rows))."""
        kept = sums = self.sums(n_threads)
        sums = sums[atoms[0] : atoms[-1] + 1] if _is_range(atoms) else sums[atoms]
        if not (len(rows) == self.n_rows and _is_range(rows)):
            sums = sums[:, rows]
        target = out if out is not None and out.dtype == self.dtype else None
        if target is None and not np.may_share_memory(sums, kept):
            target = sums = np.ascontiguousarray(sums)
        values = _native.transform(kernel.spec, sums, self.factor(kernel), out=target, n_threads=n_threads)
        if out is None:
            return values.astype(values.dtype if dtype is None else dtype, copy=False)
        if target is not out:
            out[:] = values
        return out

    def factor(self, kernel: Kernel) -> float:
        """What the sums are multiplied by for a kernel, in their float type."""
        with np.errstate(over="ignore", under="ignore"):
            return float(self.dtype.type(float(kernel.gamma) / self.gamma))


class DistanceAtoms(KernelAtoms):
    """Kernel atoms whose distances to training rows are read from a table.

    It differs from the `KernelAtoms` that it stands for in time and in the last bits of values that are asked for in
    bulk, by which atoms are scored. `free` leads back to the other.

    Parameters
    ----------
    atoms : KernelAtoms
        A stationary kernel without a gamma of its own, with centres or at the training rows.
    table : DistanceTable or None
        Its distances; without them, kernels are evaluated.
    numbers : array of shape (n_atoms,), optional
        Number of each atom's centre in the table; all of them in order by default.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.dictionary import DistanceAtoms, KernelAtoms, share_distances
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> shared = share_distances(KernelAtoms("rbf"), X, gamma=1.0)
    >>> isinstance(shared, DistanceAtoms), shared.free()
    (True, KernelAtoms(RBF(), at training rows))
    """

    def __init__(self, atoms: KernelAtoms, table: DistanceTable | None, numbers: np.ndarray | None = None):
        super().__init__(**atoms.state())
        self._table = table
        self._numbers = numbers  # of each atom's centre in the table; None for all of them

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> DistanceAtoms:
        """Fill in the centres and gamma."""
        return DistanceAtoms(super().resolve(X, gamma, weights), self._table)

    def take(self, atoms: np.ndarray) -> DistanceAtoms:
        """Return the atoms at these centres."""
        return DistanceAtoms(super().take(atoms), self._table, self._places(atoms))

    def with_training_rows(self, training_rows: np.ndarray | None) -> DistanceAtoms:
        """Return the same atoms, whose centres are at other rows."""
        return DistanceAtoms(super().with_training_rows(training_rows), self._table, self._numbers)

    def free(self) -> KernelAtoms:
        """Return the same atoms without the table."""
        return KernelAtoms(**self.state())

    def rows(self, X: Matrix) -> RowForm:
        """Embed `X`, and remember what it was."""
        embedded = super().rows(X)
        if self._table is None or not isinstance(embedded, EmbeddedRows):
            return embedded
        return KnownRows(embedded, X, self._table)

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the given atoms on rows, shape (len(atoms), n_rows)."""
        known = self._known(rows, atoms, dtype)
        if known is None:
            return super().block(rows, atoms, dtype, n_threads)
        assert self._table is not None
        return self._table.values(self.kernel, self._places(atoms), known, dtype, n_threads=n_threads)

    def fill(self, rows: RowForm, atoms: np.ndarray, out: np.ndarray, n_threads: int | None = None) -> None:
        """Write the values where they are to stay."""
        known = self._known(rows, atoms, out.dtype)
        if known is None:
            return super().fill(rows, atoms, out, n_threads)
        assert self._table is not None
        places = self._places(atoms)
        for tile in tiles(len(atoms), 8 * out.shape[1], PIECE_BYTES):
            self._table.values(self.kernel, places[tile], known, out=out[tile], n_threads=n_threads)
        return None

    def sqnorms(
        self,
        rows: RowForm,
        weights: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """Weighted squared norms, tile by tile of values from the table."""
        known = self._known(rows, atoms, dtype)
        if known is None:
            return super().sqnorms(rows, weights, atoms, dtype, n_threads=n_threads)
        assert self._table is not None
        out, places, plain = np.empty(len(atoms)), self._places(atoms), bool((weights == 1.0).all())
        for tile in tiles(len(atoms), 8 * len(weights), PIECE_BYTES):
            values = self._table.values(self.kernel, places[tile], known, dtype, n_threads=n_threads)
            if plain:
                out[tile] = _native.stored_examine(values, np.empty((0, len(weights))), n_threads)[1]
            else:
                values = values.astype(np.float64, copy=False)
                out[tile] = np.einsum("ij,ij,j->i", values, values, weights)
        return out

    def _places(self, atoms: np.ndarray) -> np.ndarray:
        return np.asarray(atoms) if self._numbers is None else self._numbers[atoms]

    def _known(self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike) -> np.ndarray | None:
        """Numbers of the rows in the table, where it is to serve; else None."""
        if self._table is None or not isinstance(rows, KnownRows) or len(atoms) < MANY_ATOMS:
            return None
        if np.dtype(dtype).itemsize > self._table.dtype.itemsize or not 0 < self._table.factor(self.kernel) < np.inf:
            return None
        numbers = rows.numbers()
        gathers = self._numbers is not None or numbers is None or not _is_range(numbers)
        return None if gathers and rows.shape[1] < GATHER_FROM else numbers

    def __getstate__(self) -> State:
        """Leave out the table: what it holds can be computed again."""
        return {**super().__getstate__(), "_table": None}


class KnownRows(EmbeddedRows):
    """Embedded rows that may be looked up in a table of distances."""

    def __init__(self, rows: EmbeddedRows, X: Matrix, table: DistanceTable):
        super().__init__(rows[np.float64])
        self._given: Matrix = X
        self._table = table
        self._found: np.ndarray | None = None

    def numbers(self) -> np.ndarray | None:
        """Which training row each is, or None where one is none; looked up once."""
        if self._given is not None:
            self._found, self._given = self._table.find(self._given), None
        return self._found


def share_distances(dictionary: Dictionary, X: Matrix, gamma: float, dtype: DTypeLike = np.float64) -> Dictionary:
    """Return the same atoms, with distances to the rows of `X` that are computed once for all gammas.

    Parameters
    ----------
    dictionary : Dictionary
        As the user wrote it. Of a union, every part is looked at; parts that have no distances, or a gamma of their
        own, stay as they are.
    X : array of shape (n_rows, n_features)
        All rows that will be trained on.
    gamma : float
        The gamma at which distances are kept, of the size of those that are wanted.
    dtype : float32 or float64
        Float type of the distances.

    Returns
    -------
    Dictionary
        The one that was given, where nothing in it can be shared.

    Notes
    -----
    Memory is `n_rows * n_centres` numbers for each part, taken when values are first asked for; kernels of squared
    distances at the same centres share theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.dictionary import KernelAtoms, share_distances
    >>> X = np.linspace(0.0, 1.0, 200)[:, None]
    >>> plain = KernelAtoms("rbf")
    >>> shared = share_distances(plain, X, gamma=1.0).resolve(X, gamma=3.0)
    >>> numbers = np.arange(200)
    >>> values = shared.block(shared.rows(X), numbers)
    >>> direct = plain.resolve(X, gamma=3.0)
    >>> bool(np.allclose(values, direct.block(direct.rows(X), numbers), rtol=1e-13))
    True
    """
    if sp.issparse(X):
        return dictionary
    tables: dict[tuple[bool, int], DistanceTable] = {}
    parts = []
    for part in _parts(dictionary):
        if can_share(part):
            assert isinstance(part, KernelAtoms)
            key = _table_key(part)
            if key not in tables:
                tables[key] = DistanceTable(part.resolve(X, gamma), X, dtype)
            part = DistanceAtoms(part, tables[key])
        parts.append(part)
    if not tables:
        return dictionary
    return Union(*parts) if isinstance(dictionary, Union) else parts[0]


def can_share(part: Dictionary) -> bool:
    """Whether a part of a dictionary is a function of distances whose width is left to the estimator's `gamma`."""
    if type(part) is not KernelAtoms or not part.takes_gamma or not part.kernel.is_stationary:
        return False
    return part.factors is None and not sp.issparse(part._centers)


def shared_size(dictionary: Dictionary, n_rows: int) -> int:
    """How many distances `share_distances` would keep for that many training rows."""
    counts = {}
    for part in _parts(dictionary):
        if can_share(part):
            assert isinstance(part, KernelAtoms)
            counts[_table_key(part)] = n_rows if part.at_training_rows else part.n_atoms
    return n_rows * sum(counts.values())


def unshare(dictionary: Dictionary) -> Dictionary:
    """Return the dictionary without tables."""
    if isinstance(dictionary, Union) and any(isinstance(part, DistanceAtoms) for part in dictionary.parts):
        return dictionary.with_parts(map(unshare, dictionary.parts))
    return dictionary.free() if isinstance(dictionary, DistanceAtoms) else dictionary


def _parts(dictionary: Dictionary) -> list[Dictionary]:
    return dictionary.parts if isinstance(dictionary, Union) else [dictionary]


def _table_key(part: KernelAtoms) -> tuple[bool, int]:
    """Parts of the same key have the same distances."""
    return part.kernel.kind == "laplacian", id(part._centers)


def _keys(X: np.ndarray) -> list[bytes]:
    """One digest for each row."""
    return [blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(X)]


def _is_range(numbers: np.ndarray) -> bool:
    """Whether numbers follow one another."""
    return len(numbers) > 0 and bool((np.diff(numbers) == 1).all())
