"""Which columns of a table are features, targets and weights, and how they become arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelpursuit._validate import nearest

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = "encode it as numbers first, with sklearn.preprocessing.OneHotEncoder or OrdinalEncoder"
DATES = "convert it to numbers first, such as the days since a first day"
OTHERS = "give each number a column of its own"
BYTES = "save the file in UTF-8, if this is text"
# What separates columns in files that are written in other ways than they are read.
SEPARATORS = (";", "\t", "|", ",")
LEAVE_OUT = "or leave it out by open_rows(..., features=[...])"
# Kinds of columns as sentences name them, and what to do about those that are no features.
NUMBERS, FLAGS, NOTHING = "numbers", "true or false", "nothing but nulls"
CURES = {"text": TEXT, "categories": TEXT, "dates or times": DATES, "bytes": BYTES, "lists or other objects": OTHERS}


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are features, targets and sample weights."""

    features: tuple[str, ...]
    targets: tuple[str, ...] = ()
    weight: str | None = None

    @property
    def all(self) -> list[str]:
        """Every name once."""
        return list(dict.fromkeys([*self.features, *self.targets, *([] if self.weight is None else [self.weight])]))

    @classmethod
    def chosen(
        cls,
        place: str,
        names: Sequence[str],
        *,
        y: str | Sequence[str] | None = None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        index: Collection[str] = (),
    ) -> Columns:
        """Check names against those of a table; features are all columns that are nothing else, if not given."""
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise ValueError(f"{place} has {names.count(twice[0])} columns named {twice[0]!r}; give each its own name.")
        targets = () if y is None else (y,) if isinstance(y, str) else tuple(y)
        features = [features] if isinstance(features, str) else features
        others = {*targets, weight}
        if features is None:
            features = [name for name in names if name not in others and name not in index]
            if "" in features:
                raise ValueError(
                    f"{place} has a column without a name, as pandas writes its index; write it with index=False, "
                    f"{LEAVE_OUT}."
                )
        chosen = cls(tuple(features), targets, weight)
        for name in chosen.all:
            if name not in names:
                raise ValueError(f"{place} has no column {name!r}; {_instead(name, names)}")
        both = [name for name in chosen.features if name in others]
        if both:
            raise ValueError(f"features names {both[0]!r}, which is the target or the weight; leave it out there.")
        return chosen


def _instead(name: str, names: Sequence[str]) -> str:
    """What the caller may have meant."""
    if len(names) == 1 and (mark := next((one for one in SEPARATORS if one in names[0]), None)) is not None:
        return (
            f"it has one, {names[0]!r}, which looks separated by {mark!r}: save it with commas as .csv or with tabs as "
            f".tsv, or give pandas.read_csv(..., sep={mark!r})."
        )
    by_lower = {one.lower(): one for one in names}
    near = nearest(name, by_lower)
    if near:
        return f"did you mean {by_lower[near]!r}?"
    shown = ", ".join(map(repr, list(names)[:8]))
    return f"it has {shown}{' and others' if len(names) > 8 else ''}." if names else "it has none."


def kind_of(kind: pa.DataType) -> str:
    """What a column of this type holds, in a word that a sentence can use."""
    from pyarrow import types

    if types.is_dictionary(kind):
        inner = kind_of(kind.value_type)
        return "categories" if inner == "text" else inner
    if types.is_boolean(kind):
        return FLAGS
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NUMBERS
    if types.is_null(kind):
        return NOTHING
    if types.is_string(kind) or types.is_large_string(kind) or "string" in str(kind).partition("<")[0]:
        return "text"
    if types.is_binary(kind) or types.is_large_binary(kind):
        return "bytes"
    return "dates or times" if types.is_temporal(kind) else "lists or other objects"


def check_feature(name: str, kind: pa.DataType, place: str) -> None:
    """Refuse a column of features that holds no numbers."""
    cure = CURES.get(kind_of(kind))
    if cure is not None:
        raise ValueError(f"column {name!r} of {place} holds {kind_of(kind)}; {cure}, {LEAVE_OUT}.")


def check_target(name: str, kind: pa.DataType, place: str) -> None:
    """Refuse a target that is neither a number nor a label."""
    found = kind_of(kind)
    if found in CURES and CURES[found] is not TEXT:
        raise ValueError(f"the target {name!r} of {place} holds {found}; {CURES[found]}.")


def check_weight(name: str, kind: pa.DataType, place: str) -> None:
    """Refuse weights that are no numbers."""
    found = kind_of(kind)
    if found in CURES:
        raise ValueError(f"the sample weights {name!r} of {place} hold {found}; give numbers.")


def as_numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Values of a column as numbers, NaN for nulls."""
    return _plain(column).to_numpy()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a type that NumPy takes for numbers."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return column.cast(pa.float64())
    return column


def matrix(table: pa.Table, names: Sequence[str], dtype: Any) -> np.ndarray:
    """Columns of numbers side by side, row by row in memory."""
    import pyarrow as pa

    values = np.empty((table.num_rows, len(names)), dtype=dtype)
    plain = pa.Table.from_arrays([_plain(table.column(name)) for name in names], names=list(names))
    first = 0
    # A batch at a time, as it was read: columns are not joined first, and few rows stay in the cache.
    for batch in plain.to_batches():
        rows = values[first : first + batch.num_rows]
        for j, column in enumerate(batch.columns):
            rows[:, j] = column.to_numpy(zero_copy_only=False)
        first += batch.num_rows
    return values


def targets_of(table: pa.Table, names: Sequence[str], declared: Sequence[pa.DataType]) -> np.ndarray:
    """Targets of shape (n_rows, n_targets): numbers, or objects where one of them is text.

    `declared` are the types that the source has for them: a CSV file may hold other numbers further down.
    """
    if not names:
        return np.empty((table.num_rows, 0))
    values = [_target(table.column(name), kind) for name, kind in zip(names, declared)]
    if any(one.dtype == object for one in values):
        values = [one.astype(object) for one in values]
    return np.column_stack(values)


def _target(column: pa.ChunkedArray, declared: pa.DataType) -> np.ndarray:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind_of(column.type) == "text":
        return column.to_numpy().astype(object)
    if pa.types.is_boolean(column.type) and not column.null_count:
        return column.to_numpy()
    values = as_numbers(column)
    if values.dtype.kind == "f" and pa.types.is_integer(declared) and (values == np.trunc(values)).all():
        return values.astype(np.int64)
    return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
