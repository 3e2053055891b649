"""A model while it is learned, and its minimisation of a criterion by L-BFGS."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from kernelpursuit import _native
from kernelpursuit.kernels.base import Spec
from kernelpursuit.learning.leave_one_out import Target
from kernelpursuit.pursuit import Ended, Watch

# Scales of standardised features: below the first a feature is out, above the second all its values are far apart.
SCALES = (1e-4, 1e2)
# A smaller penalty lets weights grow so large that their digits cancel.
ALPHAS = (1e-6, 1e4)
FACTORS = (1e-2, 1e2)
# Scales of features differ by factors of about e to this power, as far as is known before rows are seen. Labels say
# less than numbers, and the leave-one-out error of their losses is an approximation: it has the closer prior.
SPREAD_OF_SCALES, SPREAD_OF_LABELS = 1.0, 0.5
# What a search is told where there is no error, since the kernel values are singular.
WORST = 1e10


@dataclass(frozen=True)
class Model:
    """Atoms at centres, in standardised features.

    scales   one for each feature, 0 for one that is out; row z and centre c are compared by `(z - c) * scales`
    alpha    the penalty
    centers  shape (k, n_features)
    factors  of gamma, one for each atom
    """

    scales: np.ndarray
    alpha: float
    centers: np.ndarray
    factors: np.ndarray

    def values(self, spec: Spec, Z: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Values of the atoms on rows, shape (k, n_rows)."""
        centers, rows = self.centers * self.scales, Z * self.scales
        return _native.block(spec, centers, rows, factors=self.factors, n_threads=n_threads)


class Criterion(Protocol):
    """What is lowered: a function of the kernel values of some atoms and of the penalty.

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
class Descent:
    """What a search found: the model, and its error on the rows that were judged."""

    model: Model
    error: float


class _Packing:
    """The model as one vector: log scales, log penalty, and where atoms move, centres and log factors.

    Centres are counted in the widths that atoms have at the start, so that a step of one is large for all numbers.
    """

    def __init__(self, start: Model, moves: bool, alphas: tuple[float, float]):
        self.start = start
        self.moves = moves
        self.alphas = alphas
        self.used = start.scales > 0
        self.widths = 1.0 / start.scales[self.used]
        self.sizes = np.array([len(self.widths), 1, len(start.factors) * len(self.widths), len(start.factors)])

    def vector(self) -> np.ndarray:
        """The start."""
        model = self.start
        parts = [np.log(model.scales[self.used]), np.log(np.clip([model.alpha], *self.alphas))]
        if self.moves:
            parts += [(model.centers[:, self.used] / self.widths).ravel(), np.log(model.factors)]
        return np.concatenate(parts)

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Least and largest of every number."""
        limits = [SCALES, self.alphas, None, FACTORS][: 4 if self.moves else 2]
        logs: list[tuple[float | None, float | None]] = [
            (None, None) if limit is None else (float(np.log(limit[0])), float(np.log(limit[1]))) for limit in limits
        ]
        return [limit for limit, size in zip(logs, self.sizes) for _ in range(size)]

    def model(self, x: np.ndarray) -> Model:
        """The model that a vector stands for."""
        log_scales, log_alpha, *rest = np.split(x, np.cumsum(self.sizes[: 3 if self.moves else 1]))
        scales = np.zeros_like(self.start.scales)
        scales[self.used] = np.exp(log_scales)
        found = replace(self.start, scales=scales, alpha=float(np.exp(log_alpha[0])))
        if self.moves:
            centers = self.start.centers.copy()
            centers[:, self.used] = rest[0].reshape(len(centers), -1) * self.widths
            found = replace(found, centers=centers, factors=np.exp(rest[1]))
        return found

    def doubt(self, x: np.ndarray, spread: float) -> tuple[float, np.ndarray]:
        """How unlikely scales are before rows are seen: minus the log-likelihood, and its derivative by their logs.

        Nothing where atoms move, whose rows have said what there is to say of scales.
        """
        if self.moves:
            return 0.0, np.zeros(self.sizes[0])
        logs = x[: self.sizes[0]]
        away = (logs - logs.mean()) / spread
        return 0.5 * float(away @ away), away / spread

    def gradient(
        self, model: Model, by_scale: np.ndarray, by_alpha: float, by_center: np.ndarray, by_factor: np.ndarray
    ) -> np.ndarray:
        """Derivatives by the numbers of the vector, from those by logarithms and by centres in scaled coordinates."""
        parts = [by_scale[self.used], np.array([by_alpha])]
        if self.moves:
            parts += [(by_center[:, self.used] * (model.scales[self.used] * self.widths)).ravel(), by_factor]
        return np.concatenate(parts)


