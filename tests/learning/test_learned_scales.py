"""What `gamma="learn"` finds on data: which features matter, how fast, and nothing of units or of chance."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.data import make_friedman
from kernelpursuit.exceptions import GrossErrorWarning
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.scales import without_irrelevant_features


def regressor(**params):
    """One kernel and few atoms, so that a fit is short."""
    return KernelPursuitRegressor(**{"kernel": "rbf", "max_atoms": 25, "random_state": 0, "n_jobs": 1, **params})


@pytest.fixture(scope="module")
def two_of_eight():
    """A target that depends on the features 0 and 3."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(400, 8))
    y = np.sin(2.5 * X[:, 3]) + np.cos(2 * X[:, 0]) + 0.1 * rng.normal(size=400)
    X.flags.writeable = y.flags.writeable = False
    return X, y


class TestRelevance:
    @pytest.mark.parametrize("kernel", ["rbf", "matern52"])
    def test_features_without_a_say_have_small_scales(self, two_of_eight, kernel):
        X, y = two_of_eight
        scales = regressor(kernel=kernel).fit(X, y).feature_scales_
        assert scales.shape == (8,)
        assert scales[[1, 2, 4, 5, 6, 7]].max() < scales[[0, 3]].min() / 5

    def test_only_features_of_small_scales_may_be_left_out(self):
        """Where validation rows are few, their error may say that nearly all features can go."""
        scales = np.array([0.02, 1.0, 0.3, 0.0, 0.099, 0.101])
        model = Model(scales, 0.1, np.zeros((0, 6)), np.zeros(0))
        kept = without_irrelevant_features(model, lambda tried: 1.0)
        np.testing.assert_array_equal(kept.scales, [0.0, 1.0, 0.3, 0.0, 0.0, 0.101])

    def test_small_scales_stay_where_the_error_wants_them(self):
        model = Model(np.array([0.05, 1.0, 0.02, 0.01]), 0.1, np.zeros((0, 4)), np.zeros(0))
        kept = without_irrelevant_features(model, lambda tried: 1.0 if tried.scales[2] else 1.01)
        np.testing.assert_array_equal(kept.scales, [0.05, 1.0, 0.02, 0.0])

    def test_all_small_ones_go_where_that_is_fine_whatever_fewer_would_do(self):
        model = Model(np.array([0.05, 1.0, 0.02, 0.01, 0.03]), 0.1, np.zeros((0, 5)), np.zeros(0))
        kept = without_irrelevant_features(model, lambda tried: 2.0 if tried.scales[0] and not tried.scales[3] else 1.0)
        np.testing.assert_array_equal(kept.scales, [0.0, 1.0, 0.0, 0.0, 0.0])

    @pytest.mark.parametrize("settings", [{"weight": 100.0}, {"alpha": 1e-3}])
    def test_little_penalty_does_not_make_scales_of_labels_run_away(self, settings):
        """Where all rows count 100 times, and with little penalty under the log loss."""
        X, y = make_friedman(200, seed=1)
        X_new, y_new = make_friedman(500, seed=77)
        weights = np.full(200, settings.get("weight", 1.0))
        model = KernelPursuitClassifier(alpha=settings.get("alpha", "auto"), random_state=0, n_jobs=1)
        model.fit(X, y > 15, sample_weight=weights)
        assert model.feature_scales_.max() < 1.5  # was 13
        assert model.score(X_new, y_new > 15) > 0.8  # was 0.54
        if "alpha" in settings:
            assert model.alpha_ == settings["alpha"]
        else:
            np.testing.assert_array_equal(model.coef_, model.fit(X, y > 15).coef_)

    def test_a_nearly_linear_feature_has_a_smaller_scale_than_a_fast_one(self, rng):
        X = rng.normal(size=(200, 2))
        y = np.sin(2.5 * X[:, 1]) + 0.8 * X[:, 0] + 0.1 * X[:, 0] ** 2 + 0.1 * rng.normal(size=200)
        scales = regressor().fit(X, y).feature_scales_
        assert 0 < scales[0] < scales[1] / 2

    def test_scales_are_those_of_the_kernel(self, some):
        """Of standardised features: gamma is the squared scale over the variance."""
        X, y = some
        X = X * [1.0, 20.0, 0.01] + [0.0, 5.0, -1.0]
        model = regressor(refine=False).fit(X, y)
        gamma = model.model_.kept.kernel.gamma
        np.testing.assert_allclose(gamma, np.square(model.feature_scales_ / X.std(axis=0)), rtol=1e-10)

    def test_of_classes_too(self, two_of_eight):
        X, y = two_of_eight
        X, y = X[:250], y[:250]
        model = KernelPursuitClassifier(kernel="rbf", max_atoms=10, random_state=0, n_jobs=1)
        scales = model.fit(X, y > np.median(y)).feature_scales_
        assert scales[[1, 2, 4, 5, 6, 7]].max() < scales[[0, 3]].min()


