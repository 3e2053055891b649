"""What the first pass over rows tells: that all are usable, how many they are, their classes or range, and a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
import scipy.sparse as sp

from kernelpursuit.rows.sample import RowSample, bound_of_keys
from kernelpursuit.rows.source import RowBlock, RowSource, Sum, block_size

# So many of the least and of the largest values of every target are kept, to tell gross errors by.
N_EXTREMES = 16
# More different labels than this are no classes.
MOST_LABELS = 10_000
# Sums over a hundred million rows of values this large are still in range.
LARGEST = 1e300
# A sum of targets that another pass finds is the same but for rounding, which the order of blocks may change.
SAME_SUM = 1e-9


class UnusableRow(ValueError):
    """A row that no fit can take, by its number; `words` say what is wrong, with {row} for where it is."""

    def __init__(self, words: str, number: int):
        super().__init__(words, number)
        self.words, self.number = words, number


@dataclass(frozen=True)
class Extremes:
    """Some of the least and of the largest targets, shape (up to N_EXTREMES, n_targets), and the largest size."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, y: np.ndarray) -> Extremes:
        """Those of some rows, of which whole numbers and flags have no negatives in their own type."""
        y, few = np.asarray(y, dtype=np.float64), min(N_EXTREMES, len(y))
        if not few:
            return cls(y, y)
        return cls(np.partition(y, few - 1, axis=0)[:few], -np.partition(-y, few - 1, axis=0)[:few])

    def __add__(self, other: Extremes) -> Extremes:
        """Those of both."""
        low, high = (np.concatenate(parts) for parts in ((self.low, other.low), (self.high, other.high)))
        return Extremes(Extremes.of(low).low, Extremes.of(high).high)

    @property
    def largest(self) -> np.ndarray:
        """The largest size of each target."""
        return np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=0)

    @property
    def values(self) -> np.ndarray:
        """All of them, shape (n_extremes, n_targets)."""
        return np.concatenate([self.low, self.high])


@dataclass(frozen=True)
class Tally:
    """How many rows a pass has seen, and sums of their targets and features: the same in every pass.

    n_rows    number of rows
    total     sum of the sizes of all targets; 0 of labels that are no numbers
    features  sum of all features, each times a factor of its own for its column, its row, and the weight of that
    size      the same sum of sizes, beside which a difference of `features` is rounding or not
    """

    n_rows: int
    total: float
    features: float = 0.0
    size: float = 0.0

    @classmethod
    def of_block(cls, block: RowBlock) -> Tally:
        """Those of some rows."""
        # Factors without a pattern, so that rows or columns in another order have another sum.
        of_columns = 1.5 + np.cos(np.arange(block.X.shape[1], dtype=np.float64))
        of_rows = (1.5 + np.cos(block.numbers)) * block.sample_weights
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.abs(block.y, dtype=np.float64).sum()) if block.y.dtype.kind in "fiub" else 0.0
            features, size = (float(of_rows @ (values @ of_columns)) for values in (block.X, abs(block.X)))
        return cls(len(block), total, features, size)

    def __add__(self, other: Tally) -> Tally:
        """Those of both."""
        return Tally(
            self.n_rows + other.n_rows,
            self.total + other.total,
            self.features + other.features,
            self.size + other.size,
        )

    def check(self, expected: Tally) -> None:
        """Refuse rows that are not those of the first pass."""
        if self.n_rows != expected.n_rows:
            raise ValueError(
                f"the source gave {expected.n_rows} rows in the first pass and {self.n_rows} in a later one; give one "
                "that yields the same rows every time."
            )
        if abs(self.total - expected.total) > SAME_SUM * max(abs(expected.total), np.finfo(float).tiny):
            raise ValueError(
                "the source gave other targets in a later pass than in the first; give one that yields the same rows "
                "every time."
            )
        # What is no number in a later pass makes the comparison false.
        if not abs(self.features - expected.features) <= SAME_SUM * max(expected.size, np.finfo(float).tiny):
            raise ValueError(
                "the source gave other features or weights in a later pass than in the first, or in another order; "
                "give one that yields the same rows every time."
            )


