"""The grid of a search: values that are given, or chosen from distances between rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from kernelpursuit._types import Matrix
from kernelpursuit._validate import as_floats
from kernelpursuit.dictionary import Dictionary, KernelAtoms, Union
from kernelpursuit.kernels import Kernel
from kernelpursuit.pursuit.reducers.quantiles import evenly

# The automatic grid: this many values, each of this times the one before, around one over the median distance.
N_AUTO = 9
FACTOR = 4.0
# The median is taken over pairs of at most this many rows.
MEDIAN_ROWS = 500


def check_values(name: str, values: ArrayLike, zero: bool = False) -> np.ndarray:
    """Return the values of a grid: a list of finite numbers above 0, or where `zero` is true, of at least 0."""
    try:
        array = as_floats(name, values).astype(np.float64)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all() or (array < 0).any():
        bad = True
    else:
        bad = not zero and not array.all()
    if bad:
        bound = "of at least 0" if zero else "above 0"
        raise ValueError(f"{name}={values!r} is not usable; give a list of at least one finite number {bound}.")
    return array


def auto_gammas(dictionary: Dictionary, X: Matrix, weights: np.ndarray | None) -> np.ndarray:
    """Return a geometric grid around one over the median distance between rows.

    The distance is the one that the first kernel of the dictionary multiplies by gamma: the squared Euclidean distance,
    or the sum of absolute differences for the Laplacian kernel. Pairs of equal rows are left out. The others have the
    product of their sample weights. Of more than 500 rows, 500 evenly spread ones are used.
    """
    kernel = _first_kernel(dictionary)
    usable = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    rows = evenly(usable, MEDIAN_ROWS)
    distances = _distances(X[rows], kernel.kind == "laplacian")
    counts = np.ones(len(rows)) if weights is None else weights[rows]
    first, second = np.triu_indices(len(rows), 1)
    median = _median(distances, counts[first] * counts[second])
    if not np.isfinite(median) or not np.isfinite(1 / median):
        raise ValueError("gammas='auto' goes by distances, and those of X are out of range; scale X, or give numbers.")
    return FACTOR ** (np.arange(N_AUTO) - N_AUTO // 2) / median


def _first_kernel(dictionary: Dictionary) -> Kernel:
    parts = dictionary.parts if isinstance(dictionary, Union) else [dictionary]
    for part in parts:
        if isinstance(part, KernelAtoms) and part.takes_gamma and part.kernel.is_stationary:
            return part.kernel
    raise ValueError(
        "gammas='auto' needs a kernel of distances that takes gamma, not in a sum or product; give numbers."
    )


def _distances(X: Matrix, absolute: bool) -> np.ndarray:
    """Distances of all pairs of rows, shape (n_pairs,)."""
    if sp.issparse(X):
        # Imported here, since it is slow to import and only sparse rows need it.
        from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

        square = manhattan_distances(X) if absolute else euclidean_distances(X, squared=True)
        return square[np.triu_indices(X.shape[0], 1)]
    with np.errstate(over="ignore", under="ignore"):
        return pdist(np.asarray(X, dtype=np.float64), "cityblock" if absolute else "sqeuclidean")


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted median of the positive values; one where there are none."""
    values, weights = values[values > 0], weights[values > 0]
    if not len(values):
        return 1.0
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])
