"""From nothing to a trained model, a table and a picture, in a few seconds and on bundled data.

Trains a sparse kernel regressor and scikit-learn's support vector regressor on the same rows, with the same
kernel widths to choose from. The first is tuned by the leave-one-out error that every fit of it brings along,
the second by three-fold cross-validation; tuning and the final fit are timed apart.

    python examples/demo.py [--save out/demo.png]
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_chirp, make_friedman
from kernelpursuit.dictionary import widths
from kernelpursuit.plotting import FitDisplay, PathDisplay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path, default=Path("out/demo.png"), help="where the picture goes")
    target = parser.parse_args().save

    chirp = split(*make_chirp(noise=0.15))
    friedman = standardised(*split(*make_friedman(noise=1.0)))
    print(f"Training on {len(chirp[0])} and {len(friedman[0])} rows ...\n", flush=True)
    runs = [*compare("chirp, 1 feature", chirp, 100, [0.3, 1.0, 3.0, 10.0], [0.05, 0.2])]
    model = runs[0]["model"]
    runs += compare("Friedman 1, 10 features", friedman, 200, [0.01, 0.03, 0.1], [0.1, 0.5])
    print_table(runs)
    print_notes(runs)
    save_picture(model, *chirp, target)
    print(f"\nThe picture of the fit and of its path is in {target}.")


def split(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return rows to train on, rows to test on, and the targets of both."""
    return tuple(train_test_split(X, y, test_size=0.25, random_state=0))


def standardised(X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the split with features of mean 0 and variance 1 on the training rows."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def compare(
    name: str, data: tuple[np.ndarray, ...], max_atoms: int, gammas: list[float], epsilons: list[float]
) -> Iterator[dict[str, Any]]:
    """Tune, fit and time both models on one data set."""
    alphas = [1e-5, 1e-3]
    pursuit_grid = [
        {"gamma": gammas, "alpha": alphas},
        {"kernel": [widths("rbf", gammas)], "alpha": alphas},  # every width at every row, in one dictionary
    ]
    svr_grid = {"gamma": gammas, "C": [10.0, 100.0], "epsilon": epsilons}
    yield measure(name, "kernelpursuit", KernelPursuitRegressor(max_atoms=max_atoms), tuned_by_loo, pursuit_grid, data)
    yield measure(name, "SVR", SVR(), tuned_by_cv, svr_grid, data)


def tuned_by_loo(estimator: Any, grid: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the setting with the least leave-one-out error: one fit each."""

    def least_error(params: dict[str, Any]) -> float:
        return clone(estimator).set_params(**params).fit(X, y).path_.loo.min()

    return min(ParameterGrid(grid), key=least_error)


def tuned_by_cv(estimator: Any, grid: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the setting with the least error in three-fold cross-validation: three fits each."""
    search = GridSearchCV(estimator, grid, cv=3, scoring="neg_mean_squared_error", refit=False)
    return search.fit(X, y).best_params_


def measure(
    data_name: str, model_name: str, estimator: Any, tune: Callable, grid: Any, data: tuple[np.ndarray, ...]
) -> dict[str, Any]:
    X, X_test, y, y_test = data
    params, tune_seconds = timed(lambda: tune(estimator, grid, X, y))
    model, fit_seconds = timed(lambda: clone(estimator).set_params(**params).fit(X, y))
    many = np.resize(X_test, (5000, X.shape[1]))  # so many that the time of a call counts for nothing
    predict_seconds = min(timed(lambda: model.predict(many))[1] for _ in range(3))
    return {
        "data": data_name,
        "name": model_name,
        "model": model,
        "params": params,
        "rmse": float(np.sqrt(np.mean(np.square(model.predict(X_test) - y_test)))),
        "size": model.n_atoms_ if model_name == "kernelpursuit" else len(model.support_),
        "n_settings": len(ParameterGrid(grid)),
        "tune": tune_seconds,
        "fit": fit_seconds,
        "predict": 1e6 * predict_seconds / len(many),
    }


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the function returns, and the seconds it took."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def print_table(runs: list[dict[str, Any]]) -> None:
    columns = "data", "model", "test RMSE", "atoms or SVs", "tune s", "fit s", "predict us/row"
    line = "{:<24}{:<15}{:>10}{:>14}{:>9}{:>9}{:>16}".format
    print(line(*columns))
    print(line(*("-" * len(column) for column in columns)))
    for r in runs:
        numbers = f"{r['rmse']:.3f}", r["size"], f"{r['tune']:.2f}", f"{r['fit']:.3f}", f"{r['predict']:.2f}"
        print(line(r["data"], r["name"], *numbers))


def print_notes(runs: list[dict[str, Any]]) -> None:
    print("\nWhat the stopping rule chose, and why:")
    for r in runs:
        if r["name"] == "kernelpursuit":
            one_se = r["model"].select("one-se")
            print(wrapped(f"{r['data']}: {r['model'].stop_reason_}."))
            print(wrapped(f"stop='one-se' would keep {one_se.stop_reason_}.", indent=4))
    print("\nSettings that tuning chose:")
    for r in runs:
        print(wrapped(f"{r['data']}, {r['name']}: {described(r['params'])} (of {r['n_settings']} tried)"))
    print(
        "\nThe noise alone has an RMSE of 0.15 and of 1.0; no model can be expected below it.\n"
        "tune: all settings; kernelpursuit by leave-one-out, one fit each, SVR by 3-fold cross-validation.\n"
        "fit: once, on all training rows, with the chosen setting. kernelpursuit uses all cores, SVR one."
    )


def described(params: dict[str, Any]) -> str:
    plain = {name: value for name, value in sorted(params.items()) if name != "kernel"}
    words = [f"{name}={value:g}" for name, value in plain.items()]
    return ", ".join(words + (["all widths at once"] if "kernel" in params else []))


def wrapped(text: str, indent: int = 2) -> str:
    return textwrap.fill(text, 110, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


def save_picture(
    model: Any, X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray, target: Path
) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=[3, 2])
    FitDisplay.from_estimator(model, X, y, ax=left)
    PathDisplay.from_estimator(model, ax=right)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
