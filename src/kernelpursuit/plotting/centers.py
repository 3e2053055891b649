"""Where the centres of a model are among the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.plotting.dependence import background, centers_of
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    BLUE,
    GREY,
    ORANGE,
    best_of,
    dots,
    figure_and_axes,
    kernel_model,
    legend_above,
    literal,
    names_in_model,
    place_of_target,
    shortened,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

# Areas of circles, in points squared, of the smallest and of the largest weight.
AREAS = (12.0, 220.0)


@dataclass
class CentersDisplay:
    """Centres in the plane of the first two principal components of the rows, sized by their coefficients.

    Features are standardised. A model of two features is drawn in their own plane; with one feature, weights are the
    height. Of several targets, sizes are roots of sums of squared weights. Positive weights are blue circles, negative
    ones orange diamonds.

    Attributes
    ----------
    points : array of shape (n_centers, 2)
        Where the centres are drawn.
    rows : array of shape (n_samples, 2) or None
        Where the rows are drawn.
    weights : array of shape (n_centers,)
        Weights; of several targets, roots of sums of squares.
    names : list of str
        What the axes are.
    is_signed : bool
        Whether weights are those of one target.
    """

    points: np.ndarray
    rows: np.ndarray | None
    weights: np.ndarray
    names: list[str]
    is_signed: bool
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Matrix = None,
        *,
        target: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the centres of a model, and rows behind them.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor or KernelPursuitClassifier
            The model, or a pipeline or search around it. In a pipeline, features are those that its last step sees.
        X : array, CSR matrix or frame of shape (n_samples, n_features), optional
            Rows to draw and to take principal components of; without them, these are those of the centres.
        target : int, optional
            Which weights to show, of several targets or classes; by default all of them, without a sign.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import CentersDisplay
        >>> X, y = make_friedman(200)
        >>> model = KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(X, y)
        >>> display = CentersDisplay.from_estimator(model, X)
        """
        estimator = best_of(estimator)
        model = kernel_model(estimator)
        rows = None if X is None else background(estimator, model, X)
        centers, which = centers_of(model)
        if not len(centers):
            raise ValueError("The model has no centres to draw; atoms of functions and lines have none.")
        names = names_in_model(estimator, model, centers.shape[1])
        coef = model.model_.coef[:, which]
        is_signed = target is not None or len(coef) == 1
        weights = coef[place_of_target(target, len(coef))] if is_signed else np.sqrt(np.square(coef).sum(axis=0))
        map_to, axes = _plane(centers if rows is None else rows, names)
        points = map_to(centers)
        if centers.shape[1] == 1:
            points, rows, axes = np.column_stack([points, weights]), None, [*axes, "weight"]
        return cls(points, None if rows is None else map_to(rows), weights, names=axes, is_signed=is_signed).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        from matplotlib.collections import PathCollection

        ax = self.ax_
        if self.rows is not None:
            style = {**dots(len(self.rows)), "color": GREY, "zorder": 1}
            ax.plot(*self.rows.T, label=f"{len(self.rows)} rows", **style)
        sizes = np.abs(self.weights)
        areas = AREAS[0] + (AREAS[1] - AREAS[0]) * sizes / (sizes.max(initial=0.0) or 1.0)
        # Many circles are smaller and thinner, and the large ones lie below.
        areas = areas * min(1.0, np.sqrt(60 / max(len(sizes), 1)))
        order = np.argsort(-sizes, kind="stable")
        kinds: list[tuple[str, str, str, np.ndarray]] = [("o", BLUE, "weights of either sign", sizes >= 0)]
        if self.is_signed:
            kinds = [
                ("o", BLUE, "positive weight", self.weights >= 0),
                ("D", ORANGE, "negative weight", self.weights < 0),
            ]
        for marker, colour, label, mask in kinds:
            mine = order[mask[order]]
            look: dict[str, Any] = {"alpha": 0.7, "edgecolors": "white", "linewidths": 0.8, "zorder": 3}
            shrink = 0.7 if marker == "D" else 1.0
            if len(mine):
                x, y = self.points[mine].T
                ax.scatter(
                    x, y, s=shrink * areas[mine], marker=marker, color=colour, label=f"{label}: {len(mine)}", **look
                )
        ax.set(xlabel=literal(self.names[0]), ylabel=literal(self.names[1]))
        if self.names[1] == "weight":
            ax.axhline(0.0, color=GREY, lw=0.8, zorder=1)
        ax.margins(0.06)
        tidy(ax)
        legend_above(ax)
        # Marks of one size in the legend, whatever the first weight is.
        legend = ax.get_legend()
        for handle in [] if legend is None else legend.legend_handles:
            if isinstance(handle, PathCollection):
                handle.set_sizes([40.0])
        return self

    def frame(self) -> pd.DataFrame:
        """Return the positions of the centres in the plot, and their coefficients."""
        first, second = self.names if self.names[1] != "weight" else [self.names[0], "height"]
        return as_frame([(first, self.points[:, 0]), (second, self.points[:, 1]), ("weight", self.weights)])


def _plane(rows: np.ndarray, names: list[str]) -> tuple[Any, list[str]]:
    """How rows are drawn: a function from rows to points, and names of the axes."""
    if len(names) <= 2:
        return (lambda given: given), [shortened(name, 40) for name in names]
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    _, sizes, turn = np.linalg.svd((rows - mean) / spread, full_matrices=False)
    turn = np.vstack([turn, np.zeros((2, len(names)))])[:2]
    # The largest entry of each component is positive, so that the picture does not flip with a library's version.
    signs = np.sign(turn[np.arange(2), np.abs(turn).argmax(axis=1)])
    turn = turn * np.where(signs == 0, 1.0, signs)[:, None]
    parts = np.square(np.append(sizes, [0.0, 0.0])[:2]) / (np.square(sizes).sum() or 1.0)
    axes = [f"principal component {i + 1} ({100 * part:.0f} % of the variance)" for i, part in enumerate(parts)]
    return (lambda given: ((given - mean) / spread) @ turn.T), axes
