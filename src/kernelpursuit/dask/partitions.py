"""Dask arrays and frames as partitions of rows: how long each is, and which targets and weights go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed
from distributed import Client
from numpy.typing import DTypeLike

from kernelpursuit.dask.connection import workers_may_fail
from kernelpursuit.dask.work import Chunk, Piece, Place
from kernelpursuit.estimators.columns import DATES, TEXT

#: What rows, targets and weights may be given as.
Collection: TypeAlias = da.Array | dd.DataFrame | dd.Series


@dataclass(frozen=True)
class Partition:
    """Rows that lie together on a worker, with their targets and weights.

    place    where they are among all
    X        the chunk with their features
    y        chunks with their targets, and which rows of each; none where targets are columns of X
    weights  the same of their weights, or None
    """

    place: Place
    X: Delayed
    y: list[tuple[Piece, Delayed]]
    weights: list[tuple[Piece, Delayed]] | None


@dataclass(frozen=True)
class Given:
    """Rows, targets and weights as they were given.

    X, y, weights  collections; y is None where targets are columns of X
    targets        names of these columns, else none
    n_targets      how many there are
    """

    X: da.Array | dd.DataFrame
    y: Collection | None
    weights: Collection | None
    targets: tuple[str, ...]
    n_targets: int

    @classmethod
    def of(cls, X: object, y: object, weights: object = None) -> Given:
        """Refuse what is not in rows on a cluster, before anything is computed."""
        rows = as_rows(X)
        if weights is not None:
            weights = _on_cluster("sample_weight", weights)
            if weights.ndim != 1:
                raise ValueError(f"sample_weight has {weights.ndim} dimensions; give one weight for each row.")
        names = (y,) if isinstance(y, str) else tuple(y) if isinstance(y, list) else ()
        if names:
            if not isinstance(rows, dd.DataFrame):
                raise ValueError(f"y={y!r} names columns, but X is an array; give y as an array.")
            for name in names:
                if name not in rows.columns:
                    raise ValueError(f"y={y!r} is no column of X; give the name of one, or a Dask series.")
            if set(rows.columns) == set(names):
                raise ValueError(f"X has no columns beside y={y!r}; give some that are features.")
        given = cls(
            rows, None if names else _on_cluster("y", y), weights=weights, targets=names, n_targets=len(names) or 1
        )
        check_numbers(given.features)
        if given.y is None:
            return given
        if given.y.ndim > 2:
            raise ValueError(f"y has {given.y.ndim} dimensions; give one target for each row, or columns of them.")
        y_rows = given.y.rechunk({1: -1}) if isinstance(given.y, da.Array) and given.y.ndim == 2 else given.y
        n_targets = y_rows.shape[1] if y_rows.ndim == 2 else 1
        return cls(rows, y_rows, weights=weights, targets=(), n_targets=n_targets)

    @property
    def features(self) -> da.Array | dd.DataFrame:
        """X without its targets."""
        return self.X.drop(columns=list(self.targets)) if self.targets else self.X

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where all are strings."""
        if not isinstance(self.X, dd.DataFrame):
            return None
        names = tuple(self.features.columns)
        return names if all(isinstance(name, str) for name in names) else None

    def partitions(self, client: Client) -> list[Partition]:
        """The partitions that have rows, in order; where lengths are not known, one pass finds them."""
        rows, targets, weights = _in_chunks(client, [self.X, self.y, self.weights])
        assert rows is not None
        for name, other in (("y", targets), ("sample_weight", weights)):
            if other is not None and other.n_rows != rows.n_rows:
                raise ValueError(f"{name} has {other.n_rows} rows, but X has {rows.n_rows}; give one for each row.")
        if rows.n_rows == 0:
            raise ValueError(f"X has no rows in any of its {len(rows.parts)} partitions; give at least one.")
        features, dtype = self.features, float_type(self.features)
        columns = (list(features.columns), list(self.targets)) if self.targets else None
        partitions = []
        for number, (start, stop) in enumerate(pairwise([0, *rows.ends.tolist()])):
            if start == stop:
                continue
            place = Place(number, start, stop - start, features.shape[1], dtype=dtype, columns=columns)
            partitions.append(
                Partition(
                    place,
                    rows.parts[number],
                    [] if targets is None else targets.pieces(start, stop),
                    None if weights is None else weights.pieces(start, stop),
                )
            )
        return partitions


