"""The operations: arguments checked, made contiguous, and handed to the chosen implementation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelpursuit._native import numpy_twin
from kernelpursuit._native.backend import implementation, resolve_threads

Kernel = tuple[str, float, float]
Floats = NDArray[np.float32] | NDArray[np.float64]

KINDS = numpy_twin.KINDS
STATIONARY = numpy_twin.STATIONARY


def _check_kernel(kernel: Kernel) -> Kernel:
    """Return the three parts of the kernel, checked."""
    try:
        kind, p0, p1 = kernel
        p0, p1 = float(p0), float(p1)
    except (TypeError, ValueError):
        raise ValueError(f"kernel={kernel!r} is not usable; give (kind, p0, p1).") from None
    if kind not in KINDS:
        raise ValueError(f"kernel kind {kind!r} is not known; use one of {', '.join(KINDS)}.")
    if kind == "rational_quadratic" and not 0 < p0 < math.inf:
        raise ValueError(f"p0={p0!r} is not usable for the rational quadratic kernel; give a number above 0.")
    if kind == "polynomial" and not (1 <= p1 < 2**31 and p1 == int(p1)):
        raise ValueError(f"p1={p1!r} is not usable for the polynomial kernel; give a positive whole number.")
    if kind in ("polynomial", "sigmoid") and not math.isfinite(p0):
        raise ValueError(f"p0={p0!r} is not usable for the {kind} kernel; give a finite number.")
    return kind, p0, p1


def _check_matrix(name: str, value: ArrayLike, double: bool = False) -> Any:
    """Return `value` as a C-contiguous matrix of floats (of float64 if `double`)."""
    array = np.asarray(value)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; give a matrix.")
    if double:
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{name} has type {array.dtype}; give real numbers.")
        return _in_order(array, np.float64)
    if array.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} has type {array.dtype}; give float32 or float64.")
    return _in_order(array, array.dtype)


def _in_order(array: Any, dtype: Any) -> Any:
    """Return the array as the core reads it; one that is so already, as most are, is not looked at for long."""
    if array.dtype == dtype and array.flags.carray:
        return array
    return np.require(array, dtype, ["C", "A"])


def _check_pair(X: ArrayLike, C: ArrayLike) -> tuple[Any, Any]:
    x, c = _check_matrix("X", X), _check_matrix("C", C)
    if x.dtype != c.dtype:
        raise ValueError(f"X has type {x.dtype} and C has {c.dtype}; give both the same.")
    if x.shape[1] != c.shape[1]:
        raise ValueError(f"X has {x.shape[1]} features and C has {c.shape[1]}; give both the same.")
    return x, c


def _check_same(name: str, value: ArrayLike | None, like: Any) -> Any:
    """Return `value` as a float64 matrix of the same shape as another, or one without rows for None."""
    if value is None:
        return np.empty((0, like.shape[1]))
    matrix = _check_matrix(name, value, double=True)
    if matrix.shape != like.shape:
        raise ValueError(f"{name} has shape {matrix.shape}; it must have {like.shape}.")
    return matrix


def _check_length(name: str, what: str, length: int, expected: int) -> None:
    if length != expected:
        raise ValueError(f"{name} has {length} {what}; it must have {expected}.")


def _check_stationary(what: str, kernel: Kernel) -> Kernel:
    kind, p0, p1 = _check_kernel(kernel)
    if kind not in STATIONARY:
        raise ValueError(f"{what} needs a stationary kernel, not kind {kind!r}; use one of {', '.join(STATIONARY)}.")
    return kind, p0, p1


def _check_factors(kernel: Kernel, factors: ArrayLike | None, n_atoms: int, dtype: Any) -> Any:
    """Return the factors of the atoms in the inputs' type; none at all for None."""
    if factors is None:
        return np.empty(0, dtype)
    _check_stationary("factors", kernel)
    with np.errstate(over="ignore", under="ignore"):
        array = _check_vector("factors", factors, n_atoms).astype(dtype, copy=False)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"factors must be positive and finite in {array.dtype}; give one such number for each atom.")
    return array