def descend(
    start: Model,
    spec: Spec,
    Z: np.ndarray,
    objective: Criterion,
    *,
    steps: int,
    moves: bool,
    penalty_is_given: bool = False,
    alphas: tuple[float, float] = ALPHAS,
    spread: float | None = None,
    n_threads: int | None = None,
    watch: Watch | None = None,
) -> Descent:
    """Lower an objective by L-BFGS over scales and penalty, and where it `moves`, over centres and factors as well.

    Features are taken to be alike until rows say otherwise: beside the error, as a log-likelihood, stands a log-normal
    prior of the scales. What is lowered of a squared error is its logarithm; other losses may be below zero, and are
    taken relative to the start. So the units of the targets do not matter. A penalty that is given stays as it is;
    others are within `alphas`. `spread` is that of the prior, by default the one for the loss.
    Where `watch` asks for an end, the best so far is taken.
    """
    packing = _Packing(start, moves, alphas)
    squared, unit = objective.target.loss is None, np.nan
    if spread is None:
        spread = SPREAD_OF_SCALES if squared else SPREAD_OF_LABELS
    errors: list[tuple[float, float]] = []
    best = packing.vector()
    # Written over by every look: fresh memory costs as much time as a kernel.
    room = np.empty((len(start.factors), len(Z)))

    def look(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal unit, best
        model = packing.model(x)
        rows, centers = Z * model.scales, model.centers * model.scales
        K = _native.block(spec, centers, rows, room, factors=model.factors, n_threads=n_threads)
        error, G, by_alpha = objective.gradient(K, model.alpha)
        if not np.isfinite(error) or (squared and not error > 0):
            return WORST, np.zeros_like(x)
        by_center, by_scale, by_factor = _native.pullback(
            spec, centers, rows, G, factors=model.factors, n_threads=n_threads
        )
        gradient = packing.gradient(
            model, by_scale, 0.0 if penalty_is_given else by_alpha, by_center=by_center, by_factor=by_factor
        )
        doubt, by_scales = packing.doubt(x, spread)
        if squared:
            # Twice the negative log-likelihood a row is the logarithm of the squared error.
            value, gradient, share = float(np.log(error)), gradient / error, 2.0 / objective.n_observations
        else:
            unit = (abs(error) or 1.0) if np.isnan(unit) else unit
            value, gradient, share = error / unit, gradient / unit, 1.0 / objective.n_observations
        gradient[: len(by_scales)] += share * by_scales
        if not errors or value + share * doubt < min(errors)[0]:
            best = x.copy()
        errors.append((value + share * doubt, error))
        if watch is not None and watch.ask(len(errors) / (1.5 * steps)):
            raise Ended
        return errors[-1][0], gradient

    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20}
    # Where the search is ended, the best of the points that it has looked at is taken.
    with suppress(Ended):
        found = minimize(look, packing.vector(), jac=True, method="L-BFGS-B", bounds=packing.bounds(), options=options)
        if not found.fun < WORST:
            return Descent(start, np.inf)
        best = found.x
    model = packing.model(best)
    if penalty_is_given:
        model = replace(model, alpha=start.alpha)
    return Descent(model, min(errors)[1])
