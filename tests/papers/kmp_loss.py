"""P. Vincent, Y. Bengio, Kernel matching pursuit, Machine Learning 48, 2002: section 3, any differentiable loss.

`D` holds the values of the M dictionary functions on the rows, (n_rows, M). Figure 4 is a drawing that our copy of the
paper lacks; its steps follow from equations (8) to (11). A row of weight s counts as s rows.
"""

import numpy as np
from papers.trace import Trace, lead, norm, spread_out
from scipy.optimize import brentq, minimize

# A line minimisation and a conjugate gradient optimiser find what they look for to about this part.
SOLVED = 1e-5
# Coefficients of eq. 10 are looked for between these, on a grid, and then where the slope is zero.
REACH, N_GRID = 20.0, 1001


def tanh_065(y, f):
    """Squared error after tanh with modified target, and its derivative by f."""
    t = np.tanh(f)
    return np.square(t - 0.65 * y), 2 * (t - 0.65 * y) * (1 - t**2)


def logit_boost(y, f):
    """Negative binomial log-likelihood, log2(1 + exp(-2 m))."""
    m = y * f
    return np.log2(1 + np.exp(-2 * m)), -2 * y / (np.log(2) * (1 + np.exp(2 * m)))


def ada_boost(y, f):
    """Exponential of minus the margin."""
    return np.exp(-y * f), -y * np.exp(-y * f)


def squared_hinge(y, f):
    """Square of [1 - m]_+."""
    short = np.maximum(1 - y * f, 0)
    return short**2, -2 * y * short


def squared(y, f):
    """Squared error; the paper's own has a factor 1/2, which changes no pick and no coefficient."""
    return np.square(f - y), 2 * (f - y)


LOSSES = {
    "tanh": tanh_065,
    "logistic": logit_boost,
    "exponential": ada_boost,
    "squared_hinge": squared_hinge,
    "squared": squared,
}


def figure_4(D, y, loss, n_steps, p=None, s=None, shrinkage=1.0):
    """Back-fitting every p steps and at the end; without p, basic matching pursuit by equations (9) and (10).

    `residuals` of the trace hold the functions f on the rows.
    """
    s = np.ones(len(D)) if s is None else s
    f, alpha = np.zeros(len(D)), np.zeros(D.shape[1])
    trace = Trace.start(D, f[:, None])
    gammas = []
    lengths = norm(np.sqrt(s)[:, None] * D, axis=0)
    for n in range(1, n_steps + 1):
        R = -loss(y, f)[1]  # eq. 8
        gamma, clear = lead(np.abs(D.T @ (s * R)) / lengths, SOLVED * norm(np.sqrt(s) * R))  # eq. 9
        gammas.append(gamma)
        step, found = line_minimum(D[:, gamma], y, loss, f, s)  # eq. 10
        moved = alpha + shrinkage * step * np.eye(D.shape[1])[gamma]
        if p is not None and (n % p == 0 or n == n_steps):
            taken = sorted(set(gammas))
            alpha, found = back_fit(D[:, taken], y, loss, s, [alpha[taken], moved[taken]])
            alpha = spread_out(taken, alpha[:, None], D.shape[1])[:, 0]
        else:
            alpha = moved
        f = D @ alpha
        trace.record(gamma, alpha[:, None], f[:, None], clear and found)
    return trace


def line_minimum(g, y, loss, f, s):
    """Equation (10), over a grid and then exactly; and whether going downhill from 0 leads to the same place."""

    def cost(alpha):
        return s @ loss(y, f + alpha * g)[0]

    def slope(alpha):
        return s @ (g * loss(y, f + alpha * g)[1])

    grid = np.linspace(-REACH, REACH, N_GRID)
    costs = (s[:, None] * loss(y[:, None], f[:, None] + np.outer(g, grid))[0]).sum(axis=0)
    best = int(np.argmin(costs))
    assert 0 < best < N_GRID - 1, "the minimum is out of reach"
    alpha = brentq(slope, grid[best - 1], grid[best + 1], xtol=1e-14, rtol=1e-14)
    between = np.sort([N_GRID // 2, best])
    downhill = np.diff(costs[between[0] : between[1] + 1]) * np.sign(best - N_GRID // 2)
    return alpha, bool((downhill < 0).all() and cost(alpha) <= cost(0.0))


def back_fit(G, y, loss, s, starts):
    """Equation (11), by a gradient method on orthonormal functions; and whether all starts lead to one minimum."""
    Q, R = np.linalg.qr(np.sqrt(s)[:, None] * G)
    Q = Q / np.sqrt(s)[:, None]

    def cost(c):
        value, gradient = loss(y, Q @ c)
        return s @ value, Q.T @ (s * gradient)

    found = [minimize(cost, R @ start, jac=True, method="BFGS", options={"gtol": 1e-10}) for start in starts]
    best = min(found, key=lambda one: one.fun)
    same = all(norm(one.x - best.x) <= SOLVED * (1 + norm(best.x)) for one in found)
    return np.linalg.solve(R, best.x), same and norm(cost(best.x)[1]) <= SOLVED
