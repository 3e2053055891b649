"""Predictions outside the training data: back to the base of the model, and within the range of the targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.model.constants import FADE_FROM, FADE_TO
from kernelpursuit.pursuit.criteria.squares import widened_range
from kernelpursuit.rows import dense

#: Values of the parameter `outside`.
OPTIONS = ("auto", "return", "free")


@dataclass(frozen=True)
class Outside:
    """The box of the training rows, and the range of their targets.

    The base of a model is what it is without atoms: the mean of the targets (the best constant, under other losses), or
    the fit of the functions that are always in. Outside the box of the training rows, the prediction f(x) becomes
    `base(x) + g (f(x) - base(x))`, with

        e_j = how far x_j is below the least or above the largest training value, divided by their difference
        e   = sqrt(sum_j e_j²)
        g   = 1 up to e = 1/4, 0 from e = 1 on, and the cubic 1 - 3 t² + 2 t³, t = (e - 1/4) / (3/4), in between

    Before that, its distance to the base is clipped to the range that the targets have, widened on either side by half
    of it. Where nothing fades and nothing is clipped, predictions keep their bits.

    features        numbers of the features that count: those whose scale is not 0
    low, high       least and largest training value of each of them
    floor, ceiling  the widened range of the targets less the base, shape (n_targets,)
    limits          the widened range of the targets themselves, shape (2, n_targets), where a line that nobody asked
                    for would lead out of it; else None
    """

    features: np.ndarray
    low: np.ndarray
    high: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray
    limits: np.ndarray | None = None

    @classmethod
    def of(cls, X: Matrix, targets: np.ndarray, scales: np.ndarray | None) -> Outside:
        """Measure training rows, and their targets less the base, shape (n_rows, n_targets).

        Features of scale 0, and those that do not vary, do not count; without scales, all others do.
        """
        low, high = (dense(extremes, np.float64).ravel() for extremes in (X.min(axis=0), X.max(axis=0)))
        counts = high > low if scales is None else (high > low) & (scales > 0)
        features = np.flatnonzero(counts)
        return cls(features, low[features], high[features], *widened_range(targets))

    def united(self, other: Outside) -> Outside:
        """Unite the box, for the features that count here, and the limits with those of another."""
        low, high = self.low.copy(), self.high.copy()
        _, here, there = np.intersect1d(self.features, other.features, return_indices=True)
        low[here], high[here] = np.minimum(low[here], other.low[there]), np.maximum(high[here], other.high[there])
        limits = self.limits
        if limits is not None and other.limits is not None:
            limits = np.array([np.minimum(limits[0], other.limits[0]), np.maximum(limits[1], other.limits[1])])
        return replace(self, low=low, high=high, limits=limits)

    def fade(self, X: Matrix) -> np.ndarray:
        """How much of the atoms is left for each row: 1 inside the box, 0 far from it."""
        values = dense(X if len(self.features) == X.shape[1] else X[:, self.features])
        # Feature by feature, side by side in memory: comparing row by row takes as long as some twenty kernel values.
        is_outside = np.zeros(len(values), dtype=bool)
        for column, low, high in zip(np.ascontiguousarray(values.T), self.low, self.high):
            is_outside |= (column < low) | (column > high)
        rows, out = np.flatnonzero(is_outside), np.ones(len(values))
        beyond = values[rows].astype(np.float64)
        # Halves, since differences of very large numbers are none.
        beyond = np.maximum(0.5 * self.low - 0.5 * beyond, 0.5 * beyond - 0.5 * self.high)
        excess = np.minimum(np.maximum(beyond, 0.0) / (0.5 * self.high - 0.5 * self.low), FADE_TO)
        e = np.clip((np.sqrt(np.square(excess).sum(axis=1)) - FADE_FROM) / (FADE_TO - FADE_FROM), 0.0, 1.0)
        out[rows] = 1.0 - e * e * (3.0 - 2.0 * e)
        return out

    def hold(self, values: np.ndarray, base: np.ndarray, fade: np.ndarray, *, clips: bool) -> np.ndarray:
        """Predictions of shape (n_rows, n_targets), where `clips` within the range, and faded towards the base."""
        if clips:
            beside = values - base
            beyond = (beside < self.floor) | (beside > self.ceiling)
            if beyond.any():
                values = np.where(beyond, base + np.clip(beside, self.floor, self.ceiling), values)
        (rows,) = np.nonzero(fade < 1.0)
        if len(rows):
            values = values.copy()
            values[rows] = base[rows] + fade[rows, None] * (values[rows] - base[rows])
        return values if self.limits is None or not clips else np.clip(values, *self.limits)
