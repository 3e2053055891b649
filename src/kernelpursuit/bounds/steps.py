"""Numbers of atoms as arguments of the bounds: one, or an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def check_steps(k: ArrayLike, low: int = 0) -> np.ndarray:
    """Return numbers of atoms as an array of floats."""
    array = np.asarray(k)
    if array.dtype.kind not in "iu" or (array < low).any():
        raise ValueError(f"k={k!r} is not usable; give whole numbers of atoms of at least {low}.")
    return array.astype(np.float64)


def in_shape(values: np.ndarray, k: np.ndarray) -> float | np.ndarray:
    """Return a float where one number of atoms was asked for."""
    return float(values) if k.ndim == 0 else values
