"""Shortlists beside the exact loop: time for many candidates, and test error on four data sets.

The figures of docs/massive-fits.md::

    PYTHONPATH=. python benchmarks/shortlist.py             # both
    PYTHONPATH=. python benchmarks/shortlist.py --rounds 1  # times taken once

Times are CPU seconds of all threads as well as seconds: on a busy machine, only the first say much.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from kernelpursuit import KernelPursuitRegressor
from reproduce.data import load

SHORTLISTS = (None, 8, 16, 32)
N_ROWS, N_FEATURES = 10_000, 10
# Candidates, and the memory for their values: None for a quarter of what is free, 0 to compute them in every pass.
CASES = ((5_000, None), (10_000, None), (10_000, 0))
SETS, SPLITS, MOST_TEST_ROWS = ("casp", "house_16H", "elevators", "bank8FM_8192"), 3, 10_000


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows with a smooth function of five of their ten features, and noise."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(N_ROWS, N_FEATURES))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(X[:, 3] + X[:, 4])
    return X, y + 0.1 * generator.normal(size=N_ROWS)


def fit(X: np.ndarray, y: np.ndarray, **settings: object) -> KernelPursuitRegressor:
    """Fit a Gaussian kernel of a common width, to the last atom."""
    common = {"kernel": "rbf", "gamma": 1 / X.shape[1], "alpha": 1e-3, "stop": "max", "random_state": 0}
    return KernelPursuitRegressor(**common, **settings).fit(X, y)


def n_passes(model: KernelPursuitRegressor) -> int:
    """Passes over all candidates: the steps at which the correlation of all of them is known."""
    return int((~np.isnan(model.path_.correlation)).sum())


def measure_times(rounds: int) -> None:
    """Print the least seconds of several rounds that take the shortlists in turn."""
    X, y = make_rows()
    for n_candidates, memory in CASES:
        best = dict.fromkeys(SHORTLISTS, (np.inf, np.inf))
        passes = {}
        for _ in range(rounds):
            for shortlist in SHORTLISTS:
                start, cpu = time.perf_counter(), time.process_time()
                settings = {"candidates": np.arange(n_candidates), "memory_budget": memory, "shortlist": shortlist}
                model = fit(X, y, max_atoms=500, **settings)
                taken = time.perf_counter() - start, time.process_time() - cpu
                best[shortlist] = min(best[shortlist][0], taken[0]), min(best[shortlist][1], taken[1])
                passes[shortlist] = n_passes(model)
        for shortlist, (seconds, cpu) in best.items():
            ratios = f"{best[None][0] / seconds:.2f} and {best[None][1] / cpu:.2f} times as fast"
            case = f"{n_candidates} candidates, memory_budget={memory}, shortlist={shortlist}"
            print(f"{case}: {seconds:.2f} s, {cpu:.2f} CPU s, {ratios}, {passes[shortlist]} passes", flush=True)


def measure_errors() -> None:
    """Print how the root mean squared error on test rows differs from that of the exact loop."""
    for name in SETS:
        X, y = load(name)
        for seed in range(SPLITS):
            order, n_train = np.random.default_rng(seed).permutation(len(X)), min(N_ROWS, 3 * len(X) // 4)
            train, test = order[:n_train], order[n_train : n_train + MOST_TEST_ROWS]
            spread = X[train].std(axis=0)
            rows = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
            targets = (y - y[train].mean()) / y[train].std()
            errors, words = {}, []
            for shortlist in SHORTLISTS:
                model = fit(rows[train], targets[train], max_atoms=400, candidates="all", shortlist=shortlist)
                errors[shortlist] = np.sqrt(np.mean((model.predict(rows[test]) - targets[test]) ** 2))
                change = 100 * (errors[shortlist] / errors[None] - 1)
                words.append(f"{shortlist}: {change:+.2f} % in {n_passes(model)} passes")
            print(f"{name}, split {seed}: exact {errors[None]:.4f}; {'; '.join(words[1:])}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    measure_times(parser.parse_args().rounds)
    measure_errors()
