"""Values that are taken for errors do not decide a model, and are named; heavy tails are none."""

import re

import numpy as np
import pandas as pd
import pytest
from folding import every_case
from short import SHORT
from short import short_regressor as regressor

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.exceptions import GrossErrorWarning
from kernelpursuit.learning.gross_errors import gross_errors
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Observed, Target
from kernelpursuit.learning.sample import Standard

SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far from zero": lambda rng, n: 1e9 + rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "lognormal of spread 2": lambda rng, n: rng.lognormal(sigma=2, size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n),
    "one in a hundred": lambda rng, n: (rng.random(n) < 0.01).astype(float),
    "one alone": lambda rng, n: (np.arange(n) == 7).astype(float),
    "counts": lambda rng, n: rng.poisson(0.5, n).astype(float),
    "counts of wide spread": lambda rng, n: rng.negative_binomial(0.2, 0.02, n).astype(float),
    "mostly zero": lambda rng, n: rng.lognormal(sigma=2, size=n) * (rng.random(n) < 0.1),
    "two groups": lambda rng, n: rng.normal(size=n) + 1000.0 * (rng.random(n) < 0.5),
    "up to 999": lambda rng, n: rng.integers(0, 1000, n).astype(float),
    "constant": lambda rng, n: np.full(n, 3.0),
}


class TestFound:
    @every_case("shape", SHAPES)
    @every_case("n", [19, 25, 100, 1000, 5000])
    def test_usual_shapes_have_none(self, shape, n):
        rng = np.random.default_rng(n)
        assert not any(gross_errors(SHAPES[shape](rng, n)).any() for _ in range(20))

    @every_case(
        "wild",
        [[1e6], [-1e6], [-999.0], [1e300], [1e6, 3e6], [1e6, -1e6], [1e12, 1e6, -999.0], [200.0], [-999.0] * 40],
        ids=str,
    )
    @every_case("size", [1.0, 1e-200, 1e200])
    def test_wild_ones_are_found(self, rng, wild, size):
        values = rng.normal(size=309)
        values[50 : 50 + len(wild)] = wild
        if size != 1 and (-999.0 in wild or max(wild) > 1e100):
            size = 1.0
        np.testing.assert_array_equal(np.flatnonzero(gross_errors(values * size)), np.arange(50, 50 + len(wild)))

    def test_a_code_among_two_values(self, rng):
        values = rng.integers(0, 2, 100).astype(float)
        values[[3, 8]] = 999.0
        assert np.flatnonzero(gross_errors(values)).tolist() == [3, 8]

    def test_spread_is_that_of_the_others(self, rng):
        X = rng.normal(size=(200, 2))
        spoiled = X.copy()
        spoiled[5, 1] = 1e300
        wanted = Standard.of(np.delete(X, 5, axis=0), np.ones(199))
        found = Standard.of(spoiled, np.ones(200))
        assert found.spread[1] == pytest.approx(wanted.spread[1])
        assert found.center[1] == pytest.approx(wanted.center[1])
        assert found.spread[0] == pytest.approx(X[:, 0].std())


