"""Ours: the default estimators, and the path of smaller models from the same fit."""

from __future__ import annotations

from regression_methods import float32_bytes
from sets import Split

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor

from .fitted import Fitted

STEPS = (5, 10, 20, 50, 100, 200, 500, 1000)  # atoms of the models on the path that are looked at


def ours(split: Split, tuned: bool) -> Fitted:
    """Fit the default; there is nothing to be tuned."""
    assert not tuned
    kind = KernelPursuitClassifier if split.is_classes else KernelPursuitRegressor
    model = kind(random_state=split.seed, n_jobs=1).fit(split.train, split.y)
    return Fitted(model.predict, int(model.n_atoms_), float32_bytes(model) // 4, at=model.at)