def _check_out(out: Floats | None, shape: tuple[int, ...], dtype: Any, *inputs: Any) -> Any:
    """Return the array to fill: `out` if it fits, or a new one."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out does not fit; give an array of shape {shape} and type {dtype}.")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out is not usable; give a C-contiguous, writable array.")
    if any(np.may_share_memory(out, array) for array in inputs):
        raise ValueError("out shares memory with the inputs; give an array of its own.")
    return out


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
    kind, p0, p1 = _check_kernel(kernel)
    x, c = _check_pair(X, C)
    f = _check_factors(kernel, factors, len(c), x.dtype)
    out = _check_out(out, (len(c), len(x)), x.dtype, x, c)
    implementation.block(kind, p0, p1, c, x, f, out, resolve_threads(n_threads))
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
    kind, _, _ = _check_stationary("distances", kernel)
    x, c = _check_pair(X, C)
    out = _check_out(out, (len(c), len(x)), x.dtype, x, c)
    sums = "absolutes" if kind == "laplacian" else "squares"
    implementation.block(sums, 0.0, 0.0, c, x, np.empty(0, x.dtype), out, resolve_threads(n_threads))
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
    kind, p0, p1 = _check_stationary("transform", kernel)
    s = _check_matrix("sums", sums)
    try:
        in_type = s.dtype.type(float(factor))
    except (TypeError, ValueError):
        in_type = s.dtype.type(np.nan)
    if not 0 < in_type < np.inf:
        raise ValueError(f"factor={factor!r} is not usable; give a number that is positive and finite in {s.dtype}.")
    out = _check_out(out, s.shape, s.dtype, *(() if out is s else (s,)))
    implementation.transform(kind, p0, p1, s, float(in_type), out, resolve_threads(n_threads))
    return out


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
    kind, p0, p1 = _check_kernel(kernel)
    x, c = _check_pair(X, C)
    w = _check_matrix("coef", coef, double=True)
    _check_length("coef", "rows", len(w), len(c))
    f = _check_factors(kernel, factors, len(c), x.dtype)
    out = np.empty((len(x), w.shape[1]))
    implementation.matvec(kind, p0, p1, x, c, f, w, out, resolve_threads(n_threads))
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
    return _products(kernel, C, X, factors, V, False, None, n_threads)


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
    return _products(kernel, C, X, factors, None, True, weights, n_threads)[0]


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
    both = _products(kernel, C, X, factors, V, True, weights, n_threads)
    return both[:-1], both[-1]


def _products(
    kernel: Kernel,
    C: ArrayLike,
    X: ArrayLike,
    factors: ArrayLike | None,
    V: ArrayLike | None,
    squares: bool,
    weights: ArrayLike | None,
    n_threads: int | None,
) -> NDArray[np.float64]:
    """Products with vectors, and the squared norms as one more row."""
    kind, p0, p1 = _check_kernel(kernel)
    x, c = _check_pair(X, C)
    v = np.empty((0, len(x))) if V is None else _check_matrix("V", V, double=True)
    _check_length("V", "columns", v.shape[1], len(x))
    w = _check_weights(weights, len(x))
    f = _check_factors(kernel, factors, len(c), x.dtype)
    out = np.empty((len(v) + squares, len(c)))
    implementation.rmatvec(kind, p0, p1, c, x, f, v, squares, w, out, resolve_threads(n_threads))
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
    kind, p0, p1 = _check_stationary("pullback", kernel)
    x, c = _check_pair(X, C)
    g = _check_matrix("G", G)
    if g.dtype != x.dtype:
        raise ValueError(f"G has type {g.dtype} and X has {x.dtype}; give both the same.")
    if g.shape != (len(c), len(x)):
        raise ValueError(f"G has shape {g.shape}; it must have {(len(c), len(x))}.")
    f = _check_factors(kernel, factors, len(c), x.dtype)
    out = np.empty(c.shape), np.empty(x.shape[1]), np.empty(len(c))
    implementation.pullback(kind, p0, p1, c, x, f, g, *out, resolve_threads(n_threads))
    return out


def _check_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Return weights as float64, one for each row; none at all for None."""
    return np.empty(0) if weights is None else _check_vector("weights", weights, n_rows)


def _check_vector(name: str, value: ArrayLike, length: int) -> NDArray[np.float64]:
    """Return `value` as a contiguous float64 vector of the given length."""
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a vector of real numbers; give {length} of them.")
    _check_length(name, "entries", len(array), length)
    return _in_order(array, np.float64)


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
    stored = _check_matrix("block", block)
    v = _check_matrix("V", V, double=True)
    _check_length("V", "columns", v.shape[1], stored.shape[1])
    out = np.empty((len(v) + squares, len(stored)))
    implementation.stored_rmatvec(stored, v, squares, out, resolve_threads(n_threads))
    return out


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
    v = _check_matrix("V", V, double=True)
    if z.dtype != np.float64 or z.ndim != 1 or not (z.flags.c_contiguous and z.flags.writeable):
        raise ValueError("z must be a writable, contiguous float64 vector, since it is changed in place.")
    _check_length("z", "entries", len(z), v.shape[1])
    _check_length("p", "entries", len(p), len(v))
    after = np.empty(len(v))
    p = np.ascontiguousarray(p, dtype=np.float64)
    squared = implementation.sweep(v, p, z, after, resolve_threads(n_threads))
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
    c, s = _check_vector("cosines", cosines, n_angles), _check_vector("sines", sines, n_angles)
    implementation.rotate(V, c, s, resolve_threads(n_threads))


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
    v, b = _check_vector("v", v, left.shape[1]), _check_vector("b", b, len(left))
    _check_vector("leverage", leverage, left.shape[1])
    squares = np.empty(len(left))
    implementation.absorb(left, v, b, float(sign), leverage, squares, resolve_threads(n_threads))
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
    residual = _check_matrix("residual", residual, double=True)
    n_rows = residual.shape[1]
    leverage = _check_vector("leverage", leverage, n_rows)
    w = _check_weights(weights, n_rows)
    if not n_rows:
        raise ValueError("residual has no columns; give at least one row.")
    moved, shift = _check_same("moved", moved, residual), _check_same("shift", shift, residual)
    total = float(w.sum()) if len(w) else float(n_rows)
    out = np.empty(len(residual) + 4)
    implementation.criteria(residual, leverage, w, moved, shift, total, out, resolve_threads(n_threads))
    dof, least, loo, spread = map(float, out[len(residual) :])
    return out[: len(residual)], dof, least, loo / total, spread / total
