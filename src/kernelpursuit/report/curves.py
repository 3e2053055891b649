"""Partial dependence of the leading features, at every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.model.dependence import partial_dependence
from kernelpursuit.model.sizes import kept_size
from kernelpursuit.report.rows import SEED, GivenRows
from kernelpursuit.report.states import Size
from kernelpursuit.rows import dense
from kernelpursuit.rows.sample import sample_numbers

# Background rows, and those over which features are ranked; features that are ranked at most.
BACKGROUND_ROWS, RANKING_ROWS, RANKED = 120, 40, 60
# Points of the curves that features are ranked by.
RANKING_POINTS = 8
# Quantiles of a feature over the background rows that are marked below its curve.
MARKS = np.linspace(0.0, 1.0, 11)
# Features of a row beyond which rows would take too much memory to be moved along a curve.
MOST_FEATURES = 5_000


@dataclass(frozen=True)
class Curve:
    """The curve of one feature: its points, values of shape (n_sizes, n_points, n_outputs), and marks below it."""

    feature: int
    points: np.ndarray
    values: np.ndarray
    marks: np.ndarray


@dataclass(frozen=True)
class Curves:
    """Curves of the leading features.

    curves      the one first that moves predictions most
    n_ranked    features that were looked at
    background  over which rows predictions are averaged, in words
    extent      what the curves go over, in words
    """

    curves: tuple[Curve, ...]
    n_ranked: int
    background: str
    extent: str


@dataclass(frozen=True)
class CurvePlan:
    """How many curves and points, and which outputs: places of targets or classes."""

    n_features: int
    n_points: int
    outputs: Sequence[int]


def curves_of(
    model: FittedModel | OneVsRestModel,
    sizes: Sequence[Size],
    rows: GivenRows | None,
    *,
    plan: CurvePlan,
    n_threads: int | None,
) -> Curves | str:
    """Curves of the features that move the kept model's predictions most, or in a sentence why there are none."""
    if model.is_precomputed:
        return "Rows are values of a precomputed kernel, so that there are no features to vary."
    X = model_rows(model) if rows is None else rows.X
    if X is None or not X.shape[0]:
        return "The model has no centres, and no rows were given to average over; give X to see how features count."
    if X.shape[1] > MOST_FEATURES:
        return f"A row has {X.shape[1]:,} features, too many to vary one by one."
    background = dense(X[sample_numbers(np.arange(X.shape[0]), BACKGROUND_ROWS, SEED)], np.float64)
    low, high, is_box = extent_of(model, dense_range(X))
    few = background[sample_numbers(np.arange(len(background)), RANKING_ROWS, SEED)]
    kept = [kept_size(model)]
    moves = {}
    for j in _ranked_first(model, low, high):
        points = np.linspace(low[j], high[j], RANKING_POINTS)
        found = partial_dependence(model, few, [j], points, sizes=kept, n_threads=n_threads)[0]
        moves[j] = float((found.std(axis=0) / _spread(model)).max())
    leading = sorted(moves, key=lambda j: (-moves[j], j))[: plan.n_features]
    curves = []
    for j in leading:
        points = _points(X, j, (low[j], high[j]), plan.n_points)
        values = partial_dependence(model, background, [j], points, sizes=sizes, n_threads=n_threads)
        column = dense(X[:, [j]]).ravel()
        curves.append(Curve(j, points, values[:, :, list(plan.outputs)], np.quantile(column, MARKS)))
    whose = "the rows given" if rows is not None else "the centres, which are the rows that a model has of its own"
    n = len(background)
    several = f"{n:,} of {X.shape[0]:,} of " if n < X.shape[0] else ""
    return Curves(
        tuple(curves),
        n_ranked=len(moves),
        background=f"{several}{whose}",
        extent="the range of the training rows" if is_box else "the range of the rows they are averaged over",
    )


def model_rows(model: FittedModel | OneVsRestModel) -> Matrix | None:
    """Rows that a model has of its own: the centres of all atoms of its path, as far as these have any."""
    found = [one.atoms.centers for one in model.models if one.atoms.centers is not None]
    if not found:
        return None
    is_sparse = sp.issparse(found[0])
    centers = sp.vstack(found, "csr") if is_sparse else np.vstack([dense(one, np.float64) for one in found])
    is_whole = np.isfinite(dense(centers.sum(axis=1))).ravel()
    return centers[np.flatnonzero(is_whole)]


def dense_range(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest value of every feature."""
    low, high = (dense(values, np.float64).ravel() for values in (X.min(axis=0), X.max(axis=0)))
    return low, high


def extent_of(
    model: FittedModel | OneVsRestModel, of_rows: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Least and largest value of every feature: in training, where the model knows it, and else in rows."""
    low, high = (one.copy() for one in of_rows)
    outside = model.models[0].outside
    if outside is None:
        return low, high, False
    low[outside.features], high[outside.features] = outside.low, outside.high
    return low, high, True


def _ranked_first(model: FittedModel | OneVsRestModel, low: np.ndarray, high: np.ndarray) -> list[int]:
    """Features that vary and have a scale, those of the largest scales first, as many as are ranked."""
    scales = model.origin.scales
    order = np.arange(len(low)) if scales is None else np.argsort(-scales, kind="stable")
    return [int(j) for j in order if high[j] > low[j] and (scales is None or scales[j] > 0)][:RANKED]


def _spread(model: FittedModel | OneVsRestModel) -> np.ndarray | float:
    """Units in which moves of several targets can be compared."""
    one = model.models[0]
    return 1.0 if one.units is None or model.classes is not None else one.units


def _points(X: Matrix, j: int, extent: tuple[float, float], n_points: int) -> np.ndarray:
    """Points of a curve: the values of a feature that has few, or evenly over its range."""
    distinct = np.unique(dense(X[:, [j]]))
    if len(distinct) <= n_points // 2:
        return distinct.astype(np.float64)
    return np.linspace(*extent, n_points)