class TestUnits:
    def test_units_of_features_do_not_matter(self, some):
        X, y = some
        want = regressor().fit(X, y)
        units = 2.0 ** np.array([-60, 3, 80])
        got = regressor().fit(X * units, y)
        np.testing.assert_allclose(got.predict(X * units), want.predict(X), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got.feature_scales_, want.feature_scales_, rtol=1e-5)
        np.testing.assert_array_equal(got.center_indices_, want.center_indices_)

    def test_zero_of_features_does_not_matter(self, some):
        X, y = some
        moved = X * [2.0**-20, 1.0, 2.0**30] + [2.0**-16, -8.0, 2.0**33]
        want, got = regressor().fit(X, y), regressor().fit(moved, y)
        # Taking the zero away rounds features; a search amplifies that.
        np.testing.assert_allclose(got.predict(moved), want.predict(X), rtol=1e-3, atol=1e-3)

    @pytest.mark.parametrize("unit", [1024.0, 2.0**-300])
    def test_units_of_targets_do_not_matter(self, some, unit):
        X, y = some
        want, got = regressor().fit(X, y), regressor().fit(X, unit * y)
        np.testing.assert_allclose(got.predict(X) / unit, want.predict(X), rtol=1e-9, atol=1e-9)
        assert got.n_atoms_ == want.n_atoms_

    @pytest.mark.parametrize("refine", [False, True])
    def test_zero_of_targets_does_not_matter(self, some, refine):
        X, y = some
        want, got = regressor(refine=refine).fit(X, y), regressor(refine=refine).fit(X, y + 64.0)
        np.testing.assert_allclose(got.predict(X) - 64.0, want.predict(X), atol=1e-5)


def awkward_columns(rng):
    x = rng.normal(size=(70, 2))
    fine = {
        "duplicated": np.hstack([x, x, x[:, :1]]),
        "binary": np.hstack([x[:, :1], (rng.random((70, 3)) < 0.4).astype(float)]),
        "only binary": (rng.random((70, 2)) < 0.5).astype(float),
        "heavy-tailed": np.hstack([x, rng.standard_cauchy((70, 2))]),
        "very heavy-tailed": np.hstack([x, np.exp(40 * rng.normal(size=(70, 1)))]),
        "constant": np.hstack([x, np.full((70, 2), [3.0, 0.0])]),
        "constant but for one row": np.hstack([x, np.eye(70, 1)]),
        "constant but for rounding": np.hstack([x, 0.1 + 1e-17 * rng.normal(size=(70, 1))]),
        "all constant": np.full((70, 3), 0.7),
        "tiny and huge": x * [1e-150, 1e150],
        "one": x[:, :1],
        "more than rows": rng.normal(size=(70, 90)),
        "all rows twice": np.vstack([x[:35], x[:35]]),
        "two different rows": np.repeat([[0.0, 1.0], [2.0, -1.0]], 35, axis=0),
        "integers": rng.integers(0, 4, (70, 3)),
    }
    return fine


COLUMNS = awkward_columns(np.random.default_rng(5))


def assert_no_worse_than_a_constant(model, X, y, constant=None):
    """Fitted values have the mean of the targets, where there is an intercept, and are no farther off than it."""
    f = model.predict(X)
    if model.fit_intercept:
        np.testing.assert_allclose(f.mean(), y.mean(), rtol=1e-6, atol=1e-6 * np.abs(y).max())
    of_constant = np.linalg.norm(y - (y.mean() if constant is None else constant))
    assert np.linalg.norm(y - f) <= of_constant * (1 + 1e-9)


