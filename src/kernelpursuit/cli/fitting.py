"""What commands that fit have in common: the task, rows held out, progress."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kernelpursuit.cli.columns import Columns
from kernelpursuit.cli.data import Training, open_training
from kernelpursuit.cli.progress import FitProgress, Progress
from kernelpursuit.cli.split import SomeRows, held_out
from kernelpursuit.cli.task import CLASSIFICATION, REGRESSION, Task, decide
from kernelpursuit.rows import RowBlock, RowSource

if TYPE_CHECKING:
    from kernelpursuit.cli.screen import Screen


def decided_task(screen: Screen, rows: Training, wanted: str | None) -> Task:
    """The task that the user wants, or that the target decides, which is said."""
    if wanted is not None:
        known = [one for one in (REGRESSION, CLASSIFICATION) if wanted and one.startswith(wanted.lower())]
        if not known:
            raise typer.BadParameter(f"--task {wanted!r} is not known; use {REGRESSION} or {CLASSIFICATION}.")
        return Task(known[0], "--task says so")
    found = decide(rows.first_targets(), rows.name)
    other = REGRESSION if found.is_classification else CLASSIFICATION
    screen.note(f"{found.name}, since {found.why}; for the other: --task {other}")
    return found


def split(rows: Training, test: str | None, seed: int, columns: Columns) -> tuple[RowSource, RowSource | None]:
    """Rows to fit and rows to test on: a share of them, or those of another file."""
    if test is None:
        return rows.source, None
    try:
        share = float(test)
    except ValueError:
        return rows.source, open_training(Path(test), columns).source
    if not 0 < share < 1:
        raise typer.BadParameter(f"--test {test} is not usable; give a share between 0 and 1, or a file.")
    tested = held_out(rows.n_rows(), share, seed)
    return SomeRows(rows.source, ~tested), SomeRows(rows.source, tested)


class CountedRows(RowSource):
    """The rows of a source, which a bar is told of as they are read; `about` is how many there may be."""

    def __init__(self, source: RowSource, bar: Progress, about: int | None = None):
        self._source, self._bar, self._about = source, bar, source.n_rows or about
        self.n_rows, self.n_features, self.n_targets = source.n_rows, source.n_features, source.n_targets
        self.feature_names = source.feature_names
        self.n_seen = 0

    def blocks(self, size: int, start: int = 0) -> Iterator[RowBlock]:
        """The blocks of the source."""
        for block in self._source.blocks(size, start):
            yield block
            n_done = block.start + len(block)
            self.n_seen = max(self.n_seen, n_done)
            self._bar.count(n_done, "rows", self._about)

    def where(self, number: int) -> str:
        """The row of the source."""
        return self._source.where(number)


def callbacks(bar: Progress, time_limit: float | None) -> list[Any]:
    """What follows a fit."""
    from kernelpursuit.callbacks import TimeLimit

    return [FitProgress(bar), *([] if time_limit is None else [TimeLimit(time_limit)])]
