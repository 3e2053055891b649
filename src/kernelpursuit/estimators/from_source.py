"""Training data from a source of rows: a first pass checks all of them, and takes a sample into memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.estimators.fitting import TrainingData
from kernelpursuit.estimators.labels import ClassWeights, class_loss, codes_of
from kernelpursuit.estimators.sampled import Whole, surveyed
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Watch, resolve_threads
from kernelpursuit.rows import RowBlock, RowSource

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

# The part of a fit in which a source is passed over for the first time.
SURVEY = "reading all rows"


def numbers_from(estimator: BaseKernelPursuit, source: RowSource, loss: Loss, watch: Watch) -> TrainingData:
    """Rows and targets of a source; the estimator is told of its features."""
    seed, rows, whole, _ = _surveyed(estimator, source, watch, has_labels=False)
    return TrainingData(
        rows.X,
        np.asarray(rows.y, dtype=np.float64),
        rows.weights,
        loss,
        counts=rows.counts,
        names=getattr(estimator, "feature_names_in_", None),
        numbers=None if len(rows) == whole.source.n_rows else rows.numbers,
        whole=replace(whole, source=whole.source.map(as_numbers)),
        seed=seed,
    )


def as_numbers(block: RowBlock) -> RowBlock:
    """A block with targets in float64."""
    return replace(block, y=np.asarray(block.y, dtype=np.float64))


@dataclass(frozen=True)
class Coded:
    """A block with codes of classes for labels, and with what `class_weight` makes of the weights.

    classes   labels, sorted
    loss      under which they are coded
    weights   what each class multiplies the weights of its rows by, or None
    """

    classes: np.ndarray
    loss: Loss
    weights: np.ndarray | None

    def __call__(self, block: RowBlock) -> RowBlock:
        """The coded rows."""
        places = self.places(block.y[:, 0])
        coded = replace(block, y=codes_of(self.classes[places], self.classes, self.loss))
        if self.weights is None:
            return coded
        given = block.sample_weights
        return replace(coded, weights=given * self.weights[places], counts=given)

    def places(self, labels: np.ndarray) -> np.ndarray:
        """The class of each row; labels of no class, which only rows of weight 0 have, are in the first."""
        known = np.asarray(labels.tolist()) if labels.dtype.kind == "O" else labels
        places = np.minimum(np.searchsorted(self.classes, known), len(self.classes) - 1)
        return np.where(self.classes[places] == known, places, 0)


def labels_from(estimator: Any, source: RowSource, watch: Watch) -> tuple[TrainingData, ClassWeights, np.ndarray]:
    """Rows and coded labels of a source, the weights of its classes, and the classes, found in the first pass."""
    if source.n_targets > 1:
        raise ValueError(f"y has {source.n_targets} columns; give one column of labels.")
    seed, rows, whole, found = _surveyed(estimator, source, watch, has_labels=True)
    assert found is not None
    weighed = {label: weight for label, weight in found.items() if weight > 0}
    classes = _sorted_classes(list(weighed))
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes.tolist()[0]!r} (rows of weight 0 do not count); "
            "give rows of at least two classes."
        )
    sums = np.array([weighed[label] for label in classes.tolist()])
    weights = ClassWeights.of(estimator.class_weight, classes, None if estimator.class_weight is None else sums)
    loss = class_loss(estimator.loss, len(classes))
    by_class = None
    if weights.by_label is not None:
        by_class = np.array([weights.by_label[label] for label in classes.tolist()])
        if not by_class.all():
            label = classes[by_class == 0].tolist()[0]
            raise ValueError(f"class_weight is 0 for {label!r}; leave rows of that class out of the source.")
    coded = Coded(classes, loss, by_class)
    rows = coded(rows)
    sums = sums if by_class is None else sums * by_class
    mean = float(sums.sum()) / whole.n_rows
    data = TrainingData(
        rows.X,
        rows.y,
        rows.weights,
        loss,
        classes=classes,
        counts=rows.counts,
        names=getattr(estimator, "feature_names_in_", None),
        numbers=None if len(rows) == whole.source.n_rows else rows.numbers,
        whole=replace(whole, source=whole.source.map(coded), mean_weight=mean, by_class=sums),
        seed=seed,
    )
    return data, weights.without_rows(), classes


def _sorted_classes(labels: list[object]) -> np.ndarray:
    """Labels as an array, in their order; those of several types, and numbers that are no labels, are refused."""
    # NumPy would make words of numbers beside words.
    if len({isinstance(label, str) for label in labels}) == 2:
        raise ValueError("y holds labels of several types, which cannot be sorted; give labels of one type.")
    classes = np.unique(np.asarray(labels))
    if classes.dtype.kind == "f" and (classes != np.trunc(classes)).any():
        value = classes[classes != np.trunc(classes)][0]
        raise ValueError(f"y holds {value:g}, which is no label; use KernelPursuitRegressor for numbers.")
    return classes


def _surveyed(
    estimator: Any, source: RowSource, watch: Watch, *, has_labels: bool
) -> tuple[int, RowBlock, Whole, dict[object, float] | None]:
    """Pass over a source for the first time, and tell the estimator of its features."""
    if not source.n_targets:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed; give the name of a column, or a target for each row.")
    seed = check_seed(estimator.random_state)
    watch.part(SURVEY)
    begun = time.monotonic()
    rows, whole, labels = surveyed(
        source,
        seed,
        memory_budget=estimator.memory_budget,
        has_labels=has_labels,
        n_threads=resolve_threads(estimator.n_jobs),
        told=watch.tell,
    )
    watch.pass_seconds = time.monotonic() - begun
    estimator.n_features_in_ = source.n_features
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return seed, rows, whole, labels
