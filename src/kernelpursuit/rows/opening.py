"""Anything that holds rows, as a source of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from kernelpursuit.rows.arrays import SlicedSource, is_sliced, is_stored, open_stored
from kernelpursuit.rows.called import CalledSource, first_of
from kernelpursuit.rows.columns import kind_of
from kernelpursuit.rows.files import is_table_file, parts_of_files
from kernelpursuit.rows.paired import PairedSource
from kernelpursuit.rows.parts import Part, loaded
from kernelpursuit.rows.source import RowSource
from kernelpursuit.rows.streams import (
    CalledPart,
    PolarsPart,
    TablePart,
    as_table,
    dataset_at,
    is_arrow_table,
    is_frame,
    parts_of_dataset,
)
from kernelpursuit.rows.table import TableSource

#: What rows can come from: no type says what it has to offer.
Rows: TypeAlias = Any

ARRAY_FILES = (".npy", ".zarr")
HDF_FILES = (".h5", ".hdf5", ".hdf")


def is_source(data: Rows) -> bool:
    """Whether data are read a block at a time, and not taken as an array in memory.

    Paths, Arrow tables and datasets, lazy frames, Zarr arrays, HDF5 datasets, functions and sources are; NumPy arrays,
    memory maps among them, sparse matrices and data frames in memory are not.
    """
    if isinstance(data, (str, Path, RowSource)) or callable(data):
        return True
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(one, Path) or (isinstance(one, str) and is_path(one)) for one in data)
    return is_arrow_table(data) or _is_dataset(data) or _is_lazy(data) or _is_once(data) or is_stored(data)


def open_rows(
    data: Rows,
    y: Rows = None,
    sample_weight: Rows = None,
    *,
    features: Sequence[str] | None = None,
) -> RowSource:
    """Return a source of rows from files, tables, arrays or a function; reads only names, types and counts.

    Parameters
    ----------
    data : path, list of paths, table, array or callable
        - The path of a Parquet (`.parquet`), CSV (`.csv`, `.tsv`, also with `.gz`) or Arrow (`.feather`, `.arrow`,
          `.ipc`) file, of a folder of such files, with or without `key=value` partitions, or a list of these.
        - A `pyarrow` table or dataset, a `polars` frame or lazy frame, a `pandas` frame.
        - The path of a `.npy` file or a `.zarr` folder; a memory map, a Zarr array, an h5py dataset, or anything else
          with a shape of two entries and slices.
        - A function without arguments that returns an iterator of `(X, y)` or `(X, y, weights)` tuples, or of tables.
          It is called anew for each pass, and should yield the same rows each time.
    y : column name, list of column names, array or anything that `data` can be, optional
        The targets: columns of `data`, or one for each row from elsewhere.
    sample_weight : column name, array or anything that `data` can be, optional
        The weights of rows.
    features : sequence of column names, optional
        The columns that are features, in this order; by default all that are neither target nor weight.

    Returns
    -------
    RowSource
        Blocks of rows, as often as asked. Features are float64, or float32 where all of them are; nulls are NaN. Labels
        may be text.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.rows import open_rows
    >>> source = open_rows(lambda: ((np.full((3, 2), i), np.arange(3.0)) for i in range(4)))
    >>> [len(block) for block in source.blocks(5)]
    [5, 5, 2]
    """
    _refuse_iterators(data)
    if isinstance(data, RowSource):
        if features is not None:
            raise ValueError("features is for data with column names, and X is a source already; give it there.")
        return _with(data, y, sample_weight)
    parts, first = _parts_or_first(data)
    if parts is not None:
        names = parts[0].schema.names
        own_y, own_weight = (_is_column(one, names) for one in (y, sample_weight))
        source: RowSource = TableSource(
            parts, y=y if own_y else None, sample_weight=sample_weight if own_weight else None, features=features
        )
        return _with(source, None if own_y else y, None if own_weight else sample_weight)
    if features is not None:
        raise ValueError("features names columns, but X has no column names; leave it out.")
    for name, given in {"y": y, "sample_weight": sample_weight}.items():
        if isinstance(given, str) and not is_path(given):
            raise ValueError(f"{name}={given!r} names a column, but X has no column names; give an array or a path.")
    return _with(_source_of_arrays(data, first), y, sample_weight)


def columns_of(data: Rows) -> dict[str, str] | None:
    """What each column of a table holds, by name: "numbers", "text", "true or false" and so on; None of arrays."""
    _refuse_iterators(data)
    parts, _ = (None, None) if isinstance(data, RowSource) else _parts_or_first(data)
    if parts is None:
        return None
    # A part without columns, as an empty file, says nothing.
    schema = next((part.schema for part in parts if part.schema.names), parts[0].schema)
    return {field.name: kind_of(field.type) for field in schema}


def open_features(data: Rows, names: Sequence[str] | None) -> RowSource:
    """The features of rows to predict: the columns of these names, where data have names and a model has."""
    _refuse_iterators(data)
    if isinstance(data, RowSource):
        given = data.feature_names
        if names is not None and given is not None and list(given) != list(names):
            raise ValueError(
                f"X has the features {', '.join(given[:8])}, but the model was fitted with {', '.join(names[:8])}; "
                "give them to open_rows in this order, by features=[...]."
            )
        return data
    parts, first = _parts_or_first(data)
    return _source_of_arrays(data, first) if parts is None else TableSource(parts, features=names)


def _parts_or_first(data: Rows) -> tuple[list[Part] | None, Any]:
    """The parts of a table with column names, or None; and what a function yields first."""
    if not callable(data):
        return _parts(data), None
    first = first_of(data)
    return ([CalledPart(data, first)] if is_arrow_table(first) or is_frame(first) else None), first


def _with(source: RowSource, y: Rows, sample_weight: Rows) -> RowSource:
    """The source with targets and weights from elsewhere, where there are some."""
    if y is None and sample_weight is None:
        return source
    return PairedSource(source, _one_a_row("y", y), _one_a_row("sample_weight", sample_weight))


def _one_a_row(name: str, given: Rows) -> RowSource | None:
    """Targets or weights that lie apart from the features."""
    if given is None:
        return None
    _refuse_iterators(given)
    if isinstance(given, RowSource) or callable(given):
        raise ValueError(f"{name} is a {type(given).__name__}; give a path, a table or an array with one for each row.")
    if sp.issparse(given):
        raise ValueError(f"{name} is a sparse matrix; give a dense array.")
    parts = _parts(given) if is_source(given) else None
    if parts is not None:
        names = [column for column in parts[0].schema.names if column not in parts[0].index]
        return TableSource(parts, y=names, features=[])
    if isinstance(given, (str, Path)):
        return SlicedSource(open_stored(Path(given)), str(given), as_targets=True)
    return SlicedSource(given if is_stored(given) else np.asarray(given), name, as_targets=True)


def _source_of_arrays(data: Rows, first: Any) -> RowSource:
    if callable(data):
        return CalledSource(data, first)
    if isinstance(data, (str, Path)):
        return SlicedSource(open_stored(Path(data)), str(data))
    if sp.issparse(data):
        return SlicedSource(sp.csr_array(data))
    if is_sliced(data):
        return SlicedSource(data)
    raise TypeError(f"X is a {type(data).__name__}; give a path, a table, an array or a function that yields blocks.")


def _parts(data: Rows) -> list[Part] | None:
    """The parts of a table with column names; None for what has none."""
    if isinstance(data, (str, Path)):
        path = Path(data)
        if path.suffix in HDF_FILES:
            raise ValueError(f"{data} may hold many arrays; give one of them, as in h5py.File({str(data)!r})['X'].")
        if path.suffix in ARRAY_FILES:
            return None
        if "://" in str(data):
            return parts_of_dataset(dataset_at(str(data)))
        return parts_of_files([path])
    if isinstance(data, (list, tuple)) and is_source(data):
        return parts_of_files([Path(one) for one in data])
    if is_arrow_table(data) or is_frame(data):
        return [TablePart(as_table(data))]
    if _is_dataset(data):
        return parts_of_dataset(data)
    if _is_lazy(data):
        return [PolarsPart(data)]
    return None


def _is_column(given: Rows, names: Sequence[str]) -> bool:
    """Whether a target or weight names columns of the table: all that is text and no path does."""
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(one, str) for one in words):
        return False
    return any(one in names for one in words) or not all(map(is_path, words))


def is_path(word: str) -> bool:
    """Whether a word is the path of a file of rows, and not the name of a column."""
    path = Path(word)
    return is_table_file(path) or path.suffix in (*ARRAY_FILES, *HDF_FILES) or path.exists()


def _is_dataset(data: Rows) -> bool:
    dataset = loaded("pyarrow.dataset")
    return dataset is not None and isinstance(data, dataset.Dataset)


def _is_lazy(data: Rows) -> bool:
    polars = loaded("polars")
    return polars is not None and isinstance(data, polars.LazyFrame)


def _is_once(data: Rows) -> bool:
    """Whether data can be iterated over once only."""
    pyarrow = loaded("pyarrow")
    return isinstance(data, Iterator) or (pyarrow is not None and isinstance(data, pyarrow.RecordBatchReader))


def _refuse_iterators(data: Rows) -> None:
    if _is_once(data):
        raise TypeError(
            f"a {type(data).__name__} yields its rows once, and they are passed over several times; give a function "
            "that makes a new one."
        )
