"""The numbers of a display as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def as_frame(columns: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> pd.DataFrame:
    """Return columns of one length as a frame; those that are None are left out, those of one name all stay."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("frame() needs pandas: pip install 'kernelpursuit[io]'.") from None
    pairs = columns.items() if isinstance(columns, Mapping) else columns
    known = [(name, np.asarray(values)) for name, values in pairs if values is not None]
    frame = pd.DataFrame(dict(enumerate(values for _, values in known)))
    # A feature may be called what a display calls a column of its own.
    frame.columns = pd.Index([name for name, _ in known])
    return frame


def columns_of(rows: np.ndarray, names: list[str]) -> list[tuple[str, np.ndarray]]:
    """Columns of a matrix with their names."""
    return list(zip(names, rows.T))
