"""Where words go: results to stdout, as tables or JSON, and all others to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from kernelpursuit.cli.progress import Progress

# Columns of a table that goes to no terminal.
WIDTH = 110


class Screen:
    """What a command writes to.

    Parameters
    ----------
    as_json : bool
        Whether results are JSON.
    quiet : bool
        Whether nothing but failures goes to stderr.
    """

    def __init__(self, as_json: bool = False, quiet: bool = False):
        self.as_json, self.quiet = as_json, quiet

    @cached_property
    def out(self) -> Console:
        """Stdout."""
        from rich.console import Console

        return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False, emoji=False)

    @cached_property
    def err(self) -> Console:
        """Stderr."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, markup=False, emoji=False)

    def note(self, words: str) -> None:
        """Say something by the way."""
        if not self.quiet:
            self.err.print(words, style="dim", soft_wrap=True)

    def warn(self, words: str) -> None:
        """Say what the user should know."""
        if not self.quiet:
            self.err.print(f"warning: {words}", style="yellow", soft_wrap=True)

    def fail(self, words: str) -> None:
        """Say why there is no result."""
        self.err.print(f"error: {words}", style="red", soft_wrap=True)

    def show(self, data: Mapping[str, Any], draw: Callable[[], Sequence[Any]]) -> None:
        """Write a result: its data as JSON, or tables and lines that are drawn of it."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(data), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
            return
        for one in draw():
            self.out.print(one)

    def progress(self, words: str, *, is_shown: bool = True) -> Progress:
        """A bar on stderr, to be used by `with`."""
        from kernelpursuit.cli.progress import Progress

        return Progress(self.err, words, is_shown=is_shown and not self.quiet)


def facts(title: str, known: Mapping[str, object]) -> Table:
    """A table of names and values; those without a value are left out."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), box=box.ROUNDED, show_header=False, title_style="bold", title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in known.items():
        if value is not None and value != "":
            table.add_row(name, Text(str(value)))
    return table


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], marked: int | None = None) -> Table:
    """A table with a line of names; one of its rows may be marked."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), box=box.ROUNDED, title_style="bold", title_justify="left", header_style="cyan")
    for j, name in enumerate(columns):
        is_text = all(isinstance(row[j], str) for row in rows)
        table.add_column(Text(name), justify="left" if is_text else "right", overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*(Text(number(value)) for value in row), style="bold green" if i == marked else None)
    return table


def number(value: object) -> str:
    """A number with four digits that count, others as they are."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def plain(value: Any) -> Any:
    """A value that JSON has: arrays as lists, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
