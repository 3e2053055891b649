"""Losses: what it costs to predict the score f where the target is y.

A loss is a small object of settings, or its name. The pursuit asks it for the value, gradient and curvature of every
row; KMP (Vincent and Bengio 2002) section 3.1 picks the atom most collinear with the negative gradient, equation (8).

base      what a loss is, and the best constant for any of them
margin    functions of the margin y f, for targets -1 and +1: KMP section 3.2, figure 5
real      losses of real targets and counts: squared, huber, quantile, poisson
classes   softmax
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelpursuit._validate import check_option
from kernelpursuit.losses.base import Loss
from kernelpursuit.losses.classes import Softmax
from kernelpursuit.losses.margin import DoomII, Exponential, Logistic, SmoothHinge, SquaredHinge, SquaredTanh
from kernelpursuit.losses.real import Huber, Poisson, Quantile, Squared

BY_NAME: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Squared,
        SquaredTanh,
        Logistic,
        Exponential,
        DoomII,
        SquaredHinge,
        SmoothHinge,
        Huber,
        Quantile,
        Softmax,
        Poisson,
    )
}


def as_loss(loss: object, options: Iterable[str] = BY_NAME) -> Loss:
    """Return the loss for a name or a loss; `options` are the names that the caller takes.

    Examples
    --------
    >>> from kernelpursuit.losses import Huber, as_loss
    >>> as_loss("logistic"), as_loss(Huber(delta=2.0))
    (Logistic(), Huber(delta=2.0))
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in BY_NAME:
        return BY_NAME[loss]()
    return BY_NAME[check_option("loss", loss, options)]()


__all__ = [
    "BY_NAME",
    "DoomII",
    "Exponential",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "SmoothHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredTanh",
    "as_loss",
]
