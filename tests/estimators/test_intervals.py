"""`predict_interval`: quantiles of leave-one-out errors with one row more, and the part of new targets held."""

import re
from dataclasses import replace

import numpy as np
import pytest
from made_paths import make_path
from oracles import refit
from plain import plain_regressor

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.pursuit.path import LEVELS

ALPHA = 0.05


def left_out(model, X, Y, weights, k, penalty=ALPHA):
    """Absolute errors, shape (n_rows, n_targets), of the first k atoms refitted without one unit of each row."""
    part = model.at(k)
    atoms = part.model_.kept.block(part.model_.kept.rows(X), np.arange(k)).T if k else np.zeros((len(X), 0))
    columns = np.hstack([np.ones((len(X), 1)), atoms])
    L = penalty * np.diag(np.r_[0.0, np.ones(k)])
    errors = np.empty_like(Y)
    for i in range(len(X)):
        without = weights.copy()
        without[i] -= min(1.0, weights[i])
        errors[i] = np.abs(Y[i] - columns[i] @ refit(columns, Y, L, without))
    return errors


def conformal(errors, level):
    """The error that this part of the rows, and of one more that has a larger one, stays below; the largest at most."""
    ascending = np.sort(errors)
    rank = int(np.ceil(level * (len(errors) + 1) - 1e-9))
    return ascending[min(max(rank, 1), len(errors)) - 1]


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(22, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.normal(size=(22, 2))
    return X, Y


@pytest.fixture(scope="module")
def fitted(few):
    X, Y = few
    return plain_regressor(gamma=0.5, alpha=ALPHA, max_atoms=5, stop="max").fit(X, Y[:, 0])


@pytest.fixture(scope="module")
def many():
    """Noise of one size, rows to fit and many to predict."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-2, 2, size=(6000, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=6000)
    return X[:1000], y[:1000], X[1000:], y[1000:]


class TestQuantiles:
    def test_of_errors_of_rows_left_out(self, few):
        X, Y = few
        model = plain_regressor(gamma=0.5, alpha=ALPHA, max_atoms=4, stop="max").fit(X, Y)
        for k in range(5):
            errors = left_out(model, X, Y, np.ones(len(X)), k)
            for level in LEVELS[::3]:
                wanted = [conformal(column, level) for column in errors.T]
                np.testing.assert_allclose(model.path_.half_width(k, level), wanted, rtol=1e-8)

    @pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
    def test_intervals_are_the_prediction_and_as_much_on_both_sides(self, few, coverage):
        X, Y = few
        model = plain_regressor(gamma=0.5, alpha=ALPHA, max_atoms=4, stop="max").fit(X, Y[:, 0])
        half = conformal(left_out(model, X, Y[:, :1], np.ones(len(X)), 4)[:, 0], coverage)
        lower, upper = model.predict_interval(X, coverage)
        assert lower.shape == upper.shape == (len(X),)
        np.testing.assert_allclose(lower, model.predict(X) - half, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(upper, model.predict(X) + half, rtol=1e-9, atol=1e-9)

    def test_of_rows_that_weigh_more(self, few):
        """A row of weight 2 is two rows, each with the error of one of them left out."""
        X, Y = few
        weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
        model = plain_regressor(gamma=0.5, alpha=ALPHA, max_atoms=3, stop="max").fit(X, Y, weights)
        errors = np.repeat(left_out(model, X, Y, weights, 3), weights.astype(int), axis=0)
        for level in (0.1, 0.5, 0.8, 0.9):
            wanted = [conformal(column, level) for column in errors.T]
            np.testing.assert_allclose(model.path_.half_width(3, level), wanted, rtol=1e-8)

    def test_between_the_levels_of_a_path_made_by_hand(self):
        quantiles = np.stack([np.column_stack([LEVELS, 10 * LEVELS]), np.column_stack([LEVELS**2, 1 + LEVELS])])
        path = replace(make_path([[2.0, 1.0], [1.0, 1.0]]), loo_quantiles=quantiles)
        np.testing.assert_allclose(path.half_width(0, 0.333), [0.333, 3.33])
        np.testing.assert_allclose(path.half_width(1, 0.9), [0.81, 1.9])
        between = path.half_width(1, 0.51)[0]
        assert 0.5**2 < between < 0.525**2

    def test_of_a_path_without_them(self):
        with pytest.raises(ValueError, match="leave-one-out"):
            make_path([2.0, 1.0]).half_width(0, 0.9)
        path = replace(make_path([2.0, 1.0]), loo_quantiles=np.ones((2, len(LEVELS), 1)))
        with pytest.raises(ValueError, match="not on the path"):
            path.half_width(2, 0.9)

    def test_where_atoms_were_refined_only_validation_rows_count(self, some):
        X, y = some
        settings = {"kernel": "rbf", "max_atoms": 6, "stop": "max", "random_state": 0}
        assert KernelPursuitRegressor(**settings).fit(X, y)._state.resolved.learned.is_validation is None
        model = KernelPursuitRegressor(refine=True, **settings).fit(X, y)
        is_validation = model._state.resolved.learned.is_validation
        assert is_validation.sum() == int(0.2 * len(X))
        assert not is_validation[model.center_indices_].any()
        k = model.n_atoms_
        errors = left_out(model, X, y[:, None], np.ones(len(X)), k, model.alpha_)[is_validation, 0]
        for level in (0.25, 0.5, 0.75, 0.9):
            np.testing.assert_allclose(model.path_.half_width(k, level), [conformal(errors, level)], rtol=1e-4)

    def test_with_a_nugget(self, few):
        X, Y = few
        model = plain_regressor(gamma=0.5, penalty="nugget", alpha=0.1, max_atoms=4, stop="max").fit(X, Y)
        lower, upper = model.predict_interval(X, 0.8)
        assert (lower < upper).all()
        assert ((lower <= Y) & (upper >= Y)).mean() > 0.7

    def test_of_more_rows_than_calibrate(self, rng):
        X = rng.normal(size=(4500, 1))
        y = rng.normal(size=4500)
        model = plain_regressor(gamma=0.1, max_atoms=1, stop="max").fit(X, y)
        assert model.path_.half_width(1, 0.9)[0] == pytest.approx(1.645, rel=0.06)

    def test_where_rows_are_interpolated_they_are_without_bound(self):
        X = 10.0 * np.arange(6)[:, None]
        y = np.array([1.0, -1.0, 2.0, 0.0, 5.0, 1.0])
        model = plain_regressor(gamma=5.0, penalty=None, fit_intercept=False, max_atoms=6, stop="max").fit(X, y)
        for coverage in (0.5, 0.51, 0.9):
            lower, upper = model.predict_interval(X, coverage)
            assert (lower == -np.inf).all()
            assert (upper == np.inf).all()


class TestCoverage:
    @pytest.mark.parametrize(
        "settings",
        [{}, {"kernel": "rbf", "gamma": 0.5, "max_atoms": 15}, {"kernel": "rbf", "gamma": 0.5, "max_atoms": 3}],
        ids=["default", "few atoms", "too few atoms"],
    )
    def test_of_new_targets(self, many, settings):
        X, y, fresh, wanted = many
        model = KernelPursuitRegressor(random_state=0, **settings).fit(X, y)
        # Two standard errors of a quantile, of all rows or of the fifth that is held back.
        n_calibrating = len(X) if settings else 0.2 * len(X)
        for coverage in (0.5, 0.8, 0.9, 0.95):
            lower, upper = model.predict_interval(fresh, coverage)
            within = max(0.03, 2 * np.sqrt(coverage * (1 - coverage) / n_calibrating))
            assert np.mean((lower <= wanted) & (wanted <= upper)) == pytest.approx(coverage, abs=within)

    def test_of_rows_that_weigh_differently(self, many):
        X, y, fresh, wanted = many
        weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
        model = plain_regressor(gamma=0.5, max_atoms=15).fit(X, y, weights)
        lower, upper = model.predict_interval(fresh, 0.9)
        assert np.mean((lower <= wanted) & (wanted <= upper)) == pytest.approx(0.9, abs=0.04)

    def test_a_target_each(self, many):
        X, y, fresh, wanted = many
        noise = np.random.default_rng(1).normal(size=6000)
        Y, Y_fresh = np.column_stack([y, 10 * noise[:1000]]), np.column_stack([wanted, 10 * noise[1000:]])
        model = plain_regressor(gamma=0.5, max_atoms=15).fit(X, Y)
        lower, upper = model.predict_interval(fresh)
        assert lower.shape == upper.shape == Y_fresh.shape
        np.testing.assert_allclose(np.mean((lower <= Y_fresh) & (Y_fresh <= upper), axis=0), 0.9, atol=0.04)
        width = (upper - lower)[0]
        assert width[1] > 5 * width[0]


class TestAnswers:
    def test_wider_for_more(self, fitted, few):
        X, _ = few
        widths = [np.diff(fitted.predict_interval(X[:1], c), axis=0)[0, 0] for c in np.linspace(0.001, 0.9995, 60)]
        assert (np.diff(widths) >= 0).all()
        assert widths[-1] > 2 * widths[10] > 0

    def test_models_on_the_path_have_widths_of_their_own(self, fitted, few):
        X, _ = few
        widths = []
        for k in range(6):
            lower, upper = fitted.at(k).predict_interval(X, 0.5)
            np.testing.assert_allclose((lower + upper) / 2, fitted.at(k).predict(X), atol=1e-12)
            widths.append(upper[0] - lower[0])
        assert len(set(widths)) == 6
        assert fitted.select("loo").predict_interval(X)[0].shape == (len(X),)

    def test_shapes_and_types(self, few):
        X, Y = few
        for y in (Y[:, 0], Y[:, :1], Y):
            model = plain_regressor(gamma=0.5, max_atoms=3).fit(X, y)
            for bound in model.predict_interval(X[:4]):
                assert bound.shape == (4, *y.shape[1:])
                assert bound.dtype == np.float64
            for bound in model.predict_interval(X[:4].astype(np.float32)):
                assert bound.dtype == np.float32

    def test_nine_tenths_unless_told(self, fitted, few):
        X, _ = few
        np.testing.assert_array_equal(fitted.predict_interval(X), fitted.predict_interval(X, 0.9))
        np.testing.assert_array_equal(fitted.predict_interval(X), fitted.predict_interval(X, coverage=np.float64(0.9)))

    @pytest.mark.parametrize("coverage", [0, 0.0, 1, 1.0, 1.5, -0.1, "a", np.nan, np.inf, None, True, [0.5]])
    def test_refuses_what_is_no_coverage(self, fitted, few, coverage):
        with pytest.raises(ValueError, match=rf"^coverage={re.escape(repr(coverage))} [^\n]*above 0[^\n]*\.$"):
            fitted.predict_interval(few[0], coverage)

    @pytest.mark.parametrize(
        "settings", [{"loss": "huber"}, {"loss": "quantile"}, {"update": "stagewise"}, {"update": "rescale"}]
    )
    def test_refuses_fits_without_leave_one_out_errors(self, few, settings):
        X, Y = few
        model = plain_regressor(max_atoms=3, stop="max", **settings).fit(X, Y[:, 0])
        with pytest.raises(ValueError, match=r"^Intervals need [^.\n]*loss='squared'[^.\n]*update='orthogonal'\.$"):
            model.predict_interval(X)

    def test_refuses_rows_of_other_features(self, fitted, few):
        with pytest.raises(ValueError, match="features"):
            fitted.predict_interval(few[0][:, :1])

    def test_scale_with_the_targets(self, few):
        X, Y = few
        settings = {"gamma": 0.5, "alpha": ALPHA, "max_atoms": 5, "stop": "max"}
        one = plain_regressor(**settings).fit(X, Y[:, 0]).predict_interval(X)
        other = plain_regressor(**settings).fit(X, 2.0**-200 * Y[:, 0]).predict_interval(X)
        np.testing.assert_allclose(np.array(other) * 2.0**200, one, rtol=1e-12)

    def test_longer_paths_keep_their_widths(self, few):
        """A path that goes on from a shorter one has the quantiles that one fit would have."""
        X, Y = few
        model = plain_regressor(gamma=0.5, max_atoms=3, stop="max", warm_start=True).fit(X, Y[:, 0])
        model.set_params(max_atoms=6).fit(X, Y[:, 0])
        whole = plain_regressor(gamma=0.5, max_atoms=6, stop="max").fit(X, Y[:, 0])
        np.testing.assert_allclose(model.path_.loo_quantiles, whole.path_.loo_quantiles, rtol=1e-9)

    def test_of_atoms_picked_at_random(self, few):
        X, Y = few
        lower, upper = plain_regressor(max_atoms=3, selection="random", random_state=0).fit(X, Y).predict_interval(X)
        assert (lower < upper).all()
