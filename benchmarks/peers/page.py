"""The page `docs/peers.md`: what ours loses, tables and pictures, and how it was measured; from the stored results.

What is written by hand in the page stays; tables are put between its marks.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from defaults import ROOT, put_between, seconds, table, whole

from . import losses, plots
from .methods import METHODS, MODELS, OUR_MODEL, VARIANTS, Model, title_of
from .one_fit import PREDICT_SECONDS
from .results import Results
from .run import MEGABYTES, N_SPLITS, SECONDS
from .stored import JOURNAL, STORED, Result, merge, read

PAGE = ROOT / "docs" / "peers.md"
MACHINE = ROOT / "docs" / "peers-machine.json"
PACKAGES = ("kernelpursuit", "numpy", "scipy", "scikit-learn", "lightgbm", "torch", "gpytorch", "fastrvm")
RATIOS = ("error", "fit_cpu", "predict_us", "numbers", "peak_mb")


def marks(name: str) -> tuple[str, str]:
    """Return the two marks of a part of the page."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def mean_of(found: Sequence[Result], key: str) -> float:
    """Return the mean of a figure over splits."""
    return float(np.mean([one[key] for one in found]))


# Tables


def summary_line(model: Model, results: Results) -> list[str]:
    """Return a model beside ours over all sets that both have: geometric means of its figures over ours."""
    pairs = results.pairs(model)
    tried = [one for name in results.sets for one in results.tried(model, name)]
    ended = sum(one["status"] == "ok" for one in tried)
    cells = [title_of(model), str(len(pairs)), f"{ended} of {len(tried)}"]
    if not pairs:
        return cells + [""] * len(RATIOS)
    means = [float(np.exp(-np.mean([np.log(pair.ratio(key)) for pair in pairs]))) for key in RATIOS]
    return cells + [losses.figure(mean) for mean in means]


def summary(results: Results) -> str:
    """Return a line for every peer."""
    header = ("peer", "sets", "fits that ended", "error", "fit time", "predict time", "size", "memory")
    return table(header, [summary_line(model, results) for model in results.peers])


def figures(found: list[Result]) -> list[str]:
    """Return error, size, times and memory, means over splits."""
    cells = [f"{mean_of(found, 'error'):.4f}", whole(mean_of(found, "size")), whole(mean_of(found, "numbers"))]
    time = mean_of(found, "fit_cpu")
    cells.append(f"{time:.3f}" if time < 0.1 else seconds(time))
    return [*cells, seconds(mean_of(found, "predict_us")), f"{mean_of(found, 'peak_mb'):.1f}"]


def model_line(model: Model, name: str, results: Results) -> list[str]:
    """Return what came of a model on a set; where no split went well, why."""
    tried, fitted = results.tried(model, name), results.fitted(model, name)
    splits = f"{len(fitted)} of {len(tried)}"
    cells = figures(fitted) if fitted else [tried[0]["status"], "", "", "", "", ""]
    return [title_of(model), splits, *cells]


def set_table(name: str, results: Results) -> str:
    """Return all models that were tried on a set, the lowest error first."""
    first = results.tried(OUR_MODEL, name)[0]
    models = [model for model in results.models if results.tried(model, name)]

    def error(model: Model) -> float:
        found = results.fitted(model, name)
        return mean_of(found, "error") if found else np.inf

    header = ("model", "splits", "error", "size", "numbers", "fit, s", "predict a row, us", "memory, MB")
    lines = [model_line(model, name, results) for model in sorted(models, key=error)]
    shape = f"{first['rows']:,} rows for training, {first['test_rows']:,} for testing, {first['features']} features"
    return f"### {name}\n\n{shape}.\n\n{table(header, lines)}"


def coverage(results: Results) -> str:
    """Return how many splits of how many sets each model has been tried on, and what is missing."""
    lines = []
    for model in MODELS:
        method, _ = model
        sets = [name for name in results.sets if METHODS[method].is_for(name)]
        splits = [len(results.tried(model, name)) for name in sets]
        tried = [name for name, n in zip(sets, splits) if n]
        missing = [name for name in sets if name not in tried]
        most = f"{min(n for n in splits if n)} to {max(splits)}" if tried else ""
        lines.append([title_of(model), f"{len(tried)} of {len(sets)}", most, ", ".join(missing)])
    return table(("model", "sets", "splits of these", "sets not yet tried"), lines, n_words=4)


# How it was measured


def machine() -> dict[str, str]:
    """Return what the figures depend on beside the code: processor, cores, versions."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    about = {"processor": names[0].split(":")[1].strip() if names else platform.machine()}
    about |= {"cores": str(os.cpu_count()), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            about[package] = version(package)
        except PackageNotFoundError:
            about[package] = "not installed"
    return about


def measured(about: dict[str, str], results: Results) -> str:
    """Return the limits, the machine, the versions, when the fits were made, and of which source ours are."""
    versions = ", ".join(f"{name} {about[name]}" for name in ("python", *PACKAGES))
    limits = " and ".join(f"{SECONDS[variant]} s of processor time ({variant})" for variant in VARIANTS)
    days = sorted(one["when"] for one in results.lines)
    sources = sorted({one["source"] for one in results.lines if one["source"]})
    return (
        f"Each fit has at most {limits}, {MEGABYTES:,} MB, and {PREDICT_SECONDS} s for its predictions. "
        f"There are up to {N_SPLITS} splits of each set.\n\n"
        f"Machine: {about['cores']} cores of {about['processor']}, no accelerator, and it had other work throughout. "
        f"One fit at a time, in one thread, from {days[0]} to {days[-1]}. {versions}; ours is of source "
        f"{', '.join(sources)}."
    )


# The page


def write(journal: Path = JOURNAL, stored: Path = STORED, page: Path = PAGE) -> None:
    """Add the journal, where there is one, to the stored results, then write the tables and the pictures."""
    if journal.exists():
        merge(journal, stored)
        MACHINE.write_text(json.dumps(machine(), indent=1) + "\n")
    results = Results(read(stored))
    pictures = plots.write_pictures(results, page.parent / "images")
    images = "\n\n".join(f"![{about}](images/{name})" for name, about in pictures.items())
    parts = {
        "losses": losses.tables(results),
        "summary": summary(results),
        "pictures": images,
        "measured": measured(json.loads(MACHINE.read_text()), results),
        "coverage": coverage(results),
        "sets": "\n\n".join(set_table(name, results) for name in results.sets),
    }
    for name, text in parts.items():
        put_between(*marks(name), text, page)
    print(f"The tables are in {page}.", flush=True)
