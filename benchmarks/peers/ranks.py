"""Average ranks over data sets, and the critical difference of Nemenyi's test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, studentized_range

from .methods import OUR_MODEL, Model
from .results import Place, Results, most_comparisons

LEVEL = 0.05


@dataclass
class Ranks:
    """Average ranks of models over sets: 1 is the lowest error; two that differ by less than `critical` are alike."""

    models: list[Model]
    average: np.ndarray
    n_sets: int
    n_splits: int  # of all sets together

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


def error_of(results: Results, model: Model, name: str, splits: Sequence[int]) -> float:
    """Return the mean error over these splits; infinite, and so the last rank, where a fit came to no end."""
    found = results.at(model, name, splits)
    return float(np.mean([one["error"] if one["status"] == "ok" else np.inf for one in found]))


def ranks(results: Results, models: Sequence[Model], sets: Sequence[str]) -> Ranks | None:
    """Return the ranks of ours and the models that make the most comparisons; None where there are fewer than two sets.

    Errors are means over the splits of a set on which all of these were tried.
    """

    def tried(model: Model) -> set[Place]:
        return {(name, one["split"]) for name in sets for one in results.tried(model, name)}

    ours = tried(OUR_MODEL)
    peers, places = most_comparisons({model: tried(model) & ours for model in models if model != OUR_MODEL})
    common = {name: sorted(split for each, split in places if each == name) for name in sets}
    common = {name: splits for name, splits in common.items() if splits}
    if len(common) < 2:
        return None
    chosen = [OUR_MODEL, *peers]
    errors = [[error_of(results, model, *place) for model in chosen] for place in common.items()]
    average = rankdata(errors, axis=1).mean(axis=0)
    order = np.argsort(average, kind="stable")
    return Ranks([chosen[i] for i in order], average[order], len(common), len(places))
