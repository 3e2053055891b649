"""Partitions on the workers of a cluster as a source of rows: sums are made where the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import cloudpickle
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client, Future

from kernelpursuit.dask.connection import connected, workers_may_fail
from kernelpursuit.dask.partitions import Given, Partition
from kernelpursuit.dask.work import added, blocks_of, unpickled
from kernelpursuit.rows import RowBlock, RowSource
from kernelpursuit.rows.source import Sum

# The client sees so many sums on the way through a pass, each of consecutive partitions; within them, workers add up.
SUMS_A_PASS = 8
# Dask warns of graphs of more than ten megabytes, which the atoms of a large model alone may have.
LARGE_WORK = 4 * 10**6


class DaskSource(RowSource):
    """Rows in Dask arrays or frames; a pass over them sends work to the partitions, and fetches their sum.

    Parameters
    ----------
    X : Dask array or frame, in chunks of rows
    y : Dask array, series or frame, or the names of columns of X
    weights : Dask array or series, optional
    client : distributed.Client, optional
        None is the current one.

    Notes
    -----
    Sums are added up in an order that the partitions decide alone: two passes over the same chunks have the same bits,
    wherever and in whatever order the workers were done. Lengths of chunks that are not known take one pass.
    """

    n_rows: int

    def __init__(self, X: object, y: object, weights: object = None, client: Client | None = None):
        given = Given.of(X, y, weights)
        self._client = connected(client)
        self._partitions = given.partitions(self._client)
        self.n_features, self.n_targets = given.features.shape[1], given.n_targets
        self.n_rows = _end(self._partitions)
        self.feature_names = given.feature_names

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """Fetch one partition after the other; blocks end where partitions do."""
        for partition in self._partitions:
            if _end([partition]) <= start:
                continue
            with workers_may_fail():
                chunks = self._client.gather(self._client.compute(list(partition.chunks)))
            for block in blocks_of(partition.place, size, *chunks):
                if block.start >= start:
                    yield block

    def reduce(
        self,
        work: Callable[[RowBlock], Sum | None],
        size: int,
        *,
        n_threads: int | None = 1,
        told: Callable[[int, Sum], object] | None = None,
        before: tuple[int, Sum] | None = None,
    ) -> Sum:
        """The sum over all rows, made on the workers, one thread of theirs for each partition.

        `n_threads` is for rows in this process, and says nothing here.
        """
        groups, total = self._groups(), None
        # Where partitions are others than those of the earlier pass, it is begun anew.
        if before is not None and before[0] in map(_end, groups):
            done, total = before
            groups = [group for group in groups if _end(group) > done]
        futures = self._submit(groups, work, size)
        try:
            for group, future in zip(groups, futures):
                with workers_may_fail():
                    total = added(total, future.result())
                if told is not None and total is not None and told(_end(group), total):
                    break
        finally:
            # Where something was raised, what is still to be done is of no use.
            self._client.cancel(futures)
        if total is None:
            raise ValueError("the source has no rows; give at least one.")
        return total

    def where(self, number: int) -> str:
        """A row by its number among all, and by its partition."""
        place = next(one.place for one in self._partitions if _end([one]) > number)
        return f"row {number:,} ({number - place.start:,} of partition {place.number})"

    def _groups(self) -> list[list[Partition]]:
        """Partitions whose sums the client sees, in order."""
        n_groups = min(SUMS_A_PASS, len(self._partitions))
        ends = np.linspace(0, len(self._partitions), n_groups + 1).astype(int).tolist()
        return [self._partitions[start:stop] for start, stop in pairwise(ends)]

    def _submit(
        self, groups: Sequence[Sequence[Partition]], work: Callable[[RowBlock], Sum | None], size: int
    ) -> list[Future]:
        """A future for the sum of every group."""
        pickled = cloudpickle.dumps(work)
        shared = delayed(unpickled, pure=False)(pickled)
        sums = [_tree([one.sum_of(shared, size) for one in group]) for group in groups]
        with warnings.catch_warnings():
            if len(pickled) > LARGE_WORK:
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.compute(sums)


def _tree(sums: Sequence[Delayed]) -> Delayed:
    """Sums of neighbours, then of these, and so on: a shape that the number of sums decides alone."""
    add = delayed(added, pure=False)
    while len(sums) > 1:
        pairs = [add(first, second) for first, second in zip(sums[::2], sums[1::2])]
        sums = [*pairs, *sums[2 * len(pairs) :]]
    return sums[0]


def _end(partitions: Sequence[Partition]) -> int:
    """The number of rows up to the end of the last of these."""
    place = partitions[-1].place
    return place.start + place.n_rows
