"""Rows from tables with named columns, in files or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernelpursuit.rows import columns as kinds
from kernelpursuit.rows.columns import Columns, kind_of, matrix, targets_of
from kernelpursuit.rows.parts import FilePart, Part
from kernelpursuit.rows.source import RowBlock, RowSource

if TYPE_CHECKING:
    import pyarrow as pa


class TableSource(RowSource):
    """Rows of a table in one or more parts, of which only the columns that are needed are read.

    Parameters
    ----------
    parts : sequence of Part
        Files, tables or streams, one after the other.
    y, sample_weight, features
        Names of columns, as for `open_rows`.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        y: str | Sequence[str] | None = None,
        sample_weight: str | None = None,
        features: Sequence[str] | None = None,
    ):
        # A part without columns, as an empty file, has no rows to say anything about.
        self._parts = [part for part in parts if part.schema.names or part.n_rows != 0] or list(parts[:1])
        first = self._parts[0]
        self._columns = Columns.chosen(
            first.place, first.schema.names, y=y, weight=sample_weight, features=features, index=first.index
        )
        self._check_types()
        counts = [part.n_rows for part in self._parts]
        self.n_rows = None if None in counts else sum(n for n in counts if n is not None)
        self.feature_names = list(self._columns.features)
        self.n_features, self.n_targets = len(self._columns.features), len(self._columns.targets)
        if self.n_rows == 0:
            others = f" nor has any of the {len(parts) - 1} others" if len(parts) > 1 else ""
            raise ValueError(f"{first.place} has no rows{others}; give at least one.")

    def _check_types(self) -> None:
        """Refuse columns that a model cannot use, and parts that differ in what a column holds."""
        import pyarrow as pa

        chosen, first = self._columns, self._parts[0]
        known: dict[str, tuple[str, str]] = {}
        self._declared = {name: first.schema.field(name).type for name in chosen.targets}
        is_float32 = bool(chosen.features)
        for part in self._parts:
            for name in chosen.all:
                if name not in part.schema.names:
                    raise ValueError(
                        f"{part.place} has no column {name!r}, which {first.place} has; give all files the same ones."
                    )
                field = part.schema.field(name)
                found = kind_of(field.type)
                if found == kinds.NOTHING:
                    continue
                if name in chosen.targets and name not in known:
                    self._declared[name] = field.type
                before, place = known.setdefault(name, (found, part.place))
                if found != before:
                    raise ValueError(
                        f"column {name!r} of {part.place} holds {found}, but that of {place} holds {before}; "
                        "give all files the same type."
                    )
                check = kinds.check_feature if name in chosen.features else kinds.check_target
                (kinds.check_weight if name == chosen.weight else check)(name, field.type, part.place)
            is_float32 &= all(part.schema.field(name).type == pa.float32() for name in chosen.features)
        self._dtype = np.float32 if is_float32 else np.float64

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names of columns that one of the parts does not have."""
        for part in self._parts:
            Columns.chosen(part.place, part.schema.names, features=names)

    def loses(self, path: Path, kept: Sequence[str]) -> list[str]:
        """Columns that would be lost if a file with these columns took the place of one of the parts."""
        for part in self._parts:
            if isinstance(part, FilePart) and path.exists() and path.samefile(part.path):
                if len(self._parts) > 1:
                    return list(part.schema.names)
                return [name for name in part.schema.names if name not in kept]
        return []

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Blocks made of record batches, which are read as they are needed."""
        for first, table in self.tables(size, start):
            yield self.block(first, table)

    def tables(self, size: int, start: int = 0, others: Sequence[str] = ()) -> Iterator[tuple[int, pa.Table]]:
        """Yield tables of exactly `size` rows but for the last, each with the number of its first row.

        They hold the columns of features, targets and weights, and `others`.
        """
        names, held, n_held = list(dict.fromkeys([*self._columns.all, *others])), [], 0
        for batch in self._batches(names, size, start):
            held.append(batch)
            n_held += batch.num_rows
            if n_held < size:
                continue
            table = _joined(held)
            for first in range(0, n_held - size + 1, size):
                yield start, table.slice(first, size)
                start += size
            rest = table.slice(n_held - n_held % size)
            held, n_held = (rest.to_batches(), rest.num_rows) if rest.num_rows else ([], 0)
        if n_held:
            yield start, _joined(held)

    def _batches(self, names: list[str], size: int, start: int) -> Iterator[pa.RecordBatch]:
        for part in self._parts:
            if part.n_rows is not None and start >= part.n_rows:
                start -= part.n_rows
            elif part.n_rows is not None or part is self._parts[-1]:
                yield from part.batches(names, size, start)
                start = 0
            else:
                # How many of its rows are before `start` is known when they were read.
                for batch in part.batches(names, size):
                    skipped = min(start, batch.num_rows)
                    start -= skipped
                    if skipped < batch.num_rows:
                        yield batch.slice(skipped)

    def block(self, first: int, table: pa.Table) -> RowBlock:
        """A table of `tables` as arrays."""
        chosen = self._columns
        weights = None if chosen.weight is None else matrix(table, [chosen.weight], np.float64)[:, 0]
        y = targets_of(table, chosen.targets, list(self._declared.values()))
        return RowBlock(first, matrix(table, chosen.features, self._dtype), y, weights=weights)

    def where(self, number: int) -> str:
        """The row with its number in its file; files that do not know how many rows they have are read for it."""
        if len(self._parts) == 1:
            return f"row {number:,} of {self._parts[0].place}"
        left = number
        for part in self._parts:
            n_rows = sum(len(batch) for batch in part.batches([], 2**16)) if part.n_rows is None else part.n_rows
            if left < n_rows:
                return f"row {number:,} (row {left:,} of {part.place})"
            left -= n_rows
        return f"row {number:,}"


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Batches as one table; those of other files may have other types of numbers, of which the wider one is taken."""
    import pyarrow as pa

    if all(batch.schema.equals(batches[0].schema) for batch in batches):
        return pa.Table.from_batches(batches)
    return pa.concat_tables([pa.Table.from_batches([one]) for one in batches], promote_options="permissive")
