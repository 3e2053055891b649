"""Figure 6 of "Kernel matching pursuit": three ways to pursue, and a support vector machine, on the plane.

All four use the same Gaussian kernel. Back-fitting and pre-fitting get as many centres as the machine has support
vectors. Basic matching pursuit has 100 steps, most of which go back to a centre it already has.

The draw is chosen to show all of this at once, which 8 of 100 draws do. In all 100, basic pursuit has more centres than
the machine has support vectors; in 15 it does not separate the classes; back-fitting and pre-fitting do in 81 and 77.

    python examples/kmp_figure_6.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from picture import panels, save
from sklearn.svm import SVC

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.plotting import DecisionDisplay

GAMMA = 0.3


def main(folder: str | Path = "out") -> dict[str, dict[str, int]]:
    figure, found = draw()
    save(figure, folder, "kmp_figure_6.png")
    for name, numbers in found.items():
        print(f"{name}: {numbers['centres']} centres, {numbers['errors']} training errors")
    return found


def draw() -> tuple[Figure, dict[str, dict[str, int]]]:
    """The figure, and what it shows in numbers."""
    X, y = make_wave()
    svm = SVC(C=1e6, gamma=GAMMA).fit(X, y)
    n_support = len(svm.support_)
    gaussian = {"kernel": "rbf", "gamma": GAMMA, "fit_intercept": False}
    squared = {"loss": "squared", "penalty": None, "stop": "max", **gaussian}
    basic = KernelPursuitClassifier(selection="correlation", update="stagewise", max_atoms=100, **squared)
    back_fitting = KernelPursuitClassifier(selection="correlation", max_atoms=n_support, **squared)
    pre_fitting = KernelPursuitClassifier(selection="gain", max_atoms=n_support, **squared)
    models = {
        "basic": basic.fit(X, y),
        "back-fitting": back_fitting.fit(X, y),
        "pre-fitting": pre_fitting.fit(X, y),
        "hard-margin SVM": svm,
    }

    figure, axes = panels(2, 2, (9, 7.6), sharex=True, sharey=True)
    found = {}
    for ax, (name, model) in zip(axes.flat, models.items()):
        display = DecisionDisplay.from_estimator(model, X, y, ax=ax, colorbar=False, legend=False)
        wrong = model.predict(X) != y
        found[name] = {"centres": len(display.centers), "errors": int(wrong.sum())}
        ax.plot(*X[wrong].T, "s", ms=17, mfc="none", mec="black", mew=1.2, zorder=6, label="misclassified")
        steps = f", {len(model.path_)} steps" if name != "hard-margin SVM" else ""
        ax.set_title(f"{name}{steps}: {{centres}} centres, errors: {{errors}}".format(**found[name]), fontsize="medium")
        ax.label_outer()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    labels[2] = "centres or support vectors"
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure, found


def make_wave(n_samples: int = 40, gap: float = 0.4, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Rows above and below a wave, none of them near it."""
    X = np.random.default_rng(seed).uniform(-2, 2, (400, 2))
    height = X[:, 1] - 1.1 * np.sin(1.6 * X[:, 0])
    clear = np.flatnonzero(np.abs(height) > gap)[:n_samples]
    return X[clear], np.where(height[clear] > 0, 1, -1)


if __name__ == "__main__":
    main(*sys.argv[1:])
