"""The tables and the picture of `docs/five-papers-today.md`, from the results that `five_papers.py` measured.

Ratios are to the default of the library on the same splits, and their means over data sets are geometric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from defaults import ROOT, put_between, table
from five_papers import DEFAULT, LEARNED, MACHINE, RIDGE, SYSTEMS, Key, Result
from sets import CLASSES, NUMBERS

PAGE = ROOT / "docs" / "five-papers-today.md"
PICTURE = ROOT / "docs" / "images" / "five-papers-today.png"
KINDS = {"Numbers": NUMBERS, "Classes": CLASSES}
PAPERS = {
    "Vincent and Bengio": ("kmp_basic", "kmp_backfit", "kmp_prefit", "kmp_tanh"),
    "Nair, Choudhury and Keane": ("greedy_qr", "greedy_qr_exchange", "mrx", "ormp"),
    "Hagiwara": ("rfs", "ols", "tcr"),
    "Zhang": ("sparse_gp_greedy", "sparse_gp_random", "sparse_gp_kappa", "sparse_gp_subspace"),
    "Xu, Lin, Fang and Li": ("oga", "oga_ptr"),
}
OUTSIDE = "outside"
PAPER_OF = {name: paper for paper, names in PAPERS.items() for name in names}

Model = tuple[str, str]  # system and variant


@dataclass
class OnSet:
    """A model and the default on one data set, over the splits that both have."""

    theirs: list[Result]
    ours: list[Result]

    def means(self, key: str) -> tuple[float, float]:
        """Means over the splits: the model's, and the default's."""
        return tuple(float(np.mean([float(one[key]) for one in side])) for side in (self.theirs, self.ours))

    @property
    def error_ratio(self) -> float:
        """The error over the default's; errors of classes have half a row added, since some are 0."""
        theirs, ours = self.means("error")
        n_tested = sum(int(one["test_rows"]) for one in self.ours)
        extra = 0.5 / n_tested if self.ours[0]["set"] in CLASSES else 0.0
        return (theirs + extra) / (ours + extra)

    @property
    def atoms_ratio(self) -> float:
        """The number of atoms over the default's; NaN where the default has none."""
        theirs, ours = self.means("atoms")
        return max(theirs, 1.0) / ours if ours >= 1 else np.nan

    def time_ratio(self, key: str = "cpu_seconds") -> float:
        """Seconds over those of the default."""
        return self.means(key)[0] / self.means("cpu_seconds")[1]

    @property
    def verdict(self) -> str:
        """Whether its error is lower than the default's, level within a standard error, or higher.

        The standard error is of the mean difference over the splits, from the differences of their test rows.
        """
        theirs, ours = self.means("error")
        errors = np.array([float(one["difference_se"]) for one in self.theirs])
        limit = np.sqrt(np.sum(errors**2)) / len(errors)
        # One wrong row more is exactly one standard error; results have six digits.
        return "level" if abs(theirs - ours) <= limit + 2e-6 else "better" if theirs < ours else "worse"


class Results:
    """All results, by model and data set."""

    def __init__(self, results: dict[Key, Result]):
        self.by_model: dict[Model, dict[str, dict[int, Result]]] = {}
        for (name, split, system, variant), one in results.items():
            self.by_model.setdefault((system, variant), {}).setdefault(name, {})[split] = one
        order = [(system, variant) for system in SYSTEMS for variant in ("", "grid", LEARNED)]
        self.models = [model for model in order if model in self.by_model]

    def sets(self, kind: str) -> list[str]:
        """The data sets of a kind that the default has been measured on."""
        return [name for name in KINDS[kind] if name in self.by_model.get((DEFAULT, ""), {})]

    def on(self, model: Model, name: str) -> OnSet | None:
        """A model and the default on a data set; None where they have no split in common."""
        theirs, ours = (self.by_model[one].get(name, {}) for one in (model, (DEFAULT, "")))
        common = sorted(set(theirs) & set(ours))
        return OnSet([theirs[i] for i in common], [ours[i] for i in common]) if common else None

    def everywhere(self, model: Model, kind: str) -> dict[str, OnSet]:
        """A model and the default on all data sets of a kind."""
        found = {name: self.on(model, name) for name in self.sets(kind)}
        return {name: one for name, one in found.items() if one}


