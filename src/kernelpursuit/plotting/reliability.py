"""Whether probabilities of classes come true as often as they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.estimators.labels import check_known_kind
from kernelpursuit.plotting.fractions import by_chance, draw_fractions
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    GREY,
    ORANGE,
    best_of,
    figure_and_axes,
    legend_above,
    literal,
    place_of_class,
    shortened,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator


@dataclass
class ReliabilityDisplay:
    """Frequencies of a class against its predicted probabilities.

    Of two classes, it is the second; of more, the predicted class and its probability, or a class that is named. Grey
    bars are the fractions of rows in each bin. The expected calibration error is the mean distance between probability
    and frequency over rows, bin by bin (Naeini et al. 2015).

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Between which probabilities a bin is.
    probability : array of shape (n_bins,)
        Mean probability in each bin; NaN where it is empty.
    frequency : array of shape (n_bins,)
        Fraction of the rows of that bin in which the class is the true one.
    low, high : arrays of shape (n_bins,)
        What that may be by chance (Wilson's score interval, 90 %).
    n_rows : array of shape (n_bins,)
        Rows in each bin.
    error : float
        Expected calibration error.
    name : str
        Whose probability it is.
    """

    edges: np.ndarray
    probability: np.ndarray
    frequency: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: np.ndarray
    error: float
    name: str
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Matrix,
        y: ArrayLike,
        *,
        label: Any = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Predict probabilities and compare them with frequencies.

        Parameters
        ----------
        estimator : fitted classifier
            A `KernelPursuitClassifier` or any other with `predict_proba`, or a pipeline or search around it.
        X : array, CSR matrix or frame of shape (n_samples, n_features)
            Rows that the model was not fitted on.
        y : array of shape (n_samples,)
            Their classes.
        label : optional
            The class whose probability is looked at; by default the second of two, and of more the predicted one.
        n_bins : int, default=10
            Bins of equal width between 0 and 1.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kernelpursuit import KernelPursuitClassifier
        >>> from kernelpursuit.plotting import ReliabilityDisplay
        >>> X, y = make_moons(300, noise=0.3, random_state=0)
        >>> model = KernelPursuitClassifier(gamma=1.0, max_atoms=10).fit(X[:200], y[:200])
        >>> display = ReliabilityDisplay.from_estimator(model, X[200:], y[200:])
        """
        n_bins = check_number("n_bins", n_bins, low=2, integer=True)
        estimator = best_of(estimator)
        if not hasattr(estimator, "predict_proba"):
            name = type(estimator).__name__
            raise ValueError(f"{name} has no predict_proba; give a classifier that has, or use CoverageDisplay.")
        chances, classes = np.asarray(estimator.predict_proba(X)), np.asarray(estimator.classes_)
        y = check_known_kind(y, len(chances), classes)
        if label is None and len(classes) > 2:
            chosen, is_true, name = chances.max(axis=1), classes[chances.argmax(axis=1)] == y, "the predicted class"
        else:
            place = place_of_class(label, classes, "label")
            chosen, is_true, name = chances[:, place], y == classes[place], f"class {classes[place]}"
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        bins = np.clip(np.searchsorted(edges, chosen, side="right") - 1, 0, n_bins - 1)
        n_rows = np.bincount(bins, minlength=n_bins)
        with np.errstate(invalid="ignore"):
            probability = np.bincount(bins, chosen, n_bins) / n_rows
            frequency = np.bincount(bins, is_true, n_bins) / n_rows
        low, high = by_chance(frequency, n_rows)
        filled = n_rows > 0
        error = float(np.abs(probability - frequency)[filled] @ n_rows[filled] / n_rows.sum())
        return cls(
            edges=edges,
            probability=probability,
            frequency=frequency,
            low=low,
            high=high,
            n_rows=n_rows,
            error=error,
            name=name,
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax, filled = self.ax_, self.n_rows > 0
        share = self.n_rows / self.n_rows.sum()
        width = self.edges[1] - self.edges[0]
        ax.bar(self.edges[:-1], share, width=0.94 * width, align="edge", color=GREY, alpha=0.3, lw=0, label="rows")
        ax.plot([0, 1], [0, 1], color=ORANGE, lw=1.4, ls="--", zorder=1, label="perfect")
        label = f"expected calibration error {self.error:.3f}"
        low, high = self.low[filled], self.high[filled]
        draw_fractions(ax, self.probability[filled], self.frequency[filled], low=low, high=high, label=label)
        name = literal(shortened(self.name, 40))
        ax.set(xlabel=f"probability of {name}", ylabel=f"how often it is {'right' if 'predicted' in name else 'true'}")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        tidy(ax)
        legend_above(ax)
        return self

    def frame(self) -> pd.DataFrame:
        """Return one row for each bin."""
        bins = {"from": self.edges[:-1], "to": self.edges[1:], "probability": self.probability}
        return as_frame({**bins, "frequency": self.frequency, "low": self.low, "high": self.high, "rows": self.n_rows})
