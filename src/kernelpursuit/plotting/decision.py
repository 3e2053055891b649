"""What a classifier decides: the plane of two features, shaded by class, with rows and centres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_option
from kernelpursuit.plotting.frames import as_frame, columns_of
from kernelpursuit.plotting.parts import (
    CLASS_COLOURS,
    best_of,
    feature_names,
    figure_and_axes,
    frame_like,
    in_input_space,
    legend_above,
    literal,
    mixed_with_white,
)
from kernelpursuit.rows import dense

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

# Points on each axis at which scores are computed.
GRID_POINTS = 160
# Empty room around the rows, as a part of their range.
ROOM = 0.06
# How classes are marked; never by circles, which stand for centres.
MARKERS = ("x", "+", "^", "s", "v", "D", "*", "p")
RESPONSES = {"score": "decision_function", "probability": "predict_proba"}


@dataclass
class DecisionDisplay:
    """A fitted classifier of two features: predicted classes, rows by class, and centres in circles.

    The plane is shaded by the score or the probability of a class, and a black line is drawn where the decision turns.
    Two classes are marked by x (the first) and + (the second), as in Vincent and Bengio (2002).

    Attributes
    ----------
    X : array of shape (n_samples, 2)
        Rows.
    y : array of shape (n_samples,)
        Their classes.
    classes : array of shape (n_classes,)
        All classes, in the order of the classifier.
    response : str
        What is shown, "score" or "probability".
    axes : list of two arrays
        Points on the axis of each feature.
    values : array of shape (n_points, n_points) or (n_points, n_points, n_classes)
        Score or probability at those points: of two classes, that of the second, else of each. The second feature
        runs along the rows.
    centers : array of shape (n_centers, 2) or None
        Distinct centres of the kept atoms, or the support vectors; None where there are none to show.
    center_name : str
        What these are called.
    names : list of str
        Names of the features.
    """

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    response: str
    axes: list[np.ndarray]
    values: np.ndarray
    centers: np.ndarray | None
    center_name: str
    names: list[str]
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Matrix,
        y: ArrayLike,
        *,
        response: str = "score",
        ax: Axes | None = None,
        colorbar: bool = True,
        legend: bool = True,
    ) -> Self:
        """Draw a fitted classifier beside data.

        Parameters
        ----------
        estimator : fitted classifier
            A `KernelPursuitClassifier`, scikit-learn's `SVC` or any other classifier, or a pipeline or search
            around it.
        X : array, CSR matrix or frame of shape (n_samples, 2)
            Rows to show.
        y : array of shape (n_samples,)
            Their classes.
        response : {"score", "probability"}, default="score"
            What to shade by: `decision_function` or `predict_proba`.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.
        colorbar : bool, default=True
            Whether to explain the shading of two classes by a colour bar.
        legend : bool, default=True
            Whether to put a legend above the axes.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kernelpursuit import KernelPursuitClassifier
        >>> from kernelpursuit.plotting import DecisionDisplay
        >>> X, y = make_moons(100, noise=0.2, random_state=0)
        >>> model = KernelPursuitClassifier(gamma=1.0, max_atoms=10).fit(X, y)
        >>> display = DecisionDisplay.from_estimator(model, X, y)
        """
        estimator = best_of(estimator)
        check_option("response", response, RESPONSES)
        rows = dense(X, np.float64)
        _check_classifier(estimator, rows, response)
        labels, classes = np.asarray(y), np.asarray(estimator.classes_)
        unseen = np.setdiff1d(labels, classes)
        if len(unseen):
            raise ValueError(f"y holds the label {unseen.tolist()[0]!r}, which the classifier has not been fitted on.")
        axes = [_stretched(column) for column in rows.T]
        grid = np.stack(np.meshgrid(*axes), axis=-1)
        points = frame_like(X, grid.reshape(-1, 2))
        values = np.asarray(getattr(estimator, RESPONSES[response])(points), dtype=np.float64)
        if values.ndim == 2 and len(classes) == 2:
            values = values[:, 1]
        centers, center_name = _centers(estimator)
        return cls(
            X=rows,
            y=labels,
            classes=classes,
            response=response,
            axes=axes,
            values=values.reshape(*grid.shape[:2], *values.shape[1:]),
            centers=centers,
            center_name=center_name,
            names=feature_names(X, 2),
        ).plot(ax=ax, colorbar=colorbar, legend=legend)

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True, legend: bool = True) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        if self.values.ndim == 2:
            self._shade_two(ax, colorbar)
        else:
            self._shade_several(ax)
        for j, label in enumerate(self.classes):
            marker, colour = MARKERS[j % len(MARKERS)], CLASS_COLOURS[j % len(CLASS_COLOURS)]
            of_class = self.X[self.y == label].T
            # Markers without a face have thicker lines; the others have a white rim, by which they stand out.
            style: dict[str, Any] = {"mew": 1.7, "ms": 7} if marker in "x+" else {"mew": 0.6, "mec": "white", "ms": 6.5}
            ax.plot(*of_class, marker, color=colour, ls="none", zorder=4, label=literal(f"class {label}"), **style)
        if self.centers is not None and len(self.centers):
            circles: dict[str, Any] = {"ms": 12, "mfc": "none", "mec": "black", "mew": 1.2, "ls": "none", "zorder": 5}
            ax.plot(*self.centers.T, "o", label=_counted(len(self.centers), self.center_name), **circles)
        ax.set(xlabel=literal(self.names[0]), ylabel=literal(self.names[1]))
        # Centres given by the user may lie outside the data; the picture is of the data.
        ax.set(xlim=self.axes[0][[0, -1]], ylim=self.axes[1][[0, -1]])
        if legend:
            legend_above(ax)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the points of the grid and the scores or probabilities there; for two classes, those of the second."""
        points = np.stack(np.meshgrid(*self.axes), axis=-1).reshape(-1, 2)
        values = self.values.reshape(len(points), -1)
        labels = self.classes[1:] if values.shape[1] == 1 else self.classes
        shown = [f"{self.response} of class {label}" for label in labels]
        return as_frame([*columns_of(points, self.names), *columns_of(values, shown)])

    def _shade_two(self, ax: Axes, colorbar: bool) -> None:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.ticker import MaxNLocator

        middle = 0.5 if self.response == "probability" else 0.0
        reach = 0.5 if self.response == "probability" else _reach(np.abs(self.values))
        first, second = (mixed_with_white(colour, 0.45) for colour in CLASS_COLOURS[:2])
        shades = LinearSegmentedColormap.from_list("classes", np.array([first, np.ones(3), second]))
        levels = np.linspace(middle - reach, middle + reach, 21)
        extend = "neither" if self.response == "probability" else "both"
        filled = ax.contourf(*self.axes, self.values, levels=levels, cmap=shades, extend=extend)
        _border(ax, self.axes, self.values - middle)
        if colorbar:
            # Only ticks within: at the pointed ends, labels would lie on each other.
            ticks = MaxNLocator(5).tick_values(levels[0], levels[-1])
            within = ticks[(ticks >= levels[0]) & (ticks <= levels[-1])]
            bar = ax.figure.colorbar(filled, ax=ax, pad=0.02, ticks=within)
            bar.set_label(literal(f"{self.response} of class {self.classes[1]}"))

    def _shade_several(self, ax: Axes) -> None:
        colours = np.array(
            [mixed_with_white(CLASS_COLOURS[j % len(CLASS_COLOURS)], 1) for j in range(len(self.classes))]
        )
        ordered = np.sort(self.values, axis=-1)
        lead = ordered[..., -1] - ordered[..., -2]
        reach = 1.0 if self.response == "probability" else _reach(lead)
        strength = 0.1 + 0.35 * np.clip(lead / reach, 0, 1)[..., None]
        shades = 1 - strength * (1 - colours[self.values.argmax(axis=-1)])
        extent = (*self.axes[0][[0, -1]], *self.axes[1][[0, -1]])
        ax.imshow(shades, origin="lower", extent=extent, aspect="auto", interpolation="bilinear", zorder=0)
        for j in range(len(self.classes)):
            _border(ax, self.axes, self.values[..., j] - np.delete(self.values, j, axis=-1).max(axis=-1))


