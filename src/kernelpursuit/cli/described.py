"""What is to be said of a fitted model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kernelpursuit.cli.screen import number


def described(model: Any) -> dict[str, Any]:
    """A fitted model in words and numbers."""
    first = model.model_.models[0]
    names, classes = getattr(model, "feature_names_in_", None), getattr(model, "classes_", None)
    return {
        "task": "regression" if classes is None else "classification",
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": None if classes is None else classes.tolist(),
        "kernel": _kernel(model),
        "loss": "squared" if first.measure.loss is None else first.measure.loss.name,
        "penalty": None if model.penalty_ is None else str(model.penalty_),
        "alpha": float(model.alpha_),
        "n_atoms": int(model.n_atoms_),
        "path_lengths": [len(one.path) for one in model.model_.models],
        "stop_reason": model.stop_reason_,
        "leave_one_out": _leave_one_out(model),
        "feature_scales": None if model.feature_scales_ is None else np.asarray(model.feature_scales_).tolist(),
    }


def _kernel(model: Any) -> str:
    """The kernel as it is written, with arrays as short lists, and the gamma that it was given."""
    with np.printoptions(precision=4, suppress=True, threshold=8, floatmode="maxprec", linewidth=10_000):
        words = repr(model.kernel_)
    words = " ".join(re.sub(r"array\((\[[^()]*\])(, dtype=\w+)?\)", r"\1", words).split())
    words = re.sub(r"(\d)\.? *(?=[,\]])", r"\1", words)
    return words if model.feature_scales_ is not None else f"{words}, gamma={model.gamma}"


def _leave_one_out(model: Any) -> dict[str, float] | None:
    """Leave-one-out errors of the size that is kept, where there is one path that has them, of one unit."""
    if len(model.model_.models) > 1:
        return None
    path, k = model.path_, model.model_.n_steps
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return None if path.loo_error is None else {"error": float(path.loo_error[k])}
    if path.loo is None or path.n_targets > 1 or not np.isfinite(path.loo[k]):
        return None
    return {"rmse": float(np.sqrt(path.loo[k]))} if path.loss == "squared" else {path.loss: float(path.loo[k])}


def in_words(known: dict[str, Any]) -> dict[str, object]:
    """The same as lines of a table."""
    classes, found = known["classes"], known["leave_one_out"]
    loo = "" if found is None else ", ".join(f"{_title(name)} {number(value)}" for name, value in found.items())
    few = classes or []
    shown = ", ".join(map(str, few[:8])) + (f" and {len(few) - 8} others" if len(few) > 8 else "")
    steps = ", ".join(map(str, known["path_lengths"][:8]))
    return {
        "task": known["task"] + (f" of {len(few)} classes: {shown}" if few else ""),
        "atoms": f"{known['n_atoms']} of a path of {steps}",
        "why": known["stop_reason"],
        "kernel": short(known["kernel"]),
        "penalty": f"{known['penalty']}, alpha {number(known['alpha'])}",
        "loss": known["loss"],
        "leave-one-out": loo,
        "irrelevant": _irrelevant(known),
    }


def short(words: str, most: int = 160) -> str:
    """Words that may be long, cut off."""
    flat = " ".join(words.split())
    return flat if len(flat) <= most else f"{flat[: most - 4]} ..."


def _irrelevant(known: dict[str, Any]) -> str:
    scales, names = known["feature_scales"], known["feature_names"]
    if scales is None:
        return ""
    zero = [j for j, one in enumerate(scales) if one == 0]
    found = ", ".join(names[j] if names else f"feature {j}" for j in zero[:8])
    return found + (f" and {len(zero) - 8} others" if len(zero) > 8 else "")


def _title(name: str) -> str:
    return {"rmse": "RMSE", "error": "rows in a wrong class"}.get(name, f"{name} loss")
