"""Ours beside a peer on a set, from the stored results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .methods import MODELS, OUR_MODEL, Model
from .stored import Result

NOT_TRIED, NOT_INSTALLED = "not tried", "not installed"  # how the status begins of what is no failure


def is_tried(result: Result) -> bool:
    """Whether a fit was begun: a peer that is not installed, or for fewer rows, has not failed."""
    return not result["status"].startswith((NOT_TRIED, NOT_INSTALLED))


def path_in(result: Result) -> np.ndarray:
    """Return the models of one fit of ours: a line each, of atoms, numbers and error."""
    return np.array([[float(one) for one in step.split(":")] for step in result["path"].split()]).reshape(-1, 3)


@dataclass
class Pair:
    """Ours and a peer on one set, over the splits on which both have an error."""

    name: str
    ours: list[Result]
    theirs: list[Result]

    def both(self, key: str) -> tuple[float, float]:
        """Means over the splits: ours and theirs."""
        return tuple(float(np.mean([one[key] for one in side])) for side in (self.ours, self.theirs))

    def ratio(self, key: str) -> float:
        """Ours over theirs, with what cannot be told from nothing added to both: half a test row, 1 ms, 1 MB."""
        mine, other = self.both(key)
        half_a_row = 0.5 / sum(one["test_rows"] for one in self.ours)
        extra = {"error": half_a_row, "fit_cpu": 1e-3, "peak_mb": 1.0}.get(key, 0.0)
        return (mine + extra) / (other + extra) if other + extra else np.inf

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean difference of the errors; NaN where that of a split is not known."""
        errors = [one["difference_se"] for one in self.theirs]
        if None in errors:
            return np.nan
        return float(np.linalg.norm(errors) / len(errors))

    @property
    def standard_errors_behind(self) -> float:
        """How many standard errors our error is above theirs; NaN where that is not known."""
        mine, other = self.both("error")
        return 0.0 if self.standard_error == 0 and mine == other else (mine - other) / self.standard_error


class Results:
    """The stored results by model, set and split."""

    def __init__(self, lines: Iterable[Result]) -> None:
        self.lines = list(lines)
        self.by_model: dict[Model, dict[str, dict[int, Result]]] = {}
        for one in self.lines:
            of_set = self.by_model.setdefault((one["method"], one["variant"]), {}).setdefault(one["set"], {})
            of_set[one["split"]] = one
        self.models = [model for model in MODELS if model in self.by_model]
        self.peers = [model for model in self.models if model != OUR_MODEL]
        ours = self.by_model.get(OUR_MODEL, {})
        rows = {name: min(one["rows"] for one in found.values()) for name, found in ours.items()}
        self.sets = sorted(rows, key=lambda name: (rows[name], name))

    def known(self, model: Model, name: str) -> list[Result]:
        """Return what is stored of a model on a set, split by split."""
        found = self.by_model.get(model, {}).get(name, {})
        return [found[split] for split in sorted(found)]

    def tried(self, model: Model, name: str) -> list[Result]:
        """Return what became of the fits of a model on a set that were begun."""
        return [one for one in self.known(model, name) if is_tried(one)]

    def fitted(self, model: Model, name: str) -> list[Result]:
        """Return the fits of a model on a set that went well."""
        return [one for one in self.tried(model, name) if one["status"] == "ok"]

    def pair(self, model: Model, name: str) -> Pair | None:
        """Return ours and a peer on a set; None where they have no split in common."""
        mine, other = ({one["split"]: one for one in self.fitted(each, name)} for each in (OUR_MODEL, model))
        common = sorted(set(mine) & set(other))
        return Pair(name, [mine[i] for i in common], [other[i] for i in common]) if common else None

    def pairs(self, model: Model, where: Callable[[str], bool] = lambda name: True) -> list[Pair]:
        """Return ours and a peer on all sets that both have, of those that are asked for."""
        found = (self.pair(model, name) for name in self.sets if where(name))
        return [pair for pair in found if pair]