def _check_classifier(estimator: BaseEstimator, rows: np.ndarray, response: str) -> None:
    """Refuse what has no classes, no two features, or not the response."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    name = type(model).__name__
    if not hasattr(model, "classes_"):
        raise ValueError(f"{name} has no classes to draw; give a fitted classifier, or use FitDisplay for a regressor.")
    if rows.ndim != 2 or rows.shape[1] != 2:
        n_features = rows.shape[1] if rows.ndim == 2 else 1
        raise ValueError(
            f"DecisionDisplay draws the plane of two features, but X has {n_features}; fit on two of them."
        )
    if isinstance(getattr(model, "kernel", None), str) and model.kernel == "precomputed":
        raise ValueError(
            "DecisionDisplay needs two features, but kernel='precomputed' has none; give rows and a kernel."
        )
    if not hasattr(estimator, RESPONSES[response]):
        other = next(name for name in RESPONSES if name != response)
        raise ValueError(f"{name} has no {RESPONSES[response]}; use response={other!r}.")
    if getattr(model, "decision_function_shape", "ovr") == "ovo" and len(model.classes_) > 2:
        raise ValueError("DecisionDisplay needs a score for each class; fit with decision_function_shape='ovr'.")


def _centers(estimator: BaseEstimator) -> tuple[np.ndarray | None, str]:
    """Distinct centres or support vectors in the space of the estimator's own input, and what they are called."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if hasattr(model, "support_vectors_"):
        return in_input_space(estimator, model.support_vectors_), "support vector"
    centers = in_input_space(estimator, getattr(model, "centers_", None))
    return (None if centers is None else np.unique(centers, axis=0)), "centre"


def _stretched(column: np.ndarray) -> np.ndarray:
    """Points from somewhat below the least to somewhat above the largest value."""
    low, high = column.min(), column.max()
    room = ROOM * (high - low) or 1.0
    return np.linspace(low - room, high + room, GRID_POINTS)


def _reach(sizes: np.ndarray) -> float:
    """Size at which shades are full: as large as most values, so that a few huge ones leave no blank plane."""
    return float(np.quantile(sizes, 0.9)) or 1.0


def _border(ax: Axes, axes: list[np.ndarray], values: np.ndarray) -> None:
    """Black line where values are zero, if they are anywhere."""
    if values.min() < 0 < values.max():
        ax.contour(*axes, values, levels=[0.0], colors="black", linewidths=1.6, zorder=3)


def _counted(n: int, name: str) -> str:
    return f"{n} {name}" if n == 1 else f"{n} {name}s"
