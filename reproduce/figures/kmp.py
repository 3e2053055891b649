"""Figures 5 to 7 of Vincent and Bengio (2002): those of the gallery."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reproduce.experiment import Measured

RARITIES = Path(__file__).parents[2] / "examples" / "gallery" / "rarities"


def losses(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 5: losses as functions of the margin."""
    return _drawn_by("plot_margins")


def plane(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 6: three ways to pursue, and a support vector machine, on the plane."""
    return _drawn_by("plot_three_pursuits")


def far_cluster(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 7: a far cluster draws the line of the squared error."""
    return _drawn_by("plot_far_cluster")


def _drawn_by(name: str) -> Figure:
    """The figure that a script of the gallery draws."""
    figure: Figure = runpy.run_path(str(RARITIES / f"{name}.py"))["figure"]
    plt.close(figure)  # pyplot need not keep it
    return figure
