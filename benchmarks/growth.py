"""More than 512 atoms on functions that its thresholds were not chosen with: errors, atoms and times beside 512.

    PYTHONPATH=. python benchmarks/growth.py            # half an hour on an idle core; goes on where it was stopped
    PYTHONPATH=. python benchmarks/growth.py --write    # and writes the table of docs/defaults.md

Each function is drawn anew by each seed, with its own number of rows, and fitted with `max_atoms=512` and with
`max_atoms="auto"`, in one thread and in turns. Errors are those on new rows without noise: root mean squared ones over
the spread of the targets, or fractions of wrong classes. Results are kept by the digest of the source, a line of
`out/growth.jsonl` each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from defaults import ROOT, append_to_journal, put_between, read_journal, source_digest, table
from threadpoolctl import threadpool_limits

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback, Stage
from kernelpursuit.learning.plan import GROWTH_STAGE

JOURNAL = ROOT / "out" / "growth.jsonl"
BEGIN, END = "<!-- growth: begin -->", "<!-- growth: end -->"
SEEDS, N_TEST = 3, 20_000
FEWER, AUTO = 512, "auto"
SURE = 2.0  # standard errors of a mean difference over the test rows, above which it is none of chance

Field = Callable[[np.ndarray], np.ndarray]  # of rows, uniform in [-1, 1]^d
Result = dict[str, Any]


# Functions of random parameters: each takes the number of features and a generator


def network(d: int, rng: np.random.Generator) -> Field:
    """Return a network of 40 tanh units in random directions."""
    directions, shifts, weights = rng.normal(size=(d, 40)), rng.normal(size=40), rng.normal(size=40)
    return lambda X: np.tanh(3 * (X @ directions + shifts) / np.sqrt(d)) @ weights


def cubic(d: int, rng: np.random.Generator) -> Field:
    """Return a sum of 30 products of three random linear forms."""
    forms = rng.normal(size=(3, d, 30)) / np.sqrt(d)
    return lambda X: (X @ forms[0] * (X @ forms[1]) * (X @ forms[2])).sum(axis=1)


def rough_draw(d: int, rng: np.random.Generator) -> Field:
    """Return a draw of a process with the Matérn 3/2 kernel: 1,000 cosines, whose frequencies have Student's law."""
    frequencies = 2 * rng.normal(size=(d, 1000)) / np.sqrt(rng.chisquare(3, size=1000) / 3)
    shifts = rng.uniform(0, 2 * np.pi, size=1000)
    return lambda X: np.cos(X @ frequencies + shifts) @ np.full(1000, np.sqrt(2 / 1000))


def blocks(d: int, rng: np.random.Generator) -> Field:
    """Return a constant on each of 256 boxes: a tree that divides every one of them eight times at random."""
    axes, cuts, values = rng.integers(d, size=256), rng.uniform(-0.5, 0.5, size=256), rng.normal(size=256)

    def of(X: np.ndarray) -> np.ndarray:
        node = np.ones(len(X), dtype=int)
        for _ in range(8):
            node = 2 * node + (X[np.arange(len(X)), axes[node]] > cuts[node])
        return values[node - 256]

    return of


def triangles(d: int, rng: np.random.Generator) -> Field:
    """Return triangular waves of four periods along each feature, and one of the sum of two."""
    weights = rng.normal(size=d)
    return lambda X: np.abs((2 * X) % 1 - 0.5) @ weights + np.abs((X[:, 0] + X[:, 1]) % 1 - 0.5)


def corner(d: int, rng: np.random.Generator) -> Field:
    """Return a slow wave that is fast in one corner."""
    slow, fast = rng.normal(size=d), rng.uniform(8, 16, size=d)
    return lambda X: np.sin(X @ slow) + 0.7 * np.sin(X @ fast) * (X[:, :3] > 0.2).all(axis=1)


# Classes


def positive(of: Callable[[int, np.random.Generator], Field]) -> Callable[[int, np.random.Generator], Field]:
    """Return the classes of a function: whether it is above zero."""

    def draw(d: int, rng: np.random.Generator) -> Field:
        field = of(d, rng)
        return lambda X: (field(X) > 0).astype(int)

    return draw


def cells(d: int, rng: np.random.Generator) -> Field:
    """Return four classes: that of the nearest of 60 points."""
    points = rng.uniform(-1, 1, size=(60, d))
    return lambda X: (((X**2).sum(axis=1)[:, None] - 2 * X @ points.T + (points**2).sum(axis=1)).argmin(axis=1)) % 4


def tenths(d: int, rng: np.random.Generator) -> Field:
    """Return ten classes by the tenths of a smooth function."""
    field = network(d, rng)
    limits = np.quantile(field(rng.uniform(-1, 1, size=(10_000, d))), np.arange(0.1, 1.0, 0.1))
    return lambda X: np.searchsorted(limits, field(X))


@dataclass(frozen=True)
class Case:
    """A function, its rows and features, and its noise: over the spread, or the fraction of wrong labels."""

    draw: Callable[[int, np.random.Generator], Field]
    n_rows: int
    n_features: int
    noise: float
    has_classes: bool = False


