"""Models of several sizes of one path, evaluated together: kernel values once, then one product for all sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.model.one_vs_rest import OneVsRestModel

# Bytes of the predictions of all sizes that are made at a time.
MANY_BYTES = 64 * 2**20


def sized(model: FittedModel | OneVsRestModel, size: int | Sequence[int]) -> FittedModel | OneVsRestModel:
    """The model after so many steps; of a model for each class, steps for all classes or for each."""
    if isinstance(model, FittedModel) or isinstance(size, (int, np.integer)):
        return model.at(size)  # type: ignore[arg-type]
    return replace(model, models=tuple(one.at(int(k)) for one, k in zip(model.models, size, strict=True))).with_reason()


def kept_size(model: FittedModel | OneVsRestModel) -> int | tuple[int, ...]:
    """Steps after which a model is kept; of a model for each class, those of each."""
    return model.n_steps if isinstance(model, FittedModel) else tuple(one.n_steps for one in model.models)


@dataclass(frozen=True)
class ManySizes:
    """One model at several sizes.

    models  the model at each size
    parts   what they have in common: one table of weights, or of a model for each class, one for each
    """

    models: tuple[FittedModel | OneVsRestModel, ...]
    parts: tuple[WeightTable, ...]

    @classmethod
    def of(cls, model: FittedModel | OneVsRestModel, sizes: Sequence[int | Sequence[int]]) -> ManySizes:
        """Take these sizes of a model."""
        models = tuple(sized(model, size) for size in sizes)
        members = zip(*(one.models for one in models))
        return cls(models, tuple(WeightTable.of(of_one) for of_one in members))

    @property
    def n_outputs(self) -> int:
        """Numbers that are predicted for a row: targets or classes."""
        classes = self.models[0].classes
        return sum(part.models[0].path.n_targets for part in self.parts) if classes is None else len(classes)

    @property
    def rows_at_once(self) -> int:
        """Rows whose atoms, and predictions at all sizes, take about 64 MB."""
        n_atoms = max(part.models[0].atoms.n_atoms for part in self.parts)
        return max(1, MANY_BYTES // (8 * (n_atoms + 2 * len(self.models) * self.n_outputs)))

    def scores(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Scores of some rows, shape (n_sizes, n_rows, n_scores); what is made on the way is not divided."""
        return np.concatenate([part.scores(X, n_threads) for part in self.parts], axis=2)

    def outputs(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """What is predicted, shape (n_sizes, n_rows, n_outputs): targets, or of a classifier probabilities."""
        return np.stack([outputs(one, scores) for one, scores in zip(self.models, self.scores(X, n_threads))])


def outputs(model: FittedModel | OneVsRestModel, scores: np.ndarray) -> np.ndarray:
    """What scores stand for: predicted targets, or of a classifier the probabilities of the classes."""
    if isinstance(model, FittedModel) and model.classes is None:
        return model.mean(scores)
    return model.probabilities(scores)


@dataclass(frozen=True)
class WeightTable:
    """Models of one path at several sizes, with the weights of all in one table.

    models     the model at each size
    coef       of all atoms of the path, 0 where a model has them not, shape (n_atoms, n_sizes * n_targets)
    fixed      of the functions that are always in, shape (n_functions, n_sizes * n_targets)
    intercept  shape (n_sizes * n_targets,)
    """

    models: tuple[FittedModel, ...]
    coef: np.ndarray
    fixed: np.ndarray
    intercept: np.ndarray

    @classmethod
    def of(cls, models: Sequence[FittedModel]) -> WeightTable:
        """Write the weights of models that have their path in common side by side."""
        coef = np.zeros((models[0].atoms.n_atoms, len(models), models[0].path.n_targets))
        for i, one in enumerate(models):
            coef[one.members, i] = one.coef.T
        return cls(
            tuple(models),
            coef.reshape(len(coef), coef.shape[1] * coef.shape[2]),
            np.hstack([one.fixed_coef.T for one in models]),
            np.concatenate([one.intercept for one in models]),
        )

    def scores(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Scores of rows, shape (n_sizes, n_rows, n_targets)."""
        one, n_rows = self.models[0], X.shape[0]
        found = one.values(X, one.atoms, n_threads).T @ self.coef + self.intercept
        if one.always is not None:
            found += one.values(X, one.always, n_threads).T @ self.fixed
        found = found.reshape(n_rows, len(self.models), one.path.n_targets).transpose(1, 0, 2)
        base, fade = one.surroundings(X, n_threads)
        return np.stack([one.within_limits(scores, base, fade) for scores in found])
