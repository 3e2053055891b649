"""The problem as the loop sees it (rows, atoms, scaled targets), and the way back to the caller's numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix, State, ValidationSet
from kernelpursuit._validate import as_floats, check_finite, check_number
from kernelpursuit.dictionary import Dictionary, Precomputed, split
from kernelpursuit.losses import Loss
from kernelpursuit.losses.real import check_size
from kernelpursuit.penalties import Atoms
from kernelpursuit.pursuit.measure import classes_of
from kernelpursuit.pursuit.path import PursuitPath, Replay
from kernelpursuit.pursuit.selection import HELD_OUT, resolve_candidates
from kernelpursuit.pursuit.spec import AllRows, LoopSpec, TrainingRows
from kernelpursuit.rows import Prepared

# Weights are brought into this range, beyond which squares of their sums leave that of float64.
LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e100
# A sparse X of up to this many entries, zeros included (256 MB), is made dense if it has few features or few zeros.
DENSE_UP_TO = 2**25
FEW_FEATURES = 200
DENSE_ABOVE = 0.1


@dataclass
class Problem:
    """What is fitted.

    dictionary   the atoms to be searched, resolved
    numbers      their numbers in the whole dictionary, ascending; None where it is the whole
    X, weights   training rows and their weights (all positive; None for ones)
    counts       how often each row was seen, where that is not its weight; else None
    calibrates   marks the rows whose leave-one-out errors calibrate intervals; None for all
    targets      shape (n_targets, n_rows), times `scale`
    scale        power of two by which the targets were multiplied, so that no square over- or underflows
    loss         the loss, with everything filled in; None for the squared one
    intercept    whether every model has a constant
    always       the functions that every model has beside it, or None
    held_out     (X, targets of shape (n_targets, n_rows), weights) of held-out rows, or None
    n_looked_at  how many atoms are looked at each step; None for all
    limits       largest absolute prediction of every target, or None
    all_rows     where these rows are a sample: all of them, with targets times `scale`; else None
    """

    dictionary: Dictionary
    numbers: np.ndarray | None
    X: Matrix
    weights: np.ndarray | None
    counts: np.ndarray | None
    calibrates: np.ndarray | None
    targets: np.ndarray
    scale: float
    loss: Loss | None
    intercept: bool
    always: Dictionary | None
    held_out: tuple[Matrix, np.ndarray, np.ndarray] | None
    n_looked_at: int | None
    limits: np.ndarray | None
    all_rows: AllRows | None = None

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights."""
        return float(self.targets.shape[1]) if self.weights is None else float(self.weights.sum())

    @property
    def n_units(self) -> float:
        """Number of rows, those of a weight above one counted by it."""
        if self.counts is not None:
            return float(self.counts.sum())
        return float(self.targets.shape[1] if self.weights is None else np.maximum(self.weights, 1.0).sum())

    def fixed_values(self, X: Matrix) -> np.ndarray:
        """Values of what every model has, shape (n_fixed, n_rows): the constant, then the other functions."""
        parts = [np.ones((int(self.intercept), X.shape[0]))]
        if self.always is not None:
            parts.append(self.always.block(self.always.rows(X), np.arange(self.always.n_atoms)))
        return np.vstack(parts)

    def penalised_atoms(self, n_threads: int, *, over_all_rows: bool = False) -> Atoms:
        """The atoms that a penalty is over, beside the rows in memory or all of them."""
        total = self.total_weight
        if over_all_rows and self.all_rows is not None:
            total = self.all_rows.total_weight
        return replace(Atoms.of(self.dictionary, total, self.numbers), n_threads=n_threads)

    def only(self, atoms: np.ndarray) -> Problem:
        """The same with some of the atoms, by their numbers in the searched dictionary."""
        numbers = atoms if self.numbers is None else self.numbers[atoms]
        return replace(self, dictionary=self.dictionary.take(atoms), numbers=numbers)

    def number_back(self, path: PursuitPath) -> PursuitPath:
        """Return the path with atoms numbered as in the whole dictionary."""
        numbers = self.numbers
        if numbers is None:
            return path
        skipped = [(k, int(numbers[atom])) for k, atom in path.skipped]
        swaps = [(k, int(numbers[leaving]), int(numbers[coming])) for k, leaving, coming in path.swaps]
        return replace(path, atom=numbers[path.atom], used=numbers[path.used], skipped=skipped, swaps=swaps)

    def renumber(self, replay: Replay) -> Replay:
        """Return steps over the same dictionary with atoms numbered as in the searched one."""
        if self.numbers is None:
            return replay
        place = {int(number): i for i, number in enumerate(self.numbers)}
        skipped = [(k, place[atom]) for k, atom in replay.skipped]
        swaps = [(k, place[leaving], place[coming]) for k, leaving, coming in replay.swaps]
        return replace(replay, atom=np.searchsorted(self.numbers, replay.atom), skipped=skipped, swaps=swaps)

    @property
    def _largest_target(self) -> float:
        return float(np.abs(self.targets).max() if self.all_rows is None else self.all_rows.largest.max())

    def facts(self) -> State:
        """What a path knows of the problem as a whole."""
        return {
            "n_candidates": self.dictionary.n_atoms,
            "n_features": None if isinstance(self.dictionary, Precomputed) else int(self.X.shape[1]),
            "largest_target": self._largest_target / self.scale,
            "intercept_is_fitted": self.intercept,
            "loss": "squared" if self.loss is None else self.loss.name,
        }


