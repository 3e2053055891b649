"""Products of matrices that have a column for each row of the data, some columns for each thread.

They are for where the BLAS has one thread (`one_blas_thread`), since more would be in the way of the native core's.
Here threads take parts of the columns in turn, and go when all are done. What the parts are is a matter of the shapes
alone, and results are put together in their order: so any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelpursuit._native.threads import in_parts

# A part is worth handing out with this many multiplications; and there are no more parts than this.
WORTH_A_PART, MOST_PARTS = 2**25, 8
# Columns of a product that are written while they are near.
NEAR = 256


def inner_products(A: np.ndarray, B: np.ndarray, n_threads: int | None) -> np.ndarray:
    """`A B'` of shape (len(A), len(B)), in O(len(A) B.size); half of that with A itself for B, and symmetric.

    Parts have no fewer columns than the result has rows, so that the results of all are no larger than A and B.
    """
    n_parts = _parts_for(len(A) * B.size // (2 if A is B else 1))
    n_parts = max(1, min(n_parts, A.shape[1] // max(len(A), len(B), 1)))
    total, *others = in_parts(A.shape[1], n_parts, n_threads, lambda part: A[:, part] @ B[:, part].T)
    for found in others:
        total += found
    return total


def product(B: np.ndarray, A: np.ndarray, n_threads: int | None) -> np.ndarray:
    """`B A` of shape (len(B), A.shape[1]), in O(len(B) A.size)."""
    out = np.empty((len(B), A.shape[1]))

    def work(part: slice) -> None:
        np.matmul(B, A[:, part], out=out[:, part])

    in_parts(A.shape[1], _parts_for(len(B) * A.size), n_threads, work)
    return out


def subtract_products(G: np.ndarray, factors: Sequence[tuple[np.ndarray, np.ndarray]], n_threads: int | None) -> None:
    """`G -= B A` for each pair of factors (B, A), in O(len(B) A.size) each, without a matrix of the size of G."""

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, NEAR):
            near = slice(start, min(start + NEAR, part.stop))
            for B, A in factors:
                G[:, near] -= B @ A[:, near]

    n_parts = _parts_for(sum(B.size for B, _ in factors) * G.shape[1])
    in_parts(G.shape[1], n_parts, n_threads, work)


def _parts_for(multiplications: int) -> int:
    return max(1, min(MOST_PARTS, multiplications // WORTH_A_PART))
