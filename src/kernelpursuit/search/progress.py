"""Progress of a search on stderr, as `pursuit.progress` shows that of a fit."""

from __future__ import annotations

import sys
import time

from kernelpursuit.pursuit.progress import QUIET_SECONDS, SECONDS_BETWEEN
from kernelpursuit.search.table import Table


class SearchProgress:
    """Writes one line that renews itself after a fit, from two seconds after the start on."""

    def __init__(self, n_fits: int, enabled: bool):
        self.n_fits, self.enabled = n_fits, enabled
        self.started = time.monotonic()
        self._next = self.started + QUIET_SECONDS
        self._shown = False

    def say(self, words: str) -> None:
        """Write a line of its own."""
        if self.enabled:
            sys.stderr.write(f"kernelpursuit: {words}\n")

    def step(self, n_done: int, table: Table, by: str) -> None:
        """Show how many fits are done and what is best so far, if it is time to."""
        now = time.monotonic()
        if not self.enabled or now < self._next:
            return
        terminal = sys.stderr.isatty()
        self._next = now + (SECONDS_BETWEEN if terminal else 10.0)
        elapsed = now - self.started
        best = ""
        if table.best >= 0:
            gamma, score = (table.columns[name][table.best] for name in ("gamma", "score"))
            best = f", best {by} {score:.4g} at gamma={gamma:.3g}"
        line = (
            f"kernelpursuit: {n_done} of {self.n_fits} combinations{best}, {elapsed:.0f} s, "
            f"about {elapsed / n_done * (self.n_fits - n_done):.0f} s left"
        )
        sys.stderr.write(f"\r{line:<100}" if terminal else line + "\n")
        sys.stderr.flush()
        self._shown = terminal

    def close(self) -> None:
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()
