"""The stored results, `docs/peers.csv`, made of the journal of a run; and ours beside a peer on a set.

A line is a fit. `difference_se` is the standard error, over the test rows, of its error less that of ours on the same
split. `path` has the smaller models of our fit, as atoms:numbers:error.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from defaults import ROOT
from sets import SETS

from .methods import DEFAULT, METHODS, OURS, VARIANTS
from .run import Key, Plan, Result

STORED = ROOT / "docs" / "peers.csv"
WORDS = ("set", "method", "variant", "status", "path", "chosen")
COUNTS = ("split", "rows", "test_rows", "features", "size", "numbers")
FIGURES = {"error": ".6g", "difference_se": ".4g", "fit_cpu": ".4g", "predict_us": ".4g", "peak_mb": ".1f"}
FIELDS = ("set", "split", "method", "variant", "status", "rows", "test_rows", "features", "error", "difference_se")
FIELDS += ("size", "numbers", "fit_cpu", "predict_us", "peak_mb", "chosen", "path")

Model = tuple[str, str]  # method and variant
OUR_MODEL: Model = (OURS, DEFAULT)
MODELS: list[Model] = [(name, variant) for name, about in METHODS.items() for variant in about.variants]


def title_of(model: Model) -> str:
    """Return what a model is called in tables."""
    method, variant = model
    return METHODS[method].title if model == OUR_MODEL else f"{METHODS[method].title}, {variant}"


# The journal to the stored results


def place(key: Key) -> tuple[int, ...]:
    """Return where a line belongs: by set, method, variant and split."""
    name, split, method, variant = key
    return SETS.index(name), list(METHODS).index(method), VARIANTS.index(variant), split


def as_cells(result: Result, difference_se: float | None) -> dict[str, str]:
    """Return a line of the stored results."""
    figures = {**result, "difference_se": difference_se}
    cells = {name: str(result[name]) for name in ("set", "method", "variant", "status")}
    cells |= {name: str(result[name]) for name in COUNTS if name in result}
    for name, form in FIGURES.items():
        if figures.get(name) is not None:
            cells[name] = format(figures[name], form)
    if result.get("chosen"):
        cells["chosen"] = " ".join(f"{name.split('__')[-1]}={short(one)}" for name, one in result["chosen"].items())
    if "path" in result:
        cells["path"] = " ".join(f"{k:.0f}:{numbers:.0f}:{error:.5g}" for k, numbers, error in result["path"])
    return cells


def short(value: object) -> str:
    """Return a parameter in few digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def store(journal: dict[Key, Result], plan: Plan, path: Path = STORED) -> None:
    """Write the stored results anew."""
    lines = []
    for key in sorted(journal, key=place):
        name, split, *_ = key
        files = [plan.rows_file(one) for one in (key, (name, split, *OUR_MODEL))]
        is_there = journal[key]["status"] == "ok" and all(file.exists() for file in files)
        difference_se = None
        if is_there:
            theirs, ours = (np.load(file).astype(float) for file in files)
            difference_se = float(np.std(theirs - ours, ddof=1) / np.sqrt(len(ours)))
        lines.append(as_cells(journal[key], difference_se))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def read(path: Path = STORED) -> list[Result]:
    """Return the stored results, with numbers as numbers; what is not there is None."""

    def value(name: str, cell: str) -> Any:
        if name in WORDS:
            return cell
        return None if not cell else int(cell) if name in COUNTS else float(cell)

    with path.open(newline="") as file:
        return [{name: value(name, cell) for name, cell in line.items()} for line in csv.DictReader(file)]


def path_in(result: Result) -> np.ndarray:
    """Return the models of one fit of ours: a line each, of atoms, numbers and error."""
    return np.array([[float(one) for one in step.split(":")] for step in result["path"].split()]).reshape(-1, 3)


# Ours beside a peer


@dataclass
class Pair:
    """Ours and a peer on one set, over the splits on which both have an error."""

    name: str
    ours: list[Result]
    theirs: list[Result]

    def both(self, key: str) -> tuple[float, float]:
        """Means over the splits: ours and theirs."""
        return tuple(float(np.mean([one[key] for one in side])) for side in (self.ours, self.theirs))

    def ratio(self, key: str) -> float:
        """Ours over theirs, with what cannot be told from nothing added to both: half a test row, 1 ms, 1 MB."""
        mine, other = self.both(key)
        half_a_row = 0.5 / sum(one["test_rows"] for one in self.ours)
        extra = {"error": half_a_row, "fit_cpu": 1e-3, "peak_mb": 1.0}.get(key, 0.0)
        return (mine + extra) / (other + extra) if other + extra else np.inf

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean difference of the errors."""
        squares = [one["difference_se"] ** 2 for one in self.theirs if one["difference_se"] is not None]
        return float(np.sqrt(sum(squares)) / len(squares)) if squares else np.nan

    @property
    def standard_errors_behind(self) -> float:
        """How many standard errors our error is above theirs."""
        mine, other = self.both("error")
        return 0.0 if mine == other else (mine - other) / self.standard_error


class Results:
    """The stored results by model, set and split."""

    def __init__(self, lines: Iterable[Result]) -> None:
        self.lines = list(lines)
        self.by_model: dict[Model, dict[str, dict[int, Result]]] = {}
        for one in self.lines:
            of_set = self.by_model.setdefault((one["method"], one["variant"]), {}).setdefault(one["set"], {})
            of_set[one["split"]] = one
        self.models = [model for model in MODELS if model in self.by_model]
        self.peers = [model for model in self.models if model != OUR_MODEL]
        ours = self.by_model.get(OUR_MODEL, {})
        rows = {name: min(one["rows"] for one in found.values()) for name, found in ours.items()}
        self.sets = sorted(rows, key=lambda name: (rows[name], name))

    def tried(self, model: Model, name: str) -> list[Result]:
        """Return what became of a model on a set, split by split."""
        found = self.by_model.get(model, {}).get(name, {})
        return [found[split] for split in sorted(found)]

    def fitted(self, model: Model, name: str) -> list[Result]:
        """Return the fits of a model on a set that went well."""
        return [one for one in self.tried(model, name) if one["status"] == "ok"]

    def pair(self, model: Model, name: str) -> Pair | None:
        """Return ours and a peer on a set; None where they have no split in common."""
        mine, other = ({one["split"]: one for one in self.fitted(each, name)} for each in (OUR_MODEL, model))
        common = sorted(set(mine) & set(other))
        return Pair(name, [mine[i] for i in common], [other[i] for i in common]) if common else None

    def pairs(self, model: Model, where: Callable[[str], bool] = lambda name: True) -> list[Pair]:
        """Return ours and a peer on all sets that both have, of those that are asked for."""
        found = (self.pair(model, name) for name in self.sets if where(name))
        return [pair for pair in found if pair]
