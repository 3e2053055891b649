"""Progress on stderr for fits that take longer than a moment."""

from __future__ import annotations

import sys
import time
from typing import Any

QUIET_SECONDS = 2.0
SECONDS_BETWEEN = 0.5


class Progress:
    """Writes one line that renews itself, from two seconds after the start on.

    On a terminal the line is overwritten; elsewhere (a log file) a new one is written every ten seconds.
    """

    def __init__(self, max_atoms: int, enabled: bool):
        self.max_atoms = max_atoms
        self.enabled = enabled
        self.started = time.monotonic()
        self._next = self.started + QUIET_SECONDS
        self._shown = False

    def step(self, path: Any) -> None:
        """Show where the path is, if it is time to."""
        now = time.monotonic()
        if not self.enabled or now < self._next:
            return
        terminal = sys.stderr.isatty()
        self._next = now + (SECONDS_BETWEEN if terminal else 10.0)
        elapsed, k = now - self.started, path.n_steps
        relative = path.residual_norm[-1] / path.residual_norm[0] if path.residual_norm[0] else 0.0
        left = elapsed / max(k, 1) * (self.max_atoms - k)
        line = (
            f"kernelpursuit: {k} of at most {self.max_atoms} atoms, relative residual {relative:.4f}, "
            f"{elapsed:.0f} s, up to {left:.0f} s left"
        )
        sys.stderr.write(f"\r{line:<100}" if terminal else line + "\n")
        sys.stderr.flush()
        self._shown = terminal

    def close(self) -> None:
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()
