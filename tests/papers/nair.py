"""P. Nair, A. Choudhury, A. Keane, Some greedy learning algorithms for sparse regression and classification with Mercer
kernels, JMLR 3, 2002.

`K` is the Gram matrix, or K + sigma² I in its place (section 5).
"""

import numpy as np
from papers.trace import (
    LEAST_LEAD,
    ROUNDING,
    Trace,
    append_column,
    as_columns,
    back_substitute,
    lead,
    least_squares,
    norm,
    refit_noise,
    spread_out,
    thin_qr,
    turn_noise,
)


def ormp(K, y, n_steps):
    """Natarajan's algorithm, section 2.1 eq. 1 to 4: all columns left are reoriented and normalised at every step."""
    y = as_columns(y, K)
    trace, picked, r = Trace.start(K, y), [], y
    lengths = norm(K, axis=0)
    columns, new = K / lengths, np.ones(K.shape[1])
    noise_of_r = ROUNDING * norm(y)
    for _ in range(n_steps):
        left = [j for j in range(K.shape[1]) if j not in picked]
        onto = np.linalg.lstsq(K[:, picked].astype(float), K.astype(float), rcond=None)[0] if picked else K[:0]
        noise = noise_of_r + norm(r) * turn_noise(K[:, picked], onto, lengths * new, lengths)
        i, clear = lead(norm(columns.T @ r, axis=1), noise, left)
        picked.append(i)
        q = columns[:, i]
        r = r - np.outer(q, q @ r)
        for j in left:
            if j != i:
                column = columns[:, j] - (q @ columns[:, j]) * q
                length = norm(column)
                new[j] *= length
                columns[:, j] = column / length if length > 0 else 0.0
        alpha = least_squares(K[:, picked], y)
        noise_of_r = refit_noise(K[:, picked], norm(alpha), norm(r))
        trace.record(i, spread_out(picked, alpha, K.shape[1]), r, clear)
    return trace


def largest_residual(K, r, left, noise):
    """Eq. 5, and step 2 of algorithm 2: who of those left has the largest residual, and whether that is clear."""
    return lead(norm(r, axis=1), noise, left)


def one_dimensional(K, r, left, noise):
    """Section 3.1: of those left, the column with the least rho_j = min over mu of ||r + mu K e_j||."""
    drops = np.zeros(len(K), dtype=K.dtype)
    for j in left:
        mu = -(r.T @ K[:, j]) / (K[:, j] @ K[:, j])
        rho = norm(r + np.outer(K[:, j], mu))
        drops[j] = norm(r) ** 2 - rho**2
    return lead(drops, 2 * float(norm(r)) * noise, left)


def everyone(p, left):
    """All columns that are not selected yet are looked at."""
    return left


def greedy_qr(K, y, n_steps, rcond=0.0, criterion=largest_residual, draw=everyone):
    """Section 4.2, eq. 5 to 9, and `R alpha = Q'y` after every step.

    Ends when the reciprocal condition number of [Q, k / ||k||] is below `rcond`; that column is not taken. `criterion`
    is one of section 3.1, and `draw(p, left)` are the columns j, not in I^(p-1), that iteration p compares by it.
    """
    y = as_columns(y, K)
    trace, picked, r, noise = Trace.start(K, y), [], y, ROUNDING * norm(y)
    Q, R = thin_qr(K[:, []])
    for p in range(1, n_steps + 1):
        left = [j for j in range(len(K)) if j not in picked]
        i, clear = criterion(K, r, draw(p, left), noise)
        reciprocal = reciprocal_condition(Q, K[:, i])
        if reciprocal < rcond:
            break
        picked.append(i)
        Q, R = append_column(Q, R, K[:, i])
        q = Q[:, -1]
        r = r - np.outer(q, q @ y)
        alpha = back_substitute(R, Q.T @ y)
        noise = refit_noise(K[:, picked], norm(alpha), norm(r))
        trace.rcond.append(reciprocal)
        trace.record(i, spread_out(picked, alpha, len(K)), r, clear)
    return trace


def reciprocal_condition(Q, k):
    """Of [Q, k / ||k||], by its singular values."""
    s = np.linalg.svd(np.column_stack([Q, k / norm(k)]).astype(float), compute_uv=False)
    return s[-1] / s[0]


def mdl(trace):
    """Eq. 10 after l = 0, 1, ... steps, m/2 log (r, r) + l/2 log m; r is what the Gram matrix that is fitted leaves."""
    m = len(trace.residuals[0])
    return [m / 2 * np.log(np.square(r).sum()) + step / 2 * np.log(m) for step, r in enumerate(trace.residuals)]


def aic(trace):
    """Eq. 11 after 0, 1, ... steps, as printed."""
    m = len(trace.residuals[0])
    return [
        m / 2 * np.log(np.square(r).sum()) + step / 2 * (1 + step / m) / (1 - (step + 2) / m)
        for step, r in enumerate(trace.residuals)
    ]


def exchange(K, picked, alpha, r, noise):
    """Algorithm 1, steps 1 to 4, and whether step 5 accepts: (s, l, gamma, r~, accepted, clear).

    Where rounding may decide between several s, the step is clear all the same if step 5 accepts none of them.
    """
    size = np.abs(r)
    s, clear_s = lead(-size, noise, picked)
    other, clear_l = lead(size, noise, [j for j in range(len(K)) if j not in picked])
    gamma, tried, accepted, sure = one_for_another(K, alpha, r, s, other, noise)
    if not clear_s:
        level = [j for j in picked if size[j] <= size[s] + 2 * noise]
        answers = [one_for_another(K, alpha, r, j, other, noise) for j in level]
        clear_s = all(surely and not taken for _, _, taken, surely in answers)
    return s, other, gamma, tried, accepted, clear_s and clear_l and sure


