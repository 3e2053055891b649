"""`FitSpec`: all that parameters and the shape of the data decide of a fit, checked before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_flag, check_option
from kernelpursuit.dictionary import Always, Dictionary, KernelAtoms, LinearTrend, Precomputed, as_dictionary, split
from kernelpursuit.kernels import RBF, Kernel, Matern32, Matern52
from kernelpursuit.learning import is_wide
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import Ridge, as_penalty
from kernelpursuit.pursuit import LoopSpec, as_fitted_loss
from kernelpursuit.pursuit.folds import check_folds
from kernelpursuit.pursuit.selection import resolve_candidates
from kernelpursuit.pursuit.system import check_candidates_of, check_loss_shape
from kernelpursuit.stopping import Loo, NoAtoms, StoppingRule, as_rule
from kernelpursuit.updates import Orthogonal, as_update

# Kernels that kernel="auto" chooses from.
KERNELS = (Matern52(), RBF(), Matern32())
# What max_atoms="auto" is for atoms that are learned, and for those of a dictionary.
MOST_LEARNED, MOST_PICKED = 512, 200
# stop="auto" keeps the fewest learned atoms whose leave-one-out error is above the least by no more than this fraction.
WITHIN = 0.002


@dataclass(frozen=True)
class FitSpec:
    """What an estimator's parameters say of a fit, resolved as far as no row has to be looked at.

    loop          what the loop is told where nothing is learned; what is learned takes the place of some of it
    kernels       to choose from where scales are learned
    gamma         the inverse widths of the features; None where they are to be learned
    alpha         the strength of the penalty, where it is given; else None
    penalty_is_open whether the penalty goes by what is learned
    max_atoms     as given; "auto" goes by what is learned
    trend         whether there is a straight line in every model; None leaves it to the rows
    refine        whether atoms are moved off the rows: True, False or "auto"
    outside       what predictions are outside the rows
    stops_by_auto whether the rule is the automatic one
    learns        whether anything is learned
    learns_classes whether classes are learned, under the squared loss
    final_loss    another loss, under which coefficients are found after that; or None
    chooses_loss  whether that is done only where validation rows are for it
    system        the setting that asks for another loop than the default one, that of a paper's system; or None
    one_by_one    whether each target has a path of its own
    n_rows        number of all rows, of which those in memory may be a sample
    """

    loop: LoopSpec
    kernels: tuple[Kernel, ...]
    gamma: Any
    alpha: float | None
    penalty_is_open: bool
    max_atoms: int | None
    trend: bool | None
    refine: bool | str
    outside: str
    stops_by_auto: bool
    learns: bool
    learns_classes: bool
    final_loss: Loss | None
    chooses_loss: bool
    system: str | None
    one_by_one: bool
    n_rows: int

    @property
    def joins_rows(self) -> bool:
        """Whether copies of rows are joined and wild values looked for, as they are where all is learned."""
        return self.learns and self.system is None

    @property
    def learns_atoms(self) -> bool:
        """Whether everything is learned, for the loop as it is by default."""
        return self.learns and self.system is None and not self.one_by_one

    @property
    def bears_outliers(self) -> bool:
        """Whether targets are labels, or their loss bears outliers, so that wild ones need not be looked for."""
        return self.loop.classes or (self.loop.loss is not None and self.loop.loss.is_for_outliers)

    @property
    def learning_alpha(self) -> float | None:
        """The strength of the penalty while learning; None where it is learned too.

        That is so under the squared loss, whose leave-one-out error is exact, and all is learned of classes under it.
        For other losses of numbers the error is an approximation around scores that are themselves a matter of the
        penalty, and was measured to lead astray.
        """
        if self.alpha_is_of_another_loss:
            return None
        return self.loop.alpha if self.alpha is not None or self.loop.loss is not None else None

    @property
    def alpha_is_of_another_loss(self) -> bool:
        """Whether classes are learned under the squared loss, and `alpha` is of the loss that they have at the end."""
        return self.loop.classes and (self.loop.loss is not None or self.final_loss is not None)

    def rule_for(self, learned: Any) -> StoppingRule:
        """The rule after something was learned, or nothing (None)."""
        return self.loop.rule if not self.stops_by_auto else self.auto_rule(learned)

    def auto_rule(self, learned: Any) -> StoppingRule:
        """The rule that "auto" stands for, after something was learned, or nothing (None)."""
        if learned is None or self.one_by_one or self.system is not None:
            return Loo()
        if learned.simple is not None:
            return NoAtoms(learned.simple, learned.patience)
        loss = self.loop.loss
        gives_away = learned.says_all and (loss is None or not loss.is_for_outliers)
        return Loo(within=WITHIN, patience=learned.patience) if gives_away else Loo()

    def with_trend(self, dictionary: Dictionary, trend: Any = None) -> Dictionary:
        """The dictionary with a straight line that is always in: one that was learned, or asked for."""
        if trend is not None:
            return dictionary + Always(LinearTrend(trend.center, trend.spread))
        return dictionary + Always(LinearTrend()) if self.trend is True else dictionary


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter is this string; arrays and objects are not compared."""
    return isinstance(value, str) and value == word


