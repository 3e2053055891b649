"""What a criterion of a step is, and what all of them know of the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.path import Entry
from kernelpursuit.pursuit.problem import Problem


@dataclass(frozen=True)
class RowFacts:
    """What criteria know of the training rows.

    scale         what the targets of the fit are multiplied by
    weights       sample weights
    counts        how often each row was seen, where its weight says something else; else None
    total_weight  sum of the weights
    n_units       number of rows, those of a weight above one counted by it
    observations  that each row stands for, of which one is left out
    """

    scale: float
    weights: np.ndarray
    counts: np.ndarray | None
    total_weight: float
    n_units: float
    observations: np.ndarray

    @classmethod
    def of(cls, fit: Fit, problem: Problem) -> RowFacts:
        """The facts of a problem, with the weights that its fit has."""
        weights, counts = fit.sample_weights, problem.counts
        return cls(
            scale=problem.scale,
            weights=weights,
            counts=counts,
            total_weight=float(weights.sum()),
            n_units=problem.n_units,
            observations=np.maximum(weights if counts is None else counts, 1.0),
        )


class Criterion(ABC):
    """Something to record of a fit after each step."""

    @abstractmethod
    def entry(self, fit: Fit) -> Entry:
        """Columns of the path by name, and what the fit as it is comes to in each, in the targets' own units."""
