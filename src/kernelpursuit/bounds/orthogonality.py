"""Zhang's measure of how far a few atoms are from orthogonal to each other and to the rest."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kernelpursuit._validate import as_floats, check_finite


def rho(inner: ArrayLike, reference: ArrayLike) -> float:
    """Return Zhang's rho of reference atoms (Definition 6.1), or infinity where rounding errors exceed it.

    `rho = sup sum_i c_i² ||x_i||² / ||sum_i c_i x_i + v||²` over the weights c of the reference atoms and all v in the
    span of the others: 1 where the reference atoms are orthogonal to each other and to the rest. It is the largest
    eigenvalue of `D^{1/2} S^{-1} D^{1/2}`, with D the squared norms of the reference atoms and S the Schur complement
    of the others in the matrix of inner products.

    Parameters
    ----------
    inner : array of shape (n_atoms, n_atoms)
        Inner products of all atoms: `x_i' G x_j = (K K / n + alpha K)_ij` for Gaussian processes.
    reference : array of int
        Numbers of the reference atoms.

    Returns
    -------
    float
        At least 1; infinity where the matrix is numerically singular. The value is rounded up, so that a bound
        computed from it stays valid.

    Notes
    -----
    One eigendecomposition: O(n_atoms³) time, O(n_atoms²) memory. Definition 6.1 prints n for N in its arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.bounds import rho
    >>> round(rho(np.eye(4), [0, 1]), 12)
    1.0
    >>> round(rho(np.array([[1.0, 0.5], [0.5, 1.0]]), [0]), 12)
    1.333333333333
    """
    inner = as_floats("inner", inner).astype(np.float64)
    if inner.ndim != 2 or inner.shape[0] != inner.shape[1]:
        raise ValueError(f"inner has shape {inner.shape}; give a square matrix of inner products.")
    check_finite("inner", inner)
    chosen = np.zeros(len(inner), dtype=bool)
    chosen[check_reference(reference, len(inner))] = True
    norms = np.sqrt(np.maximum(inner.diagonal(), 0.0))
    if not (norms > 0).all():
        return np.inf
    # In atoms of norm one D is the identity, and 1 / rho the least eigenvalue of S.
    order = np.concatenate([np.flatnonzero(~chosen), np.flatnonzero(chosen)])
    unit = (inner / np.outer(norms, norms))[np.ix_(order, order)]
    values = scipy.linalg.eigvalsh(unit, check_finite=False)
    # The backward error of the factorisation. The square root of S inherits it relative to its least eigenvalue: below
    # ten times as much, no digit of rho would be certain.
    rounding = len(unit) * np.finfo(np.float64).eps * values[-1]
    if values[0] <= 10 * rounding:
        return np.inf
    factor = scipy.linalg.cholesky(unit, lower=True, check_finite=False)
    n_reference = int(chosen.sum())
    least = scipy.linalg.svdvals(factor[-n_reference:, -n_reference:], check_finite=False)[-1] ** 2
    return float(max(1.0, 1 / (least * (1 - rounding / values[0]))))


def check_reference(reference: ArrayLike, n_atoms: int) -> np.ndarray:
    """Return the numbers of the reference atoms, each once."""
    numbers = np.asarray(reference)
    usable = numbers.ndim == 1 and len(numbers) and numbers.dtype.kind in "iu"
    if not usable or numbers.min() < 0 or numbers.max() >= n_atoms:
        raise ValueError(f"reference is not usable; give one or more atom numbers from 0 to {n_atoms - 1}.")
    return np.unique(numbers)