def make_spec(estimator: Any, data: Any, seed: int, *, one_by_one: bool = False) -> FitSpec:
    """Resolve an estimator's parameters for rows of this shape, or refuse them in a sentence.

    Parameters
    ----------
    estimator : BaseKernelPursuit
        Its parameters, each checked by itself (`check_parameters`).
    data : TrainingData
        Of which only shapes, weights and targets are looked at.
    seed : int
        Of all that is drawn.
    one_by_one : bool
        Whether each target has a path of its own.
    """
    update = as_update(estimator.update)
    loss = as_fitted_loss(data.loss, update)
    kernels, system = learnable_kernels(estimator.kernel), other_system(estimator)
    refine = "auto" if is_word(estimator.refine, "auto") else check_flag("refine", estimator.refine)
    learns_gamma = is_word(estimator.gamma, "learn")
    if refine is True:
        against = f"kernel={estimator.kernel!r}" if kernels is None else system
        _check_refine("multi_class='ovr'" if one_by_one else against, learns_gamma, data.X)
    learns = kernels is not None and (learns_gamma or refine is True)
    learns_classes = learns and data.has_codes and system is None and not one_by_one
    final_loss = loss if learns_classes else None
    given = given_dictionary(estimator.kernel)
    trend = check_trend(estimator.trend)
    if isinstance(given, Precomputed):
        _check_precomputed(estimator, trend)
    spec = FitSpec(
        loop=LoopSpec(
            rule=chosen_rule(estimator.stop),
            dictionary=given,
            gamma="scale" if learns_gamma else estimator.gamma,
            max_atoms=MOST_PICKED if is_word(estimator.max_atoms, "auto") else estimator.max_atoms,
            selection=estimator.selection,
            update=update,
            exchange=estimator.exchange,
            candidates=estimator.candidates,
            shortlist=estimator.shortlist,
            penalty="ridge" if is_word(estimator.penalty, "auto") else estimator.penalty,
            alpha=estimator._alpha if is_word(estimator.alpha, "auto") else estimator.alpha,
            fit_intercept=estimator.fit_intercept,
            truncate=estimator.truncate,
            memory_budget=estimator.memory_budget,
            seed=seed,
            n_jobs=estimator.n_jobs,
            verbose=estimator.verbose,
            loss=None if learns_classes else loss,
            classes=data.has_codes,
        ),
        kernels=kernels or (),
        gamma=None if learns_gamma else estimator.gamma,
        alpha=None if is_word(estimator.alpha, "auto") else estimator.alpha,
        penalty_is_open=is_word(estimator.penalty, "auto"),
        max_atoms=None if is_word(estimator.max_atoms, "auto") else estimator.max_atoms,
        trend=trend,
        refine=refine,
        outside=estimator.outside,
        stops_by_auto=is_word(estimator.stop, "auto"),
        learns=learns,
        learns_classes=learns_classes,
        final_loss=final_loss,
        chooses_loss=final_loss is not None and is_word(estimator.loss, "auto") and is_word(estimator.alpha, "auto"),
        system=system,
        one_by_one=one_by_one,
        n_rows=data.X.shape[0] if data.whole is None else data.whole.n_rows,
    )
    _check_data(spec, data)
    return spec


