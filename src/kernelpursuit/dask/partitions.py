"""Dask arrays and frames as partitions of rows: how long each is, and which targets and weights go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed
from distributed import Client

from kernelpursuit.dask.connection import workers_may_fail
from kernelpursuit.dask.work import Chunk, Piece, Place, sum_of_partition
from kernelpursuit.estimators.columns import DATES, TEXT

#: Rows as a Dask array or frame, in chunks of rows, and anything as a Dask array, frame or series. Dask makes most
#: methods of these at run time, where no checker of types sees them.
Rows: TypeAlias = Any
Collection: TypeAlias = Any


@dataclass(frozen=True)
class Partition:
    """Rows that lie together on a worker, with their targets and weights.

    place   where they are, among all and in the chunks
    chunks  with their features, then with their targets, then with their weights
    """

    place: Place
    chunks: tuple[Delayed, ...]

    def sum_of(self, work: Delayed, size: int) -> Delayed:
        """The sum of what `work` makes of blocks of this size."""
        # Of a function's arguments Dask takes the time to look for chunks in each, of what is bound to it none.
        return delayed(partial(sum_of_partition, self.place, size), pure=False)(work, *self.chunks)


@dataclass(frozen=True)
class Given:
    """Rows, targets and weights as they were given.

    X, y, weights  collections; y is None where targets are columns of X
    targets        names of these columns, else none
    n_targets      how many there are
    """

    X: Rows
    y: Collection | None
    weights: Collection | None
    targets: tuple[str, ...]
    n_targets: int

    @classmethod
    def of(cls, X: object, y: object, weights: object = None) -> Given:
        """Refuse what is not in rows on a cluster, before anything is computed."""
        rows, names = as_rows(X), (y,) if isinstance(y, str) else tuple(y) if isinstance(y, list) else ()
        shares = None if weights is None else _on_cluster("sample_weight", weights)
        if shares is not None and shares.ndim != 1:
            raise ValueError(f"sample_weight has {shares.ndim} dimensions; give one weight for each row.")
        if names:
            _check_names(rows, names)
            given = cls(rows, None, shares, targets=names, n_targets=len(names))
        else:
            targets = _on_cluster("y", y)
            if targets.ndim > 2:
                raise ValueError(f"y has {targets.ndim} dimensions; give one target for each row, or columns of them.")
            n_targets = targets.shape[1] if targets.ndim == 2 else 1
            given = cls(rows, _in_whole_rows(targets), shares, targets=(), n_targets=n_targets)
        check_numbers(given.features)
        return given

    @property
    def features(self) -> Rows:
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
        n_features = features.shape[1]
        columns = (list(features.columns), list(self.targets)) if self.targets else None
        partitions = []
        for number, (start, stop) in enumerate(pairwise([0, *rows.ends.tolist()])):
            if start == stop:
                continue
            y = [] if targets is None else targets.pieces(start, stop)
            shares = [] if weights is None else weights.pieces(start, stop)
            place = Place(
                number,
                start,
                stop - start,
                n_features,
                dtype=dtype,
                targets=tuple(piece for piece, _ in y),
                weights=None if weights is None else tuple(piece for piece, _ in shares),
                columns=columns,
            )
            partitions.append(Partition(place, (rows.parts[number], *(chunk for _, chunk in [*y, *shares]))))
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


def as_rows(X: object) -> Rows:
    """Rows with all of their features in every chunk."""
    rows = _on_cluster("X", X)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimensions; give rows with a column for each feature.")
    return _in_whole_rows(rows)


def _in_whole_rows(values: Collection) -> Collection:
    """The same with all columns in every chunk."""
    is_divided = isinstance(values, da.Array) and values.ndim == 2 and values.numblocks[1] > 1
    return values.rechunk({1: -1}) if is_divided else values


def is_collection(X: object) -> bool:
    """Whether rows are a Dask array or frame."""
    return isinstance(X, da.Array | dd.DataFrame | dd.Series)


def check_numbers(X: Rows) -> None:
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


def float_type(X: Rows) -> type[np.floating]:
    """The type in which features are fitted, as scikit-learn has it: float32 where all are, else float64."""
    dtypes = [X.dtype] if isinstance(X, da.Array) else list(X.dtypes)
    return np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64


def _check_names(X: Rows, names: tuple[str, ...]) -> None:
    """Refuse targets that are no columns of X, or all of them."""
    shown = repr(names[0]) if len(names) == 1 else repr(list(names))
    if not isinstance(X, dd.DataFrame):
        raise ValueError(f"y={shown} names columns, but X is an array; give y as an array.")
    for name in names:
        if name not in X.columns:
            raise ValueError(f"y={shown} is no column of X; give the name of one, or a Dask series.")
    if set(X.columns) == set(names):
        raise ValueError(f"X has no columns beside y={shown}; give some that are features.")


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
