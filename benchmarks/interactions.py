"""Functions in which features act together, of many rows: errors and times where scales settle, and where they do not.

    python -m benchmarks.interactions [--rows 20000] [--seeds 10] [--only massive,gated]

Errors are root mean squared distances to the function without noise, on 20,000 other rows, in units of its standard
deviation; noise is a tenth of that. Where scales do not settle, the default is what it is below 20,000 rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest.mock import patch

import numpy as np

from benchmarks.million import make_rows
from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.learning import plan

N_TEST, NOISE = 20_000, 0.1
Function = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


def made_of(n_features: int, f: Callable[[np.ndarray], np.ndarray], *, uniform: bool = False) -> Function:
    """Rows of normal features, or uniform ones from -1 to 1, and the values of a function of their columns."""

    def made(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        generator, shape = np.random.default_rng(seed), (n_rows, n_features)
        X = generator.uniform(-1, 1, size=shape) if uniform else generator.normal(size=shape)
        return X, f(X.T)

    return made


FUNCTIONS: dict[str, Function] = {
    "massive": make_rows,
    "products": made_of(8, lambda x: x[0] * x[1] + 0.5 * x[2] * x[3] + 0.3 * x[4]),
    "sinprod": made_of(6, lambda x: np.sin(2 * x[0] * x[1]) + 0.5 * x[2]),
    "ridge": made_of(10, lambda x: np.sin(1.5 * (x[0] + x[1] - x[2] + 0.5 * x[3])) + 0.3 * x[5]),
    "mixed": made_of(
        10, lambda x: np.sin(6 * x[0] * x[1]) + np.abs(x[2] - x[3]) + 0.3 * np.cos(5 * x[4]) * x[5], uniform=True
    ),
    "gated": made_of(15, lambda x: np.sin(3 * x[0]) * (x[1] > 0) + 0.3 * np.cos(2 * x[2] * x[3]) + 0.3 * x[4]),
    "pairs": made_of(20, lambda x: sum(x[2 * j] * x[2 * j + 1] / (j + 1) for j in range(5))),
}


def data(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows with noise, and others without."""
    X, f = FUNCTIONS[name](n_rows, 7)
    X_test, f_test = FUNCTIONS[name](N_TEST, 8)
    spread = f_test.std()
    y = f + NOISE * spread * np.random.default_rng(9).normal(size=n_rows)
    return X, y / spread, X_test, f_test / spread


def measure(rows: tuple[np.ndarray, ...], seed: int, settles: bool) -> tuple[float, float]:
    """The error of one fit, and its processor time."""
    X, y, X_test, f_test = rows
    with patch.object(plan, "SETTLE_FROM", plan.SETTLE_FROM if settles else np.inf):
        start = time.process_time()
        model = KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X, y)
        seconds = time.process_time() - start
    return float(np.sqrt(np.mean(np.square(model.predict(X_test) - f_test)))), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default=",".join(FUNCTIONS), help="names of functions, joined by commas")
    given = parser.parse_args()
    print("| function | seeds | median | settling | worst | settling | processor s | settling |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in given.only.split(","):
        rows = data(name, given.rows)
        found = np.array([[measure(rows, seed, settles) for settles in (False, True)] for seed in range(given.seeds)])
        errors, seconds = found[:, :, 0], np.median(found[:, :, 1], axis=0)
        figures = [*np.median(errors, axis=0), *errors.max(axis=0)]
        cells = [f"{figure:.4f}" for figure in figures] + [f"{one:.1f}" for one in seconds]
        print("|", " | ".join([name, str(given.seeds), *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
