"""Errors of a regressor: residuals, or predictions against true targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_option
from kernelpursuit.estimators.checks import check_targets
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    BLUE,
    ORANGE,
    best_of,
    dots,
    figure_and_axes,
    legend_above,
    no_classes,
    one_target,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

KINDS = ("residual", "predicted")
# Rows in a group whose median residual is drawn, at least, and most of these groups.
GROUP_ROWS, MOST_GROUPS = 20, 15


@dataclass
class ResidualsDisplay:
    """Residuals against predictions, or predictions against true targets.

    A residual is the target less the prediction. Groups of rows with neighbouring predictions show whether residuals
    are zero in the middle everywhere (black line) and how they spread (the band holds 80 % of each group).

    Attributes
    ----------
    y : array of shape (n_samples,)
        Targets.
    prediction : array of shape (n_samples,)
        Predictions.
    kind : str
        What `plot` draws, "residual" or "predicted".
    """

    y: np.ndarray
    prediction: np.ndarray
    kind: str = "residual"
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Matrix,
        y: ArrayLike,
        *,
        kind: str = "residual",
        target: int = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Predict rows and draw the residuals.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor
            The model, or a pipeline or search around it.
        X : array, CSR matrix or frame of shape (n_samples, n_features)
            Rows, best those that the model was not fitted on.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        kind : {"residual", "predicted"}, default="residual"
            Whether to draw residuals against predictions, or predictions against targets.
        target : int
            Which one to show, of several targets.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import ResidualsDisplay
        >>> X, y = make_friedman(200)
        >>> model = KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(X[:100], y[:100])
        >>> display = ResidualsDisplay.from_estimator(model, X[100:], y[100:])
        """
        check_option("kind", kind, KINDS)
        estimator = best_of(estimator)
        no_classes(estimator, "ResidualsDisplay", "ReliabilityDisplay")
        prediction = one_target(estimator.predict(X), target)
        y = one_target(check_targets(estimator, y, len(prediction)), target)
        return cls(y, prediction, kind).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        residual = self.y - self.prediction
        error = np.sqrt(np.mean(np.square(residual)))
        label = f"{len(self.y)} rows, root mean squared error {error:.3g}"
        if self.kind == "residual":
            ax.plot(self.prediction, residual, color=BLUE, label=label, **dots(len(self.y)))
            ax.axhline(0.0, color=ORANGE, lw=1.2, zorder=1)
            self._groups(ax, residual)
            ax.set(xlabel="prediction", ylabel="target less prediction")
        else:
            ends = [min(self.y.min(), self.prediction.min()), max(self.y.max(), self.prediction.max())]
            ax.plot(self.y, self.prediction, color=BLUE, label=label, **dots(len(self.y)))
            ax.plot(ends, ends, color=ORANGE, lw=1.2, zorder=3, label="perfect")
            ax.set(xlabel="target", ylabel="prediction")
        tidy(ax)
        legend_above(ax, ncols=3)
        return self

    def frame(self) -> pd.DataFrame:
        """Return targets, predictions and residuals."""
        return as_frame({"target": self.y, "prediction": self.prediction, "residual": self.y - self.prediction})

    def _groups(self, ax: Axes, residual: np.ndarray) -> None:
        """Draw the median and the middle 80 % of the residuals in groups of rows with neighbouring predictions."""
        n_groups = min(len(residual) // GROUP_ROWS, MOST_GROUPS)
        if n_groups < 3:
            return
        groups = np.array_split(np.argsort(self.prediction, kind="stable"), n_groups)
        middle = [np.median(self.prediction[rows]) for rows in groups]
        low, median, high = np.array([np.quantile(residual[rows], [0.1, 0.5, 0.9]) for rows in groups]).T
        style: dict[str, Any] = {"color": "black", "lw": 0, "alpha": 0.12, "zorder": 2}
        ax.fill_between(middle, low, high, label="middle 80 %", **style)
        ax.plot(middle, median, color="black", lw=1.6, zorder=3, label="median")
