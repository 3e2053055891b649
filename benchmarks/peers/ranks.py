"""Average ranks over data sets, and the critical difference of Nemenyi's test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, studentized_range

from .methods import OUR_MODEL, Model
from .results import Results

LEVEL = 0.05


@dataclass
class Ranks:
    """Average ranks of models over sets: 1 is the lowest error; two that differ by less than `critical` are alike."""

    models: list[Model]
    average: np.ndarray
    n_sets: int

    @property
    def critical(self) -> float:
        """Nemenyi's critical difference at the level 0.05."""
        n = len(self.models)
        quantile = studentized_range.ppf(1 - LEVEL, n, np.inf) / np.sqrt(2)
        return float(quantile * np.sqrt(n * (n + 1) / (6 * self.n_sets)))

    def cliques(self) -> list[tuple[int, int]]:
        """Return the first and last place of each longest run of models that are alike, in the order of their ranks."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.models)):
            last = int(np.searchsorted(self.average, self.average[first] + self.critical, side="right")) - 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def error_of(results: Results, model: Model, name: str) -> float:
    """Return the mean error over splits; infinite, and so the last rank, where no fit came to an end."""
    found = results.fitted(model, name)
    return float(np.mean([one["error"] for one in found])) if found else np.inf


def compared(results: Results, models: Sequence[Model], sets: Sequence[str]) -> tuple[list[Model], list[str]]:
    """Return the models, and the sets on which all of these were tried, that make the most comparisons with ours.

    While a run is under way, slow peers have few sets: with them there are many models on few sets, or the other way.
    """
    tried = {model: {name for name in sets if results.tried(model, name)} for model in models if model != OUR_MODEL}
    best: tuple[list[Model], list[str]] = ([], [])
    for least in sorted({len(names) for names in tried.values()}):
        chosen = [model for model, names in tried.items() if len(names) >= least]
        common = [name for name in sets if all(name in tried[model] for model in chosen)]
        if len(chosen) * len(common) > len(best[0]) * len(best[1]):
            best = chosen, common
    return [OUR_MODEL, *best[0]], best[1]


def ranks(results: Results, models: Sequence[Model], sets: Sequence[str]) -> Ranks | None:
    """Return the ranks of ours and the models that make the most comparisons; None where there are fewer than two sets.

    `sets` are sets that ours was tried on.
    """
    chosen, common = compared(results, models, sets)
    if len(common) < 2:
        return None
    errors = np.array([[error_of(results, model, name) for model in chosen] for name in common])
    average = rankdata(errors, axis=1).mean(axis=0)
    order = np.argsort(average, kind="stable")
    return Ranks([chosen[i] for i in order], average[order], len(common))
