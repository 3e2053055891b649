"""The pictures of the page: errors against size and time on every set, and critical differences of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from defaults import ROOT
from matplotlib.ticker import NullFormatter
from sets import CLASSES, NUMBERS

from kernelpursuit.plotting.parts import CLASS_COLOURS, tidy

from .methods import DEFAULT, METHODS, OUR_MODEL, OURS, TUNED, VARIANTS, Model
from .ranks import Ranks, ranks
from .results import Results, counted, path_in
from .stored import Result

IMAGES = ROOT / "docs" / "images"
KINDS = {"numbers": NUMBERS, "classes": CLASSES}
COLUMNS = 4
MARKERS = "osD^vP*Xph<>8"
AXES = {"size": ("numbers", "numbers that a prediction needs"), "time": ("fit_cpu", "seconds of processor time to fit")}
ERRORS = {"numbers": "root mean squared error", "classes": "fraction of rows in a wrong class"}
LEAST = {"numbers": 10.0, "fit_cpu": 1e-3}  # what is less is put at the left edge
CLOSE_UP = {"numbers": 1.8, "classes": 2.5}  # times the least error, above which points are put at the upper edge


def style_of(model: Model) -> dict[str, Any]:
    """Return a marker and a colour of a method, filled where it is tuned; ours is black."""
    method, variant = model
    place = list(METHODS).index(method)
    colour = "black" if method == OURS else CLASS_COLOURS[place % len(CLASS_COLOURS)]
    face = colour if variant == TUNED or method == OURS else "none"
    return {"marker": MARKERS[place], "mec": colour, "mfc": face, "ls": "", "ms": 9 if method == OURS else 6}


def mean_path(found: Sequence[Result]) -> np.ndarray:
    """Return the means over splits of our smaller models that all splits have, and of those that were kept."""
    paths = [path_in(one) for one in found]
    shared = min((len(path) for path in paths), default=1) - 1
    return np.mean([[*path[:shared], path[-1]] for path in paths], axis=0) if paths else np.zeros((0, 3))


def shown(results: Results, name: str) -> tuple[list[Model], list[int]]:
    """Return the models and the splits of a set that make the most comparisons."""
    return next(results.tables(name), ([OUR_MODEL], results.common([OUR_MODEL], name)))


def draw_set(ax: Any, results: Results, name: str, key: str) -> None:
    """Draw the errors of models on a set against size or time; those far above are at the upper edge."""
    models, splits = shown(results, name)
    points = {}
    for model in models:
        found = results.at(model, name, splits)
        points[model] = tuple(float(np.mean([one[of] for one in found])) for of in (key, "error"))
    path = mean_path(results.at(OUR_MODEL, name, splits)) if key == "numbers" else np.zeros((0, 3))
    least = min([error for _, error in points.values()] + list(path[:, 2]))
    half_a_row = 0.5 / results.tried(OUR_MODEL, name)[0]["test_rows"]
    top = CLOSE_UP["classes"] * max(least, 4 * half_a_row) if name in CLASSES else CLOSE_UP["numbers"] * least
    for model, (x, error) in points.items():
        ax.plot(max(x, LEAST[key]), min(error, top), **style_of(model), clip_on=False, zorder=3)
    _, numbers, errors = path.T
    ax.plot(numbers, np.where(errors <= top, errors, np.nan), color="black", lw=1.2, zorder=2)
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_xlim()
    if high < 10 * low:  # so that two powers of ten are there to read the axis by
        ax.set_xlim(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)))
    ax.set_ylim(least - 0.08 * (top - least), top)
    title = f"{name}, {results.tried(OUR_MODEL, name)[0]['rows']:,} rows, {counted(len(splits), 'split')}"
    ax.set_title(title, fontsize="medium", loc="left", pad=9)  # above the markers on the edge
    tidy(ax)


def legend(figure: Any, models: Sequence[Model]) -> None:
    """Say which marker is which method."""
    names = dict.fromkeys(method for method, _ in models)
    handles = [plt.Line2D([], [], **style_of((name, TUNED)), label=METHODS[name].title) for name in names]
    handles.append(plt.Line2D([], [], ls="", label="hollow: default, filled: tuned"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)


def scatter(results: Results, kind: str, against: str) -> Any | None:
    """Return a figure of all sets of a kind, from few rows to many; None where there are none."""
    of_kind = (name for name in results.sets if name in KINDS[kind])
    names = [name for name in of_kind if results.fitted(OUR_MODEL, name)]
    if not names:
        return None
    key, label = AXES[against]
    n_lines = -(-len(names) // COLUMNS)
    size = (13, 2.9 * n_lines + 1.2)
    figure, axes = plt.subplots(n_lines, COLUMNS, figsize=size, layout="constrained", squeeze=False)
    for ax, name in zip(axes.flat, names):
        draw_set(ax, results, name, key)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    figure.supxlabel(label, fontsize="medium")
    figure.supylabel(ERRORS[kind], fontsize="medium")
    drawn = {model for name in names for model in shown(results, name)[0]}
    legend(figure, [model for model in results.models if model in drawn])
    return figure


# Critical differences


def draw_ranks(ax: Any, found: Ranks) -> None:
    """Draw models on a line of average ranks, and a bar over each clique."""
    n = len(found.models)
    half = (n + 1) // 2
    low, high = 1, n
    ax.set_xlim(low - 0.5, high + 0.5)
    ax.set_ylim(-half - 1.2, 2.2)
    ax.set_axis_off()
    ax.plot([low, high], [0, 0], color="black", lw=1)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.15], color="black", lw=1)
        ax.text(rank, 0.3, str(rank), ha="center", fontsize=8)
    ax.plot([low, low + found.critical], [1.5, 1.5], color="black", lw=2)
    about = f"critical difference {found.critical:.2f}, {found.n_sets} sets, {found.n_splits} splits in all"
    ax.text(low, 1.7, about, fontsize=9)
    for place, (model, rank) in enumerate(zip(found.models, found.average)):
        is_left = place < half
        y = -1.0 - (place if is_left else n - 1 - place)
        edge = low - 0.3 if is_left else high + 0.3
        ax.plot([rank, rank, edge], [0, y, y], color="#777777", lw=0.8)
        weight = "bold" if model == OUR_MODEL else "normal"
        label = f"{METHODS[model[0]].title}  {rank:.2f}"
        side = "right" if is_left else "left"
        ax.text(edge + (-0.1 if is_left else 0.1), y, label, ha=side, va="center", fontsize=9, fontweight=weight)
    for level, (first, last) in enumerate(found.cliques()):
        y = -0.22 - 0.24 * level
        ends = found.average[[first, last]] + [-0.05, 0.05]
        ax.plot(ends, [y, y], color="#0072B2", lw=3, solid_capstyle="butt")


def rank_figure(results: Results) -> Any | None:
    """Return critical difference diagrams of numbers and classes, defaults and tuned; None where there are none."""
    found = {}
    for kind, sets in KINDS.items():
        for variant in VARIANTS:
            models = [model for model in results.peers if model[1] == variant]
            of_kind = [model for model in models if any(METHODS[model[0]].is_for(name) for name in sets)]
            panel = ranks(results, of_kind, [name for name in results.sets if name in sets])
            if panel:
                found[kind, variant] = panel
    if not found:
        return None
    heights = [5 + len(panel.models) / 2 for panel in found.values()]
    inches = 0.32 * sum(heights)
    figure, axes = plt.subplots(len(found), 1, figsize=(11, inches), height_ratios=heights, squeeze=False)
    figure.subplots_adjust(left=0.27, right=0.73, top=1 - 0.35 / inches, bottom=0.01, hspace=0.25)
    for ax, ((kind, variant), panel) in zip(axes.flat, found.items()):
        beside = "peers at their defaults" if variant == DEFAULT else "tuned peers"
        ax.set_title(f"{kind}, {beside}", fontsize="medium", loc="left", fontweight="bold")
        draw_ranks(ax, panel)
    return figure


def write_pictures(results: Results, folder: Path = IMAGES) -> dict[str, str]:
    """Draw all pictures, and return their descriptions by the names of their files."""
    figures = {
        f"peers-{kind}-{against}.png": (scatter(results, kind, against), f"Errors against {against}, sets of {kind}")
        for against in AXES
        for kind in KINDS
    }
    figures["peers-ranks.png"] = (rank_figure(results), "Average ranks with critical differences")
    written = {}
    for name, (figure, about) in figures.items():
        if figure is not None:
            figure.savefig(folder / name, dpi=80)
            plt.close(figure)
            written[name] = about
    return written
