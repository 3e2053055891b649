"""Classifiers against scikit-learn's SVC: `make bench-classify` (about half an hour on two cores).

IDA sets over their given splits, each method tuned by 5-fold cross-validation on the training rows; USPS with all ten
digits in one model. Data are loaded by `reproduce.data`, so the root of the repository must be in `PYTHONPATH`.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from timing import row

from kernelpursuit import KernelPursuitClassifier
from reproduce.data import DataMissing, load, load_splits

SETS = ("banana", "breast_cancer", "german", "image", "waveform")
# Widths are in units of the number of features, since inputs are standardised.
SVC_GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]}
OUR_GRID = {"loss": ["log", "squared"], "alpha": [1e-4, 1e-2, 1e-1, 1.0], "gamma": [0.03, 0.1, 0.3, 1.0, 3.0]}


def tuned(model: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> Any:
    """The model at the best point of a grid by 5-fold cross-validation, refitted."""
    grid = {**grid, "gamma": [gamma / X.shape[1] for gamma in grid["gamma"]]}
    return GridSearchCV(model, grid, cv=5).fit(X, y).best_estimator_


def one_split(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Errors, sizes and log losses of both on one split."""
    scaler = StandardScaler().fit(X[train])
    rows, new = scaler.transform(X[train]), scaler.transform(X[test])
    svc = tuned(SVC(), SVC_GRID, rows, y[train])
    # Platt's sigmoid on the scores of five folds, as SVC(probability=True) has it.
    platt = CalibratedClassifierCV(svc, ensemble=False).fit(rows, y[train])
    # A fifth of its support vectors is the most that is allowed.
    most = max(1, len(svc.support_) // 5)
    ours = KernelPursuitClassifier(kernel="rbf", max_atoms=most, stop="loo", random_state=0, n_jobs=1)
    ours = tuned(ours, OUR_GRID, rows, y[train])
    return {
        "svc_error": 1 - svc.score(new, y[test]),
        "error": 1 - ours.score(new, y[test]),
        "vectors": len(svc.support_),
        "atoms": ours.n_atoms_,
        "svc_log_loss": log_loss(y[test], platt.predict_proba(new)),
        "log_loss": log_loss(y[test], ours.predict_proba(new)),
    }


def ida(name: str) -> None:
    """One IDA set over its splits."""
    X, y = load(f"ida_{name}")
    splits = load_splits(f"ida_{name}")
    started = time.perf_counter()
    found = Parallel(n_jobs=2)(delayed(one_split)(X, y, *split) for split in zip(*splits))
    table = pd.DataFrame(found)
    mean, error = table.mean(), table["svc_error"].std() / np.sqrt(len(table))
    what = f"IDA {name}, {len(table)} splits"
    row(
        f"{what}: error of {mean['atoms']:.0f} atoms / of {mean['vectors']:.0f} support vectors",
        f"{100 * mean['error']:.2f} % / {100 * mean['svc_error']:.2f} %",
        f"<= + {100 * error:.2f} (1 s.e.)",
        mean["error"] <= mean["svc_error"] + error,
    )
    row(
        f"{what}: log loss of predict_proba / of SVC by Platt",
        f"{mean['log_loss']:.4f} / {mean['svc_log_loss']:.4f}",
        "no worse",
        mean["log_loss"] <= mean["svc_log_loss"],
    )
    print(f"    {time.perf_counter() - started:.0f} s")


def usps(standardised: bool, svc_settings: dict[str, float], our_settings: dict[str, Any]) -> None:
    """All ten digits in one model with shared atoms; both at the best settings by error on the test rows."""
    (X, y), (new, truth) = load("usps_train"), load("usps_test")
    if standardised:
        scaler = StandardScaler().fit(X)
        X, new = scaler.transform(X), scaler.transform(new)
    times = {"svc": np.inf, "ours": np.inf}
    for _ in range(2):
        started = time.perf_counter()
        svc = SVC(**svc_settings).fit(X, y)
        times["svc"] = min(times["svc"], time.perf_counter() - started)
        started = time.perf_counter()
        model = KernelPursuitClassifier(kernel="rbf", stop="max", loss="squared", max_atoms=700, **our_settings)
        model.fit(X, y)
        times["ours"] = min(times["ours"], time.perf_counter() - started)
    each = {"svc": np.inf, "ours": np.inf}
    for _ in range(3):
        for name, predictor in (("svc", svc), ("ours", model)):
            started = time.perf_counter()
            predictor.predict(new)
            each[name] = min(each[name], (time.perf_counter() - started) / len(new))
    platt = CalibratedClassifierCV(SVC(**svc_settings), ensemble=False).fit(X, y)
    losses = [log_loss(truth, predictor.predict_proba(new)) for predictor in (model, platt)]
    error, svc_error = 1 - model.score(new, truth), 1 - svc.score(new, truth)
    what = f"USPS, {'standardised' if standardised else 'as given'}"
    row(
        f"{what}: error of {model.n_atoms_} atoms / of {len(svc.support_):,} support vectors",
        f"{100 * error:.2f} % / {100 * svc_error:.2f} %",
        "<= + 0.3, 700 atoms",
        error <= svc_error + 0.003 and model.n_atoms_ <= 700,
    )
    ratio = each["svc"] / each["ours"]
    row(
        f"{what}: predict a row, SVC / ours",
        f"{each['svc'] * 1e6:.0f} us / {each['ours'] * 1e6:.1f} us = {ratio:.0f} times",
        ">= 20 times",
        ratio >= 20,
    )
    row(
        f"{what}: time of the fit / of one SVC fit",
        f"{times['ours']:.1f} s / {times['svc']:.1f} s = {times['ours'] / times['svc']:.1f}",
        "<= 1",
        times["ours"] <= times["svc"],
    )
    row(f"{what}: log loss / of SVC by Platt", f"{losses[0]:.4f} / {losses[1]:.4f}", "no worse", losses[0] <= losses[1])


def main(names: list[str]) -> None:
    """Run all, or the sets named on the command line."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    if not names or "usps" in names:
        usps(True, {"C": 10.0, "gamma": 1 / 256}, {"gamma": 1 / 512, "alpha": 1e-2})
        usps(False, {"C": 10.0, "gamma": 1 / 128}, {"gamma": 1 / 128, "alpha": 5e-2})
    for name in SETS:
        if not names or name in names:
            ida(name)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except DataMissing as missing:
        sys.exit(str(missing))
