"""How predictions depend on one feature, the others being what they are in rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.estimators.checks import check_coverage
from kernelpursuit.model import FittedModel
from kernelpursuit.model.dependence import grid_over, individual_dependence
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    BLUE,
    GREY,
    best_of,
    figure_and_axes,
    kernel_model,
    legend_above,
    literal,
    names_in_model,
    place_of_class,
    place_of_target,
    shortened,
    tidy,
)
from kernelpursuit.rows import dense

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

    from kernelpursuit.estimators.base import BaseKernelPursuit

# Rows that predictions are averaged over, and lines of single rows that are drawn.
MOST_ROWS, DRAWN_ROWS = 200, 30


@dataclass
class DependenceDisplay:
    """Partial dependence: the average prediction against one feature, with intervals and single rows (Friedman 2001).

    Values that go with no row of the data, since features hang together, count like all others.

    Attributes
    ----------
    points : array of shape (n_points,)
        Values of the feature.
    average : array of shape (n_points,)
        Predictions on average over the rows.
    lower, upper : arrays of shape (n_points,) or None
        Ends of the intervals on average over the rows: how far single targets are off, not the average.
    each : array of shape (n_points, n_rows)
        Predictions of single rows.
    values : array of shape (n_rows,)
        The feature in the rows.
    feature : str
        Its name.
    output : str
        What is predicted.
    coverage : float or None
        What intervals should hold.
    """

    points: np.ndarray
    average: np.ndarray
    lower: np.ndarray | None
    upper: np.ndarray | None
    each: np.ndarray
    values: np.ndarray
    feature: str
    output: str
    coverage: float | None
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        feature: int | str,
        X: Matrix = None,
        *,
        target: Any = None,
        coverage: float | None = 0.9,
        n_points: int = 40,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the partial dependence of a model on a feature.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor or KernelPursuitClassifier
            The model, or a pipeline or search around it. In a pipeline, features are those that its last step sees.
        feature : int or str
            The feature, by its place or by its name.
        X : array, CSR matrix or frame of shape (n_samples, n_features), optional
            Rows over which predictions are averaged; by default the centres of the model, of which a model that was
            saved and loaded has no more. Of more than 200 rows, 200 are taken, evenly.
        target : optional
            The place of one of several targets, by default the first; of a classifier, the class whose probability is
            shown, by default the last.
        coverage : float or None, default=0.9
            What intervals should hold; None for none. Classifiers, and regressors without leave-one-out errors (another
            loss or update), have none.
        n_points : int, default=40
            Values of the feature, evenly over its range.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import DependenceDisplay
        >>> X, y = make_friedman(200)
        >>> model = KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(X, y)
        >>> display = DependenceDisplay.from_estimator(model, 3, X)
        """
        n_points = check_number("n_points", n_points, low=2, integer=True)
        coverage = None if coverage is None else check_coverage("coverage", coverage)
        estimator = best_of(estimator)
        model = kernel_model(estimator)
        names = names_in_model(estimator, model, model.n_features_in_)
        place = place_of(feature, names)
        rows = background(estimator, model, X)
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).round().astype(int)]
        points = grid_over(rows[:, place], n_points)
        column, output = _output(model, target)
        each = individual_dependence(model.model_, rows, [place], points, n_threads=model._n_threads)[:, :, column]
        lower = upper = None
        if coverage is not None and not hasattr(model, "classes_") and model.path_.loo_quantiles is not None:
            lower, upper = _mean_interval(model, rows, place, points=points, coverage=coverage)[:, :, column]
        return cls(
            points=points,
            average=each.mean(axis=1),
            lower=lower,
            upper=upper,
            each=each,
            values=rows[:, place],
            feature=names[place],
            output=output,
            coverage=None if lower is None else coverage,
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax, points = self.ax_, self.points
        n = self.each.shape[1]
        some = np.unique(np.linspace(0, n - 1, min(n, DRAWN_ROWS)).round().astype(int))
        style: dict[str, Any] = {"marker": "."} if len(points) < 10 else {}
        if self.lower is not None and self.upper is not None and np.isfinite(self.upper).all():
            label = f"{100 * (self.coverage or 0):.3g} % interval, on average"
            ax.fill_between(points, self.lower, self.upper, color=BLUE, alpha=0.13, lw=0, label=label)
        lines = ax.plot(points, self.each[:, some], color=GREY, lw=0.6, alpha=0.5, zorder=2)
        lines[0].set_label("single rows")
        ax.plot(points, self.average, color=BLUE, lw=2.2, zorder=4, label=f"average of {n} rows", **style)
        # Where the rows are: short strokes on the axis.
        along = ax.get_xaxis_transform()
        ax.vlines(self.values, 0, 0.025, color="black", lw=0.6, alpha=0.5, transform=along, zorder=5)
        ax.set(xlabel=literal(shortened(self.feature, 60)), ylabel=literal(shortened(self.output, 40)))
        ax.margins(x=0.02)
        tidy(ax)
        legend_above(ax)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the average and the ends of the interval at every point."""
        ends = [("lower", self.lower), ("upper", self.upper)]
        return as_frame([(self.feature, self.points), ("average", self.average), *ends])


def background(estimator: BaseEstimator, model: BaseKernelPursuit, X: Matrix) -> np.ndarray:
    """Rows as the model sees them: those that are given, or its centres."""
    if model.model_.is_precomputed:
        raise ValueError("kernel='precomputed' has no features that could be shown; fit with a kernel.")
    if X is not None:
        seen = estimator[:-1].transform(X) if isinstance(estimator, Pipeline) and len(estimator) > 1 else X
        return dense(model._rows(seen, model.n_atoms_), np.float64)
    centers = centers_of(model)[0]
    if not len(centers):
        raise ValueError("The model has no centres that could stand for rows; give X.")
    return centers


def centers_of(model: BaseKernelPursuit) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the atoms that have some, and which atoms these are."""
    if model.centers_ is None:
        return np.zeros((0, model.n_features_in_)), np.zeros(0, dtype=np.intp)
    centers = dense(model.centers_, np.float64)
    known = np.flatnonzero(np.isfinite(centers).all(axis=1))
    return centers[known], known


def place_of(feature: int | str, names: list[str]) -> int:
    """Place of a feature that is given by its place or its name."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature={feature!r} is not known; give a place or one of {', '.join(names[:10])}.")
        return names.index(feature)
    place: int = check_number("feature", feature, low=0, integer=True)
    if place >= len(names):
        raise ValueError(f"feature={place} is not there; give a place from 0 to {len(names) - 1}, or a name.")
    return place


def _output(model: BaseKernelPursuit, target: Any) -> tuple[int, str]:
    """The column of what is predicted, and what it is called."""
    if not hasattr(model, "classes_"):
        place = place_of_target(target, model.path_.n_targets)
        return place, "prediction" if model._y_ndim == 1 else f"prediction of target {place}"
    place = place_of_class(target, np.asarray(model.classes_), "target")
    return place, f"probability of class {model.classes_[place]}"


def _mean_interval(
    model: BaseKernelPursuit, rows: np.ndarray, place: int, *, points: np.ndarray, coverage: float
) -> np.ndarray:
    """Ends of intervals on average over rows, shape (2, n_points, n_targets)."""
    fitted, out = model.model_, []
    assert isinstance(fitted, FittedModel), "a regressor has one model"
    for point in points:
        block = rows.copy()
        block[:, place] = point
        mean = fitted.mean(fitted.scores(block, model._n_threads))
        half = np.broadcast_to(fitted.half_widths(block, mean, coverage, model._n_threads), mean.shape)
        out.append([(mean - half).mean(axis=0), (mean + half).mean(axis=0)])
    return np.array(out).transpose(1, 0, 2)
