"""Which models of a path the page has: the sizes of its slider, and those that the stopping rules keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kernelpursuit.model.sizes import kept_size
from kernelpursuit.stopping import BY_NAME

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

#: Steps of the path, or with a model for each class, those of each.
Size: TypeAlias = int | tuple[int, ...]

# How sizes of a long path are spread: more of the small ones, between which models differ most.
CROWDING = 1.5
# What each rule goes by, in a few words.
ABOUT = {
    "auto": "what the default rule keeps",
    "mdl": "least description length",
    "aic": "least Akaike criterion, corrected",
    "fpe": "least final prediction error",
    "hdaic": "least high-dimensional Akaike criterion",
    "tr1": "least penalised residual sum",
    "loo": "least leave-one-out error",
    "one-se": "fewest within one standard error of the least leave-one-out error",
    "loo-error": "fewest with the fewest rows in a wrong class, each left out",
    "tcr": "last step that lowers the cost by more than noise would",
    "validation": "least error on validation rows",
    "cv": "least error over folds",
    "ptr": "a number that grows with the rows",
    "tr2": "residual small beside the weights",
    "tr3": "residual as small as the noise",
    "tr4": "no atom correlates with the residual more than noise would",
    "tol": "residual below a thousandth",
    "max": "every atom of the path",
}


@dataclass(frozen=True)
class Rule:
    """A stopping rule: its name, what it goes by, the place of its model among the states, and its own words."""

    name: str
    about: str
    state: int
    reason: str


@dataclass(frozen=True)
class States:
    """The models that the page has.

    sizes     of each model; ascending first, as the slider has them, then those with a size for each class
    n_slider  how many of them the slider has
    n_path    sizes that the path has
    kept      place of the model that is kept
    rules     stopping rules, and which model they keep
    refused   names of rules that know too little of this path, and why
    """

    sizes: tuple[Size, ...]
    n_slider: int
    n_path: int
    kept: int
    rules: tuple[Rule, ...]
    refused: tuple[tuple[str, str], ...]


def states_of(estimator: BaseKernelPursuit, most: int) -> States:
    """Ask every rule, and thin out a path of more than so many sizes; what is kept by a rule is always among them."""
    model = estimator.model_
    chosen: dict[str, tuple[Size, str]] = {}
    refused = []
    for name in ("auto", *BY_NAME):
        try:
            found = estimator.select(name).model_
        except ValueError as error:
            refused.append((name, str(error)))
        else:
            chosen[name] = kept_size(found), found.reason
    kept = kept_size(model)
    wanted = [kept, *(size for size, _ in chosen.values())]
    n_path = min(len(one.path) for one in model.models) + 1
    single = [common for size in wanted if (common := _common(size, n_path)) is not None]
    slider = thinned(n_path, single, most)
    own = sorted({size for size in wanted if isinstance(size, tuple) and _common(size, n_path) is None})
    sizes: tuple[Size, ...] = (*slider, *own)
    place = {size: i for i, size in enumerate(sizes)}

    def place_of(size: Size) -> int:
        common = _common(size, n_path)
        return place[size if common is None else common]

    return States(
        sizes,
        n_slider=len(slider),
        n_path=n_path,
        kept=place_of(kept),
        rules=tuple(Rule(name, ABOUT[name], place_of(size), reason) for name, (size, reason) in chosen.items()),
        refused=tuple(refused),
    )


def _common(size: Size, n_path: int) -> int | None:
    """The one size of all classes, if it is on every path; None where each has its own."""
    first = size if isinstance(size, int) else size[0] if len(set(size)) == 1 else n_path
    return first if first < n_path else None


def thinned(n_path: int, wanted: Sequence[int], most: int) -> list[int]:
    """Numbers below `n_path`, ascending: all, or about so many, with those that are wanted, the first and the last."""
    if n_path <= most:
        return list(range(n_path))
    spread = np.rint((n_path - 1) * np.linspace(0.0, 1.0, most) ** CROWDING).astype(int)
    return sorted({*spread.tolist(), *wanted})
