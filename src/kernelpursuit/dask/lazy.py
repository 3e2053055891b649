"""Predictions of Dask arrays and frames, which are made on the workers when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from kernelpursuit.dask.partitions import as_rows, check_numbers, float_type
from kernelpursuit.dask.work import Chunk, features_as_floats, unpickled

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

# Rows of a chunk that are predicted at a time, so that a worker needs no memory that grows with its chunks.
ROWS_AT_A_TIME = 2**16


@dataclass(frozen=True)
class Prediction:
    """A method of a fitted estimator, with its settings, and what it returns.

    method    its name
    settings  what it is given beside rows
    dtype     in which features are given to it
    empty     what it returns of no rows; several results are stacked along the last axis
    """

    method: str
    settings: dict[str, object]
    dtype: type[np.floating]
    empty: np.ndarray

    def __call__(self, X: Chunk, model: BaseKernelPursuit) -> np.ndarray:
        """Predict the rows of a chunk."""
        out = np.empty((X.shape[0], *self.empty.shape[1:]), dtype=self.empty.dtype)
        for start in range(0, X.shape[0], ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            if isinstance(X, pd.DataFrame):
                part = X.iloc[rows]
                part = pd.DataFrame(features_as_floats(part, self.dtype), columns=part.columns)
            else:
                part = features_as_floats(X[rows], self.dtype)
            out[rows] = _stacked(getattr(model, self.method)(part, **self.settings))
        return out


def predicted(model: BaseKernelPursuit, method: str, X: object, **settings: object) -> da.Array | tuple[da.Array, ...]:
    """What a method of a fitted estimator returns of rows: a Dask array with the chunks of X, or several.

    The model is a task of its own, which workers pass on to each other once.
    """
    rows = as_rows(X)
    check_numbers(rows)
    dtype = float_type(rows)
    one = np.zeros((1, rows.shape[1]), dtype=dtype)
    # One row tells what comes of all, and whether the columns are those of the fit.
    example = pd.DataFrame(one, columns=rows.columns) if isinstance(rows, dd.DataFrame) else one
    found = getattr(model, method)(example, **settings)
    prediction = Prediction(method, settings, dtype, _stacked(found)[:0])
    shared = delayed(unpickled, pure=True)(cloudpickle.dumps(model))
    values = (
        _of_frame(rows, prediction, shared) if isinstance(rows, dd.DataFrame) else _of_array(rows, prediction, shared)
    )
    return tuple(values[..., place] for place in range(len(found))) if isinstance(found, tuple) else values


def _of_array(rows: da.Array, prediction: Prediction, model: Delayed) -> da.Array:
    further = prediction.empty.shape[1:]
    return da.map_blocks(
        prediction,
        rows,
        model,
        dtype=prediction.empty.dtype,
        drop_axis=[] if further else [1],
        chunks=(rows.chunks[0], *((size,) for size in further)),
        new_axis=list(range(2, 1 + len(further))) or None,
        meta=prediction.empty,
    )


def _of_frame(rows: dd.DataFrame, prediction: Prediction, model: Delayed) -> da.Array:
    """A chunk for each partition of the frame, so that predictions can be made a column of it."""
    predict, shape = delayed(prediction, pure=True), (np.nan, *prediction.empty.shape[1:])
    chunks = [da.from_delayed(predict(part, model), shape, meta=prediction.empty) for part in rows.to_delayed()]
    return da.concatenate(chunks, allow_unknown_chunksizes=True)


def _stacked(found: np.ndarray | tuple[np.ndarray, ...]) -> np.ndarray:
    return np.stack(found, axis=-1) if isinstance(found, tuple) else found
