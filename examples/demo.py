"""From nothing to a trained model, a table and a picture, in a few seconds and on bundled data.

Trains a sparse kernel regressor as it comes, on features as they are, and scikit-learn's support vector regressor on
the same rows. The first learns its kernel, a scale for each feature, the penalty and the number of atoms; the second
gets standardised features and a grid of settings, searched by three-fold cross-validation.

    python examples/demo.py [--save out/demo.png]
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, ParameterGrid, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_chirp, make_waves
from kernelpursuit.plotting import PathDisplay, ScalesDisplay
from kernelpursuit.plotting.parts import BLUE, ORANGE, tidy

# What the support vector machine is tuned by; gamma is of standardised features. Wider grids, with C up to 1000, chose
# the same settings.
CHIRP_GRID = {"svr__gamma": [3.0, 10.0, 30.0, 100.0], "svr__C": [10.0, 100.0], "svr__epsilon": [0.05, 0.2]}
WAVES_GRID = {"svr__gamma": [0.03, 0.1, 0.3], "svr__C": [1.0, 10.0, 100.0], "svr__epsilon": [0.05, 0.2]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path, default=Path("out/demo.png"), help="where the picture goes")
    target = parser.parse_args().save

    chirp = split(*make_chirp(noise=0.15))
    waves = split(*in_odd_units(*make_waves(noise=0.2)))
    print(f"Training on {len(chirp[0])} and {len(waves[0])} rows ...\n", flush=True)
    runs = [as_it_comes("chirp, 1 feature", chirp), tuned("chirp, 1 feature", chirp, CHIRP_GRID)]
    runs += [as_it_comes("waves, 6 features", waves), tuned("waves, 6 features", waves, WAVES_GRID)]
    print_table(runs)
    print_notes(runs)
    save_picture(runs[0]["model"], runs[2]["model"], *chirp[::2], target)
    print(f"\nThe picture of a fit, of its path and of learned scales is in {target}.")


def split(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return rows to train on, rows to test on, and the targets of both."""
    return tuple(train_test_split(X, y, test_size=0.25, random_state=0))


def in_odd_units(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose features differ in unit, from thousandths to millions, as they do in tables."""
    return X * 10.0 ** np.resize([0, 3, -3, 6, 1], X.shape[1]), y


def as_it_comes(name: str, data: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Fit the defaults; the seed is for the same table each time."""
    X, X_test, y, y_test = data
    model, seconds = timed(lambda: KernelPursuitRegressor(random_state=0).fit(X, y))
    lower, upper = model.predict_interval(X_test, coverage=0.9)
    inside = float(np.mean((lower <= y_test) & (y_test <= upper)))
    return {**measured(name, "kernelpursuit", model, data), "size": model.n_atoms_, "fit": seconds, "inside": inside}


def tuned(name: str, data: tuple[np.ndarray, ...], grid: dict[str, list[float]]) -> dict[str, Any]:
    """Fit support vector regression with the best of a grid, on standardised features."""
    X, _, y, _ = data
    pipeline = make_pipeline(StandardScaler(), SVR())
    search = GridSearchCV(pipeline, grid, cv=3, scoring="neg_mean_squared_error")
    model, seconds = timed(lambda: search.fit(X, y).best_estimator_)
    settings = {name.removeprefix("svr__"): value for name, value in search.best_params_.items()}
    found = {"size": len(model[-1].support_), "fit": seconds, "settings": settings, "n_tried": len(ParameterGrid(grid))}
    return {**measured(name, "SVR, tuned", model, data), **found}


def measured(data_name: str, model_name: str, model: Any, data: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Error on the test rows, and the time of a prediction."""
    X, X_test, _, y_test = data
    many = np.resize(X_test, (5000, X.shape[1]))  # so many that the time of a call counts for nothing
    predict_seconds = min(timed(lambda: model.predict(many))[1] for _ in range(3))
    rmse = float(np.sqrt(np.mean(np.square(model.predict(X_test) - y_test))))
    return {
        "data": data_name,
        "name": model_name,
        "model": model,
        "rmse": rmse,
        "predict": 1e6 * predict_seconds / 5000,
    }


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the function returns, and the seconds it took."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def print_table(runs: list[dict[str, Any]]) -> None:
    columns = "data", "model", "test RMSE", "atoms or SVs", "learn or tune s", "predict us/row"
    line = "{:<25}{:<15}{:>10}{:>14}{:>17}{:>16}".format
    print(line(*columns))
    print(line(*("-" * len(column) for column in columns)))
    for r in runs:
        print(line(r["data"], r["name"], f"{r['rmse']:.3f}", r["size"], f"{r['fit']:.2f}", f"{r['predict']:.2f}"))


def print_notes(runs: list[dict[str, Any]]) -> None:
    print("\nWhat kernelpursuit learned:")
    for r in runs[::2]:
        model = r["model"]
        idle = int((model.feature_scales_ == 0).sum())
        words = f"{r['data']}: {model.stop_reason_}; penalty {model.alpha_:.2g}"
        words += f"; {idle} of {len(model.feature_scales_)} features are irrelevant" if idle else ""
        print(wrapped(f"{words}."))
        print(wrapped(f"{r['inside']:.0%} of test targets are in intervals for 90 %.", indent=4))
    print("\nWhat the grid chose for SVR:")
    for r in runs[1::2]:
        settings = ", ".join(f"{name}={value:g}" for name, value in sorted(r["settings"].items()))
        print(wrapped(f"{r['data']}: {settings} (of {r['n_tried']} tried)"))
    print(
        "\nThe noise alone has an RMSE of 0.15 and of 0.2; no model can be expected below it.\n"
        "kernelpursuit: one call of fit on features in their own units, on all cores.\n"
        "SVR: standardised features, a grid by 3-fold cross-validation and a last fit, on one core."
    )


def wrapped(text: str, indent: int = 2) -> str:
    return textwrap.fill(text, 110, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


def save_picture(curve: Any, table: Any, X: np.ndarray, y: np.ndarray, target: Path) -> None:
    """A fit with its intervals, its path, and the scales of the other model."""
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(13.5, 3.9), layout="constrained", width_ratios=[4, 3, 2.2]
    )
    grid = np.linspace(X.min(), X.max(), 800)[:, None]
    lower, upper = curve.predict_interval(grid, coverage=0.9)
    left.fill_between(grid[:, 0], lower, upper, color=BLUE, alpha=0.2, lw=0, label="90 % interval")
    left.plot(X[:, 0], y, ls="none", marker=".", color="#444444", ms=5, mew=0, alpha=0.6, label="data")
    left.plot(grid[:, 0], curve.predict(grid), color=BLUE, lw=1.8, label="prediction")
    centres = curve.centers_
    style = {"ls": "none", "marker": "o", "mfc": ORANGE, "mec": "white", "mew": 1.0, "ms": 7, "zorder": 5}
    left.plot(centres[:, 0], curve.predict(centres), label=f"{curve.n_atoms_} centres", **style)
    left.set(xlabel="x", ylabel="target")
    left.legend(frameon=False, fontsize="small", loc="upper left")
    tidy(left)
    PathDisplay.from_estimator(curve, ax=middle)
    ScalesDisplay.from_estimator(table, ax=right)
    for ax, title in (
        (left, "chirp: the fit"),
        (middle, "chirp: its path"),
        (right, "waves: scales (x4, x5, x6 do not matter)"),
    ):
        ax.set_title(title, fontsize="medium", loc="left")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
