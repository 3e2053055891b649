"""Errors, predictions and intervals of a regressor at every size, on the rows given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.model import FittedModel
from kernelpursuit.model.sizes import ManySizes
from kernelpursuit.report.rows import INTERVAL_ROWS, GivenRows
from kernelpursuit.rows import slices

# Fractions of new targets that intervals are asked to hold.
COVERAGES = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class NumberErrors:
    """What comes of predicting the rows given at every size.

    squared, absolute  means over rows, shape (n_sizes, n_targets)
    explained          R², or NaN where targets do not vary
    loss               mean of the loss that was minimised, shape (n_sizes,)
    shown              places of the rows whose predictions are kept
    predicted          those, shape (n_sizes, n_targets, n_shown)
    n_faded            rows that lie outside the training rows so far that predictions are held back
    """

    squared: np.ndarray
    absolute: np.ndarray
    explained: np.ndarray
    loss: np.ndarray
    shown: np.ndarray
    predicted: np.ndarray
    n_faded: int


def number_errors(many: ManySizes, rows: GivenRows, n_shown: int, n_threads: int | None) -> NumberErrors:
    """Predict the rows at every size, a block at a time."""
    model = many.models[0]
    assert isinstance(model, FittedModel)
    n_sizes, n_targets, shown = len(many.models), rows.y.shape[1], rows.some(n_shown)
    squared, absolute = np.zeros((n_sizes, n_targets)), np.zeros((n_sizes, n_targets))
    loss, predicted, n_faded = np.zeros(n_sizes), np.empty((n_sizes, n_targets, len(shown))), 0
    unit = 1.0 if model.units is None else model.units[:, None]
    for block in slices(len(rows), many.rows_at_once):
        X, y = rows.X[block], rows.y[block]
        n_faded += 0 if model.outside is None else int((model.fade(X) < 1.0).sum())
        (here,) = np.nonzero((shown >= block.start) & (shown < block.stop))
        for i, scores in enumerate(many.scores(X, n_threads)):
            mean = model.mean(scores)
            squared[i] += np.square(y - mean).sum(axis=0)
            absolute[i] += np.abs(y - mean).sum(axis=0)
            loss[i] += model.measure.losses(y.T / unit, scores.T / unit).sum()
            predicted[i][:, here] = mean[shown[here] - block.start].T
    n = len(rows)
    variance = rows.y.var(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(variance > 0, 1.0 - squared / n / variance, np.nan)
    return NumberErrors(
        squared / n,
        absolute / n,
        explained,
        loss=loss / n,
        shown=shown,
        predicted=predicted,
        n_faded=n_faded,
    )


@dataclass(frozen=True)
class Intervals:
    """Half widths of intervals at every size.

    left_out  that hold this fraction of the training rows, each left out, shape (n_sizes, n_targets, n_coverages)
    n_rows    of the rows given that intervals were made for, or 0
    held      the fraction of their targets inside, same shape, or None
    width     mean half width on these rows, or None
    """

    left_out: np.ndarray
    n_rows: int
    held: np.ndarray | None
    width: np.ndarray | None


def intervals_of(many: ManySizes, rows: GivenRows | None, n_threads: int | None) -> Intervals | None:
    """Intervals of every size, and what they hold of the rows given; None without leave-one-out errors."""
    first = many.models[0]
    if not isinstance(first, FittedModel) or first.path.loo_quantiles is None:
        return None
    models = [one for one in many.models if isinstance(one, FittedModel)]
    left_out = np.array([[one.path.half_width(one.n_steps, c) for c in COVERAGES] for one in models]).transpose(0, 2, 1)
    if rows is None:
        return Intervals(left_out, 0, held=None, width=None)
    some = rows.some(INTERVAL_ROWS)
    X, y = rows.X[some], rows.y[some]
    held, width = np.empty(left_out.shape), np.empty(left_out.shape)
    for i, (one, scores) in enumerate(zip(models, many.scores(X, n_threads))):
        mean = one.mean(scores)
        for j, half in enumerate(_half_widths(one, X, mean, n_threads)):
            held[i, :, j] = (np.abs(y - mean) <= half).mean(axis=0)
            width[i, :, j] = half.mean(axis=0)
    return Intervals(left_out, len(some), held=held, width=width)


def _half_widths(model: FittedModel, X: Matrix, mean: np.ndarray, n_threads: int | None) -> Iterator[np.ndarray]:
    """Yield half the widths of intervals of each coverage, shape (n_rows, n_targets)."""
    scale = model.error_scale
    if scale is None:
        for coverage in COVERAGES:
            yield np.broadcast_to(model.half_widths(X, mean, coverage, n_threads), mean.shape)
        return
    # All coverages have one scale of the error at x, which is what costs time, and a factor each.
    widest, factor = model.half_widths(X, mean, COVERAGES[-1], n_threads), scale.half_width(COVERAGES[-1])
    for coverage in COVERAGES:
        yield widest * np.divide(scale.half_width(coverage), factor, out=np.zeros_like(factor), where=factor > 0)
