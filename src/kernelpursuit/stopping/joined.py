"""Two rules as one, and rules by name."""

from __future__ import annotations

from kernelpursuit._types import Path, State, ValidationSet
from kernelpursuit._validate import check_option
from kernelpursuit.stopping.base import StoppingRule
from kernelpursuit.stopping.criteria import AIC, FPE, HDAIC, MDL, TR1
from kernelpursuit.stopping.held_out import CV, Validation
from kernelpursuit.stopping.leave_one_out import TCR, Loo, LooError, OneSE
from kernelpursuit.stopping.prediction import PTR
from kernelpursuit.stopping.thresholds import TR2, TR3, TR4, Max, Tol


class Either(StoppingRule):
    """Two or more rules joined: ends the loop when any fires, and keeps the smallest choice.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import MDL, Tol
    >>> rule = Tol(0.5) | MDL()
    >>> type(rule).__name__, rule
    ('Either', Tol(tol=0.5) | MDL())
    >>> KernelPursuitRegressor(gamma=3.0, stop=rule).fit(*make_chirp(200)).stop_reason_
    '8 atoms: the relative residual 0.341 is within tol=0.5'
    """

    def __init__(self, *rules: StoppingRule):
        # (a | b) | c and a | (b | c) are the same rule.
        parts: list[StoppingRule] = []
        for rule in rules:
            parts += rule.rules if isinstance(rule, Either) else (rule,)
        self.rules: tuple[StoppingRule, ...] = tuple(parts)
        if sum(rule.validation_set() is not None or rule.validation_fraction() is not None for rule in self.rules) > 1:
            raise ValueError("Two validation rules cannot be joined; give one of them the held-out rows of both.")
        if len({rule.n_folds() for rule in self.rules} - {None}) > 1:
            raise ValueError("Two cv rules with different numbers of folds cannot be joined; give them the same.")
        self.needs_correlation = any(rule.needs_correlation for rule in self.rules)
        self.needs_coherence = any(rule.needs_coherence for rule in self.rules)
        self.needs_loo = any(rule.needs_loo for rule in self.rules)
        self.needs_classes = any(rule.needs_classes for rule in self.rules)
        self.for_any_loss = all(rule.for_any_loss for rule in self.rules)

    def state(self) -> State:
        """The rules."""
        return {"rules": self.rules}

    @classmethod
    def from_state(cls, state: State) -> Either:
        """Return the rule that joins those of `state`."""
        return cls(*state["rules"])

    @property
    def name(self) -> str:  # type: ignore[override]
        """All names."""
        return " | ".join(rule.name for rule in self.rules)

    def fired(self, path: Path) -> bool:
        """Whether any has."""
        return any(rule.fired(path) for rule in self.rules)

    def _chooser(self, path: Path) -> StoppingRule:
        return min(self.rules, key=lambda rule: rule.choose(path))

    def choose(self, path: Path) -> int:
        """The smallest choice."""
        return self._chooser(path).choose(path)

    def explain(self, path: Path) -> str:
        """The words of the rule that chose."""
        return self._chooser(path).explain(path)

    def validation_set(self) -> ValidationSet | None:
        """That of the rule that has one."""
        return next((s for s in (rule.validation_set() for rule in self.rules) if s is not None), None)

    def validation_fraction(self) -> float | None:
        """That of the rule that has one."""
        return next((f for f in (rule.validation_fraction() for rule in self.rules) if f is not None), None)

    def n_folds(self) -> int | None:
        """Those of the rule that has some."""
        return next((n for n in (rule.n_folds() for rule in self.rules) if n is not None), None)

    def __eq__(self, other: object) -> bool:
        """Whether the other joins the same rules in the same order."""
        return self.rules == other.rules if isinstance(other, Either) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show all."""
        return " | ".join(map(repr, self.rules))


RULES: tuple[type[StoppingRule], ...] = (
    *(MDL, AIC, FPE, HDAIC, TR1),
    *(Loo, OneSE, LooError, TCR),
    *(Validation, CV),
    *(PTR, TR2, TR3, TR4, Tol, Max),
)
BY_NAME: dict[str, type[StoppingRule]] = {rule.name: rule for rule in RULES}


def as_rule(stop: object) -> StoppingRule:
    """Return the rule for a name, names joined with `|`, or a rule."""
    if isinstance(stop, StoppingRule):
        return stop
    if isinstance(stop, str) and "|" in stop:
        return Either(*(as_rule(part.strip()) for part in stop.split("|")))
    return BY_NAME[check_option("stop", stop, BY_NAME)]()
