"""Experiments on the two-class sets of Nair, Choudhury and Keane, table 5.

Five are those of the IDA benchmark, with its splits. The sixth, diabetes, has the published size of a support vector
machine on the 200 training rows of Ripley's Pima set, and not on the 468 of the benchmark's; so it is split as
Ripley's is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelpursuit import presets
from kernelpursuit.stopping import AIC, MDL
from reproduce.data import load, load_splits
from reproduce.experiment import Measured

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# Of Ripley's Pima set: rows for training, the column of insulin, which it leaves out, and those where 0 is a gap.
RIPLEY_TRAIN = 200
INSULIN = 4
NEVER_ZERO = [1, 2, 3, 5]


def two_classes(
    repetition: int,
    *,
    row: str,
    name: str,
    width: float,
    svm_width: float,
    svm_cost: float,
    max_atoms: int,
    aic: str,
    diabetes: str,
    widths: Sequence[float] = (),
    cross_validate: bool = False,
) -> Measured:
    """One split of one set: a support vector machine, and greedy thin QR with AIC and with MDL.

    Parameters
    ----------
    repetition : int
        Number of the split, or seed of it where the set has none of its own.
    row : str
        Row of the table.
    name : str
        Set of the benchmark.
    width : float
        c of the kernel `exp(-d^2 / c)` of greedy QR.
    svm_width, svm_cost : float
        Width and C of the support vector machine.
    max_atoms : int
        The most atoms.
    aic : {"corrected", "nair"}
        Variant of the AIC.
    diabetes : {"ripley", "ida"}
        Which set diabetes is: the complete rows in splits of Ripley's size, or the benchmark's.
    widths : sequence of float
        Widths to choose from.
    cross_validate : bool
        Whether greedy QR has, in each split and for each criterion, the one of `widths` with the least error over five
        folds, in place of `width`.
    """
    split = _ripley(repetition) if name == "ida_diabetis" and diabetes == "ripley" else _benchmark(name, repetition)
    X, y, X_test, y_test = split
    machine = SVC(C=svm_cost, gamma=1 / svm_width).fit(X, y)
    rules = {"QR + AIC": AIC(variant=aic), "QR + MDL": MDL()}
    if cross_validate:
        models = {method: _best_width(rule, widths, max_atoms, X, y) for method, rule in rules.items()}
    else:
        path = presets.greedy_qr.classifier(gamma=1 / width, max_atoms=max_atoms).fit(X, y)
        models = {method: path.select(rule) for method, rule in rules.items()}
    cells = {
        (row, "SVM error"): _error(machine, X_test, y_test),
        (row, "SVM n"): float(len(machine.support_)),
    }
    for method, model in models.items():
        cells[row, f"{method} error"] = _error(model, X_test, y_test)
        cells[row, f"{method} n"] = float(model.n_atoms_)
    return Measured(cells)


def _benchmark(name: str, number: int) -> Split:
    """A split of the benchmark."""
    X, y = load(name)
    train, test = (rows[number] for rows in load_splits(name))
    return X[train], y[train], X[test], y[test]


def _ripley(seed: int) -> Split:
    """A random split of the Pima rows without gaps, as large as Ripley's; inputs scaled by the training rows."""
    X, y = load("pima")
    complete = np.all(X[:, NEVER_ZERO] > 0, axis=1)
    X, y = np.delete(X[complete], INSULIN, axis=1), np.where(y[complete] > 0, 1.0, -1.0)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:RIPLEY_TRAIN], order[RIPLEY_TRAIN:]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _best_width(rule: Any, widths: Sequence[float], max_atoms: int, X: np.ndarray, y: np.ndarray) -> Any:
    """The model of the width with the least error over five folds."""
    search = GridSearchCV(
        presets.greedy_qr.classifier(max_atoms=max_atoms, stop=rule),
        {"gamma": [1 / width for width in widths]},
        scoring=lambda model, X, y: -_error(model, X, y),
    )
    return search.fit(X, y).best_estimator_


def _error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Per cent of the rows that are on the wrong side of zero."""
    return 100 * float(np.mean((model.predict(X) >= 0) != (y > 0)))
