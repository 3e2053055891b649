"""Cells of tables: what was published, what we measured, and the verdict.

A standard error is the deviation over the root of the repetitions. Where the paper prints no deviation, ours serves
for both; where one run counted something out of a total, the error is binomial. A printed number stands for all those
that are rounded to it, so half a unit of the last digit is no difference.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from reproduce.experiment import Measured

PUBLISHED = Path(__file__).parent / "published"
REPRODUCED, BETTER, NOT_REPRODUCED = "reproduced", "better", "not reproduced"
# A value is neither better nor worse than another, only near it or not.
JUDGED = ("error", "size", "value")
# Words of a row or column that say what is measured; the others say of which method.
MEASURES = {"error", "errors", "n", "k", "#sv", "#s.v.", "Tr-RMSE", "Ts-RMSE", "RMSE"}


@dataclass(frozen=True)
class Published:
    """A number as a paper prints it."""

    table: str
    row: str
    column: str
    kind: str
    text: str
    deviation: float | None
    repetitions: int
    total: int | None
    unit: str
    half_digit: float

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def method(self) -> frozenset[str]:
        """What names the method in its row and column; the size and the errors of one method share it."""
        return frozenset(f"{self.row} {self.column}".split()) - MEASURES


@dataclass(frozen=True)
class Cell:
    """A published number beside ours."""

    paper: str
    table: str
    row: str
    column: str
    published: str
    published_se: float
    ours: float
    ours_se: float
    repetitions: int
    verdict: str


@cache
def published() -> dict[str, tuple[Published, ...]]:
    """All published numbers by table."""
    tables: dict[str, list[dict[str, str]]] = defaultdict(list)
    for path in sorted(PUBLISHED.glob("*.csv")):
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                tables[line["table"]].append(line)
    return {table: tuple(_published(line, lines) for line in lines) for table, lines in tables.items()}


def _published(line: Mapping[str, str], table: Sequence[Mapping[str, str]]) -> Published:
    # Some papers drop trailing zeros: the finest number of the same kind in a table tells how all of them were rounded.
    digits = max(len(other["published"].partition(".")[2]) for other in table if other["kind"] == line["kind"])
    return Published(
        table=line["table"],
        row=line["row"],
        column=line["column"],
        kind=line["kind"],
        text=line["published"],
        deviation=float(line["deviation"]) if line["deviation"] else None,
        repetitions=int(line["repetitions"]),
        total=int(line["total"]) if line["total"] else None,
        unit=line["unit"],
        half_digit=0.5 * 10.0**-digits,
    )


def values(table: str, run: str, measured: Iterable[Measured]) -> dict[tuple[str, str], list[float]]:
    """What a run measured for the cells of a table; a row may name another table of the same run, "table:row"."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in measured:
        for (row, column), value in one.cells.items():
            of, colon, rest = row.partition(":")
            own, row = (of, rest) if colon and of in published() else (run, row)
            if own == table:
                found[row, column].append(value)
    return found


def judge(table: str, found: Mapping[tuple[str, str], Sequence[float]], errors: Iterable[Cell] = ()) -> list[Cell]:
    """The cells of a table that were measured, each with its verdict.

    `errors` are the cells of the table that has the errors, where this one has sizes only. A smaller size is better
    only where the errors of the same row and method are no worse.
    """
    expected = [cell for cell in published().get(table, ()) if cell.kind in JUDGED and (cell.row, cell.column) in found]
    cells = {cell: _judged(cell, found[cell.row, cell.column]) for cell in expected}
    known = [*errors, *(cells[cell] for cell in expected if cell.kind == "error")]
    failed = {_method_of(cell) for cell in known if cell.verdict == NOT_REPRODUCED}
    return [
        replace(cells[cell], verdict=NOT_REPRODUCED)
        if cell.kind == "size" and cells[cell].verdict == BETTER and cell.method in failed
        else cells[cell]
        for cell in expected
    ]


def _method_of(cell: Cell) -> frozenset[str]:
    return frozenset(f"{cell.row} {cell.column}".split()) - MEASURES


def _judged(cell: Published, measured: Sequence[float]) -> Cell:
    ours = float(np.mean(measured))
    if cell.total is not None:
        published_se, ours_se = (_binomial(value, cell.total, cell.unit) for value in (cell.value, ours))
    else:
        spread = float(np.std(measured, ddof=1)) if len(measured) > 1 else 0.0
        theirs = spread if cell.deviation is None else cell.deviation
        published_se, ours_se = theirs / np.sqrt(cell.repetitions), spread / np.sqrt(len(measured))
    difference, allowed = ours - cell.value, 2 * np.hypot(published_se, ours_se) + cell.half_digit
    if abs(difference) <= allowed:
        verdict = REPRODUCED
    else:
        verdict = BETTER if difference < 0 and cell.kind != "value" else NOT_REPRODUCED
    return Cell(
        cell.table.split("-")[0], cell.table, cell.row, cell.column, cell.text,
        float(published_se), ours, float(ours_se), len(measured), verdict,
    )  # fmt: skip


def _binomial(value: float, total: int, unit: str) -> float:
    """The standard error of a count, or of a share of the total in per cent."""
    scale = total / 100 if unit == "%" else 1.0
    share = min(max(value * scale / total, 0.0), 1.0)
    return float(np.sqrt(total * share * (1 - share)) / scale)
