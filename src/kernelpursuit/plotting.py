"""Pictures of a fitted model: what it predicts, and the path that led to it.

Displays work as in scikit-learn: `from_estimator` computes what is shown and draws it; the object that it
returns holds the numbers, so that `plot` can draw them again elsewhere. In place of an estimator, a pipeline or
a search around it will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from kernelpursuit.dictionary import Precomputed, as_dictionary
from kernelpursuit.pursuit import PursuitPath
from kernelpursuit.stopping import Loo, OneSE

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"
# Points on each axis at which a curve or a surface is computed.
CURVE_POINTS, SURFACE_POINTS = 500, 120


@dataclass
class PathDisplay:
    """Errors of the models along a path against their number of atoms.

    All errors are roots of mean squares over rows and targets, in the unit of the target.

    Attributes
    ----------
    k : array of shape (n_atoms + 1,)
        Numbers of atoms.
    loo, loo_low, loo_high : arrays of shape (n_atoms + 1,)
        Leave-one-out error, and one standard error below and above; NaN where a row is interpolated.
    training : array of shape (n_atoms + 1,)
        Error on the training rows.
    validation : array of shape (n_atoms + 1,) or None
        Error on held-out rows.
    kept : int
        Number of atoms kept.
    one_se : int
        Number of atoms that the one-standard-error rule would keep.
    """

    k: np.ndarray
    loo: np.ndarray
    loo_low: np.ndarray
    loo_high: np.ndarray
    training: np.ndarray
    validation: np.ndarray | None
    kept: int
    one_se: int
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_path(cls, path: PursuitPath, *, kept: int | None = None, ax: Any = None) -> Self:
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
        finite = np.isfinite(path.loo)
        loo, se = np.where(finite, path.loo, np.nan), np.where(finite, path.loo_se, np.nan)
        n_targets = path.b.shape[1]
        return cls(
            k=np.arange(path.n_atoms + 1),
            loo=np.sqrt(loo),
            # Where the band reaches down to zero, it ends at a tenth of the error: the axis is logarithmic.
            loo_low=np.sqrt(np.maximum(loo - se, 0.01 * loo)),
            loo_high=np.sqrt(loo + se),
            training=path.residual_norm / np.sqrt(path.total_weight * n_targets),
            validation=None if path.validation is None else np.sqrt(path.validation),
            kept=Loo().choose(path) if kept is None else path.check_size(kept),
            one_se=OneSE().choose(path),
        ).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted estimator and mark what it kept.

        Parameters
        ----------
        estimator : fitted KernelPursuitRegressor
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
        model = _model(_best(estimator))
        return cls.from_path(model.path_, kept=model.n_atoms_, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = _axes(ax)
        ax = self.ax_
        ax.fill_between(self.k, self.loo_low, self.loo_high, color=BLUE, alpha=0.2, lw=0)
        ax.plot(self.k, self.loo, color=BLUE, lw=1.8, label="leave-one-out error ± 1 s.e.")
        if self.validation is not None:
            ax.plot(self.k, self.validation, color=GREEN, lw=1.6, ls="-.", label="held-out error")
        ax.plot(self.k, self.training, color=GREY, lw=1.2, ls="--", label="training error")
        both = self.kept == self.one_se
        self._mark(ax, self.kept, "o", ORANGE, f"kept: {_atoms(self.kept)}{', as by one s.e.' if both else ''}")
        if not both:
            self._mark(ax, self.one_se, "D", "white", f"within one s.e.: {_atoms(self.one_se)}")
        shown = np.concatenate([self.training, self.loo])
        if np.nanmin(shown) > 1e-9 * np.nanmax(shown):
            ax.set_yscale("log")
            _plain_ticks(ax)
        ax.set(xlabel="number of atoms", ylabel="root mean squared error")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.margins(x=0.02)
        _tidy(ax)
        ax.legend(frameon=False, fontsize="small")
        return self

    def _mark(self, ax: Any, k: int, marker: str, face: str, label: str) -> None:
        """Mark the model with k atoms on the leave-one-out curve, or where that has none, on the other."""
        height = self.loo[k] if np.isfinite(self.loo[k]) else self.training[k]
        ax.axvline(k, color=ORANGE, lw=0.8, ls=":", zorder=1)
        size = 8 if marker == "o" else 7
        ax.plot(k, height, marker, ms=size, mfc=face, mec=ORANGE, mew=1.5, ls="none", zorder=5, label=label)


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
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, target: int = 0, ax: Any = None) -> Self:
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
        estimator = _best(estimator)

        def predict(rows: np.ndarray, **options: Any) -> Any:
            # A model that was fitted on a frame wants to see its column names again.
            named = type(X)({name: rows[:, j] for j, name in enumerate(X.columns)}) if hasattr(X, "columns") else rows
            return estimator.predict(named, **options)

        def pick(values: Any) -> np.ndarray:
            values = np.asarray(values, dtype=np.float64)
            return values if values.ndim == 1 else values[:, target]

        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        n_features = rows.shape[1]
        drawable = n_features <= 2 and not isinstance(as_dictionary(_model(estimator).kernel), Precomputed)
        display = cls(
            X=rows,
            y=pick(y),
            prediction=pick(estimator.predict(X)),
            axes=[],
            values=None,
            std=None,
            centers=_centers(estimator) if drawable else None,
            center_values=None,
            names=_names(X, n_features),
        )
        if drawable:
            n_points = CURVE_POINTS if n_features == 1 else SURFACE_POINTS
            display.axes = [np.linspace(low, high, n_points) for low, high in zip(rows.min(axis=0), rows.max(axis=0))]
            grid = np.stack(np.meshgrid(*display.axes), axis=-1)
            values, std = predict(grid.reshape(-1, n_features), return_std=True)
            display.values, display.std = (
                pick(values).reshape(grid.shape[:-1]),
                pick(std).reshape(grid.shape[:-1]),
            )
            if display.centers is not None and len(display.centers):
                display.center_values = pick(predict(display.centers))
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = _axes(ax)
        draw = {1: self._curve, 2: self._surface}.get(len(self.axes), self._scatter)
        draw(self.ax_)
        return self

    def _curve(self, ax: Any) -> None:
        x, std = self.axes[0], self.std
        ax.plot(self.X[:, 0], self.y, ".", color="#444444", ms=5, mew=0, alpha=0.6, label="data")
        if std is not None and np.isfinite(std).all():
            label = "± 2 standard deviations"
            ax.fill_between(x, self.values - 2 * std, self.values + 2 * std, color=BLUE, alpha=0.15, lw=0, label=label)
        ax.plot(x, self.values, color=BLUE, lw=1.8, label="prediction")
        if self.centers is not None and self.center_values is not None:
            style = {"ms": 7, "mfc": ORANGE, "mec": "white", "mew": 1.0, "ls": "none", "zorder": 5}
            ax.plot(self.centers[:, 0], self.center_values, "o", label=f"{len(self.centers)} centres", **style)
        ax.set(xlabel=self.names[0], ylabel="target")
        ax.margins(x=0.02)
        _tidy(ax)
        # The legend lies above the axes, where no data can be.
        ax.legend(
            frameon=False,
            fontsize="small",
            ncols=4,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
        )

    def _surface(self, ax: Any) -> None:
        filled = ax.contourf(*self.axes, self.values, levels=16, cmap="cividis")
        self.figure_.colorbar(filled, ax=ax, label="prediction", pad=0.02)
        ax.plot(self.X[:, 0], self.X[:, 1], ".", color="white", ms=2, mew=0, alpha=0.5)
        if self.centers is not None:
            style = {"ms": 8, "mfc": "none", "mec": "white", "mew": 1.8, "ls": "none", "zorder": 5}
            ax.plot(self.centers[:, 0], self.centers[:, 1], "o", **style)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        n_centers = 0 if self.centers is None else len(self.centers)
        ax.set_title(f"{n_centers} centres (circles) of {len(self.y)} points", fontsize="medium")
        # Centres given by the user may lie outside the data; the picture is of the data.
        ax.set(xlim=self.axes[0][[0, -1]], ylim=self.axes[1][[0, -1]])

    def _scatter(self, ax: Any) -> None:
        low = min(self.y.min(), self.prediction.min())
        high = max(self.y.max(), self.prediction.max())
        error = np.sqrt(np.mean(np.square(self.y - self.prediction)))
        ax.plot([low, high], [low, high], color=ORANGE, lw=1.2, zorder=1, label="perfect")
        label = f"{len(self.y)} rows, root mean squared error {error:.3g}"
        ax.plot(self.y, self.prediction, ".", color=BLUE, ms=5, mew=0, alpha=0.5, label=label)
        ax.set(xlabel="target", ylabel="prediction")
        _tidy(ax)
        ax.legend(frameon=False, fontsize="small", loc="upper left")


def _best(estimator: Any) -> Any:
    """Return the estimator itself, or the one that a search has settled on."""
    return getattr(estimator, "best_estimator_", estimator)


def _model(estimator: Any) -> Any:
    """Return the kernel model: the estimator itself, or the last step of a pipeline."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "path_"):
        raise ValueError(f"{type(model).__name__} has no path to draw; give a fitted kernelpursuit estimator.")
    return model


