"""Prediction against a support vector regressor, a row at a time."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVR
from timing import best_times, row

from kernelpursuit import KernelPursuitRegressor


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 8))
    y = np.sin(X).sum(axis=1) + 0.5 * rng.normal(size=len(X))
    # Without an insensitive tube every training row becomes a support vector.
    svr = SVR(epsilon=0.0, gamma=1 / 8).fit(X, y)
    ours = KernelPursuitRegressor(
        kernel="rbf", gamma=1 / 8, alpha=1e-3, max_atoms=100, stop="max", candidates=np.arange(2000)
    ).fit(X, y)
    rows = rng.normal(size=(100_000, 8))
    few = rows[:2_000]
    svr_time, our_time = best_times(lambda: svr.predict(few), lambda: ours.predict(rows), rounds=3)
    svr_row, our_row = svr_time / len(few), our_time / len(rows)
    truth = np.sin(few).sum(axis=1)
    errors = [np.sqrt(np.mean((model.predict(few) - truth) ** 2)) for model in (svr, ours)]
    ratio = svr_row / our_row
    row(
        f"predict a row, {len(svr.support_):,} support vectors / {ours.n_atoms_} atoms, d=8",
        f"{svr_row * 1e6:.0f} us / {our_row * 1e6:.3f} us = {ratio:,.0f} times",
        ">= 1,000 times",
        ratio >= 1000,
    )
    print(f"    error against the true function: SVR {errors[0]:.3f}, {ours.n_atoms_} atoms {errors[1]:.3f}")


if __name__ == "__main__":
    main()
