"""A fitted model beside the rows and targets it was fitted on, checked; and products with the kernel matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from kernelpursuit._types import Matrix
from kernelpursuit._validate import as_floats, check_finite
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.dictionary.base import tiles
from kernelpursuit.estimators import KernelPursuitRegressor
from kernelpursuit.penalties import RKHS, as_penalty
from kernelpursuit.pursuit import check_weights, resolve_threads
from kernelpursuit.rows import dense

# The rounding error of a sum of products is bounded by this many units in the last place of the sum of their sizes.
ULPS = 16 * float(np.finfo(np.float64).eps)


@dataclass
class Problem:
    """Kernel ridge regression in the units of Zhang eq. 11, for weighted rows and several targets at once.

    `s` are the sample weights, `n` their sum. The dual (Zhang eq. 12) is written in beta, his dual variable divided by
    `sqrt(s)`. Rows of weight zero then need no special case, and the maximum solves `B beta = b`:

        Q(beta) = alpha sum_targets (b' beta - 1/2 beta' B beta)
        b = sqrt(s) y,    B = sqrt(s) K sqrt(s) + n alpha I
    """

    atoms: Dictionary
    X: Matrix
    y: np.ndarray
    s: np.ndarray
    alpha: float
    n_threads: int

    def __post_init__(self) -> None:
        self.n = float(self.s.sum())
        self.root = np.sqrt(self.s)[:, None]
        self.b = self.root * self.y
        self.rows = self.atoms.rows(self.X)
        self.numbers = np.arange(len(self.y))
        own = self.atoms.own_values()[self.s > 0]
        self.largest_norm = float(np.sqrt(max(own.max(), 0.0)))

    def times(self, beta: np.ndarray) -> np.ndarray:
        """`B beta` for every column of beta: one pass over the kernel matrix, of which only tiles are ever held."""
        product = self.atoms.rmatvec(
            self.rows, np.ascontiguousarray((self.root * beta).T), self.numbers, n_threads=self.n_threads
        )
        return self.root * product.T + self.n * self.alpha * beta

    def dual_value(self, beta: np.ndarray, product: np.ndarray) -> tuple[float, float]:
        """`Q(beta)` from `product = B beta`, and a bound on its rounding error."""
        value = self.alpha * float(np.sum(self.b * beta - 0.5 * beta * product))
        sizes = np.abs(self.b * beta).sum() + self.n * self.alpha * np.square(beta).sum()
        sizes += np.square(self.largest_norm * np.abs(self.root * beta).sum(axis=0)).sum()
        return value, ULPS * self.alpha * float(sizes)

    def values_of(self, centers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Values on the training rows of functions with these weights (n_centers, n_functions), in float64."""
        if not len(centers):
            return np.zeros((len(self.y), weights.shape[1]))
        out = np.empty((len(self.y), weights.shape[1]))
        for tile, block in self.blocks_of(self.atoms.take(centers)):
            out[tile] = block.T @ weights
        return out

    def blocks_of(self, picked: Dictionary) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield tiles of training rows and the values there of all atoms of a dictionary, (n_atoms, n_rows)."""
        numbers = np.arange(picked.n_atoms)
        for tile in tiles(len(self.y), 8 * len(numbers)):
            yield tile, picked.block(picked.rows(self.X[tile]), numbers, n_threads=self.n_threads)

    def risks(self, models: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """`R` of models given as (centres, coefficients (n_centers, n_targets)), and bounds on the rounding errors.

        The norm `w' K w` of near-collinear atoms is a small difference of large terms. The bound is large where
        cancellation loses it.
        """
        centers = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(c for c, _ in models)]))
        n_targets = self.y.shape[1]
        stacked = np.zeros((len(centers), len(models), n_targets))
        for m, (own, weights) in enumerate(models):
            stacked[np.searchsorted(centers, own), m] = weights
        risk, rounding = np.empty(len(models)), np.empty(len(models))
        gram = self.atoms.gram(centers, centers, self.n_threads) if len(centers) else np.zeros((0, 0))
        for tile in tiles(len(models), 8 * len(self.y) * n_targets):
            part = stacked[:, tile]
            values = self.values_of(centers, part.reshape(len(centers), part.shape[1] * n_targets))
            values = values.reshape(len(self.y), part.shape[1], n_targets)
            errors = np.einsum("i,imt->m", self.s, np.square(values - self.y[:, None]))
            norms = np.einsum("imt,imt->m", part, np.einsum("ij,jmt->imt", gram, part, optimize=True))
            sizes = np.einsum("imt,imt->m", np.abs(part), np.einsum("ij,jmt->imt", np.abs(gram), np.abs(part)))
            risk[tile] = errors / (2 * self.n) + self.alpha / 2 * norms
            rounding[tile] = ULPS * (errors / self.n + self.alpha * sizes)
        return risk, rounding


def fitted_with(model: KernelPursuitRegressor, parameter: str) -> Any:
    """The value that a parameter had in the fit; `set_params` may have changed it since."""
    assert model._state is not None
    return model._state.given[parameter]


def check_problem(model: KernelPursuitRegressor, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
    """Return the problem that `model` was fitted to; raise an error for models that the theory does not cover."""
    if not hasattr(model, "path_"):
        raise NotFittedError("model is not fitted; call its fit(X, y) first.")
    penalty, alpha = model.penalty_, model.alpha_
    if as_penalty(penalty) != RKHS():
        raise ValueError(f"penalty={penalty!r} does not lead to a Gaussian process; bounds are for penalty='rkhs'.")
    if not alpha > 0:
        raise ValueError(f"alpha={alpha!r} leaves no Gaussian process to compare with; fit with alpha above 0.")
    if fitted_with(model, "fit_intercept"):
        raise ValueError(
            "fit_intercept=True is not covered by the bounds; fit centred targets with fit_intercept=False."
        )
    if hasattr(model, "classes_") or model.path_.loss != "squared":
        raise ValueError("The bounds are about squared errors of a regressor; fit KernelPursuitRegressor to numbers.")
    if fitted_with(model, "truncate") is not None:
        raise ValueError("truncate is not covered by the bounds, which are for the sum of kernels; fit without it.")
    X, y = _check_arrays(model, X, y)
    s = np.ones(len(y)) if sample_weight is None else check_weights(sample_weight, len(y))
    assert model._state is not None
    kernel, loop = fitted_with(model, "kernel"), model._state.resolved.loop
    atoms = loop.dictionary.resolve(X, loop.gamma, None if sample_weight is None else s)
    if not atoms.is_mercer:
        raise ValueError(f"kernel={kernel!r} is not known to be positive semidefinite; bounds are for Mercer kernels.")
    rows = atoms.training_rows
    if rows is None or not np.array_equal(rows, np.arange(len(y))):
        raise ValueError(
            f"kernel={kernel!r} does not stand for one kernel at every training row, which the bounds are for."
        )
    _check_centers(model, X)
    return Problem(atoms, X, y, s=s, alpha=float(alpha), n_threads=resolve_threads(model.n_jobs))


def model_weights(model: KernelPursuitRegressor) -> tuple[np.ndarray, np.ndarray]:
    """Centres and weights (n_centers, n_targets) of a fitted model."""
    return model.center_indices_, np.atleast_2d(model.coef_).T


def _check_arrays(model: KernelPursuitRegressor, X: Matrix, y: ArrayLike) -> tuple[Matrix, np.ndarray]:
    if sp.issparse(X):
        X = sp.csr_array(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
    else:
        X = as_floats("X", X)
    y = as_floats("y", y).astype(np.float64)
    n_targets = np.atleast_2d(model.coef_).shape[0]
    if X.ndim != 2 or X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has shape {X.shape}, but the model was fitted on {model.n_features_in_} features; give its rows."
        )
    y = y[:, None] if y.ndim == 1 else y
    if y.shape != (X.shape[0], n_targets):
        raise ValueError(f"y has shape {y.shape}; give {n_targets} target(s) for each of the {X.shape[0]} rows.")
    check_finite("X", X)
    check_finite("y", y)
    return X, y


def _check_centers(model: KernelPursuitRegressor, X: Matrix) -> None:
    """Raise an error where the centres are not among the rows: X is then not that of the fit."""
    numbers, centers = model.center_indices_, model.centers_
    inside = not len(numbers) or numbers.max() < X.shape[0]
    # The atoms of a precomputed matrix have no centres to compare.
    if inside and (centers is None or not len(numbers) or np.array_equal(dense(X[numbers]), dense(centers))):
        return
    raise ValueError("X does not hold the model's centres at center_indices_; give the rows that it was fitted on.")
