"""From a specification to a loop with nothing left open: what "auto" and "learn" come to, learned from the rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpursuit._validate import check_verbose
from kernelpursuit.dictionary import Dictionary, KernelAtoms
from kernelpursuit.estimators.sampled import rows_of_loop
from kernelpursuit.estimators.spec import MOST_LEARNED, MOST_PICKED, FitSpec
from kernelpursuit.kernels import RBF, resolve_gamma
from kernelpursuit.learning import (
    Distinct,
    DistinctRows,
    Learned,
    LearningSpec,
    LoopValidation,
    Observations,
    Task,
    common_scale,
    is_wide,
    learn,
    learn_wide,
    make_plan,
    search_width,
    with_fewer_common_rows,
    with_unseen_rows,
)
from kernelpursuit.learning.constants import LIKELY_FINAL_LOSS
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import OLS, Nugget, Ridge, as_penalty
from kernelpursuit.pursuit import ALL_ROWS, LoopSpec, Watch, held_out_rows
from kernelpursuit.pursuit.loss_over_all_rows import USUAL_PASSES
from kernelpursuit.pursuit.measure import classes_of

# Fewer rows that differ than this are too few to split, as a search of the width for another loop does.
FEWEST_ROWS_OF_SYSTEMS = 20
# Passes over rows that are not in memory, of a fit under the squared loss after the first.
SQUARED_PASSES = 2.0


@dataclass(frozen=True)
class Resolved:
    """The loop as it will run, and what was learned for it.

    loop     what the loop is told
    learned  what was learned, where atoms or their places were; else None
    scales   of the features, where any were learned
    width_is_searched  whether width and penalty were tried with the loop as it was set, so that with another largest
                       number of atoms they may be others
    """

    loop: LoopSpec
    learned: Learned | None = None
    scales: np.ndarray | None = None
    width_is_searched: bool = False

    @property
    def kernel(self) -> Any:
        """The kernel, with one gamma for each feature where those were learned; else what stands for the dictionary."""
        dictionary = self.loop.dictionary
        return self.learned.kernel if self.learned is not None else getattr(dictionary, "kernel", dictionary)

    @property
    def is_process(self) -> bool:
        """Whether a Gaussian process was learned."""
        return self.learned is not None and self.learned.is_process

    @property
    def candidates_are_learned(self) -> bool:
        """Whether the dictionary has no other atoms than those that were learned."""
        return self.learned is not None and self.learned.atoms is not None


def resolve(spec: FitSpec, seen: Observations, watch: Watch, before: Resolved | None = None) -> Resolved:
    """Learn what is to be learned, and resolve the rest; `before` is what an earlier fit of the same rows came to."""
    if spec.learns and spec.system is not None:
        return _resolve_system(spec, seen, watch, before)
    learned = None if before is None else before.learned
    if spec.learns and learned is None:
        learned = _learn(spec, seen, _task(spec, watch), _learning_weights(spec, seen))
    dictionary: Dictionary = spec.loop.dictionary
    if learned is not None:
        dictionary = learned.atoms if learned.atoms is not None else KernelAtoms(learned.kernel)
    loop = replace(
        spec.loop,
        dictionary=spec.with_trend(dictionary, None if learned is None else learned.trend),
        gamma=spec.loop.gamma if learned is None else "scale",
        penalty=_penalty(spec, learned),
        alpha=_alpha(spec, learned),
        max_atoms=_most_atoms_of(spec, learned),
        candidates=_candidates(spec, learned),
        # Of atoms that were learned there are few, and all of them are picked.
        shortlist=None if learned is not None and learned.atoms is not None else spec.loop.shortlist,
        rule=spec.rule_for(learned),
    )
    scales = None if learned is None else learned.scales
    return Resolved(loop, learned, scales)


def learning_rows(spec: FitSpec, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
    """Weights for learning: nothing of the rows that a rule holds out, which must not see them either."""
    fraction = spec.loop.rule.validation_fraction()
    if fraction is None:
        return weights
    given = np.ones(len(y)) if weights is None else weights
    return np.where(held_out_rows(given, fraction, spec.loop.seed, y=y, classes=spec.loop.classes), 0.0, given)


def _learning_weights(spec: FitSpec, seen: Observations) -> np.ndarray | None:
    return learning_rows(spec, seen.standardised, seen.weights)


def _most_atoms(spec: FitSpec, *, is_learned: bool) -> int:
    """The number that `max_atoms` stands for, of atoms that are learned or of a dictionary."""
    if spec.max_atoms is not None:
        return spec.max_atoms
    return MOST_LEARNED if is_learned else MOST_PICKED


def _most_atoms_of(spec: FitSpec, learned: Learned | None) -> int:
    """The same after something was learned; "auto" has room for all atoms that were."""
    most = _most_atoms(spec, is_learned=learned is not None and learned.says_all)
    if spec.max_atoms is not None or learned is None or learned.atoms is None:
        return most
    return max(most, learned.atoms.n_atoms)


def _alpha(spec: FitSpec, learned: Learned | None) -> float:
    """The strength of the penalty that the loop has: the given one, or that which was learned under its loss."""
    if learned is None or (spec.loop.classes and spec.loop.loss is not None):
        return spec.loop.alpha
    return learned.alpha if spec.alpha is None or spec.final_loss is not None else spec.loop.alpha


def _penalty(spec: FitSpec, learned: Learned | None) -> Any:
    """The penalty that "auto" stands for: that which alpha was learned for, or ridge."""
    return learned.penalty if spec.penalty_is_open and learned is not None else spec.loop.penalty


def _candidates(spec: FitSpec, learned: Learned | None) -> Any:
    """The candidates of the loop: those that were learned are all of them."""
    if learned is None or (learned.atoms is None and learned.candidates is None):
        return spec.loop.candidates
    return "all" if learned.atoms is not None else learned.candidates


def _task(spec: FitSpec, watch: Watch) -> Task:
    loop = spec.loop
    # Of classes all is learned under the squared loss.
    loss = None if loop.classes else loop.loss
    base = LoopSpec(
        dictionary=loop.dictionary,
        max_atoms=loop.max_atoms,
        seed=loop.seed,
        fit_intercept=loop.fit_intercept and (loss is None or loss.has_constant),
        memory_budget=loop.memory_budget,
        n_jobs=loop.n_jobs,
        loss=loss,
        classes=loop.classes,
        intervals=False,
    )
    return Task(base, alpha=spec.learning_alpha, trend=_trend(spec), watch=watch)


def _trend(spec: FitSpec) -> bool | None:
    """Whether there is to be a line; of scores that are no targets, those of counts and classes, only on request.

    Without a penalty, a line that nearly tells classes apart would make probabilities of zero and one.
    """
    loss = spec.loop.loss
    has_link = spec.loop.classes or (loss is not None and type(loss).mean is not Loss.mean)
    return False if spec.trend is None and has_link else spec.trend


def _learn(
    spec: FitSpec, seen: Observations, task: Task, weights: np.ndarray | None, *, by_evidence: bool | None = None
) -> Learned | None:
    """Plan what is to be learned, say so, and learn it; None where too few rows differ.

    `by_evidence` says whether scales are those of a Gaussian process; by default they are for numbers whose penalty is
    left open, where atoms are learned too.
    """
    X, y, atoms, searches_width = seen.X, seen.standardised, spec.learns_atoms, spec.system is not None
    given, distinct = weights, Distinct.of(X, y, weights)
    if task.classes and atoms:
        weights = with_fewer_common_rows(classes_of(y.T), given, distinct, spec.loop.seed)
    known = distinct if weights is given else Distinct.of(X, y, weights)
    rows = DistinctRows(X, y, known, counts=None if searches_width else seen.each)
    if not rows.distinct.are_enough(X) or (searches_width and len(rows.distinct) < FEWEST_ROWS_OF_SYSTEMS):
        return None
    kernels, gamma = spec.kernels, None
    if spec.gamma is not None:
        kernels = kernels if len(kernels) == 1 else (RBF(),)
        gamma = np.broadcast_to(resolve_gamma(spec.gamma, X, weights), X.shape[1])
    elif is_wide(X):
        _say(spec, f"learning one scale for all of {X.shape[1]} features, which are too many for one each")
        return learn_wide(rows, kernels[0], task)
    if by_evidence is None:
        is_open = spec.penalty_is_open and task.alpha is None
        by_evidence = atoms and spec.refine is not True and is_open and task.loss is None
    plan = make_plan(
        LearningSpec(
            n_rows=len(rows.distinct),
            n_features=X.shape[1],
            n_kernels=len(kernels) if gamma is None else 0,
            max_atoms=_most_atoms(spec, is_learned=atoms),
            may_grow=spec.max_atoms is None,
            picks_atoms=atoms,
            all_atoms=not spec.stops_by_auto,
            refine=False if searches_width else spec.refine,
            by_evidence=by_evidence,
            searches_width=searches_width,
            classes=task.classes,
            has_loss=task.loss is not None,
            n_outputs=y.shape[1],
            n_all_rows=spec.n_rows,
            n_loss_rows=rows_of_loop(spec.final_loss or task.loss, MOST_LEARNED, spec.n_rows),
            final_loss=_chance_of_final_loss(spec),
            n_threads=task.n_threads,
        )
    )
    expected = plan.seconds_by_part()
    n_passes = SQUARED_PASSES if task.loss is None else USUAL_PASSES
    n_passes += _chance_of_final_loss(spec) * USUAL_PASSES
    # No pass takes less time than reading the rows has taken.
    expected[ALL_ROWS] = max(expected[ALL_ROWS], n_passes * task.watch.pass_seconds)
    task.watch.expect(expected)
    if task.classes and plan.atoms is not None:
        task.watch.shares_of_classes = plan.shares_of_classes()
    _say(spec, str(plan))
    learned = task.watch.remembered("learned", lambda: learn(rows, kernels, task, plan, gamma=gamma))
    if weights is given or weights is None or learned.is_validation is None:
        return learned
    return replace(learned, is_validation=with_unseen_rows(learned.is_validation, weights, given, distinct))


def _chance_of_final_loss(spec: FitSpec) -> float:
    """How likely classes have coefficients under another loss than the squared one."""
    if spec.final_loss is None:
        return 0.0
    return LIKELY_FINAL_LOSS if spec.chooses_loss else 1.0


def _say(spec: FitSpec, words: str) -> None:
    """Say what will be done, where the estimator is verbose."""
    if check_verbose(spec.loop.verbose):
        sys.stderr.write(f"kernelpursuit: {words}\n")
        sys.stderr.flush()


def _resolve_system(spec: FitSpec, seen: Observations, watch: Watch, before: Resolved | None) -> Resolved:
    """Learn scales and penalty for a system of the papers, and try them with its own loop."""
    if before is not None:
        most = _most_atoms(spec, is_learned=False)
        return replace(before, loop=replace(before.loop, max_atoms=most, rule=spec.loop.rule))
    loop, scales, y = spec.loop, None, seen.standardised
    weights = _learning_weights(spec, seen)
    learned = _learn_for_system(spec, seen, watch, weights)
    if learned is not None:
        # A copy of a row says nothing of rows that were not seen.
        distinct = Distinct.of(seen.X, y, weights)
        rows = seen.X[distinct.first], y[distinct.first], distinct.weights
        loop = replace(loop, penalty=_penalty(spec, learned))
        trial = LoopValidation(
            loop,
            lambda kernel: spec.with_trend(KernelAtoms(kernel)),
            rows,
            one_by_one=spec.one_by_one,
            watch=watch,
        )
        start = _first_alpha(spec, loop.penalty, learned, seen)
        kernel, common = common_scale(getattr(loop.dictionary, "kernel", spec.kernels[0]), rows[0], rows[2])
        found = search_width(learned.kernel, start, (kernel, loop.alpha), trial)
        scales = common if found.factor is None else learned.scales * found.factor
        loop = replace(loop, dictionary=KernelAtoms(found.kernel), alpha=found.alpha)
    loop = replace(loop, dictionary=spec.with_trend(loop.dictionary))
    return Resolved(loop, scales=scales, width_is_searched=True)


def _learn_for_system(spec: FitSpec, seen: Observations, watch: Watch, weights: np.ndarray | None) -> Learned | None:
    """Learn scales for a system of the papers: those of a Gaussian process, which do not depend on a ridge.

    The penalty of such a process is of use for all but a ridge of its own, which is learned with its scales.
    """
    task = replace(_task(spec, watch), trend=spec.trend is True)
    if weights is not None:
        weights = weights / weights[weights > 0].mean()
    has_ridge = spec.alpha is None and not spec.penalty_is_open and _is_ridge(spec.loop.penalty)
    by_evidence = task.loss is None and not has_ridge
    if by_evidence:
        task = replace(task, alpha=None)
    return _learn(spec, seen, task, weights, by_evidence=by_evidence)


def _is_ridge(penalty: Any) -> bool:
    """Whether a penalty is one of weights, of atoms as they are or orthogonalised."""
    return isinstance(as_penalty(penalty), (Ridge, OLS))


def _first_alpha(spec: FitSpec, penalty: Any, learned: Learned, seen: Observations) -> float | None:
    """The penalty to start from, in the unit of its kind; None where there is none, or it is given."""
    if penalty is None or spec.alpha is not None:
        return None
    if spec.alpha_is_of_another_loss:
        return spec.loop.alpha
    if as_penalty(penalty) == Nugget() and learned.is_process:
        # What is n alpha for the penalty K is the noise that is added to K itself.
        return learned.alpha * float(len(seen.y) if seen.weights is None else np.count_nonzero(seen.weights))
    if _is_ridge(penalty) and seen.weights is not None:
        # A ridge is beside the sum of weighted squares, and was learned with weights of mean one.
        return learned.alpha * float(seen.weights[seen.weights > 0].mean())
    return learned.alpha