def _centers(estimator: Any) -> np.ndarray | None:
    """Centres in the space of the estimator's own input; None where there are none to show."""
    centers = _model(estimator).centers_
    if centers is None:
        return None
    centers = np.asarray(centers.toarray() if hasattr(centers, "toarray") else centers, dtype=np.float64)
    centers = centers[np.isfinite(centers).all(axis=1)]
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        before = estimator[:-1]
        if not hasattr(before, "inverse_transform"):
            return None
        centers = before.inverse_transform(centers) if len(centers) else centers
    return np.asarray(centers)


def _names(X: Any, n_features: int) -> list[str]:
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return ["x"] if n_features == 1 else [f"x{j + 1}" for j in range(n_features)]


def _atoms(k: int) -> str:
    return f"{k} atom" if k == 1 else f"{k} atoms"


def _axes(ax: Any) -> tuple[Any, Any]:
    """Figure and axes to draw on."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plotting needs matplotlib: pip install 'kernelpursuit[plot]'") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return ax.figure, ax


def _plain_ticks(ax: Any) -> None:
    """Label a logarithmic axis with plain numbers, and between powers of ten where there are few of these."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = ax.get_ylim()
    decades = np.log10(high / low)
    steps = [1.0] if decades > 4 else [1.0, 2.0, 5.0] if decades > 1.3 else [1.0, 1.5, 2.0, 3.0, 5.0, 7.0]
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _tidy(ax: Any) -> None:
    """Leave out the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
