"""A prediction as a mix of the predictions for the centres."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular


def shares(at_centers: np.ndarray, at_rows: np.ndarray) -> np.ndarray:
    """What part of the prediction for each centre the prediction for a row is made of, shape (n_rows, n_centers).

    A sum over atoms `g(x) = w'd(x)` is known by its values at as many centres: with `D` for the atoms there, `g(x) =
    l(x)'g(centres)` for every w if `D l(x) = d(x)`. So a row's shares l depend on the kernel and the centres alone.
    Weights of smooth kernels are huge and cancel; shares add up to about one and stay small. Of centres whose atoms
    are sums of others' to rounding, the later ones have none. It takes O(n_atoms³) operations by QR with pivoting.

    Parameters
    ----------
    at_centers : array of shape (n_atoms, n_centers)
        Values of the atoms at the centres.
    at_rows : array of shape (n_atoms, n_rows)
        Their values at the rows.
    """
    found = np.zeros((at_rows.shape[1], at_centers.shape[1]))
    if not at_centers.size:
        return found
    Q, R, order = qr(at_centers, mode="economic", pivoting=True)
    sizes = np.abs(R.diagonal())
    rank = int((sizes > np.finfo(float).eps * max(at_centers.shape) * sizes[0]).sum())
    found[:, order[:rank]] = solve_triangular(R[:rank, :rank], (Q.T @ at_rows)[:rank]).T
    return found
