"""Hagiwara's experiments: how many atoms to keep, and at what error, on six regression data sets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, lasso_path
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from kernelpursuit import KernelPursuitRegressor, presets
from kernelpursuit.kernels import RBF
from kernelpursuit.stopping import FPE, Loo, StoppingRule
from reproduce.data import load
from reproduce.experiment import Measured

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Fits = dict[tuple[float, float], KernelPursuitRegressor]
SIZES = "hagiwara-table-3:"


def benchmark(
    repetition: int,
    *,
    name: str,
    source: str,
    n_train: int,
    n_test: int,
    widths: Sequence[float],
    max_atoms: int,
    penalties: Sequence[float],
    tcr_penalty: float = 1e-6,
    drawn_penalties: Sequence[float] = (),
    normalise_by: str = "all",
    fill: str = "zero",
    fit_intercept: bool = False,
    judged_at: str = "kept",
    fpe_counts: str = "dof",
    lasso_width: str = "TCR",
    folds: int = 10,
    sweeps: int = 1000,
) -> Measured:
    """Test errors and numbers of atoms of four rules and of the lasso, on one split of a data set.

    Parameters
    ----------
    repetition : int
        Seed of the split and of the folds.
    name : str
        Row of the tables.
    source : str
        Data set.
    n_train, n_test : int
        Rows to fit and to test with.
    widths : sequence of float
        Widths tau of the kernel `exp(-||x - c||² / tau)`.
    max_atoms : int
        Length of the paths.
    penalties : sequence of float
        Penalties to choose from; the lasso has the same.
    tcr_penalty : float
        The only penalty of TCR.
    drawn_penalties : sequence of float
        Penalties of the figure, which shows the error of TCR at each.
    normalise_by : {"all", "split", "train"}
        Rows that the mean and the variance of each variable are of: the whole data set, both parts of the split, or
        the first.
    fill : {"zero", "mean"}
        What stands in for a missing value.
    fit_intercept : bool
        Whether the greedy models have a constant.
    judged_at : {"kept", "least"}
        Where on a path the leave-one-out error is read that decides on the width and penalty of FPE and TCR: at the
        size that the rule keeps, or where it is least. LOOCV has both in one, and the paper says that OSER has the
        width and penalty of LOOCV.
    fpe_counts : {"dof", "atoms"}
        What FPE takes for the number of parameters: effective degrees of freedom or atoms.
    lasso_width : {"TCR", "LOOCV", "folds"}
        Whose width the lasso has; "folds" is the one with the least error over its own folds.
    folds : int
        Folds by which the lasso chooses its penalty.
    sweeps : int
        Most sweeps of coordinate descent for each penalty.
    """
    split = _split(repetition, source, n_train, n_test, normalise_by, fill)
    fits = {
        (width, alpha): presets.rfs(
            gamma=1 / width, alpha=alpha, max_atoms=max_atoms, fit_intercept=fit_intercept, n_jobs=1
        ).fit(*split[:2])
        for width in widths
        for alpha in sorted({*penalties, tcr_penalty, *drawn_penalties})
    }
    to_choose_from = {pair: fit for pair, fit in fits.items() if pair[1] in penalties}
    kept = {
        "LOOCV": _best(to_choose_from, "loo", "least"),
        "OSER": _best(to_choose_from, "one-se", "least"),
        "FPE": _best(to_choose_from, FPE(counts=fpe_counts), judged_at),
        "TCR": _thresholded(fits, tcr_penalty, judged_at),
    }
    cells: dict[tuple[str, str], float] = {}
    for method, model in kept.items():
        cells[name, method] = _squared_error(model, split)
        cells[SIZES + name, method] = float(model.n_atoms_)

    tried = widths if lasso_width == "folds" else [1 / kept[lasso_width].gamma]
    results = [_lasso(split, width, penalties, folds, sweeps, repetition) for width in tried]
    _, cells[name, "LASSO"], cells[SIZES + name, "LASSO"] = min(results, key=itemgetter(0))
    drawn = [_squared_error(_thresholded(fits, alpha, judged_at), split) for alpha in drawn_penalties]
    curves: dict[str, Sequence[Any]] = {"penalty": drawn_penalties, "error of TCR": drawn} if drawn else {}
    return Measured(cells, curves)


def _split(repetition: int, source: str, n_train: int, n_test: int, normalise_by: str, fill: str) -> Split:
    """Training rows and targets, then those to test with, all variables normalised."""
    X, y = load(source)
    X = np.where(np.isnan(X), 0.0 if fill == "zero" else np.nanmean(X, axis=0), X)
    order = np.random.default_rng(repetition).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    rows = {"all": order, "split": order[: n_train + n_test], "train": train}[normalise_by]
    table = np.column_stack([X, y])
    table = StandardScaler().fit(table[rows]).transform(table)
    return table[train, :-1], table[train, -1], table[test, :-1], table[test, -1]


def _best(fits: Fits, rule: str | StoppingRule, judged_at: str) -> KernelPursuitRegressor:
    """Of the models that a rule keeps, one for each width and penalty, that with the least leave-one-out error."""
    kept = [fit.select(rule) for fit in fits.values()]

    def error(model: KernelPursuitRegressor) -> float:
        curve = Loo().curve(model.path_)
        return float(curve[model.n_atoms_] if judged_at == "kept" else curve.min())

    return min(kept, key=error)


def _thresholded(fits: Fits, penalty: float, judged_at: str) -> KernelPursuitRegressor:
    """TCR under one penalty."""
    return _best({pair: fit for pair, fit in fits.items() if pair[1] == penalty}, "tcr", judged_at)


def _squared_error(model: KernelPursuitRegressor, split: Split) -> float:
    """The mean squared error on the test rows."""
    return float(np.mean((split[3] - model.predict(split[2])) ** 2))


def _lasso(
    split: Split, width: float, penalties: Sequence[float], folds: int, sweeps: int, seed: int
) -> tuple[float, float, float]:
    """Least error over folds, test error and number of columns of the lasso on the kernel matrix, as glmnet has it.

    glmnet gives columns unit variance, fits an intercept, and goes down the penalties, each from the weights of the one
    before. It ends where a sweep changes no weight by more than 3e-4, which is well above single precision.
    """
    X, y, X_test, y_test = split
    kernel = RBF(gamma=1 / width)
    scaler = StandardScaler().fit(kernel(X, X))
    columns = np.asfortranarray(scaler.transform(kernel(X, X)), dtype=np.float32)
    centred = (y - y.mean()).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the smallest penalties never get there
        search = LassoCV(
            alphas=sorted(penalties, reverse=True),
            cv=KFold(folds, shuffle=True, random_state=seed),
            max_iter=sweeps,
            precompute=False,
        ).fit(columns, centred)
        down_to_it = sorted((alpha for alpha in penalties if alpha >= search.alpha_), reverse=True)
        weights = lasso_path(columns, centred, alphas=down_to_it, max_iter=sweeps, precompute=False)[1][:, -1]
    predicted = y.mean() + scaler.transform(kernel(X_test, X)) @ weights
    error = float(np.mean((y_test - predicted) ** 2))
    return float(search.mse_path_.mean(axis=1).min()), error, float(np.count_nonzero(weights))
