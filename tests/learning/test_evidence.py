"""The evidence against its definition: the likelihood of contrasts, finite differences, refits and copies of rows."""

import numpy as np
import pytest
from scipy.linalg import null_space

from kernelpursuit.learning.constants import MAX_ROUNDING_NOISE
from kernelpursuit.learning.evidence import Evidence
from kernelpursuit.learning.leave_one_out import Observed, Target

N = 24


def target(y, weights=None, counts=None, intercept=True, trend=None):
    y = np.atleast_2d(y)
    weights = np.ones(y.shape[1]) if weights is None else weights
    counts = np.ones(y.shape[1]) if counts is None else counts
    return Target(Observed(y, weights, None, np.ones(y.shape[1]), intercept, counts, trend))


def gram(X, gamma):
    return np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=-1))


@pytest.fixture
def drawn():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 2))
    return X, np.vstack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.normal(size=(2, N))


def literal(K, alpha, y, fixed):
    """-2 log likelihood of contrasts that no fixed function has a part in, the variance of the process profiled out."""
    A = null_space(fixed)
    C = A.T @ (K + alpha * np.eye(len(K))) @ A
    z = A.T @ y
    return len(z) * np.log(z @ np.linalg.solve(C, z)) + np.linalg.slogdet(C)[1]


@pytest.mark.parametrize("has_trend", [False, True])
def test_is_the_likelihood_of_contrasts(drawn, has_trend):
    X, y = drawn
    trend = X.T if has_trend else None
    fixed = np.ones((1, N)) if trend is None else np.vstack([np.ones(N), trend])
    evidence = Evidence(target(y[0], trend=trend))
    pairs = [(0.3, 0.1), (1.0, 0.02), (3.0, 1.0)]
    found = [evidence.minus_two_log(evidence.error(gram(X, gamma), alpha)) for gamma, alpha in pairs]
    expected = [literal(gram(X, gamma), alpha, y[0], fixed) for gamma, alpha in pairs]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


def test_several_targets_are_averaged(drawn):
    X, y = drawn
    K = gram(X, 0.5)
    both, *each = (np.log(Evidence(target(one)).error(K, 0.1)) for one in (y, y[0], y[1]))
    assert both == pytest.approx(np.mean(each))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shares_variance", [False, True])
def test_derivatives(drawn, intercept, shares_variance):
    X, y = drawn
    rng = np.random.default_rng(0)
    evidence = Evidence(target(y, weights=rng.uniform(0.1, 3.0, N), intercept=intercept), shares_variance)
    K, alpha, step = gram(X, 0.5), 0.2, 1e-6
    error, by_value, by_log_alpha = evidence.gradient(K.copy(), alpha)
    assert error == pytest.approx(evidence.error(K, alpha), rel=1e-12)
    move = rng.normal(size=(N, N))
    move += move.T
    slope = (evidence.error(K + step * move, alpha) - evidence.error(K - step * move, alpha)) / (2 * step)
    assert (by_value * move).sum() == pytest.approx(slope, rel=1e-6)
    slope = (evidence.error(K, alpha * np.exp(step)) - evidence.error(K, alpha * np.exp(-step))) / (2 * step)
    assert by_log_alpha == pytest.approx(slope, rel=1e-6)


def test_a_row_that_stands_for_three_is_three_rows(drawn):
    X, y = drawn
    counts = np.where(np.arange(N) % 4 == 0, 3, 1)
    copies = np.repeat(np.arange(N), counts)
    joined, apart = Evidence(target(y[0], counts * 1.0, counts * 1.0)), Evidence(target(y[0, copies]))
    pairs = [(0.3, 0.1), (1.0, 0.02)]
    by_counts = [joined.minus_two_log(joined.error(gram(X, gamma), alpha)) for gamma, alpha in pairs]
    by_copies = [apart.minus_two_log(apart.error(gram(X[copies], gamma), alpha)) for gamma, alpha in pairs]
    assert np.diff(by_counts) == pytest.approx(np.diff(by_copies), rel=1e-9)


