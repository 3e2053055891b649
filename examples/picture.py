"""What the examples share: a figure without a window, labels alike in every panel, and a file at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from kernelpursuit.plotting.parts import BLUE, GREEN, GREY, ORANGE, plain_ticks, tidy

PURPLE = "#AA4499"
DOTS = {"ls": "none", "marker": ".", "color": "#444444", "ms": 5, "mew": 0, "alpha": 0.6}
CENTRES = {"ls": "none", "marker": "o", "mfc": ORANGE, "mec": "white", "mew": 1.0, "ms": 7, "zorder": 5}

__all__ = ["BLUE", "CENTRES", "DOTS", "GREEN", "GREY", "ORANGE", "PURPLE", "finish", "panels", "plain_ticks", "save"]


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes."""
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", **options)


def finish(ax: Any, title: str, x: str, y: str, legend: str | None = None) -> None:
    """Title, labels, and a legend at the given place, or above the panel where `legend` is "above"."""
    above = legend == "above"
    ax.set_title(title, fontsize="medium", loc="left", pad=22 if above else None)
    ax.set(xlabel=x, ylabel=y)
    tidy(ax)
    if above:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "ncols": 4}
        ax.legend(frameon=False, fontsize="small", handletextpad=0.4, columnspacing=1.2, **place)
    elif legend:
        ax.legend(frameon=False, fontsize="small", loc=legend)


def save(figure: Any, folder: str | Path, name: str) -> None:
    """Write the picture into the folder, which is made if need be."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(folder) / name, dpi=100)
    plt.close(figure)
