"""Losses of real targets and counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import xlogy

from kernelpursuit._validate import check_number
from kernelpursuit.losses.base import Loss
from kernelpursuit.losses.shapes import (
    average,
    long_exp,
    round_abs,
    round_abs_bound,
    round_abs_gradient,
    weighted_quantile,
)

# Score beyond which the mean of Poisson counts grows as a line.
LARGEST_SCORE = 50.0
# Beyond this size, or its inverse, sums of squares of the targets leave the range of float64.
SMALLEST_TARGET = 1e-152


@dataclass(frozen=True, repr=False)
class Squared(Loss):
    """Squared error, `(y - f)²`; of targets -1 and +1 it is `(1 - m)²` (KMP section 3.2).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import Squared
    >>> Squared().value(np.array([[0.5, 1.0, 10.0]]), np.zeros((1, 3)))
    array([  0.25,   1.  , 100.  ])
    """

    name = "squared"

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets whose squares are out of range."""
        check_size(y)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        return np.square(y - f).sum(axis=0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Twice the error."""
        return 2.0 * (f - y)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Second derivative, 2."""
        return np.full(f.shape[1], 2.0)

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted mean."""
        return average(y, weights)


@dataclass(frozen=True, repr=False)
class Huber(Loss):
    """Squared error with linear tails: `r²` up to `|r| = delta`, `2 delta |r| - delta²` beyond (Huber 1964).

    The curvature is `min(2, 2 delta / |r|)`, with which a parabola lies above the loss everywhere.

    Parameters
    ----------
    delta : float or "auto"
        Error from which on a row counts as an outlier. "auto" is 1.345 * 1.4826 times the weighted median of the
        distances of the targets from their median (1.345 standard deviations, 95 % efficient, if they are normal), or
        1 where that is 0. It is in units of the spread of the targets, so it is wide where a model explains most of
        them. All outputs share one delta.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.losses import Huber
    >>> X, y = make_chirp(200)
    >>> spoilt = np.where(np.arange(200) % 20 == 0, 50.0, y)  # one row in twenty
    >>> models = [KernelPursuitRegressor(gamma=3.0, loss=loss, max_atoms=20) for loss in ("squared", Huber(delta=0.3))]
    >>> [round(float(np.median(np.abs(model.fit(X, spoilt).predict(X) - y))), 1) for model in models]
    [2.6, 0.1]
    """

    delta: float | str = "auto"
    name = "huber"
    is_for_outliers = True

    def __post_init__(self) -> None:
        check_automatic("delta", self.delta)

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets whose squares are out of range."""
        check_size(y)

    def resolve(self, y: np.ndarray, weights: np.ndarray) -> Huber:
        """Return the loss with delta as a number."""
        if self.delta != "auto":
            return self
        distances, everyone = _distances(y, weights)
        return replace(self, delta=1.345 * 1.4826 * weighted_quantile(distances, everyone, 0.5) or 1.0)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        delta = number("delta", self.delta)
        size = np.abs(y - f)
        inside = np.minimum(size, delta)
        return (inside * (2 * size - inside)).sum(axis=0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Twice the error, clipped at delta."""
        delta = number("delta", self.delta)
        return 2.0 * np.clip(f - y, -delta, delta)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Bound that touches the loss at the row and on its other side."""
        delta = number("delta", self.delta)
        return (2 * delta / np.maximum(np.abs(y - f), delta)).max(axis=0)


@dataclass(frozen=True, repr=False)
class Quantile(Loss):
    """Pinball loss, `q r` for `r = y - f > 0` and `(q - 1) r` below (Koenker and Bassett 1978), its kink rounded.

    Within `width / 2` of the kink, a parabola takes its place. What is fitted is then the quantile of targets to which
    uniform noise of this width were added: it differs from the quantile by no more than `width / 2`, and mostly far
    less. The curvature is `1 / (2 max(|r|, width / 2))`, with which a parabola lies above the loss everywhere.

    The loss grows with the unit of the targets, the penalty on weights with its square. So the fit minimises the sum of
    losses times a spread of the targets, `unit`, and the penalty: targets in other units have the same model.

    Parameters
    ----------
    q : float
        The quantile, between 0 and 1.
    width : float or "auto"
        Width of the rounding. "auto" is 0.05 times the weighted distance between the quartiles of the targets, or of
        their mean distance from the median where that is 0, or 0.05 where all are equal. All outputs share one width.
    unit : float or "auto"
        What the sum of losses is multiplied by before the penalty is added. "auto" is the same distance, not divided by
        20; 1 weighs `alpha` against the losses as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.losses import Quantile
    >>> X = np.linspace(0.0, 1.0, 300)[:, None]
    >>> y = X[:, 0] * np.random.default_rng(0).exponential(size=300)
    >>> model = KernelPursuitRegressor(gamma=1.0, loss=Quantile(0.9), max_atoms=5).fit(X, y)
    >>> round(float((y <= model.predict(X)).mean()), 1)
    0.9
    """

    q: float = 0.5
    width: float | str = "auto"
    # The base class has it as a constant, which would come first among positional arguments.
    unit: float | str = field(default="auto", kw_only=True)  # type: ignore[misc]
    name = "quantile"
    takes_codes = False
    is_for_outliers = True

    def __post_init__(self) -> None:
        if not check_number("q", self.q, low=0, strict=True) < 1:
            raise ValueError(f"q={self.q!r} is too large; give a number between 0 and 1.")
        check_automatic("width", self.width)
        check_automatic("unit", self.unit)

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets whose squares are out of range."""
        check_size(y)

    def resolve(self, y: np.ndarray, weights: np.ndarray) -> Quantile:
        """Return the loss with width and unit as numbers."""
        if "auto" not in (self.width, self.unit):
            return self
        quartiles = [[weighted_quantile(row, weights, q) for q in (0.25, 0.75)] for row in y]
        spread = float(np.mean(np.diff(quartiles)))
        if spread == 0:
            distances, everyone = _distances(y, weights)
            spread = float(distances @ everyone / everyone.sum()) or 1.0
        width = 0.05 * spread if self.width == "auto" else self.width
        return replace(self, width=width, unit=spread if self.unit == "auto" else self.unit)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        r = y - f
        return ((self.q - 0.5) * r + round_abs(r, number("width", self.width)) / 2).sum(axis=0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """From -q where the target is above to 1 - q where it is below."""
        r = y - f
        return 0.5 - self.q - round_abs_gradient(r, number("width", self.width)) / 2

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Bound that touches the loss at the row."""
        return round_abs_bound(y - f, number("width", self.width)).max(axis=0) / 2


@dataclass(frozen=True, repr=False)
class Poisson(Loss):
    """Half the deviance of counts whose mean is `exp(f)`: `exp(f) - y f + y log y - y`.

    Beyond f = 50, where the mean is 5e21, exp goes on as the parabola that touches it, and the mean as a line.
    The curvature is `exp(f)`, the second derivative, where that is above a fifth of the count; below, it is raised so
    that no row asks for a step of more than 4 or, where it is farther away, to log y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.losses import Poisson
    >>> X = np.linspace(0.0, 3.0, 200)[:, None]
    >>> counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    >>> model = KernelPursuitRegressor(gamma=1.0, loss=Poisson(), max_atoms=10).fit(X, counts)
    >>> model.predict([[0.0], [3.0]]).round()  # means, near 1 and 20
    array([ 1., 18.])
    """

    name = "poisson"
    takes_codes = False

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse negative counts, and counts beyond the reach of the scores."""
        if (y < 0).any():
            raise ValueError("loss='poisson' needs counts, but y holds negative numbers; give numbers of at least 0.")
        if (y > np.exp(LARGEST_SCORE)).any():
            raise ValueError("loss='poisson' needs counts up to 5e21, but y holds larger ones; give a larger unit.")

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        # At the best score, the terms cancel but for rounding.
        return np.maximum(long_exp(f, LARGEST_SCORE)[0] - y * f + xlogy(y, y) - y, 0).sum(axis=0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Mean minus the count."""
        return self.mean(f) - y

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Second derivative, or what leads near log y in one step."""
        _, mean, curvature = long_exp(f, LARGEST_SCORE)
        missing = np.maximum(y - mean, 0)
        away = np.log(np.maximum(y, np.finfo(float).tiny)) - f
        return np.maximum(curvature, missing / np.maximum(away, 4)).max(axis=0)

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Logarithm of the weighted mean; of 2e-16 where all counts are 0."""
        return np.log(np.maximum(average(y, weights), np.finfo(float).eps))

    def mean(self, f: np.ndarray) -> np.ndarray:
        """Return exp(f)."""
        return long_exp(f, LARGEST_SCORE)[1]


def check_size(y: np.ndarray) -> float:
    """Return the largest absolute target, or refuse targets whose squares leave the range."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest and not SMALLEST_TARGET <= largest <= 1 / SMALLEST_TARGET:
        raise ValueError(
            f"y is of the size {largest:.1g}, whose square is out of range; multiply y by a constant first."
        )
    return largest


def check_automatic(name: str, value: float | str) -> None:
    """Refuse all but numbers above 0 and "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name}={value!r} is not known; give a number above 0, or 'auto'.")
        return
    check_number(name, value, low=0, strict=True)


def number(name: str, value: float | str) -> float:
    """Return a setting that the targets decide, or refuse where they have not been seen."""
    if isinstance(value, str):
        raise ValueError(f"{name}='auto' depends on the targets; call resolve(y, weights) first, or give a number.")
    return value


def _distances(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances of all targets from the median of their output, in one row, and their weights."""
    medians = np.array([weighted_quantile(row, weights, 0.5) for row in y])
    return np.abs(y - medians[:, None]).ravel(), np.tile(weights, len(y))
