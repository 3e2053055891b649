"""What "learn" and "auto" stand for, settled before the loop runs over all rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelpursuit._validate import check_flag, check_number, check_option, check_verbose
from kernelpursuit.dictionary import Always, Dictionary, KernelAtoms, LinearTrend, Precomputed, as_dictionary
from kernelpursuit.kernels import RBF, Kernel, Matern32, Matern52, resolve_gamma
from kernelpursuit.learning import (
    Distinct,
    Learned,
    Task,
    Trial,
    common_scale,
    is_wide,
    learn,
    learn_wide,
    make_plan,
    suit,
)
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Settings, Watch, held_out_rows
from kernelpursuit.stopping import Loo, NoAtoms, StoppingRule, as_rule
from kernelpursuit.updates import Orthogonal, Update

# Kernels that kernel="auto" chooses from.
KERNELS = (Matern52(), RBF(), Matern32())
# What max_atoms="auto" is for atoms that are learned, and for those of a dictionary.
MOST_LEARNED, MOST_PICKED = 512, 200
# stop="auto" keeps the fewest learned atoms whose leave-one-out error is above the least by no more than this part.
WITHIN = 0.002


@dataclass(frozen=True)
class Settled:
    """A fit's parameters with nothing left to decide, and what was learned, if anything was.

    `scales` are those of the features, where any were learned. For the systems of the papers that is all, with the
    penalty: the rest goes by what is given, and `learned` is None. `is_suited` says that both were tried with the loop
    as it was set, so that with another largest number of atoms they may be others.
    """

    dictionary: Dictionary
    gamma: Any
    penalty: str | None
    alpha: float
    max_atoms: int
    rule: StoppingRule
    learned: Learned | None = None
    scales: np.ndarray | None = None
    is_suited: bool = False

    @property
    def kernel(self) -> Any:
        """The kernel, with one gamma for each feature where those were learned; else what stands for the dictionary."""
        return self.learned.kernel if self.learned is not None else getattr(self.dictionary, "kernel", self.dictionary)

    def candidates(self, given: Any) -> Any:
        """The candidates of the loop, where "auto" is given."""
        if self.candidates_are_learned:
            return "all"
        return given if self.learned is None or self.learned.candidates is None else self.learned.candidates

    @property
    def is_process(self) -> bool:
        """Whether a Gaussian process was learned."""
        return self.learned is not None and self.learned.is_process

    @property
    def candidates_are_learned(self) -> bool:
        """Whether the dictionary has no other atoms than those that were learned."""
        return self.learned is not None and self.learned.atoms is not None


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter is this string; arrays and objects are not compared."""
    return isinstance(value, str) and value == word


def settle(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    weights: np.ndarray | None,
    *,
    update: Update,
    loss: Loss | None,
    classes: bool,
    seed: int,
    picks_atoms: bool = True,
    before: Settled | None = None,
    watch: Watch | None = None,
    counts: np.ndarray | None = None,
) -> Settled:
    """Decide what an estimator's parameters leave open, by learning where that is asked for and possible.

    Atoms are learned for the loop as it is by default; the systems of the papers have scales and a penalty learned,
    and pick their own. `before` is what an earlier fit of the same data and settings came to. Where `picks_atoms` is
    false, each target has a path of its own, and no atoms are learned. `watch` follows what is learned, stage by
    stage. `counts` say how many observations each row stands for; by default one, with all its copies.
    """
    kernels, refine, trend = _kernels(estimator.kernel), _check_refine(estimator.refine), check_trend(estimator.trend)
    learns_gamma = is_word(estimator.gamma, "learn")
    other = _other_system(estimator, update)
    against = f"kernel={estimator.kernel!r}" if kernels is None else other
    if not picks_atoms:
        against = "multi_class='ovr'"
    if learns_gamma and is_wide(X):
        against = against or f"gamma='learn' and as many as {X.shape[1]} features"
    if refine is True and against is not None:
        raise ValueError(f"refine=True does not go with {against}; leave refine at 'auto', or change that.")
    asks = learns_gamma or refine is True
    if asks and kernels is not None and other is not None:
        fit = _Fit(X, y, weights, update, loss, classes, seed, watch or Watch())
        return _settle_other(estimator, fit, kernels, one_by_one=not picks_atoms, before=before)
    learned = None if before is None else before.learned
    if asks and kernels is not None and learned is None:
        task = _task(estimator, loss, classes, seed, watch or Watch())
        seen = without_held_out(estimator.stop, y, weights, seed, classes)
        learned = _learn(estimator, X, y, seen, kernels, task, atoms=picks_atoms, refine=refine, counts=counts)
    is_settled = learned is not None and learned.says_all
    dictionary: Dictionary
    if learned is None:
        dictionary = given_dictionary(estimator.kernel)
    else:
        dictionary = learned.atoms if learned.atoms is not None else KernelAtoms(learned.kernel)
    dictionary = _with_trend(dictionary, trend, learned)
    alpha: Any = estimator.alpha
    if is_word(alpha, "auto"):
        alpha = estimator._alpha if learned is None else learned.alpha
    gamma = "scale" if learns_gamma or learned is not None else estimator.gamma
    max_atoms = most_atoms(estimator.max_atoms, is_settled)
    rule = rule_of(estimator.stop, loss, learned if picks_atoms else None)
    scales = None if learned is None else learned.scales
    return Settled(dictionary, gamma, _penalty(estimator, learned), alpha, max_atoms, rule, learned, scales)


