"""How wrong predictions are at a row: leave-one-out errors of training rows, made a scale that depends on the row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from kernelpursuit._types import Matrix
from kernelpursuit.kernels import Kernel
from kernelpursuit.model.constants import (
    KNOT_QUANTILES,
    MAX_NOISE_FEATURES,
    MAX_SCREENED_FEATURES,
    MIN_UNEXPLAINED,
    TARGET_RANGE_QUANTILES,
)
from kernelpursuit.model.landmarks import Landmarks
from kernelpursuit.model.noise import LogScale, fit_log_scale
from kernelpursuit.pursuit.reducers.quantiles import CALIBRATION_ROWS, LEVELS, evenly, quantiles
from kernelpursuit.pursuit.working import INTERPOLATED, loo_error, one_minus_leverage
from kernelpursuit.rows import dense

# The spread, beside its size, of a feature that does not vary: rounding leaves some eps of the mean of its values.
CONSTANT_TOLERANCE = 1e-12
# Scales are in units in which 90 % of normal errors are within this many of them.
NORMAL_QUANTILE, REFERENCE_LEVEL = 1.645, np.array([0.9])


@dataclass(frozen=True)
class Columns:
    """What the size of errors may depend on: some features, the prediction, how near the data are, kernel values.

    features, center, spread, low, high   of the features; rows are taken into the range of the training rows
    """

    features: np.ndarray
    center: np.ndarray
    spread: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X: Matrix, sizes: np.ndarray, scales: np.ndarray) -> Columns:
        """Take features that vary, and of many, those that go with the size of errors most.

        Of very many, only those with the largest scales are looked at.
        """
        looked_at = np.sort(np.argsort(-scales, kind="stable")[:MAX_SCREENED_FEATURES])
        X = dense(X if len(looked_at) == X.shape[1] else X[:, looked_at], np.float64)
        center, spread = X.mean(axis=0), X.std(axis=0)
        (varying,) = np.nonzero(spread > CONSTANT_TOLERANCE * np.abs(X).max(axis=0))
        if len(varying) > MAX_NOISE_FEATURES:
            Z = (X[:, varying] - center[varying]) / spread[varying]
            log_size = np.log(np.maximum(sizes, 1e-3 * sizes.mean(axis=0))) if sizes.any() else sizes
            log_size = log_size - log_size.mean(axis=0)
            related = sum(np.abs(log_size.T @ values).max(axis=0) for values in (Z, np.abs(Z) - np.abs(Z).mean(axis=0)))
            varying = np.sort(varying[np.argsort(-related, kind="stable")[:MAX_NOISE_FEATURES]])
        taken = X[:, varying]
        return cls(looked_at[varying], center[varying], spread[varying], low=taken.min(axis=0), high=taken.max(axis=0))

    def values(self, X: Matrix, f: np.ndarray, knots: np.ndarray, v: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        """Columns for the predictions f of one target, shape (n_rows, n_columns)."""
        Z = (np.clip(dense(X[:, self.features], np.float64), self.low, self.high) - self.center) / self.spread
        hinges = np.maximum(f[:, None] - knots, 0.0)
        return np.hstack([Z, np.abs(Z), f[:, None], hinges, np.log(v + MIN_UNEXPLAINED)[:, None], kernel.T])

    def groups(self, n_landmarks: int) -> list[int]:
        """Sizes of the two groups: what is above, and kernel values."""
        return [2 * len(self.features) + len(KNOT_QUANTILES) + 2, n_landmarks]


@dataclass(frozen=True)
class ErrorScale:
    """The scale of the error at any row, for each target, and quantiles of errors in units of it.

        s(x)² = noise(x)² + far(x) (spread + |f(x) - base(x)| / 1.645)²

    noise(x) is the size of leave-one-out errors as a function of the row, and far(x) goes from 0 near the training
    rows to 1 where the model knows nothing. There, intervals of 90 % hold all that is within one range of the targets
    around the base, wherever the prediction has gone.

    columns      what the noise depends on
    log_noise    how it does, one for each target
    knots        of the prediction, shape (n_targets, n_knots)
    landmarks    training rows that say how far a row is from all
    unit         of each target, shape (n_targets,): what log_noise and knots are in
    spread       of the targets around the base, in units of s
    deviation    their standard deviation
    typical      root mean square of noise(x) over the calibration rows
    quantiles    of absolute leave-one-out errors over s, shape (n_levels, n_targets)
    noise_variance   of the model that it was made for, shape (n_targets,)
    """

    columns: Columns
    log_noise: list[LogScale]
    knots: np.ndarray
    landmarks: Landmarks
    unit: np.ndarray
    spread: np.ndarray
    deviation: np.ndarray
    typical: np.ndarray
    quantiles: np.ndarray
    noise_variance: np.ndarray

    def at(
        self, X: Matrix, f: np.ndarray, base: np.ndarray, fade: np.ndarray | float, n_threads: int | None
    ) -> Uncertainty:
        """What is known of the errors of rows with predictions f, around a base of the same shape.

        `fade` is what is left of the model outside the data, 1 for all of it.
        """
        kernel = self.landmarks.values(X, n_threads)
        v = self.landmarks.unexplained(kernel)
        noise = np.empty_like(f)
        for target, (log_noise, knots, unit) in enumerate(zip(self.log_noise, self.knots, self.unit)):
            columns = self.columns.values(X, f[:, target] / unit, knots=knots, v=v, kernel=kernel)
            noise[:, target] = unit * np.exp(log_noise(columns))
        far = np.maximum(self.landmarks.far(v), 1.0 - np.square(fade))
        return Uncertainty(noise, np.sqrt(far)[:, None], np.abs(f - base))

    @property
    def n_values(self) -> int:
        """Numbers that are made of a row on the way: kernel values of landmarks, and columns with them, some times."""
        return 4 * (self.landmarks.atoms.n_atoms + sum(self.columns.groups(0)))

    def half_width(self, coverage: float) -> np.ndarray:
        """Half the width of intervals in units of s, shape (n_targets,)."""
        return np.array([np.interp(coverage, LEVELS, column) for column in self.quantiles.T])

    def intervals(self, at: Uncertainty, more: np.ndarray, coverage: float) -> np.ndarray:
        """Half widths of intervals, `more` being what the errors of another model are larger by."""
        return self.half_width(coverage) * np.hypot(at.scale(self.spread), more)

    def deviations(self, at: Uncertainty, sigma: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """Standard deviations, from that of the noise on average and the leverages of rows."""
        sigma = sigma * at.noise / np.where(self.typical > 0, self.typical, 1.0)
        near = np.sqrt(1.0 - np.square(at.root_far))
        of_weights = np.minimum(sigma * np.sqrt(leverage)[:, None], np.maximum(sigma, self.deviation))
        return np.hypot(np.hypot(sigma, near * of_weights), at.root_far * np.hypot(self.deviation, at.beside))


@dataclass(frozen=True)
class Uncertainty:
    """What is known of the errors of some rows: noise(x), the root of far(x), and `|f(x) - base(x)|`."""

    noise: np.ndarray
    root_far: np.ndarray
    beside: np.ndarray

    def scale(self, spread: np.ndarray) -> np.ndarray:
        """s(x), with this spread of the targets."""
        return np.hypot(self.noise, self.root_far * (spread + self.beside / NORMAL_QUANTILE))


@dataclass(frozen=True)
class Calibration:
    """Rows whose leave-one-out errors are looked at.

    X, y, weights   the rows; weights have mean one
    n_unseen        how many of them, the first, no atom was picked from; all where that is not known
    f, base         predictions of the model, and of the one without atoms, shape (n_rows, n_targets)
    errors          leave-one-out errors
    noise_variance  of the model, shape (n_targets,)
    """

    X: Matrix
    y: np.ndarray
    weights: np.ndarray
    n_unseen: int
    f: np.ndarray
    base: np.ndarray
    errors: np.ndarray
    noise_variance: np.ndarray


def choose_rows(n_rows: int, is_validation: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Numbers of the calibration rows, validation rows first, which no atom was picked from, and how many those are."""
    if is_validation is None or not is_validation.any():
        return evenly(np.arange(n_rows), CALIBRATION_ROWS), min(n_rows, CALIBRATION_ROWS)
    unseen = evenly(np.flatnonzero(is_validation), CALIBRATION_ROWS)
    others = evenly(np.flatnonzero(~is_validation), CALIBRATION_ROWS - len(unseen))
    return np.concatenate([unseen, others]), len(unseen)


