"""Intervals that follow the noise, and widen where there are no data.

The noise grows with x, and no row lies between 4 and 6. Rows to the right of 10 are outside the data: predictions go
back to the mean of the targets there, and intervals hold what the targets may be.

    python examples/intervals.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, ORANGE, finish, panels, save

from kernelpursuit import KernelPursuitRegressor

HOLE, LAST, FARTHEST = (4.0, 6.0), 10.0, 21.0


def main(folder: str | Path = "out") -> dict[str, float]:
    rng = np.random.default_rng(0)
    X, y = make_rows(rng, rng.uniform(0, LAST, 900))
    model = KernelPursuitRegressor(random_state=0).fit(X, y)
    grid = np.linspace(-1.0, FARTHEST, 1201)[:, None]
    mean, std, lower, upper = model.predict(grid, return_std=True, interval=0.9)
    half = float(model.path_.half_width(model.n_atoms_, 0.9)[0])

    figure, axes = panels(1, 2, (12.0, 4.0), sharey=True)
    shown = [
        ("predict(X, interval=0.9)", lower, upper),
        ("one width for all rows: a quantile of all errors", mean - half, mean + half),
    ]
    for ax, (title, low, high) in zip(axes, shown):
        ax.axvspan(*HOLE, color="#EEEEEE", lw=0, zorder=0)
        ax.axvspan(LAST, FARTHEST, color="#EEEEEE", lw=0, zorder=0)
        ax.fill_between(grid[:, 0], low, high, color=BLUE, alpha=0.2, lw=0, label="90 % interval")
        ax.plot(X[:, 0], y, **DOTS, label="training rows")
        ax.plot(grid[:, 0], mean, color=BLUE, lw=1.8, label="prediction")
        ax.plot(grid[:, 0], wave(grid[:, 0]), color=ORANGE, lw=1.2, ls="--", label="truth without noise")
        finish(ax, title, "x", "target", legend="above")
        ax.margins(x=0)
    save(figure, folder, "intervals.png")

    fresh, wanted = make_rows(rng, rng.uniform(0, LAST, 20_000))
    low, high = model.predict_interval(fresh)
    inside, size = (low <= wanted) & (wanted <= high), fresh[:, 0]
    found = {
        "quiet": float(inside[size < 2].mean()),
        "loud": float(inside[size > 8].mean()),
        "quiet, one width": float((np.abs(wanted - model.predict(fresh)) < half)[size < 2].mean()),
        "loud, one width": float((np.abs(wanted - model.predict(fresh)) < half)[size > 8].mean()),
        "std far away, of that of the targets": float(std[-1] / y.std()),
    }
    print(", ".join(f"{name} {value:.2f}" for name, value in found.items()))
    return found


def wave(x: np.ndarray) -> np.ndarray:
    return 2 * np.sin(1.2 * x)


def make_rows(rng: np.random.Generator, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Noise that grows with x, and a hole."""
    x = np.sort(x[(x < HOLE[0]) | (x > HOLE[1])])
    return x[:, None], wave(x) + (0.05 + 0.08 * x) * rng.normal(size=len(x))


if __name__ == "__main__":
    main(*sys.argv[1:])
