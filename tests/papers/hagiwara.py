"""K. Hagiwara, A sparse modeling method based on reduction of cost function in regularized forward selection, IEICE
Transactions E97.D, 2014.

`G` holds the basis functions on the rows; one target.
"""

import numpy as np
from oracles import regularised_forward_selection
from papers.trace import ROUNDING, Trace, as_columns, back_substitute, lead, norm, refit_noise, spread_out, turn_noise


def rfs(G, y, lam, n_steps):
    """Section 2.2: picks and c² as `oracles.regularised_forward_selection` finds them, and what follows from them.

    P_k is taken as section 2.1 defines it, weights are those of eq. 8, residuals those of eq. 10; eq. 9 has its two
    costs swapped against appendix A. Returns the trace, the c² and the P_k.
    """
    y = np.asarray(y, dtype=float)
    picks, reductions, _ = regularised_forward_selection(G, y, lam, n_steps)
    trace, P, noise = Trace.start(G, y[:, None]), np.eye(len(y)), ROUNDING * norm(y)
    matrices, full = [P], np.sqrt(lam + np.square(G).sum(axis=0))
    for k, best in enumerate(picks, start=1):
        PG = P @ G
        a = lam + np.einsum("ij,ij->j", G, PG)
        left = [j for j in range(G.shape[1]) if j not in picks[: k - 1]]
        c = np.divide(np.abs(y @ PG), np.sqrt(np.abs(a)), out=np.zeros_like(a), where=a > 0)
        found, clear = lead(c, noise, left)
        A = G[:, picks[:k]]
        F = A.T @ A + lam * np.eye(k)
        w = np.linalg.solve(F, A.T @ y)
        P = np.eye(len(y)) - A @ np.linalg.solve(F, A.T)
        # Ridge regression is least squares on columns that go on for as many rows as there are functions.
        stacked, onto = np.vstack([A, np.sqrt(lam) * np.eye(k)]), np.linalg.solve(F, A.T @ G)
        left_over = np.sqrt(max(y @ P @ y, 0.0))
        new = np.sqrt(np.maximum(lam + np.einsum("ij,ij->j", G, P @ G), 0.0))
        noise = refit_noise(stacked, norm(w), left_over) + left_over * turn_noise(stacked, onto, new, full)
        matrices.append(P)
        weights = spread_out(picks[:k], w[:, None], G.shape[1])
        trace.record(best, weights, (P @ y)[:, None], clear and found == best)
    return trace, reductions, matrices


def ols(G, y, lam, n_steps):
    """Section 2.3, eq. 11 to 17: orthogonalised columns, and the penalty on their coefficients v.

    The weights of the original g follow from G = Q T, T unit upper triangular, as w = T^-1 v. Slips: eq. 14 needs
    beta_{l,j+1} where it prints beta_{l,j}; eq. 16 needs I_k for I_n and Q' for the last Q. Returns the trace, the c²,
    the P_k, and the cost of eq. 15 after every step.
    """
    y = np.asarray(y, dtype=G.dtype)
    n_atoms = G.shape[1]
    trace, picked, P = Trace.start(G, y[:, None]), [], np.eye(len(y), dtype=G.dtype)
    q, betas = G.copy(), np.zeros((0, n_atoms), dtype=G.dtype)
    reductions, matrices, costs, taken = [], [P], [float(y @ y)], []
    for k in range(n_steps):
        if k:
            last = taken[-1]
            beta = last @ q / (last @ last)
            q = q - np.outer(last, beta)
            betas = np.vstack([betas, beta])
        Pq = P @ q
        a = lam + np.einsum("ij,ij->j", q, Pq)
        c2 = np.divide(np.square(y @ Pq), a, out=np.zeros_like(a), where=a > 0)
        left = [j for j in range(n_atoms) if j not in picked]
        A = G[:, picked]
        onto = np.linalg.lstsq(A.astype(float), G.astype(float), rcond=None)[0] if k else A.T @ G
        length = norm(q, axis=0)
        share = np.divide(length, np.sqrt(np.abs(a)), out=np.ones_like(length), where=a > 0)
        noise = norm(y) * share * turn_noise(A, onto, length, norm(G, axis=0))
        best, clear = lead(np.sqrt(c2), noise, left)
        P = P - np.outer(Pq[:, best], Pq[:, best]) / a[best]
        picked.append(best)
        taken.append(q[:, best])
        Q = np.stack(taken, axis=1)
        # Q'Q is diagonal (eq. 16).
        v = Q.T @ y / (np.square(Q).sum(axis=0) + lam)
        T = np.eye(k + 1, dtype=G.dtype) + np.triu(np.pad(betas[:, picked], ((0, 1), (0, 0))), 1)
        reductions.append(float(c2[best]))
        matrices.append(P)
        costs.append(float(np.square(y - Q @ v).sum() + lam * v @ v))
        trace.record(best, spread_out(picked, back_substitute(T, v)[:, None], n_atoms), (P @ y)[:, None], clear)
    return trace, np.array(reductions), matrices, np.array(costs)


def leave_one_out(y, matrices):
    """LCVE(k) of eq. 30 for k = 1, 2, ...; H = I - P_k."""
    y = as_columns(y, matrices[0])[:, 0]
    return np.array([float(np.square(P @ y / np.diag(P)).sum()) for P in matrices[1:]])


def tcr(y, reductions, matrices):
    """Section 3.3 with epsilon = 0: (k_TCR, k_LCV, whether no comparison was close).

    Settled: sigma² is LCVE(k_LCV) / n, a mean where eq. 30 has a sum; where no k passes the threshold, none is kept.
    """
    errors = leave_one_out(y, matrices)
    k_lcv = 1 + int(np.argmin(errors))
    sigma = np.sqrt(errors[k_lcv - 1] / len(y))
    k = np.arange(1, k_lcv + 1)
    threshold = sigma * np.sqrt(2 * np.log(len(y) - (k - 1)))
    c = np.sqrt(reductions[:k_lcv])
    passed = k[c >= threshold]
    close = np.abs(c - threshold) <= 1e-6 * threshold
    clear = lead(-errors)[1] and not close.any()
    return int(passed.max(initial=0)), k_lcv, clear
