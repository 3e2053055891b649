"""Values in memory that cannot be computed with, named by row and feature."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from kernelpursuit._types import Matrix

# What to do, by whether the first such value is NaN; targets are not for an imputer.
CURES = {
    True: "drop {these}, or fill {them} first, as sklearn.impute.SimpleImputer does",
    False: "drop {these}, or put finite numbers there",
}
DROP = "drop {these}"


def first_missing(given: Matrix, *, are_targets: bool = False) -> str | None:
    """The words for the first row with NaN or infinity, or None where there is none or rows are no numbers."""
    try:
        values = check_array(
            given, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_2d=False, ensure_all_finite=False
        )
    except (ValueError, TypeError):
        return None
    if sp.issparse(values):
        entries = values.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        rows, columns, found = entries.row[bad], entries.col[bad], entries.data[bad]
    else:
        table = values[:, None] if values.ndim == 1 else values
        rows, columns = np.nonzero(~np.isfinite(table))
        found = table[rows, columns]
    if not len(rows):
        return None
    first = np.lexsort([columns, rows])[0]
    n_rows, is_nan = len(np.unique(rows)), bool(np.isnan(found[first]))
    noun = "target" if are_targets else "feature"
    place = f", {noun} {_called(given, int(columns[first]))}" if values.ndim == 2 else ""
    others = f", the first of {n_rows:,} such rows" if n_rows > 1 else ""
    these, them = ("these rows", "them") if n_rows > 1 else ("this row", "it")
    cure = (DROP if are_targets else CURES[is_nan]).format(these=these, them=them)
    return f"it holds {'NaN' if is_nan else 'infinity'} in row {rows[first]:,}{place} (counted from 0){others}; {cure}"


def _called(given: Matrix, column: int) -> str:
    """The name of a column, where there is one."""
    name = None if sp.issparse(given) or not hasattr(given, "columns") else list(given.columns)[column]
    return repr(name) if isinstance(name, str) else str(column)
