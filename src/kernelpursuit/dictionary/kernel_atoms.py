"""Atoms that are kernels at centres: the training rows, or rows the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit import _native
from kernelpursuit._types import EmbeddingOrigin, Matrix, RowForm, State
from kernelpursuit._validate import as_floats, check_finite
from kernelpursuit.dictionary.base import Dictionary
from kernelpursuit.kernels import CallableKernel, Kernel, KernelLike, as_kernel
from kernelpursuit.kernels.sparse import sparse_block


class KernelAtoms(Dictionary):
    """One atom `k(., c)` for every centre c.

    Parameters
    ----------
    kernel : str, Kernel or callable
        The kernel; a callable takes `(X, C)` and returns values of shape (n_rows, n_centres).
    centers : array of shape (n_centres, n_features), optional
        The centres; by default every training row.
    factors : array of shape (n_centres,), optional
        Positive factors of gamma, one for each of the centres, which must be given: atom j is the kernel with
        ``gamma * f_j``. For stationary kernels alone; 1 by default. Atoms whose factors differ are not sections of one
        kernel, so they have no positive semidefinite kernel behind them.
    origin, training_rows : optional
        What `resolve` fills in: where the embedding has its origin, and the training row of each centre.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.dictionary import Constant, KernelAtoms
    >>> dictionary = KernelAtoms("rbf") + KernelAtoms("linear", centers=np.eye(2)) + Constant()
    """

    def __init__(
        self,
        kernel: KernelLike,
        centers: Matrix = None,
        factors: ArrayLike | None = None,
        *,
        origin: EmbeddingOrigin = 0.0,
        training_rows: np.ndarray | None = None,
    ):
        self.kernel: Any = as_kernel(kernel)
        self._centers: Matrix = centers if centers is None or sp.issparse(centers) else np.asarray(centers)
        self._factors = None if factors is None else _check_factors(factors, self.kernel, self._centers)
        self._origin = origin
        self.training_rows = training_rows
        self._center_rows: RowForm = None

    @property
    def is_mercer(self) -> bool:
        """Whether the kernel is symmetric positive semidefinite, and the same for all atoms."""
        return self.kernel.is_mercer and (self._factors is None or bool((self._factors == self._factors[:1]).all()))

    @property
    def takes_gamma(self) -> bool:
        """Whether the kernel has a width, and none of its own."""
        return isinstance(self.kernel, Kernel) and self.kernel.takes_gamma

    @property
    def at_training_rows(self) -> bool:
        """Whether the centres are left to the training rows."""
        return self._centers is None

    @property
    def n_atoms(self) -> int:
        """Number of centres."""
        return self.centers.shape[0]

    @property
    def centers(self) -> Matrix:
        """The centres, one row an atom."""
        if self._centers is None:
            raise ValueError("KernelAtoms at the training rows has no centres before resolve(X).")
        return self._centers

    @property
    def factors(self) -> np.ndarray | None:
        """Width factors, which multiply gamma, one an atom; None for ones."""
        return self._factors

    def count(self, X: Matrix) -> int:
        """Number of centres: the rows, unless others are given."""
        return X.shape[0] if self.at_training_rows else self.n_atoms

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> KernelAtoms:
        """Fill in the centres and gamma; move the origin of stationary kernels into the data."""
        if isinstance(self.kernel, CallableKernel):
            kernel: Any = self.kernel
            origin: EmbeddingOrigin = 0.0
        else:
            kernel = self.kernel.resolve(X, gamma, weights)
            origin = kernel.origin(X)
        at_training_rows = self._centers is None
        centers = X if at_training_rows else _check_centers(self._centers, X.shape[1])
        n_centers = centers.shape[0]
        rows = np.arange(n_centers) if at_training_rows else np.full(n_centers, -1)
        return KernelAtoms(kernel, centers, self._factors, origin=origin, training_rows=rows)

    def with_training_rows(self, training_rows: np.ndarray | None) -> KernelAtoms:
        """Return the same atoms, whose centres are at other rows."""
        return KernelAtoms(**{**self.state(), "training_rows": training_rows})

    def with_centers(self, centers: Matrix) -> KernelAtoms:
        """Return the same kernel, as it is resolved, at other centres."""
        return KernelAtoms(self.kernel, centers, origin=self._origin, training_rows=np.full(centers.shape[0], -1))

    def joined(self, others: KernelAtoms) -> KernelAtoms:
        """Return these atoms and others of the same kernel, dense ones both."""
        factors = None
        if self._factors is not None or others.factors is not None:
            parts = [np.ones(one.n_atoms) if one.factors is None else one.factors for one in (self, others)]
            factors = np.concatenate(parts)
        centers = np.vstack([self.centers, others.centers])
        return KernelAtoms(self.kernel, centers, factors, origin=self._origin, training_rows=np.full(len(centers), -1))

    def state(self) -> State:
        """Kernel, centres and factors, and where the embedding has its origin."""
        return {
            "kernel": self.kernel,
            "centers": self._centers,
            "factors": self._factors,
            "origin": self._origin,
            "training_rows": self.training_rows,
        }

    @classmethod
    def from_state(cls, state: State) -> KernelAtoms:
        """Return the atoms that `state` describes."""
        return cls(**state)

    def take(self, atoms: np.ndarray) -> KernelAtoms:
        """Return the atoms at these centres; the centres are copied."""
        centers, factors = self.centers[atoms], self._factors_of(atoms)
        rows = None if self.training_rows is None else self.training_rows[atoms]
        return KernelAtoms(self.kernel, centers, factors, origin=self._origin, training_rows=rows)

    def _factors_of(self, atoms: np.ndarray) -> np.ndarray | None:
        return None if self._factors is None else self._factors[atoms]

    def repeated(self) -> np.ndarray:
        """Which atoms have the centre, and the factor, of an earlier one."""
        if sp.issparse(self.centers):
            entries = sp.csr_array(self.centers, copy=True)
            entries.sum_duplicates()
            bounds = zip(entries.indptr[:-1], entries.indptr[1:])
            keys = [entries.indices[i:j].tobytes() + entries.data[i:j].tobytes() for i, j in bounds]
            if self._factors is not None:
                keys = [key + factor.tobytes() for key, factor in zip(keys, self._factors)]
            _, first = np.unique(np.array(keys, dtype=object), return_index=True)
        else:
            centers = self.centers + 0.0  # makes -0.0 and 0.0 one
            if self._factors is not None:
                centers = np.column_stack([centers, self._factors])
            centers = np.ascontiguousarray(centers)
            as_bytes = centers.view(np.dtype((np.void, centers.dtype.itemsize * centers.shape[1])))
            _, first = np.unique(as_bytes.ravel(), return_index=True)
        mask = np.ones(self.n_atoms, dtype=bool)
        mask[first] = False
        return mask

    def same_as(self, atom: int, others: np.ndarray) -> np.ndarray:
        """Which of the other atoms have the same centre and factor."""
        centers, others = self.centers, np.asarray(others, dtype=np.intp)
        if sp.issparse(centers):
            same = np.array([(centers[[atom]] != centers[[other]]).nnz == 0 for other in others], dtype=bool)
        else:
            same = (centers[others] == centers[atom]).all(axis=1)
        return same if self._factors is None else same & (self._factors[others] == self._factors[atom])

    def rows(self, X: Matrix) -> RowForm:
        """Embed `X` once: shifted to the origin and scaled, so that the native core needs no scales."""
        if X is self._centers:
            return self._embedded_centers()
        return self._embed(X)

    def _embed(self, X: Matrix) -> RowForm:
        if isinstance(self.kernel, CallableKernel):
            return X
        embedded = self.kernel.embed(X, self._origin)
        return embedded if sp.issparse(embedded) else EmbeddedRows(embedded)

    def _embedded_centers(self) -> RowForm:
        if self._center_rows is None:
            self._center_rows = self._embed(self.centers)
        return self._center_rows

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the given atoms on rows, shape (len(atoms), n_rows)."""
        centers = self._embedded_centers()
        if isinstance(self.kernel, CallableKernel):
            values = self.kernel(rows, centers[atoms]).T
        elif sp.issparse(rows) or sp.issparse(centers):
            entries, factors = sp.csr_array(_raw(centers))[atoms], self._factors_of(atoms)
            values = sparse_block(self.kernel, entries, sp.csr_array(_raw(rows)), factors)
        else:
            centers, factors = centers[dtype][atoms], self._factors_of(atoms)
            values = _native.block(self.kernel.spec, centers, rows[dtype], n_threads=n_threads, factors=factors)
        return np.ascontiguousarray(values, dtype=dtype)

    def fill(self, rows: RowForm, atoms: np.ndarray, out: np.ndarray, n_threads: int | None = None) -> None:
        """Write the values where they are to stay: fresh memory is slow, and the core's threads touch it together."""
        if not self._is_native(rows):
            return super().fill(rows, atoms, out, n_threads)
        centers, factors = self._embedded_centers()[out.dtype][atoms], self._factors_of(atoms)
        _native.block(self.kernel.spec, centers, rows[out.dtype], out=out, n_threads=n_threads, factors=factors)
        return None

    def rmatvec(
        self,
        rows: RowForm,
        V: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """`D' V` by the native core, without storing D."""
        if not self._is_native(rows):
            return super().rmatvec(rows, V, atoms, dtype, n_threads=n_threads)
        centers, factors = self._embedded_centers()[dtype][atoms], self._factors_of(atoms)
        return _native.rmatvec(self.kernel.spec, centers, rows[dtype], V, n_threads=n_threads, factors=factors)

    def sqnorms(
        self,
        rows: RowForm,
        weights: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """Weighted squared norms by the native core, without storing D."""
        if not self._is_native(rows):
            return super().sqnorms(rows, weights, atoms, dtype, n_threads=n_threads)
        centers, factors = self._embedded_centers()[dtype][atoms], self._factors_of(atoms)
        return _native.sqnorms(self.kernel.spec, centers, rows[dtype], weights, n_threads=n_threads, factors=factors)

    def examine(
        self, rows: RowForm, V: np.ndarray, weights: np.ndarray | None, atoms: np.ndarray, n_threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """`D' V` and squared norms by the native core, without storing D."""
        if not self._is_native(rows):
            return super().examine(rows, V, weights, atoms, n_threads=n_threads)
        centers, factors = self._embedded_centers()[np.float64][atoms], self._factors_of(atoms)
        spec, rows = self.kernel.spec, rows[np.float64]
        return _native.examine(spec, centers, rows, V, weights=weights, n_threads=n_threads, factors=factors)

    def matvec(self, rows: RowForm, coef: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """`D c` by the native core, without storing D."""
        if not self._is_native(rows):
            return super().matvec(rows, coef, n_threads)
        centers, rows = self._embedded_centers()[np.float64], rows[np.float64]
        return _native.matvec(self.kernel.spec, rows, centers, coef, n_threads=n_threads, factors=self._factors)

    def _is_native(self, rows: RowForm) -> bool:
        return isinstance(rows, EmbeddedRows) and isinstance(self._embedded_centers(), EmbeddedRows)

    def gram(self, atoms: np.ndarray, others: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """`k(c_i, c_j)`, the inner product of two atoms in the kernel's own space."""
        if not self.is_mercer:
            return super().gram(atoms, others)
        return self.block(self._rows_of_centers(others), atoms, n_threads=n_threads)

    def own_values(self) -> np.ndarray:
        """`k(c, c)` of every centre."""
        centers = self._embedded_centers()
        if isinstance(centers, EmbeddedRows) and isinstance(self.kernel, Kernel):
            return self.kernel.diagonal(centers[np.float64])
        numbers = np.arange(self.n_atoms)
        squares = (numbers[start : start + 64] for start in range(0, self.n_atoms, 64))
        return np.concatenate([np.zeros(0), *(self.block(centers[j], j).diagonal() for j in squares)])

    def _rows_of_centers(self, atoms: np.ndarray) -> RowForm:
        centers = self._embedded_centers()
        return EmbeddedRows(centers[np.float64][atoms]) if isinstance(centers, EmbeddedRows) else centers[atoms]

    def __getstate__(self) -> State:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_center_rows": None}

    def __repr__(self) -> str:
        """Show the kernel and the number of centres."""
        where = "training rows" if self._centers is None else f"{self._centers.shape[0]} centres"
        return f"KernelAtoms({self.kernel!r}, at {where})"


class EmbeddedRows:
    """Rows as the native core takes them, in float64 and, made on first use, in float32."""

    def __init__(self, z: np.ndarray):
        # Rows of a data frame come column by column, and would be copied for every block.
        z = np.ascontiguousarray(z)
        self._by_dtype: dict[np.dtype, np.ndarray] = {np.dtype(np.float64): z}
        self.shape = z.shape

    def __getitem__(self, dtype: DTypeLike) -> np.ndarray:
        """Return the rows in the given float type."""
        dtype = np.dtype(dtype)
        if dtype not in self._by_dtype:
            self._by_dtype[dtype] = self._by_dtype[np.dtype(np.float64)].astype(dtype)
        return self._by_dtype[dtype]


def _raw(rows: RowForm) -> Matrix:
    return rows[np.float64] if isinstance(rows, EmbeddedRows) else rows


def _check_factors(factors: ArrayLike, kernel: Any, centers: Matrix) -> np.ndarray:
    if isinstance(kernel, CallableKernel) or not kernel.is_stationary:
        name = kernel.name if isinstance(kernel, CallableKernel) else type(kernel).__name__
        raise ValueError(
            f"factors multiply the gamma of stationary kernels, and kernel={name} is none; leave them out."
        )
    if centers is None:
        raise ValueError("factors need centers to belong to; give both, or leave factors out.")
    checked = np.array(as_floats("factors", factors), dtype=np.float64)
    if checked.shape != centers.shape[:1]:
        raise ValueError(
            f"factors has shape {checked.shape}; it must have {centers.shape[:1]}, a number for each centre."
        )
    if not (np.isfinite(checked) & (checked > 0)).all():
        raise ValueError("factors holds numbers that are not positive and finite; give positive factors of gamma.")
    checked.flags.writeable = False
    return checked


def _check_centers(centers: Matrix, n_features: int) -> Matrix:
    centers = centers if sp.issparse(centers) else as_floats("centers", centers)
    if centers.ndim != 2 or centers.shape[1] != n_features or centers.shape[0] == 0:
        raise ValueError(
            f"centers has shape {centers.shape}, but X has {n_features} features; give one row of {n_features} "
            "numbers for each centre."
        )
    check_finite("centers", centers)
    return centers
