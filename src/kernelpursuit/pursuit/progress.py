"""Progress on stderr for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time

QUIET_SECONDS = 2.0
SECONDS_BETWEEN = 0.5
SECONDS_BETWEEN_LINES = 10.0


class ProgressLine:
    """One line that renews itself, from two seconds after the start on.

    On a terminal the line is overwritten; elsewhere (a log file) a new one is written every ten seconds.
    """

    def __init__(self, enabled: bool):
        self.enabled = enabled
        self.started = time.monotonic()
        self._next = self.started + QUIET_SECONDS
        self._shown = False

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def is_due(self) -> bool:
        """Whether it is time to show where the work is."""
        return self.enabled and time.monotonic() >= self._next

    def show(self, words: str) -> None:
        """Write the line."""
        terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (SECONDS_BETWEEN if terminal else SECONDS_BETWEEN_LINES)
        line = f"kernelpursuit: {words}"
        sys.stderr.write(f"\r{line:<100}" if terminal else line + "\n")
        sys.stderr.flush()
        self._shown = terminal

    def close(self) -> None:
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()