@dataclass(frozen=True)
class _Fit:
    """The data of a fit, and how its loop is to run."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    update: Update
    loss: Loss | None
    classes: bool
    seed: int
    watch: Watch


def _settle_other(
    estimator: Any, fit: _Fit, kernels: tuple[Kernel, ...], *, one_by_one: bool, before: Settled | None
) -> Settled:
    """Learn scales and penalty for a system of the papers, and try them with its own loop."""
    trend = check_trend(estimator.trend)
    plain = given_dictionary(estimator.kernel)
    alpha: Any = estimator._alpha if is_word(estimator.alpha, "auto") else estimator.alpha
    max_atoms, rule = most_atoms(estimator.max_atoms, False), rule_of(estimator.stop, fit.loss, None)
    settled = Settled(plain, "scale", _penalty(estimator, None), alpha, max_atoms, rule, is_suited=True)
    if before is not None:
        return replace(before, max_atoms=max_atoms, rule=rule)
    seen = without_held_out(estimator.stop, fit.y, fit.weights, fit.seed, fit.classes)
    learned = _learn_for_other(estimator, fit, seen, kernels)
    if learned is not None:
        # A copy of a row says nothing of rows that were not seen.
        distinct = Distinct.of(fit.X, fit.y, seen)
        rows = fit.X[distinct.first], fit.y[distinct.first], distinct.weights
        settled = replace(settled, penalty=_penalty(estimator, learned))
        trial = Trial(
            settings_of(estimator, settled, fit.update, fit.loss, fit.classes, fit.seed),
            rule,
            lambda kernel: _with_trend(KernelAtoms(kernel), trend, None),
            rows,
            one_by_one=one_by_one,
            watch=fit.watch,
        )
        start = _alpha_for(estimator, settled.penalty, learned, fit)
        kernel, common = common_scale(getattr(plain, "kernel", kernels[0]), rows[0], rows[2])
        suited = suit(learned.kernel, start, (kernel, alpha), trial)
        scales = common if suited.factor is None else learned.scales * suited.factor
        settled = replace(settled, dictionary=KernelAtoms(suited.kernel), alpha=suited.alpha, scales=scales)
    return replace(settled, dictionary=_with_trend(settled.dictionary, trend, None))


def _learn_for_other(
    estimator: Any, fit: _Fit, weights: np.ndarray | None, kernels: tuple[Kernel, ...]
) -> Learned | None:
    """Learn scales for a system of the papers: those of a Gaussian process, which do not depend on a ridge.

    The penalty of such a process is of use for all but a ridge of its own, which is learned with its scales.
    """
    task = _task(estimator, fit.loss, fit.classes, fit.seed, fit.watch)
    task = replace(task, trend=check_trend(estimator.trend) is True)
    if weights is not None:
        weights = weights / weights[weights > 0].mean()
    has_ridge = is_word(estimator.alpha, "auto") and estimator.penalty in ("ridge", "ols")
    by_evidence = fit.loss is None and not has_ridge
    if by_evidence:
        task = replace(task, alpha=None)
    return _learn(
        estimator, fit.X, fit.y, weights, kernels, task,
        atoms=False, refine=False, by_evidence=by_evidence, suits=True,
    )  # fmt: skip


def _alpha_for(estimator: Any, penalty: str | None, learned: Learned, fit: _Fit) -> float | None:
    """The penalty to start from, in the unit of its kind; None where there is none, or it is given."""
    if penalty is None or not is_word(estimator.alpha, "auto"):
        return None
    if penalty == "nugget" and learned.is_process:
        # What is n alpha for the penalty K is the noise that is added to K itself.
        return learned.alpha * float(len(fit.y) if fit.weights is None else np.count_nonzero(fit.weights))
    if penalty in ("ridge", "ols") and fit.weights is not None:
        # A ridge is beside the sum of weighted squares, and was learned with weights of mean one.
        return learned.alpha * float(fit.weights[fit.weights > 0].mean())
    return learned.alpha


def settings_of(
    estimator: Any, settled: Settled, update: Update, loss: Loss | None, classes: bool, seed: int
) -> Settings:
    """The parameters of an estimator as the loop takes them."""
    return Settings(
        dictionary=settled.dictionary,
        gamma=settled.gamma,
        max_atoms=settled.max_atoms,
        selection=estimator.selection,
        update=update,
        exchange=estimator.exchange,
        candidates=settled.candidates(estimator.candidates),
        penalty=settled.penalty,
        alpha=settled.alpha,
        fit_intercept=estimator.fit_intercept,
        truncate=estimator.truncate,
        memory_budget=estimator.memory_budget,
        seed=seed,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
        loss=loss,
        classes=classes,
    )


def rule_of(stop: Any, loss: Loss | None, learned: Learned | None) -> StoppingRule:
    """The rule that `stop` stands for after something was learned, or nothing."""
    if learned is None:
        return chosen_rule(stop, has_atoms=False, loss=loss)
    return chosen_rule(stop, learned.says_all, loss, learned.simple, learned.patience)


def without_held_out(
    stop: Any, y: np.ndarray, weights: np.ndarray | None, seed: int, classes: bool
) -> np.ndarray | None:
    """Weights for learning: nothing of the rows that a rule holds out, which must not see them either."""
    fraction = chosen_rule(stop, has_atoms=True).validation_fraction()
    if fraction is None:
        return weights
    given = np.ones(len(y)) if weights is None else weights
    return np.where(held_out_rows(given, fraction, seed, y, classes), 0.0, given)


def given_dictionary(kernel: Any) -> Dictionary:
    """The dictionary that `kernel` stands for where nothing is learned: "auto" is the Gaussian kernel."""
    return as_dictionary("rbf" if is_word(kernel, "auto") else kernel)


def chosen_rule(
    stop: Any, has_atoms: bool, loss: Loss | None = None, simple: str | None = None, patience: int | None = None
) -> StoppingRule:
    """The rule that `stop` stands for, with atoms that are learned or of a dictionary, under a loss (None: squared).

    `simple` says why no atoms are to be kept, where that was found, and `patience` after how many steps without a lower
    error the loop may end.
    """
    if not is_word(stop, "auto"):
        return as_rule(stop)
    if simple is not None:
        return NoAtoms(simple, patience)
    gives_away = has_atoms and (loss is None or not loss.is_for_outliers)
    return Loo(within=WITHIN, patience=patience) if gives_away else Loo()


def most_atoms(max_atoms: Any, has_atoms: bool) -> int:
    """The number that `max_atoms` stands for, of atoms that are learned or of a dictionary; not yet checked."""
    return (MOST_LEARNED if has_atoms else MOST_PICKED) if is_word(max_atoms, "auto") else max_atoms


def check_trend(trend: Any) -> bool | None:
    """Whether there is to be a straight line in the model; None leaves it to the rows."""
    if trend is None:
        return False
    return {"auto": None, "linear": True}[check_option("trend", trend, ("auto", "linear"), "None")]


def _penalty(estimator: Any, learned: Learned | None) -> str | None:
    """The penalty that "auto" stands for: that which alpha was learned for, or ridge."""
    if not is_word(estimator.penalty, "auto"):
        given: str | None = estimator.penalty
        return given
    return "ridge" if learned is None else learned.penalty


def _trend(estimator: Any, loss: Loss | None, classes: bool) -> bool | None:
    """Whether there is to be a line; of scores that are no targets, those of counts and classes, only on request.

    Without a penalty, a line that nearly tells classes apart would make probabilities of zero and one.
    """
    trend = check_trend(estimator.trend)
    has_link = classes or (loss is not None and type(loss).mean is not Loss.mean)
    return False if trend is None and has_link else trend


def _with_trend(dictionary: Dictionary, trend: bool | None, learned: Learned | None) -> Dictionary:
    """The dictionary with a straight line that is always in, where one was asked for or found to be of use."""
    line = None
    if learned is not None and learned.trend is not None:
        line = LinearTrend(learned.trend.center, learned.trend.spread)
    elif trend is True:
        if isinstance(dictionary, Precomputed):
            raise ValueError(
                "trend='linear' needs rows, and kernel='precomputed' has none; append columns to X instead."
            )
        line = LinearTrend()
    return dictionary if line is None else dictionary + Always(line)


def _check_refine(refine: Any) -> bool | str:
    if is_word(refine, "auto"):
        return "auto"
    return check_flag("refine", refine)


def _kernels(kernel: Any) -> tuple[Kernel, ...] | None:
    """The kernels to choose from, or None where there is no width that could be learned."""
    if is_word(kernel, "auto"):
        return KERNELS
    if isinstance(kernel, Dictionary) and not isinstance(kernel, KernelAtoms):
        return None
    found = as_dictionary(kernel)
    if not (isinstance(found, KernelAtoms) and found.at_training_rows and found.takes_gamma):
        return None
    return (found.kernel,) if found.kernel.is_stationary else None


def learns(estimator: Any, update: Update) -> bool:
    """Whether an estimator's parameters ask for all to be learned, and nothing stands against it."""
    asked_for = is_word(estimator.gamma, "learn") or _check_refine(estimator.refine) is True
    return asked_for and _kernels(estimator.kernel) is not None and _other_system(estimator, update) is None


