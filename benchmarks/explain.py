"""Shapley values of a row beside those of shap: processor time, and the largest difference (docs/explain.md).

    python benchmarks/explain.py

Without shap (`pip install shap`), ours alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelpursuit import KernelPursuitRegressor

N_ATOMS, N_BACKGROUND, N_ROWS = 100, 100, 20


def fitted(kernel: str, n_features: int) -> tuple[KernelPursuitRegressor, np.ndarray]:
    """A model of Friedman's function with 100 atoms on one thread, and rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, max(n_features, 5)))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    settings: dict[str, Any] = {"penalty": "ridge", "alpha": 1e-3, "gamma": "scale", "stop": "max", "n_jobs": 1}
    model = KernelPursuitRegressor(kernel=kernel, max_atoms=N_ATOMS, **settings)
    return model.fit(X[:, :n_features], y + rng.normal(size=600)), X[:, :n_features]


def timed(explain: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Milliseconds of processor time for a row, after one to warm up, and the values."""
    explain(rows[:1])
    start = time.process_time()
    found = explain(rows)
    return 1e3 * (time.process_time() - start) / len(rows), found


def line_for(kernel: str, n_features: int, shap: Any) -> str:
    """What the values take, and where all coalitions are few, what shap takes and how far it differs."""
    model, X = fitted(kernel, n_features)
    background, rows = X[:N_BACKGROUND], X[200 : 200 + N_ROWS]
    took, ours = timed(lambda some: model.explain(some, background=background).features, rows)
    line = f"{kernel}, {n_features} features: {took:.1f} ms"
    if shap is None or n_features != 10:
        return line
    exact = shap.ExactExplainer(model.predict, shap.maskers.Independent(background, max_samples=N_BACKGROUND))
    sampled = shap.KernelExplainer(model.predict, background)
    explainers: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "Exact": lambda some: exact(some).values,
        "Kernel": lambda some: sampled.shap_values(some, silent=True),
    }
    for name, explain in explainers.items():
        took, theirs = timed(explain, rows)
        line += f"; shap {name}Explainer {took:.1f} ms, differs by {np.abs(theirs - ours).max():.1g}"
    return line


def main() -> None:
    """Print a line for each kernel and number of features."""
    try:
        import shap
    except ImportError:
        shap = None
    warnings.simplefilter("ignore")
    for kernel, n_features in (("rbf", 10), ("matern32", 10), ("rbf", 3), ("rbf", 30), ("rbf", 60), ("matern52", 30)):
        print(line_for(kernel, n_features, shap), flush=True)


if __name__ == "__main__":
    main()
