"""What weights mean where something is learned: only their ratios count, and a row of weight 2 is the row twice."""

import numpy as np
import pytest
from plain import plain_regressor
from short import SHORT
from short import short_regressor as regressor
from sklearn.kernel_ridge import KernelRidge

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.learning.observations import observe
from kernelpursuit.stopping import CV, Validation

N = 90


def classifier(**params):
    return KernelPursuitClassifier(**{**SHORT, "max_atoms": 6, **params})


def said(model, X):
    """All that a model says of rows."""
    if isinstance(model, KernelPursuitClassifier):
        return np.column_stack([model.decision_function(X), model.predict_proba(X)])
    mean, std = model.predict(X, return_std=True)
    return np.column_stack([mean, std, *model.predict_interval(X)])


@pytest.fixture(autouse=True)
def _short(short_plan):
    pass


class TestUniformWeights:
    @pytest.mark.parametrize("weight", [1e-300, 1e-6, 1 / N, 0.3, 100.0, 1e30])
    def test_any_size_is_no_weights(self, some, weight):
        X, y = some
        np.testing.assert_array_equal(
            said(regressor().fit(X, y, np.full(N, weight)), X), said(regressor().fit(X, y), X)
        )

    @pytest.mark.parametrize(("weight", "multi_class"), [(1e-30, "shared"), (100.0, "ovr")])
    def test_any_size_is_no_weights_for_classes(self, some, weight, multi_class):
        X, labels = some[0], np.digitize(some[1], [0.0, 1.0])
        one, other = (
            classifier(multi_class=multi_class, max_atoms=4).fit(X, labels, w) for w in (None, np.full(N, weight))
        )
        np.testing.assert_array_equal(said(one, X), said(other, X))
        np.testing.assert_array_equal(one.center_indices_, other.center_indices_)

    @pytest.mark.parametrize("stop", [Validation(fraction=0.25), CV(folds=3), "max"])
    def test_for_every_rule(self, some, stop):
        X, y = some
        plain, weighted, copied = (
            regressor(stop=stop).fit(*data)
            for data in ((X, y), (X, y, np.full(N, 7.0)), (np.tile(X, (3, 1)), np.tile(y, 3)))
        )
        for other in (weighted, copied):
            np.testing.assert_array_equal(said(plain, X), said(other, X))

    def test_ratios_alone_count(self, some):
        X, y = some
        weights = np.linspace(0.5, 2.0, N)
        for factor in (1e-9, 300.0):
            np.testing.assert_allclose(
                said(regressor().fit(X, y, factor * weights), X), said(regressor().fit(X, y, weights), X), rtol=1e-6
            )

    def test_fewer_rows_than_can_be_learned_from(self, some):
        X, y = some[0][:12], some[1][:12]
        np.testing.assert_array_equal(said(regressor().fit(X, y, np.full(12, 50.0)), X), said(regressor().fit(X, y), X))


