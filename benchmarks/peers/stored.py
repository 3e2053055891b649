"""What is known of fits: the stored results, `docs/peers.csv`, and the journal of a run, which overrides them.

A line is a fit. `difference_se` is the standard error, over the test rows, of its error less that of ours on the same
split. `path` has the smaller models of our fit, as atoms:numbers:error.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from defaults import ROOT, read_journal
from sets import SETS

from .methods import METHODS, OUR_MODEL, VARIANTS

JOURNAL = ROOT / "out" / "bench-peers.jsonl"
STORED = ROOT / "docs" / "peers.csv"
WORDS = ("set", "method", "variant", "status", "chosen", "path", "when", "source", "machine", "versions")
COUNTS = ("split", "rows", "test_rows", "features", "size", "numbers")
FIGURES = {"error": ".6g", "difference_se": ".4g", "fit_cpu": ".4g", "predict_us": ".4g", "peak_mb": ".1f"}
FIELDS = ("set", "split", "method", "variant", "status", "rows", "test_rows", "features", "error", "difference_se")
FIELDS += ("size", "numbers", "fit_cpu", "predict_us", "peak_mb", "chosen", "path", "when", "source")
FIELDS += ("machine", "versions")

Result = dict[str, Any]
Key = tuple[str, int, str, str]  # set, split, method, variant


def key_of(result: Result) -> Key:
    return result["set"], result["split"], result["method"], result["variant"]


def known(journal: Path, stored: Path) -> dict[Key, Result]:
    """Return all results; one in the journal overrides a stored one."""
    return {key_of(one): one for one in read(stored)} | read_journal(journal, key_of)


def read(path: Path = STORED) -> list[Result]:
    """Return the stored results, with numbers as numbers; what is not there is None."""

    def value(name: str, cell: str) -> Any:
        if name in WORDS:
            return cell
        return None if not cell else int(cell) if name in COUNTS else float(cell)

    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [{name: value(name, cell) for name, cell in line.items()} for line in csv.DictReader(file)]


def store(results: Iterable[Result], path: Path = STORED) -> None:
    """Write the stored results anew: by set, method, variant and split."""

    def place(result: Result) -> tuple[int, ...]:
        name, split, method, variant = key_of(result)
        return SETS.index(name), list(METHODS).index(method), VARIANTS.index(variant), split

    def cells(result: Result) -> Result:
        there = {name: form for name, form in FIGURES.items() if result.get(name) is not None}
        return result | {name: format(result[name], form) for name, form in there.items()}

    lines = [cells(one) for one in sorted(results, key=place)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


# What each test row adds to an error, which only a run on this machine has


def rows_file(key: Key, journal: Path) -> Path:
    """Where a fit leaves what each test row adds to its error."""
    return journal.with_suffix("") / f"{'-'.join(str(part) for part in key)}.npy"


def with_difference(result: Result, journal: Path) -> Result:
    """Return a result with the standard error of its difference to ours; None where errors of rows are not there."""
    key = key_of(result)
    files = [rows_file(one, journal) for one in (key, (*key[:2], *OUR_MODEL))]
    if result["status"] != "ok" or not all(file.exists() for file in files):
        return {**result, "difference_se": None}
    theirs, ours = (np.load(file).astype(float) for file in files)
    return {**result, "difference_se": float(np.std(theirs - ours, ddof=1) / np.sqrt(len(ours)))}


def is_same_fit(one: Result, other: Result) -> bool:
    """Whether two results are of the same source, with the same error in the digits that are stored."""
    errors = [None if each.get("error") is None else format(each["error"], FIGURES["error"]) for each in (one, other)]
    return one["source"] == other["source"] and errors[0] == errors[1]


def merge(journal: Path, stored: Path) -> None:
    """Add the journal of a run to the stored results.

    A standard error stays where neither the fit nor ours beside it has changed.
    """
    old, new = {key_of(one): one for one in read(stored)}, read_journal(journal, key_of)

    def has_changed(key: Key) -> bool:
        ours = (*key[:2], *OUR_MODEL)
        return key in new or (ours in new and not (ours in old and is_same_fit(old[ours], new[ours])))

    found = old | new
    store((with_difference(one, journal) if has_changed(key) else one for key, one in found.items()), stored)