def _other_system(estimator: Any, update: Update) -> str | None:
    """The setting that asks for another loop than the default one, as the systems of the papers have; or None."""
    if estimator.selection != "gain":
        return f"selection={estimator.selection!r}"
    if type(update) is not Orthogonal or update.rcond is not None:
        return f"update={estimator.update!r}"
    if estimator.exchange is True:
        return "exchange=True"
    if not is_word(estimator.candidates, "auto"):
        return "candidates other than 'auto'"
    if not (is_word(estimator.penalty, "auto") or is_word(estimator.penalty, "ridge")):
        return f"penalty={estimator.penalty!r}"
    return None


def _given_alpha(estimator: Any, loss: Loss | None) -> float | None:
    """The penalty, or None where it is to be learned: of the squared loss, whose leave-one-out error is exact.

    For other losses the error is an approximation around scores that are themselves a matter of the penalty, and was
    measured to lead astray.
    """
    if not is_word(estimator.alpha, "auto"):
        return check_number("alpha", estimator.alpha, low=0)
    return None if loss is None else estimator._alpha


def _task(estimator: Any, loss: Loss | None, classes: bool, seed: int, watch: Watch) -> Task:
    return Task(
        loss=loss,
        classes=classes,
        intercept=check_flag("fit_intercept", estimator.fit_intercept) and (loss is None or loss.has_constant),
        seed=seed,
        n_jobs=estimator.n_jobs,
        memory_budget=estimator.memory_budget,
        alpha=_given_alpha(estimator, loss),
        trend=_trend(estimator, loss, classes),
        watch=watch,
    )


