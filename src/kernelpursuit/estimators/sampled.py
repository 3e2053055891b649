"""Rows that are not all looked at at once: what is learned and picked from a sample, and the way to all of them.

Above some number of rows, and whenever they come from a source, a fit learns scales and picks atoms on a sample of the
rows; coefficients and criteria are those of all rows, in passes over blocks. The sample has rows of every class,
however rare, with weights under which each class counts as much as it does among all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from kernelpursuit.dictionary import Precomputed, split
from kernelpursuit.estimators.spec import FitSpec
from kernelpursuit.exceptions import SampledWarning
from kernelpursuit.learning import Observations, range_of_features, usual_targets
from kernelpursuit.learning.constants import RARE_SHARE
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import RKHS, Penalty, Ridge, as_penalty
from kernelpursuit.pursuit import AllRows, LoopSpec, TrainingRows
from kernelpursuit.pursuit.measure import classes_of
from kernelpursuit.rows import (
    ArraySource,
    Extremes,
    Prepared,
    RowBlock,
    RowSource,
    SurveyedSource,
    keys_of,
    sampled_places,
    survey,
)
from kernelpursuit.updates import Orthogonal

if TYPE_CHECKING:
    from kernelpursuit.estimators.fitting import TrainingData

# sample_rows="auto": rows that scales and atoms are learned from, and rows of a dictionary that is given, where there
# are more than so many rows (benchmarks/massive.py).
ROWS_LEARNED_FROM = 200_000
ROWS_PICKED_FROM, ROWS_OF_A_LOSS, SAMPLED_ABOVE = 10_000, 30_000, 50_000
# A sample of rows of many features has no more bytes than this, or than an eighth of a given memory budget; but so many
# rows in any case.
SAMPLE_BYTES, BUDGET_SHARE, LEAST_SAMPLE = 512 * 2**20, 8, 5_000


@dataclass(frozen=True)
class Whole:
    """All rows, where those of a `TrainingData` are a sample.

    source       blocks of them, with targets as the fit takes them
    n_rows       number of those of a weight above zero
    numbers      of the rows of the sample among them, ascending
    extremes     of the targets, where these are numbers; else None
    mean_weight  of the rows that have one above zero
    total        the sum of the sizes of all targets, where these are numbers
    by_class     sum of the weights of each class, where targets are codes of classes; else None
    """

    source: RowSource
    n_rows: int
    numbers: np.ndarray
    extremes: Extremes | None
    mean_weight: float = 1.0
    total: float = 0.0
    by_class: np.ndarray | None = None


def most_rows(memory_budget: int | None, values_a_row: int) -> int:
    """Rows of the sample that a pass over a source takes."""
    most_bytes = SAMPLE_BYTES if memory_budget is None else min(SAMPLE_BYTES, memory_budget // BUDGET_SHARE)
    return int(np.clip(most_bytes // (8 * values_a_row), LEAST_SAMPLE, ROWS_LEARNED_FROM))


def rows_of_each(most: int) -> int:
    """Rows of each class that a sample of so many has at least, where there are as many."""
    return int(RARE_SHARE * most)


def surveyed(
    source: RowSource,
    seed: int,
    *,
    memory_budget: int | None,
    has_labels: bool,
    n_threads: int | None,
    told: Callable[[float], None] | None = None,
) -> tuple[RowBlock, Whole, dict[object, float] | None]:
    """Pass over a source: a sample of its rows, the whole of them, and the weights of its labels.

    The whole has the targets that the source has; `told` is told which fraction is done, where that is known.
    """
    n_rows = source.n_rows
    tell = None if told is None or not n_rows else lambda done: told(min(1.0, done / n_rows))
    most = most_rows(memory_budget, source.n_features + source.n_targets)
    found = survey(
        source,
        most,
        seed,
        of_each=rows_of_each(most) if has_labels else None,
        n_threads=n_threads,
        told=tell,
    )
    rows = found.sample.rows
    whole = Whole(
        SurveyedSource(source, found),
        found.n_counted,
        rows.numbers,
        extremes=found.extremes,
        mean_weight=found.mean_weight,
        total=found.tally.total,
    )
    return rows, whole, found.labels


def needs_memory(spec: FitSpec) -> str | None:
    """The setting for which all rows have to be in memory; None where coefficients can come from passes over blocks.

    Under the squared loss, criteria of every size come from these passes too. Under another, the loop is over the
    sample, and only the coefficients of the model that is kept are of all rows.
    """
    loop, (searched, _) = spec.loop, split(spec.loop.dictionary)
    update, rule = loop.update, loop.rule
    if type(update) is not Orthogonal:
        return f"update={update.name!r}"
    if update.rcond is not None:
        return f"update={update!r}"
    if loop.exchange:
        return "exchange=True"
    if type(_penalty(spec)) not in (NoneType, Ridge, RKHS):
        return f"penalty={loop.penalty!r}"
    if rule.needs_correlation or rule.needs_coherence:
        return f"stop={rule.name!r}"
    if isinstance(searched, Precomputed):
        return "kernel='precomputed'"
    return "a path for each target" if spec.one_by_one else None


def _penalty(spec: FitSpec) -> Penalty | None:
    """The penalty, or None where it is open or there is none."""
    return None if spec.penalty_is_open else as_penalty(spec.loop.penalty)


def sampled(data: TrainingData, spec: FitSpec, sample_rows: int | str | None, seed: int) -> TrainingData:
    """The data with no more rows in memory than the fit looks at, and the whole of them where they are more."""
    has_all = data.whole is None or len(data.whole.numbers) == data.whole.n_rows
    setting = needs_memory(spec)
    if setting is not None:
        if not (sample_rows is None or isinstance(sample_rows, str) or sample_rows >= spec.n_rows):
            raise ValueError(
                f"sample_rows={sample_rows} does not go with {setting}, which needs all rows at every step; leave "
                "sample_rows out, or fit so many of the rows."
            )
        if has_all or data.whole is None:
            return replace(data, whole=None)
        warnings.warn(
            f"{setting} needs rows in memory, so this fit is of {len(data.y)} of {data.whole.n_rows} rows; with the "
            "default loop it would be of all.",
            SampledWarning,
            stacklevel=5,
        )
        return replace(with_shares_of_classes(data, data.whole), whole=None)
    whole = data.whole or _whole_of(data)
    n_rows = whole.n_rows
    wanted = _wanted(spec, sample_rows, data, n_rows)
    names_rows = isinstance(spec.loop.candidates, np.ndarray | list | tuple)
    if has_all and (n_rows <= wanted or sp.issparse(data.X) or names_rows):
        return replace(data, whole=None)
    if len(whole.numbers) <= wanted:
        return with_shares_of_classes(replace(data, whole=whole), whole)
    rows = whole.numbers if data.numbers is None else np.searchsorted(data.numbers, whole.numbers)
    groups = classes_of(data.y[rows].T) if data.has_codes else None
    kept = sampled_places(keys_of(whole.numbers, seed), wanted, groups, rows_of_each(wanted))
    numbers, places = whole.numbers[kept], rows[kept]
    X, whole = data.X[places], replace(whole, numbers=numbers)
    sample = replace(
        data,
        X=X if sp.issparse(X) else np.asarray(X),
        y=data.y[places],
        weights=None if data.weights is None else data.weights[places],
        counts=None if data.counts is None else data.counts[places],
        numbers=numbers if data.numbers is None else data.numbers[places],
        whole=whole,
    )
    return with_shares_of_classes(sample, whole)


def with_shares_of_classes(data: TrainingData, whole: Whole) -> TrainingData:
    """A sample that has more rows of rare classes than their share, with weights that put it right.

    The share of each class in the sum of the weights is that among all rows, and the mean of the weights too. A row
    still stands for one observation. A sample in which no class was too rare holds the rows of the lowest keys alone,
    and stays as it is.
    """
    if whole.by_class is None or len(data.y) >= whole.n_rows:
        return data
    classes = classes_of(data.y.T)
    weights = _evened(classes, data.weights, whole.by_class, n_rows=whole.n_rows)
    if weights is None:
        return data
    return replace(data, weights=weights, counts=_counted(data.weights, data.counts, len(classes)))


def _evened(classes: np.ndarray, weights: np.ndarray | None, by_class: np.ndarray, n_rows: int) -> np.ndarray | None:
    """Weights under which each class of a sample counts as `by_class` says of all rows; None where they do as it is."""
    if np.bincount(classes, minlength=len(by_class)).min() > rows_of_each(len(classes)):
        return None
    given = np.ones(len(classes)) if weights is None else weights
    seen = np.bincount(classes, weights=given, minlength=len(by_class))
    factors = by_class / np.where(seen > 0, seen, 1.0) * (len(classes) / n_rows)
    return given * factors[classes]


def _counted(weights: np.ndarray | None, counts: np.ndarray | None, n_rows: int) -> np.ndarray:
    """How often rows were seen, by what is given."""
    if counts is not None:
        return counts
    return np.ones(n_rows) if weights is None else weights


def _wanted(spec: FitSpec, sample_rows: int | str | None, data: TrainingData, n_rows: int) -> int:
    """Rows that atoms are learned or picked from: in memory, systems of papers take all unless told otherwise."""
    if sample_rows is None:
        return n_rows
    if not isinstance(sample_rows, str):
        return int(sample_rows)
    loop = spec.loop
    is_of_a_paper = loop.selection != "gain" or type(_penalty(spec)) not in (NoneType, Ridge)
    if spec.learns and not is_of_a_paper:
        return most_rows(None, data.X.shape[1] + data.y.shape[1])
    if is_of_a_paper and loop.loss is None and data.whole is None:
        return n_rows
    return rows_of_loop(loop.loss, loop.max_atoms, n_rows)


def rows_of_loop(loss: Loss | None, n_atoms: int, n_rows: int) -> int:
    """Rows that a loop over many picks atoms from; under a loss, the number of atoms is chosen on these as well."""
    least, each = (ROWS_PICKED_FROM, 20) if loss is None else (ROWS_OF_A_LOSS, 40)
    return n_rows if n_rows <= SAMPLED_ABOVE else min(n_rows, max(least, each * n_atoms))


def _whole_of(data: TrainingData) -> Whole:
    """All rows of data in memory."""
    numbers = np.arange(len(data.y)) if data.weights is None else np.flatnonzero(data.weights)
    return Whole(
        ArraySource(data.X, data.y, data.weights, data.counts),
        len(numbers),
        numbers,
        extremes=None if data.has_codes else Extremes.of(data.y if data.weights is None else data.y[numbers]),
        mean_weight=1.0 if data.weights is None else float(data.weights[numbers].mean()),
        by_class=np.bincount(classes_of(data.y.T), weights=data.weights) if data.has_codes else None,
    )


def all_rows_of(data: TrainingData, seen: Observations, spec: FitSpec) -> AllRows | None:
    """All rows as the loop takes them: prepared as those of the sample are; None where there is no sample."""
    whole = data.whole
    if whole is None:
        return None
    numbers = whole.numbers if seen.rows is None else whole.numbers[seen.rows]
    change, weight = Prepared(), whole.mean_weight
    largest = np.abs(data.y).max(axis=0) if whole.extremes is None else whole.extremes.largest
    if spec.joins_rows:
        targets = None
        if whole.extremes is not None and not spec.bears_outliers:
            targets = usual_targets(data.y, whole.extremes.values)
            largest = np.abs(np.clip(whole.extremes.values, *targets)).max(axis=0)
        change, weight = Prepared(targets=targets, features=range_of_features(seen.X), weight_unit=weight), 1.0
    total = whole.n_rows * weight
    return AllRows(whole.source.map(change), whole.n_rows, numbers, largest=largest, total_weight=total)


def for_a_loss(rows: TrainingRows, loop: LoopSpec) -> TrainingRows:
    """Rows of a loop under a loss: a sample of them, where they are many beside the atoms, which are known."""
    n_rows = len(rows.y)
    wanted = rows_of_loop(loop.loss, loop.max_atoms, n_rows)
    if wanted == n_rows:
        return rows
    whole = rows.all_rows or AllRows(
        ArraySource(rows.X, rows.y, rows.weights, rows.counts),
        n_rows,
        np.arange(n_rows),
        largest=np.abs(rows.y).max(axis=0),
        total_weight=float(n_rows if rows.weights is None else rows.weights.sum()),
    )
    classes = classes_of(rows.y.T) if loop.classes else None
    kept = sampled_places(keys_of(whole.numbers, loop.seed), wanted, classes, rows_of_each(wanted))
    weights, counts, calibrates = (
        None if given is None else given[kept] for given in (rows.weights, rows.counts, rows.calibrates)
    )
    if classes is not None:
        by_class = np.bincount(classes, weights=rows.weights)
        evened = _evened(classes[kept], weights, by_class, n_rows)
        if evened is not None:
            weights, counts = evened, _counted(weights, counts, len(kept))
    numbers = whole.numbers[kept]
    return TrainingRows(
        rows.X[kept],
        rows.y[kept],
        weights,
        counts,
        calibrates=calibrates,
        validation=rows.validation,
        all_rows=replace(whole, numbers=numbers),
    )
