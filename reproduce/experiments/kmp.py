"""Experiments of Vincent and Bengio (2002), sections 5.1 and 5.3: kernel matching pursuit beside SVMs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from kernelpursuit import presets
from kernelpursuit.stopping import CV, Validation
from kernelpursuit.updates import Stagewise
from reproduce.data import load
from reproduce.experiment import Measured

# Delve deals training sets from this many rows of mushrooms, and test sets from the others.
DELVE_TRAINING_ROWS = 4096


def mushrooms(
    repetition: int,
    *,
    n_train: int,
    n_test: int,
    max_atoms: int,
    sigmas: Sequence[float],
    costs: Sequence[float],
    folds: int,
    bias: bool,
    of: str,
) -> Measured:
    """Table 2: one of the disjoint training sets of mushrooms, all parameters by cross-validation on it.

    Parameters
    ----------
    repetition : int
        Number of the training set and of the test set.
    n_train, n_test : int
        Sizes of the sets.
    max_atoms : int
        Longest path of KMP.
    sigmas : sequence of float
        Widths of the kernel to choose from.
    costs : sequence of float
        Values of C to choose from.
    folds : int
        Number of folds.
    bias : bool
        Whether KMP has a constant.
    of : {"error", "loss"}
        What the folds of KMP are judged by.
    """
    inputs, labels = load("mushrooms")
    X = OneHotEncoder(sparse_output=False).fit_transform(inputs)
    order = np.random.default_rng(0).permutation(len(labels))
    train = order[repetition * n_train :][:n_train]
    test = order[DELVE_TRAINING_ROWS + repetition * n_test :][:n_test]
    gammas = [1 / sigma**2 for sigma in sigmas]

    dealt = StratifiedKFold(folds, shuffle=True, random_state=repetition)
    search = GridSearchCV(SVC(), {"C": list(costs), "gamma": gammas}, cv=dealt).fit(X[train], labels[train])
    svm = search.best_estimator_

    rule = CV(folds=folds, of=of)
    settings: dict[str, Any] = {"fit_intercept": bias, "max_atoms": max_atoms, "stop": rule, "random_state": repetition}
    paths = [presets.kmp_prefit.classifier(gamma=gamma, **settings).fit(X[train], labels[train]) for gamma in gammas]
    kmp = min(paths, key=lambda model: np.nanmin(rule.curve(model.path_)))

    row = f"train {n_train}"
    return Measured(
        {
            (row, "KMP error"): _error(kmp, X[test], labels[test]),
            (row, "SVM error"): _error(svm, X[test], labels[test]),
            (row, "KMP #s.v."): kmp.n_atoms_,
            (row, "SVM #s.v."): len(svm.support_),
        }
    )


def thirds(
    repetition: int,
    *,
    row: str,
    name: str,
    sigma: float,
    standardise: bool,
    costs: Sequence[float],
    bias: bool,
    of: str,
    patience: int,
    refit_every: int,
    larger_cost: bool,
) -> Measured:
    """Table 3: one random split in thirds, to train, to choose C and the number of atoms, and to test.

    Parameters
    ----------
    repetition : int
        Seed of the split.
    row, name : str
        Name of the data set in the table, and of its file.
    sigma : float
        Width of the kernel `exp(-d² / sigma²)`.
    standardise : bool
        Whether inputs get mean 0 and deviation 1.
    costs : sequence of float
        Values of C to choose from.
    bias : bool
        Whether KMP has a constant.
    of : {"error", "loss"}
        What the validation rows judge KMP by.
    patience : int
        Steps of KMP-tanh without a new least after which it ends. KMP-mse goes on to the last row.
    refit_every : int
        Steps of KMP-tanh between refits of all weights.
    larger_cost : bool
        Whether the largest or the least of several C with as few errors is taken.
    """
    X, y = load(name)
    X = StandardScaler().fit_transform(X) if standardise else X
    size = len(y) // 3
    order = np.random.default_rng(repetition).permutation(len(y))
    train, validation, test = order[:size], order[size : 2 * size], order[2 * size : 3 * size]
    gamma = 1 / sigma**2

    machines = [SVC(C=C, gamma=gamma).fit(X[train], y[train]) for C in sorted(costs, reverse=larger_cost)]
    svm = max(machines, key=lambda machine: machine.score(X[validation], y[validation]))

    kernel: dict[str, Any] = {"gamma": gamma, "fit_intercept": bias}
    rule = Validation(X[validation], y[validation], patience=None, of=of)
    mse = presets.kmp_prefit.classifier(max_atoms=size, stop=rule, **kernel).fit(X[train], y[train])

    rule = Validation(X[validation], y[validation], patience=patience, of=of)
    update = Stagewise(refit_every=refit_every, solver="cg")
    tanh = presets.kmp_tanh.classifier(update=update, max_atoms=2 * size, stop=rule, **kernel).fit(X[train], y[train])

    cells: dict[tuple[str, str], float] = {(row, "SVM #s.v."): len(svm.support_)}
    for method, model in {"SVM": svm, "KMP-MSE": mse, "KMP-TANH": tanh}.items():
        cells[row, f"{method} error"] = _error(model, X[test], y[test])
    cells[row, "KMP-MSE #s.v."] = mse.n_atoms_
    cells[row, "KMP-TANH #s.v."] = tanh.n_atoms_
    return Measured(cells)


def _error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Per cent of the rows in a wrong class."""
    return 100 * (1 - model.score(X, y))