def _learn(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    kernels: tuple[Kernel, ...],
    task: Task,
    *,
    atoms: bool,
    refine: bool | str,
    counts: np.ndarray | None = None,
    by_evidence: bool = False,
    suits: bool = False,
) -> Learned | None:
    """Plan what is to be learned, say so, and learn it; None where too few rows differ."""
    max_atoms = check_number("max_atoms", most_atoms(estimator.max_atoms, atoms), low=1, integer=True)
    distinct = Distinct.of(X, y, weights)
    if not distinct.are_enough(X):
        return None
    gamma = None
    if not is_word(estimator.gamma, "learn"):
        kernels = kernels if len(kernels) == 1 else (RBF(),)
        gamma = np.broadcast_to(resolve_gamma(estimator.gamma, X, weights), X.shape[1])
    elif is_wide(X):
        _say(estimator, f"learning one scale for all of {X.shape[1]} features, which are too many for one each")
        return learn_wide(X, y, distinct, kernels[0], task)
    n_kernels = len(kernels) if gamma is None else 0
    plan = make_plan(
        len(distinct),
        X.shape[1],
        n_kernels,
        max_atoms=max_atoms,
        picks_atoms=atoms,
        all_atoms=not is_word(estimator.stop, "auto"),
        refine=refine,
        by_evidence=by_evidence or (atoms and refine is not True and _learns_a_process(estimator, task)),
        suits=suits,
        n_outputs=y.shape[1],
        has_loss=task.loss is not None,
    )
    task.watch.expect(plan.seconds_by_part())
    _say(estimator, str(plan))
    return learn(X, y, distinct, kernels, task, plan, gamma, counts)


def _learns_a_process(estimator: Any, task: Task) -> bool:
    """Whether kernel, scales and noise may be those of a Gaussian process: for numbers whose penalty is left open."""
    return task.loss is None and task.alpha is None and is_word(estimator.penalty, "auto")


def _say(estimator: Any, words: str) -> None:
    """Say what will be done, where the estimator is verbose."""
    if check_verbose(estimator.verbose):
        sys.stderr.write(f"kernelpursuit: {words}\n")
        sys.stderr.flush()
