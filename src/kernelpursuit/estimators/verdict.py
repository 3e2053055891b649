"""A word where a default fit comes to nothing: a model that is a constant, or nearly one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernelpursuit.exceptions import ConstantModelWarning

# A model that lowers the leave-one-out error of the constant by less than this fraction is nearly one.
NEARLY = 0.05
ADVICE = (
    "the features may not tell of y, or rows may be too few or too noisy; check them, or compare with "
    "LengthScaleSearch or a linear model; where numbers have outliers, try loss='huber'."
)


def is_nearly_constant(path: Any, k: int) -> bool:
    """Whether the leave-one-out error of the model after k steps is hardly below that of the constant."""
    if path.loo is None or not np.isfinite(path.loo[k]):
        return False
    return bool(path.size[k] == 0 or path.loo[k] > (1 - NEARLY) * path.loo[0])


def warn_if_constant(name: str, path: Any, k: int, *, has_trend: bool, bears_outliers: bool) -> None:
    """Warn where the model after k steps of a path is a constant though its targets are none.

    A loss that bears outliers may be all outlier, of which no model lowers anything.
    """
    if has_trend or path.loo is None or not path.loo[0] > 0:
        return
    if path.size[k] == 0:
        warnings.warn(f"{name} is a constant, since atoms did no better: {ADVICE}", ConstantModelWarning, stacklevel=5)
    elif not bears_outliers and is_nearly_constant(path, k):
        explained = max(0.0, 100 * (1 - path.loo[k] / path.loo[0]))
        words = f"{name} is nearly a constant: its leave-one-out error is {explained:.1f} % below that of one; {ADVICE}"
        warnings.warn(words, ConstantModelWarning, stacklevel=5)
