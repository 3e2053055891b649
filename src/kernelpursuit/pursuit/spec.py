"""What a loop is told: `LoopSpec`, all parameters with nothing left open, and `TrainingRows`, what it fits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix, ValidationSet
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import Penalty
from kernelpursuit.rows import RowSource
from kernelpursuit.stopping import ALL_PICKED, StoppingRule
from kernelpursuit.updates import Orthogonal, Update


@dataclass(frozen=True)
class AllRows:
    """All rows of a fit, where those in memory are a sample of them.

    source        blocks of them, prepared as those in memory are
    n_rows        their number
    numbers       that the rows in memory have among them, ascending
    largest       the largest size of each target
    total_weight  the sum of their weights
    """

    source: RowSource
    n_rows: int
    numbers: np.ndarray
    largest: np.ndarray
    total_weight: float


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit, checked.

    X            rows, dense or CSR
    y            targets of shape (n_rows, n_targets), all finite
    weights      sample weights; None for ones
    counts       how often each row was seen, where its weight says something else: leaving one out takes away a row
                 that was seen once as a whole
    calibrates   marks the rows whose leave-one-out errors calibrate intervals; None for all
    validation   rows, targets and weights on which the stopping rule wants the error followed, or None
    all_rows     where these rows are a sample, on which atoms are picked: all of them, which coefficients and criteria
                 are of; else None
    """

    X: Matrix
    y: np.ndarray
    weights: np.ndarray | None = None
    counts: np.ndarray | None = None
    calibrates: np.ndarray | None = None
    validation: ValidationSet | None = None
    all_rows: AllRows | None = None


@dataclass(frozen=True)
class LoopSpec:
    """The parameters of a fit as the loop takes them; see `pursuit_path` for what they mean.

    rule        the stopping rule; by default one that never ends the loop
    truncate    the largest absolute prediction, "auto" or None
    loss        None for the squared one
    classes     whether targets are codes of classes
    intervals   whether the path should know how far rows, left out, are from their predictions
    units       in which several targets are fitted, so that none counts for more than another
    all_picked  what the path says where no atom is left
    margin      the fraction of their range by which predictions may leave that of the targets, those of rows that are
                left out too, or None
    by_moments  whether all atoms will be picked, so that their order, and mostly the path, may come from moments
    """

    dictionary: Dictionary
    max_atoms: int
    seed: int
    rule: StoppingRule = field(default_factory=StoppingRule)
    gamma: ArrayLike = "scale"
    selection: str = "gain"
    update: Update = field(default_factory=Orthogonal)
    exchange: bool = False
    candidates: ArrayLike = "all"
    shortlist: int | None = None
    penalty: str | Penalty | None = "ridge"
    alpha: float = 0.0
    fit_intercept: bool = False
    memory_budget: int | None = None
    n_jobs: int | None = None
    verbose: bool = False
    truncate: float | str | None = None
    loss: Loss | None = None
    classes: bool = False
    intervals: bool = True
    units: np.ndarray | None = None
    all_picked: str = ALL_PICKED
    margin: float | None = None
    by_moments: bool = False
