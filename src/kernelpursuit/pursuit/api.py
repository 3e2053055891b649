"""`pursuit_path`: the whole library as one function of arrays, and `run_pursuit`, what the estimators call."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelpursuit import _native
from kernelpursuit._validate import check_flag, check_number
from kernelpursuit.dictionary import Dictionary, Precomputed, as_dictionary
from kernelpursuit.engine import Engine, resolve_budget
from kernelpursuit.losses import Loss, Squared, as_loss
from kernelpursuit.pursuit.by_moments import path_by_moments
from kernelpursuit.pursuit.criteria import Monitor
from kernelpursuit.pursuit.folds import fold_errors
from kernelpursuit.pursuit.loop import pursue
from kernelpursuit.pursuit.measure import Measure, classes_of
from kernelpursuit.pursuit.path import PursuitPath, Script
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.problem import Problem, as_rows, as_targets, check_weights, pose
from kernelpursuit.pursuit.recorder import Recorder
from kernelpursuit.pursuit.refit import refitted
from kernelpursuit.pursuit.selection import Selector
from kernelpursuit.pursuit.settings import Settings
from kernelpursuit.pursuit.system import Fit, check_loss, check_system, require_known, start_fit
from kernelpursuit.pursuit.threads import one_blas_thread
from kernelpursuit.pursuit.watch import STEPS, Watch
from kernelpursuit.stopping import StoppingRule, as_rule, count_atoms
from kernelpursuit.updates import MinRes, Stagewise, Update, as_update


def pursuit_path(
    X: Any,
    y: Any,
    *,
    kernel: Any = "rbf",
    gamma: Any = "scale",
    max_atoms: int = 200,
    selection: str = "gain",
    update: Any = "orthogonal",
    exchange: bool = False,
    candidates: Any = "auto",
    penalty: str | None = "ridge",
    alpha: float = 1e-3,
    stop: Any = "max",
    loss: Any = "squared",
    fit_intercept: bool = False,
    sample_weight: Any = None,
    memory_budget: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    callback: Any = None,
) -> PursuitPath:
    """Pick atoms greedily and return the path of models of every size.

    Minimises `sum_i w_i (y_i - f(x_i))² + w' L w` over sums f of k atoms, one atom at a time.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Training rows; with `kernel="precomputed"`, the values of every atom, one column each.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Targets; several of them share their atoms.
    kernel : str, Kernel, callable, list of these, "precomputed" or Dictionary
        The functions that the model may be a sum of.
    gamma : float, array of shape (n_features,) or "scale"
        Inverse width of every kernel that has none of its own.
    max_atoms : int
        Most steps, and so most atoms, on the path.
    selection : {"gain", "correlation", "residual", "random"}
        How the next atom is picked.
    update : {"orthogonal", "stagewise", "minres", "rescale"} or Update
        How weights follow: all are refitted; only that of the new atom is set; all move along the residual; or all
        others are scaled alike. See `kernelpursuit.updates`.
    exchange : bool
        Whether every step ends with an attempt to swap an atom of the model for a better one (Nair algorithm 1); for
        `update` "orthogonal" and "minres", kernels at the training rows, and the squared loss.
    candidates : {"auto", "all"}, int or array of int
        Who is looked at: all atoms, that many drawn anew each step, or just these; "auto" is all up to 10,000, and
        a random 10,000 where there are more.
    penalty : {"ridge", "rkhs", "nugget", "ols"} or None
        The penalty L: `alpha I`; `n alpha K`; none, but with `K + alpha I` in place of K; or alpha on the weights of
        the atoms orthogonalised one after the other.
    alpha : float
        Strength of the penalty; of no effect with `penalty=None`.
    stop : str or StoppingRule
        Asked after each step whether to end.
    loss : str or Loss
        What is minimised in place of `(y_i - f(x_i))²`; see `kernelpursuit.losses`. A margin loss takes y in {-1, +1},
        "softmax" a column of zeros and ones for each class.
    fit_intercept : bool
        Whether to fit a constant that is not penalised.
    sample_weight : array of shape (n_samples,), optional
        A row of weight 2 counts as two rows. Rows of weight 0 are left out.
    memory_budget : int, optional
        Bytes that may be taken for stored dictionary values; by default a quarter of free memory.
    random_state : int, optional
        Seed for `selection="random"`, drawn candidates and held-out rows; None draws another one each time.
    n_jobs : int, optional
        Threads; None or -1 for all.
    verbose : bool
        Whether to show progress on stderr once two seconds have passed.
    callback : callable, Callback or list of these, optional
        Called with the path after every step; a true answer ends the loop. See `kernelpursuit.callbacks`.

    Returns
    -------
    PursuitPath
        Atoms, criteria and weights of the models with 0, 1, ... atoms.

    Notes
    -----
    Time: one pass over the n x M dictionary a step for "gain" and "correlation" over all candidates, O(n k) a step
    otherwise. Memory: n k numbers for the basis, and the dictionary as far as it fits the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import pursuit_path
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> path = pursuit_path(x, np.sin(x).ravel(), gamma=1.0, max_atoms=10)
    >>> path.atom[:3]
    array([ 51, 156, 199])
    >>> bool(path.residual_norm[10] < 0.05 * path.residual_norm[0])
    True
    """
    X, y, sample_weight = _check_arrays(X, y, sample_weight)
    settings_update = as_update(update)
    settings = Settings(
        dictionary=as_dictionary(kernel),
        gamma=gamma,
        max_atoms=max_atoms,
        selection=selection,
        update=settings_update,
        exchange=exchange,
        candidates=candidates,
        penalty=penalty,
        alpha=alpha,
        fit_intercept=fit_intercept,
        loss=as_fitted_loss(loss, settings_update),
        memory_budget=memory_budget,
        seed=_seed(random_state),
        n_jobs=n_jobs,
        verbose=verbose,
    )
    rule = as_rule(stop)
    held_out = rule.validation_set()
    return run_pursuit(X, y, settings, rule, sample_weight, held_out=held_out, callback=callback).path


def as_fitted_loss(loss: Any, update: Update) -> Loss | None:
    """The loss as the loop takes it: None where least squares have all in closed form."""
    found = as_loss(loss)
    in_steps = isinstance(update, Stagewise) and update.refit_every is not None
    return None if type(found) is Squared and not in_steps else found


@dataclass
class Pursuit:
    """Outcome of a pursuit.

    path    what happened
    atoms   the dictionary of the atoms it used, in that order
    always  the functions that are in every model beside its intercept, or None
    measure how its scores are judged, and what they mean
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
    X: Any,
    y: np.ndarray,
    settings: Settings,
    rule: StoppingRule,
    sample_weight: np.ndarray | None = None,
    *,
    held_out: tuple[Any, Any, Any] | None = None,
    counts: np.ndarray | None = None,
    judged: np.ndarray | None = None,
    callback: Any = None,
    extend: Script | None = None,
) -> Pursuit:
    """Run the loop on checked arrays, and let the rule choose: `y` of shape (n_samples, n_targets), all finite.

    `held_out` are rows, targets and weights on which the rule wants the error followed. `counts` say how often each
    row was seen, where its weight says something else: leaving one out takes away a row seen once as a whole. `judged`
    marks the rows whose leave-one-out errors calibrate intervals, where that are not all.
    `extend` are steps, of an earlier fit of the same problem or known otherwise, that are taken without scoring atoms.
    `callback` is what `fit` takes, or the watch of a fit of which this is a part.
    """
    watch = Watch.of(callback, settings.verbose)
    check_loss(settings)
    require_known(rule, settings.update, settings.loss)
    # Products of the BLAS and of the native core alternate only where a loss is refitted, or atoms come in blocks.
    takes_turns = settings.loss is not None or settings.by_moments or (extend is not None and extend.in_blocks)
    with one_blas_thread() if takes_turns else nullcontext():
        try:
            return _pursuit(X, y, settings, rule, sample_weight, held_out, counts, judged, watch, extend)
        finally:
            if watch is not callback:
                watch.close()


