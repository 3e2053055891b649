"""Rows, targets and weights from the files that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelpursuit._validate import nearest
from kernelpursuit.cli.arrays import check_no_feature, ending, features_alone, is_array_file, open_arrays, open_npy
from kernelpursuit.cli.columns import Columns, split_names
from kernelpursuit.rows import RowSource, open_rows
from kernelpursuit.rows.files import COMPRESSED
from kernelpursuit.rows.opening import columns_of

# So many targets are looked at to tell numbers from classes.
LOOKED_AT = 20_000
BLOCK = 2**16


@dataclass(frozen=True)
class Training:
    """Rows with targets.

    place    the file
    source   the rows
    targets  the same without features, which is quicker to read
    name     of the target
    """

    place: str
    source: RowSource
    targets: RowSource
    name: str

    def first_targets(self) -> np.ndarray:
        """The first targets, shape (up to LOOKED_AT, n_targets)."""
        found, n_found = [], 0
        for block in self.targets.blocks(BLOCK):
            found.append(block.y)
            n_found += len(block)
            if n_found >= LOOKED_AT:
                break
        if not found:
            raise ValueError(f"{self.place} has no rows; give at least one.")
        return np.concatenate(found)[:LOOKED_AT]

    def n_rows(self) -> int:
        """The number of rows; a file that does not know is read for it."""
        known = self.source.n_rows
        return sum(len(block) for block in self.targets.blocks(BLOCK)) if known is None else known


def open_training(data: Path, columns: Columns) -> Training:
    """Rows with the targets that the user has named."""
    if is_array_file(data):
        return _of_arrays(data, columns.split())
    kinds = columns_of(data)
    assert kinds is not None, "tables have columns"
    if not kinds:
        raise ValueError(f"{data} is empty; give a file with a line of names, and rows.")
    columns = columns.split(kinds)
    if not columns.target:
        raise ValueError(f"--target is missing; name the column of {data} to predict: {_shown(list(kinds))}.")
    named = _named(data, list(kinds), columns)
    features = _features(data, kinds, named)
    y: Any = named.target[0] if len(named.target) == 1 else list(named.target)
    source = open_rows(data, y, named.weights, features=features)
    return Training(str(data), source, open_rows(data, y, features=[]), ", ".join(named.target))


def _of_arrays(data: Path, columns: Columns) -> Training:
    if len(columns.target) > 1:
        raise ValueError(f"{data} has no column names; give one target.")
    target = columns.one_target
    is_one_array = ending(data) in (".npy", ".zarr")
    if is_one_array and target is None:
        raise ValueError(f"--target is missing; give the position of a column of {data}, such as -1 for the last one.")
    source = (open_npy if is_one_array else open_arrays)(data, columns)
    name = f"column {target}" if is_one_array else target or "y"
    return Training(str(data), source, source, name)


def open_features(data: Path, names: Sequence[str] | None, n_features: int, drop: Sequence[str] = ()) -> Any:
    """Rows to predict: a path where the library finds the columns by their names, else what is in it."""
    if is_array_file(data):
        return features_alone(data, Columns(drop=split_names(drop)), n_features)
    if not drop:
        return data
    if names is not None:
        raise ValueError("--drop is for models without names of features; this one takes its columns by their names.")
    found = list(columns_of(data) or {})
    left_out = {_resolved(data, one, found) for one in split_names(drop, found)}
    return open_rows(data, features=[name for name in found if name not in left_out])


def about_n_rows(data: Path) -> int | None:
    """About how many rows a file has, where its metadata or the length of its first lines say so."""
    if is_array_file(data):
        return None
    if ending(data) in (".csv", ".tsv") and data.is_file():
        with open(data, "rb") as file:
            head = file.read(2**20)
        n_lines = 0 if data.suffix.lower() in COMPRESSED else head.count(b"\n")
        return int(data.stat().st_size / len(head) * n_lines) if n_lines else None
    return open_rows(data, features=[]).n_rows


def names_of(data: Path) -> list[str]:
    """The names of a file's columns; none where it has none."""
    return [] if is_array_file(data) else list(columns_of(data) or {})


def column_of(data: Path, name: str) -> np.ndarray:
    """One column of a table, such as the groups of rows."""
    kinds = None if is_array_file(data) else columns_of(data)
    if kinds is None:
        raise ValueError(f"{data} has no column names, so that {name!r} names none; give a table.")
    found = open_rows(data, _resolved(data, name, list(kinds)), features=[])
    return np.concatenate([block.y[:, 0] for block in found.blocks(BLOCK)])


def targets_of(source: RowSource) -> np.ndarray:
    """The targets of all rows."""
    y = np.concatenate([block.y for block in source.blocks(BLOCK)])
    return y[:, 0] if y.shape[1] == 1 else y


def in_memory(source: RowSource) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Rows, targets and weights of a source in memory."""
    import scipy.sparse as sp

    blocks = list(source.blocks(BLOCK))
    if not blocks:
        raise ValueError("the data have no rows; give at least one.")
    parts = [block.X for block in blocks]
    X = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    y = np.concatenate([block.y for block in blocks])
    weights = None if blocks[0].weights is None else np.concatenate([block.sample_weights for block in blocks])
    return X, y[:, 0] if y.shape[1] == 1 else y, weights


def _named(data: Path, names: Sequence[str], columns: Columns) -> Columns:
    """The columns by their names."""

    def resolved(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(_resolved(data, one, names) for one in given)

    return replace(
        columns,
        target=resolved(columns.target),
        features=resolved(columns.features),
        drop=resolved(columns.drop),
        weights=None if columns.weights is None else _resolved(data, columns.weights, names),
    )


def _resolved(data: Path, word: str, names: Sequence[str]) -> str:
    """The name of a column that is given by its name, or by its position."""
    if word in names:
        return word
    digits = word.removeprefix("-")
    if digits.isdecimal():
        if -len(names) <= int(word) < len(names):
            return names[int(word)]
        raise ValueError(f"{data} has {len(names)} columns; give a name, or a position from 0 to {len(names) - 1}.")
    by_lower = {one.lower(): one for one in names}
    near = nearest(word, by_lower)
    raise ValueError(
        f"{data} has no column {word!r}; "
        + (f"did you mean {by_lower[near]!r}?" if near else f"it has {_shown(names)}.")
    )


def _features(data: Path, kinds: dict[str, str], named: Columns) -> list[str]:
    """The columns that are features, all of which have to be numbers."""
    check_no_feature({"--target": named.target, "--weights": (named.weights,)}, named.features)
    others = {*named.target, *named.drop, named.weights}
    chosen = [name for name in named.features or kinds if name not in others]
    if not chosen:
        raise ValueError(f"{data} has no column left that is a feature; give one beside the target.")
    wrong = {
        name: kinds[name] for name in chosen if kinds[name] not in ("numbers", "true or false", "nothing but nulls")
    }
    if wrong:
        first = next(iter(wrong))
        raise ValueError(
            f"column {first!r} of {data} holds {wrong[first]}; encode it as numbers first, or leave it out by "
            f"--drop {','.join(wrong)}."
        )
    return chosen


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (" and others" if len(names) > 8 else "")
