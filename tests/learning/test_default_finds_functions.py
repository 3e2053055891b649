"""The default on functions that one start of the scales would miss, and beside models that are simpler.

A small version of `make bench-battery`: errors are root mean squared distances to the function without noise, over its
spread.
"""

import warnings

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.exceptions import ConstantModelWarning


def fast_among_ten(X):
    return np.sin(14 * X[:, 4]) + X[:, 0] + np.square(X[:, 1]) + X[:, 2]


# Function, rows, features, noise, and what the error may be; a constant has 1.
FUNCTIONS = {
    "10 periods on 300 rows": (lambda X: np.sin(20 * np.pi * X[:, 0]), 300, 1, 0.1, 0.12),
    "32 periods on 500 rows": (lambda X: np.sin(64 * np.pi * X[:, 0]), 500, 1, 0.1, 0.2),
    "60 periods on 500 rows": (lambda X: np.sin(120 * np.pi * X[:, 0]), 500, 1, 0.1, 0.4),
    "three periods on 30 rows": (lambda X: np.sin(6 * np.pi * X[:, 0]), 30, 1, 0.1, 0.6),
    "one fast feature among ten": (fast_among_ten, 800, 10, 0.1, 0.1),
    "a wave on a trend": (lambda X: 30 * X[:, 0] + np.sin(200 * X[:, 0]), 500, 1, 0.1, 0.06),
    "two scales": (lambda X: np.sin(6 * X[:, 0]) + 0.3 * np.sin(120 * X[:, 0]), 600, 1, 0.05, 0.08),
    "a ring": (lambda X: np.cos(12 * np.square(2 * X - 1).sum(axis=1)), 800, 2, 0.1, 0.4),
    "a difference": (lambda X: np.sin(15 * (X[:, 0] - X[:, 1])), 400, 2, 0.1, 0.25),
    "a straight line of twenty features": (lambda X: X @ np.linspace(-1, 1, 20), 200, 20, 0.2, 0.2),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_default_finds_it(name, seed):
    function, n, d, noise, most = FUNCTIONS[name]
    rng = np.random.default_rng([seed, 99])
    X, X_new = rng.uniform(size=(n, d)), rng.uniform(size=(1000, d))
    model = KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X, function(X) + noise * rng.normal(size=n))
    f = function(X_new)
    assert np.sqrt(np.mean(np.square(model.predict(X_new) - f))) / f.std() < most


def checkerboard(X):
    return np.sin(4 * np.pi * X[:, 0]) * np.sin(4 * np.pi * X[:, 1]) > 0


def spiral(X):
    x, y = (2 * X - 1).T
    return np.sin(np.arctan2(y, x) + 9 * np.hypot(x, y)) > 0


@pytest.mark.parametrize(("boundary", "most"), [(checkerboard, 0.12), (spiral, 0.12)])
@pytest.mark.parametrize("seed", range(2))
def test_of_classes_too(boundary, most, seed):
    rng = np.random.default_rng([seed, 98])
    X, X_new = rng.uniform(size=(800, 2)), rng.uniform(size=(1000, 2))
    model = KernelPursuitClassifier(random_state=seed, n_jobs=1).fit(X, boundary(X))
    assert np.mean(model.predict(X_new) != boundary(X_new)) < most


# Functions of the first of two features that have unlike units, and the median of the squared error over the variance.
FEW_ROWS = {"a line": (lambda x: x, 0.05), "a wave": (lambda x: np.sin(2 * x), 0.35), "a parabola": (np.square, 0.4)}


@pytest.mark.parametrize("name", FEW_ROWS)
@pytest.mark.parametrize("n", [12, 15, 19])
def test_of_very_few_rows(name, n):
    function, most = FEW_ROWS[name]
    found, is_inside = [], []
    for seed in range(6):
        rng = np.random.default_rng([seed, 97])
        X = rng.normal(size=(n + 500, 2))
        y = function(X[:, 0])
        y = y + 0.1 * y.std() * rng.normal(size=n + 500)
        X = X * [0.01, 1000.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantModelWarning)  # of one draw or another
            model = KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X[:n], y[:n])
        found.append(np.mean(np.square(model.predict(X[n:]) - y[n:])) / np.var(y[n:]))
        low, high = model.predict_interval(X[n:])
        is_inside.append(np.mean((low <= y[n:]) & (y[n:] <= high)))
    assert np.median(found) < most
    assert np.mean(is_inside) > 0.75


