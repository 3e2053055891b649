"""How fast a model varies with each feature: the scales that a fit has learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from kernelpursuit._validate import check_number
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    BLUE,
    GREY,
    best_of,
    distinct_names,
    figure_and_axes,
    kernel_model,
    literal,
    names_in_model,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator


@dataclass
class ScalesDisplay:
    """Learned scales of the features as bars, the largest first.

    A scale is how fast the model bends along a standardised feature: the larger, the shorter the way over which
    predictions change direction. It is no measure of importance: a feature that counts for much, but along a straight
    line, has a small one. A feature with scale 0 is irrelevant to the model; it is shown in grey.

    Attributes
    ----------
    scales : array of shape (n_features,)
        Scales, in descending order; ties stay in the order of the features.
    names : list of str
        Names of the features, in the same order.
    max_features : int
        Most features that are drawn; the others are counted in a line above.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit.plotting import ScalesDisplay
    >>> display = ScalesDisplay(scales=np.array([2.0, 0.5, 0.0]), names=["dose", "age", "day"]).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['dose', 'age', 'day']
    """

    scales: np.ndarray
    names: list[str]
    max_features: int = 20
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, max_features: int = 20, ax: Axes | None = None) -> Self:
        """Draw the scales that a fitted estimator has learned.

        Parameters
        ----------
        estimator : KernelPursuitRegressor or KernelPursuitClassifier, fitted with gamma="learn"
            The model, or a pipeline or search around it. In a pipeline, features are those that its last step sees.
        max_features : int
            Most features to draw, those with the largest scales.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import ScalesDisplay
        >>> model = KernelPursuitRegressor(kernel="rbf", random_state=0).fit(*make_friedman(200))
        >>> display = ScalesDisplay.from_estimator(model)
        """
        max_features = check_number("max_features", max_features, low=1, integer=True)
        estimator = best_of(estimator)
        model = kernel_model(estimator)
        scales = getattr(model, "feature_scales_", None)
        if scales is None:
            raise ValueError(f"{type(model).__name__} has learned no scales; fit it with gamma='learn'.")
        names = names_in_model(estimator, model, len(scales))
        order = np.argsort(-scales, kind="stable")
        return cls(scales=scales[order], names=[names[j] for j in order], max_features=max_features).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        scales = self.scales[: self.max_features]
        places = np.arange(len(scales))
        bars = ax.barh(places, scales, color=BLUE, height=0.7)
        labels = [f"{scale:.2g}" if scale else "irrelevant" for scale in scales]
        ax.bar_label(bars, labels, padding=4, fontsize="small")
        ax.set_yticks(places, [literal(name) for name in distinct_names(self.names[: self.max_features])])
        for label, scale in zip([*ax.get_yticklabels(), *ax.texts], [*scales, *scales]):
            label.set_color("black" if scale else GREY)
        ax.invert_yaxis()
        ax.margins(x=0.12)
        ax.set_xlim(0)
        ax.set(xlabel="scale of the standardised feature")
        if hidden := len(self.scales) - len(scales):
            irrelevant = int((self.scales[len(scales) :] == 0).sum())
            words = f"and {hidden} more" + (f", {irrelevant} of them irrelevant" if irrelevant else "")
            ax.set_title(words, loc="left", fontsize="small", color=GREY)
        tidy(ax)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the names of all features and their scales."""
        return as_frame({"feature": self.names, "scale": self.scales})
