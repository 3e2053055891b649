"""How far a row is from all training rows, as the kernel sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.model.constants import (
    FIRST_WIDTH_STEP,
    MAX_LANDMARKS,
    N_WIDTH_STEPS,
    NEAR_QUANTILE,
    NEAR_UNEXPLAINED,
)

# Added to the diagonal, so that the factor stays accurate.
JITTER = 1e-6


@dataclass(frozen=True)
class Landmarks:
    """A few training rows, and what a row has that they do not explain.

    That is the power function `v(x) = 1 - k(x)' K^-1 k(x)`, with K for the kernel values among the landmarks and k(x)
    for those between them and x: 0 at a landmark, 1 far from all. In a Gaussian process it is the variance at x, as a
    fraction of that before any row was seen. Features count by their learned scales. The width of the kernel is the one
    in which nearly all training rows are just explained by the others: that of the model may be so large that nothing
    seems unknown across holes in the data.

    atoms   the kernel at the landmarks
    factor  the lower Cholesky factor of K
    near    what v is at nearly all training rows
    """

    atoms: KernelAtoms
    factor: np.ndarray
    near: float

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, n_threads: int | None) -> tuple[Landmarks, np.ndarray]:
        """Find landmarks among rows, and v of all of these, of a landmark as if it were none."""
        exponent, step = 0.0, FIRST_WIDTH_STEP
        for _ in range(N_WIDTH_STEPS):
            found, v = cls._with_width(kernel, 2.0**exponent, X, n_threads)
            exponent += step if found.near < NEAR_UNEXPLAINED else -step
            step /= 2
        return found, v

    @classmethod
    def _with_width(
        cls, kernel: Kernel, factor: float, X: Matrix, n_threads: int | None
    ) -> tuple[Landmarks, np.ndarray]:
        """Choose landmarks by pivoted Cholesky: each is the row that those before explain least.

        It takes O(n_rows) kernel values and O(n_rows L) operations for each of L landmarks. Ties go to the first row.
        """
        everywhere = KernelAtoms(kernel.with_gamma(np.asarray(kernel.gamma) * factor), X).resolve(X)
        embedded = everywhere.rows(X)
        v, basis, chosen = np.ones(X.shape[0]), np.zeros((MAX_LANDMARKS, X.shape[0])), []
        for step in range(min(MAX_LANDMARKS, X.shape[0])):
            pivot = int(np.argmax(v))
            if v[pivot] < JITTER:
                break
            column = everywhere.block(embedded, np.array([pivot]), n_threads=n_threads)[0]
            basis[step] = (column - basis[:step, pivot] @ basis[:step]) / np.sqrt(v[pivot])
            v = np.maximum(v - np.square(basis[step]), 0.0)
            v[pivot] = 0.0
            chosen.append(pivot)
        places = np.array(chosen, dtype=np.intp)
        atoms = everywhere.take(places)
        K = atoms.block(atoms.rows(atoms.centers), np.arange(len(places)), n_threads=n_threads)
        root = cholesky(0.5 * (K + K.T) + JITTER * np.eye(len(K)), lower=True, check_finite=False)
        inverse = solve_triangular(root, np.eye(len(root)), lower=True, check_finite=False)
        v[places] = 1.0 / np.square(inverse).sum(axis=0)
        v = np.clip(v, 0.0, 1.0)
        return cls(atoms, root, float(np.quantile(v, NEAR_QUANTILE))), v

    def values(self, X: Matrix, n_threads: int | None) -> np.ndarray:
        """Kernel values between landmarks and rows, shape (n_landmarks, n_rows)."""
        return self.atoms.block(self.atoms.rows(X), np.arange(self.atoms.n_atoms), n_threads=n_threads)

    def unexplained(self, values: np.ndarray) -> np.ndarray:
        """Return v of rows whose kernel values are these."""
        parts = solve_triangular(self.factor, values, lower=True, check_finite=False)
        return np.clip(1.0 - np.einsum("ij,ij->j", parts, parts), 0.0, 1.0)

    def far(self, v: np.ndarray) -> np.ndarray:
        """How far rows are from the data: 0 where nearly all training rows are, 1 where nothing is explained."""
        return np.square(np.maximum(v - self.near, 0.0) / max(1.0 - self.near, JITTER))
