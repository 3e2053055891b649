"""Names for what mypy cannot check: SciPy's sparse arrays have no types."""

from __future__ import annotations

from typing import Any, TypeAlias

#: Rows as an array or as a CSR matrix, of shape (n_rows, n_features).
Matrix: TypeAlias = Any
#: A `PursuitPath`, for rooms below the one that makes it.
Path: TypeAlias = Any