class TestNeverWorseThanTheSimple:
    def test_a_line_is_a_line(self, rng):
        X = rng.normal(size=(60, 5))
        y = X @ np.arange(1.0, 6.0) + 0.5 * rng.normal(size=60)
        model = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y)
        assert model.n_atoms_ == 0
        assert "straight line" in model.stop_reason_
        assert model.fixed_coef_.shape == (5,)
        X_new = rng.normal(size=(500, 5))
        assert np.sqrt(np.mean(np.square(model.predict(X_new) - X_new @ np.arange(1.0, 6.0)))) < 0.5

    @pytest.mark.parametrize(("n", "d"), [(60, 100), (400, 10), (150, 3)])
    def test_noise_is_a_constant_and_said_to_be(self, n, d):
        worst = 0.0
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(n, d)), rng.normal(size=n)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                model = KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X, y)
            if model.n_atoms_ == 0 and model.fixed_coef_.size == 0:
                assert [warning.category for warning in said] == [ConstantModelWarning]
                assert "constant" in str(said[0].message)
                assert "a constant" in model.stop_reason_
            worst = max(worst, float(np.mean(np.square(model.predict(rng.normal(size=(500, d)))))))
        assert worst < 0.3, "the variance of what a model of pure noise predicts"

    def test_a_rule_of_your_own_is_followed(self, rng):
        X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
        assert KernelPursuitRegressor(stop="max", max_atoms=4, random_state=0, n_jobs=1).fit(X, y).n_atoms_ == 4

    def test_labels_of_noise(self, rng):
        X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, size=300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantModelWarning)
            model = KernelPursuitClassifier(random_state=0, n_jobs=1).fit(X, y)
        assert np.abs(model.predict_proba(rng.normal(size=(200, 4)))[:, 1] - 0.5).max() < 0.35


class TestTrend:
    def test_on_request_it_goes_on_outside(self, rng):
        t = np.arange(200.0)[:, None]
        y = 0.5 * t[:, 0] + np.sin(t[:, 0] / 5) + 0.1 * rng.normal(size=200)
        model = KernelPursuitRegressor(trend="linear", random_state=0, n_jobs=1).fit(t, y)
        assert model.predict([[2000.0]])[0] == pytest.approx(1000.0, rel=0.05)
        found = KernelPursuitRegressor(trend="auto", random_state=0, n_jobs=1).fit(t, y)
        assert y.min() - np.ptp(y) <= found.predict([[2000.0]])[0] <= y.max() + np.ptp(y)
        without = KernelPursuitRegressor(trend=None, random_state=0, n_jobs=1).fit(t, y)
        assert without.fixed_coef_.size == 0
        assert without.predict([[2000.0]])[0] == pytest.approx(y.mean(), rel=1e-6)

    def test_collinear_and_constant_features_are_no_obstacle(self, rng):
        X = rng.normal(size=(120, 2))
        X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(120, 3.0), (np.arange(120) == 5).astype(float)])
        y = X[:, 0] + 2 * X[:, 1] + 0.1 * rng.normal(size=120)
        model = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y)
        assert model.score(X, y) > 0.98

    def test_with_a_given_gamma_it_is_a_semi_parametric_model(self, rng):
        X = rng.normal(size=(80, 2))
        y = 3 * X[:, 0] + np.sin(2 * X[:, 1])
        model = KernelPursuitRegressor(trend="linear", gamma=1.0, max_atoms=10).fit(X, y)
        assert model.fixed_coef_.shape == (2,)
        assert KernelPursuitRegressor(gamma=1.0, max_atoms=10).fit(X, y).fixed_coef_.size == 0

    @pytest.mark.parametrize("trend", ["linaer", True, 1])
    def test_other_values_are_refused(self, rng, trend):
        with pytest.raises(ValueError, match="trend="):
            KernelPursuitRegressor(trend=trend).fit(rng.normal(size=(30, 2)), rng.normal(size=30))

    def test_precomputed_columns_have_no_line(self, rng):
        with pytest.raises(ValueError, match="trend='linear' needs rows"):
            KernelPursuitRegressor(trend="linear", kernel="precomputed").fit(rng.normal(size=(30, 5)), np.arange(30.0))

    def test_of_classes(self, rng):
        X = rng.normal(size=(300, 4))
        y = X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * rng.normal(size=300) > 0
        model = KernelPursuitClassifier(trend="linear", random_state=0, n_jobs=1).fit(X, y)
        assert model.fixed_coef_.shape == (1, 4)
        X_new = rng.normal(size=(500, 4))
        assert model.score(X_new, X_new @ [2.0, -1.0, 0.5, 0.0] > 0) > 0.93
