"""Rows from arrays that are sliced, wherever they lie: memory maps, `.npy` files, Zarr arrays, HDF5 datasets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.rows.source import RowBlock, RowSource

# What arrays and columns in memory have, and stored arrays do not.
IN_MEMORY = ("__array_interface__", "__array_namespace__", "__dlpack__", "to_numpy", "iloc")


def is_sliced(data: Any) -> bool:
    """Whether data are an array of some kind, of which slices can be taken."""
    return isinstance(getattr(data, "shape", None), tuple) and hasattr(data, "__getitem__") and hasattr(data, "dtype")


def is_stored(data: Any) -> bool:
    """Whether data are an array that lies elsewhere than in memory and is no NumPy array: of Zarr, HDF5 and others."""
    return is_sliced(data) and not sp.issparse(data) and not any(hasattr(data, name) for name in IN_MEMORY)


class StoredArray:
    """An array that is sliced, and pickled by where it lies and not by what it holds.

    What is neither a memory map nor an HDF5 dataset is pickled as it pickles itself.
    """

    def __init__(self, array: Any):
        self.array = array

    def __getstate__(self) -> Any:
        """Where the array is, or itself."""
        if isinstance(self.array, np.ndarray):
            return MappedFile.of(self.array) or self.array
        if type(self.array).__module__.startswith("h5py"):
            return HdfDataset(self.array.file.filename, self.array.name)
        return self.array

    def __setstate__(self, state: Any) -> None:
        """Open it again."""
        self.array = state.open() if isinstance(state, (MappedFile, HdfDataset)) else state


@dataclass(frozen=True)
class MappedFile:
    """What part of a file a memory map shows, with any strides."""

    path: str
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, array: np.ndarray) -> MappedFile | None:
        """Find the part of a map or of a view of it, None where its values are in memory."""
        whole: Any = array
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        # A map that may be written to without the file knows more than that.
        if not isinstance(whole, np.memmap) or whole.filename is None or whole.base is None or whole.mode == "c":
            return None
        # Views have the offset of the whole map, so theirs is found by where they begin in memory.
        offset = whole.offset + array.ctypes.data - whole.ctypes.data
        return cls(str(whole.filename), offset, array.dtype, shape=array.shape, strides=array.strides)

    def open(self) -> np.ndarray:
        """Map the file again, to be read."""
        held = np.memmap(self.path, dtype=np.uint8, mode="r")
        return np.ndarray(self.shape, self.dtype, buffer=held, offset=self.offset, strides=self.strides)


@dataclass(frozen=True)
class HdfDataset:
    """Name of a dataset in an HDF5 file."""

    path: str
    name: str

    def open(self) -> Any:
        """Open the file again, to be read."""
        import h5py

        return h5py.File(self.path, "r")[self.name]


def open_stored(path: Path) -> Any:
    """The array in a `.npy` file, as a memory map, or in a Zarr folder."""
    if path.suffix == ".npy":
        try:
            return np.load(path, mmap_mode="r")
        except FileNotFoundError:
            raise FileNotFoundError(f"{path} is not there; give the path of a file or a folder.") from None
        except (ValueError, OSError, EOFError) as error:
            raise unreadable(path, error) from error
    try:
        import zarr
    except ImportError:
        raise ImportError(f"reading {path} needs zarr: pip install zarr.") from None
    found = zarr.open(str(path), mode="r")
    if not is_sliced(found):
        raise ValueError(f"{path} is a group of Zarr arrays; give one of them, as in zarr.open({str(path)!r})['X'].")
    return found


def unreadable(path: Path, error: Exception) -> ValueError:
    """What NumPy says of a file of arrays, in one sentence."""
    words = " ".join(str(error).split()).rstrip(".")
    # Whatever is no array may be a pickle to NumPy, which advises to load that.
    words = "it holds no array of numbers" if "pickle" in words else words
    return ValueError(f"{path} cannot be read: {words}.")


class SlicedSource(RowSource):
    """Rows of one array, as features or, with `as_targets`, as targets.

    Parameters
    ----------
    array : array-like
        Anything with a shape of two entries, or of one for targets, and slices: a NumPy array, a memory map, a CSR
        matrix, a Zarr array, an h5py dataset.
    place : str
        What errors call it.
    as_targets : bool
        Whether the columns are targets, which may hold labels, and there are no features.
    """

    n_rows: int

    def __init__(self, array: Any, place: str = "X", *, as_targets: bool = False):
        shape = array.shape
        if len(shape) != 2 and not (as_targets and len(shape) == 1):
            raise ValueError(f"{place} has the shape {tuple(shape)}; give a table of rows and columns.")
        self._held, self._place, self._as_targets = StoredArray(array), place, as_targets
        self.n_rows, n_columns = int(shape[0]), int(shape[1]) if len(shape) == 2 else 1
        self.n_features, self.n_targets = (0, n_columns) if as_targets else (n_columns, 0)
        if self.n_rows == 0:
            raise ValueError(f"{place} has no rows; give at least one.")
        if not as_targets and np.dtype(array.dtype).kind not in "biuf":
            raise ValueError(f"{place} holds values of the type {array.dtype}; give numbers.")

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Slices of the array; where it is stored in chunks, each chunk is read once."""
        array = self._held.array
        chunk = (getattr(array, "chunks", None) or (1,))[0]
        if chunk <= 1:
            for first in range(start, self.n_rows, size):
                yield self._block(first, array[first : first + size])
            return
        at_a_time = -(-size // chunk) * chunk
        bounds = range(start - start % chunk, self.n_rows, at_a_time)
        pieces = (array[max(first, start) : first + at_a_time] for first in bounds)
        for piece in rechunked(([piece] for piece in pieces), size):
            yield self._block(start, piece[0])
            start += len(piece[0])

    def _block(self, first: int, values: Matrix) -> RowBlock:
        if self._as_targets:
            y = np.asarray(values)
            y = y.astype(str).astype(object) if y.dtype.kind == "S" else y
            return RowBlock(first, np.empty((len(y), 0)), y[:, None] if y.ndim == 1 else y)
        X = as_rows(values, self._place)
        return RowBlock(first, X, np.empty((X.shape[0], 0)))

    def where(self, number: int) -> str:
        """The row in its array."""
        return f"row {number:,} of {self._place}"


def as_rows(values: Any, place: str) -> Matrix:
    """Features as floats, of which float32 stays float32, dense or CSR."""
    X = sp.csr_array(values) if sp.issparse(values) else np.asarray(values)
    if X.dtype in (np.float32, np.float64):
        return X
    if X.dtype.kind not in "biufO":
        raise ValueError(f"{place} holds values of the type {X.dtype}; give numbers.")
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{place} holds something else than numbers; give numbers.") from None


def rechunked(pieces: Iterator[list[Any]], size: int) -> Iterator[list[Any]]:
    """Join and cut lists of arrays with as many rows each so that all have exactly `size` rows, but the last.

    Pieces of this size are passed on as they are.
    """
    held: list[list[Any]] = []
    n_held = 0
    for piece in pieces:
        n_rows = piece[0].shape[0]
        first = 0
        while n_held + n_rows - first >= size:
            last = first + size - n_held
            held.append(piece if (first, last) == (0, n_rows) else [one[first:last] for one in piece])
            yield _stacked(held)
            held, n_held, first = [], 0, last
        if first < n_rows:
            held.append([one[first:] for one in piece])
            n_held += n_rows - first
    if held:
        yield _stacked(held)


def _stacked(held: list[list[Any]]) -> list[Any]:
    if len(held) == 1:
        return held[0]
    return [sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts) for parts in zip(*held)]
