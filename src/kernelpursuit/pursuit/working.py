"""Local quadratic approximation of a loss (iteratively reweighted least squares), and leave-one-out in closed form.

Around given scores f, `sum_i s_i loss(y_i, f_i)` equals to second order, but for a constant, a weighted sum of squares

    sum_i m_i (z_i - f_i)²        m = s loss''/2, the working weights;  z = f - loss'/loss'', the working response

A least-squares fit of z with the weights m has residuals `z_i - f_i` and leverages h_i. Leaving one of the c_i
observations of a row out leaves the fraction `1 - h_i / c_i` of it to the others, so that

    leave-one-out error       e_i = (z_i - f_i) / (1 - h_i / c_i)
    leave-one-out prediction  z_i - e_i = f_i - (z_i - f_i) (h_i / c_i) / (1 - h_i / c_i)

For the squared loss `m = s`, `z = y`, and both are exact; for others, they are one Newton step away from the refit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Rows whose score is far on the right side have next to no curvature. Working weights are at least this fraction of the
# largest, so that the basis can change from one set of weights to another by Cholesky factors: its Gram matrix then has
# a condition number of at most 1 / LEAST_CURVATURE times that of the last, far from 1 / eps.
LEAST_CURVATURE = 1e-2
# A row whose leverage is this close to one is interpolated: the others say nothing of it, and its leave-one-out error
# is infinite. Leverages are sums of squares with a rounding error of some n_atoms eps, 1e-13 for a few hundred atoms;
# above a thousand times that, an error `(z - f) / (1 - h)` has three digits.
INTERPOLATED = 1e-10


@dataclass(frozen=True)
class LocalQuadratic:
    """The weighted sum of squares `sum_i m_i (z_i - f_i)²` that equals a sum of losses around scores f.

    scores    f, shape (n_targets, n_rows)
    gradient  of the sum of losses by every score, the same shape
    weights   the working weights m, shape (n_rows,)
    """

    scores: np.ndarray
    gradient: np.ndarray
    weights: np.ndarray

    @cached_property
    def _root(self) -> np.ndarray:
        return np.sqrt(self.weights)

    @property
    def response(self) -> np.ndarray:
        """The working response z."""
        return self.scores - self.gradient / (2 * self.weights)

    @cached_property
    def residual(self) -> np.ndarray:
        """`z - f`, times the root of the working weights, as a least-squares fit has it."""
        return -self.gradient / (2 * self._root)

    @property
    def targets(self) -> np.ndarray:
        """z, times the root of the working weights."""
        return self._root * self.scores + self.residual


def working_weights(curvature: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Half the curvature of every row, times its weight; next to no curvature is rounded up.

    `weights` are the sample weights, times the unit of the loss.
    """
    # Without any curvature every row is where the loss is least, and one square is as good as another.
    largest = float(curvature.max()) or 1.0
    return 0.5 * weights * np.maximum(curvature, LEAST_CURVATURE * largest)


def one_minus_leverage(
    leverage: np.ndarray, counts: np.ndarray | None = None, at_least: float | None = None
) -> np.ndarray:
    """`1 - h_i / c_i`: what is left of a row when one of its observations is left out.

    Without `counts`, each row is one observation. `at_least` keeps errors finite, for a minimisation to go on.
    """
    left = 1.0 - (leverage if counts is None else leverage / counts)
    return left if at_least is None else np.maximum(left, at_least)


def loo_error(residual: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Leave-one-out errors, in the units of the residuals; `left` is what `one_minus_leverage` returns."""
    return residual / left


def loo_prediction(
    response: np.ndarray, residual: np.ndarray, left: np.ndarray, root: float | np.ndarray = 1.0
) -> np.ndarray:
    """Predictions of rows, each from the others: `z - e`.

    `root` is the root of the working weights, where the residuals are multiplied by it and the response is not.
    """
    return response - residual / (left * root)
