"""The table of centres: in which order atoms came, of which training rows, with which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.rows import dense

# Atoms and features that the table has at most, and weights of all sizes; above, it has those of the kept model.
MOST_ATOMS, MOST_FEATURES, MOST_WEIGHTS = 600, 10, 75_000


@dataclass(frozen=True)
class AtomTable:
    """Atoms in the order in which they came.

    numbers   the caller's number of each: its training row, or its column of a precomputed X
    what      what those are numbers of, in a word
    n_left    atoms that are left out of the table
    features  numbers of the features that it shows
    centers   their values at each centre, NaN where it has none, shape (n_atoms, n_features), or None
    weights   at every size, or at the kept one alone, NaN where an atom is not in the model, shape (n_sizes, n_outputs,
              n_atoms)
    is_staged whether weights are those of every size
    is_ordered whether the order is that of the path, and not just by number
    """

    numbers: np.ndarray
    what: str
    n_left: int
    features: list[int]
    centers: np.ndarray | None
    weights: np.ndarray
    is_staged: bool
    is_ordered: bool


def atom_table(
    models: Sequence[FittedModel | OneVsRestModel], kept: int, outputs: Sequence[int], leading: Sequence[int]
) -> AtomTable:
    """The atoms of the path; where each class has a path, those of the kept model."""
    model = models[kept]
    what = "column" if model.is_precomputed else "training row"
    if isinstance(model, OneVsRestModel):
        numbers, centers, weights = model.center_indices, model.centers, model.coef[None]
        weights = np.where(weights == 0, np.nan, weights)
        is_staged = False
    else:
        numbers, centers = model.numbers, model.atoms.centers
        sized = [one for one in models if isinstance(one, FittedModel)]
        n_weights = len(sized) * min(len(numbers), MOST_ATOMS) * len(outputs)
        is_staged = n_weights <= MOST_WEIGHTS
        weights = np.full((len(sized) if is_staged else 1, len(outputs), len(numbers)), np.nan)
        for out, one in zip(weights, sized if is_staged else [model]):
            out[:, one.members] = one.coef[list(outputs)]
    n = min(len(numbers), MOST_ATOMS)
    shown = _shown_features(centers, leading)
    return AtomTable(
        numbers[:n],
        what,
        n_left=len(numbers) - n,
        features=shown,
        centers=None if centers is None else dense(centers[:n][:, shown], np.float64),
        weights=weights[:, list(outputs) if isinstance(model, OneVsRestModel) else slice(None), :n],
        is_staged=is_staged,
        is_ordered=isinstance(model, FittedModel),
    )


def _shown_features(centers: Matrix | None, leading: Sequence[int]) -> list[int]:
    """The leading features, then others; of sparse centres of many features the leading ones alone."""
    if centers is None:
        return []
    others = [] if sp.issparse(centers) and centers.shape[1] > 1000 else range(centers.shape[1])
    return list(dict.fromkeys([*leading, *others]))[:MOST_FEATURES]
