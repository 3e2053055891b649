"""C. Xu, S. Lin, J. Fang, R. Li, Prediction-based termination rule for greedy learning with massive data, Statistica
Sinica 26, 2016.

Both algorithms work on the dictionary whose functions have empirical norm one, `||g||_n² = 1/n sum g(x_i)²`; weights
are given back for the kernels as they are.
"""

import numpy as np
from papers.trace import ROUNDING, Trace, as_columns, lead, least_squares, norm, refit_noise, spread_out


def normalised(K):
    """D*_z and the empirical norms."""
    lengths = norm(K, axis=0) / np.sqrt(K.dtype.type(len(K)))
    return K / lengths, lengths


def oga(K, y, n_steps):
    """Algorithm 1."""
    y = as_columns(y, K)
    trace, V, r, noise = Trace.start(K, y), [], y, ROUNDING * norm(y)
    D, lengths = normalised(K)
    for _ in range(n_steps):
        g, clear = lead(norm(D.T @ r / len(K), axis=1), noise / np.sqrt(len(K)))
        V.append(g)
        beta = least_squares(D[:, V], y)
        r = y - D[:, V] @ beta
        noise = refit_noise(K[:, V], norm(beta / lengths[V, None]), norm(r))
        trace.record(g, spread_out(V, beta / lengths[V, None], K.shape[1]), r, clear)
    return trace


def fast_oga(K, y, n_steps):
    """Algorithm 2, with the updates of beta, Q+ as printed.

    Slips: r_1 is set to y and never to y - Q_1 beta_1, with which the first pass of the loop would pick g_1 again and
    divide by zero; and the loop runs to k* + 1 functions where it should end with k*.
    """
    y = as_columns(y, K)
    trace, V = Trace.start(K, y), []
    D, lengths = normalised(K)
    n = len(K)
    g, clear = lead(norm(D.T @ y / n, axis=1), ROUNDING * norm(y) / np.sqrt(n))
    V.append(g)
    Q = D[:, V]
    beta = (Q.T @ y / n) / (Q[:, 0] @ Q[:, 0] / n)
    plus = (Q.T / n) / (Q[:, 0] @ Q[:, 0] / n)
    r = y - Q @ beta
    trace.record(g, spread_out(V, beta / lengths[V, None], K.shape[1]), r, clear)
    for _ in range(n_steps - 1):
        noise = refit_noise(K[:, V], norm(beta / lengths[V, None]), norm(r))
        g, clear = lead(norm(D.T @ r / n, axis=1), noise / np.sqrt(n))
        V.append(g)
        q = D[:, g]
        outside = q - Q @ (plus @ q)
        a = 1 / (q @ outside)
        c = a * (q @ r)
        beta = np.vstack([beta - np.outer(plus @ q, c), c])
        row = a * (q - plus.T @ (Q.T @ q))
        plus = np.vstack([plus - np.outer(plus @ q, row), row])
        Q = D[:, V]
        r = y - Q @ beta
        # The updates lose accuracy by the square of the condition number: Q+ is then no inverse any more.
        clear &= bool(np.abs(plus @ Q - np.eye(len(V))).max() < 1e-9)
        trace.record(g, spread_out(V, beta / lengths[V, None], K.shape[1]), r, clear)
    return trace


def truncate(f, M):
    """T_M: values beyond M in size are set to M with their sign."""
    return np.where(np.abs(f) > M, np.copysign(M, f), f)


def ptr(y, trace, n_features, M=np.inf):
    """PTR (eq. 2.4) with T by HDAIC over m (1 + log p) / 20, m = 1 .. 20 (section 3.1): (k*, whether it was clear).

    k(T) is the largest integer smaller than T sqrt(n / log n); T whose k(T) is zero keep no function. HDAIC is taken of
    the truncated f, as printed; M = inf gives that of f itself.
    """
    n = len(y)
    sizes = sorted({int(np.ceil(m * (1 + np.log(n_features)) / 20 * np.sqrt(n / np.log(n)))) - 1 for m in range(1, 21)})
    fitted = [as_columns(y, trace.residuals[0])[:, 0] - trace.residuals[k][:, 0] for k in sizes]
    hdaic = [
        n * np.log(float(np.mean(np.square(y - truncate(f, M))))) + 2 * k * np.log(n) for k, f in zip(sizes, fitted)
    ]
    best, clear = lead(-np.array(hdaic), 1e-9 * n)
    return sizes[best], clear
