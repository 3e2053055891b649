"""The order in which the greedy loop picks a model's own atoms, with all rows in view."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from kernelpursuit.dictionary import Precomputed
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import ALL, Task
from kernelpursuit.learning.leave_one_out import orthonormal
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.sample import Rows
from kernelpursuit.pursuit import Script, Settings, inner_products, run_pursuit

# Kernel values that are there at a time.
VALUES_AT_A_TIME = 2**22


def pick_in_order(kernel: Kernel, model: Model, rows: Rows, task: Task) -> Script | None:
    """The steps over all atoms of a model under the squared loss; None where its atoms are dependent.

    Scores depend on the rows by inner products alone, `<i, j> = d_i' d_j + alpha (i = j)`. With `S'S` the matrix of
    these and `S't = D'y`, the k atoms have the same products with each other and with the targets as the k columns of
    S, of k rows each, with t: so the loop sees k rows in place of n, and picks the same atoms.
    """
    G, c = _products(kernel, model, rows, task)
    G[np.diag_indices_from(G)] += model.alpha
    try:
        S = cholesky(G, check_finite=False)
    except LinAlgError:
        return None
    targets = solve_triangular(S, c, trans="T", check_finite=False)
    settings = Settings(
        dictionary=Precomputed(), max_atoms=len(S), penalty=None, seed=task.seed, n_jobs=task.n_jobs, intervals=False
    )
    path = run_pursuit(S, targets, settings, ALL, callback=task.watch).path
    return Script.in_blocks_of(path.atom)


def _products(kernel: Kernel, model: Model, rows: Rows, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """`D'D` and `D'y` over all rows, what is fixed projected out, some rows at a time."""
    k, root = len(model.factors), np.sqrt(rows.weights)
    fixed = orthonormal(task.fixed(rows.Z if task.trend else rows.given) * root)
    y = rows.y * root
    y = y - (y @ fixed.T) @ fixed
    G, c, along = np.zeros((k, k)), np.zeros((k, len(y))), np.zeros((k, len(fixed)))
    step = max(1, VALUES_AT_A_TIME // k)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        task.watch.tell(start / len(rows))
        values = model.values(kernel.spec, rows.take(part).Z, task.n_threads)
        values *= root[part]
        G += inner_products(values, values, task.n_threads)
        c += values @ y[:, part].T
        along += values @ fixed[:, part].T
    return G - along @ along.T, c
