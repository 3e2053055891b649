"""Figures of Nair, Choudhury and Keane (2002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from kernelpursuit.plotting.parts import BLUE, GREEN, GREY, ORANGE
from reproduce.experiment import Measured
from reproduce.figures.panels import one_panel

METHODS: dict[str, dict[str, Any]] = {
    "MRX": {"color": ORANGE, "ls": "-.", "marker": "^"},
    "QR": {"color": BLUE, "ls": "-", "marker": "o"},
    "ORMP": {"color": GREEN, "ls": "--", "marker": "s"},
}


def overfitting(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 1: training error and distance to the function by subset size, means of the draws."""
    figure, ax = one_panel("number of basis functions n", "root mean square")
    test, training = (_mean_curve([one.curves[name] for one in measured]) for name in ("test", "training"))
    sizes = np.arange(1, len(test))
    best = int(np.argmin(test))
    ax.plot(sizes, test[1:], color=BLUE, label="distance to the function")
    ax.plot(sizes, training[1:], color=ORANGE, ls="--", label="training error")
    ax.plot(best, test[best], "o", color=BLUE, label=f"least, n = {best}")
    ax.set_ylim(bottom=0)
    return _with_legend(figure)


def criteria(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 2: MDL and both forms of AIC on Ripley's data by subset size, each less its least value."""
    figure, ax = one_panel("number of basis functions n", "criterion, less its least value")
    curves = measured[0].curves
    styles = {"MDL": (BLUE, "-"), "AIC": (ORANGE, "--"), "AIC as printed": (GREEN, "-.")}
    for name, (color, line) in styles.items():
        values = np.array(curves[name])
        best = int(np.argmin(values))
        ax.plot(np.arange(1, len(values)), values[1:] - values[best], color=color, ls=line, label=name)
        ax.plot(best, 0, "o", color=color, label=f"its least, n = {best}: error {curves['test error'][best]:.1f} %")
    ax.set_ylim(-2, 40)
    return _with_legend(figure)


def boundary(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 3: decision boundary and centres on Ripley's data, subset size chosen by MDL."""
    figure, ax = one_panel("first input", "second input")
    curves = measured[0].curves
    rows, labels, centres = (np.array(curves[name]) for name in ("rows", "labels", "centres"))
    for label, color, marker in ((0, BLUE, "x"), (1, ORANGE, "+")):
        of_class = rows[labels == label]
        ax.plot(of_class[:, 0], of_class[:, 1], marker, color=color, ms=5, ls="", label=f"class {label}")
    ax.plot(*centres.T, "o", mfc="none", color="black", ms=9, ls="", label=f"{len(centres)} centres")
    ax.contour(curves["horizontal"], curves["vertical"], curves["scores"], levels=[0.0], colors="black")
    ax.plot([], [], color="black", label="boundary")
    error = measured[0].cells["greedy QR", "error"]
    ax.set_title(f"error on the 1,000 test points: {error:.1f} %")
    return _with_legend(figure)


def sinc(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 4: the draw whose error is the median of all: function, samples, model and centres."""
    errors = [one.cells["QR + AIC", "RMSE"] for one in measured]
    typical = measured[int(np.argsort(errors)[(len(errors) - 1) // 2])]
    figure, ax = one_panel("x", "sin(x) / x")
    curves = typical.curves
    inputs, targets, kept = (np.array(curves[name]) for name in ("inputs", "targets", "kept"))
    ax.plot(inputs, targets, ".", color=GREY, label="samples")
    ax.plot(inputs[kept], targets[kept], "o", mfc="none", color=ORANGE, ms=9, ls="", label=f"{len(kept)} centres")
    ax.plot(curves["fine inputs"], curves["function"], color=GREEN, ls="--", label="function")
    ax.plot(curves["fine inputs"], curves["model"], color=BLUE, label="model")
    ax.set_title(
        f"root mean square deviation {typical.cells['QR + AIC', 'RMSE']:.4f}, the median of {len(errors)} draws"
    )
    return _with_legend(figure)


def convergence(measured: Sequence[Measured], *, sizes: Sequence[int], **_: Any) -> Figure:
    """Figures 5 and 6: normalised residual by subset size, mean of the splits."""
    figure, ax = one_panel("subset size n", "normalised residual  ‖y − Kα‖ / ‖y‖")
    for name, style in METHODS.items():
        values = _mean_curve([one.curves[name] for one in measured])
        ax.plot(np.arange(1, len(values)), values[1:], label=name, markevery=25, ms=4, **style)
    refitted = [one.curves["MRX refitted"] for one in measured if "MRX refitted" in one.curves]
    if refitted:
        style = METHODS["MRX"] | {"ls": ":", "mfc": "white"}
        ax.plot(sizes, np.mean(refitted, axis=0), label="MRX, refitted", ms=7, **style)
    ax.set_yscale("log")
    _plain_ticks(ax.yaxis)
    return _with_legend(figure)


def training_time(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 7: training time by the number of training rows, the subset a tenth of them."""
    figure, ax = one_panel("training rows m  (subset size n = m / 10)", "training time, seconds")
    for name, style in METHODS.items():
        times: dict[int, list[float]] = {}
        for one in measured:
            if name in one.curves:
                rows, seconds = one.curves[name]
                times.setdefault(int(rows), []).append(seconds)
        rows_in_order = sorted(times)
        ax.plot(rows_in_order, [np.median(times[rows]) for rows in rows_in_order], label=name, **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    _plain_ticks(ax.xaxis)
    _plain_ticks(ax.yaxis)
    return _with_legend(figure)


def _with_legend(figure: Figure) -> Figure:
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _plain_ticks(axis: Axis) -> None:
    """Ticks at 1, 2 and 5 of each decade, written as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _mean_curve(curves: Sequence[Sequence[float]]) -> np.ndarray:
    """The mean as far as all go: a path may end early, where an atom would depend on those before."""
    shortest = min(len(curve) for curve in curves)
    return np.mean([curve[:shortest] for curve in curves], axis=0)
