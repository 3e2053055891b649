"""What runs on a worker: a sum over the blocks of one partition, and sums of sums."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp
from distributed import get_worker
from numpy.typing import DTypeLike

from kernelpursuit._native.threads import one_blas_thread
from kernelpursuit._types import Matrix
from kernelpursuit.rows import RowBlock, slices
from kernelpursuit.rows.source import Sum

#: A chunk of a Dask array, dense or CSR, or a partition of a frame or of a series; pandas has no types.
Chunk: TypeAlias = Any


@dataclass(frozen=True)
class Piece:
    """Some consecutive rows of a chunk."""

    start: int
    stop: int


@dataclass(frozen=True)
class Place:
    """Where the rows of a partition are: among all, and in the chunks that have them.

    number      of the partition, among those of X
    start       number of its first row
    n_rows      how many it has
    n_features  how many columns are features
    dtype       of the features: float32 or float64
    targets     rows of each chunk that has targets of these; none where targets are columns of X
    weights     the same of weights, or None where there are none
    columns     names of the columns that are features and of those that are targets, where both are in X; else None
    """

    number: int
    start: int
    n_rows: int
    n_features: int
    dtype: DTypeLike = np.float64
    targets: tuple[Piece, ...] = ()
    weights: tuple[Piece, ...] | None = None
    columns: tuple[list[str], list[str]] | None = None


def sum_of_partition(
    place: Place, size: int, work: Callable[[RowBlock], Sum | None], X: Chunk, *others: Chunk
) -> Sum | None:
    """The sum over blocks of a partition of what `work` makes of each, in their order; None where nothing is said."""
    total = None
    with _naming_the_worker(place), one_blas_thread():
        for block in blocks_of(place, size, X, *others):
            total = added(total, work(block))
    return total


def added(first: Sum | None, second: Sum | None) -> Sum | None:
    """The sum of both, of which any may say nothing."""
    return second if first is None else first if second is None else first + second


def unpickled(pickled: bytes) -> object:
    """What was pickled: a task of its own, so that it travels once, and is made again where a worker is lost."""
    return pickle.loads(pickled)


def blocks_of(place: Place, size: int, X: Chunk, *others: Chunk) -> Iterator[RowBlock]:
    """Blocks of the rows of a partition, in floats; nothing as large as the partition is made of its features.

    `others` are the chunks with targets, then those with weights.
    """
    _check_shape(place, X)
    n_chunks = len(place.targets)
    if place.columns is not None:
        features, names = place.columns
        y, X = plain_values(X[names]), X[features]
    else:
        y = _joined(place.targets, others[:n_chunks])
    y = y[:, None] if y.ndim == 1 else y
    weights = None
    if place.weights is not None:
        weights = np.asarray(_joined(place.weights, others[n_chunks:]), dtype=np.float64)
    for rows in slices(place.n_rows, size):
        yield RowBlock(
            place.start + rows.start,
            features_as_floats(_part(X, Piece(rows.start, rows.stop)), place.dtype),
            y[rows],
            weights=None if weights is None else weights[rows],
        )


def _joined(pieces: Sequence[Piece], chunks: Sequence[Chunk]) -> np.ndarray:
    found = [plain_values(_part(chunk, piece)) for piece, chunk in zip(pieces, chunks)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def features_as_floats(X: Chunk, dtype: DTypeLike) -> Matrix:
    """Rows in floats; missing values are NaN."""
    if isinstance(X, pd.DataFrame):
        return X.to_numpy(dtype=dtype, na_value=np.nan)
    if sp.issparse(X):
        return sp.csr_array(X).astype(dtype, copy=False)
    return np.asarray(X, dtype=dtype)


def plain_values(chunk: Chunk) -> np.ndarray:
    """Targets as an array of numbers or labels; missing numbers are NaN, missing labels None."""
    if isinstance(chunk, pd.DataFrame):
        return np.column_stack([plain_values(chunk[name]) for name in chunk.columns])
    if not isinstance(chunk, pd.Series) or isinstance(chunk.dtype, np.dtype):
        return np.asarray(chunk)
    if isinstance(chunk.dtype, pd.CategoricalDtype):
        return np.asarray(chunk)
    if pd.api.types.is_numeric_dtype(chunk.dtype):
        if chunk.hasnans:
            return chunk.to_numpy(dtype=np.float64, na_value=np.nan)
        return chunk.to_numpy(dtype=getattr(chunk.dtype, "numpy_dtype", np.float64))
    return chunk.to_numpy(dtype=object, na_value=None)


def _part(chunk: Chunk, piece: Piece) -> Chunk:
    if piece.start == 0 and piece.stop == chunk.shape[0]:
        return chunk
    rows = slice(piece.start, piece.stop)
    return chunk.iloc[rows] if isinstance(chunk, pd.DataFrame | pd.Series) else chunk[rows]


def _check_shape(place: Place, X: Chunk) -> None:
    """Refuse a partition that is not what Dask says it is."""
    n_columns = place.n_features + (0 if place.columns is None else len(place.columns[1]))
    if X.ndim != 2 or X.shape[1] != n_columns:
        raise ValueError(
            f"partition {place.number} of X, on worker {_worker()}, has the shape {X.shape}, but others have "
            f"{n_columns} columns; give chunks of the same columns."
        )
    if X.shape[0] != place.n_rows:
        raise ValueError(
            f"partition {place.number} of X, on worker {_worker()}, had {place.n_rows} rows first and {X.shape[0]} "
            "later; give rows that are the same every time, or persist them."
        )


@contextmanager
def _naming_the_worker(place: Place) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise MemoryError(
            f"worker {_worker()} has no memory for partition {place.number} of {place.n_rows} rows; give it more, or "
            "X in smaller chunks."
        ) from None


def _worker() -> str:
    try:
        return str(get_worker().address)
    except ValueError:
        return "(none: in this process)"
