"""The tables and the picture of `docs/classification-benchmark.md`, from the results that `classify.py` measured.

A table has the sets that the default has, each over the splits that all methods with any result on it have. Ours and a
peer are compared over all splits that both have. The standard error of the difference of two errors is over
the test rows, on each of which both are right or wrong; results have a bit for every test row to that end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from classify_methods import PEERS, calibration_error
from classify_sets import LARGE, SETS, USPS_OWN
from defaults import ROOT, put_between, seconds, table, whole

PAGE = ROOT / "docs" / "classification-benchmark.md"
PICTURE = ROOT / "docs" / "images" / "reliability.png"
BEGIN, END = "<!-- classification: begin -->", "<!-- classification: end -->"
DEFAULT = "default"
TITLES = {"svc": "SVC", "nystroem": "Nyström", "lightgbm": "LightGBM", "logistic": "logistic"}
CALIBRATED = (DEFAULT, "lightgbm", "svc", "logistic")
PICTURED = ("ida_banana", "ida_waveform", "ida_german", "ida_image", "digits", "usps")
ADDED = 0.002  # to both errors of a ratio, since some are 0
USPS_ERROR, USPS_TIMES = 0.047, 3

Result = dict[str, Any]


def wrong_rows(result: Result) -> np.ndarray:
    """Return 1 for every test row in a wrong class, and 0 for the others."""
    packed = np.frombuffer(bytes.fromhex(result["wrong"]), dtype=np.uint8)
    return np.unpackbits(packed, count=result["test_rows"]).astype(float)


def mean_of(results: Sequence[Result], key: str) -> float:
    """Return the mean of a figure over splits; NaN where there is none."""
    figures = [one[key] for one in results if one[key] is not None]
    return float(np.mean(figures)) if figures else np.nan


@dataclass
class Pair:
    """Ours and a peer on one set, over the splits that both have."""

    name: str
    ours: list[Result]
    theirs: list[Result]

    @property
    def rows(self) -> int:
        """Training rows."""
        return self.ours[0]["rows"]

    def both(self, key: str) -> tuple[float, float]:
        """Means over the splits: ours and theirs."""
        return mean_of(self.ours, key), mean_of(self.theirs, key)

    def times_less(self, key: str) -> float:
        """Theirs over ours; infinite where ours is nothing."""
        mine, other = self.both(key)
        return other / mine if mine else np.inf

    @property
    def error_ratio(self) -> float:
        """Our error over theirs, `ADDED` to both."""
        mine, other = self.both("error")
        return (mine + ADDED) / (other + ADDED)

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean difference of the errors, over the test rows."""
        differences = [wrong_rows(mine) - wrong_rows(other) for mine, other in zip(self.ours, self.theirs)]
        return float(np.sqrt(sum(np.var(one, ddof=1) / len(one) for one in differences)) / len(differences))

    def no_higher(self, standard_errors: float) -> bool:
        """Whether our error is at most so many standard errors above theirs."""
        mine, other = self.both("error")
        return mine - other <= standard_errors * self.standard_error + 1e-12

    def lower(self, key: str = "error") -> bool:
        """Whether ours is lower."""
        mine, other = self.both(key)
        return mine < other


class Results:
    """The results of the peers and those of ours with a tag, by method, set and split."""

    def __init__(self, results: Iterable[Result], tag: str):
        self.by_method: dict[str, dict[str, dict[int, Result]]] = {}
        for one in results:
            if one["method"] in PEERS or one["tag"] == tag:
                of_set = self.by_method.setdefault(one["method"], {}).setdefault(one["set"], {})
                of_set[one["split"]] = one
        ours = sorted((name for name in self.by_method if name not in PEERS), key=lambda name: (name != DEFAULT, name))
        self.methods = [*ours, *(name for name in PEERS if name in self.by_method)]
        known = {name: place for place, name in enumerate(SETS)}  # those of a folder come after, from few rows to many
        measured = self.by_method.get(DEFAULT, {})
        rows = {name: min(one["rows"] for one in found.values()) for name, found in measured.items()}
        self.sets = sorted(rows, key=lambda name: (known.get(name, len(SETS)), rows[name], name))

    def splits(self, name: str) -> list[int]:
        """The splits of a set that all methods have, of those with any result on it."""
        found = (set(of_sets[name]) for of_sets in self.by_method.values() if name in of_sets)
        return sorted(set.intersection(*found))

    def on(self, method: str, name: str) -> list[Result]:
        """The results of a method on a set, over the splits of the tables."""
        found = self.by_method.get(method, {}).get(name, {})
        return [found[split] for split in self.splits(name)] if found else []

    def pairs(self, peer: str, method: str = DEFAULT) -> list[Pair]:
        """Ours and a peer on all sets that both have, but for the own test rows of USPS."""
        found = (self.pair(peer, name, method) for name in self.sets if name != USPS_OWN)
        return [pair for pair in found if pair]

    def pair(self, peer: str, name: str, method: str = DEFAULT) -> Pair | None:
        """Ours and a peer on a set; None where they have no split in common."""
        mine, other = (self.by_method.get(one, {}).get(name, {}) for one in (method, peer))
        common = sorted(set(mine) & set(other))
        return Pair(name, [mine[i] for i in common], [other[i] for i in common]) if common else None


