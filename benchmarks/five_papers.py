"""The systems of the five papers today, on all data sets: `make bench-systems` (an hour or two on one core).

Every system of `kernelpursuit.presets` is fitted to random splits, four fifths of the rows for training, and so are
the default of the library and outside references: kernel ridge regression and a support vector machine. Each system
has the loop, the penalty and the rule for its size of its paper. Its width, then the strength of its penalty, come from
a grid by 3-fold cross-validation on up to 1,000 training rows. `--learned` runs the second variant of each system:
`gamma="learn"`, and no grid.

Every fit is a line of `docs/five-papers-today.csv`, and a run does what is not there yet. `--again NAME` measures a
system anew; the last line of a kind counts. A run ends with the tables and the picture of
`docs/five-papers-today.md` (`five_papers_page.py`); `--write` makes these, and measures nothing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from defaults import ROOT, some_of, source_digest
from regression_methods import COSTS
from sets import CLASSES, OWN_SPLIT, SETS, Split, n_rows_of, split_of
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch, presets
from kernelpursuit.stopping import CV, StoppingRule
from reproduce.data import DataMissing

RESULTS = ROOT / "docs" / "five-papers-today.csv"
FIELDS = ("set", "split", "system", "variant", "rows", "test_rows", "features", "error", "difference_se", "atoms")
FIELDS += ("cpu_seconds", "last_fit_seconds", "gamma", "alpha", "source")

DEFAULT, RIDGE, MACHINE = "default", "kernel ridge", "SVM"
GRID, LEARNED = "grid", "learned"
PENALTIES = (1e-4, 1e-2, 1.0)  # of a ridge
NOISES = (0.01, 0.1, 1.0)  # noise variances of a Gaussian process, in units of the kernel's
FOLDS = 3
GRID_ROWS = 1000  # most rows that a grid is searched on
SCANNED_ROWS = 5000  # most rows for a system that scores all candidates in every step, and for kernel ridge
MOST_ATOMS = 200
TANH_ATOMS = 30  # a refit of kmp_tanh is a nonlinear optimisation
TOO_SLOW = {"kmp_tanh": ("digits", "usps")}  # ten models of minutes each
# Systems that never score all candidates: these get all rows.
UNSCANNED = ("greedy_qr", "greedy_qr_exchange", "mrx", "sparse_gp_random", "sparse_gp_kappa")

Result = dict[str, Any]
Key = tuple[str, int, str, str]


@dataclass
class Fitted:
    """A fitted model, its size, and what it took: all seconds, those of the last fit, and what was chosen."""

    model: Any
    atoms: int
    n_rows: int
    seconds: float
    last_fit_seconds: float
    chosen: dict[str, Any]


def n_splits(name: str) -> int:
    """Three splits below 10,000 rows, two above, and one where a data set comes with its own."""
    return 1 if name in OWN_SPLIT else 2 if n_rows_of(name) > 10_000 else 3


# The systems: the rule for the size and the grid of the penalty are those of the paper


def size_rule(name: str, is_classes: bool) -> str | StoppingRule | None:
    """Return what chooses the number of atoms in the paper; None where the preset says so itself.

    Nair, Choudhury and Keane have MDL, Hagiwara the leave-one-out error (but for `tcr`), Zhang a given number. Vincent
    and Bengio have cross-validation, and so do those whose papers leave it open: `mrx`, whose iterations MDL
    cannot judge, and `oga`.
    """
    if name in ("tcr", "oga_ptr"):
        return None
    if name in ("greedy_qr", "greedy_qr_exchange", "ormp"):
        return "mdl"
    if name in ("rfs", "ols"):
        return "loo"
    if name.startswith("sparse_gp"):
        return "max"
    return CV(folds=FOLDS, of="error" if is_classes else "loss")


def penalties(name: str, n_rows: int) -> np.ndarray | None:
    """Return the strengths of the penalty to choose from; None where there is nothing to choose."""
    if name in ("rfs", "ols"):
        return np.array(PENALTIES)
    return np.array(NOISES) / n_rows if name.startswith("sparse_gp") else None


def unfitted(name: str, split: Split, **params: Any) -> Any:
    """Return the estimator of a system, as it is run here."""
    preset: presets.Preset = getattr(presets, name)
    rule = size_rule(name, split.is_classes)
    most = TANH_ATOMS if name == "kmp_tanh" else MOST_ATOMS
    settings = {"max_atoms": min(most, len(split.train) // 2), "random_state": split.seed, "n_jobs": 1, **params}
    if rule is not None:
        settings["stop"] = rule
    return preset.classifier(**settings) if split.is_classes else preset(**settings)


def fit_system(name: str, variant: str, split: Split) -> Fitted:
    """Fit a system: by a grid and once more with the best, or with learned scales."""
    rows = split.drawn(len(split.train) if name in UNSCANNED else SCANNED_ROWS)
    begin = time.process_time()
    chosen = {"gamma": "learn"} if variant == LEARNED else searched(name, split, len(rows))
    last = time.process_time()
    model = unfitted(name, split, **chosen).fit(split.train[rows], split.y[rows])
    end = time.process_time()
    return Fitted(model, model.n_atoms_, len(rows), end - begin, end - last, chosen)


def searched(name: str, split: Split, n_rows: int) -> dict[str, float]:
    """Return the best width of the grid, and at this width the best penalty, by cross-validation."""
    rows = split.drawn(GRID_ROWS)
    data = split.train[rows], split.y[rows]
    judge = CV(folds=FOLDS, of="error" if split.is_classes else "loss")
    alphas = penalties(name, len(rows))
    middle = {} if alphas is None else {"alpha": alphas[len(alphas) // 2]}
    best = LengthScaleSearch(unfitted(name, split, **middle), gammas=split.gammas, by=judge).fit(*data).best_params_
    if alphas is not None:
        search = LengthScaleSearch(unfitted(name, split), gammas=[best["gamma"]], alphas=alphas, by=judge)
        best = search.fit(*data).best_params_
    if name.startswith("sparse_gp"):  # alpha is the noise over the number of rows, of which there are now more
        best["alpha"] *= len(rows) / n_rows
    return best


def fit_default(split: Split) -> Fitted:
    """Fit the library's default."""
    estimator = KernelPursuitClassifier if split.is_classes else KernelPursuitRegressor
    begin = time.process_time()
    model = estimator(random_state=split.seed, n_jobs=1).fit(split.train, split.y)
    seconds = time.process_time() - begin
    return Fitted(model, model.n_atoms_, len(split.train), seconds, seconds, {})


