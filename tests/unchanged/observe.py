"""What is recorded of a fitted model: everything numeric that a user can read off it.

`PATH` and `FITTED` give each recorded array a name of its own beside the attribute it is read from. Where a public
attribute gets a new name, the right-hand side changes and old recordings stay comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernelpursuit import KernelPursuitClassifier, PursuitPath

Arrays = dict[str, np.ndarray]

# Recorded name: attribute of the path.
PATH = {
    "atom": "atom",
    "size": "size",
    "cost": "cost",
    "residual_norm": "residual_norm",
    "dof": "dof",
    "loo": "loo",
    "loo_se": "loo_se",
    "loo_quantiles": "loo_quantiles",
    "loo_wrong": "loo_error",
    "validation": "validation",
    "validation_wrong": "validation_error",
    "cv": "cv",
    "cv_wrong": "cv_error",
    "rcond": "rcond",
    "correlation": "correlation",
    "temperature": "inverse_temperature",
    "target_residual": "target_residual",
    "column_residual": "column_residual",
    "coherence": "coherence",
    "skipped": "skipped",
    "swaps": "swaps",
    "noise_level": "noise_level",
    "used": "used",
}
# Recorded name: attribute of the estimator.
FITTED = {
    "n_atoms": "n_atoms_",
    "alpha": "alpha_",
    "feature_scales": "feature_scales_",
    "centers": "centers_",
    "center_indices": "center_indices_",
    "coef": "coef_",
    "intercept": "intercept_",
    "fixed_coef": "fixed_coef_",
}
STAGED_ROWS = 10


def of_path(path: PursuitPath) -> Arrays:
    """Return the arrays of a path, and its models of a few sizes."""
    arrays = {name: _array(getattr(path, attribute)) for name, attribute in PATH.items()}
    for k in _sizes(path):
        arrays[f"atoms[{k}]"] = path.atoms(k)
        arrays[f"weights[{k}]"] = path.weights(k)
        arrays[f"noise_variance[{k}]"] = path.noise_variance(k)
    return arrays


def of_model(model: Any, X: Any) -> Arrays:
    """Return the arrays of a fitted estimator, and all it predicts for the rows X."""
    arrays = {name: _array(getattr(model, attribute)) for name, attribute in FITTED.items()}
    arrays["penalty"] = np.array(str(model.penalty_))
    paths = model.path_ if isinstance(model.path_, list) else [model.path_]
    for place, path in enumerate(paths):
        prefix = f"path{place}" if len(paths) > 1 else "path"
        arrays |= {f"{prefix}.{name}": value for name, value in of_path(path).items()}
    arrays |= of_predictions(model, X)
    arrays |= _answer("staged", lambda: {"": np.array(list(_stages(model, X[:STAGED_ROWS])))})
    for k in _sizes(paths[0]) if len(paths) == 1 else ():
        arrays |= {f"at({k}).{name}": value for name, value in of_predictions(model.at(k), X[:STAGED_ROWS]).items()}
    return arrays


def of_predictions(model: Any, X: Any) -> Arrays:
    """Return all that a model predicts for the rows X; whether it refuses to is recorded too."""
    arrays = {"predict": model.predict(X)}
    if isinstance(model, KernelPursuitClassifier):
        arrays |= {"decision": model.decision_function(X), "probabilities": model.predict_proba(X)}
        for coverage in (0.5, 0.9):
            arrays |= _answer(f"set{coverage}", lambda coverage=coverage: {"": model.predict_set(X, coverage)})
        return arrays
    arrays |= _answer("std", lambda: {"": model.predict(X, return_std=True)[1]})
    for coverage in (0.5, 0.9):
        arrays |= _answer(
            f"interval{coverage}",
            lambda coverage=coverage: dict(zip((".lower", ".upper"), model.predict_interval(X, coverage))),
        )
    return arrays


def _stages(model: Any, X: Any) -> Iterator[np.ndarray]:
    if isinstance(model, KernelPursuitClassifier):
        return model.staged_decision_function(X)
    return model.staged_predict(X)


def _answer(name: str, ask: Callable[[], Arrays]) -> Arrays:
    """The arrays, or where the question is refused, that it was."""
    try:
        return {f"{name}{part}": values for part, values in ask().items()}
    except ValueError:
        return {f"{name}.refused": np.array(True)}


def _sizes(path: PursuitPath) -> list[int]:
    return sorted({0, path.n_steps // 3, path.n_steps})


def _array(value: Any) -> np.ndarray:
    return np.array("None") if value is None else np.asarray(value)
