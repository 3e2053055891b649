"""Rates of orthogonal greedy algorithms: Natarajan, Xu, Barron, DeVore and Temlyakov."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._validate import check_number
from kernelpursuit.bounds.steps import check_steps, in_shape


def natarajan_theorem_1(opt: int, inverse_norm: float, target_norm: float, tolerance: float) -> int:
    """Bound the number of atoms that order-recursive matching pursuit needs to reach a given residual.

    `ceil(18 Opt(eps/2) ||K^{-1}||² ln(||y|| / eps))` (Natarajan 1995, quoted as Theorem 1 by Nair et al.), for an
    invertible K; order-recursive matching pursuit is `selection="gain"` with `penalty=None`.

    Parameters
    ----------
    opt : int
        Fewest atoms that bring the norm of the residual to `tolerance / 2`.
    inverse_norm : float
        Spectral norm of the inverse of K *with its columns scaled to norm one*.
    target_norm : float
        Norm of y.
    tolerance : float
        Norm of the residual to reach.

    Returns
    -------
    int
        Number of atoms.

    Notes
    -----
    Nair et al. leave out that the columns are normalised, as they are in Natarajan's paper. Without that the statement
    is false: multiplying K by a large number would make the bound arbitrarily small and change no residual.

    Examples
    --------
    >>> from kernelpursuit.bounds import natarajan_theorem_1
    >>> natarajan_theorem_1(opt=2, inverse_norm=1.5, target_norm=10.0, tolerance=1.0)
    187
    """
    check_number("opt", opt, low=0, integer=True)
    check_number("inverse_norm", inverse_norm, low=0)
    check_number("target_norm", target_norm, low=0)
    check_number("tolerance", tolerance, low=0, strict=True)
    if target_norm <= tolerance:
        return 0
    return math.ceil(18 * opt * inverse_norm**2 * math.log(target_norm / tolerance))


def xu_rate(
    k: ArrayLike, n: int, l1_norm: float, sup_norm: float, approximation: float, delta: float = 0.05
) -> float | np.ndarray:
    """Return the rate at which the prediction error of orthogonal greedy regression falls, up to a constant.

    `approximation + log(2 / delta) (||h||_1² / k + (||h||_inf² + k log n) / n)` (Xu et al. eq. 2.3): with probability
    1 - delta and for large n, the mean squared distance to the true function on new rows is at most this times a
    constant that the paper leaves unspecified, so compare values with each other, not with errors. It is least near
    `k = ||h||_1 sqrt(n / log n)` (eq. 2.4).

    Parameters
    ----------
    k : int or array of int
        Number of atoms, at least 1.
    n : int
        Number of rows.
    l1_norm : float
        Sum of the absolute weights of a function h, in atoms of norm one.
    sup_norm : float
        Largest absolute value of h.
    approximation : float
        Mean squared distance of h to the true function.
    delta : float
        Probability of failure.

    Returns
    -------
    float or array
        The rate, of the shape of `k`.

    Examples
    --------
    >>> from kernelpursuit.bounds import xu_rate
    >>> xu_rate([10, 38, 200], n=10000, l1_norm=1.0, sup_norm=1.0, approximation=0.0).round(3)
    array([0.403, 0.227, 0.698])
    """
    k = check_steps(k, low=1)
    check_number("n", n, low=2, integer=True)
    squared_l1, squared_sup = (
        check_number("l1_norm", l1_norm, low=0) ** 2,
        check_number("sup_norm", sup_norm, low=0) ** 2,
    )
    check_number("approximation", approximation, low=0)
    if check_number("delta", delta, low=0, strict=True) >= 1:
        raise ValueError(f"delta={delta!r} is too large; give a probability below 1.")
    rate = squared_l1 / k + (squared_sup + k * math.log(n)) / n
    return in_shape(approximation + math.log(2 / delta) * rate, k)


def orthogonal_greedy_rate(k: ArrayLike, reference_cost: float, l1_norm: float) -> float | np.ndarray:
    """Bound the cost of k greedy steps with full refits by that of any other function of the dictionary.

    `cost_k <= cost(h) + 4 ||h||_1² / k` (Barron, Cohen, Dahmen and DeVore 2008, Theorem 2.3), the statement about
    training rows under Xu's rate. Costs are `||y - D w||² + w' L w` as on the path, and
    `||h||_1 = sum_j |w_j| sqrt(<j, j>)` with `<i, j> = d_i' d_j + L_ij`; so it holds for every penalty but a nugget.
    It holds for `selection="gain"` and `"correlation"` with all candidates looked at.

    Parameters
    ----------
    k : int or array of int
        Number of atoms, at least 1.
    reference_cost : float
        Cost of h.
    l1_norm : float
        `||h||_1`.

    Returns
    -------
    float or array
        The bound, of the shape of `k`.

    Notes
    -----
    With `e = cost - cost(h)`, `e_k/2 <= ||h||_1 max_j |u_j| / sqrt(<j, j>)`, so that `e_{k+1} <= e_k - (e_k/2)² /
    ||h||_1²`, which the bound solves.

    Examples
    --------
    >>> from kernelpursuit.bounds import orthogonal_greedy_rate
    >>> orthogonal_greedy_rate([1, 10, 100], reference_cost=1.0, l1_norm=2.0)
    array([17.  ,  2.6 ,  1.16])
    """
    k = check_steps(k, low=1)
    check_number("reference_cost", reference_cost, low=0)
    return in_shape(reference_cost + 4 * check_number("l1_norm", l1_norm, low=0) ** 2 / k, k)


def orthogonal_greedy_gap(k: ArrayLike, gap_at_zero: float, l1_norm: float) -> float | np.ndarray:
    """Bound the gap of k greedy steps with full refits by the coefficients of the exact solution.

    `gap_k <= 1 / (1 / gap_0 + 2 k / A²)` with `A = sum_i |alpha_i| ||x_i||_G` over the exact weights and
    `||x_i||_G² = sum_j k(x_i, x_j)² / n + alpha k(x_i, x_i)`. This is DeVore and Temlyakov's rate for the orthogonal
    greedy algorithm (1996, Theorem 3.7), in the inner product of Zhang's Proposition 3.2. By Cauchy and Schwarz it is
    never above Theorem 5.1, but it needs the exact weights and holds only where all weights are refitted and all
    candidates looked at.

    Parameters
    ----------
    k : int or array of int
        Number of atoms.
    gap_at_zero : float
        `R(0) - min R`.
    l1_norm : float
        A.

    Returns
    -------
    float or array
        The bound, of the shape of `k`.

    Examples
    --------
    >>> from kernelpursuit.bounds import orthogonal_greedy_gap
    >>> orthogonal_greedy_gap([0, 10, 100], gap_at_zero=1.0, l1_norm=2.0).round(3)
    array([1.   , 0.167, 0.02 ])
    """
    k = check_steps(k)
    gap, norm = check_number("gap_at_zero", gap_at_zero, low=0), check_number("l1_norm", l1_norm, low=0)
    # gap_0 <= A²/2, so that A = 0 leaves no gap.
    if gap == 0 or norm == 0:
        return in_shape(np.zeros_like(k), k)
    return in_shape(gap / (1 + 2 * gap * k / norm**2), k)
