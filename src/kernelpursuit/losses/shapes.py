"""Functions of one number that several losses are made of, and averages with weights."""

from __future__ import annotations

import numpy as np


def long_exp(x: np.ndarray, cut: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative of e^x, continued beyond `cut` by the parabola that touches it there."""
    top = np.exp(np.minimum(x, cut))
    over = np.maximum(x - cut, 0)
    return top * (1 + over + over**2 / 2), top * (1 + over), top


def round_abs(u: np.ndarray, width: float) -> np.ndarray:
    """|u| with a parabola of this width in place of its corner."""
    size = np.abs(u)
    return size + (width / 2 - np.minimum(size, width / 2)) ** 2 / width


def round_abs_gradient(u: np.ndarray, width: float) -> np.ndarray:
    """Derivative of `round_abs`; exactly -1 or +1 outside the corner."""
    return u / np.maximum(np.abs(u), width / 2)


def round_abs_bound(u: np.ndarray, width: float) -> np.ndarray:
    """Curvature of the parabola about 0 that touches `round_abs` at u and lies above it everywhere.

    It is gradient / u, as for every half-quadratic bound (Geman and Reynolds 1992).
    """
    return 1 / np.maximum(np.abs(u), width / 2)


def average(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean of every output."""
    return y @ weights / weights.sum()


def weighted_quantile(values: np.ndarray, weights: np.ndarray, q: float) -> float:
    """Value with the fraction `q` of the weight below it; the middle of two where it ends between them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # The sum of weights is known to rounding only.
    ends = q * below[-1] * np.array([1 - 1e-12, 1 + 1e-12])
    first, last = np.minimum(np.searchsorted(below, ends), len(order) - 1)
    return float(values[order[first]] + values[order[last]]) / 2