def _check_data(spec: FitSpec, data: Any) -> None:
    """Refuse what does not go with these rows, though it would be found out only after something was learned."""
    searched, _ = split(spec.loop.dictionary)
    _, n_looked_at = resolve_candidates(spec.loop.candidates, searched.count(data.X), spec.loop.seed)
    check_candidates_of(spec.loop, n_looked_at)
    n_folds = spec.loop.rule.n_folds()
    if n_folds is not None:
        check_folds(n_folds, data.weights, data.X.shape[0])
    loss = spec.loop.loss if spec.final_loss is None else spec.final_loss
    if loss is not None:
        check_loss_shape(loss, data.y.T, data.weights)
        if data.whole is not None and data.whole.extremes is not None:
            loss.check_targets(data.whole.extremes.values.T)


def _check_precomputed(estimator: Any, trend: bool | None) -> None:
    if trend is True:
        raise ValueError("trend='linear' needs rows, and kernel='precomputed' has none; append columns to X instead.")
    if estimator.outside == "return":
        raise ValueError("outside='return' does not go with kernel='precomputed'; leave outside at 'auto'.")


def _check_refine(against: str | None, learns_gamma: bool, X: Matrix) -> None:
    """Refuse refine=True beside a setting with which no atoms are learned."""
    if against is None and learns_gamma and is_wide(X):
        against = f"gamma='learn' and as many as {X.shape[1]} features"
    if against is not None:
        raise ValueError(f"refine=True does not go with {against}; leave refine at 'auto', or change that.")


def chosen_rule(stop: Any) -> StoppingRule:
    """The rule that `stop` stands for where nothing was learned."""
    return Loo() if is_word(stop, "auto") else as_rule(stop)


def given_dictionary(kernel: Any) -> Dictionary:
    """The dictionary that `kernel` stands for where nothing is learned: "auto" is the Gaussian kernel."""
    return as_dictionary("rbf" if is_word(kernel, "auto") else kernel)


def check_trend(trend: Any) -> bool | None:
    """Whether there is to be a straight line in the model; None leaves it to the rows."""
    if trend is None:
        return False
    return {"auto": None, "linear": True}[check_option("trend", trend, ("auto", "linear"), "None")]


def learnable_kernels(kernel: Any) -> tuple[Kernel, ...] | None:
    """The kernels to choose from, or None where there is no width that could be learned."""
    if is_word(kernel, "auto"):
        return KERNELS
    if isinstance(kernel, Dictionary) and not isinstance(kernel, KernelAtoms):
        return None
    found = as_dictionary(kernel)
    if not (isinstance(found, KernelAtoms) and found.at_training_rows and found.takes_gamma):
        return None
    return (found.kernel,) if found.kernel.is_stationary else None


def other_system(estimator: Any) -> str | None:
    """The setting that asks for another loop than the default one, as the systems of the papers have; or None."""
    update = as_update(estimator.update)
    if estimator.selection != "gain":
        return f"selection={estimator.selection!r}"
    if type(update) is not Orthogonal or update.rcond is not None:
        return f"update={estimator.update!r}"
    if estimator.exchange is True:
        return "exchange=True"
    if not is_word(estimator.candidates, "auto"):
        return "candidates other than 'auto'"
    if not (is_word(estimator.penalty, "auto") or as_penalty(estimator.penalty) == Ridge()):
        return f"penalty={estimator.penalty!r}"
    return None
