"""`FittedModel`: everything that predictions are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from kernelpursuit._types import Matrix, State
from kernelpursuit.dictionary import Dictionary, Precomputed
from kernelpursuit.model.calibration import ErrorScale, Uncertainty
from kernelpursuit.model.link import Link
from kernelpursuit.model.outside import Outside
from kernelpursuit.penalties import Penalty
from kernelpursuit.pursuit import Measure, PursuitPath
from kernelpursuit.pursuit.measure import one_each
from kernelpursuit.pursuit.system import require_known
from kernelpursuit.stopping import StoppingRule, as_rule, count_atoms
from kernelpursuit.updates import Update

# Rows predicted at a time: what is made of them on the way stays below this.
PREDICT_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Origin:
    """What a model was fitted with; predictions do not ask for it.

    kernel          the kernel, or the dictionary that `kernel` stands for
    penalty, alpha  the penalty and its strength
    scales          of the features, where they were learned
    update          how weights followed
    auto_rule       the stopping rule that "auto" stands for
    """

    kernel: Any
    penalty: str | Penalty | None
    alpha: float
    scales: np.ndarray | None
    update: Update
    auto_rule: StoppingRule


@dataclass(frozen=True)
class FittedModel:
    """A fitted model: a weighted sum of atoms for every size of a path, and the size that is kept.

    path         criteria and weights of every size
    n_steps      steps after which the model is kept
    reason       why, in words
    atoms        the atoms of the path, in the order of `path.used`
    numbers      the caller's number of each: its training row, or its column of a precomputed X
    always       the functions that are in every model beside the constant, or None
    measure      the loss, and whether targets are codes of classes
    is_dense     whether atoms see dense rows, also of a sparse X
    limits       the largest absolute prediction of every target, or None
    units        in which several targets were fitted, or None
    origin       what it was fitted with
    outside      what predictions are outside the training rows; None for the sum as it is
    error_scale  how wrong predictions are at a row, where atoms were learned; else None
    optimism     how many times larger errors are of rows that scales were not tuned on
    classes      labels of the classes, of a classifier; else None
    feature_names   of the features, where the caller had some

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=40, stop="one-se").fit(*make_chirp(100)).model_
    >>> model.n_steps, model.atoms.n_atoms  # kept, and on the whole path
    (21, 40)
    """

    path: PursuitPath
    n_steps: int
    reason: str
    atoms: Dictionary
    numbers: np.ndarray
    always: Dictionary | None
    measure: Measure
    is_dense: bool
    limits: np.ndarray | None
    units: np.ndarray | None
    origin: Origin
    outside: Outside | None = None
    error_scale: ErrorScale | None = None
    optimism: float = 1.0
    classes: np.ndarray | None = None
    feature_names: np.ndarray | None = None

    # -- The model that is kept ------------------------------------------------------------------------------------

    @property
    def models(self) -> tuple[FittedModel, ...]:
        """The models that it is made of: itself alone."""
        return (self,)

    @cached_property
    def members(self) -> np.ndarray:
        """Places of the kept atoms among `atoms`."""
        return self.path.members(self.n_steps)

    @cached_property
    def kept(self) -> Dictionary:
        """The kept atoms."""
        return self.atoms.take(self.members)

    @cached_property
    def coef(self) -> np.ndarray:
        """Weights of the kept atoms, shape (n_targets, n_atoms)."""
        return _read_only(self.path.coef(self.n_steps).T)

    @cached_property
    def intercept(self) -> np.ndarray:
        """The constant, shape (n_targets,)."""
        return _read_only(self.path.intercept(self.n_steps))

    @cached_property
    def fixed_coef(self) -> np.ndarray:
        """Weights of the functions that are always in, shape (n_targets, n_functions)."""
        return _read_only(self.path.fixed_coef(self.n_steps).T)

    @property
    def n_atoms(self) -> int:
        """Number of kept atoms."""
        return len(self.members)

    @property
    def center_indices(self) -> np.ndarray:
        """The caller's numbers of the kept atoms."""
        return self.numbers[self.members]

    @property
    def centers(self) -> Matrix:
        """The centres of the kept atoms, or None where they have none."""
        return self.kept.centers

    @property
    def is_precomputed(self) -> bool:
        """Whether rows hold the values of the atoms."""
        return isinstance(self.atoms, Precomputed)

    @property
    def link(self) -> Link:
        """From scores to predictions."""
        factors = self.path.inverse_temperature
        return Link(self.measure.loss, 1.0 if factors is None else float(factors[self.n_steps]))

    @property
    def scores_are_targets(self) -> bool:
        """Whether scores are in the units of the targets: not for classes, nor where a loss has another mean."""
        return not self.measure.classes and self.link.is_identity

    def __getstate__(self) -> State:
        """The fields alone: what is derived from them is derived again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_atoms(self, change: Callable[[Dictionary], Dictionary]) -> FittedModel:
        """The model with its atoms evaluated in another way, by a function of their dictionary."""
        return replace(self, atoms=change(self.atoms))

    # -- Other sizes -----------------------------------------------------------------------------------------------

    def at(self, k: int, *, keep_path: bool = True) -> FittedModel:
        """The model after the first k steps; without the steps after these, where `keep_path` is false."""
        k = self.path.check_size(k)
        size = count_atoms(int(self.path.size[k]))
        model = replace(self, n_steps=k, reason=f"{size}: asked for by at({k})")
        return model if keep_path else model.without_later_steps()

    def without_later_steps(self) -> FittedModel:
        """The model with the path up to itself, and no atom that is not on it."""
        path = deepcopy(self.path.first(self.n_steps))  # which has views of all steps
        places = np.arange(len(path.used))
        return replace(self, path=path, atoms=self.atoms.take(places), numbers=self.numbers[places])

    def check_rule(self, rule: StoppingRule) -> None:
        """Every rule may choose; that which knows too little of the path is refused by `select`."""

    def select(
        self, rule: str | StoppingRule, held_out: tuple[Matrix, np.ndarray, np.ndarray] | None = None
    ) -> FittedModel:
        """The model that a stopping rule keeps of this path.

        `held_out` are the rows, targets of shape (n_targets, n_rows) and weights on which the rule wants the error.
        """
        rule = self.origin.auto_rule if isinstance(rule, str) and rule == "auto" else as_rule(rule)
        require_known(rule, self.origin.update, self.measure.loss)
        path = self.path if held_out is None else self._path_on(*held_out)
        return replace(self, path=path, n_steps=path.check_size(rule.choose(path)), reason=rule.explain(path))

    def _path_on(self, X: Matrix, y: np.ndarray, weights: np.ndarray) -> PursuitPath:
        """The path with the errors on held-out rows."""
        weights = weights / weights.max()
        weights, unit = weights / weights.sum(), 1.0 if self.units is None else self.units[:, None]
        errors, wrong = [], []
        for scores in self.staged_scores(X):
            errors.append(self.measure.losses(y / unit, scores.T / unit) @ weights)
            wrong.append(self.measure.wrong(y, scores.T) @ weights)
        validation_error = np.array(wrong) if self.measure.classes else None
        return replace(self.path, validation=np.array(errors), validation_error=validation_error)

    # -- Scores ----------------------------------------------------------------------------------------------------

    def scores(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Values of the kept model, shape (n_rows, n_targets)."""
        return self.within_limits(self.sums(X, n_threads), *self.surroundings(X, n_threads))

    def sums(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Weighted sums over atoms, which `within_limits` makes scores of, shape (n_rows, n_targets)."""
        coef, fixed = np.ascontiguousarray(self.coef.T), self.fixed_coef.T
        out = np.empty((X.shape[0], coef.shape[1]))
        for rows, part in self._chunks(X, self.kept):
            out[rows] = self.kept.matvec(self.kept.rows(part), coef, n_threads) if self.n_atoms else 0.0
            if self.always is not None:
                out[rows] += self.always.matvec(self.always.rows(part), fixed, n_threads)
        return out + self.intercept

    def staged_scores(self, X: Matrix, n_threads: int | None = None) -> Iterator[np.ndarray]:
        """Values of the models after 0, 1, ... steps, along the whole path, shape (n_rows, n_targets) each."""
        values = self.values(X, self.atoms, n_threads)
        always = None if self.always is None else self.values(X, self.always, n_threads)
        base, fade = self.surroundings(X, n_threads)
        for k in range(len(self.path) + 1):
            fitted = values[self.path.members(k)].T @ self.path.coef(k) + self.path.intercept(k)
            if always is not None:
                fitted += always.T @ self.path.fixed_coef(k)
            yield self.within_limits(fitted, base, fade)

    def surroundings(self, X: Matrix, n_threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """What `within_limits` asks of rows: `base` and `fade`, where predictions outside the data are held."""
        return (np.zeros(()), np.zeros(())) if self.outside is None else (self.base(X, n_threads), self.fade(X))

    def within_limits(self, values: np.ndarray, base: np.ndarray, fade: np.ndarray) -> np.ndarray:
        """Sums over atoms as scores: back to the base outside the data, and within the limits that `truncate` set."""
        if self.outside is not None:
            values = self.outside.hold(values, base, fade, clips=self.scores_are_targets)
        return values if self.limits is None else np.clip(values, -self.limits, self.limits)

    def base(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Values of the model without atoms, to which predictions return: a constant, and what is always in."""
        constant = np.broadcast_to(self.path.intercept(0), (X.shape[0], self.path.n_targets))
        if self.always is None:
            return constant
        out, fixed = np.array(constant), self.path.fixed_coef(0)
        for rows, part in self._chunks(X, self.always):
            out[rows] += _block(part, self.always, n_threads).T @ fixed
        return out

    def fade(self, X: Matrix) -> np.ndarray:
        """What is left of the model at each row: 1 where the data are, 0 far outside."""
        out = np.ones(X.shape[0])
        if self.outside is not None:
            for rows, part in self._chunks(X, self.kept):
                out[rows] = self.outside.fade(part)
        return out

    def values(self, X: Matrix, atoms: Dictionary, n_threads: int | None = None) -> np.ndarray:
        """Values of atoms on rows, shape (n_atoms, n_rows)."""
        out = np.empty((atoms.n_atoms, X.shape[0]))
        for rows, part in self._chunks(X, atoms):
            if atoms.n_atoms:
                out[:, rows] = _block(part, atoms, n_threads)
        return out

    def fixed_values(self, X: Matrix, n_threads: int | None = None) -> np.ndarray:
        """Values of what every model has, shape (n_fixed, n_rows): the constant, then what is always in."""
        ones = np.ones((int(self.path.intercept_is_fitted), X.shape[0]))
        return ones if self.always is None else np.vstack([ones, self.values(X, self.always, n_threads)])

    def _chunks(self, X: Matrix, atoms: Dictionary, n_more: int = 0) -> Iterator[tuple[slice, Matrix]]:
        """Yield slices of rows and those rows as the model saw the training rows.

        `n_more` numbers are made of each row beside the values of atoms.
        """
        step = max(1, PREDICT_BYTES // (8 * (max(X.shape[1], atoms.n_atoms, 1) + n_more)))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            part = X[rows]
            yield rows, part.toarray() if self.is_dense and sp.issparse(part) else part

    # -- Targets, and how far they may be off ----------------------------------------------------------------------

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """What scores predict, shape (n_rows, n_targets)."""
        mean = self.link.mean(scores)
        # Scores in other units than the targets have not been clipped.
        return mean if self.outside is None or self.scores_are_targets else np.minimum(mean, self.outside.ceiling)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, shape (n_rows, n_classes)."""
        return self.link.probabilities(scores)

    def class_sets(self, scores: np.ndarray, coverage: float) -> np.ndarray:
        """Which classes may be the true one, shape (n_rows, n_classes): those whose score is near the largest."""
        both = one_each(scores.T).T
        sets: np.ndarray = both >= both.max(axis=1, keepdims=True) - self.path.score_gap(self.n_steps, coverage)
        return sets

    def half_widths(self, X: Matrix, mean: np.ndarray, coverage: float, n_threads: int | None = None) -> np.ndarray:
        """Half the widths of intervals around predictions, shape (n_rows, n_targets) or (n_targets,)."""
        scale, k = self.error_scale, self.n_steps
        if scale is None:
            return self.path.half_width(k, coverage)
        # A model of another size has the scale of the one that was kept, and what its noise is larger by.
        now, then = np.sqrt(self.path.noise_variance(k)), np.sqrt(scale.noise_variance)
        more = np.sqrt(np.fmax(now - then, 0.0)) * np.sqrt(np.fmax(now + then, 0.0))
        out = np.empty_like(mean)
        for rows, part in self._chunks(X, self.kept, scale.n_values):
            out[rows] = scale.intervals(self._uncertainty(scale, part, mean[rows], n_threads), more, coverage)
        return out

    def deviations(self, X: Matrix, mean: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Standard deviations of new targets, shape (n_rows, n_targets)."""
        R, scale = self.path.factor(self.n_steps).R, self.error_scale
        sigma = np.sqrt(self.path.noise_variance(self.n_steps)) * self.optimism
        # Weights below one are no counts: the noise is that of a row of mean weight.
        weight = self.path.total_weight / self.path.n_units
        out = np.empty_like(mean)
        n_more = 2 * len(R) + (0 if scale is None else scale.n_values)
        for rows, part in self._chunks(X, self.kept, n_more):
            leverage = np.zeros(part.shape[0])
            if len(R):
                values = np.vstack([self.fixed_values(part, n_threads), _block(part, self.kept, n_threads)])
                directions = solve_triangular(R, values, trans="T", overwrite_b=True, check_finite=False)
                leverage += weight * np.einsum("ij,ij->j", directions, directions)
            if scale is None:
                out[rows] = np.sqrt(np.outer(1.0 + leverage, np.square(sigma)))
            else:
                uncertainty = self._uncertainty(scale, part, mean[rows], n_threads)
                out[rows] = scale.deviations(uncertainty, sigma, leverage)
        return out

    def _uncertainty(self, scale: ErrorScale, part: Matrix, mean: np.ndarray, n_threads: int | None) -> Uncertainty:
        return scale.at(part, mean, self.base(part, n_threads), fade=self.fade(part), n_threads=n_threads)


def _block(part: Matrix, atoms: Dictionary, n_threads: int | None) -> np.ndarray:
    """Values of atoms on rows from `_chunks`, shape (n_atoms, n_rows)."""
    return atoms.block(atoms.rows(part), np.arange(atoms.n_atoms), n_threads=n_threads)


def _read_only(array: np.ndarray) -> np.ndarray:
    """A copy that nobody can change: what is derived from a frozen model stays what it is."""
    array = array.copy()
    array.flags.writeable = False
    return array