@dataclass(frozen=True)
class _Chunks:
    """The chunks of a collection, and the number of rows up to the end of each."""

    parts: Sequence[Delayed]
    ends: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return int(self.ends[-1])

    def pieces(self, start: int, stop: int) -> list[tuple[Piece, Delayed]]:
        """The chunks that have the rows from `start` to `stop`, and which of their rows these are."""
        pieces = []
        for place in range(int(np.searchsorted(self.ends, start, side="right")), len(self.parts)):
            first = int(self.ends[place - 1]) if place else 0
            if first >= stop:
                break
            low, high = max(start, first), min(stop, int(self.ends[place]))
            if low < high:
                pieces.append((Piece(low - first, high - first), self.parts[place]))
        return pieces


def as_rows(X: object) -> da.Array | dd.DataFrame:
    """Rows with all of their features in every chunk."""
    rows = _on_cluster("X", X)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimensions; give rows with a column for each feature.")
    return rows.rechunk({1: -1}) if isinstance(rows, da.Array) and rows.numblocks[1] > 1 else rows


def is_collection(X: object) -> bool:
    """Whether rows are a Dask array or frame."""
    return isinstance(X, da.Array | dd.DataFrame | dd.Series)


def check_numbers(X: da.Array | dd.DataFrame) -> None:
    """Refuse features that are text or dates."""
    if isinstance(X, da.Array):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X is not usable: it holds {X.dtype}; give numbers.")
        return
    for name, dtype in X.dtypes.items():
        if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
            raise ValueError(f"X is not usable: column {name!r} holds dates or times; {DATES}.")
        if not pd.api.types.is_numeric_dtype(dtype):
            raise ValueError(f"X is not usable: column {name!r} holds {dtype}; {TEXT}.")


def float_type(X: da.Array | dd.DataFrame) -> DTypeLike:
    """The type in which features are fitted, as scikit-learn has it: float32 where all are, else float64."""
    dtypes = [X.dtype] if isinstance(X, da.Array) else list(X.dtypes)
    return np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64


def _on_cluster(name: str, given: object) -> Collection:
    if not is_collection(given):
        kind = "None" if given is None else f"a {type(given).__name__}"
        cure = "dask.array.from_array puts an array in chunks" if given is not None else "fit(X, y) needs both"
        raise ValueError(f"{name} is {kind} and no Dask array or frame; {cure}.")
    return given


def _in_chunks(client: Client, collections: Sequence[Collection | None]) -> list[_Chunks | None]:
    """The chunks of each collection; lengths that are not known are found on the workers, and only they travel."""
    parts = [None if one is None else list(np.ravel(one.to_delayed())) for one in collections]
    known = [None if one is None else _known_lengths(one) for one in collections]
    asked = [
        [delayed(_length)(part) for part in chunks]
        for chunks, lengths in zip(parts, known)
        if chunks is not None and lengths is None
    ]
    with workers_may_fail():
        found = iter(client.gather([client.compute(lengths) for lengths in asked]))
    return [
        None if chunks is None else _Chunks(chunks, np.cumsum(next(found) if lengths is None else lengths))
        for chunks, lengths in zip(parts, known)
    ]


def _known_lengths(collection: Collection) -> list[int] | None:
    """The length of every chunk, where Dask knows them."""
    if not isinstance(collection, da.Array) or np.isnan(collection.chunks[0]).any():
        return None
    return [int(length) for length in collection.chunks[0]]


def _length(chunk: Chunk) -> int:
    """Number of rows; of a sparse matrix, `len` says something else."""
    return int(chunk.shape[0])