# The targets


def counted(peer: str, what: str, found: list[Pair], test: Callable[[Pair], bool], least: float = 1.0) -> list[str]:
    """Return a line of the targets: on how many sets a thing holds that must hold on a fraction of them."""
    missed = [pair.name for pair in found if not test(pair)]
    holds, needed = len(found) - len(missed), int(np.ceil(least * len(found) - 1e-9))
    met = "open" if not found else "yes" if holds >= needed else "no"
    wanted = f"{needed} of {len(found)}" if found else ""
    return [TITLES[peer], what, wanted, f"{holds} of {len(found)}" if found else "", met, ", ".join(missed)]


def one_figure(against: str, what: str, reached: float, most: float, form: str) -> list[str]:
    """Return a line of the targets: whether one figure is at most what it may be; NaN is not measured yet."""
    met = "open" if np.isnan(reached) else "yes" if reached <= most else "no"
    return [against, what, f"at most {format(most, form)}", "" if met == "open" else format(reached, form), met, ""]


def targets(results: Results) -> list[list[str]]:
    """Return what was aimed at, and what came of it."""
    svc, nystroem, lightgbm = (results.pairs(peer) for peer in ("svc", "nystroem", "lightgbm"))
    large = [pair for pair in svc if pair.rows > LARGE]
    ratio = float(np.mean([pair.error_ratio for pair in svc])) if svc else np.nan
    own, usps = results.on(DEFAULT, USPS_OWN), results.pair("svc", USPS_OWN)
    times = mean_of(usps.ours, "seconds") / mean_of(usps.theirs, "fit_seconds") if usps else np.nan
    less = f"search and fit 5 times shorter, above {LARGE:,} training rows"
    return [
        counted("svc", "error no higher, within a standard error", svc, lambda pair: pair.no_higher(1)),
        one_figure("SVC", "mean ratio of errors", ratio, most=1.0, form=".3f"),
        counted("svc", less, large, lambda pair: pair.times_less("seconds") >= 5),
        counted("svc", "a fifth of its vectors", svc, lambda pair: pair.times_less("size") >= 5, least=0.8),
        counted("nystroem", "error lower", nystroem, Pair.lower, least=0.8),
        counted("nystroem", "error never two standard errors higher", nystroem, lambda pair: pair.no_higher(2)),
        counted("lightgbm", "error no higher", lightgbm, lambda pair: pair.no_higher(0), least=0.5),
        counted("lightgbm", "log loss lower", lightgbm, lambda pair: pair.lower("log_loss"), least=0.5),
        counted("lightgbm", "predict 3 times faster", lightgbm, lambda pair: pair.times_less("predict_us") >= 3),
        one_figure("USPS, own test rows", "error", mean_of(own, "error"), most=USPS_ERROR, form=".2%"),
        one_figure("USPS, own test rows", "fit, times one fit of SVC", times, most=USPS_TIMES, form=".2f"),
    ]


# The tables of sets and methods


def by_set(results: Results, cell: Callable[[list[Result]], str], about: bool = False) -> str:
    """Return a table of sets and methods; with `about`, also what the sets are."""
    methods = [TITLES.get(method, f"`{method}`") for method in results.methods]
    header = ["set", *(("training rows", "features", "classes", "splits") if about else ()), *methods]
    lines = []
    for name in results.sets:
        ours = results.on(DEFAULT, name)
        if not ours:  # no split that all have
            continue
        what = [*(whole(ours[0][key]) for key in ("rows", "features", "classes")), str(len(ours))] if about else []
        found = (results.on(method, name) for method in results.methods)
        lines.append([name, *what, *(cell(one) if one else "" for one in found)])
    return table(header, lines)


def error_cell(found: list[Result]) -> str:
    """Return the mean error in per cent, with its standard error over the splits."""
    errors = 100 * np.array([one["error"] for one in found])
    spread = f" ± {errors.std(ddof=1) / np.sqrt(len(errors)):.2f}" if len(errors) > 1 else ""
    return f"{errors.mean():.2f}{spread}"


def seconds_cell(found: list[Result]) -> str:
    """Return the seconds of search and fit and, after a stroke, those of the last fit where there was a search."""
    last = f" / {seconds(mean_of(found, 'fit_seconds'))}" if "chosen" in found[0] else ""
    return seconds(mean_of(found, "seconds")) + last