class TestCopies:
    @pytest.mark.parametrize("copies", [np.tile(np.arange(N), 100), np.repeat(np.arange(N), 5)])
    def test_every_row_many_times(self, some, copies):
        X, y = some
        one, many = regressor().fit(X, y), regressor().fit(X[copies], y[copies])
        np.testing.assert_array_equal(said(one, X), said(many, X))
        np.testing.assert_allclose(many.centers_, X[copies][many.center_indices_], rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("refine", [False, True])
    def test_a_row_of_weight_two_is_the_row_twice(self, some, refine):
        X, y = some
        weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
        twice = np.repeat(np.arange(N), weights.astype(int))
        weighted = regressor(refine=refine).fit(X, y, weights)
        copied = regressor(refine=refine).fit(X[twice], y[twice])
        np.testing.assert_array_equal(said(weighted, X), said(copied, X))
        np.testing.assert_array_equal(weighted.center_indices_, twice[copied.center_indices_])
        np.testing.assert_array_equal(weighted.path_.loo, copied.path_.loo)

    def test_classes_with_weights_and_copies(self, some):
        X, labels = some[0], some[1] > 0.5
        weights = np.where(np.arange(N) % 4 == 0, 2.0, 1.0)
        twice = np.repeat(np.arange(N), weights.astype(int))
        weighted, copied = classifier(class_weight={True: 3.0}), classifier(class_weight={True: 3.0})
        weighted.fit(X, labels, weights)
        copied.fit(X[twice], labels[twice])
        np.testing.assert_allclose(said(weighted, X), said(copied, X), rtol=1e-9, atol=1e-12)

    def test_all_copies_of_a_row_are_left_out_together(self, some):
        X, y = some
        weights = np.where(np.arange(N) < 30, 5.0, 1.0)
        model = regressor(stop="max").fit(X, y, weights)
        k, scaled = 5, weights / weights.mean()
        small = model.at(k)
        K = np.column_stack([np.ones(N), small.model_.values(X, small.model_.kept).T])
        penalty = np.zeros((k + 1, k + 1))
        penalty[1:, 1:] = N * model.alpha_ * model.kernel_(small.centers_, small.centers_)
        errors = []
        for i in range(N):
            without = np.where(np.arange(N) == i, 0.0, scaled)
            coef = np.linalg.solve(K.T * without @ K + penalty, K.T @ (without * y))
            errors.append(y[i] - K[i] @ coef)
        assert model.path_.loo[k] == pytest.approx(np.average(np.square(errors), weights=weights), rel=1e-6)

    @pytest.mark.parametrize("stop", ["cv", "validation"])
    def test_copies_are_in_one_fold(self, some, stop):
        """A copy that stayed would tell of the other: errors would be smaller than those of one copy each."""
        X, y = some
        copies = np.repeat(np.arange(N), np.where(np.arange(N) % 2, 3, 2))
        weighted = regressor(stop=stop).fit(X, y, np.bincount(copies).astype(float))
        copied = regressor(stop=stop).fit(X[copies], y[copies])
        np.testing.assert_allclose(getattr(weighted.path_, stop), getattr(copied.path_, stop), rtol=1e-6)


class TestTables:
    """Equal rows of categories are observations of their own."""

    @pytest.fixture(scope="class")
    @staticmethod
    def table():
        rng = np.random.default_rng(3)
        X = rng.integers(0, 2, size=(400, 5)).astype(float)
        return X, (X[:, 0] + X[:, 1] + rng.normal(size=400) > 1).astype(float)

    def test_are_counted(self, table):
        X, y = table
        seen = observe(X, y[:, None], None, None, squared=False, bears_outliers=True)
        assert len(seen.y) < 65
        assert seen.weights.sum() == 400
        assert seen.counts is None, "each row was seen as often as its weight says"

    @pytest.mark.parametrize("times", [1, 7])
    @pytest.mark.parametrize("weight", [1e-9, 0.3, 12.0])
    def test_uniform_weights_and_copies_of_all_are_nothing(self, table, times, weight):
        X, y = table
        one = observe(X, y[:, None], None, None, squared=False, bears_outliers=True)
        X, y = np.tile(X, (times, 1)), np.tile(y, times)
        other = observe(X, y[:, None], np.full(len(y), weight), None, squared=False, bears_outliers=True)
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.X, other.X)

    def test_weights_that_are_no_counts(self, table):
        X, y = table
        weights = np.random.default_rng(0).uniform(0.1, 3.0, 400)
        seen = observe(X, y[:, None], weights, None, squared=False, bears_outliers=True)
        assert seen.counts.sum() == 400
        assert seen.weights.sum() == pytest.approx(400)
        assert not np.allclose(seen.weights, seen.counts)

    def test_real_numbers_that_repeat_with_other_labels(self):
        rng = np.random.default_rng(0)
        age = rng.integers(20, 90, size=(2000, 1)).astype(float)
        labels = (rng.normal(size=2000) > 0).astype(float)[:, None]
        assert observe(age, labels, None, None, squared=False, bears_outliers=True).weights.sum() == 2000

    def test_numbers_with_a_real_target_are_copies(self, rng):
        X, y = rng.integers(0, 2, size=(50, 3)).astype(float), rng.normal(size=50)
        some_twice = np.append(np.arange(50), [3, 4, 4])
        seen = observe(X[some_twice], y[some_twice, None], None, None, squared=True, bears_outliers=True)
        assert len(seen.y) == 50
        assert seen.counts.tolist() == [1.0] * 50
        assert seen.weights.mean() == pytest.approx(1.0)
        assert seen.weights[4] == pytest.approx(3 * seen.weights[0])

    def test_a_model_of_them(self, table):
        X, y = table
        one, other = (classifier().fit(X, y, w) for w in (None, np.full(400, 100.0)))
        np.testing.assert_array_equal(said(one, X), said(other, X))
        assert one.score(X, y) > 0.65