def _pursuit(
    X: Any,
    y: np.ndarray,
    settings: Settings,
    rule: StoppingRule,
    sample_weight: np.ndarray | None,
    held_out: tuple[Any, Any, Any] | None,
    counts: np.ndarray | None,
    judged: np.ndarray | None,
    watch: Watch,
    extend: Script | None,
) -> Pursuit:
    n_folds = rule.n_folds()
    # Every fold has a loop of its own, and under a loss, the model that is kept is refitted.
    share = (1.0 if settings.loss is None else STEPS) / (1 + (n_folds or 0))
    with watch.within(0.0, share):
        run = _run(X, y, settings, rule, sample_weight, held_out, counts, judged, watch, extend)
    path, problem = run.path, run.problem
    if n_folds is not None:
        # What the targets decide of a loss is decided once, else folds would be measured by different losses.
        quiet = replace(settings, max_atoms=max(1, len(path)), loss=problem.loss)
        n_done = 0

        def errors_without(weights: np.ndarray, fold: tuple[Any, Any, Any]) -> np.ndarray:
            """Losses on a fold along the path of a fit with these weights, and what part is in a wrong class."""
            nonlocal n_done
            n_done += 1
            with watch.within(n_done * share, (n_done + 1) * share, f"fold {n_done} of {n_folds}", hidden=True):
                found = _run(X, y, quiet, StoppingRule(), weights, fold, watch=watch).path
            assert found.validation is not None
            missing = np.full_like(found.validation, np.nan)
            return np.array([found.validation, missing if found.validation_error is None else found.validation_error])

        groups = classes_of(y.T) if settings.classes else np.zeros(len(y), dtype=int)
        cv, wrong = fold_errors(errors_without, X, y, sample_weight, n_folds, len(path), settings.seed, groups)
        path = replace(path, cv=cv, cv_error=wrong if settings.classes else None)
    n_kept, reason = path.check_size(rule.choose(path)), rule.explain(path)
    if isinstance(settings.update, MinRes) and settings.update.refit:
        n_before = path.size[n_kept]
        assert run.recorder is not None
        path = refitted(path, n_kept, run.recorder.fit.engine, problem, run.recorder)
        if path.size[n_kept] < n_before:
            left, why = int(path.size[n_kept]), reason.partition(": ")[2]
            reason = f"{count_atoms(left)}, and {n_before - left} dependent ones that the refit left out: {why}"
    with watch.within(share * (1 + (n_folds or 0)), 1.0):
        changed = {} if run.recorder is None else run.recorder.fit.finish(n_kept)
    if changed:
        path = replace(path, refits={**path.refits, n_kept: changed})
    limits = problem.limits
    if settings.units is not None:
        path, limits = path.in_units(settings.units), None if limits is None else limits * settings.units
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


