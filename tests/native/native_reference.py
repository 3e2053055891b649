"""Kernels as their formulas say, in extended precision, and how far rounding may take a value from them."""

from __future__ import annotations

import numpy as np
import pytest

KERNELS = [
    ("rbf", 0.0, 0.0),
    ("laplacian", 0.0, 0.0),
    ("matern12", 0.0, 0.0),
    ("matern32", 0.0, 0.0),
    ("matern52", 0.0, 0.0),
    ("rational_quadratic", 1.7, 0.0),
    ("polynomial", 0.5, 3.0),
    ("linear", 0.0, 0.0),
    ("sigmoid", -0.25, 0.0),
]
IDS = [kernel[0] for kernel in KERNELS]
STATIONARY, STATIONARY_IDS = KERNELS[:6], IDS[:6]

# Every kernel without factors, and those that take them with.
every_kernel = pytest.mark.parametrize(
    ("kernel", "with_factors"),
    [(kernel, False) for kernel in KERNELS] + [(kernel, True) for kernel in STATIONARY],
    ids=IDS + [f"{name}-factors" for name in STATIONARY_IDS],
)
DTYPES = [np.float32, np.float64]

# (rows, centres, features)
SHAPES = [(0, 3, 2), (3, 0, 2), (0, 0, 2), (1, 1, 1), (1, 9, 3), (33, 1, 300), (67, 13, 10), (2100, 17, 2)]


def reference(kernel, C, X, factors=None):
    """Return the exact values at (atom, row), and a bound on the error of arithmetic in the inputs' type."""
    kind, p0, p1 = kernel
    eps = float(np.finfo(X.dtype).eps)
    C, X = C.astype(np.longdouble)[:, None, :], X.astype(np.longdouble)[None, :, :]
    terms = X.shape[2] + 6
    if kind in ("polynomial", "linear", "sigmoid"):
        t, size = (C * X).sum(2), (abs(C) * abs(X)).sum(2)
        if kind == "linear":
            return t, eps * terms * size
        if kind == "sigmoid":
            return np.tanh(t + p0), eps * (terms * (size + abs(p0)) + 4)
        return (t + p0) ** int(p1), eps * terms * p1 * (size + abs(p0)) ** p1
    s = abs(C - X).sum(2) if kind == "laplacian" else ((C - X) ** 2).sum(2)
    if factors is not None:
        s = factors.astype(np.longdouble)[:, None] * s
    r = np.sqrt(2 * s)
    value = {
        "rbf": lambda: np.exp(-s),
        "laplacian": lambda: np.exp(-s),
        "matern12": lambda: np.exp(-r),
        "matern32": lambda: (1 + np.sqrt(3 * r * r)) * np.exp(-np.sqrt(3 * r * r)),
        "matern52": lambda: (1 + np.sqrt(5 * r * r) + 5 * r * r / 3) * np.exp(-np.sqrt(5 * r * r)),
        "rational_quadratic": lambda: (1 + s / np.longdouble(p0)) ** -np.longdouble(p0),
    }[kind]()
    # A relative error in the exponent becomes a relative error of that times the exponent.
    exponent = s if kind in ("rbf", "laplacian", "rational_quadratic") else np.sqrt(5 * r * r)
    return value, eps * (terms * exponent + 6) * value + float(np.finfo(np.dtype(f"f{4 if eps > 1e-10 else 8}")).tiny)


def some_factors(rng, m, dtype, wanted=True):
    """Return factors of m atoms, or None where they are not wanted."""
    return rng.uniform(0.3, 2.0, size=m).astype(dtype) if wanted else None


def points(rng, n, m, d, dtype):
    """Return rows and centres at distances where the kernels vary."""
    scale = 1 / np.sqrt(d)
    X = rng.normal(scale=scale, size=(n, d)).astype(dtype)
    C = rng.normal(scale=scale, size=(m, d)).astype(dtype)
    if n and m:
        C[0] = X[0]
    return X, C
