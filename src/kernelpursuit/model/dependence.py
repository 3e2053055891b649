"""Partial dependence: predictions where some features are given values, on average over rows, at one or many sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._native.threads import one_blas_thread
from kernelpursuit._types import Matrix
from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.model.one_vs_rest import OneVsRestModel
from kernelpursuit.model.sizes import ManySizes, kept_size
from kernelpursuit.rows import dense, slices


@one_blas_thread()
def partial_dependence(
    model: FittedModel | OneVsRestModel,
    X: Matrix,
    features: Sequence[int],
    points: ArrayLike,
    *,
    sizes: Sequence[int | Sequence[int]] | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """Average the predictions of rows in which some features have other values (Friedman 2001, section 8.2).

    Parameters
    ----------
    model : FittedModel or OneVsRestModel
        The model, `model_` of an estimator.
    X : array or CSR matrix of shape (n_rows, n_features)
        Background rows, over which predictions are averaged; their other features keep their values.
    features : sequence of int
        Columns that are given values: one for a curve, two for a surface.
    points : array of shape (n_points,) or (n_points, n_given_features)
        The values.
    sizes : sequence of int, optional
        Sizes of the path, as for `at`; by default the one that is kept. With a model for each class, an entry may be
        one size for each.
    n_threads : int, optional
        Threads; by default all.

    Returns
    -------
    array of shape (n_sizes, n_points, n_outputs)
        Predicted targets, or of a classifier probabilities, which cost one evaluation of the atoms on n_points * n_rows
        rows, whatever the number of sizes.
    """
    many = ManySizes.of(model, [kept_size(model)] if sizes is None else sizes)
    rows, points = _checked(model, X, features, points)
    total = np.zeros((len(many.models), len(points), many.n_outputs))
    for at, some, block in _placed(many, rows, features, points=points):
        found = many.outputs(block, n_threads).reshape(len(total), at.stop - at.start, some.stop - some.start, -1)
        total[:, at] += found.sum(axis=2)
    return total / len(rows)


@one_blas_thread()
def individual_dependence(
    model: FittedModel | OneVsRestModel,
    X: Matrix,
    features: Sequence[int],
    points: ArrayLike,
    *,
    n_threads: int | None = None,
) -> np.ndarray:
    """Predictions of each row at each point, shape (n_points, n_rows, n_outputs): what partial dependence averages."""
    many = ManySizes.of(model, [kept_size(model)])
    rows, points = _checked(model, X, features, points)
    out = np.empty((len(points), len(rows), many.n_outputs))
    for at, some, block in _placed(many, rows, features, points=points):
        out[at, some] = many.outputs(block, n_threads)[0].reshape(at.stop - at.start, some.stop - some.start, -1)
    return out


def grid_over(values: ArrayLike, n_points: int = 40, fraction: float = 1.0) -> np.ndarray:
    """Points for the curve of a feature: evenly over the middle fraction of its values, or these, where few differ."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    distinct = np.unique(known)
    if len(distinct) <= n_points:
        return distinct
    low, high = np.quantile(known, [0.5 - 0.5 * fraction, 0.5 + 0.5 * fraction])
    return np.linspace(low, high, n_points)


def _checked(
    model: FittedModel | OneVsRestModel, X: Matrix, features: Sequence[int], points: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Rows as a plain array, and points of shape (n_points, n_given_features)."""
    if model.is_precomputed:
        raise ValueError("kernel='precomputed' has no features that could be given values; fit with a kernel.")
    rows, places = dense(X, np.float64), np.asarray(points, dtype=np.float64)
    places = places[:, None] if places.ndim == 1 else places
    if places.shape[1] != len(features):
        raise ValueError(
            f"points has {places.shape[1]} columns for {len(features)} features; give one value of each at every point."
        )
    if not len(rows):
        raise ValueError("X has no rows to average over; give at least one.")
    return rows, places


def _placed(
    many: ManySizes, rows: np.ndarray, features: Sequence[int], *, points: np.ndarray
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield slices of points and of rows, and these rows at each of those points, one point after the other."""
    for some in slices(len(rows), many.rows_at_once):
        part = rows[some]
        for at in slices(len(points), max(1, many.rows_at_once // len(part))):
            block = np.tile(part, (at.stop - at.start, 1))
            block[:, list(features)] = np.repeat(points[at], len(part), axis=0)
            yield at, some, block