@dataclass
class _Run:
    """One run of the loop, and what it worked on; atoms on the path are numbered as in the searched dictionary.

    Where the path comes from blocks of rows, there is no recorder, nor a fit that it would follow.
    """

    path: PursuitPath
    problem: Problem
    measure: Measure
    recorder: Recorder | None


def _run(
    X: Any,
    y: np.ndarray,
    settings: Settings,
    rule: StoppingRule,
    sample_weight: np.ndarray | None,
    held_out: tuple[Any, Any, Any] | None,
    counts: np.ndarray | None = None,
    judged: np.ndarray | None = None,
    watch: Watch | None = None,
    extend: Script | None = None,
) -> _Run:
    _native.warn_once_if_slow()
    max_atoms: int = check_number("max_atoms", settings.max_atoms, low=1, integer=True)
    check_flag("fit_intercept", settings.fit_intercept)
    budget = resolve_budget(settings.memory_budget)
    n_threads = resolve_threads(settings.n_jobs)
    problem = pose(
        X,
        y,
        sample_weight=sample_weight,
        counts=counts,
        judged=judged,
        dictionary=settings.dictionary,
        gamma=settings.gamma,
        candidates=settings.candidates,
        held_out=held_out,
        held_out_fraction=rule.validation_fraction(),
        classes=settings.classes,
        fit_intercept=settings.fit_intercept,
        truncate=settings.truncate,
        loss=settings.loss,
        seed=settings.seed,
        units=settings.units,
    )
    check_system(settings, rule, problem)
    asked_for = max_atoms
    if not settings.update.repeats:
        max_atoms = min(max_atoms, problem.dictionary.n_atoms)
    end_reason = "" if max_atoms == asked_for else settings.all_picked
    script = None if extend is None else problem.renumber(extend)
    if settings.by_moments and max_atoms == problem.dictionary.n_atoms:
        path, found = path_by_moments(problem, settings, rule, _order_of, n_threads, watch, end_reason)
        if path is not None:
            return _Run(path, problem, Measure(None, settings.classes), None)
        script = script if found is None else found
    fit, recorder = _set_up(problem, settings, max_atoms, budget, n_threads, watch)
    path = pursue(
        fit,
        Selector(settings.selection, problem.n_looked_at, settings.seed, fit),
        recorder,
        rule,
        max_atoms=max_atoms,
        target_norm=float(np.linalg.norm(fit.targets)),
        exchange=settings.exchange,
        replay=script,
        watch=watch,
        end_reason=end_reason,
    )
    return _Run(path, problem, recorder.measure, recorder)