def one_for_another(K, alpha, r, s, other, noise):
    """Steps 3 and 4 of algorithm 1, the condition of step 5, and whether that is beyond noise."""
    without = r + alpha[s] * K[:, s]
    gamma = without @ K[:, other] / (K[:, other] @ K[:, other])
    tried = without - gamma * K[:, other]
    gap = float(norm(tried) - norm(r))
    sure = abs(gap) > LEAST_LEAD * float(norm(r)) + 2 * noise + ROUNDING * float(abs(alpha[s]) * norm(K[:, s]))
    return gamma, tried, gap < 0, sure


def mrx(K, y, n_steps, refit=False, criterion=largest_residual, draw=everyone):
    """Algorithm 2 with algorithm 1 as its last step; one target. `criterion` and `draw` as for `greedy_qr`.

    Algorithm 1 is as printed for all of them: it compares residuals, over all columns, which cost it nothing.
    `refit`: recompute the weight vector at the end of the iterations (section 4.1), which changes the last model only.
    """
    y = as_columns(y, K)[:, 0]
    trace, picked, r, alpha = Trace.start(K, y[:, None]), [], y, np.zeros(len(K), dtype=K.dtype)
    largest = float(norm(K))
    for p in range(1, n_steps + 1):
        noise = p * ROUNDING * (float(norm(y)) + largest * float(norm(alpha)))
        i, clear = criterion(K, r[:, None], draw(p, [j for j in range(len(K)) if j not in picked]), noise)
        picked = [*picked, i]
        d = np.zeros_like(r)
        d[picked] = r[picked]
        q = K @ d
        beta = r @ q / (q @ q)
        r = r - beta * q
        alpha = alpha + beta * d
        if len(picked) < len(K):
            noise = p * ROUNDING * (float(norm(y)) + largest * float(norm(alpha)))
            s, other, gamma, tried, accepted, clear_swap = exchange(K, picked, alpha, r, noise)
            clear &= clear_swap
            if accepted:
                alpha[s], alpha[other], r = 0.0, gamma, tried
                picked = [*(j for j in picked if j != s), other]
                trace.swaps.append((p, s, other))
        trace.record(i, alpha[:, None], r[:, None], clear)
    if refit and picked:
        w = least_squares(K[:, picked], y[:, None])
        trace.weights[-1] = spread_out(picked, w, len(K))
        trace.residuals[-1] = y[:, None] - K[:, picked] @ w
    return trace


def greedy_qr_exchange(K, y, n_steps, downdate="fresh", criterion=largest_residual, draw=everyone):
    """Section 4.2 with algorithm 3 after every step; one target. `criterion` and `draw` as for `greedy_qr`.

    An accepted swap takes the column of s out of the factors (by Givens rotations, or `downdate="fresh"` by a new
    factorisation), appends that of l at the tail, and sets r = y - Q Q'y. Algorithm 3 refers to "Equations (13-15)" for
    the append, which are eq. 6 to 8, and leaves unsaid that the last column of the rotated Q goes.
    """
    y = as_columns(y, K)[:, 0]
    trace, picked, r, noise = Trace.start(K, y[:, None]), [], y, ROUNDING * float(norm(y))
    Q, R = thin_qr(K[:, []])
    for p in range(1, n_steps + 1):
        i, clear = criterion(K, r[:, None], draw(p, [j for j in range(len(K)) if j not in picked]), noise)
        picked = [*picked, i]
        Q, R = append_column(Q, R, K[:, i])
        r = r - (Q[:, -1] @ y) * Q[:, -1]
        alpha = _weights(Q, R, y, picked)
        noise = refit_noise(K[:, picked], norm(alpha), norm(r))
        if len(picked) < len(K):
            s, other, _, _, accepted, clear_swap = exchange(K, picked, alpha, r, noise)
            clear &= clear_swap
            if accepted:
                position = picked.index(s)
                picked = [*(j for j in picked if j != s), other]
                trace.swaps.append((p, s, other))
                if downdate == "givens":
                    Q, R = append_column(*givens_downdate(Q, R, position), K[:, other])
                else:
                    Q, R = thin_qr(K[:, picked])
                r = y - Q @ (Q.T @ y)
                alpha = _weights(Q, R, y, picked)
                noise = refit_noise(K[:, picked], norm(alpha), norm(r))
        trace.record(i, alpha[:, None], r[:, None], clear)
    return trace


def _weights(Q, R, y, picked):
    alpha = np.zeros(len(y), dtype=y.dtype)
    alpha[picked] = back_substitute(R, Q.T @ y)
    return alpha


def givens_downdate(Q, R, position):
    """Algorithm 3: take one column out of Q R by rotations in the planes (i, i + 1), i = position .. p - 1."""
    Q, R = Q.copy(), np.delete(R, position, axis=1)
    for i in range(position, R.shape[1]):
        length = np.hypot(R[i, i], R[i + 1, i])
        c, s = R[i, i] / length, R[i + 1, i] / length
        G = np.array([[c, -s], [s, c]])
        R[i : i + 2] = G.T @ R[i : i + 2]
        Q[:, i : i + 2] = Q[:, i : i + 2] @ G
    return Q[:, :-1], np.triu(R[:-1])
