"""Names for types that rooms share, and for what mypy cannot check: SciPy's sparse arrays have no types."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import ArrayLike

#: Rows as an array or as a CSR matrix, of shape (n_rows, n_features).
Matrix: TypeAlias = Any
#: Rows in the form that a dictionary evaluates; made by its `rows`, and known to it alone.
RowForm: TypeAlias = Any
#: Where the embedding of a kernel has its origin; made by its `origin`, and known to it alone.
EmbeddingOrigin: TypeAlias = Any
#: What an object is made of, by name.
State: TypeAlias = dict[str, Any]
#: Validation rows as the user gives them: X, y and sample weights.
ValidationSet: TypeAlias = tuple[Matrix, ArrayLike, ArrayLike | None]
#: A `PursuitPath`, for rooms below the one that makes it.
Path: TypeAlias = Any
