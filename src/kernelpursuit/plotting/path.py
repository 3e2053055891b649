"""The path of a fit: errors against the number of atoms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from kernelpursuit.model import OneVsRestModel
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    best_of,
    figure_and_axes,
    kernel_model,
    plain_ticks,
    tidy,
)
from kernelpursuit.pursuit import PursuitPath
from kernelpursuit.stopping import Loo, OneSE, count_atoms, tell_size

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator


@dataclass
class PathDisplay:
    """Errors of the models along a path against their number of atoms.

    Errors are roots of mean squares over rows and targets, in the unit of the target; under another loss than the
    squared one, its mean over rows.

    Attributes
    ----------
    k : array of shape (n_steps + 1,)
        Numbers of steps, which are numbers of atoms unless one may be picked again.
    loo, loo_low, loo_high : arrays of shape (n_steps + 1,)
        Leave-one-out error, and one standard error below and above; NaN where a row is interpolated, and where
        weights are not refitted.
    training : array of shape (n_steps + 1,)
        Error on the training rows.
    validation : array of shape (n_steps + 1,) or None
        Error on held-out rows.
    kept : int
        Number of steps kept.
    one_se : int or None
        Number of atoms that the one-standard-error rule would keep; None where there is no leave-one-out error.
    kept_size : str
        Number of atoms kept, and of steps where that differs, in words.
    counts_steps : bool
        Whether steps and atoms differ anywhere on the path.
    error_name : str
        What the errors are.
    """

    k: np.ndarray
    loo: np.ndarray
    loo_low: np.ndarray
    loo_high: np.ndarray
    training: np.ndarray
    validation: np.ndarray | None
    kept: int
    one_se: int | None
    kept_size: str = ""
    counts_steps: bool = False
    error_name: str = "root mean squared error"
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_path(cls, path: PursuitPath, *, kept: int | None = None, ax: Axes | None = None) -> Self:
        """Draw a path, as `pursuit_path` returns it.

        Parameters
        ----------
        path : PursuitPath
            The path.
        kept : int, optional
            The number of atoms to mark; by default that of the least leave-one-out error.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.
        """
        unknown = np.full(path.n_steps + 1, np.nan)
        loo, se = (
            unknown if values is None else np.where(np.isfinite(values), values, np.nan)
            for values in (path.loo, path.loo_se)
        )
        if kept is None:
            kept = path.n_steps if path.loo is None else Loo().choose(path)
        is_squared = path.loss == "squared"
        in_units = np.sqrt if is_squared else np.asarray
        training = np.square(path.residual_norm) / (path.total_weight * (path.n_targets if is_squared else 1))
        return cls(
            k=np.arange(path.n_steps + 1),
            loo=in_units(loo),
            # Where the band reaches down to zero, it ends at a part of the error: the axis is logarithmic.
            loo_low=in_units(np.maximum(loo - se, 0.01 * loo)),
            loo_high=in_units(loo + se),
            training=in_units(training),
            validation=None if path.validation is None else in_units(path.validation),
            error_name="root mean squared error" if is_squared else f"mean {path.loss} loss",
            kept=path.check_size(kept),
            one_se=None if path.loo is None else OneSE().choose(path),
            kept_size=tell_size(path, path.check_size(kept)),
            counts_steps=bool((path.size != np.arange(path.n_steps + 1)).any()),
        ).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Axes | None = None) -> Self:
        """Draw the path of a fitted estimator and mark the size that it keeps.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor or KernelPursuitClassifier
            The model, or a pipeline or search around it.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_chirp
        >>> from kernelpursuit.plotting import PathDisplay
        >>> model = KernelPursuitRegressor(gamma=3.0).fit(*make_chirp())
        >>> display = PathDisplay.from_estimator(model)
        """
        model = kernel_model(best_of(estimator))
        if isinstance(model.model_, OneVsRestModel):
            raise ValueError("multi_class='ovr' has a path for each class; draw one of estimators_.")
        return cls.from_path(model.path_, kept=model.model_.n_steps, ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        if self.one_se is not None:
            ax.fill_between(self.k, self.loo_low, self.loo_high, color=BLUE, alpha=0.2, lw=0)
            ax.plot(self.k, self.loo, color=BLUE, lw=1.8, label="leave-one-out error ± 1 s.e.")
        if self.validation is not None:
            ax.plot(self.k, self.validation, color=GREEN, lw=1.6, ls="-.", label="held-out error")
        ax.plot(self.k, self.training, color=GREY, lw=1.2, ls="--", label="training error")
        both = self.kept == self.one_se
        self._mark(ax, self.kept, "o", face=ORANGE, label=f"kept: {self.kept_size}{', as by one s.e.' if both else ''}")
        if not both and self.one_se is not None:
            self._mark(ax, self.one_se, "D", face="white", label=f"within one s.e.: {count_atoms(self.one_se)}")
        shown = np.concatenate([self.training, self.loo])
        if np.nanmin(shown) > 1e-9 * np.nanmax(shown):
            ax.set_yscale("log")
            plain_ticks(ax)
        ax.set(xlabel="number of steps" if self.counts_steps else "number of atoms", ylabel=self.error_name)
        ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
        ax.margins(x=0.02)
        tidy(ax)
        ax.legend(frameon=False, fontsize="small")
        return self

    def frame(self) -> pd.DataFrame:
        """Return the errors of every size, and which size is kept."""
        errors = {"loo": self.loo, "loo_low": self.loo_low, "loo_high": self.loo_high, "training": self.training}
        return as_frame({"k": self.k, **errors, "validation": self.validation, "is_kept": self.k == self.kept})

    def _mark(self, ax: Axes, k: int, marker: str, face: str, label: str) -> None:
        """Mark the model with k atoms on the leave-one-out curve, or where that has none, on the other."""
        height = self.loo[k] if np.isfinite(self.loo[k]) else self.training[k]
        ax.axvline(k, color=ORANGE, lw=0.8, ls=":", zorder=1)
        size = 8 if marker == "o" else 7
        ax.plot(k, height, marker, ms=size, mfc=face, mec=ORANGE, mew=1.5, ls="none", zorder=5, label=label)
