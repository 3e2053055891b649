"""A model while it is learned, and its minimisation of a criterion by L-BFGS."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from kernelpursuit import _native
from kernelpursuit.kernels.base import Spec
from kernelpursuit.learning.constants import (
    ALPHA_LIMITS,
    PRIOR_SPREAD,
    PRIOR_SPREAD_OF_LABELS,
    SCALE_LIMITS,
    WIDTH_FACTOR_LIMITS,
)
from kernelpursuit.learning.leave_one_out import Target
from kernelpursuit.pursuit import Ended, Watch

# The value that L-BFGS is told where there is no error, since the kernel values are singular.
SINGULAR_VALUE = 1e10


@dataclass(frozen=True)
class Model:
    """Atoms at centres, in standardised features.

    scales         one for each feature, 0 for an irrelevant one; `(z - c) * scales` compares row z with centre c
    alpha          the penalty
    centers        shape (k, n_features)
    width_factors  of gamma, one for each atom
    """

    scales: np.ndarray
    alpha: float
    centers: np.ndarray
    width_factors: np.ndarray

    def values(self, spec: Spec, Z: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Values of the atoms on rows, shape (k, n_rows)."""
        centers, rows = self.centers * self.scales, Z * self.scales
        return _native.block(spec, centers, rows, factors=self.width_factors, n_threads=n_threads)


class Criterion(Protocol):
    """What is minimised: a function of the kernel values of some atoms and of the penalty.

    target          what is to be predicted
    n_observations  how many of them the value is the mean of, which a prior is held against
    """

    target: Target

    @property
    def n_observations(self) -> float:
        """How many observations the value is the mean of."""
        ...

    def gradient(self, K: np.ndarray, alpha: float) -> tuple[float, np.ndarray, float]:
        """The value, its derivative by every entry of K of shape (k, n_rows), and by log alpha; K is written over."""
        ...


@dataclass(frozen=True)
class Minimum:
    """What a minimisation found: the model, and its error on the validation rows."""

    model: Model
    error: float


