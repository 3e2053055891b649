"""Other targets, other losses: counts, quantiles, and rows with gross errors.

Left: the mean of Poisson counts, which is never negative. (For this wide kernel it is nearer to the truth than the
squared error in 20 of 20 other draws; for `gamma=1`, which suits these peaks, in 7.) Middle: the quantiles between
which 80 % of the targets lie, where the noise grows. Right: Huber's loss hardly minds outliers that draw the squared
error far off.

    python examples/counts_and_quantiles.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, GREEN, GREY, ORANGE, finish, panels, save

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.losses import Huber, Quantile

GRID = np.linspace(0, 10, 400)[:, None]


def main(folder: str | Path = "out") -> dict[str, float]:
    figure, (left, middle, right) = panels(1, 3, (12.5, 4.0))
    found = {**draw_counts(left), **draw_quantiles(middle), **draw_outliers(right)}
    save(figure, folder, "counts_and_quantiles.png")
    print("counts: error {poisson:.2f} by Poisson, {squared_on_counts:.2f} by squared error".format(**found))
    print("quantiles: {inside:.0%} of new rows between them".format(**found), end="; ")
    print("outliers: error {huber:.3f} by Huber, {squared:.3f} by squared error".format(**found))
    return found


def draw_counts(ax) -> dict[str, float]:
    def mean(x):
        return 8 * np.exp(-np.square(x - 3)) + 4 * np.exp(-2 * np.square(x - 7)) + 0.2

    generator = np.random.default_rng(0)
    X = np.sort(generator.uniform(0, 10, 300))[:, None]
    y = generator.poisson(mean(X[:, 0]))
    ax.plot(X[:, 0], y, **DOTS, label="counts")
    ax.plot(GRID[:, 0], mean(GRID[:, 0]), color=GREY, lw=1.5, ls="--", label="true mean")
    found = {}
    for loss, colour, name in (("squared", ORANGE, "squared_on_counts"), ("poisson", BLUE, "poisson")):
        model = KernelPursuitRegressor(kernel="rbf", loss=loss, gamma=0.3, max_atoms=12).fit(X, y)
        fitted = model.predict(GRID)
        ax.plot(GRID[:, 0], fitted, color=colour, lw=1.8, label=f"{loss}, {model.n_atoms_} atoms")
        found[name] = float(np.sqrt(np.mean(np.square(fitted - mean(GRID[:, 0])))))
        found[f"least_{name}"] = float(fitted.min())
    finish(ax, "counts", "x", "", legend="upper right")
    return found


def draw_quantiles(ax) -> dict[str, float]:
    def draw(n, seed):
        generator = np.random.default_rng(seed)
        x = np.sort(generator.uniform(0, 10, n))
        return x[:, None], np.sin(x) + (0.1 + 0.12 * x) * generator.standard_normal(n)

    X, y = draw(800, 0)
    X_new, y_new = draw(2000, 1)
    ax.plot(X[:, 0], y, **DOTS)
    bounds = {}
    for q, colour in ((0.9, ORANGE), (0.5, BLUE), (0.1, GREEN)):
        model = KernelPursuitRegressor(kernel="rbf", loss=Quantile(q=q), gamma=0.5, max_atoms=12).fit(X, y)
        ax.plot(GRID[:, 0], model.predict(GRID), color=colour, lw=1.8, label=f"{q:.0%} quantile")
        bounds[q] = model.predict(X_new)
    ax.set_ylim(-5.8, 4)
    finish(ax, "quantiles", "x", "", legend="lower left")
    return {"inside": float(np.mean((bounds[0.1] <= y_new) & (y_new <= bounds[0.9])))}


def draw_outliers(ax) -> dict[str, float]:
    generator = np.random.default_rng(2)
    X = np.sort(generator.uniform(0, 10, 200))[:, None]
    y = np.sin(X[:, 0]) + 0.15 * generator.standard_normal(200)
    wrong = generator.choice(200, 20, replace=False)
    y[wrong] += generator.uniform(2, 6, 20)
    ax.plot(X[:, 0], y, **DOTS)
    ax.plot(GRID[:, 0], np.sin(GRID[:, 0]), color=GREY, lw=1.5, ls="--", label="truth")
    found = {}
    for loss, colour, name in (("squared", ORANGE, "squared"), (Huber(delta=0.3), BLUE, "huber")):
        model = KernelPursuitRegressor(kernel="rbf", loss=loss, gamma=0.5, max_atoms=20).fit(X, y)
        fitted = model.predict(GRID)
        ax.plot(GRID[:, 0], fitted, color=colour, lw=1.8, label=f"{name}, {model.n_atoms_} atoms")
        found[name] = float(np.sqrt(np.mean(np.square(fitted - np.sin(GRID[:, 0])))))
    ax.set_ylim(-1.8, 8.5)
    finish(ax, "outliers", "x", "", legend="upper right")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
