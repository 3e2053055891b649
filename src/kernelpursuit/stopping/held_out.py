"""Rules on the error on rows that were not fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix, Path, ValidationSet
from kernelpursuit._validate import check_number, check_option
from kernelpursuit.stopping.base import LeastRule, tell_size

MEASURES = ("loss", "error")


def _loss_or_error(of: str, loss: np.ndarray, error: np.ndarray | None) -> np.ndarray:
    if of == "error" and error is None:
        raise ValueError("of='error' counts rows in a wrong class, which only classifiers have; use of='loss'.")
    return loss if of == "loss" or error is None else error


@dataclass(eq=False, repr=False)
class Validation(LeastRule):
    """Keep the k with the least loss on held-out rows; stop after `patience` steps without a new least.

    Parameters
    ----------
    X, y : held-out rows and targets; without them, `fraction` of the training rows is held out
    fraction : fraction of the training rows to hold out
    patience : steps without a new least after which the loop ends; None never ends it
    sample_weight : weights of the held-out rows
    of : "loss", or for classifiers "error", the fraction of the rows in a wrong class

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import Validation
    >>> rule = Validation(fraction=0.2, patience=10)
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, random_state=0, stop=rule).fit(*make_chirp(200))
    >>> model.stop_reason_
    '20 atoms: the validation error is least there, of 30 tried'
    """

    X: Matrix = None
    y: ArrayLike | None = None
    fraction: float = 0.1
    patience: int | None = 20
    sample_weight: ArrayLike | None = None
    of: str = "loss"
    name = "validation"
    label = "the validation error"
    for_any_loss = True

    def __post_init__(self) -> None:
        if (self.X is None) != (self.y is None):
            raise ValueError("Validation needs both X and y, or neither (then `fraction` of the rows is held out).")
        super().__post_init__()
        self.needs_classes = check_option("of", self.of, MEASURES) == "error"
        if not 0 < check_number("fraction", self.fraction, low=0, strict=True) < 1:
            raise ValueError(f"fraction={self.fraction!r} is too large; give a number between 0 and 1.")

    def validation_set(self) -> ValidationSet | None:
        """The given rows."""
        return None if self.y is None else (self.X, self.y, self.sample_weight)

    def validation_fraction(self) -> float | None:
        """The fraction to hold out where no rows were given."""
        return self.fraction if self.X is None else None

    def curve(self, path: Path) -> np.ndarray:
        """The mean loss on held-out rows, or the fraction of them in a wrong class."""
        if path.validation is None:
            raise ValueError("stop='validation' needs held-out rows: fit with it, or give Validation(X=..., y=...).")
        return _loss_or_error(self.of, path.validation, path.validation_error)

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same parameters, and the very same held-out rows."""
        if not isinstance(other, Validation):
            return NotImplemented
        same_rows = all(getattr(self, name) is getattr(other, name) for name in ("X", "y", "sample_weight"))
        return same_rows and (self.fraction, self.patience, self.of) == (other.fraction, other.patience, other.of)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the number of rows in place of arrays."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self._changed_numbers()]
        if self.y is not None:
            shown = [f"{np.shape(self.y)[0]} held-out rows", *shown]
        return f"Validation({', '.join(shown)})"

    def _changed_numbers(self) -> list[str]:
        defaults = {"fraction": Validation.fraction, "patience": Validation.patience, "of": Validation.of}
        return [name for name, default in defaults.items() if getattr(self, name) != default]


@dataclass(repr=False)
class CV(LeastRule):
    """Keep the k with the least loss over folds: on the rows of each, of a path fitted without them.

    It costs a fit for every fold, and other than the leave-one-out error, it knows that the atoms were picked too. It
    never ends the loop.

    Parameters
    ----------
    folds : number of folds, at least 2
    of : "loss", or for classifiers "error", the fraction of the rows in a wrong class

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import CV
    >>> rule = CV(folds=5)
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, random_state=0, stop=rule).fit(*make_chirp(200))
    >>> model.stop_reason_
    '55 atoms: the cross-validation error is least there, of 60 tried'
    """

    folds: int = 5
    of: str = "loss"
    for_any_loss = True
    name = "cv"
    label = "the cross-validation error"
    patience = None

    def __post_init__(self) -> None:
        check_number("folds", self.folds, low=2, integer=True)
        self.needs_classes = check_option("of", self.of, MEASURES) == "error"

    def n_folds(self) -> int:
        """Number of folds."""
        return self.folds

    def curve(self, path: Path) -> np.ndarray:
        """The mean loss over folds, or the fraction in a wrong class; NaN where the path of a fold was shorter."""
        if path.cv is None:
            raise ValueError("stop='cv' needs errors over folds, which only a fit computes: fit with it.")
        return _loss_or_error(self.of, path.cv, path.cv_error)

    def explain(self, path: Path) -> str:
        """Say where the least was, or that it was not seen yet."""
        k = self.choose(path)
        if 0 < k < path.n_steps and np.isnan(self.curve(path)[k + 1 :]).all():
            return f"{tell_size(path, k)}: the path of a fold ended there while {self.label} was still falling"
        return super().explain(path)
