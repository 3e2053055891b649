"""What the displays share: colours, axes, and the kernel model inside a pipeline or a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
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

# Lines differ by these as well, for print in grey.
LINE_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))


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


def names_in_model(estimator: BaseEstimator, model: BaseKernelPursuit, n_features: int) -> list[str]:
    """Names of the columns that the model saw; those that a pipeline gives them where the model knows none."""
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass  # a step that tells no names
    return feature_names(None, n_features)


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


def legend_above(ax: Axes, *, ncols: int = 4) -> None:
    """Put the legend above the axes, where no data can be."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "ncols": ncols}
    ax.legend(frameon=False, fontsize="small", handletextpad=0.4, columnspacing=1.2, **place)


def literal(name: str) -> str:
    """A name as Matplotlib is given it: between two dollars it would read mathematics."""
    return name.replace("$", r"\$")


def shortened(name: str, most: int = 28) -> str:
    """A name with its middle left out where it is long."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - half - 1]}…{name[-half:]}"


def distinct_names(names: list[str], most: int = 28) -> list[str]:
    """Names of at most so many characters, without what all of them begin or end with, where some are longer.

    Where even that leaves some alike, they stay as they are.
    """
    if max(map(len, names), default=0) <= most or len(names) < 2:
        return [shortened(name, most) for name in names]
    before = _n_alike(names)
    after = _n_alike([name[before:][::-1] for name in names])
    # Numbers and words are not cut in two.
    while before and names[0][before - 1].isalnum():
        before -= 1
    while after and names[0][len(names[0]) - after].isalnum():
        after -= 1
    # As many words of what all begin with as there is room for.
    room = most - max(len(name) - before - after for name in names)
    start = max(before - max(room, 0), 0)
    while 0 < start < before and names[0][start - 1].isalnum():
        start += 1
    before = start
    middles = [name[before : len(name) - after] for name in names]
    found = [f"{'…' if before else ''}{shortened(one, most)}{'…' if after else ''}" for one in middles]
    return found if len(set(found)) == len(set(names)) else names


def _n_alike(words: list[str]) -> int:
    """How many characters all words begin with."""
    n = min(map(len, words))
    return next((i for i in range(n) if len({word[i] for word in words}) > 1), n)


def dots(n: int) -> dict[str, Any]:
    """Size and opacity of n points, so that many of them still show where they are dense."""
    many = np.clip(np.log10(max(n, 1)) / 2 - 1, 0.0, 1.0)  # 0 up to 100 points, 1 from 10,000 on
    return {"marker": ".", "ls": "none", "mew": 0, "ms": 7 - 3.5 * many, "alpha": 0.65 - 0.4 * many}


def one_target(values: ArrayLike, target: int) -> np.ndarray:
    """One of several targets, as a vector."""
    columns = np.asarray(values, dtype=np.float64)
    return columns if columns.ndim == 1 else columns[:, place_of_target(target, columns.shape[1])]


def place_of_target(target: int | None, n_targets: int) -> int:
    """Place of one of several targets, by default the first."""
    place: int = check_number("target", 0 if target is None else target, low=0, integer=True)
    if place >= n_targets:
        raise ValueError(f"target={place} is not there; give a place from 0 to {n_targets - 1}.")
    return place


def place_of_class(label: Any, classes: np.ndarray, name: str) -> int:
    """Place of a class among all, by default of the last."""
    label = classes[-1] if label is None else label
    if label not in classes:
        raise ValueError(f"{name}={label!r} is none of the classes; give one of {classes.tolist()}.")
    return int(np.flatnonzero(classes == label)[0])


def no_classes(estimator: BaseEstimator, display: str, instead: str) -> None:
    """Refuse a classifier where numbers are drawn."""
    if hasattr(kernel_model(estimator), "classes_"):
        raise ValueError(f"{display} draws numbers, not classes; use {instead} for a classifier.")


def tidy(ax: Axes) -> None:
    """Leave out the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
