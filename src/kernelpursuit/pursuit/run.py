"""`run_pursuit`: one fit of the loop, from rows and a specification to the path and the model that is kept."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from kernelpursuit import _native
from kernelpursuit._native.threads import one_blas_thread, resolve_threads
from kernelpursuit._types import ValidationSet
from kernelpursuit._validate import check_flag, check_number
from kernelpursuit.callbacks import CallbackLike
from kernelpursuit.dictionary import Dictionary, Precomputed
from kernelpursuit.engine import Engine, resolve_budget
from kernelpursuit.losses import Squared
from kernelpursuit.pursuit.by_moments import path_by_moments
from kernelpursuit.pursuit.criteria import Monitor
from kernelpursuit.pursuit.fits import LossFit
from kernelpursuit.pursuit.fits.base import Design
from kernelpursuit.pursuit.folds import fold_errors
from kernelpursuit.pursuit.loop import Limit, pursue
from kernelpursuit.pursuit.loss_over_all_rows import LossOverAllRows, alpha_in_memory
from kernelpursuit.pursuit.measure import Measure, classes_of
from kernelpursuit.pursuit.over_all_rows import path_over_all_rows
from kernelpursuit.pursuit.path import PursuitPath, Replay
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.problem import Problem, pose
from kernelpursuit.pursuit.recorder import Recorder
from kernelpursuit.pursuit.refit import refitted
from kernelpursuit.pursuit.selection import Selector
from kernelpursuit.pursuit.spec import LoopSpec, TrainingRows
from kernelpursuit.pursuit.system import check_loss, check_system, require_known, start_fit
from kernelpursuit.pursuit.watch import STEPS, Watch
from kernelpursuit.stopping import StoppingRule, count_atoms
from kernelpursuit.updates import MinRes

# Where atoms are picked on a sample of the rows: what is said of it, and the part of the time that it takes.
PICKED_ON_SAMPLE, PICKING = "picking atoms on a sample", 0.5


@dataclass
class Pursuit:
    """Outcome of a pursuit.

    path    what happened
    atoms   the dictionary of the atoms it used, in that order
    always  the functions that are in every model beside its intercept, or None
    measure how far its scores are from targets, and what they mean
    dense   whether atoms saw dense rows, also of a sparse X that was small enough to be made dense
    limits  the largest absolute prediction of every target, or None
    n_kept  number of steps after which the rule keeps the model
    reason  the rule's words for it
    """

    path: PursuitPath
    atoms: Dictionary
    always: Dictionary | None
    measure: Measure
    dense: bool
    limits: np.ndarray | None
    n_kept: int
    reason: str


def run_pursuit(
    rows: TrainingRows, spec: LoopSpec, *, callback: Watch | CallbackLike | None = None, replay: Replay | None = None
) -> Pursuit:
    """Run the loop over rows, and let the rule choose.

    `replay` are steps, of an earlier fit of the same problem or known otherwise, that are taken without scoring atoms.
    `callback` is what `fit` takes, or the watch of a fit of which this is a part.
    """
    watch = Watch.of(callback, spec.verbose)
    check_loss(spec)
    require_known(spec.rule, spec.update, spec.loss)
    # Products of the BLAS and of the native core alternate only where a loss is refitted, or atoms come in blocks.
    takes_turns = spec.loss is not None or spec.by_moments or (replay is not None and replay.in_blocks)
    with one_blas_thread() if takes_turns else nullcontext():
        try:
            return _pursuit(rows, spec, watch, replay)
        finally:
            if watch is not callback:
                watch.close()


def _pursuit(rows: TrainingRows, spec: LoopSpec, watch: Watch, replay: Replay | None) -> Pursuit:
    rule, n_folds = spec.rule, spec.rule.n_folds()
    # Every fold has a loop of its own, and under a loss, the model that is kept is refitted.
    share = (1.0 if spec.loss is None else STEPS) / (1 + (n_folds or 0))
    with watch.within(0.0, share):
        run = _run(rows, spec, watch, replay)
    path, problem = run.path, run.problem
    if n_folds is not None:
        resolved = replace(spec, loss=problem.loss, alpha=alpha_in_memory(problem, spec))
        path = _with_folds(path, rows, resolved, watch=watch, share=share)
    n_kept, reason = path.check_size(rule.choose(path)), rule.explain(path)
    if isinstance(spec.update, MinRes) and spec.update.refit:
        n_before = path.size[n_kept]
        assert run.recorder is not None
        path = refitted(path, n_kept, problem, run.recorder)
        if path.size[n_kept] < n_before:
            left, why = int(path.size[n_kept]), reason.partition(": ")[2]
            reason = f"{count_atoms(left)}, and {n_before - left} dependent ones that the refit left out: {why}"
    with watch.within(share * (1 + (n_folds or 0)), 1.0):
        changed = _finish(run, n_kept, spec, watch)
    if changed:
        path = replace(path, refits={**path.refits, n_kept: changed})
    limits = problem.limits
    if spec.units is not None:
        path, limits = path.in_units(spec.units), None if limits is None else limits * spec.units
    return Pursuit(
        path=problem.number_back(path),
        always=problem.always,
        measure=run.measure,
        atoms=problem.dictionary.take(path.used).free(),
        dense=not sp.issparse(problem.X),
        limits=limits,
        n_kept=n_kept,
        reason=reason,
    )


def _finish(run: _Run, k: int, spec: LoopSpec, watch: Watch) -> dict[str, float]:
    """Do what is left to do for the model after k steps, which is kept; return the figures that have changed."""
    if run.recorder is None:
        return {}
    fit = run.recorder.fit
    if run.problem.all_rows is None:
        return fit.finish(k)
    assert isinstance(fit, LossFit), "of other fits of all rows, the path comes from blocks"
    return fit.finish_over(k, LossOverAllRows(run.problem, fit.atoms_after(k), spec.n_jobs, watch))


def _with_folds(path: PursuitPath, rows: TrainingRows, spec: LoopSpec, watch: Watch, share: float) -> PursuitPath:
    """The path with the errors on every fold of models that were fitted without it.

    What the targets decide of a loss is decided once, in `spec`, else folds would be measured by different losses.
    `share` is the fraction of the whole time that one fold takes.
    """
    n_folds, n_done = spec.rule.n_folds(), 0
    quiet = replace(spec, max_atoms=max(1, len(path)), rule=StoppingRule())

    def errors_without(weights: np.ndarray, fold: ValidationSet) -> np.ndarray:
        """Losses on a fold along the path of a fit with these weights, and what part is in a wrong class."""
        nonlocal n_done
        n_done += 1
        with watch.within(n_done * share, (n_done + 1) * share, f"fold {n_done} of {n_folds}", hidden=True):
            found = _run(TrainingRows(rows.X, rows.y, weights, validation=fold), quiet, watch).path
        assert found.validation is not None
        missing = np.full_like(found.validation, np.nan)
        return np.array([found.validation, missing if found.validation_error is None else found.validation_error])

    groups = classes_of(rows.y.T) if spec.classes else np.zeros(len(rows.y), dtype=int)
    assert n_folds is not None
    cv, wrong = fold_errors(errors_without, rows, groups, n_folds=n_folds, n_steps=len(path), seed=spec.seed)
    return replace(path, cv=cv, cv_error=wrong if spec.classes else None)


@dataclass
class _Run:
    """One run of the loop, and what it worked on; atoms on the path are numbered as in the searched dictionary.

    Where the path comes from blocks of rows, there is no recorder, nor a fit that it would follow.
    """

    path: PursuitPath
    problem: Problem
    measure: Measure
    recorder: Recorder | None


def _run(rows: TrainingRows, spec: LoopSpec, watch: Watch | None = None, replay: Replay | None = None) -> _Run:
    _native.warn_once_if_slow()
    asked_for: int = check_number("max_atoms", spec.max_atoms, low=1, integer=True)
    check_flag("fit_intercept", spec.fit_intercept)
    budget = resolve_budget(spec.memory_budget)
    problem = pose(rows, spec)
    check_system(spec, problem)
    most = asked_for if spec.update.repeats else min(asked_for, problem.dictionary.n_atoms)
    limit = Limit(most, "" if most == asked_for else spec.all_picked)
    steps = None if replay is None else problem.renumber(replay)
    if problem.all_rows is not None and problem.loss is None:
        return _over_all_rows(problem, spec, limit, budget=budget, watch=watch or Watch(), steps=steps)
    if spec.by_moments and most == problem.dictionary.n_atoms:
        path, found = path_by_moments(problem, spec, limit, order_of=_order_of, watch=watch or Watch())
        if path is not None:
            return _Run(path, problem, Measure(None, spec.classes), None)
        steps = steps if found is None else found
    path, recorder = _in_memory(problem, spec, limit, budget=budget, watch=watch, steps=steps)
    return _Run(path, problem, recorder.measure, recorder)


def _in_memory(
    problem: Problem, spec: LoopSpec, limit: Limit, *, budget: int, watch: Watch | None, steps: Replay | None
) -> tuple[PursuitPath, Recorder]:
    """The loop over the rows in memory, beside which the penalty has the share that it has beside all rows."""
    spec = replace(spec, alpha=alpha_in_memory(problem, spec))
    recorder = _set_up(problem, spec, limit.n_steps, budget=budget, watch=watch)
    shortlist = spec.shortlist or 1
    if steps is not None and shortlist > 1:
        steps = steps.until_last_pass()
    selector = Selector(spec.selection, problem.n_looked_at, spec.seed, recorder.fit, shortlist=shortlist)
    return pursue(selector, recorder, spec, limit, replay=steps, watch=watch), recorder


def _over_all_rows(
    problem: Problem, spec: LoopSpec, limit: Limit, *, budget: int, watch: Watch, steps: Replay | None
) -> _Run:
    """Pick atoms on the rows in memory, where they are not known, and fit them to all rows."""
    order: np.ndarray | None = None
    if not spec.by_moments or limit.n_steps < problem.dictionary.n_atoms:
        picking = replace(spec, rule=StoppingRule(), intervals=False)
        with watch.within(0.0, PICKING, PICKED_ON_SAMPLE, hidden=True):
            picked, _ = _in_memory(problem, picking, limit, budget=budget, watch=watch, steps=steps)
        # A sample may leave nothing to pick, and all rows do: one atom keeps the columns from being none.
        used = picked.used if len(picked.used) else np.arange(1)
        looks_at_all = problem.n_looked_at is None and not spec.shortlist
        if not (spec.selection == "gain" and looks_at_all):
            order = np.argsort(np.argsort(used))
        problem = problem.only(np.sort(used))
    with watch.within(PICKING, 1.0):
        path, problem = path_over_all_rows(problem, spec, limit, order_of=_order_of, watch=watch, order=order)
    return _Run(path, problem, Measure(None, spec.classes), None)


def _order_of(R: np.ndarray, b: np.ndarray, spec: LoopSpec) -> np.ndarray:
    """The order in which the loop picks the columns of R, shape (n_atoms, n_atoms), for targets b."""
    few = LoopSpec(Precomputed(), len(R), spec.seed, penalty=None, n_jobs=spec.n_jobs, intervals=False)
    return _run(TrainingRows(R, b), few).path.atom


def _set_up(problem: Problem, spec: LoopSpec, max_atoms: int, budget: int, watch: Watch | None) -> Recorder:
    """Start the fit, and who records it."""
    n_threads = resolve_threads(spec.n_jobs)
    penalty, nugget = resolve_penalty(spec.penalty, spec.alpha, problem.penalised_atoms(n_threads))
    # The basis is needed whatever happens; the dictionary is kept in what the budget leaves beside it. A penalty
    # between atoms has a share of every direction for every atom.
    n_fixed = problem.intercept + (0 if problem.always is None else problem.always.n_atoms)
    n_directions = 1 if spec.update.repeats else max_atoms + n_fixed
    has_shares = penalty is not None and not (penalty.is_diagonal or penalty.depends_on_order)
    n_numbers = problem.targets.shape[1] + (problem.dictionary.n_atoms if has_shares else 0)
    engine = Engine(
        problem.dictionary,
        problem.X,
        weights=problem.weights,
        nugget=nugget,
        memory_budget=max(0, budget - n_directions * n_numbers * 8),
        n_threads=n_threads,
    )
    fit = start_fit(spec.update, problem, Design(engine, problem.fixed_values(problem.X), penalty, max_atoms), watch)
    measure = Measure(None if type(problem.loss) is Squared else problem.loss, spec.classes)
    monitor = None if problem.held_out is None else Monitor(problem, measure, n_threads)
    return Recorder(
        fit, max_atoms, problem, measure=measure, monitor=monitor, intervals=spec.intervals, margin=spec.margin
    )
