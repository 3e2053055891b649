"""What `benchmarks/classify.py` fits, and what it measures: ours, and four peers as their users would set them.

Every method takes a `Split` and returns a `Fitted`. All run in one thread. A peer with something to tune is searched
over a grid by 3-fold cross-validation on the training rows, on a sample of 3,000 where there are more than 5,000, and
fitted once more to all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from classify_sets import Split
from regression_methods import COMPONENTS
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from timing import Clock, microseconds_a_row

from kernelpursuit import KernelPursuitClassifier

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
LINEAR_COSTS = (0.001, 0.01, *COSTS[:4])
FOLDS = 3
PLATT_FOLDS = 5  # as SVC(probability=True) had it
ITERATIONS = 300
BINS = 15  # of a reliability diagram, with as many rows in each


@dataclass
class Fitted:
    """A fitted model and its size, clocks of the last fit and of the search before it, what gives probabilities."""

    model: Any
    size: int | None
    fit: Clock
    search: Clock | None = None
    probabilities: Any = None
    more: dict[str, Any] = field(default_factory=dict)

    def times(self) -> dict[str, float]:
        """Seconds of all it takes to get the model, and of the last fit alone, by the wall and of the processor."""
        clocks = [self.fit] if self.search is None else [self.search, self.fit]
        return {
            "seconds": sum(clock.wall for clock in clocks),
            "fit_seconds": self.fit.wall,
            "cpu_seconds": sum(clock.cpu for clock in clocks),
            "fit_cpu_seconds": self.fit.cpu,
        }


# Ours


def parameters_in(variant: str) -> dict[str, Any]:
    """Return the parameters that a variant of ours names, such as `loss=squared,alpha=0.1`."""

    def value(text: str) -> Any:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    pairs = (one.split("=", 1) for one in variant.split(",") if one != "default")
    return {name: value(text) for name, text in pairs}


def ours(variant: str) -> Callable[[Split], Fitted]:
    """Return what fits a variant of ours; `default` has no parameters."""

    def fit(split: Split) -> Fitted:
        model = KernelPursuitClassifier(random_state=split.number, n_jobs=1, **parameters_in(variant))
        with Clock() as clock:
            model.fit(split.train, split.y)
        return Fitted(model, int(np.sum(model.n_atoms_)), clock, more={"stop_reason": model.stop_reason_})

    return fit


# The peers


def tuned(model: Any, grid: dict[str, Any], split: Split, scoring: str = "accuracy") -> Fitted:
    """Fit a model at the best point of a grid."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=split.number)
    search = GridSearchCV(model, grid, scoring=scoring, cv=folds, refit=False, n_jobs=1)
    with Clock() as of_grid:
        search.fit(split.train[split.for_grid], split.y[split.for_grid])
    model.set_params(**search.best_params_)
    with Clock() as of_fit:
        model.fit(split.train, split.y)
    more = {"chosen": search.best_params_, "grid_rows": len(split.for_grid)}
    return Fitted(model, None, of_fit, of_grid, more=more)


def svc(split: Split) -> Fitted:
    """Fit a support vector machine; its probabilities are Platt's sigmoid, in seconds of their own."""
    fitted = tuned(SVC(cache_size=1000), {"C": COSTS, "gamma": split.gammas}, split)
    fitted.size = len(fitted.model.support_)
    fitted.probabilities = CalibratedClassifierCV(fitted.model, ensemble=False, cv=PLATT_FOLDS)
    with Clock() as clock:
        fitted.probabilities.fit(split.train, split.y)
    fitted.more["platt_seconds"] = clock.wall
    return fitted


def nystroem(split: Split) -> Fitted:
    """Fit a logistic regression on Nyström features."""
    features = Nystroem(n_components=COMPONENTS, kernel="rbf", random_state=split.number)
    model = make_pipeline(features, LogisticRegression(max_iter=ITERATIONS))
    fitted = tuned(model, {"nystroem__gamma": split.gammas, "logisticregression__C": COSTS}, split)
    fitted.size = len(fitted.model[0].components_)
    return fitted


def lightgbm(split: Split) -> Fitted:
    """Fit boosted trees by their defaults; their size is the number of leaves."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(verbose=-1, n_jobs=1, random_state=split.number)
    with Clock() as clock:
        model.fit(split.train, split.y)
    leaves = sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])
    return Fitted(model, leaves, clock)


def logistic(split: Split) -> Fitted:
    """Fit a logistic regression; its C is the best by log loss, since it is here for its probabilities."""
    return tuned(LogisticRegression(max_iter=ITERATIONS), {"C": LINEAR_COSTS}, split, scoring="neg_log_loss")


PEERS: dict[str, Callable[[Split], Fitted]] = {
    "svc": svc,
    "nystroem": nystroem,
    "lightgbm": lightgbm,
    "logistic": logistic,
}


# The measures


def reliability_bins(probabilities: np.ndarray, y: np.ndarray) -> list[list[float]]:
    """Return rows, mean of the largest probability and fraction of right classes, for bins of as many rows each."""
    largest, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.array_split(np.argsort(largest, kind="stable"), min(BINS, len(y)))
    return [[len(rows), float(largest[rows].mean()), float(right[rows].mean())] for rows in bins]


def calibration_error(bins: list[list[float]]) -> float:
    """Return the expected calibration error: the mean distance of probability and fraction, weighted by rows."""
    rows, largest, right = np.transpose(bins)
    return float(np.average(np.abs(largest - right), weights=rows))


def measured(fitted: Fitted, split: Split) -> dict[str, Any]:
    """Return all that is recorded of a fit; `wrong` has a bit for every test row, as hexadecimal digits."""
    wrong = fitted.model.predict(split.test) != split.y_test
    probabilities = (fitted.probabilities or fitted.model).predict_proba(split.test)
    labels = np.arange(split.n_classes)
    bins = reliability_bins(probabilities, split.y_test)
    return {
        "error": float(wrong.mean()),
        "log_loss": float(log_loss(split.y_test, probabilities, labels=labels)),
        "brier": float(np.mean(np.sum((probabilities - (split.y_test[:, None] == labels)) ** 2, axis=1))),
        "calibration_error": calibration_error(bins),
        "size": fitted.size,
        **fitted.times(),
        "predict_us": microseconds_a_row(lambda: fitted.model.predict(split.test), len(split.test)),
        **fitted.more,
        "bins": [[rows, round(largest, 5), round(right, 5)] for rows, largest, right in bins],
        "wrong": np.packbits(wrong).tobytes().hex(),
    }
