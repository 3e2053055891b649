"""Parts of a table, such as the files of a folder: each yields Arrow record batches of some of its columns."""

from __future__ import annotations

import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a batch at most; fewer where the caller's blocks are smaller.
MOST_ROWS = 2**16
# Bytes that are read from a file at a time; of a Parquet file for every column, beside two pages of about a megabyte.
BYTES_AT_A_TIME, COLUMN_BYTES_AT_A_TIME = 2**20, 2**18


def arrow(what: str) -> Any:
    """The package pyarrow, or a sentence that says what it is needed for."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install 'kernelpursuit[io]'.") from None
    return pyarrow


def loaded(package: str) -> Any:
    """A package where the caller has imported it, else None: nobody has its objects without it."""
    return sys.modules.get(package)


class Part(ABC):
    """Rows of a table that are read one after the other.

    place      what errors call it: the path of a file, mostly
    n_rows     number of its rows, None where only reading them tells
    schema     names and types of its columns
    constants  columns that its rows do not hold, with one value for all of them: keys of a partition
    index      columns that are the index of a data frame, and no features unless they are named
    """

    place: str
    n_rows: int | None = None
    schema: pa.Schema
    constants: Mapping[str, Any]
    index: frozenset[str] = frozenset()

    @abstractmethod
    def _batches(self, columns: list[str], size: int, start: int) -> Iterable[pa.RecordBatch]:
        """Batches of at most about `size` rows from number `start` on, of columns that the rows hold."""

    def batches(self, columns: Sequence[str], size: int, start: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield batches of some columns, in this order, from row `start` on.

        Whatever goes wrong while reading becomes one sentence that names the file.
        """
        import pyarrow as pa

        held = [name for name in columns if name not in self.constants]
        types = [self.schema.field(name).type for name in columns]
        with Reading(self.place) as reading:
            found = iter(self._batches(held, min(size, MOST_ROWS), start))
        while True:
            with reading:
                batch = next(found, None)
            if batch is None:
                return
            if not self.constants:
                yield batch
                continue
            arrays = [
                pa.repeat(pa.scalar(self.constants[name], kind), batch.num_rows)
                if name in self.constants
                else batch.column(held.index(name))
                for name, kind in zip(columns, types)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


class Reading:
    """Turn what Arrow and the system say of a file that cannot be read into one sentence that names it."""

    def __init__(self, place: str):
        self._place = place

    def __enter__(self) -> Reading:
        """Nothing is held."""
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Name the file, unless the error does already."""
        import pyarrow as pa

        polars = loaded("polars")
        own = (pa.ArrowException, OSError, *([] if polars is None else [polars.exceptions.PolarsError]))
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{self._place} is not there; give the path of a file or a folder.") from None
        if isinstance(error, UnicodeDecodeError):
            raise ValueError(f"{self._place} cannot be read: it is not in UTF-8; save it so.") from None
        if isinstance(error, own):
            words = " ".join(str(error).split()).removeprefix("Invalid: ").rstrip(".")
            raise ValueError(f"{self._place} cannot be read: {words}.") from error


class FilePart(Part):
    """A local file, which must stay as it was when it was opened."""

    def __init__(self, path: Path, constants: Mapping[str, Any]):
        self.path, self.place, self.constants = path, str(path), constants
        with Reading(self.place):
            self._stamp = self._stamp_now()
            self._open()
            # Names in another encoding fail when they are asked for.
            _ = self.schema.names

    @abstractmethod
    def _open(self) -> None:
        """Read the schema, and the number of rows where the file has it."""

    def _stamp_now(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns

    def batches(self, columns: Sequence[str], size: int, start: int = 0) -> Iterator[pa.RecordBatch]:
        """The batches of the file, if that is still the one that was opened."""
        with Reading(self.place):
            now = self._stamp_now()
        if now != self._stamp:
            raise ValueError(f"{self.place} has changed since it was opened; let no one write to it during a fit.")
        yield from super().batches(columns, size, start)

    def _with_constants(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the file and of its partition; a column that the file has itself is the file's."""
        import pyarrow as pa

        self.constants = {name: value for name, value in self.constants.items() if name not in schema.names}
        for name, value in self.constants.items():
            schema = schema.append(pa.field(name, pa.scalar(value).type))
        return schema


def index_of(schema: pa.Schema) -> frozenset[str]:
    """Columns in which pandas has kept its index, by what it says in the schema or else by how it names them."""
    said = (schema.pandas_metadata or {}).get("index_columns", [])
    named = [name for name in schema.names if re.fullmatch(r"__index_level_\d+__", name)]
    return frozenset([*named, *(name for name in said if isinstance(name, str))])


def after(batches: Iterable[pa.RecordBatch], start: int) -> Iterator[pa.RecordBatch]:
    """Leave out the first rows of batches."""
    for batch in batches:
        skipped = min(start, batch.num_rows)
        start -= skipped
        if skipped < batch.num_rows:
            yield batch.slice(skipped)


def cut(table: pa.Table, size: int, start: int) -> Iterator[pa.RecordBatch]:
    """Batches of a table that is in memory, without copies."""
    return iter(table.slice(start).to_batches(max_chunksize=size))