class _Packing:
    """The model as one vector: log scales, log penalty, and where atoms move, centres and log width factors.

    Centres are in units of the length scales at the start, so that a step of one is large for all numbers.
    """

    def __init__(self, start: Model, moves_atoms: bool, alphas: tuple[float, float]):
        self.start = start
        self.moves_atoms = moves_atoms
        self.alphas = alphas
        self.used = start.scales > 0
        self.length_scales = 1.0 / start.scales[self.used]
        self.sizes = np.array(
            [len(self.length_scales), 1, len(start.width_factors) * len(self.length_scales), len(start.width_factors)]
        )

    def vector(self) -> np.ndarray:
        """The start."""
        model = self.start
        parts = [np.log(model.scales[self.used]), np.log(np.clip([model.alpha], *self.alphas))]
        if self.moves_atoms:
            parts += [(model.centers[:, self.used] / self.length_scales).ravel(), np.log(model.width_factors)]
        return np.concatenate(parts)

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Least and largest of every number."""
        limits = [SCALE_LIMITS, self.alphas, None, WIDTH_FACTOR_LIMITS][: 4 if self.moves_atoms else 2]
        logs: list[tuple[float | None, float | None]] = [
            (None, None) if limit is None else (float(np.log(limit[0])), float(np.log(limit[1]))) for limit in limits
        ]
        return [limit for limit, size in zip(logs, self.sizes) for _ in range(size)]

    def model(self, x: np.ndarray) -> Model:
        """The model that a vector stands for."""
        log_scales, log_alpha, *rest = np.split(x, np.cumsum(self.sizes[: 3 if self.moves_atoms else 1]))
        scales = np.zeros_like(self.start.scales)
        scales[self.used] = np.exp(log_scales)
        found = replace(self.start, scales=scales, alpha=float(np.exp(log_alpha[0])))
        if self.moves_atoms:
            centers = self.start.centers.copy()
            centers[:, self.used] = rest[0].reshape(len(centers), -1) * self.length_scales
            found = replace(found, centers=centers, width_factors=np.exp(rest[1]))
        return found

    def negative_log_prior(self, x: np.ndarray, spread: float) -> tuple[float, np.ndarray]:
        """The negative logarithm of the prior of the scales, but for a constant, and its derivative by their logs.

        Both are 0 where atoms move: their rows have said what there is to say of scales.
        """
        if self.moves_atoms:
            return 0.0, np.zeros(self.sizes[0])
        logs = x[: self.sizes[0]]
        away = (logs - logs.mean()) / spread
        return 0.5 * float(away @ away), away / spread

    def gradient(
        self, model: Model, by_scale: np.ndarray, by_alpha: float, by_center: np.ndarray, by_factor: np.ndarray
    ) -> np.ndarray:
        """Derivatives by the numbers of the vector, from those by logarithms and by centres in scaled coordinates."""
        parts = [by_scale[self.used], np.array([by_alpha])]
        if self.moves_atoms:
            parts += [(by_center[:, self.used] * (model.scales[self.used] * self.length_scales)).ravel(), by_factor]
        return np.concatenate(parts)


@dataclass(frozen=True)
class MinimiseSpec:
    """What a minimisation by L-BFGS changes, and how long it goes on.

    n_steps           most steps
    moves_atoms       whether centres and width factors change, beside feature scales and penalty
    penalty_is_given  whether the penalty stays as it is
    alphas            least and largest penalty
    prior_spread      standard deviation of the log scales in their prior; None for that of the loss
    n_threads         threads of the native core
    watch             may ask for an end; the best model so far is then taken
    """

    n_steps: int
    moves_atoms: bool = False
    penalty_is_given: bool = False
    alphas: tuple[float, float] = ALPHA_LIMITS
    prior_spread: float | None = None
    n_threads: int | None = None
    watch: Watch | None = None


def minimise(start: Model, kernel: Spec, Z: np.ndarray, criterion: Criterion, spec: MinimiseSpec) -> Minimum:
    """Minimise a criterion by L-BFGS over scales and penalty, and where atoms move, over centres and width factors.

    Features are taken to be alike until rows say otherwise: to the error, as a negative log-likelihood, the negative
    logarithm of a log-normal prior of the scales is added. What is minimised of a squared error is its logarithm;
    other losses may be below zero, and are taken relative to the start. So the units of the targets do not matter.
    """
    packing = _Packing(start, spec.moves_atoms, spec.alphas)
    squared, unit = criterion.target.loss is None, np.nan
    spread = spec.prior_spread
    if spread is None:
        spread = PRIOR_SPREAD if squared else PRIOR_SPREAD_OF_LABELS
    errors: list[tuple[float, float]] = []
    best = packing.vector()
    # Written over by every evaluation: fresh memory costs as much time as a kernel.
    room = np.empty((len(start.width_factors), len(Z)))

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal unit, best
        model = packing.model(x)
        rows, centers = Z * model.scales, model.centers * model.scales
        K = _native.block(kernel, centers, rows, room, factors=model.width_factors, n_threads=spec.n_threads)
        error, G, by_alpha = criterion.gradient(K, model.alpha)
        if not np.isfinite(error) or (squared and not error > 0):
            return SINGULAR_VALUE, np.zeros_like(x)
        by_center, by_scale, by_factor = _native.pullback(
            kernel, centers, rows, G, factors=model.width_factors, n_threads=spec.n_threads
        )
        gradient = packing.gradient(
            model, by_scale, 0.0 if spec.penalty_is_given else by_alpha, by_center=by_center, by_factor=by_factor
        )
        negative_log_prior, by_scales = packing.negative_log_prior(x, spread)
        if squared:
            # Twice the negative log-likelihood a row is the logarithm of the squared error.
            value, gradient, share = float(np.log(error)), gradient / error, 2.0 / criterion.n_observations
        else:
            unit = (abs(error) or 1.0) if np.isnan(unit) else unit
            value, gradient, share = error / unit, gradient / unit, 1.0 / criterion.n_observations
        gradient[: len(by_scales)] += share * by_scales
        value += share * negative_log_prior
        if not errors or value < min(errors)[0]:
            best = x.copy()
        errors.append((value, error))
        if spec.watch is not None and spec.watch.ask(len(errors) / (1.5 * spec.n_steps)):
            raise Ended
        return errors[-1][0], gradient

    options = {"maxiter": spec.n_steps, "maxfun": 2 * spec.n_steps, "maxcor": 20}
    # Where the minimisation is ended early, the best of the points that it has evaluated is taken.
    with suppress(Ended):
        found = minimize(
            evaluate, packing.vector(), jac=True, method="L-BFGS-B", bounds=packing.bounds(), options=options
        )
        if not found.fun < SINGULAR_VALUE:
            return Minimum(start, np.inf)
        best = found.x
    model = packing.model(best)
    if spec.penalty_is_given:
        model = replace(model, alpha=start.alpha)
    return Minimum(model, min(errors)[1])
