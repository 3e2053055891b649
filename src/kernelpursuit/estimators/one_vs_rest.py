"""One model for each class against the rest: scales and penalty are learned once, atoms are picked for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.estimators.fitting import TrainingData, fit_model, observed, origin_of
from kernelpursuit.estimators.labels import class_loss, codes_of
from kernelpursuit.estimators.resolve import Resolved, resolve
from kernelpursuit.estimators.spec import make_spec, other_system
from kernelpursuit.model import OneVsRestModel
from kernelpursuit.pursuit import ALL_ROWS, Watch


def fit_one_vs_rest(
    estimator: Any, data: TrainingData, labels: np.ndarray, watch: Watch
) -> tuple[OneVsRestModel, dict[str, Any]]:
    """Fit a model for each class; return them, and the parameters that each was fitted with."""
    binary_loss = class_loss(estimator.loss, 2)
    if other_system(estimator) is not None and data.loss.kind == "classes":
        # Widths are tried with the loop of one class, which has the loss of two.
        assert data.classes is not None
        data = replace(data, loss=binary_loss, y=codes_of(labels, data.classes, binary_loss))
    spec = make_spec(estimator, data, check_seed(estimator.random_state), one_by_one=True)
    seen = observed(spec, data)
    resolved = resolve(spec, seen, watch)
    classes = np.array([False, True])
    one = type(estimator)(**_parameters(estimator, resolved))
    binary = replace(
        data,
        X=seen.X,
        weights=seen.weights,
        counts=seen.counts,
        numbers=seen.rows,
        scales=resolved.scales,
        loss=binary_loss,
        classes=classes,
    )
    labels = labels if seen.rows is None else labels[seen.rows]
    models, labels_of_classes = [], data.classes
    watch.part(ALL_ROWS)
    assert labels_of_classes is not None
    n_classes = len(labels_of_classes)
    for i, label in enumerate(labels_of_classes):
        codes = codes_of(labels == label, classes, binary.loss)
        with watch.within(i / n_classes, (i + 1) / n_classes, f"class {i + 1} of {n_classes}"):
            model, _ = fit_model(one, replace(binary, y=codes), watch, None)
        models.append(model)
    origin = origin_of(spec, resolved)
    found = OneVsRestModel(tuple(models), labels_of_classes, data.X.shape[1], origin).with_reason()
    return replace(found, reason=watch.explain(found.reason)), one.get_params(deep=False)


def _parameters(estimator: Any, resolved: Resolved) -> dict[str, Any]:
    """What one class is fitted with: all that was left open is resolved."""
    returns = estimator.outside == "return" or (estimator.outside == "auto" and resolved.learned is not None)
    return {
        **estimator.get_params(deep=False),
        "class_weight": None,
        "multi_class": "shared",
        "kernel": resolved.loop.dictionary,
        "gamma": resolved.loop.gamma,
        "penalty": resolved.loop.penalty,
        "alpha": resolved.loop.alpha,
        "candidates": resolved.loop.candidates,
        "max_atoms": resolved.loop.max_atoms,
        "stop": resolved.loop.rule,
        "refine": False,
        "trend": None,
        "outside": "return" if returns else "free",
    }
