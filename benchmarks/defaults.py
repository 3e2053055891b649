"""The defaults against four peers on eleven regression sets: `make bench-defaults` (some hours on two cores).

A tenth of a set, drawn by a seed, is for testing; `regression_methods.py` says what is fitted to the rest. Every result
is a line of JSON in `out/bench-defaults.jsonl`, and a run does what is not there yet; results of kernelpursuit count as
there only where they are of its present source. `--again NAME` measures a peer anew, `--again all --seeds 0` does so
for all figures of time, which should be taken while the machine has nothing else to do. The last line of a kind counts.

A run of all sets and peers ends with the tables of `docs/defaults-measured.md`; `--report` writes them, and measures
nothing.
Data are loaded by `reproduce.data`, so the root of the repository must be in `PYTHONPATH`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from regression_methods import ALL, Split
from timing import Clock

from reproduce.data import DataMissing, known, load

ROOT = Path(__file__).parents[1]
JOURNAL = ROOT / "out" / "bench-defaults.jsonl"
PAGE = ROOT / "docs" / "defaults-measured.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"

SETS = (
    "house_8L",
    "casp",
    "elevators",
    "ailerons",
    "delta_ailerons",
    "delta_elevators",
    "bank8FM_8192",
    "abalone",
    "boston",
    "autompg_392",
    "enb2012_heating",
)
SEEDS = (0, 1, 2, 3, 4)
OURS = "kernelpursuit"
SGPR_SETS = ("casp", "elevators", "house_8L", "ailerons")
SGPR_SEEDS = (0,)
LARGE = 5000  # rows above which the time of SVR has a target
PACKAGES = (OURS, "numpy", "scipy", "scikit-learn", "lightgbm", "torch", "gpytorch")

Result = dict[str, Any]
Key = tuple[str, int, str, str]  # set, seed, peer, source


# The journal


@cache
def source_digest() -> str:
    """Twelve digits that change with the source of the library; found once, as a process imports it once."""
    folder = ROOT / "src" / "kernelpursuit"
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".cpp", ".hpp")):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def key_of(result: Result) -> Key:
    return result["set"], result["seed"], result["peer"], result.get("source", "")


def read_journal(path: Path = JOURNAL, key_of: Callable[[Result], Any] = key_of) -> dict[Any, Result]:
    """All results, the last of each kind; a torn line is none."""
    found: dict[Any, Result] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue
        found.pop(key_of(result), None)  # so that the order is that of the lines that count
        found[key_of(result)] = result
    return found


def append_to_journal(result: Result, path: Path = JOURNAL) -> None:
    """Add a line, on a line of its own even where the last one was torn."""
    path.parent.mkdir(exist_ok=True)
    with path.open("ab+") as file:
        file.seek(max(0, file.tell() - 1))
        torn = file.read(1) not in (b"", b"\n")
        file.write((b"\n" if torn else b"") + json.dumps(result).encode() + b"\n")


def versions() -> dict[str, str]:
    """Versions of all that may matter and is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# The run


