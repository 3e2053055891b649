"""Intervals of few rows: leave-one-out errors of a process, with an atom at every row, and what they are good for."""

from __future__ import annotations

import numpy as np
import pytest

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.kernels import RBF
from kernelpursuit.model.calibration import process_errors


def fitted_without(i, K, y, weights, fixed, strength):
    """The prediction of row i by a process of the others, all from the normal equations."""
    others = np.arange(len(K)) != i
    C = K[np.ix_(others, others)] + np.diag(strength / weights[others])
    F = fixed[:, others].T
    zero = np.zeros((F.shape[1], F.shape[1]))
    solved = np.linalg.solve(np.block([[C, F], [F.T, zero]]), np.vstack([y[others], np.zeros((len(zero), y.shape[1]))]))
    n = int(others.sum())
    return K[i, others] @ solved[:n] + fixed[:, i] @ solved[n:]


def test_errors_are_those_of_processes_without_a_row(rng):
    X, y, weights = rng.normal(size=(25, 2)), rng.normal(size=(25, 2)), rng.uniform(0.5, 2.0, size=25)
    fixed, K = np.vstack([np.ones(25), X[:, 0]]), RBF(gamma=0.5)(X, X)
    expected = np.array([y[i] - fitted_without(i, K, y, weights, fixed, strength=0.3) for i in range(25)])
    found = process_errors(y, weights, np.ones(25), fixed, K=K.copy(), strength=0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_errors_of_copies_without_noise_are_not_determined():
    X = np.repeat(np.arange(4.0), 2)[:, None]
    K = RBF(gamma=1.0)(X, X)
    assert process_errors(X, np.ones(8), np.ones(8), np.ones((1, 8)), K=K, strength=0.0) is None


@pytest.mark.parametrize(("n_rows", "least"), [(60, 0.8), (200, 0.85)])
def test_intervals_hold_new_targets_where_most_rows_are_atoms(n_rows, least):
    """A sum of five waves takes an atom for every second row; by the errors of the picked atoms alone, it was 0.7."""
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows + 1000, 5))
        y = np.sin(2 * X).sum(axis=1)
        y += 0.2 * y.std() * rng.normal(size=len(y))
        model = KernelPursuitRegressor(random_state=0).fit(X[:n_rows], y[:n_rows])
        lower, upper = model.predict_interval(X[n_rows:], coverage=0.9)
        held.append(np.mean((y[n_rows:] >= lower) & (y[n_rows:] <= upper)))
    assert least < np.mean(held) < 0.95


def test_intervals_are_those_of_the_model_that_is_kept():
    """A process with an atom at every row has learned what three atoms cannot, or what has another target's scales."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    rough, smooth = np.sin(2 * X[:, 0]) * X[:, 1], X[:, 2] ** 2
    y = rough + 0.1 * rng.normal(size=len(X))
    small = KernelPursuitRegressor(max_atoms=3, random_state=0).fit(X[:200], y[:200])
    several = KernelPursuitRegressor(max_atoms=30, random_state=0).fit(X[:200], np.column_stack([y, smooth])[:200])
    for model, target in ((small, y), (several, np.column_stack([y, smooth]))):
        lower, upper = model.predict_interval(X[200:], coverage=0.9)
        held = (target[200:] >= lower) & (target[200:] <= upper)
        assert (held.mean(axis=0) > 0.8).all()


def test_intervals_of_a_small_model_are_its_own(rng):
    """With an atom at every row errors would be a tenth."""
    X = rng.uniform(0, 10, size=(1300, 1))
    y = np.sin(3 * X[:, 0]) + 0.05 * rng.normal(size=1300)
    model = KernelPursuitRegressor(random_state=0, max_atoms=5).fit(X[:300], y[:300])
    lower, upper = model.predict_interval(X[300:], coverage=0.9)
    assert 0.84 < np.mean((y[300:] >= lower) & (y[300:] <= upper)) < 0.96
