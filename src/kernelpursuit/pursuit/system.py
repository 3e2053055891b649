"""Which choices go together, and the fit that they make."""

from __future__ import annotations

import numpy as np

from kernelpursuit._validate import check_flag, check_number, check_option
from kernelpursuit.losses import Loss, Squared
from kernelpursuit.penalties import as_penalty
from kernelpursuit.pursuit.fits import Design, Fit, IncrementFit, LossFit, MinResFit, OrthogonalFit, StagewiseLossFit
from kernelpursuit.pursuit.objective import Objective
from kernelpursuit.pursuit.penalty import require_mercer, require_training_rows
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.selection import NAMES, SCORES
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.watch import Watch
from kernelpursuit.stopping import StoppingRule
from kernelpursuit.updates import MinRes, Orthogonal, Rescale, Stagewise, Update


def check_system(spec: LoopSpec, problem: Problem) -> None:
    """Refuse choices that have no meaning together or on this problem, in a sentence that says what does."""
    check_choices(spec)
    selection = spec.selection
    for what, is_given in {
        "selection='residual'": selection == "residual",
        "update='minres'": isinstance(spec.update, MinRes),
        "exchange=True": spec.exchange,
    }.items():
        if is_given:  # all three look at the residual at the row of an atom
            require_training_rows(problem.dictionary, what)
            require_mercer(problem.dictionary, what)
    check_candidates_of(spec, problem.n_looked_at)


def check_candidates_of(spec: LoopSpec, n_looked_at: int | None) -> None:
    """Refuse candidates that are drawn anew at each step (`n_looked_at` of them) where all have to be looked at."""
    if spec.selection == "random":
        why = "an atom drawn at random is the only one looked at"
        _require(n_looked_at is None, "selection='random'", "candidates='all' or a list", why)
    if _has_shortlist(spec):
        why = "those drawn anew are looked at for one step alone"
        _require(n_looked_at is None, f"shortlist={spec.shortlist}", "candidates='all' or a list", why)
    rule = spec.rule
    if rule.needs_correlation:
        scored = spec.selection in SCORES and n_looked_at is None
        needs = "selection='correlation' or 'gain' over all candidates"
        _require(scored, f"stop={rule.name!r}", needs, "it asks how much any atom correlates with what is left")


def check_choices(spec: LoopSpec) -> None:
    """Refuse choices that have no meaning together, whatever the data."""
    rule = spec.rule
    selection, update, penalty = spec.selection, spec.update, as_penalty(spec.penalty)
    check_option("selection", selection, NAMES)
    if isinstance(update, MinRes):
        why = "it moves all weights at once, and what an atom adds to that is not known beforehand"
        _require(selection != "gain", "update='minres'", "selection='residual', 'correlation' or 'random'", why)
        plain = penalty is None or update.name in penalty.allowed_updates
        _require(plain, "update='minres'", "penalty=None or 'nugget'", "it solves K w = y and no other")
    if check_flag("exchange", spec.exchange):
        _require(
            isinstance(update, (Orthogonal, MinRes)),
            "exchange=True",
            "update='orthogonal' or 'minres'",
            "elsewhere the weights that the others have would be wrong without the atom that leaves",
        )
    if rule.needs_classes:
        _require(spec.classes, f"stop={rule.name!r}", "a classifier", "it counts rows in a wrong class")
    if check_shortlist(spec.shortlist) is not None:
        _check_shortlist_with(spec)
    if penalty is None:
        return
    what = f"penalty={spec.penalty!r}"
    if penalty.depends_on_order:
        why, plain = "its penalty depends on the order of the atoms", isinstance(update, Orthogonal)
        _require(plain and not spec.exchange, what, "update='orthogonal' alone", why)
        _require(selection != "correlation", what, "selection='gain'", why)
    allowed = " or ".join(map(repr, penalty.allowed_updates))
    _require(update.name in penalty.allowed_updates, what, f"update={allowed}", "it is not made for others")


def check_shortlist(shortlist: int | None) -> int | None:
    """Return `shortlist` if it is a number of steps, or None."""
    if shortlist is None:
        return None
    return int(check_number("shortlist", shortlist, low=1, integer=True, others="or None"))


def _has_shortlist(spec: LoopSpec) -> bool:
    """Whether a pass over all atoms is for several steps; with one for each, all is as without a shortlist."""
    return spec.shortlist is not None and spec.shortlist > 1


