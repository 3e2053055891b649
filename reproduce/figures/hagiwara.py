"""Hagiwara's figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from reproduce.experiment import Measured


def penalties(measured: Sequence[Measured], **_: Any) -> Figure:
    """Test error of TCR against the penalty: mean and standard deviation over splits of ailerons."""
    shown = [one.curves for one in measured if "error of TCR" in one.curves]
    penalty = np.array(shown[0]["penalty"], dtype=float)
    errors = np.array([curves["error of TCR"] for curves in shown], dtype=float)
    spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.zeros(len(penalty))
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    # Shifted a little to the left of the penalty, so that bars and points do not cover each other.
    axes.plot(np.tile(penalty * 0.8, len(errors)), errors.ravel(), ".", color="0.65", label="one split")
    axes.errorbar(
        penalty, errors.mean(axis=0), spread, marker="o", capsize=4, color="#0072B2", label="mean, standard deviation"
    )
    axes.set_xscale("log")
    axes.set_xticks(penalty)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("penalty $\\lambda$")
    axes.set_ylabel("test error of TCR (mean squared)")
    axes.set_title(f"ailerons, {len(errors)} splits", loc="left", fontsize="medium")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    return figure
