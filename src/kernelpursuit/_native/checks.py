"""What the operations are given, checked and made contiguous; refusals are one sentence each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kernelpursuit._native.spec import STATIONARY, Atoms, Kernel, Step, steps_of

Floats = NDArray[np.float32] | NDArray[np.float64]


def check_matrix(name: str, value: ArrayLike, double: bool = False) -> Any:
    """Return `value` as a C-contiguous matrix of floats (of float64 if `double`)."""
    array = np.asarray(value)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; give a matrix.")
    if double:
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{name} has type {array.dtype}; give real numbers.")
        return in_order(array, np.float64)
    if array.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} has type {array.dtype}; give float32 or float64.")
    return in_order(array, array.dtype)


def in_order(array: Any, dtype: DTypeLike) -> Any:
    """Return the array as the core reads it; one that is so already, as most are, is not looked at for long."""
    if array.dtype == dtype and array.flags.carray:
        return array
    return np.require(array, dtype, ["C", "A"])


def check_pair(X: ArrayLike, C: ArrayLike) -> tuple[Any, Any]:
    x, c = check_matrix("X", X), check_matrix("C", C)
    if x.dtype != c.dtype:
        raise ValueError(f"X has type {x.dtype} and C has {c.dtype}; give both the same.")
    if x.shape[1] != c.shape[1]:
        raise ValueError(f"X has {x.shape[1]} features and C has {c.shape[1]}; give both the same.")
    return x, c


def check_same(name: str, value: ArrayLike | None, like: Any) -> Any:
    """Return `value` as a float64 matrix of the same shape as another, or one without rows for None."""
    if value is None:
        return np.empty((0, like.shape[1]))
    matrix = check_matrix(name, value, double=True)
    if matrix.shape != like.shape:
        raise ValueError(f"{name} has shape {matrix.shape}; it must have {like.shape}.")
    return matrix


def check_length(name: str, what: str, length: int, expected: int) -> None:
    if length != expected:
        raise ValueError(f"{name} has {length} {what}; it must have {expected}.")


def check_stationary(what: str, kernel: Kernel) -> tuple[Step, ...]:
    """Return the one step of a stationary kernel."""
    steps = steps_of(kernel)
    kind = steps[-1][0]
    if len(steps) > 1 or kind not in STATIONARY:
        raise ValueError(f"{what} needs a stationary kernel, not kind {kind!r}; use one of {', '.join(STATIONARY)}.")
    return steps


def check_atoms(kernel: Kernel, C: ArrayLike, X: ArrayLike, factors: ArrayLike | None) -> tuple[Atoms, Any]:
    """Return the atoms, and the rows that they are to be evaluated at."""
    steps = steps_of(kernel)
    x, c = check_pair(X, C)
    columns = sum(step[3] for step in steps)
    if x.shape[1] % columns:
        raise ValueError(f"X has {x.shape[1]} columns; this kernel takes a multiple of {columns}.")
    return Atoms(steps, c, check_factors(kernel, factors, len(c), x.dtype)), x


def check_factors(kernel: Kernel, factors: ArrayLike | None, n_atoms: int, dtype: DTypeLike) -> Any:
    """Return the factors of the atoms in the inputs' type; none at all for None."""
    if factors is None:
        return np.empty(0, dtype)
    check_stationary("factors", kernel)
    with np.errstate(over="ignore", under="ignore"):
        array = check_vector("factors", factors, n_atoms).astype(dtype, copy=False)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"factors must be positive and finite in {array.dtype}; give one such number for each atom.")
    return array


def check_out(out: Floats | None, shape: tuple[int, ...], dtype: DTypeLike, inputs: tuple[Any, ...]) -> Any:
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


def check_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Return weights as float64, one for each row; none at all for None."""
    return np.empty(0) if weights is None else check_vector("weights", weights, n_rows)


def check_vector(name: str, value: ArrayLike, length: int) -> NDArray[np.float64]:
    """Return `value` as a contiguous float64 vector of the given length."""
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a vector of real numbers; give {length} of them.")
    check_length(name, "entries", len(array), length)
    return in_order(array, np.float64)
