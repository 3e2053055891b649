"""Ours beside a peer on a set, from the stored results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .methods import MODELS, OUR_MODEL, Model
from .stored import Result

Place = tuple[str, int]  # a set, and the number of its split

NOT_TRIED, NOT_INSTALLED = "not tried", "not installed"  # how the status begins of what is no failure


def is_tried(result: Result) -> bool:
    """Whether a fit was begun: a peer that is not installed, or for fewer rows, has not failed."""
    return not result["status"].startswith((NOT_TRIED, NOT_INSTALLED))


def counted(n: int, what: str) -> str:
    """Return a number with a noun."""
    return f"{n} {what}{'' if n == 1 else 's'}"


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
        tried = {(one["method"], one["variant"]) for one in self.lines if is_tried(one)}
        self.models = [model for model in MODELS if model in tried]
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

    def common(self, models: Iterable[Model], name: str) -> list[int]:
        """Return the splits of a set on which all these models have an error."""
        found = [{one["split"] for one in self.fitted(model, name)} for model in models]
        return sorted(set.intersection(*found))

    def at(self, model: Model, name: str, splits: Iterable[int]) -> list[Result]:
        """Return the fits of a model at these splits of a set."""
        return [self.by_model[model][name][split] for split in splits]

    def pair(self, model: Model, name: str, beside: Iterable[Model] = ()) -> Pair | None:
        """Return ours and a peer on the splits of a set that both, and the models beside them, have; None for none."""
        splits = self.common((OUR_MODEL, model, *beside), name)
        return Pair(name, self.at(OUR_MODEL, name, splits), self.at(model, name, splits)) if splits else None

    def pairs(self, model: Model, beside: Iterable[Model] = ()) -> list[Pair]:
        """Return ours and a peer on all sets that both, and the models beside them, have."""
        found = (self.pair(model, name, beside) for name in self.sets)
        return [pair for pair in found if pair]

    def tables(self, name: str) -> Iterator[tuple[list[Model], list[int]]]:
        """Yield models and their common splits of a set: those that make the most comparisons, then ours and the rest.

        So all errors of a table are of the same splits, and a slow peer with few splits leaves the others theirs.
        """
        left = [model for model in self.peers if self.pair(model, name)]
        while left:
            done = {model: {(name, split) for split in self.common((OUR_MODEL, model), name)} for model in left}
            models, places = most_comparisons(done)
            yield [OUR_MODEL, *models], sorted(split for _, split in places)
            left = [model for model in left if model not in models]


def most_comparisons(done: dict[Model, set[Place]]) -> tuple[list[Model], set[Place]]:
    """Return models, and the splits of sets that all of them have, so that their product is greatest.

    While a run is under way, slow peers have few splits: with them there are many models on few splits, or the other
    way.
    """
    best: tuple[list[Model], set[Place]] = ([], set())
    for least in sorted({len(places) for places in done.values() if places}):
        chosen = [model for model, places in done.items() if len(places) >= least]
        common = set.intersection(*(done[model] for model in chosen))
        if len(chosen) * len(common) > len(best[0]) * len(best[1]):
            best = chosen, common
    return best
