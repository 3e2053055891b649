"""Classification against four peers: `make bench-classify` (hours on one core).

`classify_sets.py` has the data sets and their splits, `classify_methods.py` what is fitted and measured. Every result
is a line of JSON in `out/classify.jsonl`, and a run does what is not there yet. Peers are measured once and kept.
Results of ours are kept by `--tag`, so that two states of the code, or two settings, can be compared:

    python benchmarks/classify.py --tag before --methods default
    python benchmarks/classify.py --tag before --ours loss=squared --ours loss=log,stop=one-se

Each `--ours` is a variant with the parameters it names, and is called so in the results. `--folder` adds sets of your
own; `--again NAME` measures a method anew, and the last line of a kind counts. `--write` puts the tables of a tag into
`docs/classification-benchmark.md` (`classify_page.py`), and measures nothing.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import classify_sets
from classify_methods import PEERS, Fitted, measured, ours, parameters_in
from classify_sets import N_SPLITS, SETS, files_in, split_of
from defaults import ROOT, append_to_journal, read_journal, some_of, source_digest, versions
from threadpoolctl import threadpool_limits
from timing import Clock

from kernelpursuit import KernelPursuitClassifier
from reproduce.data import DataMissing

RESULTS = ROOT / "out" / "classify.jsonl"
DEFAULT = "default"

Result = dict[str, Any]
Key = tuple[str, int, str, str]  # set, split, method, and the tag of ours


def key_of(result: Result) -> Key:
    return result["set"], result["split"], result["method"], result["tag"]


@dataclass
class Plan:
    """What is to be measured, and where results go."""

    sets: Sequence[str]
    methods: Sequence[str]
    tag: str
    results: Path = RESULTS
    files: dict[str, Path] = field(default_factory=dict)
    n_splits: int = N_SPLITS
    again: Sequence[str] = ()

    def jobs(self) -> Iterator[Key]:
        """Split by split, so that a run that is stopped early has most sets; sets in the order they were named."""
        for split in range(self.n_splits):
            for name in self.sets:
                if split < classify_sets.n_splits(name):
                    for method in self.methods:
                        yield name, split, method, "" if method in PEERS else self.tag


def measure(plan: Plan, key: Key) -> Result:
    """Fit a method to a split in one thread, and return a line of the results."""
    name, number, method, tag = key
    split = split_of(name, number, plan.files.get(name))
    fit: Callable[..., Fitted] = PEERS[method] if method in PEERS else ours(method)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        with Clock() as clock:
            found = measured(fit(split), split)
    about = {"set": name, "split": number, "method": method, "tag": tag}
    shape = {"rows": len(split.train), "test_rows": len(split.test), "features": split.train.shape[1]}
    own = {} if method in PEERS else {"source": source_digest()}
    end = {"cpu_seconds_in_all": clock.cpu, "when": datetime.now(UTC).isoformat(timespec="seconds")}
    return {**about, **own, **shape, "classes": split.n_classes, **found, **end, "versions": versions()}


def run(plan: Plan) -> bool:
    """Measure what is not there, or is asked for again; return whether all of it went well."""
    well = True
    for key in plan.jobs():
        name, number, method, _ = key
        if key in read_journal(plan.results, key_of) and method not in plan.again:
            continue
        try:
            result = measure(plan, key)
        except DataMissing:
            raise
        except Exception:  # one that fails leaves the others their turn, and is tried again by the next run
            traceback.print_exc()
            print(f"{name:<18} split {number}  {method:<14} FAILED", flush=True)
            well = False
            continue
        append_to_journal(result, plan.results)
        print(
            f"{name:<18} split {number}  {method:<14} error {result['error']:.4f}  log loss {result['log_loss']:.4f}"
            f"  size {result['size'] or 0:6}  {result['seconds']:8.2f} s  {result['predict_us']:8.2f} us a row",
            flush=True,
        )
    return well


def a_variant(text: str) -> str:
    """Return the name of a variant of ours, whose parameters must be known."""
    if text != DEFAULT and not all("=" in one for one in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is no list such as loss=squared,alpha=0.1")
    unknown = parameters_in(text).keys() - KernelPursuitClassifier().get_params().keys()
    if unknown:
        raise argparse.ArgumentTypeError(f"KernelPursuitClassifier has no parameter {', '.join(sorted(unknown))}")
    return text


def main(arguments: list[str]) -> int:
    """Measure what is asked for, or write the page."""
    parser = argparse.ArgumentParser(description="Classification against four peers; lists have commas.")
    parser.add_argument("--sets", help="all by default, with those of the folder")
    parser.add_argument("--folder", type=Path, help="further sets: files NAME.npz with arrays X and y")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="at most so many splits of each set")
    parser.add_argument("--methods", type=some_of([DEFAULT, *PEERS]), help="all, or none where --ours is given")
    parser.add_argument("--ours", type=a_variant, action="append", default=[], help="a variant, as loss=squared")
    parser.add_argument("--tag", default="main", help="what results of ours are kept by")
    parser.add_argument("--again", type=lambda text: text.split(","), default=[], help="measure these methods anew")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--write", action="store_true", help="write the page and measure nothing")
    options = parser.parse_args(arguments)
    if options.write:
        from classify_page import write_page

        write_page(read_journal(options.results, key_of).values(), options.tag)
        return 0
    files = files_in(options.folder)
    try:
        sets = some_of([*SETS, *files])(options.sets) if options.sets else [*SETS, *files]
    except argparse.ArgumentTypeError as unknown:
        parser.error(f"argument --sets: {unknown}")
    methods = options.methods or ([] if options.ours else [DEFAULT, *PEERS])
    plan = Plan(sets, [*methods, *options.ours], options.tag, options.results, files, options.splits, options.again)
    return 0 if run(plan) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DataMissing as missing:
        sys.exit(str(missing))