@pytest.mark.usefixtures("short_plan")
@pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
class TestAwkwardData:
    @pytest.mark.parametrize("refine", ["auto", True])
    @pytest.mark.parametrize("name", COLUMNS)
    def test_columns(self, name, refine):
        X = COLUMNS[name]
        rng = np.random.default_rng(6)
        y = np.tanh(X[:, 0] / (np.abs(X[:, 0]).max() or 1.0)) + 0.1 * rng.normal(size=len(X))
        before = X.copy()
        model = regressor(refine=refine, max_atoms=10).fit(X, y)
        assert_no_worse_than_a_constant(model, X, y)
        assert np.isfinite(model.coef_).all()
        lower, upper = model.predict_interval(X)
        assert (lower <= model.predict(X)).all()
        assert (model.predict(X) <= upper).all()
        assert np.mean((lower <= y) & (y <= upper)) >= 0.8
        np.testing.assert_array_equal(X, before)

    @pytest.mark.parametrize("name", COLUMNS)
    def test_columns_of_classes(self, name):
        X = COLUMNS[name]
        labels = np.arange(len(X)) % 3 > 0
        model = KernelPursuitClassifier(kernel="rbf", max_atoms=4, random_state=0, n_jobs=1).fit(X, labels)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_allclose(p[:, 1].mean(), labels.mean(), rtol=1e-5)

    def test_a_constant_feature_has_no_scale_and_no_say(self, some):
        X, y = some
        wide = np.insert(X, 1, 4.25, axis=1)
        want, got = regressor().fit(X, y), regressor().fit(wide, y)
        assert got.feature_scales_[1] == 0
        elsewhere = wide.copy()
        elsewhere[:, 1] = -1e3
        np.testing.assert_array_equal(got.predict(elsewhere), got.predict(wide))
        np.testing.assert_allclose(got.predict(wide), want.predict(X), rtol=1e-6, atol=1e-6)

    def test_constant_rows_fall_back(self):
        model = regressor().fit(np.full((40, 2), 0.3), np.arange(40.0))
        assert model.feature_scales_ is None
        np.testing.assert_allclose(model.predict(np.full((2, 2), 0.3)), 19.5)

    @pytest.mark.parametrize("refine", ["auto", True])
    @pytest.mark.parametrize("value", [0.0, 3.7, -1e100])
    def test_constant_targets(self, some, value, refine):
        X, _ = some
        model = regressor(refine=refine).fit(X, np.full(len(X), value))
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-9, atol=1e-12)
        lower, upper = model.predict_interval(X[:3])
        assert (lower <= upper).all()

    def test_one_of_several_targets_constant(self, some):
        X, y = some
        model = regressor().fit(X, np.column_stack([y, np.full(len(y), 2.0)]))
        np.testing.assert_allclose(model.predict(X)[:, 1], 2.0, atol=1e-6)
        assert model.score(X, np.column_stack([y, y])) < 1

    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 25])
    def test_few_rows(self, some, n, intercept):
        X, y = some
        model = regressor(fit_intercept=intercept, kernel="auto").fit(X[:n], y[:n])
        assert_no_worse_than_a_constant(model, X[:n], y[:n], y[:n].mean() if intercept else 0.0)
        assert (model.feature_scales_ is None) == (n < 6)
        if n >= 6:  # what is learned never leaves the range of the targets by more than half of it
            f, half = model.predict(X), np.ptp(y[:n]) / 2
            assert y[:n].min() - half <= f.min() <= f.max() <= y[:n].max() + half
        assert not np.isnan(model.predict_interval(X)).any()

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_few_rows_refined(self, some, n):
        X, y = some
        model, still = (regressor(refine=refine).fit(X[:n], y[:n]) for refine in (True, False))
        np.testing.assert_array_equal(model.predict(X), still.predict(X))

    @pytest.mark.parametrize("n", [2, 3, 5, 6, 12, 25])
    def test_few_rows_of_classes(self, some, n):
        """Under the log loss the probabilities of a class add up to its rows, else are more even."""
        X, _ = some
        y = np.arange(n) % 2
        for loss in ("log", "auto"):
            model = KernelPursuitClassifier(loss=loss, random_state=0, max_atoms=5, n_jobs=1).fit(X[:n], y)
            assert set(model.predict(X)) <= {0, 1}
            most_even = y.mean() if model.loss_ == "logistic" else 0.5
            assert (1 - 1e-5) * y.mean() <= model.predict_proba(X[:n])[:, 1].mean() <= (1 + 1e-5) * most_even

    @pytest.mark.parametrize("loss", ["log", "auto"])
    @pytest.mark.parametrize("row", [7, 20, 41, 60, 89])
    def test_a_rare_class(self, some, row, loss):
        """One row of its own class: found where it is at the edge, and nowhere else where it is among the others.

        No model without the row knows of its class, so probabilities may be no more than a little larger there.
        """
        X, _ = some
        y = np.zeros(len(X), dtype=int)
        y[row] = 1
        edge = X.copy()
        edge[row] += 3.0
        for rows in (X, edge):
            classifier = KernelPursuitClassifier(kernel="rbf", loss=loss, random_state=0, max_atoms=10, n_jobs=1)
            model = classifier.fit(rows, y)
            p = model.predict_proba(rows)[:, 1]
            most = 1.0 if model.loss_ == "logistic" else 3.0
            assert 1 - 1e-5 < p.sum() < most + 1e-5
            if model.n_atoms_:
                assert p.argmax() == row
                assert p[row] > 1.5 / len(X)
            else:
                assert rows is X
                np.testing.assert_allclose(p, 1 / len(X), rtol=1e-5)

    def test_targets_without_noise(self, some):
        X, _ = some
        y = X[:, 0] + 2 * X[:, 1]
        assert regressor().fit(X, y).score(X, y) > 0.99

    @pytest.mark.parametrize("seed", range(4))
    def test_targets_of_noise_alone(self, seed):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
        model = regressor().fit(X, y)
        fresh = rng.normal(size=(500, 4))
        assert np.mean(np.square(model.predict(fresh))) < 0.2

    def test_an_outlier_in_y(self, some):
        X, y = some
        spoiled = np.array(y)
        spoiled[4] = 1e9
        with pytest.warns(GrossErrorWarning, match="row 4"):
            model = regressor().fit(X, spoiled)
        assert np.abs(model.predict(X)).max() < 100


