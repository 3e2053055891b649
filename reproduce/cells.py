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
# Our own systems, and what the papers compare them with: support vector machines, the lasso, k-means networks.
OWN, COMPARATOR = "own", "comparator"
# What differs by more than this fraction of the printed number is another quantity, and not a better one.
FAR = 0.5
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
    system: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)


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
    tables: dict[str, list[Published]] = defaultdict(list)
    for path in sorted(PUBLISHED.glob("*.csv")):
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                tables[line["table"]].append(_published(line))
    return {table: tuple(numbers) for table, numbers in tables.items()}


def _published(line: Mapping[str, str]) -> Published:
    # Where a paper drops trailing zeros, the file says how many decimals there were.
    digits = int(line["decimals"] or len(line["published"].partition(".")[2]))
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
        system=line["system"],
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


def judge(found: Mapping[str, Mapping[tuple[str, str], Sequence[float]]]) -> list[Cell]:
    """The cells of the tables of one run, each with its verdict, from what was measured of each table."""
    cells = [
        _measured(number, measured[number.row, number.column])
        for table, measured in found.items()
        for number in published().get(table, ())
        if number.kind in JUDGED and (number.row, number.column) in measured
    ]
    return with_verdicts(cells)


def with_verdicts(cells: Iterable[Cell]) -> list[Cell]:
    """The cells of one run with the verdicts that follow from their numbers.

    A smaller number is better only if it is the same model's: by no more than `FAR`, and where all other numbers of the
    same row and method are reproduced or better too.
    """
    alone = [(cell, _alone(cell)) for cell in cells]
    missed = {_method(cell) for cell, verdict in alone if verdict == NOT_REPRODUCED}
    return [
        replace(cell, verdict=NOT_REPRODUCED if verdict == BETTER and _method(cell) in missed else verdict)
        for cell, verdict in alone
    ]


def reproduced_blocks(number: Published, measured: Sequence[float]) -> tuple[int, int]:
    """In how many blocks of the paper's own number of repetitions the number is reproduced, and of how many."""
    size = number.repetitions
    blocks = [measured[start : start + size] for start in range(0, len(measured) - size + 1, size)]
    return sum(_alone(_measured(number, block)) == REPRODUCED for block in blocks), len(blocks)


def number_of(cell: Cell) -> Published:
    """The published number of a cell."""
    return next(one for one in published()[cell.table] if (one.row, one.column) == (cell.row, cell.column))


def allowed(cell: Cell) -> float:
    """The largest difference that counts as reproduced."""
    return float(2 * np.hypot(cell.published_se, cell.ours_se)) + number_of(cell).half_digit


def _method(cell: Cell) -> frozenset[str]:
    """What names the method in a row and a column; the size and the errors of one method share it."""
    return frozenset(f"{cell.row} {cell.column}".split()) - MEASURES


def _alone(cell: Cell) -> str:
    """The verdict on a cell, whatever stands beside it."""
    number = number_of(cell)
    difference = cell.ours - number.value
    if abs(difference) <= allowed(cell):
        return REPRODUCED
    near = -FAR * abs(number.value) <= difference < 0
    return BETTER if near and number.kind != "value" else NOT_REPRODUCED


def _measured(number: Published, measured: Sequence[float]) -> Cell:
    """A cell without a verdict."""
    ours, repetitions = float(np.mean(measured)), len(measured)
    if number.total is not None:
        published_se, ours_se = (_binomial(value, number.total, number.unit) for value in (number.value, ours))
    else:
        # Where one side has no deviation, that of the other serves for both.
        spread = float(np.std(measured, ddof=1)) if repetitions > 1 else number.deviation or 0.0
        theirs = spread if number.deviation is None else number.deviation
        published_se, ours_se = theirs / np.sqrt(number.repetitions), spread / np.sqrt(repetitions)
    return Cell(
        number.table.split("-")[0], number.table, number.row, number.column, number.text,
        float(published_se), ours, float(ours_se), repetitions, "",
    )  # fmt: skip


def _binomial(value: float, total: int, unit: str) -> float:
    """The standard error of a count, or of a share of the total in per cent."""
    scale = total / 100 if unit == "%" else 1.0
    share = min(max(value * scale / total, 0.0), 1.0)
    return float(np.sqrt(total * share * (1 - share)) / scale)
