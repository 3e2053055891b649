"""Rows as learning sees them: standardised whatever their units, with constant features left out."""

import numpy as np
import pytest

from kernelpursuit.learning.sample import Rows, Standard, joined


def standard(X, weights=None):
    return Standard.of(X, np.ones(len(X)) if weights is None else weights)


def test_mean_zero_and_spread_one(rng):
    X = rng.gamma(2.0, size=(50, 3)) * [1.0, 30.0, 0.01] + [0.0, -7.0, 1.0]
    found = standard(X)
    Z = found.apply(X)
    np.testing.assert_allclose(found.center, X.mean(axis=0))
    np.testing.assert_allclose(found.spread, X.std(axis=0))
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose(found.undo(Z), X, rtol=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300])
def test_any_size(rng, size):
    X = rng.normal(size=(40, 2))
    X[:, 1] += 5.0
    found, plain = standard(size * X), standard(X)
    np.testing.assert_allclose(found.spread / size, plain.spread, rtol=1e-12)
    Z = found.apply(size * X)
    np.testing.assert_allclose(Z, plain.apply(X), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.undo(Z), size * X, rtol=1e-12, atol=1e-14 * size)


def test_features_of_very_different_sizes_side_by_side(rng):
    sizes = np.array([1e-150, 1e-30, 1.0, 1e30, 1e150])
    X = rng.normal(size=(40, 5)) * sizes
    found = standard(X)
    Z = found.apply(X)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose(found.undo(Z) / sizes, X / sizes, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e-200, 1e150, 5e300])
def test_a_constant_feature_is_left_out(rng, value):
    X = np.column_stack([rng.normal(size=37), np.full(37, value)])
    found = standard(X, rng.random(37))
    assert found.spread[0] > 0
    assert found.spread[1] == 0
    Z = found.apply(X)
    assert not Z[:, 1].any()
    np.testing.assert_allclose(found.undo(Z)[:, 1], value, rtol=1e-14)


def test_a_small_spread_around_a_large_mean_is_seen():
    X = 1e8 + np.arange(10.0)[:, None]
    found = standard(X)
    np.testing.assert_allclose(found.spread, np.arange(10).std(), rtol=1e-7)
    np.testing.assert_allclose(found.undo(found.apply(X)), X, rtol=1e-15)


def test_weights_are_repeats(rng):
    X, weights = rng.normal(size=(20, 3)), rng.integers(1, 5, 20)
    found, wanted = standard(X, weights.astype(float)), standard(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(found.center, wanted.center)
    np.testing.assert_allclose(found.spread, wanted.spread)
    weighted = standard(X, 1e-200 * weights)
    np.testing.assert_allclose(weighted.spread, wanted.spread)


def test_float32_rows_are_standardised_in_double(rng):
    X = (1e5 + rng.normal(size=(30, 2))).astype(np.float32)
    found = standard(X)
    assert found.apply(X).dtype == np.float64
    np.testing.assert_allclose(found.undo(found.apply(X)), X, rtol=1e-14)


def test_rows_taken_and_joined(rng):
    rows = Rows(rng.normal(size=(6, 2)), rng.normal(size=(3, 6)), rng.random(6))
    first, second = rows.take(slice(2)), rows.take(np.array([2, 3, 4, 5]))
    assert (len(first), len(second)) == (2, 4)
    both = joined(first, second)
    for name in ("Z", "y", "weights"):
        np.testing.assert_array_equal(getattr(both, name), getattr(rows, name))
