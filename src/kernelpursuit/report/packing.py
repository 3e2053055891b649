"""Arrays as short text: steps between the least and the largest number, of a few bytes each."""

from __future__ import annotations

import base64
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

#: What the page reads an array from.
Packed: TypeAlias = dict[str, object]


def packed(values: ArrayLike, n_bytes: int = 3) -> Packed:
    """Pack an array of any shape; NaN and infinity come back as null.

    Of 3, 2 or 1 bytes each, numbers come back to within 3e-8, 8e-6 or 2e-3 of the range of all; with one byte, whole
    numbers below 255 come back once they are rounded.
    """
    # Codes below the last one are steps from the least number up; the last one stands for what is no number.
    no_number = 2 ** (8 * n_bytes) - 1
    steps = no_number - 1
    numbers = np.asarray(values, dtype=np.float64)
    known = np.isfinite(numbers)
    low, high = (float(numbers[known].min()), float(numbers[known].max())) if known.any() else (0.0, 0.0)
    # Parts of a step first, since the range itself may be too large for a number.
    step = high / steps - low / steps or 1.0
    codes = np.full(numbers.shape, no_number, dtype=">u4")
    codes[known] = np.clip(np.rint(numbers[known] / step - low / step), 0, steps)
    last_bytes = np.ascontiguousarray(codes.reshape(-1, 1)).view(np.uint8)[:, 4 - n_bytes :]
    return {
        "low": low,
        "step": step,
        "bytes": n_bytes,
        "shape": list(numbers.shape),
        "data": base64.b64encode(last_bytes.tobytes()).decode("ascii"),
    }
