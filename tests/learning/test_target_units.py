"""Several targets are learned in units of their own, so that none counts for more than another."""

import numpy as np
import pytest
from short import short_regressor as regressor

from kernelpursuit.learning.observations import target_units
from kernelpursuit.stopping import Validation


@pytest.fixture(autouse=True)
def _short(short_plan):
    pass


@pytest.fixture(scope="module")
def two(some):
    X, y = some
    return X, np.column_stack([y, np.cos(2 * X[:, 1]) + 0.1 * np.random.default_rng(0).normal(size=len(y))])


@pytest.mark.parametrize(
    "settings", [{}, {"refine": True}, {"stop": "cv"}, {"truncate": "auto"}, {"fit_intercept": False}]
)
def test_units_do_not_matter(two, settings):
    X, Y = two
    factors = np.array([1.0, 2.0**20])
    one, other = regressor(**settings).fit(X, Y), regressor(**settings).fit(X, Y * factors)
    np.testing.assert_array_equal(other.predict(X), one.predict(X) * factors)
    np.testing.assert_array_equal(other.coef_, one.coef_ * factors[:, None])
    np.testing.assert_array_equal(other.intercept_, one.intercept_ * factors)
    np.testing.assert_array_equal(other.center_indices_, one.center_indices_)
    for mine, theirs in zip(other.predict_interval(X), one.predict_interval(X)):
        np.testing.assert_array_equal(mine, theirs * factors)
    np.testing.assert_array_equal(other.predict(X, return_std=True)[1], one.predict(X, return_std=True)[1] * factors)
    np.testing.assert_array_equal(other.path_.coef(3), one.path_.coef(3) * factors)
    np.testing.assert_array_equal(other.path_.loo, one.path_.loo)
    for mine, theirs in zip(other.staged_predict(X), one.staged_predict(X)):
        np.testing.assert_array_equal(mine, theirs * factors)


@pytest.mark.parametrize("factor", [1e6, 1e-9, 1e100])
def test_any_unit(two, factor):
    X, Y = two
    one, other = regressor().fit(X, Y), regressor().fit(X, Y * [1.0, factor])
    np.testing.assert_allclose(other.predict(X) / [1.0, factor], one.predict(X), rtol=1e-4, atol=1e-4)


def test_the_small_one_is_learned(two):
    X, Y = two
    fitted = regressor().fit(X, Y * [1e6, 1.0]).predict(X)
    for j, factor in enumerate((1e6, 1.0)):
        assert np.corrcoef(fitted[:, j], factor * Y[:, j])[0, 1] > 0.8


def test_predictions_are_near_the_targets_in_their_units(two):
    X, Y = two
    moved = Y * [1.0, 1e3] + [0.0, 5e4]
    model = regressor().fit(X, moved)
    assert np.abs(model.predict(X)[:, 1] / 1e3 - 50 - Y[:, 1]).mean() < 0.5
    lower, upper = model.predict_interval(X)
    assert np.mean((lower <= moved) & (moved <= upper)) > 0.7


def test_a_limit_is_in_the_units_of_the_targets(two):
    X, Y = two
    model = regressor(truncate=0.5).fit(X, Y * [1.0, 1e3])
    assert np.abs(model.predict(X)).max() == 0.5


def test_rows_of_a_rule_are_in_the_units_of_the_targets(two):
    X, Y = two
    factors = np.array([1.0, 2.0**10])
    errors = []
    for factor in (1.0, factors):
        rule = Validation(X=X[60:], y=(Y * factor)[60:])
        model = regressor(stop=rule).fit(X[:60], (Y * factor)[:60])
        np.testing.assert_allclose(
            regressor().fit(X[:60], (Y * factor)[:60]).select(rule).path_.validation[0], model.path_.validation[0]
        )
        errors.append(model.path_.validation)
    np.testing.assert_array_equal(*errors)


def test_units_of_one_target_alone_are_its_own(two):
    X, Y = two
    model = regressor().fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.predict(X)[:, 0], regressor().fit(X, Y[:, 0]).predict(X))


def test_constant_targets():
    Y = np.column_stack([np.full(30, 7.0), np.zeros(30), np.arange(30.0)])
    np.testing.assert_allclose(target_units(Y), [7.0, 1.0, np.arange(30.0).std()])


def test_a_constant_target_is_fitted(two):
    X, Y = two
    model = regressor().fit(X, np.column_stack([Y[:, 0], np.full(len(X), 1e6)]))
    np.testing.assert_allclose(model.predict(X)[:, 1], 1e6)