def loo_errors(
    y: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    rows: np.ndarray,
    f: np.ndarray,
    R: np.ndarray,
    values: np.ndarray,
) -> np.ndarray:
    """Leave-one-out errors of some training rows, one observation of each left out, shape (n_rows, n_targets).

    With W for the weight of an observation, the error is `(y - f) / (1 - W phi' (R'R)^-1 phi)`. Where nothing is
    left of it, the distance to the mean of all targets stands for it.

    Parameters
    ----------
    y, weights : all targets of shape (n_rows, n_targets), and weights of the rows as the fit took them
    counts : how many observations each row stands for
    rows : numbers of some of them
    f : predictions of these
    R : triangular factor of the model
    values : values of its columns on these rows, shape (n_columns, n_rows)
    """
    directions = solve_triangular(R, values, trans="T", check_finite=False) if len(R) else values
    left = one_minus_leverage(weights[rows] * np.einsum("ij,ij->j", directions, directions), counts[rows])[:, None]
    known = left > INTERPOLATED
    nothing = y[rows] - weights @ y / weights.sum()
    return np.where(known, loo_error(y[rows] - f, np.where(known, left, 1.0)), nothing)


def process_errors(
    y: np.ndarray, weights: np.ndarray, counts: np.ndarray, fixed: np.ndarray, K: np.ndarray, strength: float
) -> np.ndarray | None:
    """Leave-one-out errors with an atom at every row, shape (n_rows, n_targets); None where they are not determined.

    Those of the atoms that were picked are too small where these are many for the rows: a row was in view when the atom
    at it was picked, and the error without the row holds that atom fixed. With all of them nothing is picked. With
    `C = K + strength diag(1 / w)` and `P = C⁻¹ - C⁻¹F (F'C⁻¹F)⁻¹ F'C⁻¹`, what is left of row i is
    `strength (P y)_i / w_i`, and its leverage `1 - strength P_ii / w_i`.

    Parameters
    ----------
    y, weights, counts : targets of shape (n_rows, n_targets); weights as the fit took them; observations of each row
    fixed : values of what every model has, shape (n_fixed, n_rows)
    K : the kernel between the rows; it is written over
    strength : of the penalty `strength w' K w`
    """
    noise = strength / weights
    K[np.diag_indices_from(K)] += noise
    try:
        factor = cho_factor(K, overwrite_a=True, check_finite=False)
        P = cho_solve(factor, np.eye(len(K)), overwrite_b=True, check_finite=False)
        if len(fixed):
            along = fixed @ P
            P -= along.T @ np.linalg.solve(along @ fixed.T, along)
    except np.linalg.LinAlgError:
        return None
    left = one_minus_leverage(1.0 - noise * P.diagonal(), counts)
    return loo_error(noise[:, None] * (P @ y), left[:, None]) if (left > INTERPOLATED).all() else None


