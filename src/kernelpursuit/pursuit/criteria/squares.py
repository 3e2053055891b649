"""Residuals, degrees of freedom and leave-one-out errors of least squares."""

from __future__ import annotations

import numpy as np

from kernelpursuit import _native
from kernelpursuit.pursuit.criteria.base import Criterion, RowFacts
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.nugget import NuggetShare
from kernelpursuit.pursuit.path import Entry
from kernelpursuit.pursuit.reducers import conformal_quantiles
from kernelpursuit.pursuit.working import INTERPOLATED, loo_error, one_minus_leverage

# How far predictions may leave the range of the targets, as a fraction of it. Chosen by hand; the coverage of intervals
# in tests/estimators/test_outside.py shows whether it serves.
TARGET_MARGIN = 0.5


class PlainResiduals(Criterion):
    """`dof` and `target_residual` of a fit that has no leverages, or another loss."""

    def __init__(self, rows: RowFacts, nugget: NuggetShare | None):
        self.rows = rows
        self.nugget = nugget

    def entry(self, fit: Fit) -> Entry:
        """The number of atoms, or the sum of the leverages, and squared residuals of the function that predicts."""
        residual = fit.residual if self.nugget is None else fit.residual + self.nugget.moved()
        return {
            "dof": fit.n_fixed + len(fit.atoms) if fit.leverage is None else fit.leverage.sum(),
            "target_residual": np.einsum("ij,ij->i", residual, residual) / self.rows.scale**2,
        }


class LeastSquares(Criterion):
    """`target_residual`, `dof`, `loo`, `loo_se` and `loo_quantiles`: what residuals and leverages say.

    They are those of the function that predicts. Leaving "one" out of a row of weight w takes away one unit of weight,
    or all of it where w < 1.

    Parameters
    ----------
    rows : RowFacts
        What is known of the rows.
    nugget : NuggetShare or None
        The share of a nugget in the values at the training rows.
    calibration : array of int or None
        Rows whose leave-one-out errors have quantiles; None for no quantiles.
    limits : array of shape (2, n_targets, 1), optional
        The range in which predictions of rows that are left out are kept.
    """

    def __init__(
        self,
        rows: RowFacts,
        nugget: NuggetShare | None,
        calibration: np.ndarray | None,
        limits: np.ndarray | None,
    ):
        self.rows = rows
        self.nugget = nugget
        self.calibration = calibration
        self.limits = limits

    def entry(self, fit: Fit) -> Entry:
        """One pass over residuals and leverages, and another where counts or limits ask for more."""
        leverage, engine, square = fit.leverage, fit.engine, self.rows.scale**2
        assert leverage is not None
        weights = engine.weights if engine.is_weighted else None
        moved, shift = (None, None) if self.nugget is None else (self.nugget.moved(), self.nugget.shift())
        squares, dof, least, loo, spread = _native.criteria(
            fit.residual, leverage, weights, moved=moved, shift=shift, n_threads=engine.n_threads
        )
        if self.rows.counts is not None or self.limits is not None:
            least, loo, spread = self._by_rows(fit, leverage, shift)
        error = np.sqrt(spread / max(self.rows.n_units - 1.0, 1.0))
        known = least > INTERPOLATED
        return {
            "target_residual": squares / square,
            "dof": dof,
            "loo": loo / square if known else np.inf,
            "loo_se": error / square if known else np.inf,
            "loo_quantiles": self._quantiles(fit, leverage, shift) if known else np.inf,
        }

    def _by_rows(self, fit: Fit, leverage: np.ndarray, shift: np.ndarray | None) -> tuple[float, float, float]:
        """What `_native.criteria` says of leave-one-out errors, with counts for weights above one, and within limits.

        A row that is far from all others has no kernel but its own: without it there is only the constant, which
        kernels that reach over all the others may have led anywhere. Predictions are not led there.
        """
        left = one_minus_leverage(leverage, self.rows.observations)
        errors = loo_error(fit.residual, np.maximum(left, INTERPOLATED))
        if shift is not None:
            errors = errors + shift
        if self.limits is not None:
            targets, root = fit.targets, np.sqrt(fit.engine.weights)
            errors = targets - root * np.clip((targets - errors) / root, *self.limits)
        losses, share = np.square(errors).mean(axis=0), self.rows.weights / self.rows.total_weight
        loo = float(losses.sum()) / self.rows.total_weight
        spread = share @ np.square(losses / self.rows.weights - loo)
        return float(left.min()), loo, float(spread)

    def _quantiles(self, fit: Fit, leverage: np.ndarray, shift: np.ndarray | None) -> float | np.ndarray:
        """Quantiles of the absolute leave-one-out errors of the calibration rows, shape (n_levels, n_targets)."""
        rows = self.calibration
        if rows is None:
            return np.inf
        left = one_minus_leverage(leverage[rows], self.rows.observations[rows])
        errors = loo_error(fit.residual[:, rows], left)
        if shift is not None:
            errors = errors + shift[:, rows]
        errors = np.abs(errors) / (np.sqrt(fit.engine.weights[rows]) * self.rows.scale)
        return conformal_quantiles(errors, self.rows.weights[rows])


def widened_range(targets: np.ndarray, margin: float = TARGET_MARGIN) -> np.ndarray:
    """Least and largest of every target, widened on either side by a fraction of their difference.

    `targets` have the shape (n_rows, n_targets), the range has (2, n_targets).
    """
    least, most = targets.min(axis=0), targets.max(axis=0)
    # Halves first: the range of very large targets is no float.
    beyond = 2 * margin * (0.5 * most - 0.5 * least)
    return np.array([least - beyond, most + beyond])
