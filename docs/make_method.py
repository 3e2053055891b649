"""Draw the pictures of `docs/method.md`.

python docs/make_method.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_chirp
from kernelpursuit.kernels import RBF
from kernelpursuit.plotting.parts import BLUE, GREY, ORANGE, plain_ticks, tidy

GAMMA = 3.0
SIZES = (1, 2, 4, 8)


def main(folder: str | Path = "docs/images") -> None:
    """Draw all of them."""
    X, y = make_chirp(200)
    model = KernelPursuitRegressor(gamma=GAMMA, stop="max", max_atoms=40).fit(X, y)
    draw_steps(model, X, y, Path(folder) / "method-steps.png")
    draw_gains(model, X, y, Path(folder) / "method-gains.png")
    draw_path(X, y, Path(folder) / "method-path.png")


def draw_steps(model: KernelPursuitRegressor, X: np.ndarray, y: np.ndarray, file: Path) -> None:
    """The model of 1, 2, 4 and 8 atoms, and the weighted atoms it is the sum of."""
    grid = np.linspace(0, 10, 500)[:, None]
    figure, axes = plt.subplots(1, len(SIZES), figsize=(12, 3.2), layout="constrained", sharey=True)
    for ax, k in zip(axes, SIZES):
        small = model.at(k)
        atoms = RBF(gamma=GAMMA)(grid, small.centers_) * small.coef_
        ax.plot(X[:, 0], y, ".", color=GREY, ms=4, alpha=0.6)
        ax.plot(grid[:, 0], atoms, color=ORANGE, lw=1, alpha=0.8)
        ax.plot(grid[:, 0], small.predict(grid), color=BLUE, lw=2)
        ax.plot(small.centers_[:, 0], np.full(k, -2.9), "^", color=ORANGE, ms=6)
        ax.set_title(f"{k} atom{'s' if k > 1 else ''}", loc="left", fontsize="medium")
        ax.set(xlabel="x", ylim=(-3.1, 2.9))
        tidy(ax)
    axes[0].set_ylabel("target")
    save(figure, file)


def draw_gains(model: KernelPursuitRegressor, X: np.ndarray, y: np.ndarray, file: Path) -> None:
    """What the sum of squares would drop by, were an atom at each row the next."""
    figure, axes = plt.subplots(2, 1, figsize=(9, 4.6), layout="constrained", sharex=True)
    for ax, k in zip(axes, (0, 4)):
        gains = gains_after(model, X, y, k)
        ax.vlines(X[:, 0], 0, gains, color=GREY, lw=1)
        best = int(np.argmax(gains))
        ax.plot(X[best, 0], gains[best], "o", color=ORANGE, ms=7)
        ax.annotate("picked next", (X[best, 0], gains[best]), (8, -4), textcoords="offset points", color=ORANGE)
        ax.set_title(f"after {k} atoms" if k else "at the start", loc="left", fontsize="medium")
        ax.set_ylabel("drop of the sum of squares")
        ax.set_ylim(0, 1.15 * gains.max())
        tidy(ax)
    axes[-1].set_xlabel("x of the row that the atom would be centred on")
    save(figure, file)


def gains_after(model: KernelPursuitRegressor, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Gains by their definition: the cost with each candidate added and everything refitted."""
    D = RBF(gamma=GAMMA)(X, X)
    alpha = model.alpha_

    def cost(columns: list[int]) -> float:
        A = np.column_stack([np.ones(len(X)), D[:, columns]])
        penalty = alpha * np.diag([0.0, *np.ones(len(columns))])
        return float(y @ y - y @ A @ np.linalg.solve(A.T @ A + penalty, A.T @ y))

    picked = model.at(k).center_indices_.tolist()
    now = cost(picked)
    return np.array([0.0 if j in picked else now - cost([*picked, j]) for j in range(len(X))])


def draw_path(X: np.ndarray, y: np.ndarray, file: Path) -> None:
    """Training, leave-one-out and true error against the number of atoms."""
    model = KernelPursuitRegressor(gamma=GAMMA, stop="loo", max_atoms=80).fit(X, y)
    X_new, y_new = make_chirp(5000, noise=0.15, seed=1)
    true = [np.sqrt(np.mean(np.square(p - y_new))) for p in model.staged_predict(X_new)]
    sizes = np.arange(len(true))
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    training = [np.sqrt(np.mean(np.square(p - y))) for p in model.staged_predict(X)]
    ax.plot(sizes, training, color=GREY, ls="--", label="training error")
    ax.plot(sizes, np.sqrt(model.path_.loo), color=BLUE, label="leave-one-out error")
    ax.plot(sizes, true, color="black", lw=1, label="error on 5,000 new rows")
    ax.plot(model.n_atoms_, np.sqrt(model.path_.loo[model.n_atoms_]), "o", color=ORANGE, ms=8, label="kept")
    ax.set(xlabel="number of atoms", ylabel="root mean squared error", yscale="log")
    ax.legend(frameon=False, fontsize="small")
    plain_ticks(ax)
    tidy(ax)
    save(figure, file)


def save(figure: Any, file: Path) -> None:
    """Write a picture."""
    figure.savefig(file, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
