"""The kernel of functions that repeat themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kernelpursuit._types import EmbeddingOrigin, Matrix
from kernelpursuit._validate import as_floats
from kernelpursuit.kernels.formula import FormulaKernel


@dataclass(frozen=True, eq=False, repr=False)
class Periodic(FormulaKernel):
    """Periodic kernel `exp(-sum_f gamma_f (p_f / π)² sin²(π (x_f - c_f) / p_f))`.

    Between rows that are close for their period, it is the Gaussian kernel of the same gamma.

    Parameters
    ----------
    gamma : float, array of shape (n_features,), "scale" or None
        As for every kernel. A feature with gamma 0 does not count.
    period : float or array of shape (n_features,)
        Positive; what may be added to a feature without changing a value.

    Notes
    -----
    It is the Gaussian kernel on circles of circumference p (Rasmussen and Williams, *Gaussian processes for machine
    learning*, 2006, eq. 4.31): a feature becomes the point `p / 2π (cos a - 1, sin a)` with `a = 2π x / p`, and the
    squared distance of the points at a and b is `(p / π)² sin²((a - b) / 2)`. So the native core evaluates it by the
    formula of the Gaussian, on two columns a feature. Whole periods are taken off x exactly, however many there are.

    Examples
    --------
    >>> from kernelpursuit.kernels import Periodic
    >>> Periodic(gamma=1.0, period=2.0)([[0.0]], [[0.5], [1.0], [2.0]]).round(3)
    array([[0.817, 0.667, 1.   ]])
    """

    period: ArrayLike = 1.0

    kind: ClassVar[str] = "rbf"
    # Its scales are those of points on circles, so they cannot be learned as scales of features.
    is_stationary: ClassVar[bool] = False
    columns: ClassVar[int] = 2

    def __post_init__(self) -> None:
        period = as_floats("period", self.period)
        if period.ndim > 1 or not period.size or not (np.isfinite(period) & (period > 0)).all():
            raise ValueError(f"period={self.period!r} is not usable; give a positive number, or one for each feature.")

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> FormulaKernel:
        """Return this kernel with gamma as numbers; periods must be as many as features, or one."""
        if np.ndim(self.period) and np.size(self.period) != X.shape[1]:
            raise ValueError(
                f"period has {np.size(self.period)} numbers, but X has {X.shape[1]} features; give one for each."
            )
        return super().resolve(X, gamma, weights)

    def embed(self, X: Matrix, origin: EmbeddingOrigin) -> Matrix:
        """Points on circles: all first coordinates, then all second ones. A zero of a sparse row stays one."""
        period, radius = (np.broadcast_to(v, X.shape[1]) for v in self._circles())
        if not sp.issparse(X):
            return np.hstack(_on_circle(np.asarray(X, dtype=np.float64), period, radius))
        rows = sp.csr_array(X, copy=True)
        rows.sum_duplicates()  # entries that come twice add up before they are angles
        own = rows.indices
        points = _on_circle(rows.data.astype(np.float64), period[own], radius[own])
        return sp.csr_array(sp.hstack([sp.csr_array((z, own, rows.indptr), shape=rows.shape) for z in points]))

    def _circles(self) -> tuple[np.ndarray, np.ndarray]:
        """Circumferences, and radii times the root of gamma."""
        period = np.asarray(self.period, dtype=np.float64)
        return period, self.feature_scales() * period / (2 * np.pi)


def _on_circle(x: np.ndarray, period: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates `radius (cos a - 1, sin a)`, the first by half the angle, which keeps its digits near 0."""
    half_angle = np.pi * (np.fmod(x, period) / period)
    return -2 * radius * np.square(np.sin(half_angle)), radius * np.sin(2 * half_angle)