def _order_of(R: np.ndarray, b: np.ndarray, settings: Settings) -> np.ndarray:
    """The order in which the loop picks the columns of R, shape (n_atoms, n_atoms), for targets b."""
    few = Settings(Precomputed(), len(R), settings.seed, penalty=None, n_jobs=settings.n_jobs, intervals=False)
    return _run(R, b, few, StoppingRule(), None, None).path.atom


def _set_up(
    problem: Problem, settings: Settings, max_atoms: int, budget: int, n_threads: int, watch: Watch | None
) -> tuple[Fit, Recorder]:
    """Build what the loop works on."""
    penalty, nugget = resolve_penalty(
        settings.penalty, settings.alpha, problem.total_weight, problem.dictionary, n_threads
    )
    # The basis is needed whatever happens; the dictionary is kept in what the budget leaves beside it. A penalty
    # between atoms has a share of every direction for every atom.
    n_fixed = problem.intercept + (0 if problem.always is None else problem.always.n_atoms)
    n_directions = 1 if settings.update.repeats else max_atoms + n_fixed
    n_numbers = problem.targets.shape[1] + (problem.dictionary.n_atoms if settings.penalty == "rkhs" else 0)
    engine = Engine(
        problem.dictionary,
        problem.X,
        weights=problem.weights,
        nugget=nugget,
        memory_budget=max(0, budget - n_directions * n_numbers * 8),
        n_threads=n_threads,
    )
    fit = start_fit(settings.update, engine, problem, penalty, max_atoms, watch)
    measure = Measure(None if type(problem.loss) is Squared else problem.loss, settings.classes)
    monitor = None
    if problem.held_out is not None:
        monitor = Monitor(problem, measure, n_threads)
    return fit, Recorder(fit, max_atoms, problem, measure, monitor, settings.intervals, settings.margin)


def resolve_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`: None and -1 mean all there are, -2 all but one, and so on."""
    available = _native.max_threads()
    if n_jobs is None:
        return available
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is not usable; give a number of threads, or -1 for all.")
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


def _check_arrays(X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Check the arrays of `pursuit_path`; estimators have scikit-learn do that."""
    X, y = as_rows("X", X), as_targets("y", y)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; give at least one row and one column.")
    if y.ndim != 2 or y.shape[0] != X.shape[0] or y.shape[1] == 0:
        raise ValueError(f"y has shape {y.shape}, but X has {X.shape[0]} rows; give one target for each row.")
    return X, y, None if sample_weight is None else check_weights(sample_weight, X.shape[0])


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    return int(check_number("random_state", random_state, low=0, integer=True))
