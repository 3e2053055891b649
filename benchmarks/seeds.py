"""How much the seed matters: the default with many seeds on one split of every regression set, and of sets of classes.

    python benchmarks/seeds.py [--seeds 20] [--only NAME,...] [--write]

Each result is a line of out/bench-seeds.jsonl, kept by the digest of the source, so that a run goes on where it was
stopped. `--write` puts the table into docs/defaults-measured.md. Errors are root mean squared errors over the spread of
the targets, or fractions of rows in a wrong class, on a fifth of the rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from defaults import ROOT, append_to_journal, put_between, read_journal, source_digest, table
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.exceptions import ConstantModelWarning
from reproduce.data import load

JOURNAL = ROOT / "out" / "bench-seeds.jsonl"
BEGIN, END = "<!-- seeds: begin -->", "<!-- seeds: end -->"
NUMBERS = (
    *("house_8L", "house_16H", "casp", "elevators", "ailerons", "delta_ailerons", "delta_elevators", "bank8FM_8192"),
    *("bank8FM_4499", "abalone", "boston", "autompg_392", "enb2012_heating", "enb2012_cooling", "diabetes"),
)
CLASSES = ("ida_banana", "ida_breast_cancer", "ida_diabetis", "ida_german", "ida_image", "pima", "sonar", "ionosphere")
# The worst error may be above the median by this fraction; with fewer rows than this, by twice as much.
ALLOWED, FEW_ROWS = 0.05, 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="", help="names of data sets, joined by commas")
    parser.add_argument("--write", action="store_true", help="write the table into docs/defaults-measured.md")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else [*NUMBERS, *CLASSES]
    source, done = source_digest(), read_journal(JOURNAL, key_of)
    for seed in range(given.seeds):
        for name in names:
            if (source, name, seed) not in done:
                result = {"source": source, "set": name, "seed": seed, **measure(name, seed)}
                append_to_journal(result, JOURNAL)
                print(result, flush=True)
    results = read_journal(JOURNAL, key_of).values()
    lines = as_table([result for result in results if result["source"] == source and result["set"] in names])
    print(lines)
    if given.write:
        put_between(BEGIN, END, lines)


def key_of(result: dict) -> tuple[str, str, int]:
    return result["source"], result["set"], result["seed"]


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True) if name == "diabetes" else load(name)


def measure(name: str, seed: int) -> dict:
    X, y = data(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    estimator = KernelPursuitClassifier if name in CLASSES else KernelPursuitRegressor
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        model = estimator(random_state=seed, n_jobs=1).fit(X, y)
    seconds = time.process_time() - start
    predicted = model.predict(X_test)
    if name in CLASSES:
        error = float(np.mean(predicted != y_test))
    else:
        error = float(np.sqrt(np.mean(np.square(predicted - y_test))) / y.std())
    return {"error": error, "atoms": model.n_atoms_, "cpu_seconds": round(seconds, 2), "rows": len(X)}


def as_table(results: list[dict]) -> str:
    by_set = defaultdict(list)
    for result in results:
        by_set[result["set"]].append(result)
    header = ("set", "rows", "seeds", "median error", "worst", "worst / median", "allowed", "atoms", "CPU s")
    lines = []
    for name, found in by_set.items():
        errors, rows = np.array([one["error"] for one in found]), found[0]["rows"]
        allowed = 1 + ALLOWED * (2 if rows < FEW_ROWS else 1)
        atoms = [one["atoms"] for one in found]
        median, worst = float(np.median(errors)), float(errors.max())
        seconds = np.median([one["cpu_seconds"] for one in found])
        ratio = f"{worst / median:.3f}" if median else ""
        cells = [f"{rows:,}", str(len(found)), f"{median:.4f}", f"{worst:.4f}", ratio, f"{allowed:.2f}"]
        lines.append([name, *cells, f"{min(atoms)} to {max(atoms)}", f"{seconds:.1f}"])
    return table(header, lines)


if __name__ == "__main__":
    main()
