"""Atoms picked on a sample of the rows, and everything else of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit import AllRows, LoopSpec, TrainingRows, run_pursuit
from kernelpursuit.rows import ArraySource, sample_numbers
from kernelpursuit.stopping import Loo, Max


def spec(**changes):
    told = {"alpha": 1e-3, "fit_intercept": True, "rule": Loo(), **changes}
    return LoopSpec(told.pop("dictionary", KernelAtoms(RBF(gamma=0.5))), told.pop("max_atoms", 40), 0, **told)


def rows(rng, n_rows, n_targets=1):
    X = rng.normal(size=(n_rows, 3))
    return X, np.sin(2 * X[:, :n_targets]) + X[:, 1:2] ** 2 + 0.1 * rng.normal(size=(n_rows, n_targets))


def with_sample(X, y, numbers, weights=None, **options):
    part = None if weights is None else weights[numbers]
    total = float(len(y) if weights is None else weights.sum())
    whole = AllRows(ArraySource(X, y, weights), len(y), numbers, largest=np.abs(y).max(axis=0), total_weight=total)
    return TrainingRows(X[numbers], y[numbers], part, all_rows=whole, **options)


OPTIONS = [
    {},
    {"penalty": None, "alpha": 0.0},
    {"fit_intercept": False},
    {"truncate": "auto"},
    {"penalty": "rkhs"},
    {"selection": "correlation"},
    {"selection": "residual", "penalty": "rkhs", "rule": Max(), "dictionary": KernelAtoms(RBF(gamma=5.0))},
    {"selection": "random", "rule": Max()},
    {"candidates": 20, "rule": Max()},
    {"shortlist": 4},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_all_rows_for_a_sample_it_is_the_plain_loop(rng, options, n_targets, weighted):
    X, y = rows(rng, 500, n_targets)
    w = rng.uniform(0.2, 3, size=500) if weighted else None
    plain = run_pursuit(TrainingRows(X, y, w), spec(**options))
    found = run_pursuit(with_sample(X, y, np.arange(500), w), spec(**options))
    n = len(plain.path)
    assert_array_equal(found.path.atom[:n], plain.path.atom)
    for name in ("loo", "loo_se", "residual_norm", "dof", "cost"):
        assert_allclose(getattr(found.path, name)[: n + 1], getattr(plain.path, name), rtol=1e-8, err_msg=name)
    assert_allclose(found.path.weights(n), plain.path.weights(n), rtol=1e-6, atol=1e-8)
    assert_allclose(found.path.loo_quantiles[: n + 1], plain.path.loo_quantiles, rtol=1e-7)
    assert (found.n_kept, found.reason) == (plain.n_kept, plain.reason)
    assert found.path.n_units == pytest.approx(plain.path.n_units)


def test_coefficients_and_criteria_are_of_all_rows(rng):
    X, y = rows(rng, 2000)
    numbers = sample_numbers(np.arange(2000), 300, 1)
    found = run_pursuit(with_sample(X, y, numbers), spec(rule=Loo(), max_atoms=20))
    atoms = KernelAtoms(RBF(gamma=0.5), centers=X[numbers[found.path.atom]])
    again = run_pursuit(TrainingRows(X, y), spec(dictionary=atoms, max_atoms=20))
    assert_array_equal(again.path.atom, np.arange(20))  # greedy on all rows among these atoms
    assert_allclose(found.path.loo, again.path.loo, rtol=1e-9)
    assert_allclose(found.path.weights(20), again.path.weights(20), rtol=1e-6)


@pytest.mark.parametrize("penalty", ["ridge", "rkhs"])
@pytest.mark.parametrize("selection", ["gain", "correlation"])
def test_a_penalty_has_the_share_that_it_has_beside_all_rows(rng, penalty, selection):
    X, y = rows(rng, 2000)
    numbers = sample_numbers(np.arange(2000), 300, 1)
    told = {"penalty": penalty, "alpha": 0.1, "selection": selection, "rule": Max(), "max_atoms": 20}
    found = run_pursuit(with_sample(X, y, numbers), spec(**told))
    atoms = KernelAtoms(RBF(gamma=0.5), centers=X[numbers[found.path.atom]])
    again = run_pursuit(TrainingRows(X, y), spec(**{**told, "dictionary": atoms, "selection": "gain"}))
    order = np.argsort(again.path.atom)
    assert_allclose(found.path.weights(20)[1:], again.path.weights(20)[1:][order], rtol=1e-6)
    assert_allclose([found.path.cost[20], found.path.loo[20]], [again.path.cost[20], again.path.loo[20]], rtol=1e-9)
    # The sample has its share of the penalty: with the whole of it, other atoms would be picked.
    share = 300 / 2000 if penalty == "ridge" else 1.0
    alone = run_pursuit(TrainingRows(X[numbers], y[numbers]), spec(**{**told, "alpha": 0.1 * share}))
    assert_array_equal(np.sort(found.path.atom), np.sort(alone.path.atom))


@pytest.mark.parametrize("penalty", [None, "rkhs"])
def test_atoms_that_are_dependent_are_left_out(rng, penalty):
    X, y = rows(rng, 1000)
    centers = np.vstack([X[:10], X[:5] + 1e-9, X[:3]])
    atoms = KernelAtoms(RBF(gamma=0.5), centers=centers)
    alpha = 0.0 if penalty is None else 1e-9
    told = spec(dictionary=atoms, penalty=penalty, alpha=alpha, max_atoms=18, by_moments=True)
    found = run_pursuit(with_sample(X, y, sample_numbers(np.arange(1000), 400, 0)), told)
    assert len(found.path) == 10
    assert len(set(np.round(centers[found.path.atom], 6)[:, 0])) == 10


def test_a_target_that_is_zero_has_no_atoms(rng):
    X, y = rows(rng, 300)
    for intercept in (True, False):
        found = run_pursuit(with_sample(X, 0 * y, np.arange(0, 300, 3)), spec(fit_intercept=intercept))
        assert found.n_kept == 0
