"""Estimators as the options of a command describe them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit


def parsed(given: Sequence[str] | None) -> dict[str, Any]:
    """Parameters from `name=value`: values are Python literals, and what is none is a word."""
    found: dict[str, Any] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name.strip().isidentifier():
            raise typer.BadParameter(f"--set {one!r} is not usable; write name=value, such as gamma=0.5.")
        try:
            found[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            found[name.strip()] = value.strip()
    return found


def estimator_for(is_classification: bool, seed: int, given: dict[str, Any]) -> BaseKernelPursuit:
    """An estimator that is not fitted yet; it refuses names of parameters that it does not have."""
    from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor

    kind = KernelPursuitClassifier if is_classification else KernelPursuitRegressor
    return kind(random_state=seed).set_params(**given)
