"""One model for each class, told from the rest by it, and what they predict together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_expit, softmax

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.model.fitted import FittedModel, Origin
from kernelpursuit.pursuit import PursuitPath
from kernelpursuit.stopping import StoppingRule, count_atoms


@dataclass(frozen=True)
class OneVsRestModel:
    """Models with one score each, the largest of which names the class.

    models      in the order of the classes
    classes     their labels
    n_features  features of a row
    origin      what all were fitted with
    reason      how many atoms each keeps, in words
    """

    models: tuple[FittedModel, ...]
    classes: np.ndarray
    n_features: int
    origin: Origin
    reason: str = ""

    def with_reason(self) -> OneVsRestModel:
        """The same, with words on how large the model of each class is."""
        each = ", ".join(f"{label} has {one.n_atoms}" for label, one in zip(self.classes, self.models))
        return replace(self, reason=f"{count_atoms(self.n_atoms)} in all, each counted once: {each}")

    @property
    def path(self) -> list[PursuitPath]:
        """The path of every class."""
        return [one.path for one in self.models]

    @property
    def is_precomputed(self) -> bool:
        """Whether rows hold the values of the atoms."""
        return self.models[0].is_precomputed

    @cached_property
    def _first_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the distinct atoms, ascending, and where each stands first among those of all classes."""
        return np.unique(np.concatenate([one.center_indices for one in self.models]), return_index=True)

    @property
    def center_indices(self) -> np.ndarray:
        """The caller's numbers of all atoms, each once."""
        return self._first_places[0]

    @property
    def n_atoms(self) -> int:
        """Number of distinct atoms."""
        return len(self.center_indices)

    @property
    def centers(self) -> Matrix:
        """Their centres, or None where atoms have none."""
        centers = [one.centers for one in self.models]
        if centers[0] is None:
            return None
        stack = sp.vstack(centers, format="csr") if sp.issparse(centers[0]) else np.vstack(centers)
        return stack[self._first_places[1]]

    @property
    def coef(self) -> np.ndarray:
        """Weights of all atoms, most of them zero, shape (n_classes, n_atoms)."""
        out = np.zeros((len(self.models), self.n_atoms))
        for row, one in zip(out, self.models):
            row[np.searchsorted(self.center_indices, one.center_indices)] = one.coef[0]
        return out

    @property
    def intercept(self) -> np.ndarray:
        """Constants, shape (n_classes,)."""
        return np.array([one.intercept[0] for one in self.models])

    @property
    def fixed_coef(self) -> np.ndarray:
        """Weights of the functions that are always in, shape (n_classes, n_functions)."""
        return np.vstack([one.fixed_coef[0] for one in self.models])

    def with_atoms(self, change: Callable[[Dictionary], Dictionary]) -> OneVsRestModel:
        """The models with their atoms evaluated in another way, by a function of their dictionary."""
        return replace(self, models=tuple(one.with_atoms(change) for one in self.models))

    def at(self, k: int, *, keep_path: bool = True) -> OneVsRestModel:
        """The models after the first k steps of each path."""
        models = tuple(one.at(k, keep_path=keep_path) for one in self.models)
        return replace(self, models=models).with_reason()

    def check_rule(self, rule: StoppingRule) -> None:
        """Refuse a rule with validation rows of its own."""
        refuse_validation_rows(rule)

    def select(self, rule: str | StoppingRule) -> OneVsRestModel:
        """The models that a stopping rule keeps of each path."""
        return replace(self, models=tuple(one.select(rule) for one in self.models)).with_reason()

    def all_columns(self, picked: np.ndarray) -> Any:
        """Rows with all columns of a precomputed matrix, from those that were picked; the others are not looked at."""
        n = self.n_atoms
        place = sp.csr_array(
            (np.ones(n), self.center_indices, np.arange(n + 1)), shape=(n, self.n_features), dtype=picked.dtype
        )
        return picked @ place

    def scores(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """One score for each class, shape (n_rows, n_classes)."""
        return np.hstack([one.scores(X, n_threads) for one in self.models])

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, shape (n_rows, n_classes).

        One factor for all classes, so that the largest score stays the most probable; in logarithms, so that rows add
        up to one where every class is next to impossible.
        """
        factor = float(np.median([one.link.inverse_temperature for one in self.models]))
        return softmax(log_expit(2 * factor * scores), axis=1)


def refuse_validation_rows(rule: StoppingRule) -> None:
    """Refuse a rule with validation rows of its own: the models would need codes for each class."""
    if rule.validation_set() is not None:
        raise ValueError("multi_class='ovr' holds rows out by itself; give Validation a fraction in place of X and y.")
