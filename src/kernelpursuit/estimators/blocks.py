"""Predictions of rows that are read a block at a time, from files or elsewhere."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelpursuit._validate import check_number, check_option
from kernelpursuit.rows import RowBlock, RowSource, block_size, is_source
from kernelpursuit.rows.ahead import read_ahead
from kernelpursuit.rows.finite import check_features
from kernelpursuit.rows.opening import open_features
from kernelpursuit.rows.table import TableSource
from kernelpursuit.rows.writing import check_out, is_stream, open_writer

if TYPE_CHECKING:
    import pyarrow as pa

    from kernelpursuit.estimators.base import BaseKernelPursuit

METHODS = ("predict", "predict_proba", "predict_interval", "predict_set", "decision_function")
# What columns of methods with a value for each class are called.
STEMS = {"predict_proba": "proba", "predict_set": "in_set", "decision_function": "decision"}
# Bytes of the features of a block.
BLOCK_BYTES = 2**25

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_sources(method: Method) -> Method:
    """Let a method of rows take a source too, of which it predicts a block at a time and joins what comes of them."""

    @wraps(method)
    def of_rows(self: BaseKernelPursuit, X: Any, *args: Any, **params: Any) -> Any:
        if not is_source(X):
            return method(self, X, *args, **params)
        check_is_fitted(self)
        found = [made for made, _ in _made_of(self, _opened(self, X), lambda one, X: method(one, X, *args, **params))]
        if not found:
            raise ValueError("X has no rows; give at least one.")
        if isinstance(found[0], tuple):
            return tuple(np.concatenate(parts) for parts in zip(*found))
        return np.concatenate(found)

    return cast(Method, of_rows)


class BlockPredictions:
    """Predictions of sources, as an iterator and to a file or an array."""

    def predict_blocks(
        self, source: Any, *, method: str = "predict", size: int | None = None, **options: Any
    ) -> Iterator[Any]:
        """Yield predictions a block of rows at a time, while a thread reads the next block.

        Parameters
        ----------
        source : path, table, array, callable or RowSource
            Rows, as for `kernelpursuit.rows.open_rows`; of named columns, those that the model was fitted with.
        method : {"predict", "predict_proba", "predict_interval", "predict_set", "decision_function"}, default="predict"
            What is predicted.
        size : int, optional
            Rows of a block; by default as many as take about 32 megabytes, and no more than 65,536.
        **options
            Parameters of the method, such as `coverage`.

        Yields
        ------
        array, or tuple of arrays
            What the method returns for the rows of a block; `numpy.concatenate` joins them.
        """
        estimator = cast("BaseKernelPursuit", self)
        call = _method(estimator, method, options)
        opened = _opened(estimator, source)
        size = None if size is None else check_number("size", size, low=1, integer=True)
        return (made for made, _ in _made_of(estimator, opened, call, size=size))

    def predict_to(
        self,
        source: Any,
        out: Any,
        *,
        method: str = "predict",
        keep: Sequence[str] = (),
        told: Callable[[int], object] | None = None,
        **options: Any,
    ) -> int:
        """Write predictions to a file or into an array, a block of rows at a time.

        Parameters
        ----------
        source : path, table, array, callable or RowSource
            Rows, as for `kernelpursuit.rows.open_rows`; of named columns, those that the model was fitted with.
        out : path, array or binary stream
            A path that ends in `.parquet`, `.csv` or `.npy`, which `numpy.load` can map; an array with a value for
            each row, of NumPy, Zarr or HDF5; or a stream such as `sys.stdout.buffer`, to which CSV is written. A file
            appears when it is whole, and not at all where anything fails.
        method : {"predict", "predict_proba", "predict_interval", "predict_set", "decision_function"}, default="predict"
            What is written. Columns are named `prediction`, `proba_<class>`, `lower` and `upper`, `in_set_<class>`, or
            `decision`, with `_<number>` of the target or `_<class>` where there are several.
        keep : sequence of column names, optional
            Columns of the source that are written in front of the predictions, as they are.
        told : callable, optional
            Told after every block how many rows are done.
        **options
            Parameters of the method, such as `coverage`.

        Returns
        -------
        n_rows : int
            How many rows were written.
        """
        estimator = cast("BaseKernelPursuit", self)
        call = _method(estimator, method, options)
        keep = [keep] if isinstance(keep, str) else list(keep)
        check_out(out, bool(keep))
        opened = _opened(estimator, source)
        _check_kept(opened, out, keep)
        with closing(_made_of(estimator, opened, call, keep=_checked_keep(opened, keep))) as made:
            first = next(made, None)
            if first is None:
                raise ValueError("X has no rows; give at least one.")
            names = _names(estimator, method, options, first[0])
            both = sorted(set(names) & set(keep))
            if both:
                raise ValueError(f"keep names {both[0]!r}, which is what predictions are called; leave it out.")
            return _written(out, names, chain([first], made), told)


def _written(
    out: Any,
    names: Sequence[str],
    made: Iterable[tuple[Any, pa.Table | None]],
    told: Callable[[int], object] | None,
) -> int:
    """Write blocks of predictions, and count their rows."""
    is_table = is_stream(out) or (isinstance(out, (str, Path)) and Path(out).suffix != ".npy")
    n_rows = 0
    with open_writer(out, names) as writer:
        for values, kept in made:
            parts = values if isinstance(values, tuple) else (values,)
            writer.write(_columns(parts) if is_table else parts, kept)
            n_rows += len(parts[0])
            if told is not None:
                told(n_rows)
    return n_rows


def _method(estimator: BaseKernelPursuit, method: str, options: dict[str, Any]) -> Callable[..., Any]:
    """A function of an estimator and rows, after a check that there is one."""
    check_is_fitted(estimator)
    check_option("method", method, METHODS)
    if not hasattr(estimator, method):
        raise ValueError(f"method={method!r} is not what a {type(estimator).__name__} has; use method='predict'.")
    return lambda one, X: getattr(one, method)(X, **options)


def _opened(estimator: BaseKernelPursuit, data: Any) -> RowSource:
    """The features of data, those that the model was fitted with where names are known."""
    names = getattr(estimator, "feature_names_in_", None)
    source = open_features(data, None if names is None else [str(name) for name in names])
    n_known = estimator.n_features_in_
    if source.n_features not in ({n_known, estimator.n_atoms_} if estimator.model_.is_precomputed else {n_known}):
        raise ValueError(
            f"X has {source.n_features} features, but the model was fitted with {n_known}; "
            "choose columns by rows.open_rows(X, features=[...])."
        )
    return source


def _made_of(
    estimator: BaseKernelPursuit,
    source: RowSource,
    call: Callable[..., Any],
    *,
    size: int | None = None,
    keep: Sequence[str] = (),
) -> Generator[tuple[Any, pa.Table | None]]:
    """What a method makes of each block, and the columns that are kept beside it."""
    # Blocks are arrays without names, which were chosen by them.
    nameless = copy.copy(estimator)
    if hasattr(nameless, "feature_names_in_"):
        del nameless.feature_names_in_
    size = block_size(source.n_features, BLOCK_BYTES) if size is None else size
    for block, kept in read_ahead(_blocks(source, size, keep)):
        check_features(source, block)
        yield call(nameless, block.X), kept


def _blocks(source: RowSource, size: int, keep: Sequence[str]) -> Iterator[tuple[RowBlock, pa.Table | None]]:
    if not keep:
        for block in source.blocks(size):
            yield block, None
        return
    assert isinstance(source, TableSource)
    for first, table in source.tables(size, others=keep):
        yield source.block(first, table), table.select(keep)


def _checked_keep(source: RowSource, keep: Sequence[str]) -> Sequence[str]:
    if keep and not isinstance(source, TableSource):
        raise ValueError("keep names columns, but X has no column names; leave it out.")
    if keep:
        cast(TableSource, source).check_names(keep)
    return keep


def _check_kept(source: RowSource, out: Any, keep: Sequence[str]) -> None:
    """Refuse to write over rows that are read, where something of them would be lost."""
    lost = source.loses(Path(out), keep) if isinstance(source, TableSource) and isinstance(out, (str, Path)) else []
    if lost:
        raise ValueError(
            f"out={str(out)!r} is a file that is read, and would lose column {lost[0]!r}; give another path, or "
            "keep all of its columns."
        )


def _names(estimator: BaseKernelPursuit, method: str, options: dict[str, Any], values: Any) -> list[str]:
    """Names of the columns that predictions are written to."""
    if method in STEMS:
        stem = STEMS[method]
        return [stem] if values.ndim == 1 else [f"{stem}_{label}" for label in estimator.classes_]
    stems = ["lower", "upper"] if method == "predict_interval" else ["prediction"]
    if method == "predict":
        stems += ["std"] * bool(options.get("return_std"))
        stems += [] if options.get("interval") is None else ["lower", "upper"]
    values = values if isinstance(values, tuple) else (values,)
    return [
        name
        for stem, one in zip(stems, values)
        for name in ([stem] if one.ndim == 1 else [f"{stem}_{j}" for j in range(one.shape[1])])
    ]


def _columns(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """One array for each column of what a method returned."""
    return [column for one in parts for column in ([one] if one.ndim == 1 else one.T)]