def fit_reference(model: Any, strengths: dict[str, Any], most: int, split: Split) -> Fitted:
    """Fit an outside model by the same grid of widths, folds and rows."""
    rows, for_grid = split.drawn(most), split.drawn(GRID_ROWS)
    grid = {"gamma": split.gammas, **strengths}
    scoring = "accuracy" if split.is_classes else "neg_mean_squared_error"
    begin = time.process_time()
    search = GridSearchCV(model, grid, cv=FOLDS, scoring=scoring, refit=False)
    chosen = search.fit(split.train[for_grid], split.y[for_grid]).best_params_
    last = time.process_time()
    model.set_params(**chosen).fit(split.train[rows], split.y[rows])
    end = time.process_time()
    return Fitted(model, len(getattr(model, "support_", rows)), len(rows), end - begin, end - last, chosen)


def fits_for(name: str, learned: bool) -> dict[tuple[str, str], Callable[[Split], Fitted]]:
    """Return what is fitted to a data set, by system and variant."""
    is_classes = name in CLASSES
    for_numbers = [one.name for one in presets.ALL if one is not presets.kmp_tanh]
    systems = [one.name for one in presets.ALL if not one.not_for_classes] if is_classes else for_numbers
    systems = [system for system in systems if name not in TOO_SLOW.get(system, ())]
    if learned:
        return {(system, LEARNED): partial(fit_system, system, LEARNED) for system in systems}
    machine = SVC(cache_size=1000) if is_classes else SVR(cache_size=1000)
    fits: dict[tuple[str, str], Callable[[Split], Fitted]] = {(DEFAULT, ""): fit_default}
    fits |= {(system, GRID): partial(fit_system, system, GRID) for system in systems}
    fits[MACHINE, ""] = partial(fit_reference, machine, {"C": COSTS}, sys.maxsize)
    if not is_classes:
        fits[RIDGE, ""] = partial(fit_reference, KernelRidge(kernel="rbf"), {"alpha": NOISES}, SCANNED_ROWS)
    return fits


SYSTEMS = (DEFAULT, *(preset.name for preset in presets.ALL), RIDGE, MACHINE)


# The results


