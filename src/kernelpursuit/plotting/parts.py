"""What the displays share: colours, axes, and the kernel model inside a pipeline or a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"


def best_of(estimator: Any) -> Any:
    """Return the estimator itself, or the one that a search has settled on."""
    return getattr(estimator, "best_estimator_", estimator)


def kernel_model(estimator: Any) -> Any:
    """Return the kernel model: the estimator itself, or the last step of a pipeline."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "path_"):
        raise ValueError(f"{type(model).__name__} has no path to draw; give a fitted kernelpursuit estimator.")
    return model


def figure_and_axes(ax: Any) -> tuple[Any, Any]:
    """Figure and axes to draw on."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plotting needs matplotlib: pip install 'kernelpursuit[plot]'") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return ax.figure, ax


def plain_ticks(ax: Any) -> None:
    """Label a logarithmic axis with plain numbers, and between powers of ten where there are few of these."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = ax.get_ylim()
    decades = np.log10(high / low)
    steps = [1.0] if decades > 4 else [1.0, 2.0, 5.0] if decades > 1.3 else [1.0, 1.5, 2.0, 3.0, 5.0, 7.0]
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def tidy(ax: Any) -> None:
    """Leave out the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
