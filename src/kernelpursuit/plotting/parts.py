"""What the displays share: colours, axes, and the kernel model inside a pipeline or a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import Pipeline

from kernelpursuit._types import Matrix
from kernelpursuit.rows import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

    from kernelpursuit.estimators.base import BaseKernelPursuit

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"
# Colours of classes, in their order.
CLASS_COLOURS = (BLUE, ORANGE, GREEN, "#AA4499", "#8C6D00", "#3AA0D8", "#882255", "#444444")


def best_of(estimator: BaseEstimator) -> BaseEstimator:
    """Return the estimator itself, or the best one of a search."""
    return getattr(estimator, "best_estimator_", estimator)


def kernel_model(estimator: BaseEstimator) -> BaseKernelPursuit:
    """Return the kernel model: the estimator itself, or the last step of a pipeline."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "path_"):
        raise ValueError(f"{type(model).__name__} has no path to draw; give a fitted kernelpursuit estimator.")
    return model


def in_input_space(estimator: BaseEstimator, centers: Matrix) -> np.ndarray | None:
    """Return centres in the space of the estimator's own input; None where a pipeline does not lead back."""
    if centers is None:
        return None
    centers = dense(centers, np.float64)
    centers = centers[np.isfinite(centers).all(axis=1)]
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        before = estimator[:-1]
        if not hasattr(before, "inverse_transform"):
            return None
        centers = before.inverse_transform(centers) if len(centers) else centers
    return np.asarray(centers)


def frame_like(X: Matrix, rows: np.ndarray) -> Matrix:
    """Return rows as a frame with the columns of `X`, if that is one: models want to see their names again."""
    return type(X)({name: rows[:, j] for j, name in enumerate(X.columns)}) if hasattr(X, "columns") else rows


def feature_names(X: Matrix, n_features: int) -> list[str]:
    """Names of the columns of a frame; x, or x1, x2, ..., for others."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return ["x"] if n_features == 1 else [f"x{j + 1}" for j in range(n_features)]


def mixed_with_white(colour: str, strength: float) -> np.ndarray:
    """Red, green and blue from 0 to 1 of a colour "#RRGGBB" that is thinned with white."""
    full = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return 1 - strength * (1 - full)


def figure_and_axes(ax: Axes | None) -> tuple[Figure | SubFigure, Axes]:
    """Figure and axes to draw on."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plotting needs matplotlib: pip install 'kernelpursuit[plot]'") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return ax.figure, ax


def plain_ticks(ax: Axes) -> None:
    """Label a logarithmic axis with plain numbers, and between powers of ten where there are few of these."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = ax.get_ylim()
    decades = np.log10(high / low)
    steps = [1.0] if decades > 4 else [1.0, 2.0, 5.0] if decades > 1.3 else [1.0, 1.5, 2.0, 3.0, 5.0, 7.0]
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def tidy(ax: Axes) -> None:
    """Leave out the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
