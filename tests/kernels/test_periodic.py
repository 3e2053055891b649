"""The periodic kernel beyond its contract: periods, and the Gaussian that it is up close."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import ExpSineSquared

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF, Linear, Periodic


def test_is_that_of_scikit_learn_for_one_feature(rng):
    X, C = rng.normal(size=(20, 1)), rng.normal(size=(5, 1))
    period, length = 1.7, 0.8
    # exp(-2 sin²(π d / p) / l²), written with gamma (p / π)² for 2 / l².
    theirs = ExpSineSquared(length_scale=length, periodicity=period)(X, C)
    np.testing.assert_allclose(
        Periodic(gamma=2 * np.pi**2 / (length * period) ** 2, period=period)(X, C), theirs, rtol=1e-13
    )


def test_whole_periods_change_nothing(rng):
    X = rng.integers(-64, 64, size=(20, 2)) / 64
    period = np.array([0.5, 4.0])
    kernel = Periodic(gamma=[1.0, 2.0], period=period)
    np.testing.assert_allclose(kernel(X + period * [1e6, -3.0], X), kernel(X), rtol=1e-14)


def test_is_the_gaussian_up_close(rng):
    X = 1e-4 * rng.normal(size=(20, 2))
    gamma = 1e8
    np.testing.assert_allclose(Periodic(gamma=gamma, period=10.0)(X), RBF(gamma=gamma)(X), rtol=1e-6)


def test_zeros_of_sparse_rows_stay(rng):
    X = sp.random_array((30, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    rows = KernelAtoms(Periodic(gamma=0.3, period=1.5)).resolve(X).rows(X)
    assert rows.nnz == 2 * X.nnz
    assert rows.shape == (30, 80)


def test_periods_are_as_many_as_features(rng):
    with pytest.raises(ValueError, match="period has 3 numbers, but X has 2 features"):
        Periodic(gamma=1.0, period=[1.0, 2.0, 3.0])(rng.normal(size=(5, 2)))


def test_predicts_where_no_row_is(rng):
    x = np.sort(rng.uniform(0, 5, size=200))
    X, y = x[:, None], np.sin(2 * np.pi * x) ** 3 + 0.1 * x
    kernel = Periodic(gamma=20.0, period=1.0) + Linear(gamma=0.01)
    model = KernelPursuitRegressor(kernel=kernel, max_atoms=30, alpha=1e-8).fit(X, y)
    far = np.linspace(20.0, 21.0, 50)
    np.testing.assert_allclose(model.predict(far[:, None]), np.sin(2 * np.pi * far) ** 3 + 0.1 * far, atol=0.01)
