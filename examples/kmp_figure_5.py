"""Figure 5 of "Kernel matching pursuit": losses for classification as functions of the margin m = y f(x).

Losses from boosting and support vector machines reward ever larger margins. The squared error punishes them. The
squared error after tanh does so only a little, which keeps weights small without a constraint.

    python examples/kmp_figure_5.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from picture import BLUE, GREEN, ORANGE, finish, panels, save

from kernelpursuit.losses import DoomII, Exponential, Logistic, Loss, SmoothHinge, Squared, SquaredTanh

MARGIN_LOSSES: dict[str, tuple[Loss, str]] = {
    r"AdaBoost: $e^{-m}$": (Exponential(), BLUE),
    r"LogitBoost: $\log_2(1 + e^{-2m})$": (Logistic(), ORANGE),
    r"Doom II: $1 - \tanh(m)$": (DoomII(), GREEN),
    r"soft-margin SVM: $[1 - m]_+$": (SmoothHinge(width=1e-3), "black"),
}
TRADITIONAL_LOSSES: dict[str, tuple[Loss, str]] = {
    "squared: $(f - y)^2 = (1 - m)^2$": (Squared(), BLUE),
    r"squared after tanh: $(0.65 - \tanh(m))^2$": (SquaredTanh(), ORANGE),
}
LINES = ("-", "--", "-.", ":")


def main(folder: str | Path = "out") -> dict[str, float]:
    figure, at_3 = draw()
    save(figure, folder, "kmp_figure_5.png")
    print("loss at margin 3: " + ", ".join(f"{name} {value:.3f}" for name, value in at_3.items()))
    return at_3


def draw() -> tuple[Figure, dict[str, float]]:
    """The figure, and what some losses come to at a margin of 3."""
    margins = np.linspace(-3, 3, 601)
    figure, axes = panels(1, 2, (9.5, 3.9), sharex=True, sharey=True)
    families = {"Losses of boosting and of the SVM": MARGIN_LOSSES, "Traditional losses": TRADITIONAL_LOSSES}
    for ax, (title, family) in zip(axes, families.items()):
        for (label, (loss, colour)), line in zip(family.items(), LINES):
            ax.plot(margins, cost(loss, margins), line, color=colour, lw=2, label=label)
        ax.axvline(0, ymax=0.7, color="#AAAAAA", lw=0.8, zorder=0)
        ax.set(xlim=(-3, 3), ylim=(0, 4))
        finish(ax, title, "margin m = y f(x): wrong below 0, right above", "loss")
        ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(2 / 3, 1))
        ax.label_outer()
    losses = {"squared": Squared(), "tanh": SquaredTanh(), "doom2": DoomII(), "logistic": Logistic()}
    return figure, {name: float(cost(loss, np.array([3.0]))[0]) for name, loss in losses.items()}


def cost(loss: Loss, margins: np.ndarray) -> np.ndarray:
    """Loss of rows of class +1 with these scores, which are then their margins."""
    return loss.value(np.ones((1, len(margins))), margins[None])


if __name__ == "__main__":
    main(*sys.argv[1:])
