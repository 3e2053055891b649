"""Streams whose first rows mislead: `partial_fit` beside a fit to the rows that came after these.

A line for each kind of stream: the median and the largest error over the seeds, as a fraction of the spread of the
target without noise, for rows like the last ones; of `partial_fit`, of `fit` to the rows after the change, and of a
straight line fitted to these. And atoms and seconds of `partial_fit`::

    python -m benchmarks.streams             # ten seeds; half an hour
    python -m benchmarks.streams --seeds 3

noise     the targets of the first rows have nothing to do with features
constant  those are all one number
alike     rows that are all alike
another   the function changes after a third of the rows, to other features; `forgetting=0.999`
moving    the rows move to other regions; errors are of rows of all of them
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LinearRegression

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.exceptions import ConstantModelWarning

N_ROWS, BLOCK, N_FEATURES, NOISE, N_TEST = 20_000, 1000, 5, 0.1, 4000
Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Stream:
    """Rows in their order, and rows on which errors are measured.

    first   number of rows of the first call
    change  number of the row from which on the others are like the last
    """

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray
    truth: np.ndarray
    first: int = BLOCK
    change: int = 0
    forgetting: float = 1.0


def usual(X: np.ndarray) -> np.ndarray:
    """A sine of one feature, and the product of two."""
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def other(X: np.ndarray) -> np.ndarray:
    """A sine and a multiple of two other features."""
    return np.sin(2 * X[:, 3]) + X[:, 4]


def make(kind: str, first: int, seed: int) -> Stream:
    """A stream of a kind, whose first call has so many rows."""
    rng = np.random.default_rng(seed)
    X, test = rng.normal(size=(N_ROWS, N_FEATURES)), rng.normal(size=(N_TEST, N_FEATURES))
    noise = NOISE * rng.normal(size=N_ROWS)
    if kind == "another":
        change = N_ROWS // 3
        y = np.where(np.arange(N_ROWS) < change, usual(X), other(X)) + noise
        return Stream(X, y, test, other(test), first, change, forgetting=0.999)
    if kind == "moving":
        X[:, 0] += np.linspace(0, 4, N_ROWS)
        test[:, 0] += rng.uniform(0, 4, size=N_TEST)
        return Stream(X, usual(X) + noise, test, usual(test), first)
    y = usual(X) + noise
    if kind == "noise":
        y[:first] = y.std() * rng.normal(size=first)
    elif kind == "constant":
        y[:first] = 1.0
    return Stream(X, y, test, usual(test), first, change=first if kind in ("noise", "constant") else 0)


def follow(stream: Stream) -> tuple[KernelPursuitRegressor, float]:
    """The model after all rows, a block at a time, and the seconds that took."""
    model, begun = KernelPursuitRegressor(random_state=0, forgetting=stream.forgetting), time.perf_counter()
    model.partial_fit(stream.X[: stream.first], stream.y[: stream.first])
    for start in range(stream.first, N_ROWS, BLOCK):
        model.partial_fit(stream.X[start : start + BLOCK], stream.y[start : start + BLOCK])
    return model, time.perf_counter() - begun


def measure(stream: Stream) -> tuple[float, ...]:
    """Errors of `partial_fit`, of a fit, and of a straight line; atoms and seconds of the first."""
    rest = slice(stream.change, None)
    live, seconds = follow(stream)
    fitted = KernelPursuitRegressor(random_state=0).fit(stream.X[rest], stream.y[rest])
    line = LinearRegression().fit(stream.X[rest], stream.y[rest])
    spread = stream.truth.std()
    errors = [np.sqrt(np.mean((one.predict(stream.test) - stream.truth) ** 2)) / spread for one in (live, fitted, line)]
    return *map(float, errors), float(live.n_atoms_), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Streams whose first rows mislead.")
    parser.add_argument("--seeds", type=int, default=10)
    n_seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore", ConstantModelWarning)  # of first rows that are noise
    print(f"{'stream':<16} {'partial_fit':>16} {'fit':>16} {'line':>8} {'atoms':>6} {'seconds':>8}")
    kinds = [("noise", 100), ("noise", 1000), ("constant", 500), ("alike", 100), ("alike", 1000)]
    for kind, first in [*kinds, ("another", 1000), ("moving", 1000)]:
        found = np.array([measure(make(kind, first, seed)) for seed in range(n_seeds)])
        live, fitted, line, atoms, seconds = np.median(found, axis=0)
        worst, worst_fitted = found[:, :2].max(axis=0)
        print(
            f"{kind:<10} {first:>5} {live:>7.3f} to {worst:.3f} {fitted:>7.3f} to {worst_fitted:.3f} {line:>8.3f}"
            f" {atoms:>6.0f} {seconds:>8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
