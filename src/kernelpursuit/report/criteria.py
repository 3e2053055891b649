"""Every criterion of the path at the sizes of the page, grouped by what can share an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kernelpursuit.model import FittedModel, OneVsRestModel

# Classes that have a curve of their own, where each has a path.
MOST_CLASSES = 8
# Criteria that share an axis, by name on the path and in words.
LOSSES = (("loo", "each row left out"), ("validation", "validation rows"), ("cv", "over folds"))
WRONG = (("loo_error", "each row left out"), ("validation_error", "validation rows"), ("cv_error", "over folds"))
# The others, each by itself: name, words, and whether it spans powers of ten.
ALONE = (
    ("cost", "Penalised cost", True),
    ("residual_norm", "Residual norm", True),
    ("dof", "Effective degrees of freedom", False),
    ("rcond", "Reciprocal condition number", True),
    ("correlation", "Largest correlation left", True),
    ("inverse_temperature", "Inverse temperature", False),
)


@dataclass
class Series:
    """One curve over sizes, with a band of one standard error where that is known."""

    label: str
    values: np.ndarray
    error: np.ndarray | None = None


@dataclass
class Group:
    """Curves that share an axis. `key` says what they measure: "loss", "wrong" or the name of a column of the path."""

    key: str
    title: str
    is_log: bool
    series: list[Series] = field(default_factory=list)


def criteria_of(models: Sequence[FittedModel | OneVsRestModel]) -> list[Group]:
    """What the path has to say of each model."""
    first = models[0]
    if isinstance(first, OneVsRestModel):
        return _of_each_class([one for one in models if isinstance(one, OneVsRestModel)])
    sized = [one for one in models if isinstance(one, FittedModel)]
    groups = [
        Group("loss", loss_title(first), True, _series(sized, LOSSES)),
        Group("wrong", "Rows in a wrong class", False, _series(sized, WRONG)),
    ]
    if first.measure.classes:
        groups.reverse()
    groups += [Group(name, title, is_log, _series(sized, ((name, title),))) for name, title, is_log in ALONE]
    return [group for group in groups if group.series]


def loss_title(model: FittedModel) -> str:
    """What is minimised, on average over rows."""
    loss = model.measure.loss
    if loss is not None:
        return f"Mean loss ({loss.name})"
    return "Mean squared error" if model.units is None else "Mean squared error, targets in standard deviations"


def _series(models: Sequence[FittedModel], names: Sequence[tuple[str, str]]) -> list[Series]:
    """The criteria of these names that the path has."""
    found = []
    for name, label in names:
        values = column(models, name)
        if values is not None:
            found.append(Series(label, values, column(models, "loo_se") if name == "loo" else None))
    return found


def column(models: Sequence[FittedModel], name: str) -> np.ndarray | None:
    """One column of the path at the sizes of some models; None where the path has no number of that name."""
    known = getattr(models[0].path, name)
    if known is None or np.isnan(known).all():
        return None
    return np.array([known[one.n_steps] for one in models], dtype=np.float64)


def _of_each_class(models: Sequence[OneVsRestModel]) -> list[Group]:
    """The same where each class has a path: a curve for each class, told from the rest."""
    groups = []
    wanted = [("wrong", "Rows on the wrong side of a class", "loo_error", False)]
    wanted += [("loss", loss_title(models[0].models[0]) + " of a class", "loo", True)]
    wanted += [("cost", "Penalised cost of a class", "cost", True)]
    for key, title, name, is_log in wanted:
        group = Group(key, title, is_log)
        for i, label in enumerate(models[0].classes[:MOST_CLASSES]):
            values = column([one.models[i] for one in models], name)
            if values is not None:
                group.series.append(Series(str(label), values))
        groups += [group] if group.series else []
    return groups
