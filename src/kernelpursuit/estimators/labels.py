"""Labels of classes: checked, coded as targets, and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernelpursuit.estimators.checks import one_sentence
from kernelpursuit.estimators.parameters import losses_for
from kernelpursuit.losses import Logistic, Loss, Softmax, as_loss
from kernelpursuit.pursuit import check_weights


def check_labels(y: Any, n_rows: int, name: str = "y") -> np.ndarray:
    """Labels as an array of one dimension."""
    # Pandas has missing values of its own, which compare with nothing.
    if hasattr(y, "isna") and np.any(y.isna()):
        raise ValueError(f"{name} is not usable: it holds missing labels (NaN, NA or None); drop those rows first.")
    with one_sentence(name):
        labels = column_or_1d(y, warn=True)
        if labels.dtype == object and any(label is None for label in labels.tolist()):
            raise ValueError("it holds missing labels (NaN, NA or None); drop those rows first")
        assert_all_finite(labels, input_name=name)
        check_classification_targets(labels)
    if len(labels) != n_rows:
        raise ValueError(f"{name} has {len(labels)} labels, but X has {n_rows} rows; give one label for each row.")
    return labels


def check_known_kind(y: Any, n_rows: int, classes: np.ndarray) -> np.ndarray:
    """Labels of rows that a model is tried on: of the kind of its classes, since "1" is not 1."""
    labels = check_labels(y, n_rows)
    if (labels.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        raise ValueError(
            f"y holds {labels.tolist()[0]!r}, but a class of the model is {classes.tolist()[0]!r}; give labels like "
            "those that it was fitted to."
        )
    return labels


def seen_classes(labels: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The classes that rows with a weight are of, sorted, and labels with no other ones among them."""
    classes = np.unique(labels if weights is None else labels[weights > 0])
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes.tolist()[0]!r} (rows of weight 0 do not count); "
            "give rows of at least two classes."
        )
    if weights is not None and len(classes) < len(np.unique(labels)):
        # Rows of weight zero may have labels that no other row has: they are left out, whatever they say.
        labels = np.where(np.isin(labels, classes), labels, classes[0])
    return classes, labels


def class_loss(loss: Any, n_classes: int) -> Loss:
    """The loss object for so many classes: "log" is by "logistic" for two and "softmax" for more.

    "auto" is "log" as well, wherever that is not compared with the squared loss.
    """
    if isinstance(loss, str) and loss in ("auto", "log"):
        return Logistic() if n_classes == 2 else Softmax()
    found = as_loss(loss, ("auto", "log", *losses_for(lambda one: one.takes_codes)))
    if not found.takes_codes:
        raise ValueError(f"loss={loss!r} is for numbers; use KernelPursuitRegressor, or loss='log'.")
    return found


def codes_of(labels: np.ndarray, classes: np.ndarray, loss: Loss) -> np.ndarray:
    """Labels as targets, shape (n_rows, n_scores): 0 and 1 for softmax, else -1 and +1."""
    if loss.kind == "classes":
        return (labels[:, None] == classes).astype(np.float64)
    shown = classes[1:] if len(classes) == 2 else classes
    return np.where(labels[:, None] == shown, 1.0, -1.0)


@dataclass(frozen=True)
class ClassWeights:
    """Weights of rows, with what `class_weight` makes of them.

    rows      the weight of every row, or None for ones
    counts    how often each row was seen, where `class_weight` says how much it matters; else None
    by_label  what `class_weight` multiplies the weights of each class by, or None
    """

    rows: np.ndarray | None
    counts: np.ndarray | None
    by_label: dict[Any, float] | None

    @classmethod
    def of(cls, class_weight: Any, labels: np.ndarray, sample_weight: Any) -> ClassWeights:
        """Check both kinds of weights, and multiply them."""
        weights = None if sample_weight is None else check_weights(sample_weight, len(labels))
        if class_weight is None:
            return cls(weights, None, None)
        # class_weight says how much a row matters, and not how often it was seen: left out, it goes as a whole.
        counts = np.ones(len(labels)) if weights is None else weights
        is_seen = counts > 0
        known, which = np.unique(labels[is_seen], return_inverse=True)
        if isinstance(class_weight, str) and class_weight == "balanced":
            sums = np.bincount(which, weights=counts[is_seen])
            by_class = (sums.sum() / (len(known) * sums))[which]
        else:
            by_class = _given_weights(class_weight, known)[which]
        full = np.zeros(len(labels))
        full[is_seen] = by_class
        # A dict may also have weights of classes that are still to come (`partial_fit`).
        given = {} if isinstance(class_weight, str) else {label: float(class_weight[label]) for label in class_weight}
        by_label = given | dict(zip(labels[is_seen].tolist(), by_class.tolist()))
        return cls(check_weights(full * counts, len(labels), "class_weight"), counts, by_label)

    def for_rows(self, labels: np.ndarray, weights: Any, name: str) -> Any:
        """Weights of other rows, times what their classes have."""
        if self.by_label is None:
            return weights
        given = np.ones(len(labels)) if weights is None else check_weights(weights, len(labels), name)
        return given * np.array([self.by_label.get(label, 1.0) for label in labels.tolist()])

    def without_rows(self) -> ClassWeights:
        """The weights of the classes alone."""
        return ClassWeights(None, None, self.by_label)


def _given_weights(class_weight: Any, known: np.ndarray) -> np.ndarray:
    """The weight of each known class by a dict."""
    try:
        by_label = {label: float(class_weight[label]) for label in class_weight}
    except (ValueError, TypeError, LookupError):
        raise ValueError(
            f"class_weight={class_weight!r} is not usable; give a dict by label, 'balanced' or None."
        ) from None
    # A fold may lack a class of the dict; but where y has one that is not there either, it is a slip.
    strange = [label for label in by_label if label not in known.tolist()]
    if strange and any(label not in by_label for label in known.tolist()):
        raise ValueError(f"class_weight={class_weight!r} names {strange[0]!r}, which is no label of y.")
    return np.array([by_label.get(label, 1.0) for label in known.tolist()])
