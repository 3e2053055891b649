"""A straight line as a dictionary, by itself and always in."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Always, LinearTrend


@pytest.fixture
def X(rng):
    return np.column_stack([rng.normal(5.0, 3.0, size=40), np.full(40, 7.0), rng.uniform(size=40)])


def test_values_are_standardised_features(X):
    line = LinearTrend().resolve(X)
    values = line.block(X, np.arange(line.n_atoms))
    assert values.shape == (2, 40)
    np.testing.assert_allclose(values.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(values.std(axis=1), 1.0)


def test_of_sparse_rows_too(X):
    line = LinearTrend().resolve(X)
    np.testing.assert_allclose(line.block(sp.csr_array(X), [0, 1]), line.block(X, [0, 1]))
    with pytest.raises(ValueError, match="trend='linear' needs dense rows"):
        LinearTrend().resolve(sp.csr_array(X))


def test_sums_of_others_are_left_out(X):
    assert LinearTrend().resolve(np.column_stack([X, X[:, 0] + X[:, 2]])).n_atoms == 2


def test_more_features_than_rows_are_refused(rng):
    with pytest.raises(ValueError, match="trend='linear' needs more rows"):
        LinearTrend().resolve(rng.normal(size=(10, 12)))


def test_weights_count(X):
    weights = np.where(np.arange(40) < 20, 0.0, 1.0)
    np.testing.assert_allclose(LinearTrend().resolve(X, weights=weights).center, X[20:].mean(axis=0))


def test_before_it_has_seen_rows_it_has_no_atoms():
    with pytest.raises(ValueError, match="before it has seen rows"):
        _ = LinearTrend().n_atoms


def test_always_in_it_is_a_linear_model(rng):
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0] + 4.0
    model = KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=1.0, max_atoms=3, stop="max").fit(X, y)
    far = 100 + 10 * rng.normal(size=(5, 3))
    np.testing.assert_allclose(model.predict(far), far @ [1.0, 2.0, 3.0] + 4.0, rtol=1e-6)
