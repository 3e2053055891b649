"""Rows that are not all looked at at once: what is learned and picked from a sample, and the way to all of them.

Above some number of rows, and whenever they come from a source, a fit learns scales and picks atoms on a sample of the
rows; coefficients and criteria are those of all rows, in passes over blocks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from kernelpursuit.dictionary import Precomputed, split
from kernelpursuit.estimators.spec import FitSpec
from kernelpursuit.exceptions import SampledWarning
from kernelpursuit.learning import Observations, range_of_features, usual_targets
from kernelpursuit.penalties import Ridge, as_penalty
from kernelpursuit.pursuit import AllRows
from kernelpursuit.rows import (
    ArraySource,
    Extremes,
    Prepared,
    RowBlock,
    RowSource,
    SurveyedSource,
    sample_numbers,
    survey,
)
from kernelpursuit.updates import Orthogonal

if TYPE_CHECKING:
    from kernelpursuit.estimators.fitting import TrainingData

# sample_rows="auto": rows that scales and atoms are learned from, and rows of a dictionary that is given, where there
# are more than so many rows (benchmarks/massive.py).
ROWS_LEARNED_FROM = 200_000
ROWS_PICKED_FROM, SAMPLED_ABOVE = 10_000, 50_000
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
    """

    source: RowSource
    n_rows: int
    numbers: np.ndarray
    extremes: Extremes | None
    mean_weight: float = 1.0
    total: float = 0.0


def most_rows(memory_budget: int | None, values_a_row: int) -> int:
    """Rows of the sample that a pass over a source takes."""
    most_bytes = SAMPLE_BYTES if memory_budget is None else min(SAMPLE_BYTES, memory_budget // BUDGET_SHARE)
    return int(np.clip(most_bytes // (8 * values_a_row), LEAST_SAMPLE, ROWS_LEARNED_FROM))


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
    found = survey(
        source,
        most_rows(memory_budget, source.n_features + source.n_targets),
        seed,
        has_labels=has_labels,
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


def can_stream(spec: FitSpec) -> bool:
    """Whether coefficients and criteria can come from passes over blocks: the default loop under the squared loss."""
    loop, (searched, _) = spec.loop, split(spec.loop.dictionary)
    update = loop.update
    is_plain = loop.selection == "gain" and not loop.exchange
    penalty = None if spec.penalty_is_open else as_penalty(loop.penalty)
    return (
        is_plain
        and type(update) is Orthogonal
        and update.rcond is None
        and loop.loss is None
        and not spec.one_by_one
        and (penalty is None or type(penalty) is Ridge)
        and not (loop.rule.needs_correlation or loop.rule.needs_coherence)
        and not isinstance(searched, Precomputed)
    )


def sampled(data: TrainingData, spec: FitSpec, sample_rows: int | str | None, seed: int) -> TrainingData:
    """The data with no more rows in memory than atoms are picked from, and the whole of them where they are more."""
    has_all = data.whole is None or len(data.whole.numbers) == data.whole.n_rows
    if not can_stream(spec):
        if has_all or data.whole is None:
            return replace(data, whole=None)
        warnings.warn(
            f"this fit needs its rows in memory, and is of {len(data.y)} of {data.whole.n_rows} rows; with the "
            "squared loss and the default loop it would be of all.",
            SampledWarning,
            stacklevel=5,
        )
        return replace(data, whole=None)
    whole = data.whole or _whole_of(data)
    n_rows = whole.n_rows
    wanted = _wanted(spec, sample_rows, (n_rows, data.X.shape[1] + data.y.shape[1]))
    names_rows = isinstance(spec.loop.candidates, np.ndarray | list | tuple)
    if has_all and (n_rows <= wanted or sp.issparse(data.X) or names_rows):
        return replace(data, whole=None)
    if len(whole.numbers) <= wanted:
        return replace(data, whole=whole)
    numbers = sample_numbers(whole.numbers, wanted, seed)
    places = numbers if data.numbers is None else np.searchsorted(data.numbers, numbers)
    X = data.X[places]
    return replace(
        data,
        X=X if sp.issparse(X) else np.asarray(X),
        y=data.y[places],
        weights=None if data.weights is None else data.weights[places],
        counts=None if data.counts is None else data.counts[places],
        numbers=numbers if data.numbers is None else data.numbers[places],
        whole=replace(whole, numbers=numbers),
    )


def _wanted(spec: FitSpec, sample_rows: int | str | None, shape: tuple[int, int]) -> int:
    """Rows that atoms are learned or picked from, of so many rows of so many values."""
    n_rows, values_a_row = shape
    if sample_rows is None:
        return n_rows
    if not isinstance(sample_rows, str):
        return int(sample_rows)
    if spec.learns:
        return most_rows(None, values_a_row)
    return n_rows if n_rows <= SAMPLED_ABOVE else max(ROWS_PICKED_FROM, 20 * spec.loop.max_atoms)


def _whole_of(data: TrainingData) -> Whole:
    """All rows of data in memory."""
    numbers = np.arange(len(data.y)) if data.weights is None else np.flatnonzero(data.weights)
    return Whole(
        ArraySource(data.X, data.y, data.weights, data.counts),
        len(numbers),
        numbers,
        extremes=None if data.has_codes else Extremes.of(data.y if data.weights is None else data.y[numbers]),
        mean_weight=1.0 if data.weights is None else float(data.weights[numbers].mean()),
    )


def all_rows_of(data: TrainingData, seen: Observations, spec: FitSpec) -> AllRows | None:
    """All rows as the loop takes them: prepared as those of the sample are; None where there is no sample."""
    whole = data.whole
    if whole is None:
        return None
    numbers = whole.numbers if seen.rows is None else whole.numbers[seen.rows]
    change, largest = Prepared(), np.abs(data.y).max(axis=0)
    if spec.joins_rows:
        targets = None
        if whole.extremes is not None:
            targets = usual_targets(data.y, whole.extremes.values)
            largest = np.abs(np.clip(whole.extremes.values, *targets)).max(axis=0)
        change = Prepared(targets=targets, features=range_of_features(seen.X), weight_unit=whole.mean_weight)
    elif whole.extremes is not None:
        largest = whole.extremes.largest
    return AllRows(whole.source.map(change), whole.n_rows, numbers, largest=largest)
