"""Checks of arrays and settings, with scikit-learn's words made one sentence that names the parameter."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

#: How rows are validated, in `fit` and in `predict`.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    """Let errors about the argument `name` through as one line that names it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        words = " ".join(str(error).split())
        if words.startswith(f"Input {name} contains"):
            words = words.partition(". ")[0].rstrip(".") + "; drop or fill those rows first"
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} is not usable: {words.rstrip('.')}.") from None


def check_rows_and_targets(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Validate training rows and real targets, one or several a row."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    with one_sentence("X"):
        X = validate_data(estimator, X, **ROWS)
    with one_sentence("y"):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
    if y.ndim == 0 or y.ndim > 2 or y.shape[0] != X.shape[0]:
        raise ValueError(f"y has shape {y.shape}, but X has {X.shape[0]} rows; give one target for each row.")
    return X, y


def check_seed(random_state: Any) -> int:
    """Return a seed drawn from whatever scikit-learn takes as a random state."""
    try:
        return int(check_random_state(random_state).randint(2**31))
    except (ValueError, TypeError):
        raise ValueError(
            f"random_state={random_state!r} is not usable; give a whole number of at least 0, a RandomState, or None."
        ) from None


def digest(*parts: Any) -> str:
    """Return a digest of arrays and settings: equal for equal contents, also in another process."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        if sp.issparse(part):
            arrays = [part.data, part.indices, part.indptr]
        else:
            arrays = [part] if isinstance(part, np.ndarray) else []
        for array in arrays:
            state.update(f"{array.shape}{array.dtype}".encode())
            state.update(np.ascontiguousarray(array).data)
        if not arrays:
            state.update(_as_bytes(part))
    return state.hexdigest()


def _as_bytes(settings: Any) -> bytes:
    try:
        return pickle.dumps(settings)
    except (pickle.PicklingError, AttributeError, TypeError):
        # A lambda cannot be written down; within a process, its address tells it from others.
        return repr(settings).encode()
