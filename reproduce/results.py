"""The files of `docs/reproduction/` that hold results; the pages are made from them and from nothing else.

`cells.csv` has one line a cell, `p-values.csv` the tests of differences, `variants.csv` what other readings of a paper
come to, and `times.csv` seconds beside those that papers print.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from reproduce.cells import (
    BETTER,
    JUDGED,
    NOT_REPRODUCED,
    REPRODUCED,
    Cell,
    judge,
    published,
    reproduced_blocks,
    values,
    with_verdicts,
)
from reproduce.config import Config, named, names
from reproduce.experiment import Measured

FOLDER = Path(__file__).parents[1] / "docs" / "reproduction"


@dataclass(frozen=True)
class PValue:
    """How likely so large a difference of two methods is by chance."""

    table: str
    row: str
    column: str
    published: str
    ours: float
    repetitions: int


@dataclass(frozen=True)
class VariantCount:
    """How many cells another reading of the paper gets right, beside ours on the same cells."""

    table: str
    variant: str
    cells: int
    reproduced: int
    reproduced_as_chosen: int
    repetitions: int


@dataclass(frozen=True)
class Blocks:
    """In how many blocks of the paper's own number of repetitions a cell is reproduced."""

    table: str
    row: str
    column: str
    reproduced: int
    blocks: int


@dataclass(frozen=True)
class Time:
    """Seconds that something took, on the paper's machine and on this one."""

    table: str
    name: str
    published: str
    ours: float


Line = TypeVar("Line", Cell, PValue, VariantCount, Blocks, Time)
FILES: dict[type, str] = {
    Cell: "cells.csv",
    PValue: "p-values.csv",
    VariantCount: "variants.csv",
    Blocks: "blocks.csv",
    Time: "times.csv",
}


def read(kind: type[Line], folder: Path = FOLDER) -> list[Line]:
    """The lines of the file that holds that kind."""
    path = folder / FILES[kind]
    if not path.exists():
        return []
    parse = {field.name: {"float": float, "int": int}.get(str(field.type), str) for field in fields(kind)}
    with path.open(newline="") as file:
        return [kind(**{name: parse[name](text) for name, text in line.items()}) for line in csv.DictReader(file)]


def update(kind: type[Line], tables: Iterable[str], lines: Sequence[Line], folder: Path = FOLDER) -> None:
    """Put the lines of some tables in place of what the file had of them, in the order of the papers."""
    replaced = set(tables)
    order = {table: place for place, table in enumerate([*published(), *names()])}
    kept: list[Line] = [line for line in read(kind, folder) if line.table not in replaced and line.table in order]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILES[kind]
    # Written beside and then put in place, so that a run that is killed leaves the old file or the new one.
    with path.with_suffix(".new").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(kind))
        for line in sorted([*kept, *lines], key=lambda line: order[line.table]):
            writer.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in astuple(line))
    path.with_suffix(".new").replace(path)


def tables_of(config: Config) -> list[str]:
    """The published tables that a configuration's run fills: its own, and those that say `runs`."""
    return [name for name in names() if named(name).runs == config.name and name in published()]


def cells_of(config: Config, measured: Sequence[Measured]) -> list[Cell]:
    """The cells of all tables that a run fills."""
    return judge({table: values(table, config.name, measured) for table in tables_of(config)})


def judge_again(folder: Path = FOLDER) -> None:
    """Derive the verdicts of all cells anew from their numbers, so that a change of the rule needs no run."""
    by_run: dict[str, list[Cell]] = defaultdict(list)
    for cell in read(Cell, folder):
        by_run[named(cell.table).runs].append(cell)
    judged = [cell for cells in by_run.values() for cell in with_verdicts(cells)]
    update(Cell, published(), judged, folder)


def blocks_of(config: Config, measured: Sequence[Measured]) -> list[Blocks]:
    """How verdicts vary over blocks of the paper's own number of repetitions, where ours are twice as many or more."""
    found = []
    for table in tables_of(config):
        measured_values = values(table, config.name, measured)
        for number in published()[table]:
            ours = measured_values.get((number.row, number.column), [])
            # One repetition alone has no deviation to judge by.
            if number.kind in JUDGED and len(ours) >= 2 * number.repetitions > 2:
                found.append(Blocks(table, number.row, number.column, *reproduced_blocks(number, ours)))
    return found


def p_values_of(config: Config, measured: Sequence[Measured]) -> list[PValue]:
    """The tests of differences that a configuration asks for.

    "paired" is the t-test over disjoint training sets. "resampled" is that of Nadeau and Bengio for random splits,
    which share rows: the variance of the mean is that of a difference times `1 / J + n_test / n_train`, not `1 / J`.
    Both are of two sides unless the configuration says one.
    """
    pairs = values(config.name, config.name, measured)
    found = []
    for test in config.p_values:
        for cell in published()[config.name]:
            if cell.column != test["column"] or (cell.row, test["first"]) not in pairs:
                continue
            first, second = (np.array(pairs[cell.row, test[side]]) for side in ("first", "second"))
            if len(first) > 1:
                p = _p_value(first - second, test)
                found.append(PValue(config.name, cell.row, cell.column, cell.text, p, len(first)))
    return found


def _p_value(differences: np.ndarray, test: Mapping[str, Any]) -> float:
    repetitions = len(differences)
    share = 1 / repetitions + (test["test_share"] if test["test"] == "resampled" else 0.0)
    error = np.sqrt(share * np.var(differences, ddof=1))
    if not error:
        return float(not differences.any())
    return float(test.get("sides", 2) * stats.t.sf(abs(np.mean(differences)) / error, repetitions - 1))


def times_of(config: Config, measured: Sequence[Measured]) -> list[Time]:
    """The least time of each thing that a run timed; other work on the machine only ever adds to it."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        for name, value in one.seconds.items():
            seconds[name].append(value)
    printed = {
        f"{cell.row} | {cell.column}": cell.text for cell in published().get(config.name, ()) if cell.kind == "time"
    }
    return [Time(config.name, name, printed.get(name, ""), min(took)) for name, took in seconds.items()]


def variant_count(config: Config, variant: str, cells: Sequence[Cell], chosen: Sequence[Cell]) -> VariantCount:
    """How a variant does on its cells, and the chosen reading on the same repetitions of them."""
    theirs, ours = counts(cells), counts(chosen)
    repetitions = min((cell.repetitions for cell in cells), default=0)
    return VariantCount(config.name, variant, len(cells), theirs[REPRODUCED], ours[REPRODUCED], repetitions)


def counts(cells: Iterable[Cell]) -> Mapping[str, int]:
    """How many cells have each verdict."""
    found: dict[str, int] = dict.fromkeys((REPRODUCED, BETTER, NOT_REPRODUCED), 0)
    for cell in cells:
        found[cell.verdict] += 1
    return found


def reason_for(cell: Cell) -> Any:
    """The reason given for a cell, or None."""
    config = named(cell.table)
    return next((reason for reason in config.reasons if reason.covers(cell.row, cell.column)), None)
