"""What arithmetic in float32 costs in predictions: coefficients that nearly cancel lose digits."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from kernelpursuit.export.description import Affine, Block, Box, Circle, Description, Line
from kernelpursuit.export.evaluate import scores

Part = TypeVar("Part")


def float32_error(description: Description, rows: np.ndarray) -> float:
    """The largest change of a score by arithmetic in float32, over rows, in units of the range of scores there."""
    exact, rounded = scores(description, rows), scores(in_float32(description), rows.astype(np.float32))
    size = float(np.ptp(exact)) or 1.0
    return float(np.abs(rounded - exact).max()) / size


def in_float32(part: Part) -> Part:
    """The same with all arrays of float64, however deep, in float32."""
    found: object = part
    if isinstance(part, np.ndarray) and part.dtype == np.float64:
        found = part.astype(np.float32)
    elif isinstance(part, tuple):
        found = tuple(in_float32(one) for one in part)
    elif isinstance(part, (Description, Block, Affine, Circle, Line, Box)):
        found = replace(part, **{one.name: in_float32(getattr(part, one.name)) for one in fields(part)})
    return found  # type: ignore[return-value]
