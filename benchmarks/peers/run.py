"""All fits in turn, each in a process of its own; a line of JSON when one has ended, whatever its end.

A run goes breadth first: all sets at their first split before the second, quick methods at their defaults on all
sets, then small sets with all else but the slowest searches, then larger ones. So whatever is there when it is stopped
can be compared.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from defaults import append_to_journal, source_digest
from sets import OWN_SPLIT, n_rows_of, split_of

from .methods import DEFAULT, METHODS, OUR_MODEL, OURS, QUICK, SLOW, SLOWEST, TUNED, VARIANTS
from .one_fit import Limits, fit_once
from .results import NOT_INSTALLED, NOT_TRIED, is_tried
from .stored import JOURNAL, STORED, Key, Result, known, rows_file

N_SPLITS = 5
SECONDS = {DEFAULT: 120, TUNED: 240}  # of processor time that a fit may take
MEGABYTES = 6000  # that its process may take
PATIENCE = 10  # times the limit, by the wall: the machine has other work
PACKAGES = ("numpy", "scipy", "scikit-learn")  # that have a part in all fits
SOURCE = source_digest()  # of the library as this process imports it, whatever becomes of the files
TIERS = (0, 1500, 5000, sys.maxsize)  # rows of sets that are done one after the other


@dataclass
class Plan:
    """What is to be fitted, where results go, and where those are that are there already."""

    sets: Sequence[str]
    methods: Sequence[str]
    variants: Sequence[str] = VARIANTS
    n_splits: int = N_SPLITS
    again: Sequence[str] = ()
    journal: Path = JOURNAL
    stored: Path = STORED

    def phases(self) -> Iterator[tuple[str, int, list[str]]]:
        """Yield what is done together: a variant, a pace, and sets from few rows to many."""
        sets = sorted(self.sets, key=n_rows_of)
        tiers = [[name for name in sets if low < n_rows_of(name) <= high] for low, high in pairwise(TIERS)]
        most = [(DEFAULT, SLOW), (DEFAULT, SLOWEST), (TUNED, QUICK), (TUNED, SLOW)]
        yield DEFAULT, QUICK, sets
        for tier in tiers[:-1]:
            yield from ((variant, pace, tier) for variant, pace in most)
        for tier in tiers[:-1]:
            yield TUNED, SLOWEST, tier
        yield from ((variant, pace, tiers[-1]) for variant, pace in (*most, (TUNED, SLOWEST)))

    def jobs(self) -> Iterator[Key]:
        """Yield all fits, breadth first; a set that comes with its own split has one."""
        wanted = {name: [one for one in METHODS[name].variants if one in self.variants] for name in self.methods}
        for split in range(self.n_splits):
            for variant, pace, sets in self.phases():
                for name in (name for name in sets if not split or name not in OWN_SPLIT):
                    for method in self.methods:
                        about = METHODS[method]
                        if about.pace == pace and about.is_for(name) and variant in wanted[method]:
                            yield name, split, method, variant

    def left(self) -> Iterator[Key]:
        """Yield the jobs that are not done, or are asked for again.

        Ours is done where it is of this source, a peer where it was installed. Before a peer, ours comes again where it
        is stored of another source, or without the errors of its rows, by which the two are compared.
        """
        found = known(self.journal, self.stored)
        done = {key for key, one in found.items() if is_done(one)}
        for key in self.jobs():
            if key in done and key[2] not in self.again:
                continue
            ours = (*key[:2], *OUR_MODEL)
            is_lost = ours in found and found[ours]["status"] == "ok" and not rows_file(ours, self.journal).exists()
            if key != ours and ours in found and (is_lost or ours not in done):
                yield ours
                done.add(ours)
            yield key
            done.add(key)


def is_done(result: Result) -> bool:
    """Whether a job need not be done again: ours is of this source, and a peer was installed."""
    if result["method"] == OURS:
        return result.get("source") == SOURCE
    return not result["status"].startswith(NOT_INSTALLED)


@cache
def machine() -> str:
    """Return the number of cores, and what they are."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {names[0] if names else platform.machine()}"


@cache
def versions(method: str) -> str:
    """Return the versions of Python and of the packages that fit a method."""
    packages = (*PACKAGES, *METHODS[method].packages)
    return ", ".join([f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def do(key: Key, plan: Plan) -> Result:
    """Do one job, and return a line of the journal."""
    name, number, method, variant = key
    result: Result = {"set": name, "split": number, "method": method, "variant": variant}
    split = cached_split(name, number)
    result |= {"rows": len(split.train), "test_rows": len(split.test), "features": split.train.shape[1]}
    most = METHODS[method].most_rows
    if most and len(split.train) > most:
        return {**result, "status": f"{NOT_TRIED} above {most:,} rows"}
    limits = Limits(SECONDS[variant], PATIENCE * SECONDS[variant], MEGABYTES)
    found = fit_once((method, variant), split, limits)
    of_rows = found.pop("of_rows", None)
    file = rows_file(key, plan.journal)
    file.unlink(missing_ok=True)
    if of_rows is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, of_rows)
    return result | found


cached_split = lru_cache(maxsize=1)(split_of)


def run(plan: Plan) -> None:
    """Do what is left of a plan."""
    for key in plan.left():
        result = do(key, plan)
        if key[2] == OURS:
            result["source"] = SOURCE
        result["when"] = datetime.now(UTC).date().isoformat()
        result["machine"] = machine()
        if is_tried(result):
            result["versions"] = versions(key[2])
        append_to_journal(result, plan.journal)
        print(as_line(result), flush=True)


def as_line(result: Result) -> str:
    """Return what is printed of a fit."""
    about = f"{result['set']:<18} {result['split']} {result['method']:<14} {result['variant']:<8}"
    if result["status"] != "ok":
        return f"{about} {result['status']}"
    figures = f"error {result['error']:.4f}  size {result['size']:6}  fit {result['fit_cpu']:8.2f} s"
    return f"{about} {figures}  {result['predict_us']:8.2f} us a row  {result['peak_mb']:7.1f} MB"
