"""Rules that say when to stop and how many atoms to keep.

A rule is an object with two questions to answer from the path so far: `fired` (should the loop end now?) and
`choose` (how many atoms to keep?). A rule that needs only the current step fires; one that needs the whole path
chooses afterwards, also on the path of a fit that was made under another rule. Two rules join with `|`: the loop
ends when either fires, and the smaller choice is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpursuit._validate import check_number, check_option


def count_atoms(k: int) -> str:
    """Say how many atoms."""
    return f"{k} atom" if k == 1 else f"{k} atoms"


class StoppingRule:
    """Base of all rules; by itself it never fires and keeps every atom."""

    #: Name by which the rule is given as `stop=...`.
    name: str = "max"

    def fired(self, path: Any) -> bool:
        """Whether the loop should end after the step that `path` ends with."""
        return False

    def choose(self, path: Any) -> int:
        """How many atoms to keep."""
        return path.n_atoms

    def explain(self, path: Any) -> str:
        """One sentence that says what was chosen and why."""
        return f"{count_atoms(path.n_atoms)}: {path.end_reason}"

    def validation_set(self) -> tuple[Any, Any, Any] | None:
        """Held-out rows, targets and weights whose error the loop should follow, or None."""
        return None

    def validation_fraction(self) -> float | None:
        """Part of the training rows to hold out, or None."""
        return None

    def __or__(self, other: Any) -> Either:
        """Join with another rule."""
        return Either(self, as_rule(other))

    def __ror__(self, other: Any) -> Either:
        """Join with a rule given by name."""
        return Either(as_rule(other), self)


@dataclass
class Max(StoppingRule):
    """Keep every atom, up to `max_atoms`."""

    name = "max"


@dataclass
class Tol(StoppingRule):
    """Stop once the residual norm is at most `tol` times that of the model without atoms."""

    tol: float = 1e-3
    name = "tol"

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=0)

    def fired(self, path: Any) -> bool:
        """Whether the residual is small enough."""
        return bool(path.residual_norm[-1] <= self.tol * path.residual_norm[0])

    def choose(self, path: Any) -> int:
        """The first k whose residual is small enough, else all."""
        small = np.flatnonzero(path.residual_norm <= self.tol * path.residual_norm[0])
        return int(small[0]) if len(small) else path.n_atoms

    def explain(self, path: Any) -> str:
        """Say whether the tolerance was reached."""
        k = self.choose(path)
        relative = path.residual_norm[k] / path.residual_norm[0] if path.residual_norm[0] > 0 else 0.0
        if relative <= self.tol:
            return f"{count_atoms(k)}: the relative residual {relative:.3g} is within tol={self.tol:g}"
        return (
            f"{count_atoms(k)}: {path.end_reason} before the relative residual {relative:.3g} reached tol={self.tol:g}"
        )


class _Least(StoppingRule):
    """Rules that keep the k at which a criterion on the path is least."""

    criterion: str
    label: str
    patience: int | None

    def __post_init__(self) -> None:
        if self.patience is not None:
            check_number("patience", self.patience, low=1, integer=True)

    def fired(self, path: Any) -> bool:
        """Whether the criterion has not fallen for `patience` steps."""
        values = getattr(path, self.criterion)
        return self.patience is not None and len(values) - 1 - int(np.argmin(values)) >= self.patience

    def choose(self, path: Any) -> int:
        """The least criterion; the fewest atoms among equals."""
        return int(np.argmin(getattr(path, self.criterion)))

    def explain(self, path: Any) -> str:
        """Say where the least was, or that it was not seen yet."""
        k = self.choose(path)
        if k == path.n_atoms and k > 0:
            return f"{count_atoms(k)}: {path.end_reason} while {self.label} was still falling"
        return f"{count_atoms(k)}: {self.label} is least there, of {path.n_atoms} tried"


@dataclass
class Loo(_Least):
    """Keep the k with the least leave-one-out error.

    The error is exact for the picked atoms held fixed: with leverage h_i and residual r_i, leaving row i out gives
    `r_i / (1 - h_i)` (Allen's PRESS). `patience` ends the loop after that many steps without a new least.
    """

    patience: int | None = None
    name = "loo"
    criterion = "loo"
    label = "the leave-one-out error"


@dataclass
class OneSE(_Least):
    """Keep the fewest atoms whose leave-one-out error is within one standard error of the least."""

    patience: int | None = None
    name = "one-se"
    criterion = "loo"

    def choose(self, path: Any) -> int:
        """The first k within the band."""
        least = int(np.argmin(path.loo))
        bound = path.loo[least] + path.loo_se[least]
        return int(np.flatnonzero(path.loo <= bound)[0]) if np.isfinite(bound) else least

    def explain(self, path: Any) -> str:
        """Say where the least error was and what the band allowed."""
        least, k = int(np.argmin(path.loo)), self.choose(path)
        falling = f", though {path.end_reason} while it was still falling" if least == path.n_atoms and least else ""
        return f"{count_atoms(k)}: within one standard error of the least leave-one-out error, at {least}{falling}"


@dataclass(eq=False)
class Validation(_Least):
    """Keep the k with the least squared error on held-out rows; stop after `patience` steps without a new least.

    Parameters
    ----------
    X, y : held-out rows and targets; without them, `fraction` of the training rows is held out
    fraction : part of the training rows to hold out
    patience : steps without a new least after which the loop ends; None never ends it
    sample_weight : weights of the held-out rows
    """

    X: Any = None
    y: Any = None
    fraction: float = 0.1
    patience: int | None = 20
    sample_weight: Any = None
    name = "validation"
    criterion = "validation"
    label = "the validation error"

    def __post_init__(self) -> None:
        if (self.X is None) != (self.y is None):
            raise ValueError("Validation needs both X and y, or neither (then `fraction` of the rows is held out).")
        super().__post_init__()
        if not 0 < check_number("fraction", self.fraction, low=0, strict=True) < 1:
            raise ValueError(f"fraction={self.fraction!r} is too large; give a number between 0 and 1.")

    def validation_set(self) -> tuple[Any, Any, Any] | None:
        """The given rows."""
        return None if self.X is None else (self.X, self.y, self.sample_weight)

    def validation_fraction(self) -> float | None:
        """The part to hold out where no rows were given."""
        return self.fraction if self.X is None else None

    def choose(self, path: Any) -> int:
        """The least validation error."""
        if path.validation is None:
            raise ValueError("stop='validation' needs held-out rows: fit with it, or give Validation(X=..., y=...).")
        return super().choose(path)

    def __repr__(self) -> str:
        """Show sizes in place of arrays."""
        held = f"fraction={self.fraction:g}" if self.X is None else f"{len(self.y)} rows"
        return f"Validation({held}, patience={self.patience})"


class Either(StoppingRule):
    """Two rules joined: ends when either fires, keeps the smaller choice."""

    def __init__(self, first: StoppingRule, second: StoppingRule):
        self.rules = (first, second)
        if all(rule.validation_set() or rule.validation_fraction() for rule in self.rules):
            raise ValueError("Two validation rules cannot be joined; give one of them the held-out rows of both.")

    @property
    def name(self) -> str:  # type: ignore[override]
        """Both names."""
        return " | ".join(rule.name for rule in self.rules)

    def fired(self, path: Any) -> bool:
        """Whether either has."""
        return any(rule.fired(path) for rule in self.rules)

    def _chooser(self, path: Any) -> StoppingRule:
        return min(self.rules, key=lambda rule: rule.choose(path))

    def choose(self, path: Any) -> int:
        """The smaller choice."""
        return self._chooser(path).choose(path)

    def explain(self, path: Any) -> str:
        """The words of the rule that chose."""
        return self._chooser(path).explain(path)

    def validation_set(self) -> tuple[Any, Any, Any] | None:
        """That of the rule that has one."""
        return next((s for s in (rule.validation_set() for rule in self.rules) if s is not None), None)

    def validation_fraction(self) -> float | None:
        """That of the rule that has one."""
        return next((f for f in (rule.validation_fraction() for rule in self.rules) if f is not None), None)

    def __repr__(self) -> str:
        """Show both."""
        return " | ".join(map(repr, self.rules))


BY_NAME: dict[str, type[StoppingRule]] = {rule.name: rule for rule in (Loo, OneSE, Tol, Validation, Max)}


def as_rule(stop: Any) -> StoppingRule:
    """Return the rule for a name or a rule."""
    if isinstance(stop, StoppingRule):
        return stop
    if isinstance(stop, str) and "|" in stop:
        first, _, rest = stop.partition("|")
        return as_rule(first.strip()) | as_rule(rest.strip())
    return BY_NAME[check_option("stop", stop, BY_NAME)]()


__all__ = ["BY_NAME", "Either", "Loo", "Max", "OneSE", "StoppingRule", "Tol", "Validation", "as_rule"]
