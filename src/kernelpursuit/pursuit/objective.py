"""A loss summed over the training rows, and the search for its minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from kernelpursuit.losses import Loss
from kernelpursuit.losses.real import number
from kernelpursuit.pursuit.measure import checked_value
from kernelpursuit.pursuit.watch import Ended, Watch
from kernelpursuit.pursuit.working import LocalQuadratic, working_weights

# A minimum is found when the gradient, in coordinates where the curvature is one, is this fraction of the root of the
# cost. A gradient g is then within g²/2 of the minimum, 1e-12 of the cost: what L-BFGS can tell from costs whose
# rounding error is some n_rows eps.
CONVERGED = 1e-6
# The same for the model that is kept, of which Newton's method on the gradient alone finds all digits but the rounding
# of a sum over rows, 1e-16 times some 1e4 or less.
FULLY_CONVERGED = 1e-11
MAX_ITERATIONS = 200
MAX_NEWTON_STEPS, MAX_CG_STEPS = 10, 50
# Half the distance of the two gradients whose difference is a product with the curvature, where coordinates are of size
# one: near the third root of eps, 6e-6, at which the error of a central difference is least.
DIFFERENCE_STEP = 1e-5
# The same of a score, of losses of several scores: they have no unit, and vary over about one.
SCORE_STEP = 1e-4
# Less curvature than this, where it should be about one, is the rounding of such a difference, eps / DIFFERENCE_STEP,
# times some hundreds.
LEAST_RELIABLE_CURVATURE = 1e-8


@dataclass(frozen=True)
class LossSums:
    """A loss summed over rows, without its penalty; those of two sets of rows add up to those of both.

    value     the sum
    gradient  its derivative by the coefficients, shape (n_columns, n_targets)
    """

    value: float
    gradient: np.ndarray

    def __add__(self, other: LossSums) -> LossSums:
        """The sums over both sets of rows."""
        return LossSums(self.value + other.value, self.gradient + other.gradient)


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

    def half_curvatures(self, scores: np.ndarray) -> np.ndarray:
        """Half the second derivatives by every score, times the weights of the rows, shape (n_targets, n_rows).

        Of several scores, the curvature that a loss has for a row bounds those of all; each has its own by differences.
        """
        if len(scores) == 1:
            return 0.5 * self._curvature(scores) * (self._unit * self.weights)[None, :]
        found = np.empty_like(scores)
        for target, half in enumerate(found):
            step = np.zeros((len(scores), 1))
            step[target] = SCORE_STEP
            further, back = (self.gradient(scores + sign * step)[target] for sign in (1, -1))
            np.maximum((further - back) / (4 * SCORE_STEP), 0.0, out=half)
        return found

    def working_weights(self, scores: np.ndarray) -> np.ndarray:
        """Working weights of the rows at these scores: half their curvature, none far below the largest."""
        return working_weights(self._curvature(scores), self._unit * self.weights)

    def around(self, scores: np.ndarray, weights: np.ndarray | None = None) -> LocalQuadratic:
        """The local quadratic approximation at these scores, with its own working weights or those given."""
        gradient = self.gradient(scores)
        return LocalQuadratic(scores, gradient, self.working_weights(scores) if weights is None else weights)

    def _curvature(self, scores: np.ndarray) -> np.ndarray:
        curvature = self._checked("curvature", self.loss.curvature(self.y, scores), self.weights.shape)
        if (curvature < 0).any():
            raise ValueError(f"The curvature of loss={self.loss!r} is negative; give a bound on it that is not.")
        return curvature

    def _checked(self, what: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return checked_value(self.loss, what, values, shape)


@dataclass(frozen=True)
class Search:
    """How a minimum is looked for.

    solver     "newton" is limited-memory quasi-Newton, in coordinates that make it Newton's method at first and better
               after each step; "cg" is nonlinear conjugate gradients, the choice of Vincent and Bengio
    converged  how small a gradient ends it
    watch      asked whether to end; then the lowest point so far is returned
    max_iterations  most steps
    """

    solver: str = "newton"
    converged: float = CONVERGED
    watch: Watch | None = None
    max_iterations: int = MAX_ITERATIONS


CLOSE_ENOUGH = Search()


def minimise(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, search: Search = CLOSE_ENOUGH
) -> np.ndarray:
    """Minimise a function of coordinates in which its curvature is about one, from a start that is close."""
    at_start = cost, gradient = function(start)
    # A gradient is small beside this, so that the units of the targets do not matter; a loss may be negative.
    size = max(abs(cost) ** 0.5, float(np.abs(gradient).max(initial=0.0)))
    # In units in which the gradient has length one, the first step that is tried is all of it, which is Newton's.
    unit = float(np.linalg.norm(gradient))
    if not unit > search.converged * size:
        return start
    lowest, first = (cost, start), start.ravel() / unit

    def in_units(point: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal lowest
        here = unit * point.reshape(start.shape)
        value, gradient = at_start if np.array_equal(point, first) else function(here)
        if search.watch is not None:
            if value < lowest[0]:
                lowest = value, here
            if search.watch.ask_again():
                raise Ended
        return value / unit**2, gradient.ravel() / unit

    converged = search.converged * size / unit
    try:
        found = _minimum(in_units, first, replace(search, converged=max(converged, CONVERGED * size / unit)))
        if not found.fun * unit**2 <= cost:
            return start
        x: np.ndarray = found.x
        if search.converged < CONVERGED:
            # A loss that is not convex has a small gradient in other places too.
            closer = _polished(lambda point: in_units(point)[1], x, converged)
            x = closer if in_units(closer)[0] <= found.fun * (1 + 1e-12) else x
    except Ended:
        return lowest[1]
    return unit * x.reshape(start.shape)


def _minimum(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, search: Search
) -> OptimizeResult:
    """What scipy finds: costs tell points apart only while the gradient is above the root of their rounding."""
    method, options = {
        "newton": ("L-BFGS-B", {"maxcor": 20, "ftol": 1e-15, "maxfun": 2 * search.max_iterations}),
        "cg": ("CG", {}),
    }[search.solver]
    options |= {"gtol": search.converged, "maxiter": search.max_iterations}
    return minimize(function, start, jac=True, method=method, options=options)


def _polished(gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, converged: float) -> np.ndarray:
    """Bring the gradient to zero by Newton's method: it has digits where costs have none left to tell points apart.

    Where a step does not make the gradient smaller, at a kink of the loss say, the search ends.
    """
    at_x = gradient(x)
    for _ in range(MAX_NEWTON_STEPS):
        largest = float(np.abs(at_x).max(initial=0.0))
        if largest <= converged:
            break
        step = _newton_step(gradient, x, at_x)
        after = gradient(x + step)
        if not float(np.abs(after).max()) < 0.5 * largest:
            break
        x, at_x = x + step, after
    return x


def _newton_step(gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, at_x: np.ndarray) -> np.ndarray:
    """The Newton step by conjugate gradients, to which products with the curvature are differences of gradients."""
    step, left = np.zeros_like(x), -at_x
    direction, squares = left, float(left @ left)
    for _ in range(MAX_CG_STEPS):
        width = DIFFERENCE_STEP / float(np.abs(direction).max())
        product = (gradient(x + width * direction) - gradient(x - width * direction)) / (2 * width)
        curvature = float(direction @ product)
        if not curvature > LEAST_RELIABLE_CURVATURE * float(direction @ direction):
            break
        step = step + (squares / curvature) * direction
        left = left - (squares / curvature) * product
        squares, before = float(left @ left), squares
        if squares <= 1e-6 * float(at_x @ at_x):
            break
        direction = left + (squares / before) * direction
    return step
