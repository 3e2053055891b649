"""The duality gap: an upper bound on the gap of a model that needs no exact solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.bounds.training import Problem, check_problem, model_weights
from kernelpursuit.estimators import KernelPursuitRegressor


@dataclass(frozen=True)
class Certificate:
    """An upper bound on the gap of one model to the exact Gaussian process.

    Attributes
    ----------
    gap : float
        `R(f) - Q(d) + rounding`: R(f) is at most this far above its minimum.
    risk : float
        `R(f)`.
    dual : float
        `Q(d)`, a lower bound of the minimum.
    rounding : float
        Bound on the rounding error of the two, included in `gap`. It is large where coefficients are so large that the
        norm of the function is lost to cancellation; use a model with fewer atoms then.
    mean_difference : float
        Bound on the root mean square over the training rows of f - f*, with f* the exact Gaussian process:
        `sqrt(2 gap)`.
    distance : float
        Bound on `||f - f*||` in the space of the kernel: `sqrt(2 gap / alpha)`. For any row x,
        `|f(x) - f*(x)| <= distance sqrt(k(x, x))`.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.bounds import certificate
    >>> from kernelpursuit.data import make_chirp
    >>> settings = {"kernel": "rbf", "gamma": 1.0, "penalty": "rkhs", "alpha": 0.01, "fit_intercept": False}
    >>> X, y = make_chirp(100)
    >>> model = KernelPursuitRegressor(max_atoms=30, stop="max", **settings).fit(X, y)
    >>> found = certificate(model, X, y)
    >>> found.gap < 0.01 * found.risk  # at most so far from the exact Gaussian process
    True
    """

    gap: float
    risk: float
    dual: float
    rounding: float
    mean_difference: float
    distance: float


def certificate(
    model: KernelPursuitRegressor,
    X: Matrix,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_iterations: int = 0,
) -> Certificate:
    """Bound the gap of a fitted model by the duality gap `R(f) - Q(d)`.

    Every dual point d has `Q(d) <= min R` (Zhang eq. 12 and Proposition 3.1), so this is a bound for any model, however
    its atoms were picked and its coefficients were found. The dual point is that of the residuals,
    `d_i = t (y_i - f(x_i)) / (alpha n)` (Zhang eq. 6), with the best multiple t. Conjugate gradient steps on
    `(K + n alpha I) d = y`, preconditioned with the model's own atoms, improve it.

    Parameters
    ----------
    model : KernelPursuitRegressor
        Fitted with `penalty="rkhs"`, `fit_intercept=False` and one Mercer kernel at the training rows.
    X, y : arrays
        What it was fitted on; several targets count together.
    sample_weight : array of shape (n_samples,), optional
        The weights of the fit.
    n_iterations : int
        Number of conjugate gradient steps; with more of them the certificate approaches the gap.

    Returns
    -------
    Certificate

    Notes
    -----
    Time is that of one pass over the n x n kernel matrix, about that of one step of the fit, and with iterations
    `n_iterations + 2` of them; memory, O(n + n_atoms²) and a tile of 32 MB.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.bounds import certificate
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp(200)
    >>> settings = {"penalty": "rkhs", "alpha": 0.01, "fit_intercept": False, "max_atoms": 20}
    >>> model = KernelPursuitRegressor(kernel="rbf", gamma=1.0, **settings)
    >>> found = certificate(model.fit(X, y), X, y)
    >>> found.dual <= found.risk <= found.dual + found.gap
    True
    """
    check_number("n_iterations", n_iterations, low=0, integer=True)
    problem = check_problem(model, X, y, sample_weight)
    (risk,), (rounding,) = problem.risks([model_weights(model)])
    dual, dual_rounding = best_dual(problem, *model_weights(model), n_iterations)
    return certify(float(risk), float(rounding), dual, dual_rounding=dual_rounding, alpha=problem.alpha)


def certify(risk: float, risk_rounding: float, dual: float, dual_rounding: float, alpha: float) -> Certificate:
    """Make a certificate of a risk and a dual value, each with the bound on its rounding error."""
    rounding = risk_rounding + dual_rounding
    gap = max(0.0, risk - dual) + rounding
    return Certificate(
        gap,
        risk,
        dual,
        rounding=rounding,
        mean_difference=float(np.sqrt(2 * gap)),
        distance=float(np.sqrt(2 * gap / alpha)),
    )


def best_dual(problem: Problem, centers: np.ndarray, weights: np.ndarray, n_iterations: int) -> tuple[float, float]:
    """Return the largest dual value found from the residuals of a model, and a bound on its rounding error."""
    residual = problem.root * (problem.y - problem.values_of(centers, weights))
    product = problem.times(residual)
    curvature = _dots(residual, product)
    # Q(t beta) = alpha (t b'beta - t²/2 beta'B beta) is largest at this t; a residual of zero is a dual point as well.
    best = _ratio(_dots(problem.b, residual), curvature)
    beta, product = best * residual, best * product
    if n_iterations:
        beta = _conjugate_gradients(
            problem,
            beta,
            problem.b - product,
            precondition=_preconditioner(problem, centers),
            n_iterations=n_iterations,
        )
        # The residual of the recurrence drifts from the true one: the product is computed again.
        product = problem.times(beta)
    return problem.dual_value(beta, product)


def _conjugate_gradients(
    problem: Problem,
    beta: np.ndarray,
    residual: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    n_iterations: int,
) -> np.ndarray:
    """Conjugate gradient steps from `beta` towards the solution of `B beta = b`, each target alone; Q never falls."""
    direction = preconditioned = precondition(residual)
    rz = _dots(residual, preconditioned)
    floor = np.finfo(np.float64).eps ** 2 * _dots(problem.b, problem.b)
    for _ in range(n_iterations):
        if (rz <= floor).all():
            break
        product = problem.times(direction)
        step = _ratio(rz, _dots(direction, product))
        beta, residual = beta + step * direction, residual - step * product
        preconditioned = precondition(residual)
        rz, before = _dots(residual, preconditioned), rz
        direction = preconditioned + _ratio(rz, before) * direction
    return beta


def _preconditioner(problem: Problem, centers: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return `v -> P^{-1} v`, up to a factor, for `P = C M^{-1} C' + n alpha I`: B with K made of the model's atoms.

    C holds the atoms' values on the rows times the root of the weights and M their Gram matrix; by Woodbury,
    `n alpha P^{-1} = I - C (n alpha M + C'C)^{-1} C'`.
    """
    if not len(centers):
        return lambda v: v
    picked = problem.atoms.take(np.unique(centers))
    numbers = np.arange(picked.n_atoms)
    inner = problem.n * problem.alpha * picked.gram(numbers, numbers, problem.n_threads)
    for tile, block in problem.blocks_of(picked):
        inner += (block * problem.s[tile]) @ block.T
    # Near-collinear atoms make this numerically singular. Any shift keeps P^{-1} positive definite: it changes how fast
    # the certificate tightens, not its validity.
    inner[np.diag_indices_from(inner)] += 1e-12 * np.trace(inner)
    factor = scipy.linalg.cho_factor(inner, lower=True, check_finite=False)
    rows = picked.rows(problem.X)

    def precondition(v: np.ndarray) -> np.ndarray:
        inside = picked.rmatvec(rows, np.ascontiguousarray((problem.root * v).T), numbers, n_threads=problem.n_threads)
        weights = scipy.linalg.cho_solve(factor, inside.T, check_finite=False)
        return v - problem.root * picked.matvec(rows, np.ascontiguousarray(weights), problem.n_threads)

    return precondition


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("it,it->t", a, b)


def _ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """Quotients, zero where the denominator is not positive: that target has converged."""
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
