"""Xu's figures: errors along a path, and the model that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from kernelpursuit.plotting.parts import BLUE, ORANGE
from reproduce.experiment import Measured
from reproduce.figures.panels import one_panel


def path(measured: Sequence[Measured], **_: Any) -> Figure:
    """Training and test error against the number of atoms, for the first realisation, with PTR's choice."""
    curves = measured[0].curves
    figure, axes = one_panel("atoms, k", "root mean squared error")
    axes.semilogy(curves["training"], "-o", ms=3, color=BLUE, label="training RMSE, against noisy targets")
    axes.semilogy(curves["test"], "-o", ms=3, color=ORANGE, label="test RMSE, against the function")
    axes.axvline(curves["kept"][0], color="0.4", ls="--", label=f"PTR keeps {curves['kept'][0]} atoms")
    axes.set_title("One path on the sinc function, n = 1,000", fontsize="medium")
    axes.legend(frameon=False)
    return figure


def prediction(measured: Sequence[Measured], **_: Any) -> Figure:
    """The function, the noisy rows and the model of PTR."""
    curves = measured[0].curves
    figure, axes = one_panel("x", "y")
    axes.plot(curves["x"], curves["y"], ".", ms=2, color="0.75", label="training rows")
    axes.plot(curves["grid"], curves["truth"], color="black", lw=1, label="sinc function")
    axes.plot(curves["grid"], curves["prediction"], "--", color=ORANGE, lw=2, label="model of PTR")
    axes.plot(curves["centers"], [-0.55] * len(curves["centers"]), "^", color=BLUE, label="centres")
    axes.legend(frameon=False)
    return figure
