"""A loss summed over the training rows, and the weighted square that equals it around given scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from kernelpursuit.losses import Loss
from kernelpursuit.losses.real import number
from kernelpursuit.pursuit.measure import checked_value
from kernelpursuit.pursuit.watch import Ended, Watch

# Rows that a score has settled have next to no curvature. Below this part of the largest it is rounded up, so that a
# row's weight never leaves the range in which an inner product can be computed.
FLATTEST = 1e-2
# A minimum is found when the gradient, in coordinates where the curvature is one, is this part of the root of the cost.
CONVERGED = 1e-6
# The same for the model that is kept.
SETTLED = 1e-11
MOST_ITERATIONS = 200
MOST_POLISHED, MOST_PRODUCTS = 10, 50
# How far to go for a difference of gradients, where coordinates are of size one.
DIFFERENCE = 1e-5
# Less curvature than this, where it should be about one, is rounding.
FLAT = 1e-8


class Objective:
    """`unit sum_i s_i loss(y_i, f_i)` as a function of the scores f.

    The unit is that of the loss, and 1 for most: with it, the sum has the unit of a squared target, as a penalty has.

    Parameters
    ----------
    loss : Loss
        Resolved.
    y : array of shape (n_targets, n_rows)
        Targets as the loss takes them.
    weights : array of shape (n_rows,)
        Sample weights.
    watch : Watch, optional
        Asked by a search for the minimum whether to end.
    """

    def __init__(self, loss: Loss, y: np.ndarray, weights: np.ndarray, watch: Watch | None = None):
        self.loss = loss
        self.y = y
        self.weights = weights
        self.watch = watch
        self._unit = float(number("unit", loss.unit))

    def value(self, scores: np.ndarray) -> float:
        """The sum over rows."""
        values = self._checked("value", self.loss.value(self.y, scores), self.weights.shape)
        return self._unit * float(self.weights @ values)

    def gradient(self, scores: np.ndarray) -> np.ndarray:
        """Its derivative by every score, shape (n_targets, n_rows)."""
        return self._checked("gradient", self.loss.gradient(self.y, scores), self.y.shape) * (self._unit * self.weights)

    def metric(self, scores: np.ndarray) -> np.ndarray:
        """Weights of the square that equals the sum around these scores: half the curvature of every row."""
        curvature = self._checked("curvature", self.loss.curvature(self.y, scores), self.weights.shape)
        if (curvature < 0).any():
            raise ValueError(f"The curvature of loss={self.loss!r} is negative; give a bound on it that is not.")
        # Without any, every row is where the loss is least, and one square is as good as another.
        largest = float(curvature.max()) or 1.0
        return (0.5 * self._unit) * self.weights * np.maximum(curvature, FLATTEST * largest)

    def _checked(self, what: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return checked_value(self.loss, what, values, shape)


def descend(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    solver: str = "newton",
    converged: float = CONVERGED,
    watch: Watch | None = None,
) -> np.ndarray:
    """Minimise a function of coordinates in which its curvature is about one, from a start that is close.

    Where `watch` asks for an end, the lowest point so far is returned.

    `solver` "newton" is limited-memory quasi-Newton, which such coordinates make Newton's method at first and better
    after each step; "cg" is nonlinear conjugate gradients, the choice of Vincent and Bengio.
    """
    cost, slope = function(start)
    # All is measured in this, so that the units of the targets do not matter; a loss may be negative.
    size = max(abs(cost) ** 0.5, float(np.abs(slope).max(initial=0.0)))
    if not size > 0:
        return start
    method, options = {
        "newton": ("L-BFGS-B", {"maxcor": 20, "ftol": 1e-15, "maxfun": 2 * MOST_ITERATIONS}),
        "cg": ("CG", {}),
    }[solver]
    # Costs tell points apart only while the gradient is above the root of their rounding; the rest is polish.
    options |= {"gtol": max(converged, CONVERGED), "maxiter": MOST_ITERATIONS}

    lowest = cost, start

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal lowest
        value, gradient = function(size * x.reshape(start.shape))
        if watch is not None:
            if value < lowest[0]:
                lowest = value, size * x.reshape(start.shape)
            if watch.ask_again():
                raise Ended
        return value / size**2, gradient.ravel() / size

    try:
        return _descended(flat, start, size, cost, method, options, converged)
    except Ended:
        return lowest[1]


def _descended(
    flat: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    size: float,
    cost: float,
    method: str,
    options: dict[str, Any],
    converged: float,
) -> np.ndarray:
    found = minimize(flat, start.ravel() / size, jac=True, method=method, options=options)
    if not found.fun * size**2 <= cost:
        return start
    x = found.x
    if converged < CONVERGED:
        # A loss that is not convex has a small gradient in other places too.
        closer = _polished(lambda point: flat(point)[1], x, converged)
        x = closer if flat(closer)[0] <= found.fun * (1 + 1e-12) else x
    return size * x.reshape(start.shape)


def _polished(gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, converged: float) -> np.ndarray:
    """Bring the gradient to zero by Newton's method: it has digits where costs have none left to tell points apart.

    The Newton step is found by conjugate gradients, to which products with the curvature are differences of gradients.
    Where a step does not make the gradient smaller, at a kink of the loss say, the search ends.
    """
    slope = gradient(x)
    for _ in range(MOST_POLISHED):
        largest = float(np.abs(slope).max(initial=0.0))
        if largest <= converged:
            break
        step, left = np.zeros_like(x), -slope
        direction, squares = left, float(left @ left)
        for _ in range(MOST_PRODUCTS):
            width = DIFFERENCE / float(np.abs(direction).max())
            bent = (gradient(x + width * direction) - gradient(x - width * direction)) / (2 * width)
            bend = float(direction @ bent)
            if not bend > FLAT * float(direction @ direction):
                break
            step = step + (squares / bend) * direction
            left = left - (squares / bend) * bent
            squares, before = float(left @ left), squares
            if squares <= 1e-6 * float(slope @ slope):
                break
            direction = left + (squares / before) * direction
        new = gradient(x + step)
        if not float(np.abs(new).max()) < 0.5 * largest:
            break
        x, slope = x + step, new
    return x