class TestUnequalWeights:
    def test_six_orders_of_magnitude(self):
        rng = np.random.default_rng(5)
        X = rng.uniform(-2, 2, size=(400, 1))
        y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
        weights = 10 ** rng.uniform(-6, 0, size=400)
        model = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y, weights)
        grid = np.linspace(-1.8, 1.8, 50)[:, None]
        ridge = KernelRidge(kernel="rbf", gamma=1.0, alpha=1e-2).fit(X, y, weights / weights.mean())
        assert np.sqrt(np.mean(np.square(model.predict(grid) - ridge.predict(grid)))) < 0.15
        lower, upper = model.predict_interval(grid)
        assert np.isfinite([lower, upper, model.predict(grid, return_std=True)[1]]).all()
        assert 0.2 < np.mean(upper - lower) < 1.0, "1.64 times twice the noise is 0.33"

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize(
        "weights",
        [
            np.where(np.arange(N) % 2, 1e300, 1e-300),
            np.where(np.arange(N) == 3, 1e300, 1.0),
            np.where(np.arange(N) == 3, 0.0, 1e-308),
            np.full(N, 1.7e308),
        ],
    )
    def test_extremes_are_no_matter(self, some, weights):
        """The intercept sees to it that fitted values have the weighted mean of the targets."""
        X, y = some
        labels, share = y > 0.5, weights / weights.max()
        for settings in ({}, {"gamma": 0.5}, {"loss": "huber", "gamma": 0.5}):
            f = regressor(**settings).fit(X, y, weights).predict(X)
            assert np.abs(f).max() <= 2 * np.abs(y).max(), settings
            if "loss" not in settings:
                assert np.average(f, weights=share) == pytest.approx(np.average(y, weights=share), abs=1e-5), settings
        for settings in ({"gamma": 0.5}, {"gamma": 0.5, "class_weight": "balanced"}):
            p = classifier(**settings).fit(X, labels, weights).predict_proba(X)[:, 1]
            of_class = np.where(labels, 1 / share[labels].sum(), 1 / share[~labels].sum())
            given = share * of_class if "class_weight" in settings else share
            assert np.average(p, weights=given) == pytest.approx(np.average(labels, weights=given), abs=1e-4), settings


class TestNothingLearned:
    """Weights are counts there, but what a row of weight below one says of noise has no unit."""

    @pytest.mark.parametrize("weight", [1.0 / N, 1e-6, 1e-20])
    def test_noise_has_no_unit_of_weights(self, some, weight):
        X, y = some
        # The same model: weights and penalty in proportion.
        one = plain_regressor(gamma=0.5, alpha=1e-2, max_atoms=8, stop="max").fit(X, y)
        other = plain_regressor(gamma=0.5, alpha=1e-2 * weight, max_atoms=8, stop="max").fit(X, y, np.full(N, weight))
        np.testing.assert_allclose(said(one, X), said(other, X), rtol=1e-6)

    def test_weights_above_one_are_counts(self, some):
        X, y = some
        one = plain_regressor(gamma=0.5, alpha=0.3, max_atoms=8, stop="max").fit(X, y, np.full(N, 3.0))
        other = plain_regressor(gamma=0.5, alpha=0.3, max_atoms=8, stop="max").fit(np.tile(X, (3, 1)), np.tile(y, 3))
        np.testing.assert_allclose(said(one, X), said(other, X), rtol=1e-6)
