"""Targets and weights that are columns of the rows, by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit.estimators.columns import LABELS
from kernelpursuit.rows import is_source, open_rows
from kernelpursuit.rows.columns import Columns
from kernelpursuit.rows.opening import is_path
from kernelpursuit.rows.streams import is_frame


def apart(X: Any, y: Any, sample_weight: Any, *, several: bool = False) -> tuple[Any, Any, Any]:
    """Features of a data frame, and its columns that `y` and `sample_weight` name; other rows as they were given.

    `several` says whether a list of names stands for several targets, and not for labels.
    """
    if several:
        _refuse_text(X, y)
    if not _are_names(y, several) or not is_frame(X):
        return X, y, sample_weight
    weight = sample_weight if isinstance(sample_weight, str) else None
    chosen = Columns.chosen("X", [str(name) for name in X.columns], y=y, weight=weight)
    return X[list(chosen.features)], X[y].to_numpy(), sample_weight if weight is None else X[weight].to_numpy()


def to_score(X: Any, y: Any, sample_weight: Any, *, several: bool = False) -> tuple[Any, Any, Any]:
    """The same of rows to be scored, of which a source may have the targets as well."""
    if not _are_names(y, several) or not is_source(X):
        return apart(X, y, sample_weight, several=several)
    weight = sample_weight if isinstance(sample_weight, str) else None
    source = open_rows(X, y, weight, features=[])
    blocks = list(source.blocks(2**16))
    found = np.concatenate([block.y for block in blocks])
    if weight is not None:
        sample_weight = np.concatenate([block.sample_weights for block in blocks])
    return X, found[:, 0] if source.n_targets == 1 else found, sample_weight


def columns_beside(X: Any, y: Any, sample_weight: Any, *, several: bool = False) -> tuple[str, ...]:
    """Names of the columns of a frame or a source that are targets or weights, and not features."""
    if not is_frame(X) and not is_source(X):
        return ()
    targets = ([y] if isinstance(y, str) else list(y)) if _are_names(y, several) else []
    return tuple(name for name in (*targets, sample_weight) if isinstance(name, str) and not is_path(name))


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Rows to predict without the columns of these names, which the fit took for targets or weights."""
    if not names or not is_frame(X) or not set(names) & set(X.columns):
        return X
    return X[[name for name in X.columns if name not in names]]


def _refuse_text(X: Any, y: Any) -> None:
    """Refuse a list of text that is a target for each row: no frame has as many columns of targets."""
    is_text = isinstance(y, list) and len(y) > 0 and all(isinstance(one, str) for one in y)
    if is_text and not is_source(X) and (not is_frame(X) or len(y) == len(X)):
        raise ValueError(f"y is not usable: it holds text, such as {y[0]!r}; {LABELS}.")


def _are_names(y: Any, several: bool) -> bool:
    words = y if several and isinstance(y, list) and y else [y]
    return all(isinstance(one, str) for one in words)
