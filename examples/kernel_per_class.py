"""A kernel shape of its own for the centres of each class.

Class 1 lies in flat layers, class 0 in round grains between and inside them. Whoever knows that can say so: flat
kernels at the rows of class 1, round ones at the rows of class 0, all in one dictionary.

    python examples/kernel_per_class.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, GREY, ORANGE, finish, panels, save

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.plotting import DecisionDisplay

ROUND, FLAT = RBF(gamma=3.0), RBF(gamma=[0.08, 8.0])


def main(folder: str | Path = "out") -> dict[str, float]:
    X, y = make_layers()
    X_new, y_new = make_layers(4000, seed=1)
    own_shapes = KernelAtoms(ROUND, centers=X[y == 0]) + KernelAtoms(FLAT, centers=X[y == 1])
    dictionaries = {"round for both": ROUND, "flat for both": FLAT, "a shape for each class": own_shapes}
    models = {
        name: KernelPursuitClassifier(kernel=kernel, loss="squared", max_atoms=40, stop="max").fit(X, y)
        for name, kernel in dictionaries.items()
    }

    figure, (left, right) = panels(1, 2, (11.5, 4.3), width_ratios=[3, 2])
    model = models["a shape for each class"].at(20)
    DecisionDisplay.from_estimator(model, X, y, ax=left, colorbar=False)
    left.set_title(f"{model.n_atoms_} atoms: flat at class 1, round at class 0", fontsize="medium", loc="left", pad=22)
    found = {}
    for (name, fitted), colour in zip(models.items(), (BLUE, GREY, ORANGE)):
        errors = 100 * np.array([np.mean(labels != y_new) for labels in fitted.staged_predict(X_new)])
        right.plot(errors, color=colour, lw=1.8, label=name)
        found[name] = float(errors[20])
    right.set_ylim(0)
    finish(right, "error on new rows", "atoms", "rows in the wrong class, %", legend="upper right")
    save(figure, folder, "kernel_per_class.png")

    print("error with 20 atoms: " + ", ".join(f"{name} {error:.1f} %" for name, error in found.items()))
    return found


def make_layers(n_samples: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Class 1 in three layers, and grains of class 0 within."""
    X = np.random.default_rng(seed).uniform([0, 0], [8, 4], (n_samples, 2))
    in_layer = np.abs((X[:, 1] - 0.1 * np.sin(X[:, 0])) % 1.5 - 0.75) < 0.36
    grains = np.array([[1.2, 0.8], [4.0, 2.3], [6.5, 0.8], [6.8, 3.7], [2.0, 3.6]])
    in_grain = (np.square(X[:, None] - grains).sum(axis=2) < 0.3).any(axis=1)
    return X, (in_layer & ~in_grain).astype(int)


if __name__ == "__main__":
    main(*sys.argv[1:])