def jobs(sets: Sequence[str], seeds: Sequence[int], names: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """What is to be measured, seed by seed; SGPR comes last, since it takes long and is for some sets only."""
    for seed in seeds:
        for name in sets:
            for peer in names:
                if peer != "sgpr":
                    yield name, seed, peer
    for seed in seeds:
        for name in sets:
            if "sgpr" in names and name in SGPR_SETS and seed in SGPR_SEEDS:
                yield name, seed, "sgpr"


def run(sets: Sequence[str], seeds: Sequence[int], names: Sequence[str], again: Sequence[str]) -> bool:
    """Measure what is not in the journal, or is asked for again; return whether all of it went well."""
    well = True
    for name, seed, peer in jobs(sets, seeds, names):
        source = source_digest() if peer == OURS else ""
        if (name, seed, peer, source) in read_journal() and peer not in again:
            continue
        rows, targets = load(name)
        try:
            with Clock() as clock:
                found = ALL[peer](Split(rows, targets, seed))
        except Exception:  # one that fails leaves the others their turn, and is tried again by the next run
            traceback.print_exc()
            print(f"{name:<16} seed {seed}  {peer:<14} FAILED", flush=True)
            well = False
            continue
        about = {"set": name, "seed": seed, "peer": peer, "rows": len(rows), "features": rows.shape[1]}
        if source:
            about["source"] = source
        measured = {"wall_seconds_in_all": clock.wall, "cpu_seconds_in_all": clock.cpu}
        when = datetime.now(UTC).isoformat(timespec="seconds")
        append_to_journal({**about, **found, **measured, "versions": versions(), "when": when})
        print(
            f"{name:<16} seed {seed}  {peer:<14} RMSE {found['rmse']:.4f}  {found['seconds']:9.2f} s"
            f"  ({found['cpu_seconds']:.2f} s of CPU)  {found['predict_us']:8.2f} us a row",
            flush=True,
        )
    return well


# The report


@dataclass
class Pair:
    """Ours and a peer's results on one set, over the seeds that both have."""

    name: str
    ours: list[Result]
    theirs: list[Result]

    @property
    def rows(self) -> int:
        """Rows of the set."""
        return self.ours[0]["rows"]

    @property
    def rmse(self) -> tuple[float, float]:
        """Mean errors over the seeds."""
        return tuple(float(np.mean([one["rmse"] for one in side])) for side in (self.ours, self.theirs))

    @property
    def error_ratio(self) -> float:
        """Our error over theirs."""
        return self.rmse[0] / self.rmse[1]

    def both(self, key: str, other: str = "") -> tuple[float, float]:
        """A figure at the first seed: ours, and theirs, which may be called otherwise."""
        return self.ours[0][key], self.theirs[0][other or key]

    def times_less(self, key: str, other: str = "") -> float:
        """Theirs over ours."""
        ours, theirs = self.both(key, other)
        return theirs / ours


Column = tuple[str, Callable[[Pair], str]]

ERRORS: list[Column] = [
    ("set", lambda pair: pair.name),
    ("rows", lambda pair: f"{pair.rows:,}"),
    ("seeds", lambda pair: str(len(pair.ours))),
    ("RMSE", lambda pair: f"{pair.rmse[0]:.4f}"),
    ("RMSE of peer", lambda pair: f"{pair.rmse[1]:.4f}"),
    ("ratio", lambda pair: f"{pair.error_ratio:.3f}"),
]


def columns_of(key: str, ours: str, theirs: str, form: Callable[[float], str], other: str = "") -> list[Column]:
    """Ours, the peer's, and how many times less ours is."""
    return [
        (ours, lambda pair: form(pair.both(key, other)[0])),
        (theirs, lambda pair: form(pair.both(key, other)[1])),
        ("times less", lambda pair: f"{pair.times_less(key, other):.3g}"),
    ]


def seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def whole(value: float) -> str:
    return f"{value:,.0f}"


FIT = columns_of("seconds", "fit, s", "fit of peer, s", seconds)
SEARCH = columns_of("seconds", "fit, s", "grid and fit of peer, s", seconds)
GRID = columns_of("seconds", "fit, s", "grid of peer, s", seconds, "grid_seconds")
PREDICT = columns_of("predict_us", "predict a row, us", "predict of peer, us", seconds)
BYTES = columns_of("bytes", "bytes", "bytes of peer", whole)
VECTORS = columns_of("atoms", "atoms", "support vectors", whole, "vectors")
TITLES = {
    "svr": "SVR, C and gamma by a grid",
    "nystroem": "Nyström features and ridge regression, gamma and penalty by a grid",
    "lightgbm": "LightGBM by its defaults",
    "sgpr": "GPyTorch's SGPR, 512 inducing points",
}
TABLES: dict[str, list[Column]] = {
    "svr": [*ERRORS, *SEARCH, *VECTORS],
    "nystroem": [*ERRORS, *GRID, *SEARCH[1:]],
    "lightgbm": [*ERRORS, *FIT, *PREDICT, *BYTES],
    "sgpr": [*ERRORS, *FIT, *PREDICT],
}


def pairs(ours: list[Result], theirs: list[Result]) -> list[Pair]:
    """Sets that both have, with the seeds that both have."""
    found = []
    for name in SETS:
        mine, other = ({one["seed"]: one for one in side if one["set"] == name} for side in (ours, theirs))
        common = sorted(set(mine) & set(other))
        if common:
            found.append(Pair(name, [mine[seed] for seed in common], [other[seed] for seed in common]))
    return found


def table(header: Sequence[str], lines: Sequence[Sequence[str]], n_words: int = 1) -> str:
    """Markdown; the first columns are words, the others are figures."""
    rule = ["---"] * n_words + ["---:"] * (len(header) - n_words)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *lines))


