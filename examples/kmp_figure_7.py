"""Figure 7 of "Kernel matching pursuit": a far cluster draws the line of the squared error.

Rows that are far on the right side of the line have large margins, which the squared error takes for errors. With a
linear kernel it turns the line towards them and misclassifies others. Squared error after tanh does not.

    python examples/kmp_figure_7.py [folder]
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


def main(folder: str | Path = "out") -> dict[str, int]:
    figure, errors = draw()
    save(figure, folder, "kmp_figure_7.png")
    print("training errors: " + ", ".join(f"{name} {n}" for name, n in errors.items()))
    return errors


def draw() -> tuple[Figure, dict[str, int]]:
    """The figure, and what it shows in numbers."""
    X, y = make_far_cluster()
    # Two linear atoms and a constant are all the lines there are.
    linear = {"kernel": "linear", "penalty": None, "max_atoms": 2, "stop": "max"}
    models = {
        "hard-margin SVM": SVC(kernel="linear", C=1e6).fit(X, y),
        "KMP, squared error": KernelPursuitClassifier(loss="squared", **linear).fit(X, y),
        "KMP, squared error after tanh": KernelPursuitClassifier(loss="tanh", **linear).fit(X, y),
    }

    figure, axes = panels(1, 3, (11.5, 4.2), sharex=True, sharey=True)
    errors = {}
    for ax, (name, model) in zip(axes, models.items()):
        DecisionDisplay.from_estimator(model, X, y, ax=ax, colorbar=False, legend=False)
        wrong = model.predict(X) != y
        errors[name] = int(wrong.sum())
        ax.plot(*X[wrong].T, "s", ms=11, mfc="none", mec="black", mew=1.2, zorder=6, label="misclassified")
        ax.set_title(f"{name}: {errors[name]} errors", fontsize="medium")
        ax.label_outer()
    handles, labels = axes[1].get_legend_handles_labels()
    labels[2] = "centres or support vectors"
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure, errors


def make_far_cluster(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that a line can tell apart, one with a second cluster far away on its own side."""
    generator = np.random.default_rng(seed)
    upper = generator.normal([-0.6, 1.0], [0.7, 0.45], (30, 2))
    lower = generator.normal([0.6, -1.0], [0.7, 0.45], (30, 2))
    slope = np.array([-0.4, 1.0])
    upper, lower = upper[upper @ slope > 0.25], lower[lower @ slope < -0.25]
    far = generator.normal([7.0, -5.0], 0.5, (25, 2))
    return np.vstack([upper, lower, far]), np.repeat([1, -1, -1], [len(upper), len(lower), len(far)])


if __name__ == "__main__":
    main(*sys.argv[1:])
