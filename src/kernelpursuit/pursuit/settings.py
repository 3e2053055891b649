"""What a pursuit is told, beside data and stopping rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelpursuit.dictionary import Dictionary
from kernelpursuit.losses import Loss
from kernelpursuit.updates import Update


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator as the loop takes them; see `pursuit_path` for what they mean.

    They are checked where they are used. `truncate` is the largest absolute prediction, "auto" or None; `loss` is None
    for the squared one; `classes` says that targets are codes of classes.
    """

    dictionary: Dictionary
    gamma: Any
    max_atoms: int
    selection: str
    update: Update
    exchange: bool
    candidates: Any
    penalty: str | None
    alpha: float
    fit_intercept: bool
    memory_budget: int | None
    seed: int
    n_jobs: int | None
    verbose: bool
    truncate: Any = None
    loss: Loss | None = None
    classes: bool = False