def larger_errors(errors: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of two sets of errors of the same rows, for each target the one of which 90 % reach further.

    An atom at every row does better than a model that was kept small, or that has the scales of another target.
    """

    def reach(of_rows: np.ndarray) -> np.ndarray:
        return np.array([quantiles(np.abs(one), weights, REFERENCE_LEVEL)[0] for one in of_rows.T])

    return np.where(reach(errors) > reach(others), errors, others)


def calibrate(rows: Calibration, kernel: Kernel, scales: np.ndarray, n_threads: int | None) -> ErrorScale:
    """Make a scale of errors, and the quantiles in units of it.

    Scales are in units in which 90 % of the calibration rows have errors below 1.645 of them.
    """
    weights = rows.weights
    landmarks, v = Landmarks.of(kernel, rows.X, n_threads)
    values = landmarks.values(rows.X, n_threads)
    unit = weights @ np.abs(rows.errors) / weights.sum()
    unit[unit == 0] = 1.0
    errors, f = np.abs(rows.errors) / unit, rows.f / unit
    columns, knots = Columns.of(rows.X, errors, scales), np.quantile(f, KNOT_QUANTILES, axis=0).T
    log_noise, noise, scores = [], np.empty_like(errors), np.empty_like(errors)
    for target in range(len(unit)):
        given = columns.values(rows.X, f[:, target], knots=knots[target], v=v, kernel=values)
        fit, loo = fit_log_scale(given, errors[:, target], weights, columns.groups(len(values)))
        score = _raised(errors[:, target] * np.exp(-loo), rows.n_unseen)
        size = quantiles(score, weights, REFERENCE_LEVEL)[0] / NORMAL_QUANTILE or 1.0
        log_noise.append(fit.times(size))
        noise[:, target], scores[:, target] = size * np.exp(loo), score / size
    beside = rows.y - rows.base
    size = np.maximum(np.abs(beside).max(axis=0), np.finfo(float).tiny)
    deviation = size * np.sqrt(weights @ np.square(beside / size) / weights.sum())
    ends = np.array([quantiles(column, weights, TARGET_RANGE_QUANTILES) for column in beside.T])
    scale = ErrorScale(
        columns=columns,
        log_noise=log_noise,
        knots=knots,
        landmarks=landmarks,
        unit=unit,
        spread=np.maximum(deviation, (ends[:, 1] - ends[:, 0]) / NORMAL_QUANTILE),
        deviation=deviation,
        typical=unit * np.sqrt(weights @ np.square(noise) / weights.sum()),
        quantiles=np.zeros((len(LEVELS), len(unit))),
        noise_variance=rows.noise_variance,
    )
    # Rows at the edge of the data have a larger s than by their noise alone.
    uncertainty = Uncertainty(noise * unit, np.sqrt(landmarks.far(v))[:, None], np.abs(rows.f - rows.base))
    s = uncertainty.scale(scale.spread) / unit
    found = np.column_stack([quantiles(column, weights, LEVELS) for column in (scores * noise / s).T])
    return replace(scale, quantiles=found)


def _raised(scores: np.ndarray, n_unseen: int) -> np.ndarray:
    """Scores in which those of rows that atoms were picked from are as large as those of the others, the first.

    The factor is that between their means, where it is above one, shrunk towards one by how uncertain it is.
    """
    unseen, others = scores[:n_unseen], scores[n_unseen:]
    if not len(others) or not unseen.any() or not others.any():
        return scores
    larger = max(float(np.log(unseen.mean() / others.mean())), 0.0)
    variance = sum(float(some.var()) / float(some.mean()) ** 2 / len(some) for some in (unseen, others))
    return np.concatenate([unseen, others * np.exp(larger**3 / max(larger**2 + variance, 1e-300))])
