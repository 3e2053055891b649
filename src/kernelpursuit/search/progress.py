"""Progress of a search on stderr."""

from __future__ import annotations

import sys

from kernelpursuit.pursuit.progress import ProgressLine
from kernelpursuit.search.table import Table


class SearchProgress(ProgressLine):
    """Shows how many combinations are fitted, and the best of them."""

    def __init__(self, n_fits: int, enabled: bool):
        super().__init__(enabled)
        self.n_fits = n_fits

    def say(self, words: str) -> None:
        """Write a line of its own."""
        if self.enabled:
            sys.stderr.write(f"kernelpursuit: {words}\n")

    def step(self, n_done: int, table: Table, by: str) -> None:
        """Show the number of finished fits and the best so far, at most once an interval."""
        if not self.is_due:
            return
        elapsed, best = self.elapsed, ""
        if table.best >= 0:
            gamma, score = (table.columns[name][table.best] for name in ("gamma", "score"))
            best = f", best {by} {score:.4g} at gamma={gamma:.3g}"
        left = elapsed / n_done * (self.n_fits - n_done)
        self.show(f"{n_done} of {self.n_fits} combinations{best}, {elapsed:.0f} s, about {left:.0f} s left")
