"""Triangular systems, empty ones too."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular


def solve_upper(R: np.ndarray, b: np.ndarray, *, transposed: bool = False) -> np.ndarray:
    """Solve `R x = b`, or `R' x = b`, for an upper triangular R; SciPy before 1.14 refuses an R without rows."""
    if not len(R):
        return b.copy()
    return solve_triangular(R, b, trans="T" if transposed else "N", check_finite=False)