@dataclass(frozen=True)
class Survey:
    """What one pass tells of rows; surveys of two sets of rows add up to one of both.

    tally     number of rows, and the sum of their targets
    n_counted number of rows of a weight above zero
    weight    sum of their weights
    labels    weight of the rows of each class, by label, where targets are labels; else None
    extremes  of the targets, where these are numbers; else None
    sample    some of the rows of a weight above zero
    """

    tally: Tally
    n_counted: int
    weight: float
    labels: dict[object, float] | None
    extremes: Extremes | None
    sample: RowSample

    def __add__(self, other: Survey) -> Survey:
        """What is known of both."""
        labels, extremes = None, None
        if self.labels is not None and other.labels is not None:
            labels = dict(self.labels)
            for label, weight in other.labels.items():
                labels[label] = labels.get(label, 0.0) + weight
            _check_labels(labels)
        if self.extremes is not None and other.extremes is not None:
            extremes = self.extremes + other.extremes
        return Survey(
            self.tally + other.tally,
            self.n_counted + other.n_counted,
            self.weight + other.weight,
            labels=labels,
            extremes=extremes,
            sample=self.sample + other.sample,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.tally.n_rows

    @property
    def mean_weight(self) -> float:
        """The mean of the weights that are not zero."""
        return self.weight / self.n_counted


@dataclass(frozen=True)
class SurveyOf:
    """The survey of a block of rows, for a pass over a source.

    most, seed, bound   of the sample
    of_each             rows of each class that it has at least, where targets are labels of classes; else None
    names               of the features, or None
    """

    most: int
    seed: int
    bound: np.uint64
    of_each: int | None
    names: Sequence[str] | None

    def __call__(self, block: RowBlock) -> Survey | None:
        """Refuse rows that are not usable, and look at the others."""
        if not len(block):
            return None
        _check_features(block, self.names)
        _check_weights(block)
        labels, extremes = None, None
        if self.of_each is not None:
            labels = _labels_of(block)
            _check_labels(labels)
        else:
            _check_targets(block)
            extremes = Extremes.of(block.y if block.weights is None else block.y[block.weights > 0])
        return Survey(
            Tally.of_block(block),
            len(block) if block.weights is None else int(np.count_nonzero(block.weights)),
            block.total_weight,
            labels=labels,
            extremes=extremes,
            sample=RowSample.of_block(block, self.most, self.seed, self.bound, of_each=self.of_each or 0),
        )


def survey(
    source: RowSource,
    most: int,
    seed: int,
    *,
    of_each: int | None = None,
    n_threads: int | None = 1,
    told: Callable[[int], None] | None = None,
) -> Survey:
    """Pass over all rows once.

    Parameters
    ----------
    source : RowSource
    most, seed : int
        The number of rows in the sample, and what it is drawn with.
    of_each : int, optional
        Targets are labels of classes, and of each the sample has so many rows, or all, before others. None where they
        are numbers.
    told : callable, optional
        Told how many rows are done.
    """
    work = SurveyOf(most, seed, bound_of_keys(most, source.n_rows), of_each=of_each, names=source.feature_names)
    size = block_size(source.n_features + source.n_targets)
    tell = None if told is None else lambda done, _: told(done)
    try:
        found = source.reduce(work, size, n_threads=n_threads, told=tell)
    except UnusableRow as error:
        raise ValueError(error.words.format(row=source.where(error.number))) from None
    if not found.weight > 0:
        raise ValueError("sample_weight is zero for every row; give at least one row a positive weight.")
    return found


class SurveyedSource(RowSource):
    """A source that was surveyed: every pass is checked to be over the same rows."""

    n_rows: int

    def __init__(self, source: RowSource, found: Survey):
        self._source, self._expected = source, found.tally
        self.n_rows, self.n_features = found.n_rows, source.n_features
        self.n_targets, self.feature_names = source.n_targets, source.feature_names

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """The blocks of the source."""
        return self._source.blocks(size, start)

    def where(self, number: int) -> str:
        """The row of the source."""
        return self._source.where(number)

    def reduce(
        self,
        work: Callable[[RowBlock], Sum | None],
        size: int,
        *,
        n_threads: int | None = 1,
        told: Callable[[int, Sum], object] | None = None,
        before: tuple[int, Sum] | None = None,
    ) -> Sum:
        """The sum over all rows, which are counted on the way; a pass that is only a part of one is not checked."""
        if before is not None:
            return self._source.reduce(work, size, n_threads=n_threads, told=told, before=before)
        is_cut_short = False

        def tell(done: int, sums: _Sums[Sum]) -> bool:
            nonlocal is_cut_short
            is_cut_short = told is not None and sums.found is not None and bool(told(done, sums.found))
            return is_cut_short

        sums = self._source.reduce(_Counted(work), size, n_threads=n_threads, told=tell)
        if not is_cut_short:
            sums.tally.check(self._expected)
        if sums.found is None:
            raise ValueError("no row of the source is left; give rows that are no errors.")
        return sums.found


@dataclass(frozen=True)
class _Sums(Generic[Sum]):
    """A sum over rows, None where nothing was said of them, and how many they were."""

    tally: Tally
    found: Sum | None

    def __add__(self, other: _Sums[Sum]) -> _Sums[Sum]:
        both = self.found if other.found is None else other.found if self.found is None else self.found + other.found
        return _Sums(self.tally + other.tally, both)


@dataclass(frozen=True)
class _Counted(Generic[Sum]):
    """What a function makes of a block, with the number of its rows."""

    work: Callable[[RowBlock], Sum | None]

    def __call__(self, block: RowBlock) -> _Sums[Sum]:
        return _Sums(Tally.of_block(block), self.work(block))


def _check_features(block: RowBlock, names: Sequence[str] | None) -> None:
    values = block.X.data if sp.issparse(block.X) else block.X
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.abs(values).max(initial=0.0))
    if total <= LARGEST:
        return
    rows = block.X.toarray() if sp.issparse(block.X) else block.X
    with np.errstate(invalid="ignore"):
        row, column = np.argwhere(~(np.abs(rows) <= LARGEST))[0]
    name = f"feature {column}" if names is None else f"feature {names[column]!r}"
    value = rows[row, column]
    cure = "drop or fill such rows first" if not np.isfinite(value) else "multiply X by a constant first"
    raise UnusableRow(f"X holds {value:g} in {{row}}, {name}; {cure}.", int(block.numbers[row]))


