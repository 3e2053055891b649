"""Whether what was read is a model: types of fields, lengths that go together, and one prediction as a trial."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.pursuit import PursuitPath
from kernelpursuit.pursuit.models import Explicit, Factor, Factored, FixedPart, Increments
from kernelpursuit.pursuit.path import EVERY_SIZE
from kernelpursuit.pursuit.reducers import LEVELS

# Coverage of the intervals that are tried.
TRIED_COVERAGE = 0.9


def check_fields(value: object) -> None:
    """Refuse an object whose fields are not of the types that its class says."""
    if not is_dataclass(value) or isinstance(value, type):
        return
    hints = _hints(type(value))
    for one in fields(value):
        if not _fits(getattr(value, one.name), hints[one.name]):
            raise ValueError(f"The structure of the model is damaged: {one.name} of {type(value).__name__} is no such.")


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; types that cannot be looked into fit."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or origin is ClassVar:
        return True
    if hint is None or hint is type(None):
        return value is None
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if hint is np.ndarray or origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if hint in (int, float):
        kinds = (int,) if hint is int else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    if origin is tuple and inner[-1:] != (...,):
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
    if origin in (list, tuple):
        return isinstance(value, origin) and all(_fits(one, inner[0]) for one in value)
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        pairs = value.items() if isinstance(value, Mapping) else ()
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in pairs)
    return isinstance(value, hint) if isinstance(hint, type) else True


def check_model(model: FittedModel, n_features: int, *, is_whole: bool) -> None:
    """Refuse a model whose parts do not go together.

    Where all of it `is_whole`, of this library, it is asked for one prediction: functions of the user's are not called.
    """
    path, n_places = model.path, len(model.path.used)
    check_path(path)
    _require(0 <= model.n_steps <= len(path), "the number of steps kept")
    _require(model.atoms.n_atoms == n_places and _is_vector(model.numbers, "i", n_places), "the atoms")
    n_always = 0 if model.always is None else model.always.n_atoms
    _require(n_always == path.n_fixed - int(path.intercept_is_fitted), "what is always in")
    limits, units = model.limits, model.units
    _require(limits is None or (limits.dtype.kind == "f" and limits.shape in ((), (path.n_targets,))), "the limits")
    _require(units is None or _is_vector(units, "f", path.n_targets), "the units")
    _require(model.classes is None or model.classes.ndim == 1, "the classes")
    _require(n_features > 0 and (not model.is_dense or not sp.issparse(model.atoms.centers)), "the features")
    for atoms in (model.atoms, model.always):
        centers = None if atoms is None else atoms.centers
        _require(centers is None or (centers.ndim == 2 and centers.shape[1] == n_features), "the centres")
    if is_whole:
        _try(model, n_features)


def check_path(path: PursuitPath) -> None:
    """Refuse a path with columns of unequal lengths, or models that have other atoms than it has."""
    n_steps, n_places, n_targets = len(path.atom), len(path.used), path.n_targets
    _require(_is_vector(path.atom, "i", n_steps) and _is_vector(path.used, "i", n_places), "the path")
    for name in EVERY_SIZE:
        column = getattr(path, name)
        if column is not None:
            _require(column.shape == (n_steps + 1, *_shape_of_one(name, path)), name)
            _require(column.dtype.kind == ("i" if name == "size" else "f"), name)
    _require(n_targets > 0 and 0 < path.total_weight < np.inf and 0 < path.n_units < np.inf, "the weights")
    _require(int(path.intercept_is_fitted) <= path.n_fixed, "n_fixed")
    models, sizes = path.models, path.size
    if isinstance(models, Factored):
        _check_factored(models, n_steps, n_places, shape=(path.n_fixed, n_targets))
        members = sizes
    elif isinstance(models, Increments):
        _require(_is_vector(models.place, "i", n_steps) and _within(models.place, n_places), "place")
        _require(models.step.shape == (n_steps, n_targets) == models.factor_before.shape, "step")
        _check_fixed(models.fixed, path.n_fixed, n_targets=n_targets, n_places=n_places)
        members = np.concatenate([[0], np.maximum.accumulate(models.place.astype(np.int64) + 1)])
    else:
        assert isinstance(models, Explicit), "no other kind of models is known"
        members = np.array([len(places) for places in models.places])
        _check_explicit(models, n_steps, n_places, shape=(path.n_fixed, n_targets))
    _require(members.shape == sizes.shape and bool((members == sizes).all()), "size")


def _shape_of_one(name: str, path: PursuitPath) -> tuple[int, ...]:
    """What a column of a path has for each size: a number, one a target, or quantiles of some errors."""
    if name in ("target_residual", "column_residual"):
        return (path.n_targets,)
    if name != "loo_quantiles" or path.loo_quantiles is None:
        return ()
    # Classes have one gap between scores, whatever their number.
    return len(LEVELS), 1 if path.loo_quantiles.shape[-1:] == (1,) else path.n_targets


def _check_factored(models: Factored, n_steps: int, n_places: int, shape: tuple[int, int]) -> None:
    """The factor as it is wound back over atoms that have left, by sizes alone."""
    n_fixed, n_targets = shape
    _require(models.n_fixed == n_fixed and len(models.last.members) == n_steps, "members")
    _check_factor(models.last, n_places, shape=shape)
    for step, drop in models.drops.items():
        size = n_fixed + step - 1
        _require(0 < step <= n_steps and n_fixed <= drop.position <= size, "position")
        _require(0 <= drop.place < n_places and drop.column.shape == (size + 1,), "column")
        turns = size - drop.position
        _require(drop.cosines.shape == drop.sines.shape == (turns,) and drop.b.shape == (n_targets,), "cosines")


def _check_factor(factor: Factor, n_places: int, shape: tuple[int, int]) -> None:
    n_fixed, n_targets = shape
    _require(_is_vector(factor.members, "i") and _within(factor.members, n_places), "members")
    size = n_fixed + len(factor.members)
    _require(factor.R.shape == (size, size) and factor.R.dtype.kind == "f", "R")
    _require(factor.b.shape == (size, n_targets) and factor.b.dtype.kind == "f", "b")


def _check_explicit(models: Explicit, n_steps: int, n_places: int, shape: tuple[int, int]) -> None:
    n_fixed, n_targets = shape
    _require(len(models.places) == len(models.values) == n_steps + 1 and models.scale != 0, "places")
    for places, values in zip(models.places, models.values):
        _require(_is_vector(places, "i") and _within(places, n_places), "places")
        n_values = len(places) + (n_fixed if models.fixed is None else 0)
        _require(values.shape == (n_values, n_targets) and values.dtype.kind == "f", "values")
    if models.fixed is not None:
        _check_fixed(models.fixed, n_fixed, n_targets=n_targets, n_places=n_places)
    for step, factor in models.refits.items():
        _require(0 <= step <= n_steps and len(factor.members) == len(models.places[step]), "refits")
        _check_factor(factor, n_places, shape=shape)


def _check_fixed(fixed: FixedPart, n_fixed: int, n_targets: int, n_places: int) -> None:
    shapes = (fixed.R.shape, fixed.b.shape, fixed.p.shape)
    _require(shapes == ((n_fixed, n_fixed), (n_fixed, n_targets), (n_fixed, n_places)), "fixed")


def _try(model: FittedModel, n_features: int) -> None:
    """Predict one row with the kept model, and with the smallest and the largest of the path."""
    row: Any = np.zeros((1, n_features)) if not sp.issparse(model.atoms.centers) else sp.csr_array((1, n_features))
    if model.is_precomputed:
        row = np.zeros((1, model.atoms.n_atoms))
    shape, tried = (1, model.path.n_targets), {0, model.n_steps, len(model.path)}
    with np.errstate(all="ignore"):
        for k in sorted(tried):
            one = model.at(k)
            scores = one.scores(row[:, : one.n_atoms] if model.is_precomputed else row, n_threads=1)
            _require(scores.shape == shape and scores.dtype == np.float64, "a prediction")
        if model.classes is not None:
            _require(model.probabilities(scores).shape == (1, len(model.classes)), "the probabilities")
            return
        mean = model.mean(scores)
        _require(mean.shape == shape, "a prediction")
        row = row[:, : model.n_atoms] if model.is_precomputed else row
        if model.path.loo_quantiles is not None:
            half = model.half_widths(row, mean, TRIED_COVERAGE, n_threads=1)
            _require(half.shape in (shape, shape[1:]), "an interval")
        if model.measure.loss is None and model.path.models.factor(model.n_steps) is not None:
            _require(model.deviations(row, mean, n_threads=1).shape == shape, "a standard deviation")


def _is_vector(array: np.ndarray, kinds: str, length: int | None = None) -> bool:
    return array.ndim == 1 and array.dtype.kind in kinds and (length is None or len(array) == length)


def _within(numbers: np.ndarray, end: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < end)


def _require(is_right: bool | np.bool_, what: str) -> None:
    if not is_right:
        raise ValueError(f"The structure of the model is damaged: {what} does not go with the rest.")
