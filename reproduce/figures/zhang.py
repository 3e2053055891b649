"""Figures of Zhang (2002), section 8, with the bound of Theorem 5.1, which the paper does not draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernelpursuit.plotting.parts import BLUE, GREEN, GREY, ORANGE
from reproduce.experiment import Measured
from reproduce.figures.panels import one_panel

# What the curves are called, their labels, and how they are drawn.
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "greedy": ("greedy (Algorithm 1)", {"color": BLUE, "ls": "-", "marker": "o"}),
    "kappa-greedy": ("κ-greedy (Algorithm 3)", {"color": GREEN, "ls": "--", "marker": "s"}),
    "random": ("random (Algorithm 2)", {"color": ORANGE, "ls": "-.", "marker": "^"}),
}
BOUND: dict[str, Any] = {"color": GREY, "ls": ":", "lw": 2.0}


def algorithms(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 1: gap against the number of terms, mean of the runs of each algorithm on one draw of data."""
    figure, ax = one_panel("number of terms k", "gap to the exact process, ΔR")
    curves = measured[0].curves
    for name, (label, style) in ALGORITHMS.items():
        terms, gaps = np.mean(curves[f"terms, {name}"], axis=0), np.array(curves[f"gap, {name}"])
        runs = f", mean of {len(gaps)} runs" if len(gaps) > 1 else ""
        ax.plot(terms, gaps.mean(axis=0), label=label + runs, markevery=20, ms=4, **style)
    bound = np.array(curves["theorem 5.1"])
    ax.plot(np.arange(len(bound)), bound, label="Theorem 5.1", **BOUND)
    ax.set_ylim(bottom=0)
    return _with_legend(figure)


def spread(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 2: mean, least and largest gap of the runs of the algorithms that draw at random."""
    figure, ax = one_panel("number of terms k", "gap to the exact process, ΔR")
    curves = measured[0].curves
    for name in ("random", "kappa-greedy"):
        label, style = ALGORITHMS[name]
        terms, gaps = np.mean(curves[f"terms, {name}"], axis=0), np.array(curves[f"gap, {name}"])
        ax.plot(terms, gaps.mean(axis=0), label=f"{label}, mean of {len(gaps)} runs", markevery=20, ms=4, **style)
        least, largest = gaps.min(axis=0), gaps.max(axis=0)
        ax.fill_between(terms, least, largest, color=style["color"], alpha=0.25, lw=0, label="least to largest")
    bound = np.array(curves["theorem 5.1"])
    ax.plot(np.arange(len(bound)), bound, label="Theorem 5.1", **BOUND)
    ax.set_ylim(bottom=0)
    return _with_legend(figure)


def rates(
    measured: Sequence[Measured], *, alphas: Sequence[float], n_terms: int, inputs: str = "sparse", **_: Any
) -> Figure:
    """Figures 3 and 4: what part of the gap is left after a fixed number of terms, for several alpha."""
    figure, ax = one_panel("λ", f"gap of {n_terms} terms over gap of none")
    for name, (label, style) in ALGORITHMS.items():
        ax.plot(alphas, _mean(measured, name), label=label, ms=5, **style)
    ax.plot(alphas, _mean(measured, "theorem 5.1"), label="Theorem 5.1", **BOUND)
    ax.set_xscale("log")
    if inputs == "sparse":
        ax.set_ylim(bottom=0)
    else:
        ax.set_yscale("log")
        middle = len(alphas) // 2
        guide = _mean(measured, "random")[middle] * alphas[middle] / np.array(alphas)
        ax.plot(alphas, np.where(guide < 1, guide, np.nan), color="black", lw=0.8, label="slope of 1/λ", zorder=0)
    return _with_legend(figure)


def _mean(measured: Sequence[Measured], curve: str) -> np.ndarray:
    return np.mean([one.curves[curve] for one in measured], axis=0)


def _with_legend(figure: Figure) -> Figure:
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure
