"""What a pursuit is told, beside data and stopping rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpursuit.dictionary import Dictionary
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import Penalty
from kernelpursuit.stopping import ALL_PICKED
from kernelpursuit.updates import Orthogonal, Update


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator as the loop takes them; see `pursuit_path` for what they mean.

    They are checked where they are used. `truncate` is the largest absolute prediction, "auto" or None; `loss` is None
    for the squared one; `classes` says that targets are codes of classes, `intervals` that the path should know how far
    rows, left out, are from their predictions; `units` are those in which several targets are fitted, so that none
    counts for more than another; `all_picked` is what the path says where no atom is left; `margin` is the fraction of
    their range by which predictions may leave that of the targets, those of rows that are left out too, or None;
    `by_moments` says that all atoms will be picked, so that their order, and mostly the path, may come from moments.
    """

    dictionary: Dictionary
    max_atoms: int
    seed: int
    gamma: Any = "scale"
    selection: str = "gain"
    update: Update = field(default_factory=Orthogonal)
    exchange: bool = False
    candidates: Any = "all"
    penalty: str | Penalty | None = "ridge"
    alpha: float = 0.0
    fit_intercept: bool = False
    memory_budget: int | None = None
    n_jobs: int | None = None
    verbose: bool = False
    truncate: Any = None
    loss: Loss | None = None
    classes: bool = False
    intervals: bool = True
    units: np.ndarray | None = None
    all_picked: str = ALL_PICKED
    margin: float | None = None
    by_moments: bool = False