def read_results(path: Path = RESULTS) -> dict[Key, Result]:
    """All results, the last of each kind."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return {(one["set"], int(one["split"]), one["system"], one["variant"]): one for one in lines}


def append_result(result: Result, path: Path = RESULTS) -> None:
    """Add a line, after one of names where the file is new."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(result)


def write_results(path: Path = RESULTS) -> None:
    """Write the lines that count, in one order, so that two runs may be compared line by line."""
    results = read_results(path)
    variants = ("", GRID, LEARNED)
    order = sorted(results, key=lambda key: (SETS.index(key[0]), SYSTEMS.index(key[2]), variants.index(key[3]), key[1]))
    path.unlink(missing_ok=True)
    for key in order:
        append_result(results[key], path)


# The run


def jobs(sets: Sequence[str], systems: Sequence[str], learned: bool) -> Iterator[tuple[str, int, str, str]]:
    """What is to be measured, split by split and from few rows to many: a run that is stopped early has most sets."""
    splits = {name: n_splits(name) for name in sorted(sets, key=n_rows_of)}
    for seed in range(max(splits.values())):
        for name in (name for name in splits if seed < splits[name]):
            yield from ((name, seed, system, kind) for system, kind in fits_for(name, learned) if system in systems)


@lru_cache(maxsize=1)
def default_on(name: str, seed: int) -> tuple[Split, Fitted, np.ndarray]:
    """Return a split, the default fitted to it, and what each test row adds to its error."""
    split = split_of(name, seed)
    fitted = fit_default(split)
    return split, fitted, split.error(fitted.model.predict(split.test))[1]


def measure(name: str, seed: int, system: str, variant: str) -> Result:
    """Fit a model to a split, and return a line of the results.

    `difference_se` is the standard error, over the test rows, of its error less that of the default.
    """
    split, default, of_default = default_on(name, seed)
    fitted = default if system == DEFAULT else fits_for(name, variant == LEARNED)[system, variant](split)
    error, of_rows = split.error(fitted.model.predict(split.test))
    chosen = {key: f"{value:.4g}" for key, value in fitted.chosen.items() if key in FIELDS and value != "learn"}
    return {
        **{"set": name, "split": seed, "system": system, "variant": variant, "rows": fitted.n_rows},
        **{"test_rows": len(split.test), "features": split.train.shape[1], "error": f"{error:.6f}"},
        "difference_se": f"{np.std(of_rows - of_default, ddof=1) / np.sqrt(len(of_rows)):.6f}",
        **{"atoms": int(fitted.atoms), "cpu_seconds": f"{fitted.seconds:.3f}"},
        **{"last_fit_seconds": f"{fitted.last_fit_seconds:.3f}", **chosen, "source": source_digest()},
    }


def run(sets: Sequence[str], systems: Sequence[str], learned: bool, again: Sequence[str], path: Path) -> bool:
    """Measure what is not there, or is asked for again; return whether all of it went well."""
    well, done = True, read_results(path)
    for name, seed, system, variant in jobs(sets, systems, learned):
        if (name, seed, system, variant) in done and system not in again:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = measure(name, seed, system, variant)
        except DataMissing:
            raise
        except Exception:  # one that fails leaves the others their turn, and is tried again by the next run
            traceback.print_exc()
            print(f"{name:<18} split {seed}  {system} {variant} FAILED", flush=True)
            well = False
            continue
        append_result(result, path)
        print(
            f"{name:<18} split {seed}  {system:<19}{variant:<8} error {result['error']}  "
            f"{result['atoms']:5} atoms  {result['cpu_seconds']:>8} s",
            flush=True,
        )
    return well


def main(arguments: list[str]) -> int:
    """Measure what is asked for, then write the page where nothing is left out."""
    parser = argparse.ArgumentParser(description="The systems of the five papers; lists have commas.")
    parser.add_argument("--sets", type=some_of(SETS), default=list(SETS))
    parser.add_argument("--systems", type=some_of(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--learned", action="store_true", help='the variant with gamma="learn" in place of the grid')
    parser.add_argument("--again", type=some_of(SYSTEMS), default=[], help="measure these anew")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--write", action="store_true", help="write the page and measure nothing")
    options = parser.parse_args(arguments)
    well = True
    if not options.write:
        well = run(options.sets, options.systems, options.learned, options.again, options.out)
        write_results(options.out)
    if options.out == RESULTS and (options.write or set(options.sets) == set(SETS)):
        from five_papers_page import write_page

        write_page(read_results(options.out))
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DataMissing as missing:
        sys.exit(str(missing))