def label(model: Model) -> str:
    """Return what a model is called in a table."""
    system, variant = model
    words = system if system in (DEFAULT, RIDGE, MACHINE) else f"`{system}`"
    return f"{words}, learned" if variant == LEARNED else words


def paper_of(model: Model) -> str:
    """Return who published a system."""
    return PAPER_OF.get(model[0], "" if model[0] == DEFAULT else OUTSIDE)


def size_by(model: Model) -> str:
    """Return what chooses the number of atoms of a system."""
    words = {"rfs": "leave-one-out", "ols": "leave-one-out", "tcr": "`tcr`", "oga_ptr": "`ptr`", DEFAULT: "`auto`"}
    words |= dict.fromkeys(("greedy_qr", "greedy_qr_exchange", "ormp"), "`mdl`") | {RIDGE: "all rows", MACHINE: ""}
    return words.get(model[0], "200 steps" if model[0].startswith("sparse_gp") else "cross-validation")


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of what is known."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.exp(np.mean(np.log(known)))) if known else np.nan


def ratios(found: Sequence[OnSet]) -> list[float]:
    """Geometric means over data sets of the four ratios of a summary: error, atoms, time, and time of the last fit."""
    return [
        geometric_mean([one.error_ratio for one in found]),
        geometric_mean([one.atoms_ratio for one in found]),
        geometric_mean([one.time_ratio() for one in found]),
        geometric_mean([one.time_ratio("last_fit_seconds") for one in found]),
    ]


def plain(value: float) -> str:
    """Three digits, without an exponent."""
    return "-" if np.isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def summary(results: Results, kind: str) -> str:
    """Return a line for each model: what it is to the default, over all data sets of a kind."""
    header = ("system", "paper", "size by", "sets", "error", "median", "atoms", "time", "last fit")
    header += ("better", "level", "worse")
    lines = []
    for model in results.models:
        found = list(results.everywhere(model, kind).values())
        if not found:
            continue
        counts = [sum(one.verdict == verdict for one in found) for verdict in ("better", "level", "worse")]
        error, *others = ratios(found)
        # A few sets with hardly any error make most of the mean, so the median stands beside it.
        values = (error, float(np.median([one.error_ratio for one in found])), *others)
        numbers = [f"{value:.2f}" if value < 10 else plain(value) for value in values]
        verdicts = ["", "", ""] if model[0] == DEFAULT else [str(count) for count in counts]
        lines.append([label(model), paper_of(model), size_by(model), str(len(found)), *numbers, *verdicts])
    return table(header, lines, n_words=3)


def whole(results: Results, kind: str, key: str, form: Callable[[float], str]) -> str:
    """Return a table with a line for each model and a column for each data set; the least of a column is bold."""
    names = results.sets(kind)
    models = [model for model in results.models if results.everywhere(model, kind)]
    columns = []
    for name in names:
        found = [results.on(model, name) for model in models]
        values = np.array([one.means(key)[0] if one else np.nan for one in found])
        cells = ["-" if np.isnan(value) else form(value) for value in values]
        least = form(np.nanmin(values))
        columns.append([f"**{cell}**" if cell == least and key == "error" else cell for cell in cells])
    lines = [[label(model), *cells] for model, cells in zip(models, zip(*columns))]
    return table(("system", *names), lines)


def sizes(results: Results, kind: str) -> str:
    """Return rows, features and splits of the data sets."""
    lines = []
    for name in results.sets(kind):
        splits = list(results.by_model[DEFAULT, ""][name].values())
        rows, tested = (int(splits[0][key]) for key in ("rows", "test_rows"))
        lines.append([name, f"{rows:,}", f"{tested:,}", splits[0]["features"], str(len(splits))])
    return table(("set", "training rows", "test rows", "features", "splits"), lines)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def three_digits(value: float) -> str:
    return f"{value:.3f}"


def whole_tables(results: Results) -> str:
    """Return all figures by data set."""
    errors = {"Numbers": ("error", three_digits), "Classes": ("% of rows in a wrong class", percent)}
    parts = []
    for kind, (words, form) in errors.items():
        parts += [f"### {kind}: the data sets", sizes(results, kind)]
        parts += [f"### {kind}: {words}", whole(results, kind, "error", form)]
        parts += [f"### {kind}: atoms", whole(results, kind, "atoms", plain)]
        parts += [f"### {kind}: CPU seconds, grid and fit", whole(results, kind, "cpu_seconds", plain)]
    return "\n\n".join(parts)


