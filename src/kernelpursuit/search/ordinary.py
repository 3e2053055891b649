"""A model that was fitted with a shared dictionary, made one that knows nothing of it."""

from __future__ import annotations

from typing import Any

from kernelpursuit.dictionary.distances import unshare
from kernelpursuit.estimators.base import BaseKernelPursuit


def make_ordinary(model: BaseKernelPursuit, params: dict[str, Any]) -> BaseKernelPursuit:
    """Give a fitted model the parameters that it would have had without the search; nothing is refitted.

    Its centres and weights are those of an ordinary fit: a shared dictionary takes from its table just what scores
    are made of. Models of single classes are changed along.
    """
    for name, value in params.items():
        setattr(model, name, value)
    if hasattr(model, "_fitted_on"):
        # What a later fit with warm_start=True is compared with.
        model._fitted_on = {**model._fitted_on, **{k: v for k, v in params.items() if k in model._fitted_on}}
    if isinstance(model.path_, list):
        for one in model.estimators_:
            make_ordinary(one, params)
        return model
    model._path_atoms, model._atoms = unshare(model._path_atoms), unshare(model._atoms)
    return model