def test_rows_of_hardly_any_weight_say_nothing(drawn):
    X, y = drawn
    weights = np.where(np.arange(N) < 6, 1e-9, 1.0)
    all_rows, others = Evidence(target(y[0], weights)), Evidence(target(y[0, 6:]))
    pairs = [(0.3, 0.1), (1.0, 0.02)]
    found = [all_rows.minus_two_log(all_rows.error(gram(X, gamma), alpha)) for gamma, alpha in pairs]
    expected = [others.minus_two_log(others.error(gram(X[6:], gamma), alpha)) for gamma, alpha in pairs]
    assert np.diff(found) == pytest.approx(np.diff(expected), rel=1e-5)


def test_losses_are_those_of_refits(drawn):
    X, y = drawn
    K, alpha = gram(X, 0.5), 0.2
    found = Evidence(target(y[0])).losses(K, alpha).values
    for i in range(0, N, 5):
        others = np.arange(N) != i
        C = np.linalg.inv(K[np.ix_(others, others)] + alpha * np.eye(N - 1))
        mean = C.sum(axis=0) @ y[0, others] / C.sum()
        predicted = mean + K[i, others] @ C @ (y[0, others] - mean)
        assert found[i] == pytest.approx((predicted - y[0, i]) ** 2, rel=1e-8)


def test_losses_leave_out_one_of_those_that_a_row_stands_for(drawn):
    X, y = drawn
    counts = np.where(np.arange(N) == 3, 4.0, 1.0)
    K, alpha = gram(X, 0.5), 0.2
    found = Evidence(target(y[0], counts, counts)).losses(K, alpha).values[3]
    C = np.linalg.inv(K + alpha * np.diag(1 / np.where(np.arange(N) == 3, 3.0, 1.0)))
    mean = C.sum(axis=0) @ y[0] / C.sum()
    assert found == pytest.approx((mean + K[3] @ C @ (y[0] - mean) - y[0, 3]) ** 2, rel=1e-8)


def test_a_wild_target_is_moved_nearer(drawn):
    X, y = drawn
    many = np.tile(y[0], 4)
    wild = np.where(np.arange(len(many)) == 5, 1e6, many)
    K = gram(np.tile(X, (4, 1)) + 1e-3 * np.arange(4 * N)[:, None], 0.5)
    one, other = (Evidence(target(values)) for values in (many, wild))
    assert np.log(other.error(K, 0.1) / one.error(K, 0.1)) < 6


def test_gain_is_against_the_fixed_functions_alone(drawn):
    X, y = drawn
    evidence = Evidence(target(y[0]))
    assert evidence.gain(np.zeros((N, N)), 5.0) == pytest.approx(0.0, abs=1e-9)
    noise = np.random.default_rng(1).normal(size=N)
    assert evidence.gain(gram(X, 1.0), 0.05) > 10 > Evidence(target(noise)).gain(gram(X, 1.0), 0.05)


def test_a_singular_matrix_is_an_infinite_error():
    evidence = Evidence(target(np.arange(4.0)))
    K = -np.ones((4, 4))
    assert evidence.error(K, 1e-6) == np.inf
    assert evidence.gradient(K.copy(), 1e-6)[0] == np.inf
    assert np.isinf(evidence.losses(K, 1e-6).values).all()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e5])
def test_targets_in_steps_have_noise(unit):
    rng = np.random.default_rng(0)
    labels = unit * np.where(rng.random(200) < 0.4, 1.0, -1.0)
    assert Evidence(target(labels)).least_noise == MAX_ROUNDING_NOISE
    rounded = unit * np.round(rng.normal(size=200), 1)
    assert Evidence(target(rounded)).least_noise == pytest.approx(0.1 * 0.01 / 12, rel=0.3)
    assert Evidence(target(unit * rng.normal(size=200))).least_noise == 1e-6
