"""Files that hold a table: Parquet, CSV and Arrow IPC, alone, in lists, and in folders with or without partitions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kernelpursuit.rows.parts import BYTES_AT_A_TIME, COLUMN_BYTES_AT_A_TIME, FilePart, Part, after, arrow, index_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".bz2")
# Bytes of a CSV file that a pass reads at a time; fewer take longer (benchmarks/cli.py).
CSV_BYTES_AT_A_TIME = 4 * 2**20
KINDS = ".parquet, .csv, .tsv (or with .gz), .feather, .arrow, .ipc or .npy"


class ParquetPart(FilePart):
    """A Parquet file, read a few pages at a time however large its row groups are."""

    def _open(self) -> None:
        with self._opened() as file:
            self.n_rows, self.index = file.metadata.num_rows, index_of(file.schema_arrow)
            self.schema = self._with_constants(file.schema_arrow.remove_metadata())

    def _opened(self) -> pq.ParquetFile:
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.path, buffer_size=COLUMN_BYTES_AT_A_TIME, pre_buffer=False)

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        with self._opened() as file:
            yield from parquet_batches(file, columns, size, start)


def parquet_batches(file: pq.ParquetFile, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file from a row on; row groups before it are not read."""
    first = 0
    while first < file.num_row_groups and start >= (n := file.metadata.row_group(first).num_rows):
        first, start = first + 1, start - n
    groups = list(range(first, file.num_row_groups))
    for batch in after(file.iter_batches(size, row_groups=groups, columns=columns), start):
        yield batch.select(columns)  # a file has them in its own order


class CsvPart(FilePart):
    """A CSV file, plain or compressed, with a line of names; types are those of the first lines.

    Whole numbers in the first lines say nothing of those further down, so numbers are always read as floats.
    """

    def _open(self) -> None:
        import pyarrow as pa

        if self._stamp[0] == 0:
            self.n_rows, self.schema = 0, self._with_constants(pa.schema([]))
            return
        with self._reader(None, BYTES_AT_A_TIME) as reader:
            self.schema = self._with_constants(reader.schema)

    def _reader(self, columns: list[str] | None, n_bytes: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        separator = SEPARATORS[_suffix(self.path)]
        convert = csv.ConvertOptions()
        if columns is not None:
            types = {name: self.schema.field(name).type for name in columns}
            floats = {n: pa.float64() if pa.types.is_integer(t) or pa.types.is_null(t) else t for n, t in types.items()}
            convert = csv.ConvertOptions(include_columns=columns, column_types=floats)
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=n_bytes),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=convert,
        )

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        if self.n_rows == 0:
            return
        # No column at all would be every column to Arrow; rows are counted by the first one.
        with self._reader(columns or self.schema.names[:1], CSV_BYTES_AT_A_TIME) as reader:
            for batch in after(reader, start):
                yield batch if batch.schema.names == columns else batch.select(columns)


class IpcPart(FilePart):
    """A file in Arrow's own format, which Feather is too."""

    def _open(self) -> None:
        import pyarrow as pa

        with pa.memory_map(str(self.path)) as held:
            self._is_stream = held.read(6) != b"ARROW1"
            held.seek(0)
            if self._is_stream:
                with pa.ipc.open_stream(held) as reader:
                    self.index = index_of(reader.schema)
                    self.schema = self._with_constants(reader.schema.remove_metadata())
                return
            with pa.ipc.open_file(held) as reader:
                self.index = index_of(reader.schema)
                self.schema = self._with_constants(reader.schema.remove_metadata())
        with self._reader([]) as reader:
            self.n_rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))

    @contextlib.contextmanager
    def _reader(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        with pa.memory_map(str(self.path)) as held:
            if self._is_stream:
                yield pa.ipc.open_stream(held)
                return
            fields = [self.schema.get_field_index(name) for name in columns]
            with pa.ipc.open_file(held, options=pa.ipc.IpcReadOptions(included_fields=fields or [0])) as reader:
                yield reader

    def _batches(self, columns: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        with self._reader(columns) as reader:
            found = reader if self._is_stream else map(reader.get_batch, range(reader.num_record_batches))
            for batch in after(found, start):
                for first in range(0, batch.num_rows, size):
                    yield batch.slice(first, size).select(columns)


READERS: dict[str, Callable[[Path, Mapping[str, Any]], FilePart]] = {
    ".parquet": ParquetPart,
    ".pq": ParquetPart,
    ".csv": CsvPart,
    ".tsv": CsvPart,
    ".feather": IpcPart,
    ".arrow": IpcPart,
    ".ipc": IpcPart,
}


def _suffix(path: Path) -> str:
    """The end of a file's name that says what it holds, without that of its compression."""
    return Path(path.stem if path.suffix.lower() in COMPRESSED else path.name).suffix.lower()


def is_table_file(path: Path) -> bool:
    """Whether the name of a file says that it holds a table."""
    return _suffix(path) in READERS


def parts_of_files(paths: Sequence[Path]) -> list[Part]:
    """The tables in files and folders; those of a folder in the order of their names.

    Files and folders that begin with a dot or with _ are left out, as they hold no rows by convention. A folder named
    `key=value` gives a column to the files in it.
    """
    arrow(f"reading {paths[0]}")
    found = [(root, path) for root in paths for path in _files(root)]
    if not found:
        raise ValueError(f"{paths[0]} holds no file of rows; give one with files that end in {KINDS}.")
    keys = [_keys(path.relative_to(root).parts[:-1] if path != root else ()) for root, path in found]
    for name in {name for one in keys for name in one}:
        for change in (int, float):
            with contextlib.suppress(ValueError, KeyError):
                changed = [change(one[name]) for one in keys]
                for one, value in zip(keys, changed):
                    one[name] = value
                break
    return [_part(path, constants) for (_, path), constants in zip(found, keys)]


def _part(path: Path, constants: dict[str, Any]) -> Part:
    suffix = _suffix(path)
    if suffix not in READERS:
        raise ValueError(f"{path} ends in {suffix or 'nothing'!r}; give a file that ends in {KINDS}.")
    return READERS[suffix](path, constants)


def _files(root: Path) -> Iterable[Path]:
    if not root.is_dir():
        return [root]
    inside = (path for path in sorted(root.rglob("*")) if is_table_file(path) and path.is_file())
    return [path for path in inside if not any(re.match(r"[._]", one) for one in path.relative_to(root).parts)]


def _keys(folders: Sequence[str]) -> dict[str, Any]:
    return dict(unquote(folder).split("=", 1) for folder in folders if "=" in folder)
