"""Which choices go together, and the fit that they make."""

from __future__ import annotations

import numpy as np

from kernelpursuit._validate import check_flag, check_option
from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.fits import Fit, MinResFit, OrthogonalFit, RescaleFit, StagewiseFit
from kernelpursuit.pursuit.penalty import Penalty, require_mercer, require_training_rows
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.selection import NAMES, SCORES
from kernelpursuit.pursuit.settings import Settings
from kernelpursuit.stopping import StoppingRule
from kernelpursuit.updates import MinRes, Orthogonal, Rescale, Stagewise, Update


def check_system(settings: Settings, rule: StoppingRule, problem: Problem) -> None:
    """Refuse choices that have no meaning together, in a sentence that says what does."""
    selection, update, penalty = settings.selection, settings.update, settings.penalty
    check_option("selection", selection, NAMES)
    if selection == "residual":
        require_training_rows(problem.dictionary, "selection='residual'")
        require_mercer(problem.dictionary, "selection='residual'")
    if selection == "random":
        why = "an atom drawn at random is the only one looked at"
        _require(problem.n_looked_at is None, "selection='random'", "candidates='all' or a list", why)
    if rule.needs_correlation:
        scored = selection in SCORES and problem.n_looked_at is None
        needs = "selection='correlation' or 'gain' over all candidates"
        _require(scored, f"stop={rule.name!r}", needs, "it asks how much any atom correlates with what is left")
    if isinstance(update, MinRes):
        _require(selection == "residual", "update='minres'", "selection='residual'", "it moves along the residual")
        _require(
            penalty in (None, "nugget"), "update='minres'", "penalty=None or 'nugget'", "it solves K w = y and no other"
        )
    if check_flag("exchange", settings.exchange):
        _require(
            isinstance(update, (Orthogonal, MinRes)),
            "exchange=True",
            "update='orthogonal' or 'minres'",
            "elsewhere the weights that the others have would be wrong without the atom that leaves",
        )
        _require(selection == "residual", "exchange=True", "selection='residual'", "it compares residuals at the atoms")
    if penalty == "ols":
        why, plain = "its penalty depends on the order of the atoms", isinstance(update, Orthogonal)
        _require(plain and not settings.exchange, "penalty='ols'", "update='orthogonal' alone", why)
        _require(selection != "correlation", "penalty='ols'", "selection='gain'", why)


def require_known(rule: StoppingRule, update: Update) -> None:
    """Refuse a rule that needs the leave-one-out error where it has no closed form."""
    if rule.needs_loo and not isinstance(update, Orthogonal):
        raise ValueError(
            f"stop={rule.name!r} needs the leave-one-out error, which has a closed form only with update='orthogonal'; "
            "use stop='mdl', 'validation', 'cv' or 'max'."
        )


def _require(holds: bool, what: str, needs: str, why: str) -> None:
    if not holds:
        raise ValueError(f"{what} needs {needs}, since {why}.")


def start_fit(
    update: Update,
    engine: Engine,
    targets: np.ndarray,
    penalty: Penalty | None,
    capacity: int,
    fixed: np.ndarray,
) -> Fit:
    """The fit without any atom, in which weights follow by the given update."""
    if isinstance(update, Stagewise):
        return StagewiseFit(engine, targets, penalty, fixed, update.shrinkage)
    if isinstance(update, Rescale):
        return RescaleFit(engine, targets, penalty, fixed)
    if isinstance(update, MinRes):
        return MinResFit(engine, targets, capacity, fixed)
    assert isinstance(update, Orthogonal)
    return OrthogonalFit(engine, targets, penalty, capacity, fixed, update.rcond)