def _check_targets(block: RowBlock) -> None:
    if block.y.dtype.kind not in "fiub":
        raise ValueError("y holds no numbers; use KernelPursuitClassifier for labels.")
    bad = np.flatnonzero(~np.isfinite(block.y).all(axis=1))
    if len(bad):
        value = block.y[bad[0]][~np.isfinite(block.y[bad[0]])][0]
        raise UnusableRow(f"y holds {value:g} in {{row}}; drop or fill such rows first.", int(block.numbers[bad[0]]))


def _check_weights(block: RowBlock) -> None:
    if block.weights is None:
        return
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((block.weights >= 0) & (block.weights < np.inf)))
    if len(bad):
        words = f"sample_weight is {block.weights[bad[0]]:g} in {{row}}; give weights of at least 0."
        raise UnusableRow(words, int(block.numbers[bad[0]]))


def _labels_of(block: RowBlock) -> dict[object, float]:
    """The weight of the rows of each class, by label."""
    labels = block.y[:, 0]
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise UnusableRow(f"y holds {labels[row]:g} in {{row}}; drop or fill such rows first.", int(block.numbers[row]))
    if labels.dtype.kind == "O":
        found: dict[object, float] = {}
        for number, label, weight in zip(block.numbers, labels.tolist(), block.sample_weights.tolist()):
            if label is None or label != label:
                raise UnusableRow("y holds no label in {row}; drop or fill such rows first.", int(number))
            found[label] = found.get(label, 0.0) + weight
        return found
    known, which = np.unique(labels, return_inverse=True)
    return dict(zip(known.tolist(), np.bincount(which, weights=block.sample_weights).tolist()))


def _check_labels(labels: dict[object, float]) -> None:
    if len(labels) > MOST_LABELS:
        raise ValueError(f"y holds more than {MOST_LABELS} different labels; use KernelPursuitRegressor for numbers.")
