"""A duality gap: how far a model is from the exact solution at most, without the exact solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.bounds.training import Problem, check_problem, model_weights


@dataclass(frozen=True)
class Certificate:
    """An upper bound on the gap of one model.

    Attributes
    ----------
    gap : float
        `R(f) - Q(d) + rounding`: R(f) is at most this far above its minimum.
    risk : float
        `R(f)`.
    dual : float
        `Q(d)`, a lower bound of the minimum.
    rounding : float
        Allowance for rounding in the two, counted into `gap`. It is large where weights are so large that the norm of
        the function is lost to cancellation; a model with fewer atoms is the cure.
    mean_difference : float
        Root mean square over the training rows of f - f*, at most, with f* the exact Gaussian process: `sqrt(2 gap)`.
    distance : float
        `||f - f*||` in the space of the kernel, at most: `sqrt(2 gap / alpha)`. On any row x, of training or not,
        `|f(x) - f*(x)| <= distance sqrt(k(x, x))`.
    """

    gap: float
    risk: float
    dual: float
    rounding: float
    mean_difference: float
    distance: float


def certificate(model: Any, X: Matrix, y: Any, *, sample_weight: Any = None, n_iterations: int = 0) -> Certificate:
    """Bound the gap of a fitted model by the duality gap `R(f) - Q(d)`.

    Every dual point d has `Q(d) <= min R` (Zhang eq. 12 and Proposition 3.1), so this is a bound for any model, however
    its atoms were picked and its weights set. Taken is the dual point of the residuals,
    `d_i = t (y_i - f(x_i)) / (alpha n)` (Zhang eq. 6) with the best multiple t, improved by conjugate gradient steps on
    `(K + n alpha I) d = y`, preconditioned with the model's own atoms.

    Parameters
    ----------
    model : KernelPursuitRegressor
        Fitted with `penalty="rkhs"`, `fit_intercept=False` and one Mercer kernel at the training rows.
    X, y : arrays
        What it was fitted on; several targets count together.
    sample_weight : array of shape (n_samples,), optional
        The weights of the fit.
    n_iterations : int
        Number of conjugate gradient steps; with them the certificate falls to the gap itself.

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
    (risk,), (doubt,) = problem.risks([model_weights(model)])
    dual, dual_doubt = best_dual(problem, *model_weights(model), n_iterations)
    return certify(float(risk), float(doubt), dual, dual_doubt=dual_doubt, alpha=problem.alpha)


def certify(risk: float, doubt: float, dual: float, dual_doubt: float, alpha: float) -> Certificate:
    """Make a certificate of a risk and a dual value, each with its rounding."""
    rounding = doubt + dual_doubt
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
    """Return the largest dual value found from the residuals of a model, and its rounding."""
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
        # The residual of the recurrence drifts from the true one, and what is certified must not.
        product = problem.times(beta)
    return problem.dual_value(beta, product)


def _conjugate_gradients(
    problem: Problem, beta: np.ndarray, residual: np.ndarray, precondition: Any, n_iterations: int
) -> np.ndarray:
    """Go on from `beta` towards the solution of `B beta = b`, every target by itself; Q never falls."""
    direction = shifted = precondition(residual)
    slope = _dots(residual, shifted)
    floor = np.finfo(np.float64).eps ** 2 * _dots(problem.b, problem.b)
    for _ in range(n_iterations):
        if (slope <= floor).all():
            break
        product = problem.times(direction)
        step = _ratio(slope, _dots(direction, product))
        beta, residual = beta + step * direction, residual - step * product
        shifted = precondition(residual)
        slope, before = _dots(residual, shifted), slope
        direction = shifted + _ratio(slope, before) * direction
    return beta


def _preconditioner(problem: Problem, centers: np.ndarray) -> Any:
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
    # Near-collinear atoms leave this singular in rounding. Any shift keeps P^{-1} positive definite and so changes
    # how fast the certificate tightens, not whether it is one.
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
    """Quotients, zero where a target has nothing left to do."""
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
