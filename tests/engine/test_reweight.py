"""Other weights for the same rows: what a loss asks of the engine when its metric changes."""

import numpy as np
import pytest
from plain import plain_classifier

import kernelpursuit.engine.engine as engine_module
from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.engine import Engine
from kernelpursuit.kernels import RBF

N = 120
BYTES_OF_A_THIRD = N * 8 * (N // 3)


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request, monkeypatch):
    """Scores in either float type, whatever the size."""
    if request.param is np.float32:
        monkeypatch.setattr(engine_module, "FLOAT64_UP_TO", 0)
    return request.param


def started(rows, budget, weights=None):
    dictionary = KernelAtoms(RBF(gamma=0.4)).resolve(rows)
    engine = Engine(dictionary, rows, weights=weights, memory_budget=budget, n_threads=1)
    engine.correlate(np.ones((1, N)))  # now it keeps what it can
    return engine


@pytest.mark.parametrize("budget", [0, BYTES_OF_A_THIRD, 10**9])
def test_reweighted_is_weighted(rows, dtype, budget):
    weights = np.random.default_rng(1).uniform(0.01, 3.0, size=N)
    engine = started(rows, budget)
    engine = engine.weighted(weights)
    fresh = started(rows, budget, weights)
    tolerance = 1e-12 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(engine.sqnorms(), fresh.sqnorms(), rtol=tolerance)
    V = np.random.default_rng(2).normal(size=(2, N))
    np.testing.assert_array_equal(engine.correlate(V), fresh.correlate(V))
    np.testing.assert_array_equal(engine.columns(np.arange(5)), fresh.columns(np.arange(5)))


def test_the_budget_changes_no_bit(rows, dtype):
    weights = np.random.default_rng(1).uniform(0.01, 3.0, size=N)
    found = []
    for budget in (0, BYTES_OF_A_THIRD, 10**9):
        engine = started(rows, budget)
        engine = engine.weighted(weights)
        found.append(engine.sqnorms())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_float32_scores_pick_as_float64_ones_do(rows, monkeypatch, loss):
    y = np.where(np.sin(2 * rows[:, 0]) + rows[:, 1] > 0, 1.0, -1.0)
    settings = {"loss": loss, "gamma": 0.4, "alpha": 0.05, "max_atoms": 15, "fit_intercept": True}
    exact = pursuit_path(rows, y, **settings)
    monkeypatch.setattr(engine_module, "FLOAT64_UP_TO", 0)
    rounded = pursuit_path(rows, y, **settings)
    np.testing.assert_array_equal(rounded.atom, exact.atom)
    np.testing.assert_allclose(rounded.cost, exact.cost, rtol=1e-9)


def test_a_metric_that_is_kept_gives_a_model_as_good(rows, monkeypatch):
    """Where a new metric costs much, it is taken seldom; the weights are the best for their atoms all the same."""
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] > 0
    settings = {"gamma": 0.4, "alpha": 0.05, "max_atoms": 15, "stop": "max"}
    fresh = plain_classifier(**settings).fit(rows, y)
    monkeypatch.setattr("kernelpursuit.pursuit.fits.loss.AFFORDABLE_PASSES", 0)
    monkeypatch.setattr("kernelpursuit.pursuit.fits.loss.FEW_PRODUCTS", 0)
    seldom = plain_classifier(**settings).fit(rows, y)
    costs = [model.path_.refits[15]["cost"] for model in (fresh, seldom)]
    assert costs[1] == pytest.approx(costs[0], rel=0.15)
    assert (np.diff(seldom.path_.cost) <= 1e-9).all()
