"""Shapley values of games over features: in closed form for products, over all coalitions, or of sampled orders.

A feature in the coalition has its value in the row that is explained, any other its value in a background row; the
worth of a coalition is the mean over background rows ("interventional", Janzing et al. 2020). With D features:

    phi_d = sum over S without d of |S|! (D - |S| - 1)! / D! (v(S and d) - v(S))
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

# Factors below this count as this: what they multiply is nothing beside any sum.
TINY = 1e-300
#: Most features of which all coalitions are counted out: 4,096.
MOST_COUNTED = 12


def of_products(p: np.ndarray, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Shapley values of `sum_j weights_j prod_d k_jd`, exactly.

    The factor of feature d is p_d in the row and q_d in a background row. Since `s! (D - s - 1)! / D!` is the integral
    of `t^s (1 - t)^(D - s - 1)` over t from 0 to 1,

        phi_d = (p_d - q_d) integral prod_{i != d} (t p_i + (1 - t) q_i) dt

    and Gauss's rule with D / 2 nodes integrates that polynomial of degree D - 1 exactly. It takes
    O(D²) operations for each product and background row, and all terms are positive, so that no digits cancel.

    Parameters
    ----------
    p : array of shape (n_features, n_products)
        Positive factors in the row.
    q : array of shape (n_features, n_background, n_products)
        Positive factors in the background rows.
    weights : array of shape (n_products,)

    Returns
    -------
    array of shape (n_features,)
    """
    nodes, sizes = np.polynomial.legendre.leggauss((len(p) + 1) // 2)
    gap = p[:, None, :] - q
    inner = np.zeros_like(q)
    for t, size in zip(0.5 + 0.5 * nodes, 0.5 * sizes):
        factors = np.maximum(q + t * gap, TINY)
        inner += (size * factors.prod(axis=0)) / factors
    inner *= gap
    found: np.ndarray = inner.sum(axis=1) @ weights / q.shape[1]
    return found


def of_all_coalitions(worth: Callable[[np.ndarray], np.ndarray], n_features: int) -> np.ndarray:
    """Shapley values by the worth of every coalition, 2^D of them.

    `worth` takes coalitions as an array of zeros and ones, shape (n_coalitions, n_features), and returns a number for
    each.
    """
    numbers = np.arange(2**n_features)
    members = (numbers[:, None] >> np.arange(n_features)) & 1
    v, size = worth(members.astype(np.float64)), members.sum(axis=1)
    share = 1.0 / np.array([n_features * comb(n_features - 1, s) for s in range(n_features)])
    out = np.empty(n_features)
    for d in range(n_features):
        without = numbers[members[:, d] == 0]
        out[d] = share[size[without]] @ (v[without + 2**d] - v[without])
    return out


def of_orders(
    worth: Callable[[np.ndarray], np.ndarray], n_features: int, n_orders: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Estimates of Shapley values and their standard errors, of random orders in which features join.

    Each order is taken forwards and backwards, and standard errors are those of the mean of such pairs. Every order
    adds up to the worth of all features less that of none, and so do the estimates.
    """
    pairs = np.empty((max(n_orders // 2, 2), n_features))
    for pair in pairs:
        order = rng.permutation(n_features)
        gains = np.zeros(n_features)
        for one in (order, order[::-1]):
            rank = np.empty(n_features, dtype=np.intp)
            rank[one] = np.arange(n_features)
            joined = (rank < np.arange(n_features + 1)[:, None]).astype(np.float64)
            gains[one] += np.diff(worth(joined))
        pair[:] = 0.5 * gains
    return pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))