def own_table(ours: list[Result]) -> str:
    """What kernelpursuit does by itself, a line a set."""
    header = ("set", "seeds", "RMSE", "atoms", "fit, s", "predict a row, us", "bytes", "coverage", "width")
    lines = []
    for name in SETS:
        here = sorted((one for one in ours if one["set"] == name), key=lambda one: one["seed"])
        if not here:
            continue
        mean = {key: np.mean([one.get(key, np.nan) for one in here]) for key in ("rmse", "coverage", "width")}
        first = here[0]
        cells = [name, str(len(here)), f"{mean['rmse']:.4f}", whole(first["atoms"]), seconds(first["seconds"])]
        cells += [seconds(first["predict_us"]), whole(first["bytes"])]
        interval = (f"{100 * mean['coverage']:.1f} %", f"{mean['width']:.3f}")
        cells += interval if np.isfinite(mean["coverage"]) else ("", "")
        lines.append(cells)
    return table(header, lines)


def counted(
    peer: str, what: str, found: list[Pair], test: Callable[[Pair], bool], of: Sequence[str], least: int | None = None
) -> list[str]:
    """A line of the targets: on how many of the sets a thing holds, where it must on `least`, or on all."""
    here = [pair for pair in found if pair.name in of]
    missing = len(of) - len(here)
    holds = sum(test(pair) for pair in here)
    least = len(of) if least is None else least
    met = "yes" if holds >= least else "no" if holds + missing < least else "open"
    seeds = SGPR_SEEDS if peer == "SGPR" else SEEDS
    if met != "open" and (missing or any(len(pair.ours) < len(seeds) for pair in here)):
        met += ", so far"
    also = f", {len(here)} measured" if missing else ""
    return [peer, what, f"{least} of {len(of)}", f"{holds} of {len(of)}{also}", met]


def targets(by_peer: dict[str, list[Pair]]) -> list[list[str]]:
    """What was aimed at, and what came of it."""

    def error_within(limit: float) -> Callable[[Pair], bool]:
        return lambda pair: pair.error_ratio <= limit

    def less_by(times: float, key: str, other: str = "") -> Callable[[Pair], bool]:
        return lambda pair: pair.times_less(key, other) >= times

    def lower(pair: Pair) -> bool:
        return pair.error_ratio < 1

    large = [name for name in SETS if known()[name]["rows"] > LARGE]
    svr, nystroem, lightgbm, sgpr = (by_peer[peer] for peer in TITLES)
    return [
        counted("SVR", "RMSE no higher", svr, error_within(1), SETS, 9),
        counted("SVR", "RMSE at most 2 % higher", svr, error_within(1.02), SETS),
        counted("SVR", f"time 10 times less, above {LARGE:,} rows", svr, less_by(10, "seconds"), large),
        counted("SGPR", "RMSE no higher", sgpr, error_within(1), SGPR_SETS),
        counted("SGPR", "fit 10 times faster", sgpr, less_by(10, "seconds"), SGPR_SETS),
        counted("SGPR", "predict 50 times faster", sgpr, less_by(50, "predict_us"), SGPR_SETS),
        counted("Nyström", "RMSE lower", nystroem, lower, SETS),
        counted("Nyström", "fit no longer than its grid", nystroem, less_by(1, "seconds", "grid_seconds"), SETS),
        counted("LightGBM", "RMSE at most 5 % higher", lightgbm, error_within(1.05), SETS, 9),
        counted("LightGBM", "RMSE lower", lightgbm, lower, SETS, 6),
        counted("LightGBM", "predict 3 times faster", lightgbm, less_by(3, "predict_us"), SETS),
        counted("LightGBM", "model 5 times smaller", lightgbm, less_by(5, "bytes"), SETS),
    ]


