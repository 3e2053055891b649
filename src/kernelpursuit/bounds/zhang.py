"""Zhang's bounds on the gap of a sparse Gaussian process after k greedy steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._validate import check_number
from kernelpursuit.bounds.steps import check_steps, in_shape

# Bisection steps for gamma in Theorem 6.1. Every gamma gives a valid bound, so this decides only how tight it is.
BISECTIONS = 60


def zhang_theorem_5_1(
    k: ArrayLike, gap_at_zero: float, exact_risk: float, largest_norm: float, alpha: float
) -> float | np.ndarray:
    """Bound the gap of k greedy steps by Zhang's Theorem 5.1.

    `gap_k <= 1 / (1 / gap_0 + c k)` with `c = alpha² / ((R M² + alpha gap_0) (M² + alpha))`, where R is the risk of
    the exact solution. It holds for every run of Algorithms 1 and 4 (all rows looked at), and for the *expected* gap
    of Algorithms 2 and 3 (atoms, or those looked at, drawn at random).

    Parameters
    ----------
    k : int or array of int
        Number of atoms.
    gap_at_zero : float
        `R(0) - min R`.
    exact_risk : float
        `min R`. The bound grows with this and with `gap_at_zero`, so upper bounds of either are valid.
    largest_norm : float
        `M = max_i sqrt(k(x_i, x_i))`.
    alpha : float
        Strength of the penalty, Zhang's lambda.

    Returns
    -------
    float or array
        The bound, of the shape of `k`.

    Notes
    -----
    In the last display of Zhang's proof the expectation inside the round brackets is printed squared; there it
    should not be. In that of Lemma 5.2, `phi_u(w)²` on the left stands for its mean over u.

    Examples
    --------
    >>> from kernelpursuit.bounds import zhang_theorem_5_1
    >>> zhang_theorem_5_1([0, 100, 10000], gap_at_zero=1.0, exact_risk=0.1, largest_norm=1.0, alpha=0.1).round(3)
    array([1.   , 0.18 , 0.002])
    """
    k = check_steps(k)
    gap = check_number("gap_at_zero", gap_at_zero, low=0)
    risk = check_number("exact_risk", exact_risk, low=0)
    M2 = check_number("largest_norm", largest_norm, low=0) ** 2
    check_number("alpha", alpha, low=0, strict=True)
    if gap == 0:
        return in_shape(np.zeros_like(k), k)
    rate = alpha**2 / ((risk * M2 + alpha * gap) * (M2 + alpha))
    return in_shape(gap / (1 + gap * rate * k), k)


def zhang_corollary_5_1(k: ArrayLike, risk_at_zero: float, largest_norm: float, alpha: float) -> float | np.ndarray:
    """Bound the gap of k greedy steps by Zhang's Corollary 5.1, from the data alone.

    `gap_k <= R(0) (M² + alpha)² / (alpha² k + (M² + alpha)²)`; weaker than Theorem 5.1, which needs the exact risk.

    Parameters
    ----------
    k : int or array of int
        Number of atoms.
    risk_at_zero : float
        `R(0) = sum_i y_i² / (2 n)`.
    largest_norm, alpha : float
        As in `zhang_theorem_5_1`.

    Returns
    -------
    float or array
        The bound, of the shape of `k`.

    Examples
    --------
    >>> from kernelpursuit.bounds import zhang_corollary_5_1
    >>> zhang_corollary_5_1([0, 121], risk_at_zero=1.0, largest_norm=1.0, alpha=0.1).round(3)
    array([1. , 0.5])
    """
    k = check_steps(k)
    risk = check_number("risk_at_zero", risk_at_zero, low=0)
    squared = (check_number("largest_norm", largest_norm, low=0) ** 2 + alpha) ** 2
    check_number("alpha", alpha, low=0, strict=True)
    return in_shape(risk * squared / (alpha**2 * k + squared), k)


def zhang_theorem_6_1(
    k: ArrayLike, gap_at_zero: float, reference_gap: float, n_reference: int, rho: float, gamma: float | None = None
) -> float | np.ndarray:
    """Bound the gap of k greedy steps with full refits by Zhang's Theorem 6.1.

    `gap_k <= max((1 + gamma)² gap_ref, [1 - gamma² / (N (2 + gamma)² rho)]^k gap_0)` for every gamma > 0, where
    `gap_ref` is the gap of any function made of N reference atoms: geometric, but with a rate that near-collinear
    atoms bring close to one. It holds for every run of Algorithm 4.

    Parameters
    ----------
    k : int or array of int
        Number of atoms.
    gap_at_zero : float
        `R(0) - min R`.
    reference_gap : float
        Gap of the reference function.
    n_reference : int
        Number N of its atoms.
    rho : float
        Zhang's rho of the reference atoms, see `rho`; may be infinite.
    gamma : float, optional
        The free parameter; by default, the best for each k, by bisection.

    Returns
    -------
    float or array
        The bound, of the shape of `k`; never above `gap_at_zero`.

    Notes
    -----
    With gamma = 1 the gap is at most `4 gap_ref` after `9 N rho ln(gap_0 / (4 gap_ref))` steps. Zhang prints the 4 on
    the other side of the fraction, here and in the result of Natarajan it is compared with, which gives a larger
    number; and in eq. 20, the constant c lacks a factor 1/2.

    Examples
    --------
    >>> from kernelpursuit.bounds import zhang_theorem_6_1
    >>> zhang_theorem_6_1([0, 100, 1000], gap_at_zero=1.0, reference_gap=0.001, n_reference=5, rho=2.0).round(4)
    array([1.    , 0.0187, 0.0027])
    """
    k = check_steps(k)
    gap = check_number("gap_at_zero", gap_at_zero, low=0)
    reference = check_number("reference_gap", reference_gap, low=0)
    n_reference = check_number("n_reference", n_reference, low=1, integer=True)
    if rho != np.inf:
        check_number("rho", rho, low=1)

    def at(g: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shrink = (g / (2 + g)) ** 2 / (n_reference * rho)
        return (1 + g) ** 2 * reference, (1 - shrink) ** k * gap

    if gamma is not None:
        floor, decay = at(check_number("gamma", gamma, low=0, strict=True))
        return in_shape(np.minimum(np.maximum(floor, decay), gap), k)
    # The first term grows with gamma and the second falls, so the best gamma is where they cross.
    low, high = np.full(k.shape, -30.0), np.full(k.shape, 30.0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        floor, decay = at(np.exp(middle))
        low, high = np.where(floor < decay, middle, low), np.where(floor < decay, high, middle)
    best = np.minimum(np.maximum(*at(np.exp(low))), np.maximum(*at(np.exp(high))))
    return in_shape(np.minimum(best, gap), k)
