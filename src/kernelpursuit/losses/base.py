"""What a loss is, and the best constant for any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from kernelpursuit._validate import ByName

# A gradient this small beside the gradients it is the sum of is zero.
FLAT = 1e-12
# A rise this small beside the value is rounding.
ROUNDING = 1e-10


@dataclass(frozen=True, repr=False)
class Loss(ByName):
    """Base of all losses; a subclass defines `value`, `gradient` and `curvature`, and inherits the rest.

    Targets `y` and scores `f` have the shape (n_outputs, n_rows). The caller multiplies with the weights of rows,
    except in `resolve` and `start`. No method changes its arguments. Each costs O(n_outputs n_rows).

    A subclass with parameters should be a frozen dataclass, so that equal losses compare equal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.losses import Loss
    >>> class LogCosh(Loss):
    ...     def value(self, y, f):
    ...         return (np.logaddexp(f - y, y - f) - np.log(2)).sum(axis=0)
    ...     def gradient(self, y, f):
    ...         return np.tanh(f - y)
    ...     def curvature(self, y, f):  # global bound tanh(r) / r
    ...         r = np.maximum(np.abs(f - y), 1e-8)
    ...         return (np.tanh(r) / r).max(axis=0)
    >>> LogCosh().start(np.array([[0.0, 1.0, 50.0]]), np.ones(3)).round(3)
    array([1.176])
    """

    #: Name by which the loss is given as `loss=...`.
    name: ClassVar[str] = "custom"
    #: "margin": targets are -1 or +1, and the loss is a sum over outputs. "real": targets are numbers, and the loss
    #: is a sum over outputs. "classes": targets are 1 in the output of their class and 0 in the others.
    kind: ClassVar[str] = "real"
    #: Whether some constant score is best whatever the targets. A loss that falls to a bound forever has none where
    #: classes differ in number; models are then fitted without an intercept, which would run away from the atoms.
    has_constant: ClassVar[bool] = True
    #: Whether a loss of kind "real" is of use for the codes -1 and +1 of classes as well.
    takes_codes: ClassVar[bool] = True
    #: Whether it is for targets of which some may be far off. These make up most of the loss then, however well the
    #: others are fitted, so that a fraction of it is no measure of what may be given away for fewer atoms.
    is_for_outliers: ClassVar[bool] = False
    #: Whether a loss of kind "classes" goes by differences of scores alone: what all of a row share is no matter.
    only_differences: ClassVar[bool] = False
    #: What the sum of losses is multiplied by before the penalty is added. A penalty has the unit of a squared target;
    #: a loss that has another one takes a factor with the missing unit, so that the same `alpha` means the same.
    unit: ClassVar[Any] = 1.0

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets for which the loss is not defined."""

    def resolve(self, y: np.ndarray, weights: np.ndarray) -> Loss:
        """Return the loss with all settings as numbers; "auto" is set from the targets."""
        return self

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Loss of every row, summed over outputs; shape (n_rows,)."""
        raise NotImplementedError(f"{type(self).__name__} has no method value(y, f); a loss needs one.")

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Derivative of the value by the scores; shape (n_outputs, n_rows)."""
        raise NotImplementedError(f"{type(self).__name__} has no method gradient(y, f); a loss needs one.")

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """One number c a row such that `value + gradient's + c ||s||² / 2` describes a step s; shape (n_rows,).

        It is the second derivative, the largest among outputs, or a stand-in for it. It is never negative, and it is
        above zero wherever the gradient is not zero.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method curvature(y, f); a loss needs one.")

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Best constant score of every output, found by a safeguarded line search from 0; shape (n_outputs,).

        Of a loss that is not convex, it is a minimum no worse than 0. Where a loss falls forever, the search ends
        where its gradient has all but vanished.
        """
        if self.kind == "margin":
            return np.array([self._best(*merge_equal(row[None], weights), np.zeros(1), 0) for row in y])
        if self.kind == "real":
            return np.array([self._best(row[None], weights, np.zeros(1), 0) for row in y])
        y, weights = merge_equal(y, weights)
        constant = np.zeros(len(y))
        for _ in range(100):
            before = constant.copy()
            for output in range(len(y)):
                constant[output] = self._best(y, weights, constant, output)
            if np.abs(constant - before).max() <= FLAT * np.abs(constant).max():
                break
        return constant

    def mean(self, f: np.ndarray) -> np.ndarray:
        """Return the target that a score predicts: the score itself."""
        return f

    def probabilities(self, f: np.ndarray) -> np.ndarray | None:
        """Probabilities of the classes, shape (n_classes, n_rows), or None where scores do not give any."""
        return None

    def __repr__(self) -> str:
        """Show the settings that are not the default."""
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    def _best(self, y: np.ndarray, weights: np.ndarray, constant: np.ndarray, output: int) -> float:
        """Best score of one output, with the scores of the others as they are in `constant`."""

        def scores(score: float) -> np.ndarray:
            f = np.repeat(constant[:, None], y.shape[1], axis=1)
            f[output] = score
            return f

        def cost(score: float) -> tuple[float, float]:
            f = scores(score)
            return float(weights @ self.value(y, f)), float(weights @ self.gradient(y, f)[output])

        first = scores(constant[output])
        size = float(weights @ np.abs(self.gradient(y, first)[output]))
        # A user's loss may overflow far out; the search takes that for too far.
        with np.errstate(all="ignore"):
            return first_minimum(cost, constant[output], float(weights @ self.curvature(y, first)), FLAT * size)


def merge_equal(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join rows with the same code into one with the sum of their weights: codes take few values."""
    codes, which = np.unique(y, axis=1, return_inverse=True)
    return codes, np.bincount(np.ravel(which), weights=weights)


def first_minimum(cost: Callable[[float], tuple[float, float]], near: float, curvature: float, flat: float) -> float:
    """First minimum of a function of one number, on the way down from `near`.

    `cost` gives value and gradient, and a gradient of at most `flat` counts as zero. Steps double until the gradient
    turns or the value rises. Between the last point before that and the first beyond, secants alternate with halving.
    """
    least, gradient = cost(near)
    if abs(gradient) <= flat:
        return near
    sense = np.sign(gradient)
    step = gradient / curvature if np.isfinite(curvature) and curvature > 0 else sense
    far: float | None = None
    far_gradient = np.nan
    for turn in range(200):
        trial = near - step
        if far is not None:
            trial = (near + far) / 2
            if trial in (near, far):
                break
            if turn % 2 and sense * far_gradient < 0:
                trial = near + (far - near) * gradient / (gradient - far_gradient)
        value, here = cost(trial)
        rises = not (np.isfinite(here) and value <= least + ROUNDING * abs(least))
        if abs(here) <= flat and not rises:
            return float(trial)
        if rises or sense * here < 0:
            far, far_gradient = trial, here
        else:
            near, least, gradient, step = trial, value, here, 2 * step
    return float(near)