class TestRepeatability:
    @pytest.mark.parametrize("refine", [False, True])
    def test_the_same_seed_gives_the_same_bits(self, some, refine):
        X, y = some
        one, other = (regressor(kernel="auto", refine=refine).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        np.testing.assert_array_equal(one.centers_, other.centers_)
        np.testing.assert_array_equal(one.feature_scales_, other.feature_scales_)

    @pytest.mark.usefixtures("short_plan")
    def test_random_states_of_all_kinds(self, some):
        X, y = some
        one = regressor(random_state=np.random.RandomState(3)).fit(X, y)
        other = regressor(random_state=np.random.RandomState(3)).fit(X, y)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        assert regressor(random_state=None).fit(X, y).score(X, y) > 0.8

    @pytest.mark.usefixtures("short_plan")
    def test_threads_and_memory_change_nothing(self, some):
        X, y = some
        want = regressor().fit(X, y)
        got = regressor(n_jobs=2, memory_budget=2**16).fit(X, y)
        np.testing.assert_allclose(got.predict(X), want.predict(X), rtol=1e-9, atol=1e-9)

    @pytest.mark.usefixtures("short_plan")
    def test_the_order_of_memory_changes_nothing(self, some):
        X, y = some
        want = regressor().fit(X, y).predict(X)
        for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
            np.testing.assert_allclose(regressor().fit(same, y).predict(X), want, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("short_plan")
class TestWeights:
    @pytest.mark.parametrize("refine", [False, True])
    def test_rows_of_weight_zero_are_not_there(self, some, refine):
        X, y = some
        seen = np.arange(len(X)) % 5 != 2
        weights = np.where(seen, 1.5, 0.0)
        spoiled_X, spoiled_y = np.where(seen[:, None], X, 1e6), np.where(seen, y, -1e6)
        want = regressor(refine=refine).fit(X[seen], y[seen], weights[seen])
        got = regressor(refine=refine).fit(spoiled_X, spoiled_y, weights)
        np.testing.assert_allclose(got.predict(X), want.predict(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(got.feature_scales_, want.feature_scales_, rtol=1e-9)
        np.testing.assert_array_equal(got.center_indices_, np.flatnonzero(seen)[want.center_indices_])
        for one, other in zip(got.predict_interval(X), want.predict_interval(X)):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)

    def test_rows_of_weight_zero_are_not_there_for_classes(self, some):
        X, y = some
        labels, seen = np.where(y > 1, "high", np.where(y > 0, "mid", "low")), np.arange(len(X)) % 5 != 2
        model = KernelPursuitClassifier(kernel="rbf", max_atoms=10, random_state=0, n_jobs=1)
        want = model.fit(X[seen], labels[seen], np.ones(seen.sum())).predict_proba(X)
        got = model.fit(X, np.where(seen, labels, "none"), seen.astype(float)).predict_proba(X)
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)

    def test_ones_are_no_weights(self, some):
        X, y = some
        want, got = regressor().fit(X, y), regressor().fit(X, y, np.ones(len(y)))
        np.testing.assert_allclose(got.predict(X), want.predict(X), rtol=1e-9, atol=1e-9)

    def test_heavy_rows_are_heeded(self, some):
        X, y = some
        heavy = X[:, 0] > 0
        y = np.where(heavy, y, 5.0)
        model = regressor(max_atoms=8).fit(X, y, np.where(heavy, 50.0, 0.02))
        error = np.square(model.predict(X) - y)
        assert error[heavy].mean() < 0.2
        assert error[heavy].mean() < error[~heavy].mean()
