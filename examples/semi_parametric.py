"""A semi-parametric model: a trend and a season that are always in, and kernels for the rest.

The functions in `Always` are never penalised and are refitted with every atom, like an intercept. So their weights can
be read, and the model goes on where the data end. Kernels alone fall back to a constant there.

    python examples/semi_parametric.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, GREY, ORANGE, finish, panels, save

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Always, Functions

TREND, SEASON, LAST = 0.6, 1.0, 8.0


def main(folder: str | Path = "out") -> dict[str, float]:
    X, y = make_years()
    known = X[:, 0] < LAST
    settings = {"gamma": 4.0, "max_atoms": 40}
    semi = KernelPursuitRegressor(kernel=Always(Functions(trend, season)) + "rbf", **settings)
    alone = KernelPursuitRegressor(kernel="rbf", **settings)
    models = {"trend, season and kernels": semi, "kernels alone": alone}

    figure, ax = panels(1, 1, (9.5, 4.0))
    ax.axvspan(LAST, X[-1, 0], color="#EEEEEE", lw=0, zorder=0)
    ax.plot(X[known, 0], y[known], **DOTS, label="training rows")
    ax.plot(
        X[~known, 0], y[~known], ls="none", marker=".", color=ORANGE, ms=5, mew=0, alpha=0.7, label="what came then"
    )
    found = {}
    for (name, model), colour in zip(models.items(), (BLUE, GREY)):
        model.fit(X[known], y[known])
        prediction = model.predict(X)
        ax.plot(X[:, 0], prediction, color=colour, lw=1.8, label=f"{name} ({model.n_atoms_} atoms)")
        found[name] = float(np.sqrt(np.mean(np.square(prediction - y)[~known])))
    found["trend"], found["season"] = map(float, semi.fixed_coef_)
    weights = f"{found['trend']:.2f} x  and  {found['season']:.2f} sin(2 pi x)"
    finish(ax, f"weights of what is always in: {weights}", "year", "target", legend="above")
    ax.margins(x=0)
    save(figure, folder, "semi_parametric.png")

    print(f"weights: trend {found['trend']:.2f} (true {TREND}), season {found['season']:.2f} (true {SEASON})")
    print("error after the last year: " + ", ".join(f"{name} {found[name]:.2f}" for name in models))
    return found


def trend(X: np.ndarray) -> np.ndarray:
    return X[:, 0]


def season(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.pi * X[:, 0])


def make_years(n_samples: int = 500, noise: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Trend, season, and two bumps that no formula would have foreseen."""
    generator = np.random.default_rng(seed)
    X = np.sort(generator.uniform(0, 12, n_samples))[:, None]
    bumps = 2.0 * np.exp(-3 * np.square(X[:, 0] - 2.3)) - 1.5 * np.exp(-6 * np.square(X[:, 0] - 5.5))
    return X, TREND * trend(X) + SEASON * season(X) + bumps + noise * generator.standard_normal(n_samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