@pytest.mark.usefixtures("short_plan")
class TestInAFit:
    @pytest.mark.parametrize("value", [1e6, -999.0, 1e12])
    def test_a_wild_target_is_left_out(self, some, value):
        X, y = some
        spoiled = np.array(y)
        spoiled[4] = value
        with pytest.warns(
            GrossErrorWarning, match=rf"^y holds a value [^\n]*{re.escape(f'{value:g}')} in row 4; .*huber"
        ):
            model = regressor().fit(X, spoiled)
        without = regressor().fit(np.delete(X, 4, axis=0), np.delete(y, 4))
        np.testing.assert_array_equal(model.predict(X), without.predict(X))
        np.testing.assert_array_equal(model.predict_interval(X), without.predict_interval(X))
        np.testing.assert_allclose(model.centers_, X[model.center_indices_], rtol=1e-12, atol=1e-14)

    def test_rows_and_columns_are_named(self, some):
        X, y = some
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        frame.loc[[7, 30, 31, 60], "b"] = -999.0
        with pytest.warns(GrossErrorWarning) as said:
            regressor().fit(frame, y)
        words = str(said[0].message)
        assert words.startswith("X holds 4 values far from all others: -999 in feature 'b', row 7, ")
        assert "row 31, ...;" in words
        assert "row 60" not in words

    def test_rows_have_the_numbers_that_were_given(self, some):
        X, y = np.tile(some[0], (2, 1)), np.tile(some[1], 2)
        y[100] = 1e7
        with pytest.warns(GrossErrorWarning, match="row 100;"):
            regressor().fit(X, y, np.where(np.arange(180) < 5, 0.0, 1.0))

    @pytest.mark.parametrize("value", [1e6, -999.0, 1e300])
    def test_a_wild_feature(self, some, value):
        X, y = some
        spoiled = np.array(X)
        spoiled[4, 1] = value
        with pytest.warns(GrossErrorWarning, match=r"^X holds a value [^\n]*in feature 1, row 4; "):
            model = regressor().fit(spoiled, y)
        kept = np.arange(90) != 4
        clean = regressor().fit(X[kept], y[kept])
        errors = [np.mean(np.square(one.predict(X[kept]) - y[kept])) for one in (model, clean)]
        assert errors[0] < 2 * errors[1] + 0.02

    def test_a_wild_feature_of_classes(self, some):
        X, labels = np.array(some[0]), some[1] > 0.5
        X[4, 1] = 1e9
        with pytest.warns(GrossErrorWarning, match="feature 1, row 4"):
            model = KernelPursuitClassifier(**SHORT).fit(X, labels)
        assert model.score(some[0], labels) > 0.8

    def test_losses_that_bear_outliers_see_them(self, some):
        X, y = some
        spoiled = np.array(y)
        spoiled[4] = 1e6
        assert np.abs(regressor(loss="huber").fit(X, spoiled).predict(X)).max() < 10

    def test_nothing_is_looked_for_where_nothing_is_learned(self, some):
        X, y = some
        spoiled = np.array(y)
        spoiled[4] = 1e6
        regressor(gamma=0.5).fit(X, spoiled)

    def test_one_of_several_targets(self, some):
        X, y = some
        Y = np.column_stack([y, X[:, 0]])
        Y[8, 1] = -1e8
        with pytest.warns(GrossErrorWarning, match="-1e\\+08 in target 1, row 8;"):
            regressor().fit(X, Y)


class TestClippedErrors:
    @staticmethod
    def objective(y):
        n = y.shape[1]
        return LeaveOneOut(Target(Observed(y, np.ones(n), None, np.ones(n), True)))

    def test_one_wild_row_counts_for_no_more_than_some_ranges(self, rng):
        K, y = rng.normal(size=(3, 60)), rng.normal(size=(2, 60))
        y[1, 7] = 1e6
        losses = self.objective(y).losses(K, 0.1).values
        assert 1.0 < losses.max() < 1e4 * np.square(np.ptp(np.delete(y, 7, axis=1)))

    @pytest.mark.parametrize("shape", ["normal", "uniform", "exponential"])
    def test_nothing_changes_without_one(self, rng, shape):
        K, y = rng.normal(size=(3, 300)), SHAPES[shape](rng, 300)[None]
        objective = self.objective(y)
        target = objective.target
        before = objective.losses(K, 0.1).values
        target.most = np.full((1, 1), np.inf)
        np.testing.assert_array_equal(objective.losses(K, 0.1).values, before)

    def test_rare_events_are_not_clipped(self):
        y = np.zeros((1, 200))
        y[0, 3] = 1.0
        assert self.objective(y).target.most == np.inf

    def test_gradient_is_that_of_the_clipped_error(self, rng):
        K, y = rng.normal(size=(3, 40)), rng.normal(size=(2, 40))
        y[0, 5] = 1e4
        objective, step = self.objective(y), 1e-6
        _, G, by_alpha = objective.gradient(K.copy(), 0.3)
        for i, j in [(0, 5), (1, 0), (2, 39)]:
            moved = [K.copy(), K.copy()]
            moved[0][i, j] += step
            moved[1][i, j] -= step
            ahead, behind = (objective.losses(one, 0.3).mean for one in moved)
            assert G[i, j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-6)
        ahead, behind = (objective.losses(K, 0.3 * np.exp(sign * step)).mean for sign in (1, -1))
        assert by_alpha == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-6)
