"""All parameters checked before a fit computes anything, each in a sentence with what this estimator takes."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from kernelpursuit._validate import check_flag, check_number, check_option, check_verbose
from kernelpursuit.dictionary import Dictionary, Precomputed
from kernelpursuit.engine import resolve_budget
from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.estimators.spec import check_trend, chosen_rule, is_word
from kernelpursuit.kernels import BY_NAME as KERNELS
from kernelpursuit.losses import BY_NAME as LOSSES
from kernelpursuit.losses import Loss
from kernelpursuit.model.outside import OPTIONS
from kernelpursuit.penalties import check_penalty
from kernelpursuit.pursuit import LoopSpec, as_fitted_loss, resolve_threads
from kernelpursuit.pursuit.problem import check_truncate
from kernelpursuit.pursuit.selection import check_candidates
from kernelpursuit.pursuit.system import check_choices, check_loss, require_known
from kernelpursuit.stopping import BY_NAME as RULES
from kernelpursuit.stopping import StoppingRule
from kernelpursuit.updates import as_update


def check_parameters(estimator: Any, loss: Loss, classes: bool) -> None:
    """Refuse parameters that a fit would refuse later, and pairs of them that do not go together."""
    for name in ("exchange", "fit_intercept", "warm_start"):
        check_flag(name, getattr(estimator, name))
    _check_words(estimator)
    if not is_word(estimator.refine, "auto"):
        check_flag("refine", estimator.refine, "or 'auto'")
    check_trend(estimator.trend)
    check_option("outside", estimator.outside, OPTIONS)
    if not is_word(estimator.max_atoms, "auto"):
        check_number("max_atoms", estimator.max_atoms, low=1, integer=True, others="or 'auto'")
    if not is_word(estimator.alpha, "auto"):
        check_number("alpha", estimator.alpha, low=0, others="or 'auto'")
    check_penalty(estimator.penalty, "auto")
    check_candidates(estimator.candidates)
    truncate = getattr(estimator, "truncate", None)
    check_truncate(truncate)
    if not (estimator.sample_rows is None or is_word(estimator.sample_rows, "auto")):
        check_number("sample_rows", estimator.sample_rows, low=1, integer=True, others="'auto', or None for all")
    if not isinstance(estimator.checkpoint, (str, PathLike, type(None))):
        raise ValueError(f"checkpoint={estimator.checkpoint!r} is not usable; give the name of a file, or None.")
    check_forgetting(estimator.forgetting)
    resolve_budget(estimator.memory_budget)
    resolve_threads(estimator.n_jobs)
    check_verbose(estimator.verbose)
    if not isinstance(estimator.random_state, np.random.RandomState):
        check_seed(estimator.random_state)
    update = as_update(estimator.update)
    fitted_loss = as_fitted_loss(loss, update)
    spec = LoopSpec(
        rule=chosen_rule(estimator.stop),
        dictionary=Precomputed(),
        max_atoms=1,
        seed=0,
        selection=estimator.selection,
        update=update,
        exchange=estimator.exchange,
        shortlist=estimator.shortlist,
        penalty="ridge" if is_word(estimator.penalty, "auto") else estimator.penalty,
        truncate=truncate,
        loss=fitted_loss,
        classes=classes,
    )
    check_loss(spec)
    require_known(spec.rule, update, fitted_loss)
    check_choices(spec)


def check_forgetting(forgetting: object) -> float:
    """How much a row counts beside the one after it: above 0, and at most 1."""
    factor: float = check_number("forgetting", forgetting, low=0, strict=True, others="and at most 1")
    if factor > 1:
        raise ValueError(f"forgetting={forgetting!r} is too large; give a number above 0 and at most 1.")
    return factor


def _check_words(estimator: Any) -> None:
    """Refuse names that are not known, with a list of all that are."""
    kernel, gamma, stop = estimator.kernel, estimator.gamma, estimator.stop
    is_function = callable(kernel) and not isinstance(kernel, type)
    if not (is_function or isinstance(kernel, (Dictionary, list, tuple))):
        check_option("kernel", kernel, ("auto", *KERNELS, "precomputed"))
    if isinstance(gamma, str):
        check_option("gamma", gamma, ("learn", "scale"), "a number, or one number for each feature")
    if not (isinstance(stop, StoppingRule) or (isinstance(stop, str) and "|" in stop)):
        check_option("stop", stop, ("auto", *RULES))


def losses_for(takes: Any) -> list[str]:
    """Names of the losses that an estimator takes, by a function of the loss."""
    return [name for name, loss in LOSSES.items() if takes(loss)]
