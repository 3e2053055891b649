"""Follows a fit through its stages: progress on stderr, and callbacks that may end one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from kernelpursuit._types import Path
from kernelpursuit._validate import check_verbose
from kernelpursuit.callbacks import CallbackLike, Stage
from kernelpursuit.pursuit.checkpoint import Checkpoint, key_of
from kernelpursuit.pursuit.path import Replay
from kernelpursuit.pursuit.progress import ProgressLine

# The part of a fit in which callbacks see the path.
ALL_ROWS = "fitting all rows"
# The name under which an interrupt is told of.
INTERRUPTED = "Ctrl-C"
# What a loop says that a callback has ended.
ASKED = "the callback asked to stop"
# Of the loop over all rows under a loss, what the steps take; the rest is for the refit of the model that is kept.
STEPS = 0.8
# Of the time that classes take on all rows, that up to the end of the loop under the squared loss, and of validation:
# where nothing is known of it.
USUAL_SHARES_OF_CLASSES = 0.5, 0.75
# Below this fraction of a fit, what is left is known better from the estimate than from the time so far.
EARLY = 0.05


T = TypeVar("T")


class Ended(Exception):
    """A search for a minimum was asked to end."""


class Watch:
    """One fit, from its first stage to its last.

    A fit consists of parts, whose times are estimated beforehand (`expect`). `part` begins one, `within` divides it,
    and `ask` says how far it is; a true answer means that it should end with what it has.

    Parameters
    ----------
    callback : callable, Callback, list of these, or None
        Who is asked.
    verbose : bool
        Whether to show progress on stderr.
    checkpoint : Checkpoint, optional
        Where learning, passes over rows, and the loop keep what they have found.
    """

    def __init__(
        self,
        callback: CallbackLike | None = None,
        verbose: bool | int = False,
        checkpoint: Checkpoint | None = None,
    ):
        self.checkpoint = checkpoint
        #: A digest of the rows that are fitted, so that no checkpoint of others is taken up.
        self.rows = ""
        #: The same of all that the fit was given; empty where that is not known.
        self.fit = ""
        #: Seconds of the first pass over rows that are not in memory.
        self.pass_seconds = 0.0
        self.is_interrupted = False
        self._steps_key: str | None = None
        self.callbacks = _as_callbacks(callback)
        self.line = ProgressLine(check_verbose(verbose))
        self.current = ALL_ROWS
        self.name = ALL_ROWS
        self._spans = {ALL_ROWS: (0.0, 1.0)}
        self._span = (0.0, 1.0)
        self._done = 0.0
        self._hidden = False
        self._seconds, self._expected_at = 0.0, 0.0
        #: Where the loop over all rows ends, of the time that classes take on these, and validation after it.
        self.shares_of_classes = USUAL_SHARES_OF_CLASSES
        self._ended: dict[str, list[str]] = {}
        self._moved = 0.0, time.monotonic()
        for one in self.callbacks:
            if hasattr(one, "on_start"):
                one.on_start()

    @classmethod
    def of(cls, callback: Watch | CallbackLike | None, verbose: bool | int) -> Watch:
        """Return the watch of a fit that is already watched, or a new one."""
        return callback if isinstance(callback, Watch) else cls(callback, verbose)

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Say which parts the fit has from now on, in their order, and about how long each takes."""
        total, before, spans = sum(seconds.values()) or 1.0, 0.0, {}
        for part, time_of_part in seconds.items():
            spans[part] = (before / total, (before + time_of_part) / total)
            before += time_of_part
        self._spans, self._seconds, self._expected_at = spans, total, self.line.elapsed

    def part(self, part: str) -> None:
        """Begin a part; one that was not expected takes no time."""
        here = self._span[1] if self._span != (0.0, 1.0) else 0.0
        self.current = self.name = part
        self._span, self._done = self._spans.get(part, (here, here)), 0.0

    @contextmanager
    def within(self, start: float, stop: float, name: str | None = None, *, hidden: bool = False) -> Iterator[None]:
        """Do what takes the time from one fraction of the current stage to another, under a name of its own.

        Callbacks do not see paths that are `hidden`, of folds.
        """
        span, before, was_hidden, done = self._span, self.name, self._hidden, self._done
        self._hidden = hidden or was_hidden
        low, high = span
        self._span, self.name = (low + start * (high - low), low + stop * (high - low)), name or before
        self._done = 0.0
        try:
            yield
        finally:
            self._span, self.name, self._hidden = span, before, was_hidden
            self._done = max(done, stop)

    def ask(self, done: float = 0.0) -> bool:
        """Whether the current stage, of which this fraction is done, should end; shows where it is if that is due."""
        stage = self._stage(done)
        self._show(stage, stage.name)
        return self._is_ended(stage)

    def keep_steps(self, key: str | None) -> Replay | None:
        """Keep the steps of the loops to come under a key, if there is a checkpoint, and return those it has."""
        self._steps_key = key
        return None if self.checkpoint is None or key is None else self.checkpoint.get(key)

    def remembered(self, name: str, find: Callable[[], T]) -> T:
        """What a checkpoint of this fit has under a name, or what is found now, which it then has if all was found."""
        if self.checkpoint is None or not self.fit:
            return find()
        key = key_of(name, self.fit)
        found: T | None = self.checkpoint.get(key)
        if found is None:
            found = find()
            if not self.has_ended:
                self.checkpoint.put_where_plain(key, found)
        return found

    def interrupt(self) -> None:
        """End the fit as soon as may be, with what it has."""
        self.is_interrupted = True

    def cut_short(self) -> bool:
        """Whether a pass over rows should end where it is, since the fit was interrupted."""
        if self.is_interrupted:
            self._note(INTERRUPTED)
        return self.is_interrupted

    def tell(self, done: float) -> None:
        """Show where a stage is that cannot end before it is done."""
        stage = self._stage(done)
        self._show(stage, stage.name)

    def ask_again(self) -> bool:
        """The same question on the way to the next step, which may take long."""
        return self.ask(self._done)

    def step(self, path: Path, max_atoms: int, *, is_known: bool = False) -> str | None:
        """Ask after a step of a loop; return why it should end, or None. Callbacks see the path of the last loop.

        Where all atoms are known beforehand, steps end by the path alone: without those that are still to come, what
        was learned would be lost. Callbacks that look at the time see such steps, and are not asked.
        """
        k, stage, sees_path = path.n_steps, self._stage(path.n_steps / max_atoms), self._shows_path
        relative = path.residual_norm[-1] / path.residual_norm[0] if path.residual_norm[0] else 0.0
        words = f"{k} of at most {max_atoms} atoms, relative residual {relative:.4f}"
        self._show(stage, words if stage.name == ALL_ROWS else f"{stage.name}: {words}")
        if sees_path and self.checkpoint is not None and self._steps_key is not None:
            self.checkpoint.put(self._steps_key, Replay.of(path))
        if sees_path and self._ends_at(path):
            return ASKED
        if is_known:
            self._inform(stage)
            return None
        return ASKED if self._is_ended(stage) else None

    def step_done(self, path: Path) -> str | None:
        """The same of a step whose successors are done as well, so that nobody need be asked for the time."""
        return ASKED if self._shows_path and self._ends_at(path) else None

    def _ends_at(self, path: Path) -> bool:
        """Whether any callback ends the loop at this path; all of them are asked."""
        return any([callable(one) and one(path) for one in self.callbacks])

    @property
    def _shows_path(self) -> bool:
        return self.current == ALL_ROWS and not self._hidden

    def _stage(self, done: float) -> Stage:
        low, high = self._span
        self._done = min(max(done, 0.0), 1.0)
        return Stage(self.name, low + self._done * (high - low), high)

    def done(self) -> None:
        """Let callbacks see that a stage is done which could not end before."""
        self._inform(self._stage(1.0))

    def _inform(self, stage: Stage) -> None:
        """Let callbacks see a stage whose end is not theirs to decide."""
        for one in self.callbacks:
            if hasattr(one, "on_stage"):
                one.on_stage(stage)

    def _is_ended(self, stage: Stage) -> bool:
        """Whether any callback ends this stage; all of them are asked."""
        ends = self.cut_short()
        for one in self.callbacks:
            if hasattr(one, "on_stage") and one.on_stage(stage):
                self._note(_name_of(one))
                ends = True
        return ends

    def _note(self, who: str) -> None:
        """Remember who has ended the current part."""
        parts = self._ended.setdefault(who, [])
        if self.current not in parts:
            parts.append(self.current)

    @property
    def has_ended(self) -> bool:
        """Whether any part of the fit was cut short."""
        return bool(self._ended)

    def explain(self, reason: str) -> str:
        """Add to a reason which callbacks ended which parts of the fit."""
        ended = [f"{name} cut short: {', '.join(parts)}" for name, parts in self._ended.items()]
        return "; ".join([reason, *ended])

    def close(self) -> None:
        """End the line of progress."""
        self.line.close()

    def _show(self, stage: Stage, words: str) -> None:
        if self.line.is_due:
            self.line.show(f"{words}, {self._times(stage.fraction)}")

    def _times(self, fraction: float) -> str:
        """Seconds so far, and about how many are left.

        Where nothing has moved for some seconds, at least as many are left. What came before the estimate, a first
        pass say, tells nothing of what is left.
        """
        now, so_far = time.monotonic(), self.line.elapsed
        elapsed = so_far - self._expected_at
        if fraction > self._moved[0]:
            self._moved = fraction, now
        left = elapsed * (1 - fraction) / fraction if fraction > 0 else 0.0
        if fraction < EARLY and self._seconds:
            left = max(self._seconds * (1 - fraction) - elapsed, elapsed)
        left = max(left, now - self._moved[1])
        return f"{so_far:.0f} s, about {max(left, 1.0):.0f} s left"


def _as_callbacks(callback: CallbackLike | None) -> list[Any]:
    """The callbacks as a list, each of which can be called or has the methods of `Callback`."""
    given = callback if isinstance(callback, (list, tuple)) else [] if callback is None else [callback]
    for one in given:
        if isinstance(one, type) or not (callable(one) or hasattr(one, "on_stage")):
            raise ValueError(
                f"callback={callback!r} is not usable; give a function of the path, a callback such as "
                "kernelpursuit.callbacks.TimeLimit(10), a list of these, or None."
            )
    return list(given)


def _name_of(callback: CallbackLike | None) -> str:
    words = repr(callback)
    return type(callback).__name__ if words.startswith("<") else words
