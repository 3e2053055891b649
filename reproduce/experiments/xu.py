"""Xu's experiments: when the orthogonal greedy algorithm should end, on a sinc function and on seven data sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import truncnorm
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVR

from kernelpursuit import presets
from kernelpursuit.stopping import PTR, TR1, TR2, TR3, TR4
from reproduce.data import load
from reproduce.experiment import Measured

TEST_ROWS = 1000
# No path of the simulation has more: the kernel columns are numerically dependent by then.
ALL_INDEPENDENT = 60


def simulation(
    repetition: int,
    *,
    n: int,
    scheme: str,
    width: float,
    noise: float,
    tr4_factor: float,
    costs: Sequence[float],
    machines: int,
) -> Measured:
    """Errors and sizes of five rules and of a support vector machine on a noisy sinc function.

    Parameters
    ----------
    repetition : int
        Seed of the rows, the noise and the test rows.
    n : int
        Number of training rows.
    scheme : {"uniform", "truncated normal"}
        How inputs are drawn from [0, 1]: evenly, or by a normal law of mean 1/2 and deviation 1/4, cut off there.
    width : float
        Width tau of the kernel `exp(-||x - c||² / tau²)`.
    noise : float
        Standard deviation of the noise.
    tr4_factor : float
        What the threshold of TR4 is multiplied by; its theorem has `1 / (1 - mu)`, of an unknown mu below one.
    costs : sequence of float
        Values of C, of which the machine takes the one with the least HDAIC.
    machines : int
        In how many repetitions, from the first, a machine is trained: it takes most of the time, and its errors vary
        little.
    """
    rng = np.random.default_rng(repetition)
    x = rng.random(n) if scheme == "uniform" else truncnorm.rvs(-2, 2, loc=0.5, scale=0.25, size=n, random_state=rng)
    X, y = x[:, None], sinc(x) + noise * rng.standard_normal(n)
    X_new = rng.random((TEST_ROWS, 1))
    f_new = sinc(X_new[:, 0])
    rules = {
        "PTR": PTR(),
        "TR1": TR1(bound=1.0),
        "TR2": TR2(),
        "TR3": TR3(sigma=noise),
        "TR4": TR4(sigma=noise, mu=1 - 1 / tr4_factor),
    }
    cells, seconds, curves = {}, {}, {}
    started = time.perf_counter()
    whole = presets.oga(gamma=width**-2, max_atoms=ALL_INDEPENDENT, stop=TR2(), truncate=1.0).fit(X, y)
    seconds_whole = time.perf_counter() - started
    for name, rule in rules.items():
        kept = whole.select(rule)
        cells.update(_row(f"n={n:,}, {name}", "", kept, kept.n_atoms_, (X, y), (X_new, f_new)))
    started = time.perf_counter()
    presets.oga_ptr(gamma=width**-2, truncate=1.0).fit(X, y)
    seconds[f"n={n:,}, PTR | TIME"] = time.perf_counter() - started
    seconds[f"n={n:,}, TR2 | TIME"] = seconds_whole
    if repetition < machines:
        started = time.perf_counter()
        machine = _machine(X, y, width, costs)
        seconds[f"n={n:,}, SVR | TIME"] = time.perf_counter() - started
        cells.update(_row(f"n={n:,}, SVR", "", machine, len(machine.support_), (X, y), (X_new, f_new)))
    if repetition == 0:
        kept = whole.select(PTR())
        grid = np.linspace(0, 1, 401)
        curves = {
            "training": whole.path_.residual_norm / np.sqrt(n),
            "test": [_rmse(stage, f_new) for stage in whole.staged_predict(X_new)],
            "kept": [kept.n_atoms_],
            "grid": grid,
            "truth": sinc(grid),
            "prediction": kept.predict(grid[:, None]),
            "centers": kept.centers_[:, 0],
            "x": x,
            "y": y,
        }
    if n == 1000 and scheme == "uniform":
        cells["xu-figure-1:PTR", "k"] = whole.select(PTR()).n_atoms_
    return Measured(cells, curves, seconds)


def real(
    repetition: int,
    *,
    source: str,
    row: str,
    width: float,
    svr_width: float,
    costs: Sequence[float],
    machines: int,
    target: str = "target",
    scaling: str = "range",
) -> Measured:
    """Errors and sizes of PTR and of a support vector machine on four fifths of a data set.

    Parameters
    ----------
    repetition : int
        Seed of the split.
    source : str
        Data set.
    row : str
        Row of the table.
    width, svr_width : float
        Width sigma of the kernel, for each.
    costs : sequence of float
        Values of C, of which the machine takes the one with the least HDAIC.
    machines : int
        In how many repetitions, from the first, a machine is trained.
    target : {"target", "last input"}
        Whether the target is the data set's own, or its last input, which the own target then replaces.
    scaling : {"range", "none"}
        Whether inputs are scaled to [0, 1].
    """
    X, y = load(source)
    if target == "last input":
        X, y = np.column_stack([y, X[:, :-1]]), X[:, -1]
    X, y = minmax_scale(X) if scaling == "range" else X, minmax_scale(y)
    order = np.random.default_rng(repetition).permutation(len(y))
    train, test = np.split(order, [4 * len(y) // 5])
    rows, new = (X[train], y[train]), (X[test], y[test])
    started = time.perf_counter()
    # The rule ends the path itself; it never wants as many atoms as that.
    model = presets.oga_ptr(gamma=width**-2, max_atoms=400, truncate="auto").fit(*rows)
    seconds = {f"{row} | PTR TIME": time.perf_counter() - started}
    cells = _row(row, "PTR ", model, model.n_atoms_, rows, new)
    if repetition < machines:
        started = time.perf_counter()
        machine = _machine(*rows, svr_width, costs)
        seconds[f"{row} | SVR TIME"] = time.perf_counter() - started
        cells.update(_row(row, "SVR ", machine, len(machine.support_), rows, new))
    return Measured(cells, seconds=seconds)


def sinc(x: np.ndarray) -> np.ndarray:
    """The regression function of the simulation."""
    return np.sinc((20 * x - 10) / np.pi)


def _machine(X: np.ndarray, y: np.ndarray, width: float, costs: Sequence[float]) -> SVR:
    """The support vector machine with the least HDAIC, its support vectors counted as terms."""
    machines = [SVR(C=cost, gamma=width**-2, epsilon=0.1).fit(X, y) for cost in costs]
    n = len(y)
    return min(
        machines,
        key=lambda one: 2 * n * np.log(_rmse(one.predict(X), y)) + 2 * len(one.support_) * np.log(n),
    )


def _row(
    row: str,
    method: str,
    model: Any,
    size: int,
    rows: tuple[np.ndarray, np.ndarray],
    new: tuple[np.ndarray, np.ndarray],
) -> dict[tuple[str, str], float]:
    return {
        (row, f"{method}Tr-RMSE"): _rmse(model.predict(rows[0]), rows[1]),
        (row, f"{method}Ts-RMSE"): _rmse(model.predict(new[0]), new[1]),
        (row, f"{method}k"): size,
    }


def _rmse(predicted: np.ndarray, true: np.ndarray) -> float:
    return float(np.sqrt(np.mean((predicted - true) ** 2)))
