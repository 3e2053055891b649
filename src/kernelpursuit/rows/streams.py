"""Tables that are no files of ours: in memory, of polars, of Arrow datasets, or made by a function at every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kernelpursuit.rows.files import parquet_batches
from kernelpursuit.rows.parts import COLUMN_BYTES_AT_A_TIME, Part, Reading, after, arrow, cut, index_of, loaded

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    import pyarrow.dataset as ds

# What a scan of a dataset may read before it is asked for.
AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}


def is_frame(data: Any) -> bool:
    """Whether data are a data frame in memory, of pandas or polars."""
    pandas, polars = loaded("pandas"), loaded("polars")
    return (pandas is not None and isinstance(data, pandas.DataFrame)) or (
        polars is not None and isinstance(data, polars.DataFrame)
    )


def is_arrow_table(data: Any) -> bool:
    """Whether data are a table of Arrow in memory."""
    pyarrow = loaded("pyarrow")
    return pyarrow is not None and isinstance(data, (pyarrow.Table, pyarrow.RecordBatch))


def as_table(data: Any) -> pa.Table:
    """A table of Arrow from one, from a record batch, or from a data frame, without its index."""
    pa = arrow("reading columns by name")
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data
    if hasattr(data, "to_arrow"):
        return data.to_arrow()
    return pa.Table.from_pandas(data, preserve_index=False).replace_schema_metadata(None)


class TablePart(Part):
    """A table in memory."""

    def __init__(self, table: pa.Table):
        self.place, self.constants = "the table", {}
        self._table, self.schema, self.n_rows = table, table.schema, table.num_rows
        self.index = index_of(table.schema)

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        return cut(self._table.select(columns), size, start)


class DatasetPart(Part):
    """An Arrow dataset with a filter or a projection, which is scanned as a whole."""

    def __init__(self, dataset: ds.Dataset):
        self.place, self.constants = "the dataset", {}
        self._dataset, self.schema = dataset, dataset.scanner().projected_schema
        self.index = index_of(dataset.schema)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse what Arrow cannot pickle."""
        raise TypeError(
            "a dataset with a filter cannot be pickled; give a function that scans it, as dataset.to_batches."
        )

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        return after(self._dataset.scanner(columns=columns, batch_size=size, **AHEAD).to_batches(), start)


class FragmentPart(Part):
    """A file of an Arrow dataset, wherever it lies, with the types that the dataset has.

    A column that the file lacks is not made up, as Arrow does.
    """

    def __init__(self, fragment: ds.Fragment, schema: pa.Schema):
        import pyarrow as pa
        import pyarrow.dataset as ds

        self.place, self.constants = getattr(fragment, "path", "the dataset"), {}
        own, keys = fragment.physical_schema, ds.get_partition_keys(fragment.partition_expression)
        self._fragment, self._dataset_schema, self.index = fragment, schema, index_of(schema)
        self.schema = pa.schema([field for field in schema if field.name in own.names or field.name in keys])
        self._as_stored: set[str] = set()
        if isinstance(fragment, ds.ParquetFileFragment):
            self.n_rows = fragment.count_rows()
            if fragment.metadata.num_rows == self.n_rows:
                self._as_stored = {
                    field.name
                    for field in self.schema
                    if field.name in own.names and field.type == own.field(field.name).type
                }

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        if self._as_stored.issuperset(columns) and self._as_stored:
            # A scan would hold whole row groups.
            with pq.ParquetFile(self._fragment.open(), buffer_size=COLUMN_BYTES_AT_A_TIME, pre_buffer=False) as file:
                yield from parquet_batches(file, columns, size, start)
            return
        scanner = self._fragment.scanner(schema=self._dataset_schema, columns=columns, batch_size=size, **AHEAD)
        yield from after(scanner.to_batches(), start)


def dataset_at(place: str) -> ds.Dataset:
    """The dataset of a URI, such as "s3://bucket/folder"."""
    arrow(f"reading {place}")
    with Reading(place):
        import pyarrow.dataset as ds

        return ds.dataset(place)


def parts_of_dataset(dataset: ds.Dataset) -> list[Part]:
    """The files of a dataset, or all of it as one where it is filtered."""
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:
        return [DatasetPart(dataset)]
    if not fragments:
        raise ValueError("the dataset has no files; give at least one.")
    return [FragmentPart(fragment, dataset.schema) for fragment in fragments]


class PolarsPart(Part):
    """A lazy frame of polars, whose query is run at every pass, by its streaming engine."""

    def __init__(self, frame: pl.LazyFrame):
        arrow("reading a frame of polars")
        self.place, self.constants = "the lazy frame", {}
        self._frame = frame
        # No rows are read for it.
        self.schema = frame.clear().collect().to_arrow().schema
        self.index = index_of(self.schema)

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        chosen = self._frame.select(columns).slice(start)
        frames: Iterable[pl.DataFrame]
        if hasattr(chosen, "collect_batches"):
            frames = chosen.collect_batches(chunk_size=size, maintain_order=True, lazy=True, engine="streaming")
        else:
            frames = _slices(chosen, size)
        for frame in frames:
            yield from cut(frame.to_arrow(), size, 0)


def _slices(frame: pl.LazyFrame, size: int) -> Iterator[pl.DataFrame]:
    """Slices of the answer to a query, each a query of its own, for versions of polars that cannot stream."""
    start = 0
    while (found := frame.slice(start, size).collect()).height:
        yield found
        start += size


class CalledPart(Part):
    """Tables, record batches or data frames that a function yields anew at every pass."""

    def __init__(self, function: Callable[[], Iterable[Any]], first: Any):
        self.place, self.constants = f"what {name_of(function)} yields", {}
        self._function, self.schema = function, as_table(first).schema
        self.index = index_of(self.schema)

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        for number, found in enumerate(self._function()):
            table = as_table(found)
            if table.schema.names != self.schema.names:
                raise ValueError(
                    f"table {number} that {name_of(self._function)} yields has the columns "
                    f"{', '.join(table.schema.names)}, but the first one has {', '.join(self.schema.names)}; "
                    "yield the same columns every time."
                )
            yield from after(cut(table.select(columns), size, 0), start)
            start -= min(start, table.num_rows)


def name_of(function: Callable[..., Any]) -> str:
    """How a sentence calls a function."""
    return f"{getattr(function, '__name__', type(function).__name__)}()"
