"""Callbacks: objects that follow a fit through its stages, and may end it early.

`fit(X, y, callback=...)` takes a function of the path, a callback of this module, or a list of these. A function is
called after every step of the loop over all rows. A callback is also called in every earlier stage.

>>> from kernelpursuit import KernelPursuitRegressor
>>> from kernelpursuit.callbacks import TimeLimit
>>> from kernelpursuit.data import make_chirp
>>> model = KernelPursuitRegressor(random_state=0).fit(*make_chirp(100), callback=TimeLimit(60))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kernelpursuit._types import Path
from kernelpursuit._validate import ByName, check_number


@dataclass(frozen=True)
class Stage:
    """The stage that a fit has reached.

    name      of the stage, such as "scales, round 2 of 3"
    fraction  of the whole fit that is done, from 0 to 1, by the estimate of its time
    end       the fraction at which this stage is expected to end

    Examples
    --------
    >>> from kernelpursuit.callbacks import Stage
    >>> stage = Stage("scales, round 2 of 3", fraction=0.3, end=0.45)
    >>> f"{stage.fraction:.0%}: {stage.name}"
    '30%: scales, round 2 of 3'
    """

    name: str
    fraction: float
    end: float


class Callback:
    """Base of callbacks; does nothing by itself. Override the methods that you need.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.callbacks import Callback
    >>> from kernelpursuit.data import make_chirp
    >>> class Names(Callback):
    ...     def on_start(self):
    ...         self.seen = []
    ...     def on_stage(self, stage):
    ...         self.seen.append(stage.name)
    >>> names = Names()
    >>> model = KernelPursuitRegressor(random_state=0).fit(*make_chirp(100), callback=names)
    >>> names.seen[0], names.seen[-1]
    ('scales', 'fitting all rows')
    """

    def on_start(self) -> None:
        """Called when a fit begins."""

    def on_stage(self, stage: Stage) -> object:
        """Called many times in every stage; a true result ends that stage with the best found so far.

        Later stages still run, and call this method too. The last stage of a fit that has learned its atoms cannot be
        ended: it takes one or two passes over the rows.
        """
        return False

    def __call__(self, path: Path) -> object:
        """Called with the path after every step of the loop over all rows; a true result ends the loop."""
        return False


class TimeLimit(ByName, Callback):
    """End a fit after about so many seconds, with the best model so far.

    Every stage gets the same fraction of the time as in a fit without a limit, so even a short fit picks atoms and fits
    them to all rows. A limit well above the time of a fit changes nothing. One near it may, since it ends a stage that
    takes longer than estimated. A stage can end only between two steps, and always takes at least one. So on many rows,
    or with many classes, the shortest possible fit may take longer than the limit.

    Parameters
    ----------
    seconds : float
        The limit.
    clock : callable, default=time.monotonic
        Returns the seconds that have passed since some moment.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.callbacks import TimeLimit
    >>> from kernelpursuit.data import make_chirp
    >>> model = KernelPursuitRegressor(gamma=3.0).fit(*make_chirp(200), callback=TimeLimit(1e-9))
    >>> model.n_atoms_  # the least that a fit does
    1
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic):
        self.seconds = check_number("seconds", seconds, low=0, strict=True)
        self.clock = clock
        self._started = clock()

    def on_start(self) -> None:
        """Start counting."""
        self._started = self.clock()

    def on_stage(self, stage: Stage) -> bool:
        """Return whether the time up to the end of this stage is over."""
        return self.clock() - self._started > self.seconds * stage.end

    def __repr__(self) -> str:
        """Show the limit."""
        return f"TimeLimit({self.seconds:g})"


#: What follows a fit: a function of the path, a callback, or several of these.
CallbackLike: TypeAlias = Callable[[Path], object] | Callback | Sequence["CallbackLike"]

__all__ = ["Callback", "Stage", "TimeLimit"]
