"""What a step of a least-squares fit does to vectors over the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelpursuit._native import backend
from kernelpursuit._native.checks import check_length, check_matrix, check_same, check_vector, check_weights


def sweep(
    V: NDArray[np.float64], p: NDArray[np.float64], z: NDArray[np.float64], n_threads: int | None = None
) -> tuple[NDArray[np.float64], float]:
    """Do one Gram-Schmidt sweep: subtract ``p @ V`` from `z` in place, and project what is left.

    Parameters
    ----------
    V : float64 array of shape (m, n)
        Directions, C-contiguous.
    p : float64 array of shape (m,)
        How much of each direction to subtract.
    z : float64 array of shape (n,)
        The vector; changed in place.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Returns
    -------
    after : float64 array of shape (m,)
        ``V @ z`` after the subtraction. V is read once for both.
    squared : float
        ``z @ z`` after the subtraction.
    """
    v = check_matrix("V", V, double=True)
    if z.dtype != np.float64 or z.ndim != 1 or not (z.flags.c_contiguous and z.flags.writeable):
        raise ValueError("z must be a writable, contiguous float64 vector, since it is changed in place.")
    check_length("z", "entries", len(z), v.shape[1])
    check_length("p", "entries", len(p), len(v))
    after = np.empty(len(v))
    p = np.ascontiguousarray(p, dtype=np.float64)
    squared = backend.implementation.sweep(v, p, z, after, n_threads=backend.resolve_threads(n_threads))
    return after, squared


def rotate(
    V: NDArray[np.float64],
    cosines: NDArray[np.float64],
    sines: NDArray[np.float64],
    n_threads: int | None = None,
) -> None:
    """Turn neighbouring rows by Givens rotations, one after the other, in place.

    Parameters
    ----------
    V : float64 array of shape (m, n)
        Rows, C-contiguous and writable; changed in place.
    cosines, sines : arrays of shape (m - 1,)
        For t = 0, 1, ..., rows t and t + 1 become ``c V_t + s V_{t+1}`` and ``c V_{t+1} - s V_t``.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Notes
    -----
    V is read and written once, in O(m n) time.
    """
    if V.dtype != np.float64 or V.ndim != 2 or not (V.flags.c_contiguous and V.flags.writeable):
        raise ValueError("V must be a writable, C-contiguous float64 matrix, since it is changed in place.")
    n_angles = max(len(V) - 1, 0)
    c, s = check_vector("cosines", cosines, n_angles), check_vector("sines", sines, n_angles)
    backend.implementation.rotate(V, c, s, backend.resolve_threads(n_threads))


def absorb(
    left: NDArray[np.float64],
    v: NDArray[np.float64],
    b: NDArray[np.float64],
    leverage: NDArray[np.float64],
    sign: int = 1,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Take a direction into a least-squares fit (or, with `sign=-1`, out of it), in place.

    Parameters
    ----------
    left : float64 array of shape (q, n)
        What is left of every target; becomes ``left - sign b v'``.
    v : float64 array of shape (n,)
        The direction.
    b : float64 array of shape (q,)
        How much of it each target takes.
    leverage : float64 array of shape (n,)
        Becomes ``leverage + sign v^2``.
    sign : {1, -1}
        Whether the direction comes or goes.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Returns
    -------
    float64 array of shape (q,)
        Squared lengths of what is left.
    """
    for name, array, ndim in (("left", left, 2), ("leverage", leverage, 1)):
        if array.ndim != ndim or array.dtype != np.float64 or not (array.flags.c_contiguous and array.flags.writeable):
            what = "matrix" if ndim == 2 else "vector"
            raise ValueError(f"{name} must be a writable, contiguous float64 {what}, since it is changed in place.")
    v, b = check_vector("v", v, left.shape[1]), check_vector("b", b, len(left))
    check_vector("leverage", leverage, left.shape[1])
    squares = np.empty(len(left))
    threads = backend.resolve_threads(n_threads)
    backend.implementation.absorb(left, v, b, float(sign), leverage=leverage, squares=squares, n_threads=threads)
    return squares


def criteria(
    residual: NDArray[np.float64],
    leverage: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    moved: NDArray[np.float64] | None = None,
    shift: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> tuple[NDArray[np.float64], float, float, float, float]:
    """Compute what the criteria of a least-squares fit need, in one pass over its residuals and leverages.

    Parameters
    ----------
    residual : array of shape (q, n)
        Residuals, times the root of the weights.
    leverage : array of shape (n,)
        Leverages h.
    weights : array of shape (n,), optional
        Weights of the rows; 1 by default.
    moved, shift : arrays of shape (q, n), optional
        What is added to the residuals, and to the leave-one-out residuals; nothing by default.
    n_threads : int, optional
        All that `max_threads` allows by default.

    Returns
    -------
    squares : array of shape (q,)
        Sums of squared residuals.
    dof, least : float
        Sum of the leverages, and the least ``1 - h / max(w, 1)``.
    loo, spread : float
        With ``e = residual / (1 - h / max(w, 1))``: the weighted mean over rows of the mean of e^2 over targets, and
        the weighted mean of its squared distance from there.
    """
    residual = check_matrix("residual", residual, double=True)
    n_rows = residual.shape[1]
    leverage = check_vector("leverage", leverage, n_rows)
    w = check_weights(weights, n_rows)
    if not n_rows:
        raise ValueError("residual has no columns; give at least one row.")
    offsets = check_same("moved", moved, residual), check_same("shift", shift, residual)
    total = float(w.sum()) if len(w) else float(n_rows)
    out = np.empty(len(residual) + 4)
    threads = backend.resolve_threads(n_threads)
    backend.implementation.criteria(residual, leverage, w, offsets, total=total, out=out, n_threads=threads)
    dof, least, loo, spread = map(float, out[len(residual) :])
    return out[: len(residual)], dof, least, loo / total, spread / total
