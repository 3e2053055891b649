"""A problem as blocks of rows, with the columns of its models: what a pass over all rows goes over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.pursuit.checkpoint import key_of
from kernelpursuit.pursuit.moments import ModelColumns
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.watch import Watch
from kernelpursuit.rows import ArraySource, RowBlock, RowSource
from kernelpursuit.rows.source import Sum

# The basis of fewer rows for each column than this is small, and the loop over it exact.
ROWS_A_COLUMN = 16


@dataclass(frozen=True)
class Stream:
    """All rows in blocks, some of them in memory, and the columns of models.

    source     all rows
    n_rows     their number
    in_memory  some of them, or all
    columns    what is fixed, then atoms
    n_threads  threads that take blocks in turn
    watch      told how far a pass is, or None
    """

    source: RowSource
    n_rows: int
    in_memory: ArraySource
    columns: ModelColumns
    n_threads: int | None = 1
    watch: Watch | None = None

    @classmethod
    def of(cls, problem: Problem, n_threads: int | None, watch: Watch | None) -> Stream:
        """The training rows of a problem, and all of its atoms."""
        atoms = np.arange(problem.dictionary.n_atoms)
        columns = ModelColumns(problem.dictionary, atoms, problem.always, problem.intercept)
        rows = ArraySource(problem.X, problem.targets.T, problem.weights, problem.counts)
        stream = cls.of_arrays(rows, columns, n_threads, watch)
        if problem.all_rows is None:
            return stream
        return replace(stream, source=problem.all_rows.source, n_rows=problem.all_rows.n_rows)

    @classmethod
    def of_arrays(
        cls, rows: ArraySource, columns: ModelColumns, n_threads: int | None = 1, watch: Watch | None = None
    ) -> Stream:
        """Rows that are all in memory."""
        return cls(rows, rows.n_rows, rows, columns, n_threads=n_threads, watch=watch)

    def in_order(self, atoms: np.ndarray) -> Stream:
        """The same with atoms in another order."""
        return replace(self, columns=replace(self.columns, atoms=atoms))

    @property
    def pays(self) -> bool:
        """Whether blocks cost less than a basis with a row for each column."""
        return self.n_rows >= ROWS_A_COLUMN * len(self.columns)

    def sample(self, n_rows: int) -> RowBlock:
        """So many of the rows in memory, evenly."""
        return self.in_memory.take(np.linspace(0, self.in_memory.n_rows - 1, n_rows).astype(np.intp))

    def reduce(self, work: Callable[[RowBlock], Sum], size: int) -> Sum:
        """The sum of what `work` makes of every block of this size."""
        checkpoint = None if self.watch is None else self.watch.checkpoint
        key = "" if self.watch is None or checkpoint is None else key_of(work, size, self.watch.rows)

        def told(done: int, total: Sum) -> bool:
            """Show where the pass is, keep its sum, and say whether to end it."""
            if self.watch is None:
                return False
            self.watch.tell(min(1.0, done / self.n_rows))
            if checkpoint is not None:
                checkpoint.put(key, (done, total))
            return self.watch.cut_short()

        before = None if checkpoint is None else checkpoint.get(key)
        return self.source.reduce(work, size, n_threads=self.n_threads, told=told, before=before)
