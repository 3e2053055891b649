"""P. Vincent, Y. Bengio, Kernel matching pursuit, Machine Learning 48, 2002: the three flavours, squared loss.

`D` holds the values of the M dictionary functions on the rows, (n_rows, M).
"""

import numpy as np
from papers.trace import ROUNDING, Trace, as_columns, lead, least_squares, norm, refit_noise, spread_out, turn_noise


def basic(D, y, n_steps):
    """Figure 1. Any function of the dictionary may be taken again: its coefficients then add up in f_N."""
    R = as_columns(y, D)
    trace = Trace.start(D, R)
    lengths, weights, size = norm(D, axis=0), np.zeros((D.shape[1], R.shape[1]), dtype=D.dtype), norm(R)
    for n in range(1, n_steps + 1):
        gamma, clear = lead(norm(D.T @ R, axis=1) / lengths, n * ROUNDING * size)
        alpha = D[:, gamma] @ R / lengths[gamma] ** 2
        R = R - np.outer(D[:, gamma], alpha)
        weights[gamma] += alpha
        trace.record(gamma, weights, R, clear)
    return trace


def backfit(D, y, n_steps):
    """Section 2.2: choose as figure 1 does (eq. 3), then refit all coefficients (eq. 6)."""
    y = as_columns(y, D)
    trace, gammas, R, noise = Trace.start(D, y), [], y, ROUNDING * norm(y)
    lengths = norm(D, axis=0)
    for _ in range(n_steps):
        # The residue is orthogonal to what was taken, so that eq. 3 looks at all of the dictionary.
        gamma, clear = lead(norm(D.T @ R, axis=1) / lengths, noise)
        gammas.append(gamma)
        A = D[:, gammas]
        alpha = least_squares(A, y)
        R = y - A @ alpha
        noise = refit_noise(A, norm(alpha), norm(R))
        trace.record(gamma, spread_out(gammas, alpha, D.shape[1]), R, clear)
    return trace


def prefit(D, y, n_steps):
    """Section 2.3 and figure 3: every dictionary vector is kept as its parts in span(basis) and orthogonal to it.

    `inside` holds the first as coefficients on the basis functions (n, M), `outside` the second on the rows (l, M).
    Figure 3 is a drawing that our copy of the paper lacks; the steps follow from the text of section 2.3.
    """
    R = as_columns(y, D)
    trace, gammas = Trace.start(D, R), []
    outside, inside = D.copy(), np.zeros((0, D.shape[1]), dtype=D.dtype)
    alpha = np.zeros((0, R.shape[1]), dtype=D.dtype)
    noise_of_R, full = ROUNDING * norm(R), norm(D, axis=0)
    for _ in range(n_steps):
        left = [j for j in range(D.shape[1]) if j not in gammas]
        length = norm(outside, axis=0)
        scores = np.divide(norm(outside.T @ R, axis=1), length, out=np.zeros_like(length), where=length > 0)
        gamma, clear = lead(scores, noise_of_R + norm(R) * turn_noise(D[:, gammas], inside, length, full), left)
        direction, square = outside[:, gamma].copy(), length[gamma] ** 2
        alpha_n = direction @ R / square
        R = R - np.outer(direction, alpha_n)
        alpha = np.vstack([alpha - np.outer(inside[:, gamma], alpha_n), alpha_n])
        beta = direction @ outside / square
        inside = np.vstack([inside - np.outer(inside[:, gamma], beta), beta])
        outside = outside - np.outer(direction, beta)
        gammas.append(gamma)
        outside[:, gamma], inside[:, gamma] = 0.0, 0.0
        inside[-1, gamma] = 1.0
        noise_of_R = refit_noise(D[:, gammas], norm(alpha), norm(R))
        trace.record(gamma, spread_out(gammas, alpha, D.shape[1]), R, clear)
    return trace
