"""Kernels that no support vector machine should be given: indefinite ones, and ones that are not symmetric.

Left: the sigmoid kernel, whose matrix has negative eigenvalues, tells two classes apart. Right: an answer to an event
that comes after it and never before, `k(x, c) != k(c, x)`, finds when the events were.

    python examples/indefinite_and_asymmetric.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import BLUE, DOTS, GREY, ORANGE, finish, panels, save
from sklearn.datasets import make_moons

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.kernels import Sigmoid
from kernelpursuit.plotting import DecisionDisplay

EVENTS, DOSES = np.array([1.0, 2.5, 6.0, 7.2]), np.array([2.0, 1.2, 2.5, 0.8])


def main(folder: str | Path = "out") -> dict[str, float]:
    X, y = make_moons(150, noise=0.15, random_state=0)
    kernel = Sigmoid(gamma=1.5, coef0=-1.0)
    eigenvalues = np.linalg.eigvalsh(kernel(X, X))
    sigmoid = KernelPursuitClassifier(kernel=kernel, max_atoms=30).fit(X, y)

    t, signal = make_doses()
    decays = KernelPursuitRegressor(kernel=decay, max_atoms=40, stop="one-se", fit_intercept=False).fit(t, signal)
    bells = KernelPursuitRegressor(kernel="rbf", gamma=3.0, max_atoms=40, stop="one-se", fit_intercept=False)
    bells.fit(t, signal)

    figure, (left, right) = panels(1, 2, (11.5, 4.2), width_ratios=[2, 3])
    DecisionDisplay.from_estimator(sigmoid, X, y, ax=left, colorbar=False)
    left.set_title("sigmoid kernel, not positive definite", fontsize="medium", loc="left", pad=22)
    right.plot(t[:, 0], signal, **DOTS, label="data")
    right.plot(t[:, 0], bells.predict(t), color=GREY, lw=1.5, label=f"{bells.n_atoms_} Gaussians")
    right.plot(t[:, 0], decays.predict(t), color=BLUE, lw=1.8, label=f"{decays.n_atoms_} one-sided decays")
    markers, stems, _ = right.stem(decays.centers_[:, 0], decays.coef_, basefmt=" ", label="their weights")
    markers.set(color=ORANGE, zorder=5)
    stems.set(color=ORANGE)
    finish(right, "an answer that only comes after", "time", "level", legend="above")
    save(figure, folder, "indefinite_and_asymmetric.png")

    largest = np.argsort(-decays.coef_)[: len(EVENTS)]
    found = {
        "least_eigenvalue": float(eigenvalues[0]),
        "accuracy": float(sigmoid.score(X, y)),
        "decays": decays.n_atoms_,
        "bells": bells.n_atoms_,
        "farthest_event": float(np.abs(np.sort(decays.centers_[largest, 0]) - EVENTS).max()),
    }
    print("sigmoid: least eigenvalue {least_eigenvalue:.1f}, accuracy {accuracy:.3f}".format(**found))
    print(
        "decays: {decays} atoms, events found to within {farthest_event:.3f}; Gaussians: {bells} atoms".format(**found)
    )
    return found


def decay(X: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Nothing before the centre; 1 there; then a decay."""
    after = X - C.T
    return np.where(after >= 0, np.exp(-np.maximum(after, 0)), 0.0)


def make_doses(n_samples: int = 400, noise: float = 0.08, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Level of a substance that is given four times and decays."""
    t = np.linspace(0, 10, n_samples)[:, None]
    level = decay(t, EVENTS[:, None]) @ DOSES
    return t, level + noise * np.random.default_rng(seed).standard_normal(n_samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
