"""One model for each class against the rest: scales and penalty are learned once, atoms are picked for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelpursuit.estimators.automatic import Settled, settle
from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.estimators.fitting import TrainingData, fit_model, observed, origin_of
from kernelpursuit.estimators.labels import codes_of
from kernelpursuit.model import OneVsRestModel
from kernelpursuit.pursuit import ALL_ROWS, Watch, as_fitted_loss
from kernelpursuit.stopping import StoppingRule
from kernelpursuit.updates import as_update


def refuse_validation_rows(rule: StoppingRule) -> None:
    """Refuse a rule with validation rows of its own: the models would need codes for each class."""
    if rule.validation_set() is not None:
        raise ValueError("multi_class='ovr' holds rows out by itself; give Validation a fraction in place of X and y.")


def fit_one_vs_rest(
    estimator: Any, data: TrainingData, labels: np.ndarray, watch: Watch
) -> tuple[OneVsRestModel, dict[str, Any]]:
    """Fit a model for each class; return them, and the parameters that each was fitted with."""
    update = as_update(estimator.update)
    loss = as_fitted_loss(data.loss, update)
    seen = observed(estimator, data, update, loss)
    settled = settle(
        estimator,
        seen.X,
        seen.y,
        seen.weights,
        update=update,
        loss=loss,
        classes=True,
        seed=check_seed(estimator.random_state),
        picks_atoms=False,
        watch=watch,
        counts=seen.each,
    )
    classes = np.array([False, True])
    one = type(estimator)(**_parameters(estimator, settled))
    binary = replace(
        data,
        X=seen.X,
        weights=seen.weights,
        counts=seen.counts,
        numbers=seen.rows,
        scales=settled.scales,
        loss=one._loss_for(2),
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
    origin = origin_of(settled, update, loss)
    found = OneVsRestModel(tuple(models), labels_of_classes, data.X.shape[1], origin).with_reason()
    return replace(found, reason=watch.explain(found.reason)), one.get_params(deep=False)


def _parameters(estimator: Any, settled: Settled) -> dict[str, Any]:
    """What one class is fitted with: all that was left open is resolved."""
    returns = estimator.outside == "return" or (estimator.outside == "auto" and settled.learned is not None)
    return {
        **estimator.get_params(deep=False),
        "class_weight": None,
        "multi_class": "shared",
        "kernel": settled.dictionary,
        "gamma": settled.gamma,
        "alpha": settled.alpha,
        "max_atoms": settled.max_atoms,
        "stop": settled.rule,
        "refine": False,
        "trend": None,
        "outside": "return" if returns else "free",
    }
