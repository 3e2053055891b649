"""`model.explain(X)`: from a fitted estimator and rows to an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_flag, check_number
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.explain.attribution import Attribution
from kernelpursuit.explain.explanation import Explanation, Mix
from kernelpursuit.explain.mixing import shares
from kernelpursuit.export.describe import describe
from kernelpursuit.export.description import Description
from kernelpursuit.export.writing import names_of
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.plotting.parts import names_in_model, place_of_class, place_of_target
from kernelpursuit.rows import dense
from kernelpursuit.rows.distinct import distinct_numbers

# Centres that stand for background rows, at most.
MOST_BACKGROUND = 100


def explain(
    estimator: BaseKernelPursuit,
    X: Matrix,
    *,
    target: Any,
    background: Matrix,
    features: bool,
    n_orders: int,
) -> Explanation:
    """Explain the scores of rows; see `Portable.explain`."""
    n_orders = check_number("n_orders", n_orders, low=4, integer=True)
    wants_features = check_flag("features", features)
    if background is not None and not wants_features:
        raise ValueError("background is what features are compared with; leave it out, or ask for features=True.")
    direction, output = _direction(estimator, target)
    rows = _rows(estimator, X)
    members = list(_members(estimator, direction))
    sums = [_sums(model, weights, rows, estimator._n_threads) for model, weights in members]
    found = Explanation(
        scores=np.sum([one.scores for one in sums], axis=0),
        base=np.sum([one.base for one in sums], axis=0),
        atoms=np.hstack([one.atoms for one in sums]),
        outside=np.sum([one.outside for one in sums], axis=0),
        atom_numbers=np.concatenate([model.center_indices for model, _ in members]),
        mix=_mix(members, rows, estimator._n_threads),
        names=names_in_model(estimator, estimator, estimator.n_features_in_),
        output=output,
    )
    if not wants_features:
        return found
    described = _described(estimator)
    others = _background(estimator, background, described)
    attribution = Attribution(
        members, described, direction, background=others, n_orders=n_orders, n_threads=estimator._n_threads
    )
    return _with_features(found, attribution, dense(rows, np.float64))


# -- Scores and what they are sums of ---------------------------------------------------------------------------------


def _direction(estimator: BaseKernelPursuit, target: Any) -> tuple[np.ndarray, str]:
    """The weights of the model's scores in the one that is explained, and what that is called."""
    n_scores = sum(one.path.n_targets for one in estimator.model_.models)
    if not hasattr(estimator, "classes_"):
        place = place_of_target(target, n_scores)
        word = "prediction" if estimator.model_.models[0].scores_are_targets else "score"
        return np.eye(n_scores)[place], word if n_scores == 1 else f"{word} of target {place}"
    classes = np.asarray(estimator.classes_)
    place = place_of_class(target, classes, "target")
    output = f"score of class {classes[place]}"
    if len(classes) > 2:
        return np.eye(n_scores)[place], output
    # Of two classes there is one score, or the difference of two, and the first class has it with the other sign.
    return (2 * place - 1) * (np.ones(1) if n_scores == 1 else np.array([-1.0, 1.0])), output


def _rows(estimator: BaseKernelPursuit, X: Matrix) -> Any:
    rows = estimator._rows(X, estimator.n_atoms_)
    if isinstance(estimator.model_, OneVsRestModel) and rows.shape[1] != estimator.n_features_in_:
        return estimator.model_.all_columns(rows)
    return rows


def _members(estimator: BaseKernelPursuit, direction: np.ndarray) -> Iterator[tuple[FittedModel, np.ndarray]]:
    """Yield the models that have a say in the score, and the weights of their own scores in it."""
    first = 0
    for model in estimator.model_.models:
        mine = direction[first : first + model.path.n_targets]
        first += model.path.n_targets
        if mine.any():
            yield model, mine


class _Sums(NamedTuple):
    scores: np.ndarray
    base: np.ndarray
    atoms: np.ndarray
    outside: np.ndarray


def _sums(model: FittedModel, direction: np.ndarray, rows: Any, n_threads: int) -> _Sums:
    """What the score of one model is a sum of."""
    values = model.values(rows, model.kept, n_threads).T
    base = np.broadcast_to(model.intercept, (rows.shape[0], len(direction)))
    if model.always is not None:
        base = base + model.values(rows, model.always, n_threads).T @ model.fixed_coef.T
    total = base + values @ model.coef.T
    held = model.within_limits(total, *model.surroundings(rows, n_threads))
    return _Sums(held @ direction, base @ direction, values * (direction @ model.coef), (held - total) @ direction)


def _mix(members: Sequence[tuple[FittedModel, np.ndarray]], rows: Any, n_threads: int) -> Mix | None:
    """The score as a mix of the scores of the centres; None where no atom has one."""
    models = [model for model, _ in members]
    centers: list[Matrix] = [one.centers for one in models]
    if any(one is None for one in centers):
        return None
    together: Any = sp.vstack(centers, format="csr") if sp.issparse(centers[0]) else np.vstack(centers)
    # Centres of atoms that have none are rows of NaN.
    known = np.flatnonzero(np.isfinite(np.ravel(together.sum(axis=1))))
    if not len(known):
        return None
    _, first = np.unique(distinct_numbers(together[known]), return_index=True)
    first = known[np.sort(first)]
    distinct = together[first]
    at_centers, at_rows = (
        np.vstack([one.values(X, one.kept, n_threads) for one in models])[known] for X in (distinct, rows)
    )
    scores = np.sum([one.sums(distinct, n_threads) @ direction for one, direction in members], axis=0)
    numbers = np.concatenate([one.center_indices for one in models])[first]
    return Mix(numbers, distinct, scores, shares=shares(at_centers, at_rows))


# -- Features ---------------------------------------------------------------------------------------------------------


def _background(estimator: BaseKernelPursuit, background: Matrix, described: Description | None) -> np.ndarray:
    """Rows that features are compared with: those given, or centres, or of a line alone where it is centred."""
    if estimator.model_.is_precomputed:
        raise ValueError("kernel='precomputed' has no features; ask for atoms and centres alone by features=False.")
    if background is not None:
        return dense(_rows(estimator, background), np.float64)
    centers = estimator.centers_
    found = np.zeros((0, estimator.n_features_in_)) if centers is None else dense(centers, np.float64)
    found = found[np.isfinite(found).all(axis=1)]
    if not len(found) and described is not None and not described.blocks:
        found = np.zeros((1, estimator.n_features_in_))
        found[0, described.line.features] = described.line.center
    if not len(found):
        raise ValueError("The model has no centres that features could be compared with; give background rows.")
    return found[np.linspace(0, len(found) - 1, min(len(found), MOST_BACKGROUND)).round().astype(int)]


def _described(estimator: BaseKernelPursuit) -> Description | None:
    """The model as formulas; None where a kernel, a function or a loss is one of Python."""
    try:
        return describe(estimator.model_, names_of(estimator))
    except ValueError:
        # What cannot be written as formulas can still be tried on rows.
        return None


def _with_features(found: Explanation, attribution: Attribution, rows: np.ndarray) -> Explanation:
    """The explanation with Shapley values of the features."""
    rng = np.random.default_rng(0)
    each = [attribution.values(row, rng) for row in rows]
    phi, errors = (np.array([one[i] for one in each]).reshape(rows.shape) for i in range(2))
    expected = float(attribution.sums(attribution.background).mean())
    return replace(
        found, X=rows, features=phi, expected=expected, standard_error=None if attribution.is_exact else errors
    )