def pose(rows: TrainingRows, spec: LoopSpec) -> Problem:
    """Turn the caller's rows and parameters into a `Problem`."""
    X, y, sample_weight, units = rows.X, rows.y, rows.weights, spec.units
    gamma, loss, seed = spec.gamma, spec.loss, spec.seed
    _check_gamma_is_used(spec.dictionary, gamma)
    dictionary, always = split(spec.dictionary)
    X = _dense_if_better(X)
    n_rows = X.shape[0]
    given = np.ones(n_rows) if sample_weight is None else sample_weight
    held = held_out_rows(given, spec.rule.validation_fraction(), seed, y=y, classes=spec.classes)
    held_out: tuple[Matrix, np.ndarray, np.ndarray] | None = None
    if rows.validation is not None:
        X_held, y_held, w_held = check_held_out(rows.validation, X.shape[1], y.shape[1])
        # Atoms see held-out rows as they see training rows.
        X_held = X_held.toarray() if sp.issparse(X_held) and not sp.issparse(X) else X_held
        held_out = X_held, y_held if units is None else y_held / units[:, None], w_held
    limits = None
    if spec.truncate is not None:
        largest = np.abs(y[(given > 0) & ~held]).max(axis=0) if rows.all_rows is None else rows.all_rows.largest
        limits = _limits(spec.truncate, largest)
    if units is not None:
        y, limits = y / units, None if limits is None else limits / units
    if held.any():
        held_out = X[held], y[held].T, given[held]
    used = np.where(held, 0.0, given)
    kept = np.flatnonzero(used)
    counted = None if sample_weight is None and not held.any() else used
    whole = dictionary.resolve(X, gamma, counted)
    subset, n_looked_at = resolve_candidates(spec.candidates, whole.n_atoms, seed)
    numbers = _numbers_searched(whole, subset, kept, n_rows)
    searched = whole if numbers is None else whole.take(numbers)
    if len(kept) < n_rows and searched.training_rows is not None:
        place = np.full(n_rows, -1)
        place[kept] = np.arange(len(kept))
        centred_at = searched.training_rows
        searched = searched.with_training_rows(np.where(centred_at < 0, -1, place[centred_at]))
    all_kept = len(kept) == n_rows
    y_kept = y if all_kept else y[kept]
    weights = None if sample_weight is None else used[kept]
    scale = _power_of_two(y_kept) if loss is None else 1.0
    targets = np.ascontiguousarray((y_kept * scale).T)
    if loss is not None:
        for given_targets in (targets,) if held_out is None else (targets, held_out[1]):
            loss.check_targets(given_targets)
        loss = loss.resolve(targets, np.ones(len(kept)) if weights is None else weights)
    return Problem(
        dictionary=searched,
        numbers=numbers,
        X=X if all_kept else X[kept],
        weights=weights,
        counts=None if rows.counts is None else rows.counts[kept],
        calibrates=None if rows.calibrates is None or not rows.calibrates[kept].any() else rows.calibrates[kept],
        targets=targets,
        scale=scale,
        loss=loss,
        intercept=spec.fit_intercept and (loss is None or loss.has_constant),
        always=None if always is None else always.resolve(X, gamma, counted),
        held_out=held_out,
        n_looked_at=n_looked_at,
        limits=limits,
        all_rows=None
        if rows.all_rows is None
        else _all_rows(rows.all_rows, units, scale, weights=given, held=held, kept=kept),
    )