def _check_shortlist_with(spec: LoopSpec) -> None:
    """Refuse what does not go with a pass over all atoms for several steps."""
    if not _has_shortlist(spec):
        return
    what, rule = f"shortlist={spec.shortlist}", spec.rule
    _require(spec.selection in SCORES, what, "selection='gain' or 'correlation'", "the others score no atoms")
    why = "only there a step is a direction, and several of them can be waited for"
    _require(isinstance(spec.update, Orthogonal), what, "update='orthogonal'", why)
    _require(not spec.exchange, what, "exchange=False", "an exchange turns the directions that are waited for")
    why = f"stop={rule.name!r} asks after each step how much any atom correlates with what is left"
    _require(not rule.needs_correlation, what, "another rule", why)


def check_loss(spec: LoopSpec) -> None:
    """Refuse what has no meaning, or no closed form, under another loss than the squared one."""
    if spec.loss is None:
        return
    what, why = f"loss={spec.loss.name!r}", "the others are squared-loss systems"
    any_loss = isinstance(spec.update, (Orthogonal, Stagewise))
    only = f"update={spec.update.name!r} is for loss='squared'"
    _require(any_loss, what, "update='orthogonal' or 'stagewise'", only)
    _require(spec.selection != "residual", what, "selection='gain', 'correlation' or 'random'", why)
    _require(not spec.exchange, what, "exchange=False", why)
    penalty = as_penalty(spec.penalty)
    _require(penalty is None or penalty.for_any_loss, what, "penalty='ridge', 'rkhs' or None", why)
    _require(spec.truncate is None, what, "truncate=None", "its scores are not in the units of y")


def check_loss_shape(loss: Loss, targets: np.ndarray, weights: np.ndarray | None) -> None:
    """Refuse targets that a loss does not take, and a loss whose values are of a wrong shape or not finite.

    `targets` have the shape (n_targets, n_rows).
    """
    loss.check_targets(targets)
    given = np.ones(targets.shape[1]) if weights is None else weights
    _try(Objective(loss.resolve(targets, given), targets, given), targets.shape)


def _try(objective: Objective, shape: tuple[int, ...]) -> None:
    """Look at a loss once, at scores of zero: what it returns is checked on the way."""
    nothing = np.zeros(shape)
    objective.value(nothing), objective.around(nothing)


def require_known(rule: StoppingRule, update: Update, loss: Loss | None) -> None:
    """Refuse a rule that needs the leave-one-out error where it has no closed form, or squared residuals."""
    if loss is not None and type(loss) is not Squared and not rule.for_any_loss:
        raise ValueError(
            f"stop={rule.name!r} is about squared residuals, but loss={loss.name!r}; use stop='loo', 'one-se', "
            "'loo-error' (for classes), 'validation', 'cv' or 'max', or loss='squared'."
        )
    if rule.needs_loo and not isinstance(update, Orthogonal):
        others = "'validation', 'cv' or 'max'" if loss is not None else "'mdl', 'validation', 'cv' or 'max'"
        raise ValueError(
            f"stop={rule.name!r} needs the leave-one-out error, which has a closed form only with update='orthogonal'; "
            f"use stop={others}."
        )


def _require(holds: bool, what: str, needs: str, why: str) -> None:
    if not holds:
        raise ValueError(f"{what} needs {needs}, since {why}.")


def start_fit(update: Update, problem: Problem, design: Design, watch: Watch | None = None) -> Fit:
    """The fit without any atom, in which weights follow by the given update; a long refit asks `watch` on its way."""
    engine = design.engine
    if problem.loss is not None:
        return _start_loss_fit(update, design, problem, Objective(problem.loss, problem.targets, engine.weights, watch))
    targets = np.sqrt(engine.weights) * problem.targets
    if isinstance(update, (Stagewise, Rescale)):
        shrinkage = update.shrinkage if isinstance(update, Stagewise) else 1.0
        return IncrementFit(design, targets, shrinkage, rescales=isinstance(update, Rescale))
    if isinstance(update, MinRes):
        return MinResFit(design, targets)
    assert isinstance(update, Orthogonal)
    return OrthogonalFit(design, targets, update.rcond)


def _start_loss_fit(update: Update, design: Design, problem: Problem, objective: Objective) -> Fit:
    # A loss of a wrong shape is told before its constant is looked for.
    _try(objective, problem.targets.shape)
    start = np.zeros(len(problem.targets))
    if problem.intercept:
        start = objective.loss.start(problem.targets, objective.weights)
    if isinstance(update, Stagewise):
        return StagewiseLossFit(design, objective, start, update)
    assert isinstance(update, Orthogonal)
    return LossFit(design, objective, start, update)
