"""Whether intervals hold as many targets as they should, everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_option
from kernelpursuit.estimators.checks import check_targets
from kernelpursuit.plotting.fractions import by_chance, draw_fractions
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    ORANGE,
    best_of,
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

# Groups of rows that the coverage is taken of.
N_GROUPS = 5


@dataclass
class CoverageDisplay:
    """Coverage of the intervals of a regressor, in fifths of the rows.

    Rows are sorted by the width of their interval or by their prediction: intervals that are right on the whole may
    still be too narrow where errors are large. Lines up and down hold 90 % of what chance would do to a true coverage
    as observed.

    Attributes
    ----------
    coverage : float
        What intervals should hold.
    observed : array of shape (5,)
        Fraction of the targets of each fifth within their intervals.
    low, high : arrays of shape (5,)
        What it may be by chance (Wilson's score interval).
    center : array of shape (5,)
        Median of what rows are sorted by, in each fifth.
    width : array of shape (5,)
        Mean width of the intervals.
    n_rows : array of shape (5,)
        Rows of each fifth.
    by : str
        What rows are sorted by, "width" or "prediction".
    """

    coverage: float
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    center: np.ndarray
    width: np.ndarray
    n_rows: np.ndarray
    by: str
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Matrix,
        y: ArrayLike,
        *,
        coverage: float = 0.9,
        by: str = "width",
        target: int = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Predict intervals and count which targets are in them.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor
            The model, or a pipeline or search around it.
        X : array, CSR matrix or frame of shape (n_samples, n_features)
            Rows that the model was not fitted on.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        coverage : float, default=0.9
            What intervals should hold.
        by : {"width", "prediction"}, default="width"
            What rows are sorted by; by their predictions, where all intervals have one width.
        target : int
            Which one to show, of several targets.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import CoverageDisplay
        >>> X, y = make_friedman(300)
        >>> model = KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(X[:200], y[:200])
        >>> display = CoverageDisplay.from_estimator(model, X[200:], y[200:])
        """
        check_option("by", by, ("width", "prediction"))
        estimator = best_of(estimator)
        no_classes(estimator, "CoverageDisplay", "ReliabilityDisplay")
        mean, lower, upper = (one_target(one, target) for one in estimator.predict(X, interval=coverage))
        y = one_target(check_targets(estimator, y, len(mean)), target)
        if len(y) < N_GROUPS:
            raise ValueError(f"X has {len(y)} rows; give at least {N_GROUPS}, one for each fifth, and better hundreds.")
        width = upper - lower
        # Widths that differ by rounding alone are one width, and so are those without bound of interpolated rows.
        is_one_width = np.isinf(width).all() or np.ptp(width) <= 1e-9 * np.abs(width).max()
        by = "prediction" if is_one_width else by
        keys = width if by == "width" else mean
        groups = np.array_split(np.argsort(keys, kind="stable"), N_GROUPS)
        held = (y >= lower) & (y <= upper)
        n_rows = np.array([len(rows) for rows in groups])
        observed = np.array([held[rows].mean() for rows in groups])
        low, high = by_chance(observed, n_rows)
        return cls(
            coverage=coverage,
            observed=observed,
            low=low,
            high=high,
            center=np.array([np.median(keys[rows]) for rows in groups]),
            width=np.array([width[rows].mean() for rows in groups]),
            n_rows=n_rows,
            by=by,
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        from matplotlib.ticker import MaxNLocator

        ax, places = self.ax_, np.arange(len(self.observed))
        ax.axhline(self.coverage, color=ORANGE, lw=1.4, ls="--", zorder=1, label=f"wanted: {100 * self.coverage:.3g} %")
        total = float(self.observed @ self.n_rows / self.n_rows.sum())
        label = f"observed: {100 * total:.1f} % of {self.n_rows.sum()} rows"
        draw_fractions(ax, places, self.observed, low=self.low, high=self.high, label=label)
        name = "width of the interval" if self.by == "width" else "prediction"
        ax.set_xticks(places, [f"{one:.3g}" for one in self.center])
        ax.set(xlabel=f"fifths of the rows, by {name} (median)", ylabel="fraction of targets in the interval")
        ax.set_xlim(-0.5, len(places) - 0.5)
        ax.set_ylim(min(self.low.min(), self.coverage) - 0.04, 1.01)
        ax.yaxis.set_major_locator(MaxNLocator(6))
        tidy(ax)
        legend_above(ax)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the coverage of each fifth."""
        columns = {"observed": self.observed, "low": self.low, "high": self.high, "width": self.width}
        return as_frame({f"median_{self.by}": self.center, **columns, "rows": self.n_rows})