# The picture


def draw(results: Results) -> Any:
    """Return a figure: error against size, both as ratios to the default, a panel for each kind."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11.5, 5.0), layout="constrained")
    for ax, kind in zip(axes, KINDS):
        draw_kind(ax, results, kind)
    legend = axes[0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=len(legend[1]), frameon=False, fontsize="small")
    return figure


def draw_kind(ax: Any, results: Results, kind: str) -> None:
    """Draw a dot for each system with its name, a faint one for each of its data sets, and the default at 1."""
    from kernelpursuit.plotting.parts import CLASS_COLOURS, GREY, tidy

    colours = dict(zip(("", *PAPERS, OUTSIDE), ("black", *CLASS_COLOURS[:5], GREY)))
    dots: dict[Model, tuple[float, float]] = {(DEFAULT, ""): (1.0, 1.0)}
    for model in results.models[1:]:
        found = list(results.everywhere(model, kind).values())
        error, atoms = ratios(found)[:2]
        if np.isfinite(atoms):  # the default has atoms on one of the sets
            dots[model] = atoms, error
            sets = np.array([(one.atoms_ratio, one.error_ratio) for one in found])
            ax.plot(*sets.T, ".", color=colours[paper_of(model)], ms=5, alpha=0.25, mec="none", zorder=1)
    labelled = {""}
    for model, dot in dots.items():
        paper = paper_of(model)
        style = {"mfc": "white"} if model[1] == LEARNED else {}
        words = {} if paper in labelled else {"label": paper}
        labelled.add(paper)
        ax.plot(*dot, "o" if paper else "*", color=colours[paper], ms=7 if paper else 13, zorder=3, **style, **words)
        if model[1] == LEARNED and (model[0], "grid") in dots:
            ax.plot(*zip(dots[model[0], "grid"], dot), color=colours[paper], lw=0.8, zorder=2)
    limit(ax, np.array(list(dots.values())))
    named = {model[0]: (*dot, colours[paper_of(model)]) for model, dot in dots.items() if model[1] != LEARNED}
    name_dots(ax, named)
    ax.set_title(f"{kind}, {len(results.sets(kind))} data sets", fontsize="medium", loc="left")
    ax.set(xlabel="atoms, times the default's", ylabel="error, times the default's")
    tidy(ax)


def limit(ax: Any, dots: np.ndarray) -> None:
    """Show the dots of the systems, on logarithmic axes; some of the faint ones lie outside."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set(xscale="log", yscale="log")
    (left, low), (right, high) = dots.min(axis=0), dots.max(axis=0)
    ax.set(xlim=(left / 1.6, right * 1.6), ylim=(low / 1.15, high * 1.15))
    for axis, subs in ((ax.xaxis, (1, 2, 5)), (ax.yaxis, (1, 1.2, 1.5, 2, 3, 5, 7, 8, 9))):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    for line in (ax.axhline, ax.axvline):
        line(1, color="#CCCCCC", lw=0.8, zorder=0)


def name_dots(ax: Any, dots: dict[str, tuple[float, float, str]]) -> None:
    """Write the names in a column on the right, in the order of the errors, each with a thin line to its dot."""
    order = sorted(dots, key=lambda name: dots[name][1])
    for place, name in zip(np.linspace(0.01, 0.97, len(order)), order):
        x, y, colour = dots[name]
        line = {"arrowstyle": "-", "color": colour, "lw": 0.4, "alpha": 0.6, "relpos": (0, 0.5)}
        where = {"xytext": (1.03, place), "textcoords": "axes fraction", "va": "center", "annotation_clip": False}
        ax.annotate(name, (x, y), **where, color=colour, fontsize="x-small", arrowprops=line)


def write_page(results: dict[Key, Result]) -> None:
    """Put the tables between the marks of the page, and draw the picture."""
    found = Results(results)
    for kind in KINDS:
        name = kind.lower()
        put_between(f"<!-- {name}: begin -->", f"<!-- {name}: end -->", summary(found, kind), PAGE)
    put_between("<!-- sets: begin -->", "<!-- sets: end -->", whole_tables(found), PAGE)
    draw(found).savefig(PICTURE, dpi=105)
    print(f"The tables are in {PAGE.relative_to(ROOT)}.", flush=True)
