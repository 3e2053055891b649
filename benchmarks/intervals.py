"""How many new targets 90 % intervals hold, in all and in fifths of the rows by their width, as a table.

    PYTHONPATH=. python benchmarks/intervals.py [name ...]

takes five generators with noise of several kinds (2,000 rows, and 5,000 to test on) and the ten sets of more than 1,000
rows of `reproduce.data` (a third of the rows, 6,000 at most, to test on), three seeds each: some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from kernelpursuit import KernelPursuitRegressor
from reproduce.data import load

SEEDS = (0, 1, 2)
COVERAGE = 0.9
SETS = (
    *("abalone", "bank8FM_4499", "bank8FM_8192", "delta_ailerons", "delta_elevators"),
    *("ailerons", "elevators", "house_8L", "house_16H", "casp"),
)
Draw = tuple[np.ndarray, np.ndarray]


def growing(rng: np.random.Generator, n: int) -> Draw:
    X = rng.uniform(0, 10, (n, 1))
    return X, np.sin(X[:, 0]) + (0.05 + 0.1 * X[:, 0]) * rng.normal(size=n)


def two_levels(rng: np.random.Generator, n: int) -> Draw:
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + np.where(X[:, 0] > 0, 1.0, 0.2) * rng.normal(size=n)


def one_of_five(rng: np.random.Generator, n: int) -> Draw:
    X = rng.uniform(-1, 1, (n, 5))
    return X, 3 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.exp(1.2 * X[:, 3] - 1) * rng.normal(size=n)


def with_the_function(rng: np.random.Generator, n: int) -> Draw:
    X = rng.normal(size=(n, 3))
    f = X[:, 0] ** 2 + 2 * np.sin(X[:, 1]) + X[:, 2]
    return X, f + (0.1 + 0.3 * np.abs(f)) * rng.normal(size=n)


def constant(rng: np.random.Generator, n: int) -> Draw:
    X = rng.uniform(-1, 1, (n, 4))
    return X, np.exp(X[:, 0]) + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)


GENERATORS: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "noise grows with x": growing,
    "two noise levels": two_levels,
    "noise by one of five features": one_of_five,
    "noise grows with the function": with_the_function,
    "the same noise everywhere": constant,
}


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and targets for training, then for testing."""
    if name in GENERATORS:
        X, y = GENERATORS[name](np.random.default_rng([seed, 77]), 7000)
        return X[:2000], y[:2000], X[2000:], y[2000:]
    X, y = (part.astype(np.float64) for part in load(name))
    test, train = np.split(np.random.default_rng(seed).permutation(len(X)), [min(len(X) // 3, 6000)])
    return X[train], y[train], X[test], y[test]


def measure(name: str, seed: int) -> dict[str, np.ndarray]:
    X, y, fresh, wanted = split(name, seed)
    model = KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X, y)
    mean, lower, upper = model.predict(fresh, interval=COVERAGE)
    one = float(model.path_.half_width(model.n_atoms_, COVERAGE)[0])
    errors, half = np.abs(wanted - mean), (upper - lower) / 2
    fifths = np.array_split(np.argsort(half, kind="stable"), 5)
    return {
        "all": np.mean(errors <= half),
        "fifths": np.array([np.mean((errors <= half)[rows]) for rows in fifths]),
        "fifths of one width": np.array([np.mean((errors <= one)[rows]) for rows in fifths]),
        "width": np.mean(half) / one,
        "score": _score(errors, half) / _score(errors, np.full_like(half, one)),
    }


def _score(errors: np.ndarray, half: np.ndarray) -> float:
    """The interval score: the width, and what targets outside miss it by, times 2 / (1 - coverage)."""
    return float(np.mean(2 * half + 2 / (1 - COVERAGE) * np.maximum(errors - half, 0.0)))


def main(*names: str) -> None:
    print("| data | in all | in fifths, from narrow to wide | one width: fifths | mean width | score |")
    print("|---|---|---|---|---|---|")
    for name in names or (*GENERATORS, *SETS):
        found = [measure(name, seed) for seed in SEEDS]
        every = " ".join(f"{100 * one['all']:.0f}" for one in found)
        fifths = np.array([one["fifths"] for one in found])
        ours = ", ".join(f"{100 * a:.0f}" for a in fifths.mean(axis=0))
        theirs = ", ".join(f"{100 * a:.0f}" for a in np.mean([one["fifths of one width"] for one in found], axis=0))
        ends = f"({100 * fifths.min():.0f} to {100 * fifths.max():.0f})"
        numbers = " | ".join(f"{np.mean([one[key] for one in found]):.2f}" for key in ("width", "score"))
        print(f"| {name} | {every} | {ours} {ends} | {theirs} | {numbers} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
