"""Bars on stderr, with a rate and the time left; lines now and then where that is no terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from kernelpursuit.callbacks import Callback, Stage

if TYPE_CHECKING:
    from rich.console import Console

    from kernelpursuit._types import Path

# Seconds between two lines in a log, and before the first.
SECONDS_BETWEEN_LINES = 10.0
# Seconds after which a rate is worth showing.
SETTLED = 0.5


class Progress:
    """How far something is, from 0 to 1 where that is known, and how many rows or atoms it takes a second."""

    def __init__(self, console: Console, words: str, *, is_shown: bool = True):
        from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._console, self._is_shown = console, is_shown
        columns = [
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}", style="cyan", markup=False),
            TimeRemainingColumn(compact=True),
        ]
        self._bars = Bars(
            *columns,
            console=console,
            transient=True,
            disable=not (is_shown and console.is_terminal),
        )
        self._task = self._bars.add_task(words, total=None, rate="")
        self._words, self._fraction, self._rate = words, 0.0, ""
        self._started = self._next = time.monotonic()
        self._next += SECONDS_BETWEEN_LINES
        self._counted: tuple[str, int, float] = ("", 0, self._started)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._bars.stop()

    def at(self, fraction: float | None, words: str | None = None) -> None:
        """Say how much of the whole is done, and what is being done."""
        if words is not None and words != self._words:
            # What was counted belongs to what was done before.
            self._words, self._rate = words, ""
        if fraction is not None:
            # A stage that begins anew does not take back what was said before.
            self._fraction = max(self._fraction, fraction)
        self._update()

    def count(self, n_done: int, things: str, n_all: int | None = None) -> None:
        """Say how many of some things are done, of about how many; fewer than before are those of another round."""
        now = time.monotonic()
        before, n_before, since = self._counted
        if things != before or n_done < n_before:
            since = now
            self._rate = ""
        self._counted = things, n_done, since
        if now - since > SETTLED:
            rate = n_done / (now - since)
            left = f", {max(0, n_all - n_done) / rate:.0f} s left in this pass" if n_all and rate else ""
            self._rate = f"{rate:,.0f} {things}/s{left}"
        self._update()

    def _update(self) -> None:
        known = {"completed": self._fraction, "total": 1.0} if self._fraction else {}
        self._bars.update(self._task, description=self._words, rate=self._rate, **known)  # type: ignore[arg-type]
        now = time.monotonic()
        if self._is_shown and not self._console.is_terminal and now >= self._next:
            self._next = now + SECONDS_BETWEEN_LINES
            self._console.print(self._line(now - self._started), soft_wrap=True)

    def _line(self, elapsed: float) -> str:
        left = f"about {elapsed * (1 / self._fraction - 1):.0f} s left" if self._fraction else ""
        share = f"{self._fraction:.0%}" if self._fraction else ""
        return ", ".join(part for part in (self._words, share, self._rate, f"{elapsed:.0f} s", left) if part)


class FitProgress(Callback):
    """Shows where a fit is.

    Parameters
    ----------
    bar : Progress
    start, share : float
        Where the fit begins in all that is done, and how much of that it is.
    words : str
        What is said before the names of stages.
    """

    def __init__(self, bar: Progress, *, start: float = 0.0, share: float = 1.0, words: str = ""):
        self._bar, self._start, self._share, self._words = bar, start, share, words

    def on_stage(self, stage: Stage) -> bool:
        """Show the stage, and never end it."""
        self._bar.at(self._start + self._share * stage.fraction, self._words + stage.name)
        return False

    def __call__(self, path: Path) -> bool:
        """Show how many atoms a second are picked."""
        self._bar.count(path.n_steps, "atoms")
        return False
