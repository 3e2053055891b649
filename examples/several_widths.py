"""Several kernels and widths at each centre: the pursuit chooses a shape for every place.

The target is a slow wave with a sharp tooth and a stretch of quick ripples. No one kernel suits all three. A dictionary
with Gaussians of three widths and a pointed kernel at every row does, with fewer atoms than the best single one.

A larger dictionary is also easier to fit noise with. With `stop="one-se"` and `alpha=0.01`, as here, it has the least
error in 20 of 20 other draws; with `stop="loo"` and `alpha=0.001`, in 6.

    python examples/several_widths.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, GREEN, GREY, ORANGE, PURPLE, finish, panels, plain_ticks, save

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import KernelAtoms, widths
from kernelpursuit.kernels import RBF, Laplacian

SHAPES = {
    "wide Gaussian": (RBF(gamma=0.2), BLUE),
    "middling Gaussian": (RBF(gamma=2.0), GREEN),
    "narrow Gaussian": (RBF(gamma=20.0), PURPLE),
    "pointed": (Laplacian(gamma=3.0), ORANGE),
}


def main(folder: str | Path = "out") -> dict[str, dict[str, float]]:
    X, y = make_mixture()
    X_new, y_new = make_mixture(2000, noise=0.0, seed=1)
    settings = {"max_atoms": 60, "alpha": 1e-2, "stop": "one-se"}
    every_shape = widths("rbf", [0.2, 2.0, 20.0]) + KernelAtoms(Laplacian(gamma=3.0))
    models = {name: KernelPursuitRegressor(kernel=kernel, **settings).fit(X, y) for name, (kernel, _) in SHAPES.items()}
    models["all four"] = KernelPursuitRegressor(kernel=every_shape, **settings).fit(X, y)

    figure, (left, right) = panels(1, 2, (11.5, 4.2), width_ratios=[3, 2])
    draw_fit(left, models["all four"], X, y)
    found = {}
    for name, model in models.items():
        errors = [np.sqrt(np.mean(np.square(p - y_new))) for p in model.staged_predict(X_new)]
        colour = SHAPES[name][1] if name in SHAPES else "black"
        right.plot(range(1, len(errors)), errors[1:], color=colour, lw=2.2 if name == "all four" else 1.4, label=name)
        right.plot(model.n_atoms_, errors[model.n_atoms_], "o", color=colour, ms=6)
        found[name] = {"error": float(errors[model.n_atoms_]), "atoms": model.n_atoms_}
    right.set_yscale("log")
    plain_ticks(right)
    finish(right, "error on new rows (dots: what was kept)", "atoms", "root mean squared error", legend="upper right")
    save(figure, folder, "several_widths.png")

    for name, numbers in found.items():
        print(f"{name}: error {numbers['error']:.3f} with {numbers['atoms']} atoms")
    return found


def draw_fit(ax, model: KernelPursuitRegressor, X: np.ndarray, y: np.ndarray) -> None:
    """The fit, and below it a bar for each atom: where it is, how wide, and of which shape."""
    grid = np.linspace(0, 10, 800)[:, None]
    ax.plot(X[:, 0], y, **DOTS)
    ax.plot(grid[:, 0], model.predict(grid), color=GREY, lw=1.8)
    # The dictionary has all rows in the first shape, then all in the second, and so on.
    shape = model.center_indices_ // len(X)
    for j, (name, (kernel, colour)) in enumerate(SHAPES.items()):
        mine = model.centers_[shape == j, 0]
        reach = 1 / kernel.gamma if isinstance(kernel, Laplacian) else 1 / np.sqrt(2 * kernel.gamma)
        height = -2.6 - 0.45 * j
        ax.errorbar(mine, np.full(len(mine), height), xerr=reach, fmt="o", ms=4, color=colour, lw=1.5, alpha=0.8)
        ax.text(10.25, height, f"{len(mine)} x {name}", color=colour, va="center", fontsize="small")
    ax.set(ylim=(-4.3, 3.2), xlim=(-0.3, 12.9), xticks=range(0, 11, 2))
    finish(ax, f"all four shapes offered at every row: {model.n_atoms_} atoms", "x", "target")


def make_mixture(n_samples: int = 300, noise: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A slow wave, a tooth at 3, and ripples around 8."""
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(0, 10, n_samples))
    tooth = 2.0 * np.exp(-3 * np.abs(x - 3))
    ripples = 0.8 * np.exp(-2 * np.square(x - 8)) * np.sin(9 * x)
    return x[:, None], np.sin(0.7 * x) + tooth + ripples + noise * generator.standard_normal(n_samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
