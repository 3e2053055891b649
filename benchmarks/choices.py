"""Each default against what else it could have been, over all data sets: `make bench-choices` (an hour).

`--most-rows 10000` leaves out the large ones.

One parameter is changed at a time. A tenth of the rows of a regression set is for testing; of one of classes three
tenths, five times over, and a tuned support vector machine stands beside the choices. The tables go into
`docs/defaults-measured.md`. Data are loaded by `reproduce.data`, so the root of the repository must be in `PYTHONPATH`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from defaults import around, put_between, table
from regression_methods import COSTS, WIDTHS, Split
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.stopping import Loo
from reproduce.data import known, load

BEGIN, END = "<!-- choices: begin -->", "<!-- choices: end -->"

NUMBERS = (
    *("house_8L", "house_16H", "casp", "elevators", "ailerons", "delta_ailerons", "delta_elevators", "bank8FM_8192"),
    *("bank8FM_4499", "abalone", "boston", "autompg_392", "enb2012_heating", "enb2012_cooling"),
)
LABELS = (
    *("ripley_train", "ida_banana", "ida_breast_cancer", "ida_diabetis", "ida_german", "ida_image", "ida_waveform"),
    *("wbc_original_683", "sonar", "pima", "ionosphere"),
)
CHOICES: dict[str, dict[str, Any]] = {
    "as they come": {},
    'gamma="scale"': {"gamma": "scale"},
    'kernel="matern52"': {"kernel": "matern52"},
    'kernel="rbf"': {"kernel": "rbf"},
    "alpha=1e-3": {"alpha": 1e-3},
    "alpha=0.1": {"alpha": 0.1},
    "alpha=1": {"alpha": 1.0},
    "max_atoms=100": {"max_atoms": 100},
    "stop=Loo()": {"stop": Loo()},
    'stop="one-se"': {"stop": "one-se"},
    "refine=False": {"refine": False},
}
FOR_LABELS = ("as they come", 'gamma="scale"', 'kernel="rbf"', "alpha=1e-3", "alpha=1", 'stop="one-se"')
SEEDS_FOR_LABELS = (0, 1, 2, 3, 4)


@dataclass
class Fitted:
    """What came of one fit."""

    error: float
    atoms: int
    seconds: float


def fit_numbers(name: str, settings: dict[str, Any]) -> Fitted:
    split = Split(*load(name), seed=0)
    rows = split.standardised if settings.get("gamma") == "scale" else (split.train, split.test)
    start = time.process_time()
    model = KernelPursuitRegressor(random_state=0, **settings).fit(rows[0], split.y_train)
    seconds = time.process_time() - start
    return Fitted(split.rmse(model.predict(rows[1])), model.n_atoms_, seconds)


def fit_labels(name: str, seed: int, settings: dict[str, Any] | None) -> Fitted:
    """Ours with these settings; where those are None, a support vector machine at the best of 4 x 4."""
    X, y = load(name)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    if settings is None or settings.get("gamma") == "scale":
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)
    start = time.process_time()
    if settings is None:
        grid = {"C": COSTS, "gamma": [width / X.shape[1] for width in WIDTHS]}
        model: Any = GridSearchCV(SVC(), grid, cv=3).fit(train, y_train).best_estimator_
    else:
        model = KernelPursuitClassifier(random_state=0, **settings).fit(train, y_train)
    seconds = time.process_time() - start
    atoms = len(model.support_) if settings is None else model.n_atoms_
    return Fitted(1.0 - model.score(test, y_test), atoms, seconds)


def numbers_table(names: list[str]) -> str:
    """Errors as ratios to those of the defaults, since sets differ in how hard they are."""
    default = {name: fit_numbers(name, {}) for name in names}
    lines = []
    for words, settings in CHOICES.items():
        found = {name: fit_numbers(name, settings) if settings else default[name] for name in names}
        ratios = {name: found[name].error / default[name].error for name in names}
        worst, best = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
        lines.append(
            [
                f"`{words}`" if settings else words,
                f"{np.exp(np.mean(np.log(list(ratios.values())))):.3f}",
                f"{ratios[best]:.2f} ({best})" if settings else "",
                f"{ratios[worst]:.2f} ({worst})" if settings else "",
                f"{np.median([one.atoms for one in found.values()]):.0f}",
                f"{sum(one.seconds for one in found.values()):.0f}",
            ]
        )
        print(*lines[-1], flush=True)
    header = ("changed", "error, times the default's", "least", "most", "median atoms", "CPU seconds for all sets")
    return table(header, lines)


def labels_table(names: list[str]) -> str:
    """Errors in percent of the rows, as means over the sets; the least and the most of what is added to a set's."""
    choices = {words: CHOICES[words] for words in FOR_LABELS} | {"`SVC`, tuned": None}
    lines, default = [], np.zeros(0)
    for words, settings in choices.items():
        found = [fit_labels(name, seed, settings) for name in names for seed in SEEDS_FOR_LABELS]
        errors = 100 * np.reshape([one.error for one in found], (len(names), -1)).mean(axis=1)
        default = default if len(default) else errors
        more = errors - default
        ends = [f"{more[at]:+.1f} ({names[at]})" for at in (np.argmin(more), np.argmax(more))]
        lines.append(
            [
                f"`{words}`" if settings else words,
                f"{errors.mean():.2f} %",
                *(ends if lines else ("", "")),
                f"{np.median([one.atoms for one in found]):.0f}",
                f"{sum(one.seconds for one in found) / len(SEEDS_FOR_LABELS):.0f}",
            ]
        )
        print(*lines[-1], flush=True)
    header = ("changed", "rows in a wrong class", "least", "most", "median atoms", "CPU seconds for all sets, a split")
    return table(header, lines)


def main() -> None:
    """Measure, and put the tables between the marks of the page."""
    parser = argparse.ArgumentParser(description="Each default against what else it could have been.")
    parser.add_argument("--most-rows", type=int, default=sys.maxsize, help="leave larger sets out")
    most_rows = parser.parse_args().most_rows
    names, of_labels = ([name for name in all_of if known()[name]["rows"] <= most_rows] for all_of in (NUMBERS, LABELS))
    around(BEGIN, END)  # ends here where there is no room, and not after an hour
    numbers, labels = numbers_table(names), labels_table(of_labels)
    lists = [f"{len(some)} sets ({', '.join(some)})" for some in (names, of_labels)]
    words = f"Numbers, {lists[0]}:\n\n{numbers}\n\nClasses, {lists[1]}:\n\n{labels}"
    put_between(BEGIN, END, words)


if __name__ == "__main__":
    main()
