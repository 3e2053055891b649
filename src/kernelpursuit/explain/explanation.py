"""What comes of `model.explain(X)`: contributions that add up to the score, as numbers, a frame or a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number, check_option
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import BLUE, GREY, ORANGE, distinct_names, figure_and_axes, literal, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# How numbers stand beside bars, and places for bars, at least.
LABELS: dict[str, Any] = {"padding": 4, "fontsize": "small"}
FEWEST_PLACES = 4
VIEWS = ("features", "centers", "atoms")


@dataclass(frozen=True)
class Mix:
    """Scores as weighted sums of the scores at the centres, `shares @ scores`.

    numbers  of the distinct centres in the dictionary, as in `center_indices_`: training rows, if it has one kernel
    rows     the centres
    scores   of the centres, shape (n_centers,), before the rule for rows outside the data and clipping
    shares   weights of these scores for each explained row, shape (n_rows, n_centers); they add up to about 1

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp(100)
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=10, stop="max").fit(X, y)
    >>> mix = model.explain(X[:2]).mix
    >>> mix.shares.shape, mix.rows.shape  # of two rows; of the centres
    ((2, 10), (10, 1))
    """

    numbers: np.ndarray
    rows: Matrix
    scores: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class Explanation:
    """Contributions that add up to the score of each row: a prediction, or a value of `decision_function`.

        score = base + sum of `atoms` + outside
        score = expected + sum of `features` + outside
        score = rest + sum over centres of share times the score of the centre + outside

    Attributes
    ----------
    scores : array of shape (n_rows,)
        The scores that are explained.
    base : array of shape (n_rows,)
        The intercept, and functions that are always in the model.
    atoms : array of shape (n_rows, n_atoms)
        Coefficient times value of each kept atom.
    outside : array of shape (n_rows,)
        The effect of the rule for rows outside the data, of clipping and of `truncate`; 0 if there is none.
    atom_numbers : array of shape (n_atoms,)
        The numbers of the atoms, as in `center_indices_`.
    names : list of str
        Names of the features.
    output : str
        Name of the score.
    mix : Mix or None
        The scores as weighted sums of those of the centres; None if atoms have no centres.
    X : array of shape (n_rows, n_features) or None
        The rows, if contributions of features were computed.
    features : array of shape (n_rows, n_features) or None
        Shapley values of the features.
    expected : float or None
        The mean score, before `outside`, of the background rows.
    standard_error : array of shape (n_rows, n_features) or None
        Of `features` if orders were sampled; None if they are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_friedman
    >>> X, y = make_friedman(200)
    >>> model = KernelPursuitRegressor(gamma=0.5, max_atoms=20).fit(X, y)
    >>> found = model.explain(X[:2])
    >>> bool(np.allclose(found.base + found.atoms.sum(axis=1) + found.outside, model.predict(X[:2])))
    True
    """

    scores: np.ndarray
    base: np.ndarray
    atoms: np.ndarray
    outside: np.ndarray
    atom_numbers: np.ndarray
    names: list[str]
    output: str
    mix: Mix | None = None
    X: np.ndarray | None = None
    features: np.ndarray | None = None
    expected: float | None = None
    standard_error: np.ndarray | None = None

    def entries(self, by: str = "features") -> tuple[list[str], np.ndarray]:
        """Return names and values of all contributions, shape (n_rows, n_entries); they add up to the scores.

        Parameters
        ----------
        by : {"features", "centers", "atoms"}
            What contributes.
        """
        check_option("by", by, VIEWS)
        if by == "features":
            if self.features is None or self.expected is None:
                raise ValueError("by='features' needs explain(X, features=True); use by='centers' or by='atoms'.")
            first, what, names, values = "average", np.full(len(self.scores), self.expected), self.names, self.features
        elif by == "centers":
            if self.mix is None:
                raise ValueError("by='centers' needs atoms with centres, which this model has none of; use by='atoms'.")
            values = self.mix.shares * self.mix.scores
            first, what = "rest", self.scores - self.outside - values.sum(axis=1)
            names = [f"centre {number}" for number in self.mix.numbers]
        else:
            first, what, values = "base", self.base, self.atoms
            names = [f"atom {number}" for number in self.atom_numbers]
        return [first, *names, "outside the data"], np.column_stack([what, values, self.outside])

    def frame(self, by: str = "features") -> pd.DataFrame:
        """Return a frame of all contributions, one column for each entry, and the scores.

        Parameters
        ----------
        by : {"features", "centers", "atoms"}
            What contributes.
        """
        names, values = self.entries(by)
        return as_frame([*zip(names, values.T), ("score", self.scores)])

    def plot(self, row: int = 0, *, by: str = "features", most: int = 10, ax: Axes | None = None) -> Axes:
        """Draw the largest contributions to the score of one row as bars, and return the axes.

        Parameters
        ----------
        row : int
            Place of the row.
        by : {"features", "centers", "atoms"}
            What contributes.
        most : int
            Most bars, beside one for all others together.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.
        """
        row = check_number("row", row, low=0, integer=True)
        most = check_number("most", most, low=1, integer=True)
        if row >= len(self.scores):
            raise ValueError(f"row={row} is not there; give a place from 0 to {len(self.scores) - 1}.")
        names, values = self.entries(by)
        word, names, first, parts = names[0], names[1:], values[row, 0], values[row, 1:]
        if by == "features" and self.X is not None:
            shorts = [*distinct_names(self.names), names[-1]]
            names = [f"{name} = {x:.4g}" for name, x in zip(shorts, self.X[row])] + shorts[-1:]
        elif by == "centers" and self.mix is not None:
            each = zip(names, self.mix.shares[row], self.mix.scores)
            names = [f"{name}: {share:.2f} × {score:.4g}" for name, share, score in each] + names[-1:]
        order = np.argsort(-np.abs(parts), kind="stable")
        order = order[parts[order] != 0]
        shown, others = [(names[j], parts[j]) for j in order[:most]], order[most:]
        if len(others):
            shown.append((f"{len(others)} others", parts[others].sum()))
        _, ax = figure_and_axes(ax)
        _draw(ax, shown)
        ax.set_xlabel(literal(f"contribution to the {self.output}"))
        title = literal(f"{self.output} {self.scores[row]:.4g} = {first:.4g} ({word}) and the bars")
        ax.set_title(title, loc="left", fontsize="medium")
        return ax


def _draw(ax: Axes, shown: list[tuple[str, float]]) -> None:
    """Bars to the right for what raises the score and to the left for what lowers it, the numbers beside them."""
    places, sizes = np.arange(len(shown)), np.array([value for _, value in shown])
    bars = ax.barh(places, sizes, color=np.where(sizes >= 0, BLUE, ORANGE), height=0.7)
    ax.bar_label(bars, [f"{value:+.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:+.3g}" for value in sizes], **LABELS)
    ax.axvline(0.0, color=GREY, lw=0.8)
    ax.set_yticks(places, [literal(name) for name, _ in shown])
    # Bars of few contributions are no wider than those of many.
    ax.set_ylim(max(len(shown), FEWEST_PLACES) - 0.5, -0.5)
    ax.margins(x=0.2)
    tidy(ax)
