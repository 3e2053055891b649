"""Kernel values on rows in compressed sparse row form, for data too wide to be held densely."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit._native import numpy_twin
from kernelpursuit.kernels.base import Kernel


def sparse_block(kernel: Kernel, C: Any, X: Any, factors: np.ndarray | None = None) -> np.ndarray:
    """Values of shape (n_centres, n_rows) for embedded CSR centres and rows; factors as the native core takes them.

    Squared distances come from products, `||x||² + ||c||² - 2 x·c`: sparse data has no differences to take, and
    what cancels costs a few eps of ||x||² in the squared distance (its root, 1e-8 of ||x||, for Matern 1/2).
    """
    if kernel.kind == "laplacian":
        arguments = _manhattan(C, X)
    else:
        arguments = (C @ X.T).toarray()
        if kernel.is_stationary:
            arguments = np.maximum(_sqnorms(C)[:, None] + _sqnorms(X) - 2 * arguments, 0.0)
    if factors is not None:
        arguments *= factors[:, None]
    return numpy_twin.kernel_map(*kernel.spec, arguments)


def _sqnorms(A: Any) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).ravel()


def _manhattan(C: Any, X: Any) -> np.ndarray:
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