def size_cell(found: list[Result]) -> str:
    size = mean_of(found, "size")
    return whole(size) if np.isfinite(size) else ""


# Reliability


def pooled_bins(found: Sequence[Result]) -> np.ndarray:
    """Return the bins of all splits together: the lowest of each in one, and so on up to the highest."""
    bins = np.array([one["bins"] for one in found])
    rows = bins[:, :, 0]
    means = np.average(bins[:, :, 1:], axis=0, weights=np.repeat(rows[:, :, None], 2, axis=2))
    return np.column_stack([rows.sum(axis=0), means])


def pooled_error(found: Sequence[Result]) -> float:
    """Return the expected calibration error of all splits together."""
    return calibration_error(pooled_bins(found).tolist())


def reliability(results: Results) -> str:
    """Return the means over the sets that all of `CALIBRATED` have, and the calibration error of each set."""
    methods = [method for method in CALIBRATED if method in results.by_method]
    common = [name for name in results.sets if all(results.on(method, name) for method in methods)]
    lines = []
    for method in methods:
        errors = [pooled_error(results.on(method, name)) for name in common]
        means = [np.mean([mean_of(results.on(method, name), key) for name in common]) for key in ("brier", "log_loss")]
        figures = (np.mean(errors), np.median(errors), *means)
        lines.append([TITLES.get(method, f"`{method}`"), *(f"{one:.4f}" for one in figures)])
    header = ("method", "mean calibration error", "median", "mean Brier score", "mean log loss")
    of_sets = f"Over the {len(common)} sets that all of these have:"
    return "\n\n".join([of_sets, table(header, lines), by_set(results, lambda found: f"{pooled_error(found):.4f}")])


def draw(results: Results) -> Any:
    """Return a figure: reliability diagrams of six sets, the first of `PICTURED` that all have."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from kernelpursuit.plotting.parts import CLASS_COLOURS, tidy

    methods = [method for method in CALIBRATED if method in results.by_method]
    order = [*(name for name in PICTURED if name in results.sets), *results.sets]
    names = [name for name in dict.fromkeys(order) if all(results.on(method, name) for method in methods)][:6]
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 7.0), layout="constrained", squeeze=False)
    for ax, name in zip(axes.flat, names):
        ax.axline((1, 1), slope=1, color="#CCCCCC", lw=0.8, zorder=0)
        for method, colour in zip(methods, CLASS_COLOURS):
            _, largest, right = pooled_bins(results.on(method, name)).T
            width = 2.0 if method == DEFAULT else 1.0
            label = "SVC with Platt's sigmoid" if method == "svc" else TITLES.get(method, method)
            ax.plot(largest, right, "o-", color=colour, ms=3, lw=width, label=label)
        ax.set_title(name, fontsize="medium", loc="left")
        tidy(ax)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    figure.supxlabel("largest probability, mean of a bin", fontsize="medium")
    figure.supylabel("fraction of right classes", fontsize="medium")
    if names:
        legend = axes[0, 0].get_legend_handles_labels()
        figure.legend(*legend, loc="outside upper center", ncols=len(methods), frameon=False)
    return figure


# The page


def tables(results: Results) -> str:
    """Return all that goes between the marks of the page."""
    if DEFAULT not in results.by_method:
        return "The default has not been measured yet."
    first = [one for found in results.by_method[DEFAULT].values() for one in found.values()]
    sources = ", ".join(sorted({one["source"] for one in first}))
    used: dict[str, str] = {}
    for found in results.by_method.values():
        for of_set in found.values():
            for one in of_set.values():
                used |= one["versions"]
    header = ("against", "target", "wanted", "reached", "met", "not on")
    parts = [
        *("## Targets", table(header, targets(results), n_words=6)),
        *("## Errors, %", by_set(results, error_cell, about=True)),
        *("## Log loss", by_set(results, lambda found: f"{mean_of(found, 'log_loss'):.4f}")),
        *("## Size", by_set(results, size_cell)),
        *("## Seconds", by_set(results, seconds_cell)),
        *("## Microseconds to predict a row", by_set(results, lambda found: seconds(mean_of(found, "predict_us")))),
        *("## Reliability", reliability(results)),
        f"![Reliability diagrams of six sets](images/{PICTURE.name})",
        f"Source {sources}; {', '.join(f'{name} {number}' for name, number in used.items())}.",
    ]
    return "\n\n".join(parts)


def write_page(results: Iterable[Result], tag: str) -> None:
    """Put the tables between the marks of the page, and draw the picture."""
    found = Results(results, tag)
    put_between(BEGIN, END, tables(found), PAGE)
    if DEFAULT in found.by_method:
        draw(found).savefig(PICTURE, dpi=105)
    print(f"The tables are in {PAGE}.", flush=True)
