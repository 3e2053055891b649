"""The criterion that compares the fits of a search: which rule it belongs to, and where it is read on a path."""

from __future__ import annotations

import numpy as np

from kernelpursuit._types import Path, ValidationSet
from kernelpursuit._validate import check_number
from kernelpursuit.stopping import CV, HDAIC, PTR, TCR, Either, Loo, OneSE, StoppingRule, as_rule

# Where on a path a criterion may be read: at the size that is kept, or where it is least.
SCORE_AT = ("kept", "least")


class SearchRule(StoppingRule):
    """The stopping rule of every fit of a search: it stops as one rule does, and records the criterion of another.

    Parameters
    ----------
    stop : StoppingRule
        The rule that says when to stop and how many atoms to keep.
    by : StoppingRule
        The rule whose curve compares the fits. It may need leave-one-out errors, folds or validation rows that `stop`
        does not need.
    """

    def __init__(self, stop: StoppingRule, by: StoppingRule):
        self.stop, self.by = stop, by
        if stop.n_folds() not in (None, by.n_folds()) and by.n_folds() is not None:
            raise ValueError(
                f"by='cv' has {by.n_folds()} folds and the estimator's stop has {stop.n_folds()}; set cv to the latter."
            )
        if by not in _parts(stop) and _has_validation_rows(stop) and _has_validation_rows(by):
            raise ValueError("by and the estimator's stop each have validation rows; use by='stop', or stop='loo'.")
        self.needs_correlation = stop.needs_correlation or by.needs_correlation
        self.needs_coherence = stop.needs_coherence or by.needs_coherence
        self.needs_loo = stop.needs_loo or by.needs_loo
        self.needs_classes = stop.needs_classes or by.needs_classes
        self.for_any_loss = stop.for_any_loss and by.for_any_loss
        asks_more = (
            (by.needs_loo and not stop.needs_loo)
            or (by.needs_classes and not stop.needs_classes)
            or (stop.for_any_loss and not by.for_any_loss)
        )
        # An error message names the rule whose needs are not met.
        self.name = by.name if asks_more else stop.name

    def fired(self, path: Path) -> bool:
        """Whether `stop` ends the loop."""
        return self.stop.fired(path)

    def choose(self, path: Path) -> int:
        """The number of steps that `stop` keeps."""
        return self.stop.choose(path)

    def explain(self, path: Path) -> str:
        """The explanation of `stop`."""
        return self.stop.explain(path)

    def validation_set(self) -> ValidationSet | None:
        """The validation rows of `stop`, else those of the criterion."""
        return self.by.validation_set() if self.stop.validation_set() is None else self.stop.validation_set()

    def validation_fraction(self) -> float | None:
        """The validation fraction of `stop`, else that of the criterion."""
        own = self.stop.validation_fraction()
        return self.by.validation_fraction() if own is None else own

    def n_folds(self) -> int | None:
        """The number of folds of `stop`, else that of the criterion."""
        return self.by.n_folds() if self.stop.n_folds() is None else self.stop.n_folds()

    @property
    def needs_refit(self) -> bool:
        """Whether the criterion uses training rows for validation that `stop` alone would fit."""
        return self.by.validation_fraction() is not None and self.stop.validation_fraction() is None


def search_rule(by: str | StoppingRule, stop: str | StoppingRule, cv: int) -> SearchRule:
    """Return the stopping rule for the fits of a search, from its parameters and the estimator's `stop`."""
    stop = as_rule(stop)
    if isinstance(by, str) and by == "stop":
        criterion = _with_curve(stop)
        if criterion is None:
            raise ValueError(
                f"by='stop' has nothing to compare, since stop={stop.name!r} minimises nothing; give by='loo' or 'cv'."
            )
        return SearchRule(stop, criterion)
    if isinstance(by, str) and by == "cv":
        return SearchRule(stop, CV(folds=check_number("cv", cv, low=2, integer=True)))
    try:
        rule = as_rule(by)
    except ValueError as error:
        raise ValueError(
            f"{str(error).replace('stop=', 'by=', 1)[:-1]} (or 'stop', for the estimator's own)."
        ) from None
    # A criterion given by name is that of the estimator's own rule of this name, if it has one.
    named = [part for part in _parts(stop) if part.name == rule.name] if isinstance(by, str) else []
    criterion = _with_curve(named[0] if named else rule)
    if criterion is None:
        raise ValueError(f"by={by!r} minimises nothing; give a criterion such as 'loo', 'cv' or 'mdl'.")
    return SearchRule(stop, criterion)


def criterion_at(rule: StoppingRule, path: Path, k: int, score_at: str = "kept") -> tuple[float, float]:
    """The criterion of a rule on a path, and its standard error (NaN if not known).

    `score_at` is one of `SCORE_AT`. "kept" reads the criterion after k steps; where the paths of folds ended before k,
    at the last model that all of them have. "least" reads its minimum.
    """
    curve = rule.curve(path)  # type: ignore[attr-defined]
    known = np.flatnonzero(~np.isnan(curve if score_at == "least" else curve[: k + 1]))
    if not len(known):
        return np.nan, np.nan
    at = int(known[np.argmin(curve[known])] if score_at == "least" else known[-1])
    has_error = path.loo_se is not None and curve is path.loo
    return float(curve[at]), float(path.loo_se[at]) if has_error else np.nan


def _parts(rule: StoppingRule) -> tuple[StoppingRule, ...]:
    return rule.rules if isinstance(rule, Either) else (rule,)


def _with_curve(rule: StoppingRule) -> StoppingRule | None:
    """The first part of a rule that minimises a criterion along the path, or None."""
    for part in _parts(rule):
        if isinstance(part, PTR) and part.T is None:
            return HDAIC()
        if isinstance(part, (OneSE, TCR)):
            return Loo()  # which their curve is
        if hasattr(part, "curve"):
            return part
    return None


def _has_validation_rows(rule: StoppingRule) -> bool:
    return rule.validation_set() is not None or rule.validation_fraction() is not None
