"""The native core's operations in NumPy: same signatures, same sums, several times slower.

Used where the core was not built and where ``KERNELPURSUIT_BACKEND=numpy`` asks for it. Works in tiles of
bounded memory whose size does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernelpursuit._native.spec import Atoms, Step

Array = NDArray[Any]

# Elements of a tile. A kernel takes a few float64 arrays of that size on the way: about 32 MB in all.
_TILE = 1 << 19
_CHUNK_ROWS = 2048


def max_threads() -> int:
    """Return how many threads the native core would use here."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _values(atoms: Atoms, X: Array) -> Array:
    """Return the kernel's values at centres and rows, atom by atom, in the inputs' type."""
    C, x = atoms.centers.astype(np.float64), X.astype(np.float64)
    slices = step_columns(atoms.steps, X.shape[1])

    def formula(number: int) -> Array:
        kind, p0, p1, _ = atoms.steps[number]
        return kernel_map(kind, p0, p1, _arguments(kind, C[:, slices[number]], x[:, slices[number]], atoms.factors))

    return run_steps(atoms.steps, formula).astype(X.dtype, copy=False)


def step_columns(steps: tuple[Step, ...], n_columns: int) -> list[slice]:
    """Return the columns that each step takes, one after the other; none for an operation."""
    ends = np.cumsum([0, *(step[3] for step in steps)])
    ends = ends * (n_columns // ends[-1])
    return [slice(first, last) for first, last in pairwise(ends)]


def run_steps(steps: tuple[Step, ...], formula: Callable[[int], Array]) -> Array:
    """Return the values that steps in postfix order leave; `formula(number)` gives those of a single formula."""
    stack: list[Array] = []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for number, (kind, p0, _, _) in enumerate(steps):
            if kind == "sum":
                upper = stack.pop()
                stack[-1] = stack[-1] + upper
            elif kind == "product":
                upper = stack.pop()
                stack[-1] = stack[-1] * upper
            elif kind == "multiple":
                stack[-1] = stack[-1] * p0
            else:
                stack.append(formula(number))
    (values,) = stack
    return values


def _arguments(kind: str, C: Array, X: Array, factors: Array) -> Array:
    """Return what the formula of a kernel is a function of: products, or sums of absolute or squared differences.

    Sums are multiplied with the atoms' factors where there are any.
    """
    if kind in ("polynomial", "linear", "sigmoid"):
        return np.einsum("jk,ik->ji", C, X) if X.shape[1] < 3 else C @ X.T
    with np.errstate(over="ignore"):
        sums = cdist(C, X, "cityblock" if kind in ("laplacian", "absolutes") else "sqeuclidean")
        if len(factors):
            sums *= factors[:, None]
        return sums


def kernel_map(kind: str, p0: float, p1: float, arguments: Array) -> Array:
    """Return the kernel's values for products x·c, sums of |x - c| (Laplacian), or sums of squared differences.

    The kinds "squares" and "absolutes" are these sums themselves.
    """
    # Overflow to infinity and underflow to 0 are the right values, as in the native core.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if kind in ("linear", "squares", "absolutes"):
            return arguments
        if kind == "sigmoid":
            return np.tanh(arguments + p0)
        if kind == "polynomial":
            return (arguments + p0) ** int(p1)
        if kind in ("rbf", "laplacian"):
            return np.exp(-arguments)
        if kind == "rational_quadratic":
            u = np.minimum(arguments / p0, np.finfo(np.float64).max)
            return np.where(np.isinf(arguments), 0.0, np.exp(-p0 * np.log1p(u)))
        a = _scaled_distance(kind, arguments)
        if kind == "matern12":
            return np.exp(-a)
        return (1 + a if kind == "matern32" else 1 + a + a * a / 3) * np.exp(-a)


def _scaled_distance(kind: str, arguments: Array) -> Array:
    """Return the root distance that a Matern kernel decays with, kept where it is finite: exp(-746) is 0 already."""
    a = np.sqrt({"matern12": 2.0, "matern32": 6.0, "matern52": 10.0}[kind] * arguments)
    return np.minimum(a, 1e4, out=a)


def _derivatives(kind: str, p0: float, arguments: Array) -> Array:
    """Return the derivative of a stationary kernel's map; 0 where there is none (Matern 1/2 at distance 0)."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        if kind in ("rbf", "laplacian"):
            return -np.exp(-arguments)
        if kind == "rational_quadratic":
            u = np.minimum(arguments / p0, np.finfo(np.float64).max)
            return np.where(np.isinf(arguments), 0.0, -np.exp(-p0 * np.log1p(u)) / (1 + u))
        a = _scaled_distance(kind, arguments)
        if kind == "matern12":
            return np.where(a == 0, 0.0, -np.exp(-a) / a)
        return (-3 if kind == "matern32" else -5 / 3 * (1 + a)) * np.exp(-a)


def _tiles(n: int, m: int, rows: int = _CHUNK_ROWS) -> Iterator[tuple[slice, slice]]:
    """Yield (rows, atoms) of every tile; rows advance slowest, always in the same chunks."""
    atoms = max(1, _TILE // rows)
    for i in range(0, n, rows):
        for j in range(0, m, atoms):
            yield slice(i, min(i + rows, n)), slice(j, min(j + atoms, m))


def _part(atoms: Atoms, which: slice) -> Atoms:
    return Atoms(atoms.steps, atoms.centers[which], atoms.factors[which])


def block(atoms: Atoms, X: Array, out: Array, n_threads: int) -> None:
    """Fill ``out[j, i] = k(x_i, c_j)``."""
    for rows, some in _tiles(len(X), len(atoms.centers)):
        out[some, rows] = _values(_part(atoms, some), X[rows])


def transform(steps: tuple[Step, ...], sums: Array, factor: float, out: Array, n_threads: int) -> None:
    """Fill ``out = phi(factor * sums)``."""
    (kind, p0, p1, _), (m, n) = steps[0], sums.shape
    for rows, atoms in _tiles(n, m):
        with np.errstate(over="ignore"):
            arguments = sums[atoms, rows].astype(np.float64) * factor
        out[atoms, rows] = kernel_map(kind, p0, p1, arguments)


def matvec(atoms: Atoms, X: Array, coef: Array, out: Array, n_threads: int) -> None:
    """Fill ``out[i, t] = sum_j k(x_i, c_j) coef[j, t]``."""
    out[:] = 0.0
    for rows, some in _tiles(len(X), len(atoms.centers)):
        values = _values(_part(atoms, some), X[rows])
        out[rows] += values.T.astype(np.float64) @ coef[some]


def rmatvec(atoms: Atoms, X: Array, V: Array, squares: bool, weights: Array, out: Array, n_threads: int) -> None:
    """Fill ``out[t, j] = sum_i k(x_i, c_j) V[t, i]``, and one more row with ``sum_i w_i k(x_i, c_j)^2`` if `squares`.

    No weights are weights of 1.
    """
    out[:] = 0.0
    for rows, some in _tiles(len(X), len(atoms.centers)):
        values = _values(_part(atoms, some), X[rows]).astype(np.float64, copy=False)
        _add_products(values, V[:, rows], out[: len(V), some])
        if squares:
            values = values * values
            out[-1, some] += values @ weights[rows] if len(weights) else values.sum(axis=1)


def pullback(atoms: Atoms, X: Array, G: Array, out: tuple[Array, Array, Array], n_threads: int) -> None:
    """Fill the gradients by centres, by the logarithms of feature scales, and by those of factors, from dL / dK."""
    ((kind, p0, _, _),), C, factors = atoms
    centers, scales, by_factor = out
    centers[:], scales[:], by_factor[:] = 0.0, 0.0, 0.0
    f = factors.astype(np.float64) if len(factors) else np.ones(len(C))
    for rows, some in _tiles(len(X), len(C)):
        c, x = C[some].astype(np.float64), X[rows].astype(np.float64)
        arguments = _arguments(kind, c, x, factors[some])
        P = G[some, rows] * _derivatives(kind, p0, arguments)
        for k in range(X.shape[1]):
            difference = x[:, k] - c[:, [k]]
            if kind == "laplacian":
                first, second = P * np.sign(difference), P * np.abs(difference)
            else:
                first = 2 * P * difference
                second = first * difference
            centers[some, k] -= f[some] * first.sum(axis=1)
            scales[k] += f[some] @ second.sum(axis=1)
        by_factor[some] += np.einsum("ji,ji->j", P, np.where(P == 0, 0.0, arguments))


def stored_rmatvec(block: Array, V: Array, squares: bool, out: Array, n_threads: int) -> None:
    """Fill ``out[t, j] = sum_i block[j, i] V[t, i]``, and one more row with ``sum_i block[j, i]^2`` if `squares`."""
    m, n = block.shape
    out[:] = 0.0
    for rows, atoms in _tiles(n, m):
        values = block[atoms, rows].astype(np.float64, copy=False)
        _add_products(values, V[:, rows], out[: len(V), atoms])
        if squares:
            with np.errstate(over="ignore", invalid="ignore"):
                out[-1, atoms] += np.einsum("ij,ij->i", values, values)


def _add_products(values: Array, V: Array, out: Array) -> None:
    """Add ``V @ values.T`` one vector at a time: a result must not depend on the vectors it is asked for with."""
    values = values.astype(np.float64, copy=False)
    # Infinite values give infinite or undefined sums, as in the native core, and who asked for them looks.
    with np.errstate(over="ignore", invalid="ignore"):
        for vector, sums in zip(V, out):
            sums += values @ vector


def sweep(V: Array, p: Array, z: Array, after: Array, n_threads: int) -> float:
    """Subtract ``p @ V`` from `z` in place, fill ``after = V @ z``, and return ``z @ z``."""
    after[:] = 0.0
    squared = 0.0
    for start in range(0, len(z), _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        part = z[rows]
        part -= p @ V[:, rows]
        after += V[:, rows] @ part
        squared += float(part @ part)
    return squared


def rotate(V: Array, cosines: Array, sines: Array, n_threads: int) -> None:
    """Turn rows t and t + 1 of `V` by the t-th rotation, one after the other, in place."""
    for t, (c, s) in enumerate(zip(cosines, sines)):
        V[t : t + 2] = np.array([[c, s], [-s, c]]) @ V[t : t + 2]


def absorb(left: Array, v: Array, b: Array, sign: float, leverage: Array, squares: Array, n_threads: int) -> None:
    """Let ``left -= sign b v'`` and ``leverage += sign v^2``; fill `squares` with the squared lengths of `left`."""
    left -= np.outer(sign * b, v)
    leverage += sign * np.square(v)
    squares[:] = np.einsum("ij,ij->i", left, left)


def criteria(
    residual: Array,
    leverage: Array,
    weights: Array,
    offsets: tuple[Array, Array],
    total: float,
    out: Array,
    n_threads: int,
) -> None:
    """Fill `out` with sums of squares by target, degrees of freedom, least 1 - h, and sum and spread of e^2."""
    (moved, shift), n_targets = offsets, len(residual)
    w = weights if len(weights) else np.ones(len(leverage))
    left = 1.0 - leverage / np.maximum(w, 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        without = residual / left + (shift if len(shift) else 0.0)
        predicted = residual + (moved if len(moved) else 0.0)
        errors = np.square(without).mean(axis=0)
        out[:n_targets] = np.einsum("ij,ij->i", predicted, predicted)
        out[n_targets:] = leverage.sum(), left.min(), errors.sum(), 0.0
        out[-1] = w @ np.square(errors / w - errors.sum() / total)
