"""Where blocks of values go: Parquet, CSV and `.npy` files, there when they are whole; streams; arrays."""

from __future__ import annotations

import io
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelpursuit.rows.arrays import is_sliced
from kernelpursuit.rows.parts import arrow

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ".parquet, .csv or .npy"
# Rows of a row group of a Parquet file.
GROUP_ROWS = 2**18


class Writer(ABC):
    """Takes blocks of values, a column for each name, and columns that are passed on as they came."""

    @abstractmethod
    def write(self, values: Sequence[np.ndarray], kept: pa.Table | None) -> None:
        """Add the next rows."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    @abstractmethod
    def abandon(self) -> None:
        """Let go of the file, which is not kept."""


class TableWriter(Writer):
    """Writes tables to a file of Parquet or CSV, or CSV to a binary stream; its types are those of the first block."""

    def __init__(self, goal: Any, kind: str, names: Sequence[str]):
        self._pa = arrow(f"writing {kind} files")
        self._goal, self._kind, self._names = goal, kind, list(names)
        self._writer: Any = None
        self._held: list[pa.Table] = []
        # Who reads a stream waits for every block.
        self._rows_at_a_time = 1 if is_stream(goal) else GROUP_ROWS

    def write(self, values: Sequence[np.ndarray], kept: pa.Table | None) -> None:
        """Add rows; row groups are written when they are large enough."""
        made = self._pa.table([self._pa.array(one) for one in values], names=self._names)
        if kept is not None:
            made = self._pa.table([*kept.columns, *made.columns], schema=_joined(kept.schema, made.schema))
        self._held.append(made)
        if sum(one.num_rows for one in self._held) >= self._rows_at_a_time:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        table = self._pa.concat_tables(self._held)
        self._held = []
        if self._writer is None:
            self._writer = self._opened(table.schema)
        self._writer.write_table(table.cast(self._writer.schema) if self._kind == ".parquet" else table)

    def _opened(self, schema: pa.Schema) -> Any:
        if self._kind == ".csv":
            from pyarrow import csv

            return csv.CSVWriter(self._goal, schema)
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._goal, schema)

    def close(self) -> None:
        """Write the last rows and the end of the file."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the file without the rows that were not written yet."""
        if self._writer is not None:
            self._writer.close()


class NpyWriter(Writer):
    """Writes one array to a `.npy` file, of any number of rows."""

    def __init__(self, path: Path):
        self._file = open(path, "wb")  # noqa: SIM115 - closed by `close`
        self._n_rows, self._begin = 0, 0
        self._dtype, self._columns = np.dtype(float), ()

    def write(self, values: Sequence[np.ndarray], kept: pa.Table | None) -> None:
        """Append rows; the first ones say what type all have."""
        rows = values[0] if len(values) == 1 else np.column_stack(list(values))
        if not self._begin:
            if rows.dtype.kind == "O":
                raise ValueError("a .npy file holds no Python objects; write to a .parquet or .csv file.")
            self._dtype, self._columns = rows.dtype, rows.shape[1:]
            self._header()
            self._begin = self._file.tell()
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        self._n_rows += len(rows)

    def _header(self) -> None:
        """The header, which leaves room for any number of rows."""
        shape = (self._n_rows, *self._columns)
        described = np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(self._file, {"descr": described, "fortran_order": False, "shape": shape})

    def close(self) -> None:
        """Write the number of rows into the header."""
        with self._file:
            if self._begin:
                self._file.seek(0)
                self._header()
                assert self._file.tell() == self._begin, "the header must not grow into the rows"

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


class ArrayWriter(Writer):
    """Writes into an array that is there, of NumPy, Zarr, HDF5 or any other that takes slices."""

    def __init__(self, out: Any):
        self._out, self._n_rows = out, 0

    def write(self, values: Sequence[np.ndarray], kept: pa.Table | None) -> None:
        """Fill the next rows."""
        rows = values[0] if len(values) == 1 else np.column_stack(list(values))
        end = self._n_rows + len(rows)
        shape = tuple(self._out.shape)
        if end > shape[0] or shape[1:] != rows.shape[1:]:
            needed = (f"at least {end:,}", *map(str, rows.shape[1:]))
            raise ValueError(
                f"out has the shape {shape}, but there are more or other values; give ({', '.join(needed)})."
            )
        self._out[self._n_rows : end] = rows
        self._n_rows = end

    def close(self) -> None:
        """Refuse an array of which something is left."""
        if self._n_rows != self._out.shape[0]:
            raise ValueError(f"out has {self._out.shape[0]:,} rows, but there are {self._n_rows:,}; give as many.")

    def abandon(self) -> None:
        """Leave the array as far as it was filled."""


@contextmanager
def open_writer(out: Any, names: Sequence[str]) -> Iterator[Writer]:
    """A writer to a path, by its ending, to a binary stream, or into an array.

    A file is written under another name beside it, and takes its own when all is written. Where anything fails, nothing
    of it is left, and a file that was there before is as it was.
    """
    check_out(out)
    if not isinstance(out, (str, Path)):
        writer: Writer = TableWriter(out, ".csv", names) if is_stream(out) else ArrayWriter(out)
        yield writer
        writer.close()
        return
    path = Path(out).resolve()  # what a link leads to is written, and the link stays
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    writer = NpyWriter(partial) if path.suffix == ".npy" else TableWriter(partial, path.suffix, names)
    try:
        yield writer
        writer.close()
        os.replace(partial, path)
    except BaseException:
        # Where a disk is full, closing fails too, and says nothing new.
        with suppress(OSError):
            writer.abandon()
        raise
    finally:
        partial.unlink(missing_ok=True)


def _joined(first: pa.Schema, second: pa.Schema) -> pa.Schema:
    for field in second:
        first = first.append(field)
    return first


def is_stream(out: Any) -> bool:
    """Whether bytes can be written to it one after the other."""
    return isinstance(out, (io.RawIOBase, io.BufferedIOBase))


def check_out(out: Any, keeps_columns: bool = False) -> None:
    """Refuse what cannot be written to, before anything is computed."""
    if is_stream(out):
        return
    if not isinstance(out, (str, Path)):
        if not is_sliced(out) or not hasattr(out, "__setitem__"):
            raise TypeError(
                f"out is a {type(out).__name__}; give a path that ends in {KINDS}, an array, or a binary "
                "stream to write to."
            )
        if isinstance(out, np.ndarray) and not out.flags.writeable:
            raise ValueError("out cannot be written to; give an array that can, such as a memory map with mode 'r+'.")
    elif Path(out).suffix not in (".parquet", ".csv", ".npy"):
        raise ValueError(f"out={str(out)!r} ends in {Path(out).suffix!r}; give a path that ends in {KINDS}.")
    elif Path(out).exists() and not Path(out).is_file():
        raise ValueError(f"out={str(out)!r} is no ordinary file; give another path.")
    elif not Path(out).parent.is_dir():
        raise FileNotFoundError(f"the folder {Path(out).parent} of out is not there; make it first.")
    if keeps_columns and (not isinstance(out, (str, Path)) or Path(out).suffix == ".npy"):
        raise ValueError("keep needs named columns; write to a .parquet or .csv file, or leave it out.")
