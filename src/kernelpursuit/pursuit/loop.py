"""The greedy loop. There is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.progress import Progress
from kernelpursuit.pursuit.recorder import Recorder
from kernelpursuit.pursuit.selection import Selector
from kernelpursuit.pursuit.state import PursuitState
from kernelpursuit.stopping import StoppingRule

Callback = Callable[[PursuitPath], object]

# A residual below this many eps of the target is zero but for rounding.
ZERO_RESIDUAL = 8 * np.finfo(np.float64).eps


def pursue(
    state: PursuitState,
    selector: Selector,
    recorder: Recorder,
    rule: StoppingRule,
    *,
    max_atoms: int,
    target_norm: float,
    replay: PursuitPath | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
) -> PursuitPath:
    """Add atoms until a rule fires, none is left to gain from, or there are `max_atoms`; return the path.

    Parameters
    ----------
    state, selector, recorder :
        The fit so far, who picks the next atom and adds it, and who writes the path.
    rule : StoppingRule
        Asked after every step whether to end.
    target_norm : float
        Norm of the targets, against which a residual counts as zero.
    replay : PursuitPath, optional
        A path to extend: its atoms are added first, without scoring any candidate.
    callback : callable, optional
        Called with the path after every step; a true answer ends the loop.
    """
    recorder.record()
    n_known = 0 if replay is None else replay.n_atoms
    reason = _end_before_step(state, recorder.path(), rule, max_atoms, target_norm)
    while reason is None:
        k = len(state.atoms)
        if replay is not None and k < n_known and _repeat(replay, k, selector):
            pass
        elif (reason := selector.step()) is not None:
            break
        recorder.record()
        path = recorder.path("running", selector.skipped)
        if progress is not None:
            progress.step(path)
        if callback is not None and callback(path):
            reason = "the callback asked to stop"
        else:
            reason = _end_before_step(state, path, rule, max_atoms, target_norm)
    return recorder.path(reason, selector.skipped)


def _end_before_step(
    state: PursuitState, path: PursuitPath, rule: StoppingRule, max_atoms: int, target_norm: float
) -> str | None:
    """Why the loop should not go on, or None."""
    if state.residual_norm <= ZERO_RESIDUAL * target_norm:
        return "the residual is zero to rounding"
    if rule.fired(path):
        return f"stop={rule.name!r} fired"
    if len(state.atoms) >= max_atoms:
        return f"max_atoms={max_atoms} reached"
    return None


def _repeat(replay: PursuitPath, k: int, selector: Selector) -> bool:
    """Do again what an earlier fit did when it had k atoms; False where that cannot be, and a step must be taken.

    On another machine, values may round in another way, and an atom that was barely independent not be so any more.
    """
    for when, dependent in replay.skipped:
        if when == k:
            selector.skip(dependent)
    return selector.force(int(replay.atom[k]))
