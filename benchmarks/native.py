"""The native core against scikit-learn, NumPy and itself: ratios measured in one run.

Times are the best of several, taken in turns so that a busy moment of the machine hurts both sides. BLAS and
the core use as many threads as OpenMP would (``OMP_NUM_THREADS`` is obeyed).
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits
from timing import best_times

from kernelpursuit import _native

RBF = ("rbf", 0.0, 0.0)


def row(what: str, dtype: type, seconds: float, elements: float, ratio: float, against: str, target: str) -> None:
    name = np.dtype(dtype).name
    rate = elements * np.dtype(dtype).itemsize / seconds / 1e9
    cost = f"{seconds / elements * 1e9:8.3f}"
    print(f"{what:<34}{name:<9}{seconds * 1e3:9.2f}{cost}{rate:8.1f}{ratio:9.2f}  {against:<34}{target}")


def blocks_and_products(dtype: type, rng: np.random.Generator) -> None:
    n, m, d = 20_000, 2_000, 10
    X = rng.normal(scale=0.3, size=(n, d)).astype(dtype)
    C, V = X[:m].copy(), rng.normal(size=(16, n))
    out = np.empty((m, n), dtype)
    rival, fresh = best_times(
        lambda: rbf_kernel(C, X, gamma=1.0), lambda: _native.block(RBF, C, X), rounds=4, repeats=2
    )
    target = "at least 6" if dtype == np.float64 else "at least 8"
    row(
        "block 20,000 x 2,000, d=10",
        dtype,
        fresh,
        n * m,
        rival / fresh,
        "times faster than rbf_kernel",
        target,
    )
    filled, one, many, norms = best_times(
        lambda: _native.block(RBF, C, X, out=out),
        lambda: _native.rmatvec(RBF, C, X, V[:1]),
        lambda: _native.rmatvec(RBF, C, X, V),
        lambda: _native.sqnorms(RBF, C, X),
    )
    row("  into given memory", dtype, filled, n * m, fresh / filled, "times faster than a fresh block", "")
    row("D'v not stored", dtype, one, n * m, one / filled, "of the block's time, given memory", "at most 1.3")
    row(
        "D'V not stored, 16 vectors",
        dtype,
        many,
        n * m,
        many / filled,
        "of the block's time, given memory",
        "",
    )
    row("squared norms", dtype, norms, n * m, norms / filled, "of the block's time, given memory", "")

    X8 = rng.normal(scale=0.3, size=(100_000, 8)).astype(dtype)
    C8, coef, out8 = X8[:100].copy(), rng.normal(size=(100, 1)), np.empty((100, 100_000), dtype)
    product, block = best_times(lambda: _native.matvec(RBF, X8, C8, coef), lambda: _native.block(RBF, C8, X8, out=out8))
    row(
        "D c 100,000 x 100, d=8",
        dtype,
        product,
        1e7,
        product / block,
        "of the block's time, given memory",
        "near 1",
    )

    X1, out1 = rng.normal(scale=0.3, size=(100_000, d)).astype(dtype), np.empty((1, 100_000), dtype)
    single, rival = best_times(
        lambda: _native.block(RBF, X1[:1], X1, out=out1),
        lambda: rbf_kernel(X1[:1], X1, gamma=1.0),
        repeats=10,
    )
    row(
        "one column of 100,000, d=10",
        dtype,
        single,
        1e5,
        rival / single,
        "times faster than rbf_kernel",
        "0.5 ms",
    )


def gradients_and_widths(dtype: type, rng: np.random.Generator) -> None:
    n, m, d = 10_000, 500, 10
    X = rng.normal(scale=0.3, size=(n, d)).astype(dtype)
    C, G, factors = X[:m].copy(), rng.normal(size=(m, n)).astype(dtype), rng.uniform(0.5, 2.0, m)
    out, sums = np.empty((m, n), dtype), _native.distances(RBF, C, X)
    block, scaled, pulled, mapped = best_times(
        lambda: _native.block(RBF, C, X, out=out),
        lambda: _native.block(RBF, C, X, out=out, factors=factors),
        lambda: _native.pullback(RBF, C, X, G, factors),
        lambda: _native.transform(RBF, sums, 0.7, out=out),
    )
    against = "of the block's time, given memory"
    row("block 10,000 x 500, d=10, factors", dtype, scaled, n * m, scaled / block, against, "near 1")
    row("  gradient through it", dtype, pulled, n * m, pulled / block, against, "at most 4")
    row("  from stored distances", dtype, mapped, n * m, mapped / block, against, "below 1")

    X9, C9 = (rng.normal(scale=0.3, size=(size, 9)).astype(dtype) for size in (4_500, 512))
    coef, out9 = rng.normal(size=(512, 1)), np.empty((512, 4_500), dtype)
    product, block = best_times(lambda: _native.matvec(RBF, X9, C9, coef), lambda: _native.block(RBF, C9, X9, out=out9))
    row("D c 4,500 x 512, d=9", dtype, product, 4_500 * 512, product / block, against, "near 1")


def composed(dtype: type, rng: np.random.Generator) -> None:
    n, m, d = 20_000, 2_000, 10
    X = rng.normal(scale=0.3, size=(n, 2 * d)).astype(dtype)
    C, v = X[:m].copy(), rng.normal(size=(1, n))
    halves = [
        (np.ascontiguousarray(C[:, half]), np.ascontiguousarray(X[:, half])) for half in np.split(np.arange(2 * d), 2)
    ]
    formulas, linear = [("rbf", 0.0, 0.0, 1), ("linear", 0.0, 0.0, 1)], ("linear", 0.0, 0.0)
    for operation in ("sum", "product"):
        steps = (*formulas, (operation, 0.0, 0.0, 0))
        first, second, both = best_times(
            lambda: _native.rmatvec(RBF, *halves[0], v),
            lambda: _native.rmatvec(linear, *halves[1], v),
            lambda steps=steps: _native.rmatvec(steps, C, X, v),
        )
        row(
            f"D'v, {operation} of two kernels",
            dtype,
            both,
            n * m,
            both / (first + second),
            "of the time of its terms",
            "near 1",
        )


def stored_products(dtype: type, rng: np.random.Generator) -> None:
    size = 10_000 if dtype == np.float32 else 5_000
    A = rng.standard_normal((size, size), dtype)
    V = rng.normal(size=(16, size))
    v, W = V[0].astype(dtype), V.astype(dtype)
    # Many repeats in a turn: the threads of the BLAS go on spinning for some milliseconds after its last call.
    rival, one = best_times(lambda: A.T @ v, lambda: _native.stored_rmatvec(A, V[:1]), repeats=12)
    row(
        f"D'v stored, {size:,} x {size:,}",
        dtype,
        one,
        size**2,
        one / rival,
        "of the time of A.T @ v",
        "at most 1",
    )
    rival, many = best_times(lambda: A @ W.T, lambda: _native.stored_rmatvec(A, V), repeats=4)
    row("  16 vectors", dtype, many, size**2, many / rival, "of the time of A @ W", "")


def main() -> None:
    threads = _native.max_threads()
    print(f"backend {_native.BACKEND}, {_native.ISA}, {threads} threads")
    print(f"{'what':<34}{'type':<9}{'ms':>9}{'ns/elem':>8}{'GB/s':>8}{'ratio':>9}  {'':<34}target")
    with threadpool_limits(threads, "blas"):
        for dtype in (np.float64, np.float32):
            rng = np.random.default_rng(0)
            blocks_and_products(dtype, rng)
            gradients_and_widths(dtype, rng)
            composed(dtype, rng)
            stored_products(dtype, rng)


if __name__ == "__main__":
    main()
