"""The defaults on a battery of generated functions, beside simple models: `make bench-battery` (hours).

A default must not fail silently. Every function of `functions.py` is drawn for each seed, and the default is compared
with the best single width of `LengthScaleSearch`, a Gaussian process with five restarts (up to 500 rows), a constant
and a line; for classes, with a search, a support vector machine over a grid, the larger class and a line. Errors are
on 2,000 new rows: for numbers, the root mean squared distance to the noise-free function over its spread; for classes,
the fraction of rows in a wrong one. The default has *failed* on a seed where its error is above 1.05 times that of the
best of the search and the Gaussian process (or the support vector machine), plus 0.002 (for classes, plus 0.01). It is
*behind* where that is so of the error on new rows, which have the noise of the training rows: what a user measures.

Every result is a line of JSON in `out/battery.jsonl`, and a run does what is not there yet. The default counts as
there only where it is of the present source; others, where they are of the same rows. `--write` puts the table into
`docs/battery.md` and measures nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from defaults import ROOT, append_to_journal, put_between, read_journal, some_of, source_digest, table
from functions import CLASSES, NUMBERS, Case
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch

JOURNAL = ROOT / "out" / "battery.jsonl"
PAGE = ROOT / "docs" / "battery.md"
BEGIN, END = "<!-- battery: begin -->", "<!-- battery: end -->"
TEST_ROWS = 2000
GP_ROWS = 500  # most rows that a Gaussian process with five restarts is affordable for
OURS = "ours"
FACTOR, NUMBERS_MARGIN, CLASSES_MARGIN = 1.05, 0.002, 0.01

Result = dict[str, Any]
Key = tuple[str, int, str, str]  # function, seed, model, and the source (ours) or the rows (others)


@dataclass
class Data:
    """Training rows with noise, and test rows without."""

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray
    truth: np.ndarray
    is_classes: bool

    @property
    def digest(self) -> str:
        """Eight digits that change with the data."""
        return f"{zlib.crc32(self.X.tobytes() + self.y.tobytes()):08x}"

    def error(self, prediction: np.ndarray) -> float:
        """Fraction of wrong classes, or the distance to the function over its spread."""
        if self.is_classes:
            return float(np.mean(prediction != self.truth))
        return float(np.sqrt(np.mean((prediction - self.truth) ** 2)) / np.std(self.truth))


def draw(name: str, seed: int) -> Data:
    """Return the rows of a function for a seed; test rows are drawn apart."""
    case: Case = (NUMBERS | CLASSES)[name]
    key = zlib.crc32(name.encode())
    rng, other = (np.random.default_rng([seed, key, part]) for part in (0, 1))
    X, f, noise = case.draw(case.n, rng)
    test, truth, _ = case.draw(TEST_ROWS, other)
    if name in CLASSES:
        return Data(X, np.where(rng.random(case.n) < noise, 1 - f, f), test, truth, is_classes=True)
    return Data(X, f + noise * np.std(truth) * rng.normal(size=case.n), test, truth, is_classes=False)


# The models: each takes a seed and returns something to fit


def numbers_search(seed: int) -> Any:
    return make_pipeline(StandardScaler(), LengthScaleSearch(KernelPursuitRegressor(random_state=seed, n_jobs=1)))


def classes_search(seed: int) -> Any:
    return make_pipeline(StandardScaler(), LengthScaleSearch(KernelPursuitClassifier(random_state=seed, n_jobs=1)))


def gaussian_process(seed: int) -> Any:
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, n_restarts_optimizer=5, normalize_y=True, random_state=seed)
    return make_pipeline(StandardScaler(), process)


def support_vectors(seed: int) -> Any:
    grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-2, 3, 6)}
    return make_pipeline(StandardScaler(), GridSearchCV(SVC(), grid, cv=3))


FOR_NUMBERS: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: KernelPursuitRegressor(random_state=seed, n_jobs=1),
    "search": numbers_search,
    "gp": gaussian_process,
    "constant": lambda seed: DummyRegressor(),
    "line": lambda seed: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-6, 6, 13))),
}
FOR_CLASSES: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: KernelPursuitClassifier(random_state=seed, n_jobs=1),
    "search": classes_search,
    "svc": support_vectors,
    "constant": lambda seed: DummyClassifier(),
    "line": lambda seed: make_pipeline(StandardScaler(), LogisticRegressionCV()),
}
MODELS = tuple(FOR_NUMBERS | FOR_CLASSES)


def models_for(name: str) -> dict[str, Callable[[int], Any]]:
    """Return what is compared on a function."""
    if name in CLASSES:
        return FOR_CLASSES
    affordable = NUMBERS[name].n <= GP_ROWS
    return {model: make for model, make in FOR_NUMBERS.items() if model != "gp" or affordable}


# The run


def key_of(result: Result) -> Key:
    return result["function"], result["seed"], result["model"], result.get("source", result["data"])


def jobs(names: Sequence[str], seeds: int, models: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """What is to be measured, seed by seed, so that a run that is stopped early has all functions."""
    for seed in range(seeds):
        for name in names:
            for model in models_for(name):
                if model in models:
                    yield name, seed, model


def measure(name: str, seed: int, model: str, data: Data) -> Result:
    """Fit a model to a function, and say how far it is from the truth."""
    estimator = models_for(name)[model](seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        prediction = estimator.fit(data.X, data.y).predict(data.test)
        seconds = time.process_time() - start
    about = {"function": name, "seed": seed, "model": model, "data": data.digest, "rows": len(data.X)}
    found = {"error": data.error(prediction), "cpu_seconds": round(seconds, 3)}
    if model == OURS:
        own = {"source": source_digest(), "atoms": estimator.n_atoms_, "stop_reason": estimator.stop_reason_}
        said = sorted({str(one.message) for one in caught if issubclass(one.category, UserWarning)})
        return {**about, **own, "said": said, **found}
    return {**about, **found}


def run(names: Sequence[str], seeds: int, models: Sequence[str], journal: Path) -> None:
    """Measure what is not in the journal."""
    for name, seed, model in jobs(names, seeds, models):
        data = draw(name, seed)
        if (name, seed, model, source_digest() if model == OURS else data.digest) in read_journal(journal, key_of):
            continue
        result = measure(name, seed, model, data)
        append_to_journal(result, journal)
        print(
            f"{name:<28} seed {seed}  {model:<9} error {result['error']:.4f}  {result['cpu_seconds']:8.2f} s",
            flush=True,
        )


# The report


def best_peer(errors: dict[str, float]) -> float:
    """Return the least error of those that the default is held to."""
    return min(errors[model] for model in ("search", "gp", "svc") if model in errors)


def has_failed(name: str, errors: dict[str, float]) -> bool:
    """Whether the default is behind the best of its peers by more than it may be."""
    margin = CLASSES_MARGIN if name in CLASSES else NUMBERS_MARGIN
    return errors[OURS] > FACTOR * best_peer(errors) + margin


def is_behind(name: str, errors: dict[str, float]) -> bool:
    """Whether its error on new rows, with their noise, is above that of the best by more than 5 %."""
    if name in CLASSES:
        return has_failed(name, errors)
    noise = NUMBERS[name].draw(2, np.random.default_rng(0))[2]
    return bool(np.hypot(errors[OURS], noise) > FACTOR * np.hypot(best_peer(errors), noise))


def errors_by_seed(results: Sequence[Result], name: str) -> list[dict[str, float]]:
    """Errors of every model, for each seed that ours and a peer have."""
    found: dict[int, dict[str, float]] = {}
    for one in results:
        if one["function"] == name:
            found.setdefault(one["seed"], {})[one["model"]] = one["error"]
    return [found[seed] for seed in sorted(found) if OURS in found[seed] and "search" in found[seed]]


def line_of(name: str, by_seed: list[dict[str, float]], columns: Sequence[str]) -> list[str]:
    """Return a line of a table: medians, the worst of ours, and on how many seeds it failed."""
    cells = []
    for model in columns:
        errors = [one[model] for one in by_seed if model in one]
        cells.append(f"{np.median(errors):.4f}" if errors else "")
    worst = max(one[OURS] for one in by_seed)
    failed, behind = (sum(test(name, one) for one in by_seed) for test in (has_failed, is_behind))
    return [name, str(len(by_seed)), *cells, f"{worst:.4f}", f"{failed} of {len(by_seed)}", str(behind)]


def report(journal: dict[Key, Result]) -> str:
    """Return the tables, in Markdown; ours are of the source that was measured last."""
    results = list(journal.values())
    source = next((one["source"] for one in reversed(results) if one["model"] == OURS), None)
    if source is None:
        return "The default has not been measured yet."
    results = [one for one in results if one["model"] != OURS or one["source"] == source]
    parts, failures, behind, fits = [], 0, 0, 0
    for title, cases, columns in (("Numbers", NUMBERS, FOR_NUMBERS), ("Two classes", CLASSES, FOR_CLASSES)):
        lines = []
        for name in cases:
            by_seed = errors_by_seed(results, name)
            if by_seed:
                lines.append(line_of(name, by_seed, list(columns)))
                failures += sum(has_failed(name, one) for one in by_seed)
                behind += sum(is_behind(name, one) for one in by_seed)
                fits += len(by_seed)
        parts += [f"## {title}", table(("function", "seeds", *columns, "worst of ours", "failed", "behind"), lines)]
    words = f"The default failed in {failures} of {fits} fits, and was behind in {behind}. Source {source}."
    return "\n\n".join([words, *parts])


def main(arguments: list[str]) -> None:
    """Measure what is asked for, or write the table."""
    names = [*NUMBERS, *CLASSES]
    parser = argparse.ArgumentParser(description="The defaults on generated functions; lists have commas.")
    parser.add_argument("--seeds", type=int, default=10, help="so many, from 0 on")
    parser.add_argument("--only", type=some_of(names), default=names, help="functions")
    parser.add_argument("--models", type=some_of(MODELS), default=list(MODELS))
    parser.add_argument("--out", type=Path, default=JOURNAL, help="the journal")
    parser.add_argument("--write", action="store_true", help="write the table into the page and measure nothing")
    options = parser.parse_args(arguments)
    if options.write:
        put_between(BEGIN, END, report(read_journal(options.out, key_of)), PAGE)
    else:
        run(options.only, options.seeds, options.models, options.out)


if __name__ == "__main__":
    main(sys.argv[1:])
