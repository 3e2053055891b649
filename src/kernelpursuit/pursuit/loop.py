"""The greedy loop. There is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.path import PursuitPath, Replay
from kernelpursuit.pursuit.recorder import Recorder
from kernelpursuit.pursuit.selection import Selector
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.watch import Watch
from kernelpursuit.stopping import StoppingRule

# A residual below this many eps of the target is zero but for rounding.
ZERO_RESIDUAL = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Limit:
    """Steps after which a loop ends in any case, and what is said then."""

    n_steps: int
    words: str = ""

    @property
    def reason(self) -> str:
        """Why the loop ended there."""
        return self.words or f"max_atoms={self.n_steps} reached"


def pursue(
    selector: Selector,
    recorder: Recorder,
    spec: LoopSpec,
    limit: Limit,
    *,
    replay: Replay | None = None,
    watch: Watch | None = None,
) -> PursuitPath:
    """Add atoms until a rule fires, none is left to gain from, or as many steps are done; return the path.

    Parameters
    ----------
    selector, recorder :
        Who picks the next atom and adds it to the fit, and who writes the path.
    spec : LoopSpec
        Its rule is asked after every step whether to end, and `exchange` says whether every step ends with an attempt
        to exchange two atoms.
    limit : Limit
        Steps at most.
    replay : Replay, optional
        Steps that are taken first, without scoring any candidate.
    watch : Watch, optional
        Asked with the path after every step whether to end.
    """
    fit, rule = recorder.fit, spec.rule
    target_norm = float(np.linalg.norm(fit.targets))
    if rule.needs_coherence:
        recorder.note_coherence()
    reason: str | None = None
    while reason is None:
        recorder.record()
        path = recorder.path(selector, "running")
        if fit.n_steps and watch is not None:
            reason = watch.step(path, limit.n_steps, is_known=spec.by_moments)
        if reason is None:
            if rule.needs_correlation:
                recorder.note_correlation(selector.best_correlation(), fit.n_steps)
            reason = why_end(fit.residual_norm, path, rule, target_norm)
            if reason is None and fit.n_steps >= limit.n_steps:
                reason = limit.reason
            reason = reason or _step(selector, recorder, spec.exchange, replay)
    return recorder.path(selector, reason)


def why_end(residual_norm: float, path: PursuitPath, rule: StoppingRule, target_norm: float) -> str | None:
    """Why the loop should not go on, or None."""
    if residual_norm <= ZERO_RESIDUAL * target_norm:
        return "the residual is zero to rounding"
    if rule.fired(path):
        return f"stop={rule.name!r} fired"
    return None


def _step(selector: Selector, recorder: Recorder, exchange: bool, replay: Replay | None) -> str | None:
    """Take the next step, that of a replay as long as there is one; return None, or why there is none."""
    k = selector.fit.n_steps
    if replay is not None and k < replay.n_steps and _repeat(replay, k, selector):
        if not np.isnan(replay.correlation[k]):
            recorder.note_correlation(float(replay.correlation[k]) * recorder.scale, k)
        return None
    reason = selector.step()
    recorder.note_correlation(selector.correlation_before, k)
    if reason is None and exchange:
        selector.exchange()
    return reason


def _repeat(replay: Replay, k: int, selector: Selector) -> bool:
    """Do what a replay says of step k; False where that cannot be, and the loop must decide.

    On another machine, values may round in another way, and an atom that was barely independent not be so any more.
    """
    for when, dependent in replay.skipped:
        if when == k:
            selector.skip(dependent)
    if replay.in_blocks:
        selector.fit.look_ahead(replay.atom[k:])
    atom = int(replay.atom[k])
    if atom in selector.fit.places and not selector.fit.may_repeat and not replay.swaps:
        return False  # the loop has had to decide before, and picked it already
    if not selector.force(atom):
        return False
    for when, leaving, coming in replay.swaps:
        if when == k + 1:
            selector.swap(leaving, coming, always=True)
    return True
