"""Rows from files without column names: NumPy arrays and svmlight."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.cli.columns import Columns
from kernelpursuit.rows import RowBlock, RowSource, open_rows
from kernelpursuit.rows.arrays import as_rows, open_stored, unreadable
from kernelpursuit.rows.files import COMPRESSED

SVMLIGHT = (".svm", ".svmlight", ".libsvm")
# What arrays of features and of targets are called in .npz files, where the user does not say.
FEATURES, TARGET = "X", "y"


def ending(path: Path) -> str:
    """The end of a file's name that says what it holds, without that of its compression."""
    return Path(path.stem if path.suffix.lower() in COMPRESSED else path.name).suffix.lower()


def is_array_file(path: Path) -> bool:
    """Whether a file holds rows without names of columns."""
    return ending(path) in (".npy", ".npz", ".zarr", *SVMLIGHT)


class SomeColumns(RowSource):
    """Rows of one array, of which some columns are features, one may be the target and one the weight."""

    n_rows: int

    def __init__(self, array: Any, place: str, features: Sequence[int], target: int | None, weight: int | None = None):
        self._array, self._place, self._features = array, place, list(features)
        self._target, self._weight = target, weight
        self.n_rows, self.n_features = int(array.shape[0]), len(self._features)
        self.n_targets = 0 if target is None else 1

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Slices of the array, taken apart."""
        for first in range(start, self.n_rows, size):
            rows = np.asarray(self._array[first : first + size])
            y = np.empty((len(rows), 0)) if self._target is None else rows[:, [self._target]]
            weights = None if self._weight is None else rows[:, self._weight].astype(np.float64)
            yield RowBlock(first, as_rows(rows[:, self._features], self._place), y, weights=weights)

    def where(self, number: int) -> str:
        """The row in its file."""
        return f"row {number:,} of {self._place}"


def open_npy(path: Path, columns: Columns) -> RowSource:
    """Rows of one array in a file; columns are named by their positions, counted from 0, or from -1 at the end."""
    array = open_stored(path)
    if len(array.shape) != 2 or not array.shape[0]:
        raise ValueError(f"{path} has the shape {tuple(array.shape)}; give a table of rows and columns.")
    if np.dtype(array.dtype).kind not in "biuf":
        raise ValueError(f"{path} holds values of the type {array.dtype}; give numbers.")
    n_columns = int(array.shape[1])
    target, weight = (
        None if one is None else position(one, n_columns, path) for one in (columns.one_target, columns.weights)
    )
    kept = columns_kept(n_columns, path, columns)
    check_no_feature({"--target": (target,), "--weights": (weight,)}, kept if columns.features else ())
    kept = [j for j in kept if j not in (target, weight)]
    if not kept:
        raise ValueError(f"{path} has no column left that is a feature; give one beside the target.")
    return SomeColumns(array, str(path), kept, target=target, weight=weight)


def open_arrays(path: Path, columns: Columns) -> RowSource:
    """Rows of a .npz file, or of an svmlight file, which is read into memory as a sparse matrix."""
    target, weights = columns.one_target, columns.weights
    if ending(path) == ".npz":
        X, y, weight = _of_npz(path, target or TARGET, weights)
    elif target is not None or weights is not None:
        raise ValueError(f"the targets of {path} are the first number of every line; leave --target and --weights out.")
    else:
        X, y = read_svmlight(path)
        weight = None
    return open_rows(_kept(X, path, columns), y, weight)


def features_alone(path: Path, columns: Columns, n_features: int) -> Any:
    """Features of rows to predict."""
    if ending(path) == ".npz":
        return _kept(_table_of(path, _read_npz(path)), path, columns)
    if ending(path) in SVMLIGHT:
        return _kept(read_svmlight(path, n_features)[0], path, columns)
    return open_npy(path, columns)


def _kept(X: Matrix, path: Path, columns: Columns) -> Matrix:
    kept = columns_kept(X.shape[1], path, columns)
    return X if kept == list(range(X.shape[1])) else X[:, kept]


def columns_kept(n_columns: int, path: Path, columns: Columns) -> list[int]:
    """Positions of the columns that are features."""
    dropped = {position(one, n_columns, path) for one in columns.drop}
    chosen = [position(one, n_columns, path) for one in columns.features] or range(n_columns)
    return [j for j in chosen if j not in dropped]


def check_no_feature(others: Mapping[str, Collection[object]], features: Collection[object]) -> None:
    """Refuse features that are something else as well: what is predicted would predict itself."""
    for option, columns in others.items():
        for column in features:
            if column in columns:
                raise ValueError(f"--features has {column!r}, which is that of {option}; leave it out of the features.")


def position(word: str, n_columns: int, path: Path) -> int:
    """A column by its position, counted from 0, or from -1 at the end."""
    last = n_columns - 1
    try:
        found = int(word)
    except ValueError:
        raise ValueError(f"{path} has no column names; give a position, from 0 to {last}, for {word!r}.") from None
    if not -n_columns <= found < n_columns:
        raise ValueError(f"{path} has {n_columns} columns; give a position from 0 to {last} for {word}.")
    return found % n_columns


def read_svmlight(path: Path, n_features: int | None = None) -> tuple[Matrix, np.ndarray]:
    """Rows and targets of an svmlight file."""
    from sklearn.datasets import load_svmlight_file

    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there; give the path of a file or a folder.")
    try:
        X, y = load_svmlight_file(str(path), n_features=n_features)
    except Exception as error:
        raise unreadable(path, error) from error
    if not X.shape[0]:
        raise ValueError(f"{path} has no rows; give at least one.")
    return X, y


def _of_npz(path: Path, target: str, weights: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    arrays = _read_npz(path)
    for name in (target, *([] if weights is None else [weights])):
        if name not in arrays:
            raise ValueError(f"{path} has no array {name!r}; it has {', '.join(map(repr, arrays)) or 'none'}.")
    X = _table_of(path, {name: one for name, one in arrays.items() if name not in (target, weights)})
    return X, arrays[target], None if weights is None else arrays[weights]


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there; give the path of a file or a folder.")
    try:
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (ValueError, OSError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise unreadable(path, error) from error


def _table_of(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    tables = [name for name, one in arrays.items() if one.ndim == 2]
    name = FEATURES if FEATURES in tables else tables[0] if len(tables) == 1 else None
    if name is None:
        found = ", ".join(f"{name!r} of shape {one.shape}" for name, one in arrays.items()) or "none"
        raise ValueError(f"{path} has the arrays {found}; give one of rows and columns, named {FEATURES!r}.")
    return arrays[name]
