"""Losses that are functions of the margin m = y f, for targets y of -1 and +1 (KMP section 3.2, figure 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, softmax

from kernelpursuit._validate import check_number
from kernelpursuit.losses.base import Loss
from kernelpursuit.losses.shapes import average, long_exp, round_abs, round_abs_bound, round_abs_gradient

# A row never asks for a step that is longer than this and its distance from margin 0.
LONGEST_STEP = 32.0
# Margin below which the exponential loss grows as a parabola.
LEAST_MARGIN = -30.0


@dataclass(frozen=True, repr=False)
class MarginLoss(Loss):
    """Base of the losses of a margin: `cost`, and by m its `margin_gradient` and `margin_curvature`, say all.

    The loss of a row is the sum over its outputs, and its curvature is the largest among theirs.
    """

    kind = "margin"

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        raise NotImplementedError(f"{type(self).__name__} has no method cost(m); a loss of margins needs one.")

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method margin_gradient(m); a loss of margins needs one."
        )

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Second derivative of the cost, or its stand-in."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method margin_curvature(m); a loss of margins needs one."
        )

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse all but -1 and +1."""
        if not (np.abs(y) == 1).all():
            raise ValueError(f"loss={self.name!r} needs classes, but y holds more than -1 and +1; code them as these.")

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        return self.cost(y * f).sum(axis=0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Derivative by the scores."""
        return y * self.margin_gradient(y * f)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Largest curvature among the outputs of a row."""
        return self.margin_curvature(y * f).max(axis=0)


def half_log_odds(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Half the log-odds of +1 in every output; a class without rows has the share 2e-16."""
    upper, lower = (np.maximum((y == code) @ weights, np.finfo(float).eps * weights.sum()) for code in (1, -1))
    return np.log(upper / lower) / 2


@dataclass(frozen=True, repr=False)
class SquaredTanh(MarginLoss):
    """Squared error after tanh, `(tanh(f) - target y)² = (target - tanh(m))²` (KMP section 3.2).

    Its curvature is that of Gauss and Newton, `2 sech⁴(m)`, with the other term of the second derivative where that is
    positive. Where tanh saturates both vanish faster than the gradient; there the curvature is the size of the
    gradient, so that no row asks for a step of more than 1.

    Parameters
    ----------
    target : float
        What tanh of the score should be, between 0 and 1; 0.65 is from LeCun et al. (1998), by way of KMP.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import SquaredTanh
    >>> SquaredTanh().cost(np.array([-10.0, 0.0, np.arctanh(0.65), 10.0])).round(3)  # least at the target, bounded
    array([2.722, 0.423, 0.   , 0.122])
    """

    target: float = 0.65
    name = "tanh"

    def __post_init__(self) -> None:
        if not check_number("target", self.target, low=0, strict=True) < 1:
            raise ValueError(f"target={self.target!r} is too large; give a number between 0 and 1.")

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return np.square(np.tanh(m) - self.target)

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return 2 * (np.tanh(m) - self.target) * sech2(m)

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Stand-in for the second derivative, and at least as large."""
        rate, error = sech2(m), np.tanh(m) - self.target
        return 2 * rate * np.maximum(rate + np.maximum(-2 * error * np.tanh(m), 0), np.abs(error))

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Score whose tanh is the mean of the targets after tanh."""
        return np.arctanh(self.target * average(y, weights))


@dataclass(frozen=True, repr=False)
class Logistic(MarginLoss):
    """Binomial log-likelihood in bits, `log2(1 + exp(-2 m))` (LogitBoost: Friedman, Hastie and Tibshirani 1998).

    The score is half the log-odds of +1. The curvature is the second derivative for m above -2; below, that falls off
    while the gradient does not, and the curvature is `|gradient| / (32 + |m|)` where this is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import Logistic
    >>> Logistic().probabilities(np.array([[-1.0, 0.0, 1.0]])).round(3)  # of -1 and +1, at three scores
    array([[0.881, 0.5  , 0.119],
           [0.119, 0.5  , 0.881]])
    """

    name = "logistic"

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return np.logaddexp(0, -2 * m) / np.log(2)

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return -2 / np.log(2) * expit(-2 * m)

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Second derivative, or what keeps a step within 32 of margin 0."""
        return -self.margin_gradient(m) * np.maximum(2 * expit(2 * m), 1 / (LONGEST_STEP + np.abs(m)))

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Half the log-odds of +1; a class without rows has the share 2e-16."""
        return half_log_odds(y, weights)

    def probabilities(self, f: np.ndarray) -> np.ndarray:
        """Probabilities of -1 and +1; of several outputs, those of +1 in each, divided by their sum."""
        if len(f) == 1:
            return expit(np.concatenate([-2 * f, 2 * f]))
        return softmax(log_expit(2 * f), axis=0)


@dataclass(frozen=True, repr=False)
class Exponential(MarginLoss):
    """Loss of AdaBoost, `exp(-m)` (Schapire et al. 1998).

    Below m = -30, where it is 1e13, it goes on as the parabola that touches it. The curvature is the second derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import Exponential
    >>> Exponential().cost(np.array([-8.0, -1.0, 0.0, 1.0])).round()  # a row far on the wrong side outweighs all
    array([2.981e+03, 3.000e+00, 1.000e+00, 0.000e+00])
    """

    name = "exponential"

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return long_exp(-m, -LEAST_MARGIN)[0]

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return -long_exp(-m, -LEAST_MARGIN)[1]

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Second derivative."""
        return long_exp(-m, -LEAST_MARGIN)[2]

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Half the log-odds of +1; a class without rows has the share 2e-16."""
        return half_log_odds(y, weights)


@dataclass(frozen=True, repr=False)
class DoomII(MarginLoss):
    """Loss of Doom II, `1 - tanh(m)` (Mason et al. 1999): an outlier costs no more than 2.

    It is not convex for m < 0. The curvature is the second derivative where that is larger than a quarter of the
    gradient, and else that quarter, so that no row asks for a step of more than 4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import DoomII
    >>> DoomII().cost(np.array([-10.0, 0.0, 10.0])).round(3)  # at margins far below 0, no more than 2
    array([2., 1., 0.])
    """

    name = "doom2"
    has_constant = False

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return 2 * expit(-2 * m)

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return -sech2(m)

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Second derivative, or a quarter of the gradient."""
        return sech2(m) * np.maximum(2 * np.tanh(m), 0.25)

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Zero, since no constant is best: the loss falls forever towards the larger class, where gradients vanish."""
        return np.zeros(len(y))


@dataclass(frozen=True, repr=False)
class SquaredHinge(MarginLoss):
    """Squared hinge, `max(0, 1 - m)²` (the L2 loss of support vector machines: Cortes and Vapnik 1995).

    The curvature is the second derivative: 2 for m < 1, and 0 for rows beyond, as in Newton's method (Chapelle 2007).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import SquaredHinge
    >>> SquaredHinge().cost(np.array([-1.0, 0.0, 1.0, 2.0]))  # nothing from margin 1 on
    array([4., 1., 0., 0.])
    """

    name = "squared_hinge"

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return np.square(np.maximum(1 - m, 0))

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return -2 * np.maximum(1 - m, 0)

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Second derivative."""
        return np.where(m < 1, 2.0, 0.0)

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted mean, since no margin of it is above 1."""
        return average(y, weights)


@dataclass(frozen=True, repr=False)
class SmoothHinge(MarginLoss):
    """Loss of support vector machines, `max(0, 1 - m)` (KMP equation 13), its corner rounded.

    Within `width / 2` of margin 1, a parabola takes the place of the corner (Chapelle 2007). The curvature is that of
    the parabola there and `1 / (2 (1 - m))` for smaller margins; with these, a parabola lies above the loss everywhere.
    It is 0 where the loss is. (The same bound on that side too would hold all rows back and cost tens of times the
    steps.)

    Parameters
    ----------
    width : float
        Width of the rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import SmoothHinge
    >>> SmoothHinge(width=0.5).cost(np.array([-1.0, 0.0, 1.0, 2.0]))  # the hinge but for 0.75 to 1.25
    array([2.    , 1.    , 0.0625, 0.    ])
    """

    width: float = 0.5
    name = "hinge"

    def __post_init__(self) -> None:
        check_number("width", self.width, low=0, strict=True)

    def cost(self, m: np.ndarray) -> np.ndarray:
        """Loss at margin m."""
        return (1 - m + round_abs(1 - m, self.width)) / 2

    def margin_gradient(self, m: np.ndarray) -> np.ndarray:
        """Derivative of the cost."""
        return -(1 + round_abs_gradient(1 - m, self.width)) / 2

    def margin_curvature(self, m: np.ndarray) -> np.ndarray:
        """Bound that touches the loss at m, or 0 where the loss is."""
        return np.where(m < 1 + self.width / 2, round_abs_bound(1 - m, self.width) / 2, 0.0)


def sech2(m: np.ndarray) -> np.ndarray:
    """Square of the hyperbolic secant, the derivative of tanh."""
    return 4 * expit(2 * m) * expit(-2 * m)
