"""What a rule is, and how it speaks of models."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernelpursuit._types import Path, State, ValidationSet
from kernelpursuit._validate import ByName, check_number

if TYPE_CHECKING:
    from kernelpursuit.stopping.joined import Either


# Why a loop has ended that has no atom left.
ALL_PICKED = "every candidate has been picked"
# The same of atoms that were learned on a sample of the rows, which are fewer than the candidates were.
ALL_LEARNED = "all learned atoms are in"


def count_atoms(k: int) -> str:
    """Say how many atoms."""
    return f"{k} atom" if k == 1 else f"{k} atoms"


def tell_size(path: Path, k: int) -> str:
    """Say how many atoms the model after k steps has, and the steps where an atom was picked again."""
    size = int(path.size[k])
    return count_atoms(size) if size == k else f"{count_atoms(size)} in {k} steps"


class StoppingRule(ByName):
    """Base of all rules; by itself it never fires and keeps every atom.

    `path` is a `PursuitPath`; while the loop runs, it ends with the current step.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import StoppingRule
    >>> class SmallGains(StoppingRule):
    ...     name = "small-gains"
    ...     def fired(self, path):
    ...         return path.n_steps > 0 and path.cost[-1] > 0.99 * path.cost[-2]
    ...     def choose(self, path):
    ...         return max(path.n_steps - 1, 0)
    >>> model = KernelPursuitRegressor(gamma=3.0, stop=SmallGains()).fit(*make_chirp(200))
    >>> model.n_atoms_ < 100
    True
    """

    #: Name by which the rule is given as `stop=...`.
    name: str = "max"
    #: Whether the loop must know, after every step, how much any atom correlates with what is left.
    needs_correlation: bool = False
    #: Whether the loop must know the mutual coherence of the dictionary, which costs as much as all products of atoms.
    needs_coherence: bool = False
    #: Whether the rule reads the leave-one-out error, which only `update="orthogonal"` has.
    needs_loo: bool = False
    #: Whether the rule counts rows in a wrong class, which only classifiers have.
    needs_classes: bool = False
    #: Whether the rule makes sense under another loss than the squared one.
    for_any_loss: bool = False

    def fired(self, path: Path) -> bool:
        """Whether the loop should end after the step that `path` ends with."""
        return False

    def choose(self, path: Path) -> int:
        """How many steps to keep."""
        return path.n_steps

    def explain(self, path: Path) -> str:
        """One sentence that says what was chosen and why."""
        return f"{tell_size(path, self.choose(path))}: {path.end_reason}"

    def validation_set(self) -> ValidationSet | None:
        """Held-out rows, targets and weights whose error the loop should follow, or None."""
        return None

    def validation_fraction(self) -> float | None:
        """Fraction of the training rows to hold out, or None."""
        return None

    def n_folds(self) -> int | None:
        """Number of folds over which to average errors along the path, or None."""
        return None

    def __or__(self, other: object) -> Either:
        """Join with another rule."""
        from kernelpursuit.stopping.joined import Either, as_rule

        return Either(self, as_rule(other))

    def __ror__(self, other: object) -> Either:
        """Join with a rule given by name."""
        from kernelpursuit.stopping.joined import Either, as_rule

        return Either(as_rule(other), self)

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._changed().items())})"

    def _changed(self) -> State:
        """Parameters that differ from their defaults."""
        if not is_dataclass(self):
            return {}
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if default is MISSING or value != default}


@dataclass(repr=False)
class NoAtoms(StoppingRule):
    """Keep none, for a reason that was found before the loop ran.

    Parameters
    ----------
    reason : str
        Why, in words.
    n_steps : int, optional
        Steps after which the loop ends, which are there for other rules to choose from; None lets it run.
    """

    reason: str
    n_steps: int | None = None
    name = "none"
    for_any_loss = True

    def fired(self, path: Path) -> bool:
        """Whether there are enough steps for others."""
        return self.n_steps is not None and path.n_steps >= self.n_steps

    def choose(self, path: Path) -> int:
        """None."""
        return 0

    def explain(self, path: Path) -> str:
        """Give the reason."""
        return f"{tell_size(path, 0)}: {self.reason}"


class LeastRule(StoppingRule):
    """Rules that keep the k at which a curve over the path is least; the fewest atoms among equals.

    `patience` ends the loop after that many steps without a new least; None lets it run.
    """

    #: What the curve is, in the words of `explain`.
    label: str
    patience: int | None

    def __post_init__(self) -> None:
        if self.patience is not None:
            check_number("patience", self.patience, low=1, integer=True)

    def curve(self, path: Path) -> np.ndarray:
        """The criterion of the models after 0, 1, ... steps, shape (n_steps + 1,)."""
        raise NotImplementedError

    def least(self, path: Path) -> int:
        """Where the curve is least; entries that are not known do not count."""
        values = self.curve(path)
        return int(np.argmin(np.where(np.isnan(values), np.inf, values)))

    def fired(self, path: Path) -> bool:
        """Whether the criterion has not fallen for `patience` steps."""
        return self.patience is not None and path.n_steps - self.least(path) >= self.patience

    def choose(self, path: Path) -> int:
        """The least of the curve."""
        return self.least(path)

    def explain(self, path: Path) -> str:
        """Say where the least was, or that it was not seen yet."""
        k = self.choose(path)
        if self.curve(path)[k] == np.inf:
            return f"{tell_size(path, k)}: {self.label} is infinite for every model"
        if k == path.n_steps and k > 0:
            return f"{tell_size(path, k)}: {path.end_reason} while {self.label} was still falling"
        return f"{tell_size(path, k)}: {self.label} is least there, of {path.n_steps} tried"
