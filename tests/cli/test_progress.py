"""Bars on terminals, and lines in logs."""

import io

import pytest
from rich.console import Console

from kernelpursuit.callbacks import Stage
from kernelpursuit.cli import progress
from kernelpursuit.cli.progress import FitProgress, Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def console(is_terminal):
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=120, highlight=False)


def test_lines_where_there_is_no_terminal(clock):
    log = console(False)
    with Progress(log, "reading rows") as bar:
        bar.count(0, "rows")
        clock.now += 11
        bar.count(5500, "rows")
        clock.now += 11
        bar.count(11_000, "rows", 22_000)
        follow = FitProgress(bar, start=0.5, share=0.5, words="fold 2 of 2: ")
        clock.now += 10
        follow.on_stage(Stage("scales", 0.5, 1.0))
    assert log.file.getvalue().splitlines() == [
        "reading rows, 500 rows/s, 11 s",
        "reading rows, 500 rows/s, 22 s left in this pass, 22 s",
        "fold 2 of 2: scales, 75%, 32 s, about 11 s left",
    ]


def test_a_bar_on_a_terminal_goes_away():
    terminal = console(True)
    with Progress(terminal, "scales") as bar:
        bar.at(0.4)
        bar.count(3, "atoms")
    assert "scales" in terminal.file.getvalue()
    assert terminal.file.getvalue().endswith("\x1b[2K")


def test_nothing_where_it_is_not_wanted(clock):
    log = console(False)
    with Progress(log, "scales", is_shown=False) as bar:
        clock.now += 60
        bar.at(0.5)
    assert log.file.getvalue() == ""
