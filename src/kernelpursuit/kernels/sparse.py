"""Kernel values on rows in compressed sparse row form, for data too wide to be held densely."""

from __future__ import annotations

import numpy as np

from kernelpursuit._native import numpy_twin
from kernelpursuit._native.spec import STATIONARY
from kernelpursuit._types import Matrix
from kernelpursuit.kernels.base import Kernel


def sparse_block(kernel: Kernel, C: Matrix, X: Matrix, factors: np.ndarray | None = None) -> np.ndarray:
    """Values of shape (n_centres, n_rows) for embedded CSR centres and rows; factors as the native core takes them.

    Squared distances come from products, `||x||² + ||c||² - 2 x·c`: sparse data has no differences to take, and
    what cancels costs a few eps of ||x||² in the squared distance (its root, 1e-8 of ||x||, for Matern 1/2).
    """
    steps = kernel.steps
    columns = numpy_twin.step_columns(steps, X.shape[1])

    def formula(number: int) -> np.ndarray:
        kind, p0, p1, _ = steps[number]
        arguments = _arguments(kind, C[:, columns[number]], X[:, columns[number]])
        if factors is not None:
            arguments *= factors[:, None]
        return numpy_twin.kernel_map(kind, p0, p1, arguments)

    return numpy_twin.run_steps(steps, formula)


def _arguments(kind: str, C: Matrix, X: Matrix) -> np.ndarray:
    """Return what a formula is a function of."""
    if kind == "laplacian":
        return _manhattan(C, X)
    products = (C @ X.T).toarray()
    if kind not in STATIONARY:
        return products
    return np.maximum(_sqnorms(C)[:, None] + _sqnorms(X) - 2 * products, 0.0)


def _sqnorms(A: Matrix) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).ravel()


def _manhattan(C: Matrix, X: Matrix) -> np.ndarray:
    """Sums of absolute differences: those over a centre's entries, corrected where the row has one too."""
    row_of_entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    out = np.empty((C.shape[0], X.shape[0]))
    for j in range(C.shape[0]):
        center = np.zeros(C.shape[1])
        entries = slice(C.indptr[j], C.indptr[j + 1])
        center[C.indices[entries]] = C.data[entries]
        facing = center[X.indices]
        correction = np.bincount(row_of_entry, np.abs(X.data - facing) - np.abs(facing), minlength=X.shape[0])
        out[j] = np.abs(center).sum() + correction
    return np.maximum(out, 0.0)
