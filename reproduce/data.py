"""The papers' data sets: from a folder, or from OpenML, and never without a check.

The folder is `KERNELPURSUIT_DATA`, or `shared/data` beside the repository where that exists. A file must have the
SHA-256 that `datasets.toml` gives; what comes from OpenML must hold the same values, whatever their order and format
(`digest`). What is not to be had raises `DataMissing`, which names the file, the folder and the cure.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml

HERE = Path(__file__).parent
VARIABLE = "KERNELPURSUIT_DATA"
SPLITS = "_splits"  # what the splits of a data set are called, after its name


class DataMissing(RuntimeError):
    """A data set is not there, or is not what it should be."""


def folder() -> Path:
    """Where the files are looked for."""
    return Path(os.environ.get(VARIABLE) or HERE.parents[1] / "shared" / "data")


@cache
def known() -> dict[str, dict[str, Any]]:
    """What `datasets.toml` says of every data set."""
    return tomllib.loads((HERE / "datasets.toml").read_text())


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the targets of a data set.

    Parameters
    ----------
    name : str
        A data set of `datasets.toml`.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Floats, NaN where the data set has a gap; strings where it has strings.
    y : ndarray of shape (n_rows,)
        Floats; strings where the classes are strings.
    """
    table = _checked_table(name, folder() / _about(name)["file"])
    return table[:, :-1], table[:, -1]


def load_splits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows for training and for testing, one line a split, of a data set that comes with its splits."""
    about = _about(name + SPLITS)
    path = folder() / about["file"]
    if not path.exists():
        raise _missing(name, path, about)
    _check_file(name, path, about["sha256"])
    with np.load(path) as splits:
        train, test = splits["train"], splits["test"]
    expected = (about["splits"], about["train"]), (about["splits"], about["test"])
    if (train.shape, test.shape) != expected:
        raise DataMissing(f"{path} has splits of shape {train.shape} and {test.shape}, where {expected} are expected.")
    return train, test


def digest(table: np.ndarray) -> str:
    """SHA-256 of the values of a table to six digits, whatever the order of its rows."""
    as_text = np.vectorize(lambda value: value if isinstance(value, str) else f"{float(value):.6g}", otypes=[object])
    lines = sorted(",".join(row) for row in as_text(table))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _about(name: str) -> dict[str, Any]:
    if name not in known():
        raise DataMissing(f"No data set is called {name!r}; datasets.toml has {', '.join(sorted(known()))}.")
    return known()[name]


@cache
def _checked_table(name: str, path: Path) -> np.ndarray:
    """The values of a data set, the target last; read once a process, so nobody may write into it."""
    about = _about(name)
    if path.exists():
        _check_file(name, path, about["sha256"])
        table = _read(path)
    else:
        table = _fetched(name, about)
    expected = (about["rows"], about["features"] + 1)
    if table.shape != expected:
        raise DataMissing(f"{name} has {table.shape} rows and columns, where {expected} are expected.")
    table.flags.writeable = False
    return table


def _check_file(name: str, path: Path, sha256: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise DataMissing(
            f"{path} is not the file that {name} was measured on: its SHA-256 is {found[:12]}..., not "
            f"{sha256[:12]}...; replace it by the file that datasets.toml describes."
        )


def _read(path: Path) -> np.ndarray:
    """The values of a gzipped CSV with one line of names; numbers where all are, an empty cell is NaN."""
    with gzip.open(path, "rt", newline="") as file:
        lines = list(csv.reader(file))[1:]
    try:
        return np.array([[float(value or "nan") for value in line] for line in lines])
    except ValueError:
        return np.array(lines, dtype=object)


def _fetched(name: str, about: Mapping[str, Any]) -> np.ndarray:
    """The data set as OpenML has it, where it has it."""
    if "openml" not in about:
        raise _missing(name, folder() / about["file"], about)
    try:
        frame = fetch_openml(about["openml"], version=about.get("version", 1), as_frame=True, parser="auto").frame
    except (OSError, ValueError) as error:  # no network, or no such data set
        raise _missing(name, folder() / about["file"], about) from error
    codes = about.get("codes", {})
    columns = []
    for position, column in enumerate(frame.columns):
        values = frame[column].astype(object).to_numpy()
        coding = codes.get("target" if position == frame.shape[1] - 1 else str(column), {})
        columns.append([coding.get(value, value) for value in values])
    table = np.array(columns, dtype=object).T
    try:
        table = table.astype(float)
    except ValueError:
        table = np.where(table != table, "?", table)  # a gap among strings
    if digest(table) != about["digest"]:
        raise DataMissing(
            f"{name}: OpenML's {about['openml']!r} holds other values than {about['file']}, which the figures "
            f"are for; put that file into {folder()}, or into a folder that {VARIABLE} names."
        )
    return table


def _missing(name: str, path: Path, about: Mapping[str, Any]) -> DataMissing:
    also = f", and OpenML's {about['openml']!r} could not be fetched" if "openml" in about else ""
    return DataMissing(
        f"{name}: there is no {path.name} in {path.parent}{also}; put it there, or name the folder that has it in the "
        f"variable {VARIABLE}. docs/reproduction/data.md says what it is."
    )
