"""Fractions of rows, and what they may be by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelpursuit.plotting.parts import BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Bars of fractions hold 90 % of what chance alone would do.
NORMAL_90 = 1.645


def by_chance(fraction: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of Wilson's score interval of 90 % for fractions of n rows; NaN where there are none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        z = NORMAL_90**2 / n
        middle, root = fraction + z / 2, np.sqrt(z * (fraction * (1 - fraction) + z / 4))
        return (middle - root) / (1 + z), (middle + root) / (1 + z)


def draw_fractions(
    ax: Axes, x: np.ndarray, fraction: np.ndarray, *, low: np.ndarray, high: np.ndarray, label: str
) -> None:
    """Draw points with what they may be by chance."""
    ax.vlines(x, low, high, color=BLUE, lw=1.6, zorder=3)
    ax.plot(x, fraction, "o-", color=BLUE, lw=1.0, ms=6, mec="white", mew=0.8, zorder=4, label=label)
