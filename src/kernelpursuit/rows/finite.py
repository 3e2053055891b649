"""Features that cannot be computed with, named by row and column."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from kernelpursuit.rows.source import RowBlock, RowSource


def check_features(source: RowSource, block: RowBlock) -> None:
    """Refuse NaN and infinity in the features of a block, in a sentence with the row, its file and the column."""
    X = block.X
    # A sum is finite where all values are, but for overflow, and needs no array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite((X.data if sp.issparse(X) else X).sum()):
            return
    if sp.issparse(X):
        entries = X.tocoo()
        places = np.flatnonzero(~np.isfinite(entries.data))
        found = np.column_stack([entries.row[places], entries.col[places]]).tolist()
    else:
        found = np.argwhere(~np.isfinite(X)).tolist()
    if not found:
        return
    row, column = min(found)
    names = source.feature_names
    called = f"column {column} (counted from 0)" if names is None else f"column {names[column]!r}"
    raise ValueError(
        f"{source.where(int(block.numbers[row]))} holds NaN or infinity in {called}; drop or fill such rows."
    )
