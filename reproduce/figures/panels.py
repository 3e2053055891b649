"""What the figures share."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelpursuit.plotting.parts import tidy


def one_panel(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    """A figure of one panel, with its labels."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    ax.set(xlabel=x_label, ylabel=y_label)
    tidy(ax)
    return figure, ax
