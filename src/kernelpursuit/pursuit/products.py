"""Products of matrices that have a column for each row of the data, some columns for each thread.

They are for where the BLAS has one thread (`one_blas_thread`), since more would be in the way of the native core's.
Here threads take parts of the columns in turn, and go when all are done. What the parts are is a matter of the shapes
alone, and results are put together in their order: so any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

# A part is worth handing out with this many multiplications. More parts than this take longer to put together.
WORTH_A_PART, MOST_PARTS = 2**25, 8
# Columns of a product that are written while they are near.
NEAR = 256

Found = TypeVar("Found")


def in_parts(n_columns: int, n_parts: int, n_threads: int | None, work: Callable[[slice], Found]) -> list[Found]:
    """What `work` returns for about equal parts of the columns, in order; `n_threads` None is one."""
    ends = np.linspace(0, n_columns, n_parts + 1).astype(int)
    parts = [slice(int(start), int(end)) for start, end in pairwise(ends)]
    n_threads = min(n_threads or 1, n_parts)
    if n_threads == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, parts))


def inner_products(A: np.ndarray, B: np.ndarray, n_threads: int | None) -> np.ndarray:
    """`A B'`; with A for B half the work, and symmetric."""
    n_parts = _parts_for(len(A) * B.size // (2 if A is B else 1))
    found = in_parts(A.shape[1], n_parts, n_threads, lambda part: A[:, part] @ B[:, part].T)
    return sum(found[1:], start=found[0])


def product(B: np.ndarray, A: np.ndarray, n_threads: int | None) -> np.ndarray:
    """`B A` with a square B."""
    out = np.empty_like(A)

    def work(part: slice) -> None:
        np.matmul(B, A[:, part], out=out[:, part])

    in_parts(A.shape[1], _parts_for(len(B) * A.size), n_threads, work)
    return out


def subtract_products(G: np.ndarray, factors: Sequence[tuple[np.ndarray, np.ndarray]], n_threads: int | None) -> None:
    """`G -= B A` for each pair of factors (B, A), without a matrix of that size for the products."""

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, NEAR):
            near = slice(start, min(start + NEAR, part.stop))
            G[:, near] -= sum(B @ A[:, near] for B, A in factors)

    n_parts = _parts_for(sum(B.size for B, _ in factors) * G.shape[1])
    in_parts(G.shape[1], n_parts, n_threads, work)


def _parts_for(multiplications: int) -> int:
    return max(1, min(MOST_PARTS, multiplications // WORTH_A_PART))
