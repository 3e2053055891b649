"""How good predictions are: a few numbers for regression, and for classes."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What scores are called.
TITLES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "roc_auc": "ROC AUC",
}


def scores(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Scores of a fitted model on rows in memory or of a source."""
    from sklearn import metrics

    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return {
            "rmse": float(np.sqrt(metrics.mean_squared_error(y, predicted))),
            "mae": float(metrics.mean_absolute_error(y, predicted)),
            "r2": float(metrics.r2_score(y, predicted)) if len(y) > 1 else np.nan,
        }
    known, classes = _labels(y), model.classes_
    found = {"accuracy": float(metrics.accuracy_score(known, predicted))}
    if not np.isin(known, classes).all():
        return found
    shares = model.predict_proba(X)
    found["log_loss"] = float(metrics.log_loss(known, shares, labels=classes))
    if len(classes) == 2 and len(np.unique(known)) == 2:
        found["roc_auc"] = float(metrics.roc_auc_score(known == classes[1], shares[:, 1]))
    return found


def _labels(y: np.ndarray) -> np.ndarray:
    """Labels as scikit-learn takes them: text as strings."""
    return np.asarray(y.tolist()) if y.dtype.kind == "O" else y


def in_line(found: dict[str, float]) -> str:
    """Scores in a line."""
    from kernelpursuit.cli.screen import number

    return ", ".join(f"{TITLES[name]} {number(value)}" for name, value in found.items())
