"""The page `docs/peers.md`: what ours loses, tables and pictures, and how it was measured; from the stored results.

What is written by hand in the page stays; tables are put between its marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from defaults import ROOT, put_between, seconds, table, whole
from sets import SETS

from . import losses, plots
from .methods import METHODS, MODELS, OUR_MODEL, VARIANTS, Model, title_of
from .one_fit import PREDICT_SECONDS
from .results import Results, counted, is_tried
from .run import MEGABYTES, N_SPLITS, SECONDS
from .stored import JOURNAL, STORED, Result, merge, read

PAGE = ROOT / "docs" / "peers.md"
RATIOS = ("error", "fit_cpu", "predict_us", "numbers", "peak_mb")


def marks(name: str) -> tuple[str, str]:
    """Return the two marks of a part of the page."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def mean_of(found: Sequence[Result], key: str) -> float:
    """Return the mean of a figure over splits."""
    return float(np.mean([one[key] for one in found]))


# Tables


def summary_line(model: Model, results: Results) -> list[str]:
    """Return a model beside ours over the splits that both, and its other variant, have: geometric means of ratios."""
    variants = [one for one in results.peers if one[0] == model[0] and results.pairs(one)]
    pairs = results.pairs(model, beside=variants)
    tried = [one for name in results.sets for one in results.tried(model, name)]
    ended = sum(one["status"] == "ok" for one in tried)
    splits = sum(len(pair.ours) for pair in pairs)
    cells = [title_of(model), str(len(pairs)), str(splits), f"{ended} of {len(tried)}"]
    if not pairs:
        return cells + [""] * len(RATIOS)
    means = [float(np.exp(-np.mean([np.log(pair.ratio(key)) for pair in pairs]))) for key in RATIOS]
    return cells + [losses.figure(mean) for mean in means]


def summary(results: Results) -> str:
    """Return a line for every peer."""
    header = ("peer", "sets", "splits", "fits that ended", "error", "fit time", "predict time", "size", "memory")
    return table(header, [summary_line(model, results) for model in results.peers])


def figures(found: list[Result]) -> list[str]:
    """Return error, size, times and memory, means over splits."""
    cells = [f"{mean_of(found, 'error'):.4f}", whole(mean_of(found, "size")), whole(mean_of(found, "numbers"))]
    time = mean_of(found, "fit_cpu")
    cells.append(f"{time:.3f}" if time < 0.1 else seconds(time))
    return [*cells, seconds(mean_of(found, "predict_us")), f"{mean_of(found, 'peak_mb'):.1f}"]


def model_line(model: Model, name: str, splits: Sequence[int], results: Results) -> list[str]:
    """Return the figures of a model on these splits of a set, and how many of all its fits have ended."""
    ended = f"{len(results.fitted(model, name))} of {len(results.tried(model, name))}"
    return [title_of(model), *figures(results.at(model, name, splits)), ended]


def table_of(models: Sequence[Model], name: str, splits: Sequence[int], results: Results) -> str:
    """Return models on the same splits of a set, the lowest error first."""

    def error(model: Model) -> float:
        return mean_of(results.at(model, name, splits), "error")

    header = ("model", "error", "size", "numbers", "fit, s", "predict a row, us", "memory, MB", "fits that ended")
    lines = [model_line(model, name, splits, results) for model in sorted(models, key=error)]
    return f"{counted(len(splits), 'split').capitalize()}:\n\n{table(header, lines)}"


def set_part(name: str, results: Results) -> str:
    """Return a table for each group of models that have the same splits of a set, and what has failed there."""
    first = results.tried(OUR_MODEL, name)[0]
    shape = f"{first['rows']:,} rows for training, {first['test_rows']:,} for testing, {first['features']} features"
    tables = [table_of(models, name, splits, results) for models, splits in results.tables(name)]
    failed = [model for model in results.peers if results.tried(model, name) and not results.fitted(model, name)]
    ends = [f"{title_of(model)}: {results.tried(model, name)[0]['status']}." for model in failed]
    return "\n\n".join([f"### {name}", f"{shape}.", *tables, *ends])


def reasons(model: Model, results: Results) -> str:
    """Return the sets that a model has not been tried on, and why, where a reason is stored."""
    why: dict[str, list[str]] = {}
    for name in (name for name in SETS if METHODS[model[0]].is_for(name) and not results.tried(model, name)):
        stored = results.known(model, name)
        why.setdefault(stored[0]["status"] if stored else "not yet", []).append(name)
    return "; ".join(f"{reason}: {', '.join(names)}" for reason, names in why.items())


def coverage(results: Results) -> str:
    """Return how many splits of how many sets each model has been tried on, and what is missing."""
    lines = []
    for model in MODELS:
        sets = [name for name in SETS if METHODS[model[0]].is_for(name)]
        splits = [len(results.tried(model, name)) for name in sets if results.tried(model, name)]
        most = f"{min(splits)} to {max(splits)}" if splits else ""
        lines.append([title_of(model), f"{len(splits)} of {len(sets)}", most, reasons(model, results)])
    return table(("model", "sets", "splits of these", "sets not tried"), lines, n_words=4)


# How it was measured


def versions(results: Results) -> str:
    """Return each package with all versions of it that fits were made with."""
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(one["versions"] for one in results.lines if is_tried(one)):
        for name, number in (part.split() for part in text.split(", ")):
            found.setdefault(name, []).append(number)
    return ", ".join(f"{name} {' and '.join(dict.fromkeys(numbers))}" for name, numbers in found.items())


def measured(results: Results) -> str:
    """Return the limits, the machine, the versions, when the fits were made, and of which source ours are."""
    limits = " and ".join(f"{SECONDS[variant]} s of processor time ({variant})" for variant in VARIANTS)
    days = sorted(one["when"] for one in results.lines)
    machines, sources = (sorted({one[key] for one in results.lines if one[key]}) for key in ("machine", "source"))
    return (
        f"Each fit has at most {limits}, {MEGABYTES:,} MB, and {PREDICT_SECONDS} s for its predictions. "
        f"There are up to {N_SPLITS} splits of each set.\n\n"
        f"Machine: {' and '.join(machines)}, no accelerator, and it had other work throughout. "
        f"One fit at a time, in one thread, from {days[0]} to {days[-1]}. {versions(results)}; ours is of source "
        f"{', '.join(sources)}."
    )


# The page


def write(journal: Path = JOURNAL, stored: Path = STORED, page: Path = PAGE) -> None:
    """Add the journal, where there is one, to the stored results, then write the tables and the pictures."""
    if journal.exists():
        merge(journal, stored)
    results = Results(read(stored))
    pictures = plots.write_pictures(results, page.parent / "images")
    images = "\n\n".join(f"![{about}](images/{name})" for name, about in pictures.items())
    parts = {
        "losses": losses.tables(results),
        "summary": summary(results),
        "pictures": images,
        "measured": measured(results),
        "coverage": coverage(results),
        "sets": "\n\n".join(set_part(name, results) for name in results.sets),
    }
    for name, text in parts.items():
        put_between(*marks(name), text, page)
    print(f"The tables are in {page}.", flush=True)
