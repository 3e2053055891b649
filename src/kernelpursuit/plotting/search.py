"""The table of a search: what every width and penalty came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import CLASS_COLOURS, LINE_STYLES, ORANGE, figure_and_axes, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from kernelpursuit.search import LengthScaleSearch

# Colours of lines; orange is for what is chosen, as in the other displays.
LINE_COLOURS = tuple(colour for colour in CLASS_COLOURS if colour != ORANGE)
# Up to this many values of gamma, each has a tick.
MOST_TICKS = 12


@dataclass
class SearchDisplay:
    """The criterion of a search against gamma, one line for each alpha.

    The best is marked, and where its standard error is known, what is one above it.

    Attributes
    ----------
    gamma, alpha, score, standard_error : arrays of shape (n_combinations,)
        Results of the search.
    best : int
        Place of the best in these arrays.
    by : str
        Name of the criterion.
    """

    gamma: np.ndarray
    alpha: np.ndarray
    score: np.ndarray
    standard_error: np.ndarray
    best: int
    by: str
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_search(cls, search: LengthScaleSearch, *, ax: Axes | None = None) -> Self:
        """Draw the results of a fitted search.

        Parameters
        ----------
        search : fitted LengthScaleSearch
            The search, or a pipeline that ends with it.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor, LengthScaleSearch
        >>> from kernelpursuit.data import make_chirp
        >>> from kernelpursuit.plotting import SearchDisplay
        >>> search = LengthScaleSearch(KernelPursuitRegressor(alpha=1e-3, max_atoms=40, stop="loo"))
        >>> display = SearchDisplay.from_search(search.fit(*make_chirp()))
        """
        search = search[-1] if isinstance(search, Pipeline) else search
        if not hasattr(search, "results_"):
            raise ValueError(f"{type(search).__name__} has no results to draw; give a fitted LengthScaleSearch.")
        gamma, alpha, score, error = (search.results_[name] for name in ("gamma", "alpha", "score", "standard_error"))
        return cls(gamma, alpha, score, standard_error=error, best=search.best_index_, by=search.by_).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        known = np.isfinite(self.score)
        for place, alpha in enumerate(np.unique(self.alpha)):
            # An alpha that the estimator itself settles is no number, and is the only one.
            mine = np.flatnonzero(known & ((self.alpha == alpha) | np.isnan(alpha)))
            mine = mine[np.argsort(self.gamma[mine], kind="stable")]
            label = None if np.isnan(alpha) else f"alpha = {alpha:g}"
            colour = LINE_COLOURS[place % len(LINE_COLOURS)]
            look: dict[str, Any] = {"color": colour, "ls": LINE_STYLES[place % len(LINE_STYLES)], "lw": 1.6}
            ax.plot(self.gamma[mine], self.score[mine], marker=".", label=label, **look)
        x, y, error = self.gamma[self.best], self.score[self.best], self.standard_error[self.best]
        ax.plot(x, y, "o", ms=9, mfc="none", mec=ORANGE, mew=1.8, zorder=5, label=f"best: gamma = {x:.3g}")
        if np.isfinite(error):
            ax.axhline(y + error, color=ORANGE, lw=0.8, ls=":", zorder=1, label="one s.e. above it")
        ax.set_xscale("log")
        ticks = np.unique(self.gamma)
        if len(ticks) <= MOST_TICKS:
            ax.set_xticks(ticks, [f"{tick:.2g}" if tick < 100 else f"{tick:.0f}" for tick in ticks])
            ax.minorticks_off()
        ax.set(xlabel="gamma", ylabel=f"criterion: {self.by}")
        tidy(ax)
        ax.legend(frameon=False, fontsize="small")
        return self

    def frame(self) -> pd.DataFrame:
        """Return the results of the search, with the best marked."""
        results = {"gamma": self.gamma, "alpha": self.alpha, "score": self.score}
        is_best = np.arange(len(self.score)) == self.best
        return as_frame({**results, "standard_error": self.standard_error, "is_best": is_best})
