"""Checks of arrays and settings, with scikit-learn's words made one sentence that names the parameter."""

from __future__ import annotations

import copy
import hashlib
import numbers
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.estimators.columns import column_of_text, refuse_dates
from kernelpursuit.estimators.missing import first_missing
from kernelpursuit.kernels import Kernel
from kernelpursuit.losses import Loss
from kernelpursuit.rows import block_size, slices
from kernelpursuit.rows.survey import LARGEST
from kernelpursuit.updates import Update

#: How rows are validated, in `fit` and in `predict`.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


@contextmanager
def one_sentence(name: str, given: Any = None) -> Iterator[None]:
    """Let errors about the argument `name` through as one line that names it; `given` is asked for text and dates."""
    try:
        refuse_dates(given)
        # scikit-learn looks for infinity by a sum, which may overflow where no value is out of range.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (ValueError, TypeError) as error:
        text = column_of_text(given)
        if text is not None:
            raise ValueError(f"{name} is not usable: {text}.") from None
        holes = None
        if re.search(r"contains (NaN|infinity)", str(error)):
            holes = first_missing(given, are_targets=name.endswith("y"))
        if holes is not None:
            raise ValueError(f"{name} is not usable: {holes}.") from None
        words = re.sub(r"array=.*?\.(?= Reshape)", "", " ".join(str(error).split()))
        words = " ".join(re.sub(r"\[[^\]]{80,}\]", "", words).split())
        words = re.sub(r"(Complex data not supported).*", r"\1; give real numbers", words)
        words = re.sub(r"(Unknown label type: [\w-]+)\..*", r"\1; use a regressor, or give labels", words)
        mixed = r"labels of the types \1 and \2 cannot be sorted; give labels of one type"
        words = re.sub(r"'<' not supported between instances of '(\w+)' and '(\w+)'", mixed, words)
        words = re.sub(r"(Expected unique column names, got:.*)", r"\1; give each column its own name", words)
        if re.match(r"Input (\S+ )*?contains", words):
            words = words.partition(". ")[0].rstrip(".") + "; drop or fill those rows first"
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} is not usable: {words.rstrip('.')}.") from None


def check_range(X: Matrix) -> Any:
    """Return rows as they are; refuse values so large that their sums overflow."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(f"X holds values of the size {largest:.1g}; multiply X by a constant first.")
    return X


def check_rows_and_targets(estimator: BaseEstimator, X: Matrix, y: Any) -> tuple[Any, np.ndarray]:
    """Validate training rows and real targets, one or several a row."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    with one_sentence("X", X):
        X = validate_data(estimator, X, **ROWS)
    check_range(X)
    return X, check_targets(estimator, y, X.shape[0])


def check_targets(estimator: BaseEstimator, y: Any, n_rows: int) -> np.ndarray:
    """Validate real targets, one or several a row."""
    with one_sentence("y", y):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
    if y.ndim == 0 or y.ndim > 2 or y.shape[0] != n_rows:
        raise ValueError(f"y has shape {y.shape}, but X has {n_rows} rows; give one target for each row.")
    return y


def check_seed(random_state: Any) -> int:
    """Return a seed drawn from whatever scikit-learn takes as a random state."""
    try:
        return int(check_random_state(random_state).randint(2**31))
    except (ValueError, TypeError):
        raise ValueError(
            f"random_state={random_state!r} is not usable; give a whole number of at least 0, a RandomState, or None."
        ) from None


def digest(*arrays: Any) -> str:
    """Return a digest of arrays, sparse matrices and Nones: equal for equal contents."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        parts = [array.data, array.indices, array.indptr] if sp.issparse(array) else [np.asarray(array)]
        for part in parts:
            state.update(f"{part.shape}{part.dtype}".encode())
            if not part.ndim:
                state.update(repr(part).encode())
                continue
            # Some rows at a time: of rows that lie column by column, or in a file, there is never a copy of all.
            for rows in slices(len(part), block_size(part[:1].size)):
                state.update(np.ascontiguousarray(part[rows]).view(np.uint8).data)
    return state.hexdigest()


@dataclass(frozen=True)
class ArrayDigest:
    """Stands for an array of numbers, or a list of them, where it is compared with another."""

    shape: tuple[int, ...]
    contents: str


def comparable(value: object) -> object:
    """A setting as it is kept for a comparison: a digest of an array, a copy of what is plain, else the object itself.

    What was given may be changed in place after the fit, and may be as large as the training rows.
    """
    if isinstance(value, np.ndarray) or _is_list_of_numbers(value):
        # Whole numbers and others are the same where their values are.
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return ArrayDigest(array.shape, digest(array.astype(np.float64)))
    return copy.deepcopy(value) if is_plain(value) else value


def _is_list_of_numbers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(one, numbers.Real) for one in value)


def is_plain(value: Any) -> bool:
    """Whether a setting is compared by what it holds, and not by which object it is."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, Loss):
        # A loss that is no dataclass itself inherits a comparison that does not know what it holds.
        return is_dataclass(value) and "__dataclass_fields__" in vars(type(value))
    return value is None or isinstance(value, (str, numbers.Number, np.ndarray, np.bool_, ArrayDigest, Kernel, Update))


def same_settings(first: Any, second: Any) -> bool:
    """Whether two settings, or lists or dicts of them, are the same; of what is not plain, the same object."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same_settings(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)) and type(first) is type(second):
        return len(first) == len(second) and all(map(same_settings, first, second))
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    if is_plain(first) and type(first) is type(second):
        return bool(first == second)
    return first is second


def check_coverage(name: str, coverage: Any) -> float:
    """A fraction of new targets, above 0 and below 1."""
    fraction: float = check_number(name, coverage, low=0, strict=True, others="and below 1")
    if fraction >= 1:
        raise ValueError(f"{name}={coverage!r} is not usable; give a number above 0 and below 1.")
    return fraction
