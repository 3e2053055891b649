"""Products with the dictionary and squared norms of its columns, stored or never stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelpursuit._native import backend
from kernelpursuit._native.checks import check_atoms, check_length, check_matrix, check_weights
from kernelpursuit._native.spec import Atoms, Kernel


def matvec(
    kernel: Kernel,
    X: ArrayLike,
    C: ArrayLike,
    coef: ArrayLike,
    n_threads: int | None = None,
    *,
    factors: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Compute the dictionary times coefficients, without storing the dictionary.

    Parameters
    ----------
    kernel, X, C, n_threads, factors
        As for `block`.
    coef : array of shape (m, q)
        Coefficients, taken as float64.

    Returns
    -------
    float64 array of shape (n, q)
        ``sum_j k(x_i, c_j) coef[j, t]``, in O(m n (d + q)) time.
    """
    atoms, x = check_atoms(kernel, C, X, factors)
    w = check_matrix("coef", coef, double=True)
    check_length("coef", "rows", len(w), len(atoms.centers))
    out = np.empty((len(x), w.shape[1]))
    backend.implementation.matvec(atoms, x, w, out=out, n_threads=backend.resolve_threads(n_threads))
    return out


def rmatvec(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    V: ArrayLike,
    n_threads: int | None = None,
    *,
    factors: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Compute the transposed dictionary times vectors, without storing the dictionary.

    Parameters
    ----------
    kernel, C, X, n_threads, factors
        As for `block`.
    V : array of shape (q, n)
        Vectors over the rows, taken as float64.

    Returns
    -------
    float64 array of shape (q, m)
        ``sum_i k(x_i, c_j) V[t, i]``, in O(m n (d + q)) time; in C++ the same bits as
        `stored_rmatvec` of `block` gives.
    """
    return _products(check_atoms(kernel, C, X, factors), V, n_threads=n_threads)


def sqnorms(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    weights: ArrayLike | None = None,
    n_threads: int | None = None,
    *,
    factors: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Compute the (weighted) squared norms of dictionary columns, without storing them.

    Parameters
    ----------
    kernel, C, X, n_threads, factors
        As for `block`.
    weights : array of shape (n,), optional
        Weights of the rows, taken as float64; 1 by default.

    Returns
    -------
    float64 array of shape (m,)
        ``sum_i w_i k(x_i, c_j)^2``, in O(m n d) time.
    """
    return _products(check_atoms(kernel, C, X, factors), None, squares=True, weights=weights, n_threads=n_threads)[0]


def examine(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    V: ArrayLike,
    weights: ArrayLike | None = None,
    n_threads: int | None = None,
    *,
    factors: ArrayLike | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute what `rmatvec` and `sqnorms` do, bit by bit, from one evaluation of the kernel."""
    both = _products(check_atoms(kernel, C, X, factors), V, squares=True, weights=weights, n_threads=n_threads)
    return both[:-1], both[-1]


def _products(
    checked: tuple[Atoms, Any],
    V: ArrayLike | None,
    *,
    squares: bool = False,
    weights: ArrayLike | None = None,
    n_threads: int | None,
) -> NDArray[np.float64]:
    """Products of atoms on rows with vectors, and the squared norms as one more row."""
    atoms, x = checked
    v = np.empty((0, len(x))) if V is None else check_matrix("V", V, double=True)
    check_length("V", "columns", v.shape[1], len(x))
    w = check_weights(weights, len(x))
    out = np.empty((len(v) + squares, len(atoms.centers)))
    threads = backend.resolve_threads(n_threads)
    backend.implementation.rmatvec(atoms, x, v, squares, weights=w, out=out, n_threads=threads)
    return out


def stored_rmatvec(block: ArrayLike, V: ArrayLike, n_threads: int | None = None) -> NDArray[np.float64]:
    """Compute the transposed dictionary times vectors from a stored block.

    Parameters
    ----------
    block : float32 or float64 array of shape (m, n)
        Dictionary columns, one row for each atom, as `block` makes them.
    V : array of shape (q, n)
        Vectors over the rows, taken as float64.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Returns
    -------
    float64 array of shape (q, m)
        ``sum_i block[j, i] V[t, i]``, in O(m n q) time, at the speed of memory for one vector.
    """
    return _stored_products(block, V, False, n_threads)


def stored_examine(
    block: ArrayLike, V: ArrayLike, n_threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute what `stored_rmatvec` does, bit by bit, and the atoms' squared norms, from one read of the block."""
    both = _stored_products(block, V, True, n_threads)
    return both[:-1], both[-1]


def _stored_products(block: ArrayLike, V: ArrayLike, squares: bool, n_threads: int | None) -> NDArray[np.float64]:
    """Products with vectors, and the squared norms as one more row."""
    stored = check_matrix("block", block)
    v = check_matrix("V", V, double=True)
    check_length("V", "columns", v.shape[1], stored.shape[1])
    out = np.empty((len(v) + squares, len(stored)))
    threads = backend.resolve_threads(n_threads)
    backend.implementation.stored_rmatvec(stored, v, squares, out=out, n_threads=threads)
    return out