def _all_rows(
    given: AllRows, units: np.ndarray | None, scale: float, *, weights: np.ndarray, held: np.ndarray, kept: np.ndarray
) -> AllRows:
    """All rows but those that are held out, in the units of the problem; `weights` are of those in memory."""
    unit = (1.0 if units is None else units) / scale
    change = Prepared(unit=unit, left_out=given.numbers[held] if held.any() else None)
    return AllRows(
        given.source.map(change),
        given.n_rows - int(held.sum()),
        given.numbers[kept],
        largest=given.largest / unit,
        total_weight=given.total_weight - float(weights[held].sum()),
    )


def _limits(truncate: float | str, largest: np.ndarray) -> np.ndarray:
    """The largest absolute prediction of every target, for targets of this size."""
    if isinstance(truncate, str) and truncate == "auto":
        return largest
    return np.full(len(largest), float(check_truncate(truncate)))


def check_truncate(truncate: float | str | None) -> Any:
    """Return `truncate` if it is a number above 0, "auto" or None."""
    if truncate is None or (isinstance(truncate, str) and truncate == "auto"):
        return truncate
    try:
        return check_number("truncate", truncate, low=0, strict=True)
    except ValueError:
        raise ValueError(
            f"truncate={truncate!r} is not usable; give a number above 0, 'auto' for the largest |y|, or None."
        ) from None


def _check_gamma_is_used(dictionary: Dictionary, gamma: ArrayLike) -> None:
    """Refuse a `gamma` that no kernel would take, since every one carries its own."""
    if not dictionary.takes_gamma and not (isinstance(gamma, str) and gamma == "scale"):
        raise ValueError(
            f"gamma={gamma!r} would be ignored, since no kernel of the dictionary is without a width of its own; "
            "leave gamma out, or leave it out of the kernels."
        )


def _dense_if_better(X: Matrix) -> Matrix:
    """A sparse X as a dense array where that is faster: the native core is dense, but takes every zero in turn.

    The limits are fixed, and no matter of the memory budget, which must not change results.
    """
    if not sp.issparse(X):
        return X
    size = X.shape[0] * X.shape[1]
    worth_it = X.shape[1] <= FEW_FEATURES or X.nnz >= DENSE_ABOVE * size
    return X.toarray() if worth_it and size <= DENSE_UP_TO else sp.csr_array(X)


