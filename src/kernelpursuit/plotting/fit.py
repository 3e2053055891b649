"""The fit itself: a curve, a surface, or predictions against targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit.model import FittedModel
from kernelpursuit.plotting.frames import as_frame, columns_of
from kernelpursuit.plotting.parts import (
    BLUE,
    ORANGE,
    best_of,
    feature_names,
    figure_and_axes,
    frame_like,
    in_input_space,
    kernel_model,
    legend_above,
    literal,
    no_classes,
    one_target,
    tidy,
)
from kernelpursuit.rows import dense

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

# Points on each axis at which a curve or a surface is computed.
CURVE_POINTS, SURFACE_POINTS = 500, 120


@dataclass
class FitDisplay:
    """A fitted model beside the data: a curve, a surface, or predicted against actual targets.

    One feature gives a curve with the band of two standard deviations in which new observations should fall;
    two give filled contours; more, or a precomputed kernel, give predicted against actual targets.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Rows.
    y : array of shape (n_samples,)
        Targets.
    prediction : array of shape (n_samples,)
        Predictions at `X`.
    axes : list of arrays
        Points on the axis of each feature, for one or two features; else empty.
    values : array of shape (n_points,) or (n_points, n_points), or None
        Predictions at those points; for two features, the second one runs along the rows.
    std : array of the shape of `values`, or None
        Their standard deviations.
    centers : array of shape (n_centers, n_features) or None
        Centres of the kept atoms, as far as these have any.
    center_values : array of shape (n_centers,) or None
        Predictions there.
    names : list of str
        Names of the features.
    """

    X: np.ndarray
    y: np.ndarray
    prediction: np.ndarray
    axes: list[np.ndarray]
    values: np.ndarray | None
    std: np.ndarray | None
    centers: np.ndarray | None
    center_values: np.ndarray | None
    names: list[str]
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: Matrix, y: ArrayLike, *, target: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw a fitted estimator beside data.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor
            The model, or a pipeline or search around it.
        X : array, CSR matrix or frame of shape (n_samples, n_features)
            Rows to show.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        target : int
            Which one to show, of several targets.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_chirp
        >>> from kernelpursuit.plotting import FitDisplay
        >>> X, y = make_chirp()
        >>> model = KernelPursuitRegressor(gamma=3.0).fit(X, y)
        >>> display = FitDisplay.from_estimator(model, X, y)
        """
        estimator = best_of(estimator)
        no_classes(estimator, "FitDisplay", "DecisionDisplay")

        def predict(rows: np.ndarray, **options: Any) -> Any:
            return estimator.predict(frame_like(X, rows), **options)

        def pick(values: ArrayLike) -> np.ndarray:
            return one_target(values, target)

        rows = dense(X, np.float64)
        n_features = rows.shape[1]
        drawable = n_features <= 2 and not kernel_model(estimator).model_.is_precomputed
        axes, values, std, centers, center_values = [], None, None, None, None
        if drawable:
            model = kernel_model(estimator)
            n_points = CURVE_POINTS if n_features == 1 else SURFACE_POINTS
            axes = [np.linspace(low, high, n_points) for low, high in zip(rows.min(axis=0), rows.max(axis=0))]
            grid = np.stack(np.meshgrid(*axes), axis=-1)
            points = grid.reshape(-1, n_features)
            values = pick(predict(points)).reshape(grid.shape[:-1])
            assert isinstance(model.model_, FittedModel)
            if model.path_.models.factor(model.model_.n_steps) is not None:
                std = pick(predict(points, return_std=True)[1]).reshape(grid.shape[:-1])
            centers = in_input_space(estimator, model.centers_)
            if centers is not None and len(centers):
                center_values = pick(predict(centers))
        display = cls(
            X=rows,
            y=pick(y),
            prediction=pick(estimator.predict(X)),
            axes=axes,
            values=values,
            std=std,
            centers=centers,
            center_values=center_values,
            names=feature_names(X, n_features),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        draw = {1: self._curve, 2: self._surface}.get(len(self.axes), self._scatter)
        draw(self.ax_)
        return self

    def frame(self) -> pd.DataFrame:
        """Return rows, targets and predictions."""
        columns = columns_of(self.X, self.names)
        return as_frame([*columns, ("target", self.y), ("prediction", self.prediction)])

    def _curve(self, ax: Axes) -> None:
        assert self.values is not None
        x, std = self.axes[0], self.std
        ax.plot(self.X[:, 0], self.y, ".", color="#444444", ms=5, mew=0, alpha=0.6, label="data")
        if std is not None and np.isfinite(std).all():
            label = "± 2 standard deviations"
            ax.fill_between(x, self.values - 2 * std, self.values + 2 * std, color=BLUE, alpha=0.15, lw=0, label=label)
        ax.plot(x, self.values, color=BLUE, lw=1.8, label="prediction")
        if self.centers is not None and self.center_values is not None:
            style: dict[str, Any] = {"ms": 7, "mfc": ORANGE, "mec": "white", "mew": 1.0, "ls": "none", "zorder": 5}
            ax.plot(self.centers[:, 0], self.center_values, "o", label=f"{len(self.centers)} centres", **style)
        ax.set(xlabel=literal(self.names[0]), ylabel="target")
        ax.margins(x=0.02)
        tidy(ax)
        legend_above(ax)

    def _surface(self, ax: Axes) -> None:
        filled = ax.contourf(*self.axes, self.values, levels=16, cmap="cividis")
        ax.figure.colorbar(filled, ax=ax, label="prediction", pad=0.02)
        ax.plot(self.X[:, 0], self.X[:, 1], ".", color="white", ms=2, mew=0, alpha=0.5)
        if self.centers is not None:
            style: dict[str, Any] = {"ms": 8, "mfc": "none", "mec": "white", "mew": 1.8, "ls": "none", "zorder": 5}
            ax.plot(self.centers[:, 0], self.centers[:, 1], "o", **style)
        ax.set(xlabel=literal(self.names[0]), ylabel=literal(self.names[1]))
        n_centers = 0 if self.centers is None else len(self.centers)
        ax.set_title(f"{n_centers} centres (circles) of {len(self.y)} points", fontsize="medium")
        # Centres given by the user may lie outside the data; the picture is of the data.
        ax.set(xlim=self.axes[0][[0, -1]], ylim=self.axes[1][[0, -1]])

    def _scatter(self, ax: Axes) -> None:
        low = min(self.y.min(), self.prediction.min())
        high = max(self.y.max(), self.prediction.max())
        error = np.sqrt(np.mean(np.square(self.y - self.prediction)))
        ax.plot([low, high], [low, high], color=ORANGE, lw=1.2, zorder=1, label="perfect")
        label = f"{len(self.y)} rows, root mean squared error {error:.3g}"
        ax.plot(self.y, self.prediction, ".", color=BLUE, ms=5, mew=0, alpha=0.5, label=label)
        ax.set(xlabel="target", ylabel="prediction")
        tidy(ax)
        ax.legend(frameon=False, fontsize="small", loc="upper left")
