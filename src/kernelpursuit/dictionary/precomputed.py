"""Atoms whose values the user has already computed, one column each."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.dictionary.base import Dictionary
from kernelpursuit.rows import dense

# Up to this size, positive semidefiniteness is decided by a factorisation; above, by necessary conditions.
FACTORISE_UP_TO = 2000
# Entries of a Gram matrix and of its transpose may differ by this much of their size: a few units in the last place of
# float32 (6e-8), in which it may have been computed.
SYMMETRIC = 1e-6
# And by this much of the largest entry, where they are differences of larger numbers: the root of eps in float64.
CANCELLED = 1e-8
# Eigenvalues may be this much of the largest entry below zero. The factorisation itself rounds by n eps, 4e-13 for
# 2,000 rows; the rest is for how the matrix was computed.
NEGATIVE = 1e-9


class Precomputed(Dictionary):
    """The columns of the `X` given to `fit` are the atoms: any matrix of shape (n_rows, n_atoms).

    Parameters
    ----------
    is_mercer : bool, optional
        Whether the columns are a Gram matrix of a positive semidefinite kernel; by default looked up in the matrix.
    matrix, columns, n_columns, training_rows : optional
        What `resolve` fills in: the training matrix, the number of each atom's column in it, how many columns it has,
        and the training row of each atom.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.dictionary import Precomputed
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> powers = x[:, None] ** np.arange(6)
    >>> model = KernelPursuitRegressor(kernel=Precomputed(), fit_intercept=False, max_atoms=2, stop="max")
    >>> model.fit(powers, 4 * x**3 - 3 * x).center_indices_  # same as kernel="precomputed"
    array([1, 3])
    """

    def __init__(
        self,
        is_mercer: bool | None = None,
        *,
        matrix: Matrix = None,
        columns: np.ndarray | None = None,
        n_columns: int = 0,
        training_rows: np.ndarray | None = None,
    ):
        self._said_mercer = is_mercer
        self._matrix = matrix
        self.columns = columns
        self.n_columns = n_columns
        self.training_rows = training_rows

    def count(self, X: Matrix) -> int:
        """Number of columns."""
        return X.shape[1]

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Precomputed:
        """Take the columns of `X` as atoms."""
        n = X.shape[1]
        rows = np.arange(n) if X.shape[0] == n else np.full(n, -1)
        return Precomputed(self._said_mercer, matrix=X, columns=np.arange(n), n_columns=n, training_rows=rows)

    @property
    def n_atoms(self) -> int:
        """Number of columns."""
        if self.columns is None:
            raise ValueError("Precomputed has no columns before resolve(X).")
        return len(self.columns)

    @property
    def is_mercer(self) -> bool:
        """What the user said, else whether the matrix is symmetric and positive semidefinite."""
        if self._said_mercer is None:
            self._said_mercer = _is_gram(self._matrix)
        return self._said_mercer

    def take(self, atoms: np.ndarray) -> Precomputed:
        """Return these columns of the same matrix."""
        columns = None if self.columns is None else self.columns[atoms]
        rows = None if self.training_rows is None else self.training_rows[atoms]
        return Precomputed(**{**self.state(), "columns": columns, "training_rows": rows}, matrix=self._matrix)

    def with_training_rows(self, training_rows: np.ndarray | None) -> Precomputed:
        """Return the same columns of the same matrix, which belong to other rows."""
        return Precomputed(**{**self.state(), "training_rows": training_rows}, matrix=self._matrix)

    @property
    def follows_rows(self) -> bool:
        """Only the columns of a Gram matrix belong to rows; those of any other square matrix just are as many."""
        return self.is_mercer

    def free(self) -> Precomputed:
        """Return the columns' numbers without the matrix."""
        return Precomputed(**self.state())

    def state(self) -> State:
        """The columns' numbers; not the matrix."""
        return {
            "is_mercer": self._said_mercer,
            "columns": self.columns,
            "n_columns": self.n_columns,
            "training_rows": self.training_rows,
        }

    @classmethod
    def from_state(cls, state: State) -> Precomputed:
        """Return the columns that `state` describes."""
        return cls(**state)

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values read from `rows`, which hold all columns, or just those of this dictionary, in its order."""
        assert self.columns is not None
        only_mine = rows.shape[1] == self.n_atoms != self.n_columns
        columns = np.asarray(atoms) if only_mine else self.columns[atoms]
        return np.ascontiguousarray(dense(rows[:, columns]).T, dtype=dtype)

    def gram(self, atoms: np.ndarray, others: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Entries of the Gram matrix."""
        if not self.is_mercer:
            return super().gram(atoms, others)
        assert self.columns is not None
        return dense(self._matrix[self.columns[atoms]][:, self.columns[others]], np.float64)

    def own_values(self) -> np.ndarray:
        """The diagonal of a square matrix."""
        if self.training_rows is None or (self.training_rows < 0).any():
            return super().own_values()
        return np.asarray(self._matrix.diagonal(), dtype=np.float64)[self.columns]

    def __repr__(self) -> str:
        """Show the number of columns."""
        return "Precomputed()" if self.columns is None else f"Precomputed({len(self.columns)} columns)"

    def __getstate__(self) -> State:
        """A model keeps column numbers, not the training matrix."""
        return {**self.__dict__, "_matrix": None}


def _is_gram(matrix: Matrix) -> bool:
    """Whether `matrix` is symmetric and, as far as is affordable to see, positive semidefinite."""
    if matrix is None or matrix.shape[0] != matrix.shape[1]:
        return False
    K = dense(matrix, np.float64)
    diagonal = K.diagonal()
    scale = float(diagonal.max(initial=0.0))
    if (diagonal < 0).any() or not np.allclose(K, K.T, rtol=SYMMETRIC, atol=CANCELLED * scale):
        return False
    if K.shape[0] > FACTORISE_UP_TO:
        bound = np.sqrt(diagonal)
        return bool((np.abs(K) <= (1 + CANCELLED) * np.outer(bound, bound) + CANCELLED * scale).all())
    try:
        shift = NEGATIVE * max(scale, np.finfo(float).tiny)
        scipy.linalg.cholesky(K + shift * np.eye(len(K)), check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True