def held_out_rows(weights: np.ndarray, fraction: float | None, seed: int, y: np.ndarray, classes: bool) -> np.ndarray:
    """Mark the rows to hold out: a random fraction of those that have a weight, in each class, and never all of it."""
    held = np.zeros(len(weights), dtype=bool)
    if fraction is None:
        return held
    groups = classes_of(y.T) if classes else np.zeros(len(y), dtype=int)
    usable = np.flatnonzero(weights)
    if len(usable) < 2:
        raise ValueError(
            f"stop='validation' holds rows out, for which n_samples={len(usable)} is too few; give more rows, or "
            "Validation(X=..., y=...)."
        )
    generator = np.random.default_rng([seed, 0, HELD_OUT])
    members = [usable[groups[usable] == group] for group in np.unique(groups[usable])]
    for rows in members:
        n_held = min(round(fraction * len(rows)), len(rows) - 1)
        held[generator.choice(rows, size=n_held, replace=False)] = True
    if not held.any():
        # All groups are small: one row of the largest will have to do.
        largest = max(members, key=len)
        held[generator.choice(largest if len(largest) > 1 else usable)] = True
    return held


def check_held_out(given: ValidationSet, n_features: int, n_targets: int) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """Return rows, targets of shape (n_targets, n_rows) and weights of a rule's held-out set, checked."""
    X, y, weights = given
    X, y = as_rows("Validation's X", X), as_targets("Validation's y", y)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] != n_features or y.shape != (X.shape[0], n_targets):
        raise ValueError(
            f"Validation has X of shape {X.shape} and y of shape {y.shape}, which do not match the training data's "
            f"{n_features} features and {n_targets} target{'s' * (n_targets != 1)}; give matching rows."
        )
    if weights is None:
        return X, y.T, np.ones(len(y))
    return X, y.T, check_weights(weights, len(y), "Validation's sample_weight")


def as_rows(name: str, X: Matrix) -> Matrix:
    """Return rows as an array of finite floats, or as a CSR array."""
    X = sp.csr_array(X) if sp.issparse(X) else as_floats(name, X)
    check_finite(name, X)
    return X


def as_targets(name: str, y: ArrayLike) -> np.ndarray:
    """Return targets as finite float64, one column a target."""
    y = as_floats(name, y).astype(np.float64, copy=False)
    check_finite(name, y)
    return y[:, None] if y.ndim == 1 else y


def check_weights(sample_weight: ArrayLike | None, n_rows: int, name: str = "sample_weight") -> np.ndarray:
    """Return sample weights as an array: finite, none negative, not all zero, and the largest in range of squares."""
    weights = as_floats(name, sample_weight).astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"{name} has shape {weights.shape}; give one weight for each of the {n_rows} rows.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} holds negative or non-finite values; give weights of at least 0.")
    if not weights.any():
        raise ValueError(f"{name} is zero for every row; give at least one row a positive weight.")
    return _weights_in_range(weights)


def _weights_in_range(weights: np.ndarray) -> np.ndarray:
    """Weights whose squares and sums neither over- nor underflow: all of them times a constant, where need be.

    None of them becomes zero, since that would leave its row out.
    """
    largest = float(weights.max())
    wanted = min(max(largest, LEAST_WEIGHT), MOST_WEIGHT)
    relative = weights if largest == wanted else weights / largest * wanted
    return np.where(weights > 0, np.maximum(relative, LEAST_WEIGHT * min(wanted, 1.0)), 0.0)


def _numbers_searched(whole: Dictionary, subset: np.ndarray | None, kept: np.ndarray, n_rows: int) -> np.ndarray | None:
    """Atoms to search: those of the subset whose training row, if they have one, is kept."""
    if subset is None and len(kept) == n_rows:
        return None
    numbers = np.arange(whole.n_atoms) if subset is None else subset
    rows = whole.training_rows
    if rows is None or len(kept) == n_rows or not whole.follows_rows:
        return numbers
    numbers = numbers[(rows[numbers] < 0) | np.isin(rows[numbers], kept)]
    if not len(numbers):
        raise ValueError("candidates leaves no atom whose row is trained on; name others.")
    return numbers


def _power_of_two(y: np.ndarray) -> float:
    """The power of two that brings the largest target to between 1/2 and 1."""
    largest = check_size(y)
    return float(np.ldexp(1.0, -int(np.frexp(largest)[1]))) if largest else 1.0
