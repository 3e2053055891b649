"""The numbers of a display as a pandas frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def as_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return columns of one length as a frame; those that are None are left out."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("frame() needs pandas: pip install 'kernelpursuit[io]'.") from None
    return pd.DataFrame({name: np.asarray(values) for name, values in columns.items() if values is not None})


def columns_of(rows: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
    """Columns of a matrix by their names."""
    return dict(zip(names, rows.T))