def figures(journal: dict[Key, Result]) -> str:
    """The tables, in Markdown; ours are of the source that was measured last."""
    results = list(journal.values())
    source = next((one["source"] for one in reversed(results) if one["peer"] == OURS), None)
    if source is None:
        return "Nothing of kernelpursuit has been measured yet."
    ours = [one for one in results if one.get("source") == source]
    by_peer = {peer: pairs(ours, [one for one in results if one["peer"] == peer]) for peer in TITLES}
    used: dict[str, str] = {}
    for one in results:
        if one["peer"] != OURS or one["source"] == source:
            used |= one["versions"]
    parts = [
        "### Targets",
        table(("against", "target", "wanted", "reached", "met"), targets(by_peer), n_words=5),
        "### kernelpursuit by itself",
        own_table(ours),
    ]
    for peer, title in TITLES.items():
        if by_peer[peer]:
            lines = [[cell(pair) for _, cell in TABLES[peer]] for pair in by_peer[peer]]
            parts += [f"### {title}", table([heading for heading, _ in TABLES[peer]], lines)]
    parts.append(
        "RMSE is in units of the standard deviation of the training targets, the mean over the seeds that both have; "
        "coverage and width of 90 % intervals are means over seeds. Times, atoms, support vectors and bytes are of the "
        "first seed. Bytes are of centres, weights, a factor a feature and one an atom, in float32; of LightGBM, of "
        f"its model as text. Source {source}; {', '.join(f'{name} {number}' for name, number in used.items())}."
    )
    return "\n\n".join(parts)


def around(begin: str, end: str, path: Path = PAGE) -> tuple[str, str]:
    """What the page has before one mark and after the other; both must be there once, in this order."""
    page = path.read_text()
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        sys.exit(f"{path} needs one line {begin} and, after it, one line {end}, for the tables to go between.")
    return page.split(begin)[0], page.split(end)[1]


def put_between(begin: str, end: str, tables: str, path: Path = PAGE) -> None:
    """Put tables between two marks of the page."""
    before, after = around(begin, end, path)
    path.write_text(f"{before}{begin}\n\n{tables}\n\n{end}{after}")


def write_report() -> None:
    """Put the tables between the marks of the page, which is made where it is not there."""
    if not PAGE.exists():
        PAGE.write_text(f"# The defaults against their peers\n\n{BEGIN}\n{END}\n")
    put_between(BEGIN, END, figures(read_journal()))
    print(f"The tables are in {PAGE.relative_to(ROOT)}.", flush=True)


# The command line


def some_of(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Names with commas between them, each of which must be known."""

    def names(text: str) -> list[str]:
        found = text.split(",")
        unknown = [name for name in found if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known are {', '.join(known)}")
        return found

    return names


def main(arguments: list[str]) -> int:
    """Run what is asked for, then write the report where nothing is left out."""
    parser = argparse.ArgumentParser(description="The defaults against four peers; lists have commas.")
    parser.add_argument("--sets", type=some_of(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=some_of([str(seed) for seed in SEEDS]), default=[str(seed) for seed in SEEDS])
    parser.add_argument("--peers", type=some_of(list(ALL)), default=list(ALL))
    parser.add_argument("--again", type=some_of([*ALL, "all"]), default=[], help="measure these anew")
    parser.add_argument("--report", action="store_true", help="write the report and measure nothing")
    options = parser.parse_args(arguments)
    well = True
    if not options.report:
        again = list(ALL) if "all" in options.again else options.again
        well = run(options.sets, [int(seed) for seed in options.seeds], options.peers, again)
    if options.report or (set(options.sets) == set(SETS) and set(options.peers) == set(ALL)):
        write_report()
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DataMissing as missing:
        sys.exit(str(missing))
