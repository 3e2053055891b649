"""A block of kernel values, the sums it is made of, and the gradient through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelpursuit._native import backend
from kernelpursuit._native.checks import (
    Floats,
    check_atoms,
    check_matrix,
    check_out,
    check_pair,
    check_stationary,
)
from kernelpursuit._native.spec import Atoms, Kernel


def block(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    out: Floats | None = None,
    n_threads: int | None = None,
    *,
    factors: ArrayLike | None = None,
) -> Floats:
    """Compute a block of dictionary columns, one row of the result for each atom.

    Parameters
    ----------
    kernel : tuple
        See the package's page.
    C : array of shape (m, d)
        Centres.
    X : array of shape (n, d)
        Rows.
    out : array of shape (m, n), optional
        C-contiguous, writable, of the inputs' type; filled and returned.
    n_threads : int, optional
        All that `max_threads` allows by default.
    factors : array of shape (m,), optional
        Positive factors of a stationary kernel's sums, one for each atom, taken in the inputs' type: the value is
        phi(f_j s_ij), where s_ij is the sum of squared (Laplacian: absolute) differences; 1 by default.

    Returns
    -------
    array of shape (m, n), of the inputs' type
        ``out[j, i] = k(x_i, c_j)``, in O(m n d) time.
    """
    atoms, x = check_atoms(kernel, C, X, factors)
    out = check_out(out, (len(atoms.centers), len(x)), x.dtype, (x, atoms.centers))
    backend.implementation.block(atoms, x, out, backend.resolve_threads(n_threads))
    return out


def distances(
    kernel: Kernel, C: ArrayLike, X: ArrayLike, out: Floats | None = None, n_threads: int | None = None
) -> Floats:
    """Compute the sums that a stationary kernel is a function of.

    Parameters
    ----------
    kernel, C, X, out, n_threads
        As for `block`.

    Returns
    -------
    array of shape (m, n), of the inputs' type
        Sums over features of squared differences, for the Laplacian kernel of absolute ones, in O(m n d) time.
        `transform` makes the values of `block` of them, in C++ bit by bit.
    """
    ((kind, *_),) = check_stationary("distances", kernel)
    x, c = check_pair(X, C)
    out = check_out(out, (len(c), len(x)), x.dtype, (x, c))
    sums = "absolutes" if kind == "laplacian" else "squares"
    atoms = Atoms(((sums, 0.0, 0.0, 1),), c, np.empty(0, x.dtype))
    backend.implementation.block(atoms, x, out, backend.resolve_threads(n_threads))
    return out


def transform(
    kernel: Kernel, sums: ArrayLike, factor: float = 1.0, out: Floats | None = None, n_threads: int | None = None
) -> Floats:
    """Compute a stationary kernel's values from stored sums.

    Parameters
    ----------
    kernel : tuple
        See the package's page.
    sums : float32 or float64 array of shape (m, n)
        What `distances` returned.
    factor : float
        Positive; what every sum is multiplied with, taken in the type of the sums.
    out : array of shape (m, n), optional
        C-contiguous, writable, of the type of the sums; filled and returned. It may be `sums` itself.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Returns
    -------
    array of shape (m, n), of the type of the sums
        ``phi(factor * sums)``, in O(m n) time.
    """
    steps = check_stationary("transform", kernel)
    s = check_matrix("sums", sums)
    try:
        in_type = s.dtype.type(float(factor))
    except (TypeError, ValueError):
        in_type = s.dtype.type(np.nan)
    if not 0 < in_type < np.inf:
        raise ValueError(f"factor={factor!r} is not usable; give a number that is positive and finite in {s.dtype}.")
    out = check_out(out, s.shape, s.dtype, () if out is s else (s,))
    threads = backend.resolve_threads(n_threads)
    backend.implementation.transform(steps, s, float(in_type), out=out, n_threads=threads)
    return out


def pullback(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    G: ArrayLike,
    factors: ArrayLike | None = None,
    n_threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Compute the gradient of a function L of a block's values through all that the values depend on.

    Parameters
    ----------
    kernel, C, X, factors, n_threads
        As for `block`, with a stationary kernel phi.
    G : array of shape (m, n), of the type of X and C
        ``dL / dK``, where K is what `block` returns.

    Returns
    -------
    centers : float64 array of shape (m, d)
        dL / dC, in the coordinates of C: ``-2 f_j sum_i P_ij (x_ik - c_jk)``, where ``P_ij = G_ij phi'(f_j s_ij)``.
    scales : float64 array of shape (d,)
        dL by the logarithm of a scale that multiplies a feature of rows and centres:
        ``2 sum_ij f_j P_ij (x_ik - c_jk)^2``.
    factors : float64 array of shape (m,)
        dL by the logarithm of each factor: ``sum_i P_ij f_j s_ij``.

    Notes
    -----
    For the Laplacian kernel the sums are of signs and absolute differences, without the 2. Where a derivative does not
    exist (Matern 1/2 at distance 0, Laplacian where a feature has difference 0) it counts as 0. Takes O(m n d) time and
    O(m d) memory; P is never stored, and in C++ the bits do not depend on the number of threads.
    """
    check_stationary("pullback", kernel)
    atoms, x = check_atoms(kernel, C, X, factors)
    g = check_matrix("G", G)
    if g.dtype != x.dtype:
        raise ValueError(f"G has type {g.dtype} and X has {x.dtype}; give both the same.")
    if g.shape != (len(atoms.centers), len(x)):
        raise ValueError(f"G has shape {g.shape}; it must have {(len(atoms.centers), len(x))}.")
    out = np.empty(atoms.centers.shape), np.empty(x.shape[1]), np.empty(len(atoms.centers))
    backend.implementation.pullback(atoms, x, g, out=out, n_threads=backend.resolve_threads(n_threads))
    return out