CASES = {
    "a network": Case(network, n_rows=20_000, n_features=6, noise=0.1),
    "a cubic": Case(cubic, n_rows=30_000, n_features=10, noise=0.05),
    "a rough draw": Case(rough_draw, n_rows=40_000, n_features=4, noise=0.1),
    "blocks": Case(blocks, n_rows=24_000, n_features=5, noise=0.1),
    "triangular waves": Case(triangles, n_rows=12_000, n_features=12, noise=0.2),
    "a rough corner": Case(corner, n_rows=16_000, n_features=3, noise=0.1),
    "2 classes of a rough draw": Case(positive(rough_draw), n_rows=30_000, n_features=3, noise=0.0, has_classes=True),
    "2 classes of a cubic": Case(positive(cubic), n_rows=12_000, n_features=8, noise=0.05, has_classes=True),
    "4 classes in 60 cells": Case(cells, n_rows=16_000, n_features=5, noise=0.0, has_classes=True),
    "10 classes of a network": Case(tenths, n_rows=24_000, n_features=6, noise=0.0, has_classes=True),
}


class Watch(Callback):
    """Whether more atoms were tried."""

    tried = False

    def on_stage(self, stage: Stage) -> None:
        """Note the stage."""
        self.tried = self.tried or stage.name == GROWTH_STAGE


def drawn(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with noise, and others without."""
    rng = np.random.default_rng(seed)
    field = case.draw(case.n_features, rng)
    X, X_test = (rng.uniform(-1, 1, size=(n, case.n_features)) for n in (case.n_rows, N_TEST))
    y, y_test = field(X), field(X_test)
    if case.has_classes:
        wrong = rng.random(len(y)) < case.noise
        return X, np.where(wrong, (y + 1) % (y.max() + 1), y), X_test, y_test
    mean, spread = y.mean(), y.std()
    return X, (y - mean) / spread + case.noise * rng.normal(size=len(y)), X_test, (y_test - mean) / spread


def measure(name: str, seed: int) -> Result:
    """Fit with and without more atoms."""
    case = CASES[name]
    X, y, X_test, y_test = drawn(case, seed)
    kind = KernelPursuitClassifier if case.has_classes else KernelPursuitRegressor
    found: Result = {}
    losses = {}
    for most in (FEWER, AUTO):
        watch = Watch()
        model = kind(max_atoms=most, random_state=seed, n_jobs=1)
        start = time.process_time()
        model.fit(X, y, callback=watch)
        cpu = time.process_time() - start
        predicted = model.predict(X_test)
        losses[most] = (predicted != y_test).astype(float) if case.has_classes else (predicted - y_test) ** 2
        error = losses[most].mean() if case.has_classes else np.sqrt(losses[most].mean())
        found[str(most)] = {"error": float(error), "atoms": int(model.n_atoms_), "cpu": cpu, "tried": watch.tried}
    difference = losses[AUTO] - losses[FEWER]
    chance = difference.std() / np.sqrt(N_TEST)
    return {**found, "standard_errors": float(difference.mean() / chance) if chance else 0.0}


def key_of(result: Result) -> tuple[str, str, int]:
    return result["source"], result["case"], result["seed"]


def lines_of(name: str, found: Sequence[Result]) -> list[str]:
    """Return a line of the table: means over the seeds."""
    case = CASES[name]
    fewer, auto = ([one[str(most)] for one in found] for most in (FEWER, AUTO))
    error, more = (np.mean([one["error"] for one in side]) for side in (fewer, auto))
    atoms, grown = (np.mean([one["atoms"] for one in side]) for side in (fewer, auto))
    ratios = [b["error"] / max(a["error"], 1e-12) for a, b in zip(fewer, auto)]
    cpu, longer = (np.mean([one["cpu"] for one in side]) for side in (fewer, auto))
    times = max(b["cpu"] / a["cpu"] for a, b in zip(fewer, auto))
    kept = sum(b["atoms"] != a["atoms"] or r != 1 for a, b, r in zip(fewer, auto, ratios))
    tried = sum(one["tried"] for one in auto)
    about = [name, f"{case.n_rows:,} x {case.n_features}", f"{tried}, {kept} of {len(found)}"]
    errors = [f"{error:.4f}", f"{more:.4f}", f"{max(ratios):.3f}"]
    return [*about, *errors, f"{atoms:.0f}", f"{grown:.0f}", f"{cpu:.1f}", f"{longer:.1f}", f"{times:.1f}"]


def as_table(results: Sequence[Result]) -> str:
    header = ["function", "rows", "tried, kept", "error, `max_atoms=512`", '`"auto"`', "worst ratio"]
    header += ["atoms", '`"auto"`', "seconds", '`"auto"`', "most times longer"]
    by_case = {name: [one for one in results if one["case"] == name] for name in CASES}
    return table(header, [lines_of(name, found) for name, found in by_case.items() if found], n_words=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--write", action="store_true", help="write the table into docs/defaults.md")
    given = parser.parse_args()
    source, done = source_digest(), read_journal(JOURNAL, key_of)
    for seed in range(given.seeds):
        for name in CASES:
            if (source, name, seed) not in done:
                with threadpool_limits(1):
                    result = {"source": source, "case": name, "seed": seed, **measure(name, seed)}
                append_to_journal(result, JOURNAL)
                print(result, flush=True)
    results = [one for one in read_journal(JOURNAL, key_of).values() if one["source"] == source]
    worse = [one for one in results if one["standard_errors"] > SURE]
    print(f"{len(worse)} of {len(results)} fits are worse by more than {SURE:g} standard errors:", worse)
    print(as_table(results))
    if given.write:
        put_between(BEGIN, END, as_table(results), ROOT / "docs" / "defaults.md")


if __name__ == "__main__":
    main()
