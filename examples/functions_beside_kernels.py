"""Functions of your own beside kernels: each is taken only if it helps.

The dictionary has eight functions, the constant and a Gaussian at every row. Three of the functions are in the target,
with a bump that only kernels can make. The pursuit takes those three, some kernels, and leaves the rest.

    python examples/functions_beside_kernels.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, GREY, ORANGE, finish, panels, plain_ticks, save

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Constant, Functions, KernelAtoms

GUESSES = {
    "x": lambda X: X[:, 0],
    "x²": lambda X: X[:, 0] ** 2,
    "|x|": lambda X: np.abs(X[:, 0]),
    "x > 1": lambda X: (X[:, 0] > 1).astype(float),
    "x > 2": lambda X: (X[:, 0] > 2).astype(float),
    "sin 3x": lambda X: np.sin(3 * X[:, 0]),
    "sin 6x": lambda X: np.sin(6 * X[:, 0]),
    "exp x": lambda X: np.exp(X[:, 0]),
}
TRUE = {"|x|": 1.2, "x > 1": -2.0, "sin 6x": 0.5}


def main(folder: str | Path = "out") -> dict[str, float]:
    X, y = make_sum()
    union = Functions(*GUESSES.values()) + Constant() + KernelAtoms("rbf")
    model = KernelPursuitRegressor(kernel=union, gamma=8.0, alpha=1e-2, stop="one-se", fit_intercept=False).fit(X, y)
    # Atoms are numbered in the order of the union.
    names = [*GUESSES, "1"]
    picked = [names[j] if j < len(names) else "kernel" for j in model.center_indices_]
    weights = {name: float(w) for name, w in zip(picked, model.coef_) if name != "kernel"}

    figure, (left, right) = panels(1, 2, (11.5, 4.1))
    grid = np.linspace(-3, 3, 800)[:, None]
    left.plot(X[:, 0], y, **DOTS, label="data")
    left.plot(grid[:, 0], model.predict(grid), color=BLUE, lw=1.8, label="prediction")
    finish(left, f"{len(weights)} functions and {picked.count('kernel')} kernels", "x", "target", legend="lower left")
    n_shown = min(model.n_atoms_ + 4, model.path_.n_steps)
    error = np.sqrt(model.path_.loo[: n_shown + 1])
    right.plot(error, color=GREY, lw=1.5, zorder=1)
    for k, name in enumerate(picked, start=1):
        is_kernel = name == "kernel"
        right.plot(k, error[k], "o", color=BLUE if is_kernel else ORANGE, ms=6 if is_kernel else 9)
        if not is_kernel:
            right.annotate(name, (k, error[k]), (7, 5), textcoords="offset points", color=ORANGE)
    right.set_yscale("log")
    plain_ticks(right)
    right.xaxis.get_major_locator().set_params(integer=True)
    finish(right, "in the order they were picked (orange: functions, blue: kernels)", "atoms", "leave-one-out error")
    save(figure, folder, "functions_beside_kernels.png")

    print("picked: " + ", ".join(f"{name} ({w:.2f})" for name, w in weights.items()), end=", ")
    print(f"and {picked.count('kernel')} kernels")
    return {**weights, "kernels": picked.count("kernel")}


def make_sum(n_samples: int = 400, noise: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three of the functions, and a bump."""
    generator = np.random.default_rng(seed)
    X = np.sort(generator.uniform(-3, 3, n_samples))[:, None]
    y = sum(weight * GUESSES[name](X) for name, weight in TRUE.items())
    return X, y + 1.5 * np.exp(-10 * np.square(X[:, 0] + 1.5)) + noise * generator.standard_normal(n_samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
