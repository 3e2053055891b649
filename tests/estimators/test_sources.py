"""Fits of sources of rows: the same as of arrays, whatever the blocks; samples; what is refused."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.estimators import sampled
from kernelpursuit.estimators.fitting import TrainingData
from kernelpursuit.exceptions import GrossErrorWarning, SampledWarning
from kernelpursuit.losses import Huber
from kernelpursuit.pursuit import ALL_ROWS, Watch
from kernelpursuit.rows import ArraySource, sample_numbers
from kernelpursuit.updates import Orthogonal

# A fit that learns scales, and little else.
QUICK = {"kernel": "rbf", "refine": False, "trend": None}


@pytest.fixture
def small_samples(monkeypatch):
    """As if memory were for 6,000 rows."""
    monkeypatch.setattr(sampled, "ROWS_LEARNED_FROM", 6000)
    monkeypatch.setattr(sampled, "LEAST_SAMPLE", 500)
    monkeypatch.setattr(sampled, "SAMPLED_ABOVE", 3000)
    monkeypatch.setattr(sampled, "ROWS_PICKED_FROM", 1500)


def table(rng, n_rows, noise=0.1):
    X = rng.normal(size=(n_rows, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * np.abs(X[:, 2]) + noise * rng.normal(size=n_rows)


def assert_same(first, second, X, tolerance=1e-8):
    np.testing.assert_array_equal(first.center_indices_, second.center_indices_)
    expected = second.predict(X)
    np.testing.assert_allclose(first.predict(X), expected, rtol=0, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(first.path_.loo, second.path_.loo, rtol=tolerance)


class TestFewRows:
    def test_a_source_that_fits_in_memory_is_fitted_as_an_array(self, rng):
        X, y = table(rng, 400)
        w = rng.uniform(0.5, 2, size=400)
        for weights in (None, w):
            model = KernelPursuitRegressor(random_state=0).fit(ArraySource(X, y, weights))
            expected = KernelPursuitRegressor(random_state=0).fit(X, y, weights)
            np.testing.assert_array_equal(model.predict(X), expected.predict(X))
            np.testing.assert_array_equal(model.predict_interval(X), expected.predict_interval(X))

    def test_classes_too(self, rng):
        X, y = table(rng, 400)
        labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
        for kind in (labels.dtype, object):
            model = KernelPursuitClassifier(random_state=0).fit(ArraySource(X, labels.astype(kind)))
            expected = KernelPursuitClassifier(random_state=0).fit(X, labels)
            np.testing.assert_array_equal(model.classes_, expected.classes_)
            np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        model = KernelPursuitClassifier(random_state=0, class_weight="balanced").fit(ArraySource(X, labels))
        expected = KernelPursuitClassifier(random_state=0, class_weight="balanced").fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-10)


class TestManyRows:
    def test_a_source_is_fitted_as_an_array_is(self, rng, small_samples):
        X, y = table(rng, 9000)
        model = KernelPursuitRegressor(random_state=0).fit(X, y)
        assert_same(KernelPursuitRegressor(random_state=0).fit(ArraySource(X, y)), model, X[:500])
        # All rows are fitted, and not those of the sample alone.
        assert model.path_.n_units == 9000
        exact = KernelPursuitRegressor(random_state=0, sample_rows=None).fit(X, y)
        new, f = table(rng, 2000, noise=0.0)
        errors = [np.sqrt(np.mean((one.predict(new) - f) ** 2)) for one in (model, exact)]
        assert errors[0] < 1.3 * errors[1]
        low, high = model.predict_interval(X[:2000], coverage=0.9)
        assert 0.85 < np.mean((low <= y[:2000]) & (y[:2000] <= high)) < 0.95

    def test_centers_are_the_rows_they_are_numbered_by(self, rng, small_samples):
        X, y = table(rng, 4000)
        model = KernelPursuitRegressor(gamma=0.3, max_atoms=30, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])

    def test_weights_are_those_of_rows_that_are_there_more_often(self, rng, small_samples):
        X, y = table(rng, 4000)
        w = rng.integers(0, 3, size=4000).astype(float)
        first = KernelPursuitRegressor(gamma=0.3, max_atoms=30, alpha=0.1, random_state=0, stop="max").fit(X, y, w)
        second = KernelPursuitRegressor(gamma=0.3, max_atoms=30, alpha=0.1, random_state=0, stop="max").fit(
            ArraySource(X, y, w), None
        )
        assert_same(second, first, X[:300])
        values = np.exp(-0.3 * ((X[:, None] - first.centers_) ** 2).sum(axis=2))
        D = np.column_stack([np.ones(4000), values]) * np.sqrt(w)[:, None]
        penalty = np.diag([0.0] + [0.1] * first.n_atoms_)
        coef = np.linalg.solve(D.T @ D + penalty, D.T @ (np.sqrt(w) * y))
        np.testing.assert_allclose(first.predict(X[:300]), coef[0] + values[:300] @ coef[1:], atol=1e-7)

    @pytest.mark.parametrize("options", [QUICK, {"gamma": 0.3}])
    def test_rows_of_weight_zero_are_none(self, rng, small_samples, options):
        X, y = table(rng, 12_000)
        y[0] = 1e3
        w = np.zeros(len(X))
        w[2000::2] = 3.0
        model = KernelPursuitRegressor(random_state=0, max_atoms=20, sample_rows=600, truncate="auto", **options)
        found = [model.fit(*given).path_ for given in ((ArraySource(X, y, w),), (X, y, w))]
        limits = model.model_.limits
        few = model.fit(X[w > 0], y[w > 0], w[w > 0])
        for path in found:
            assert path.total_weight == pytest.approx(few.path_.total_weight)
            assert path.n_units == few.path_.n_units
            assert path.loo.min() < 2 * few.path_.loo.min()
        np.testing.assert_array_equal(limits, few.model_.limits)

    def test_weights_are_no_counts_where_something_is_learned(self, rng, small_samples):
        X, y = table(rng, 7000)
        w = rng.exponential(size=len(X))
        for given in ((ArraySource(X, y, w),), (X, y, w)):
            model = KernelPursuitRegressor(random_state=0, max_atoms=20, sample_rows=600, **QUICK).fit(*given)
            assert model.path_.n_units == 7000

    def test_classes(self, rng, small_samples):
        X, y = table(rng, 9000)
        labels = np.array(["low", "high"])[(y > 0).astype(int)]
        model = KernelPursuitClassifier(random_state=0, loss="squared").fit(X, labels)
        other = KernelPursuitClassifier(random_state=0, loss="squared").fit(ArraySource(X, labels))
        np.testing.assert_array_equal(model.center_indices_, other.center_indices_)
        np.testing.assert_allclose(other.predict_proba(X[:300]), model.predict_proba(X[:300]), atol=1e-8)
        assert np.mean(model.predict(X) == labels) > 0.93

    def test_rows_that_are_held_out_are_not_fitted(self, rng, small_samples):
        X, y = table(rng, 4000)
        model = KernelPursuitRegressor(gamma=0.3, max_atoms=30, stop="validation", random_state=0).fit(X, y)
        assert model.path_.n_units == 4000 - round(0.1 * 1500)
        assert np.isfinite(model.path_.validation).all()

    def test_a_gross_error_is_left_out_wherever_it_is(self, rng, small_samples):
        X, y = table(rng, 9000)
        clean = KernelPursuitRegressor(random_state=0).fit(X, y)
        unseen = np.setdiff1d(np.arange(9000), sample_numbers(np.arange(9000), 6000, clean._state.seed))
        y = y.copy()
        y[unseen[:3]] = 1e12
        with pytest.warns(GrossErrorWarning, match=r"y holds values far from all others: 1e\+12; such rows"):
            model = KernelPursuitRegressor(random_state=0).fit(X, y)
        assert model.path_.n_units == 8997
        np.testing.assert_allclose(model.predict(X[:200]), clean.predict(X[:200]), atol=0.01)

    def test_several_targets(self, rng, small_samples):
        X, y = table(rng, 7000)
        Y = np.column_stack([y, 100 * X[:, 0]])
        model = KernelPursuitRegressor(random_state=0).fit(ArraySource(X, Y))
        assert model.predict(X[:5]).shape == (5, 2)
        assert np.mean((model.predict(X) - Y)[:, 1] ** 2) < 1.0


class Slow(ArraySource):
    """Rows that come slowly."""

    def blocks(self, size, start=0):
        for block in super().blocks(3000, start):
            time.sleep(0.1)
            yield block


@pytest.mark.parametrize(("loss", "n_passes"), [("squared", 2), ("huber", 8)])
def test_the_time_that_is_expected_has_that_of_reading(rng, small_samples, monkeypatch, loss, n_passes):
    told = []
    expect = Watch.expect
    monkeypatch.setattr(Watch, "expect", lambda watch, parts: told.append(dict(parts)) or expect(watch, parts))
    X, y = table(rng, 9000)
    KernelPursuitRegressor(random_state=0, max_atoms=5, loss=loss, **QUICK).fit(Slow(X, y))
    assert told[0][ALL_ROWS] >= n_passes * 0.3


class TestLosses:
    """Of many rows, coefficients under a loss are of all: of those of a sample, sums over all rows would be off."""

    @pytest.mark.parametrize("given", [{"gamma": 0.3, "max_atoms": 20}, {"max_atoms": 20, **QUICK}])
    @pytest.mark.parametrize("is_source", [False, True])
    def test_a_constant_balances_all_rows(self, rng, small_samples, monkeypatch, given, is_source):
        monkeypatch.setattr(sampled, "ROWS_OF_A_LOSS", 1500)
        X, y = table(rng, 9000)
        y = y + 0.3 * rng.standard_t(2, size=9000)
        model = KernelPursuitRegressor(loss=Huber(delta=0.2), random_state=0, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(ArraySource(X, y) if is_source else X, *([] if is_source else [y]))
        assert model.n_atoms_ == 20
        pulls = np.clip(y - model.predict(X), -0.2, 0.2)
        assert abs(pulls.mean()) < 1e-4  # of a sample of 1,500 rows: about 0.2 / 1500 ** 0.5

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_probabilities_add_up_to_the_classes_of_all_rows(self, rng, small_samples, monkeypatch, n_classes):
        monkeypatch.setattr(sampled, "ROWS_OF_A_LOSS", 1500)
        X, z = table(rng, 9000, noise=1.0)
        labels = np.digitize(z, [0.3, 1.5][: n_classes - 1])
        model = KernelPursuitClassifier(loss="log", random_state=0, max_atoms=20, **QUICK).fit(ArraySource(X, labels))
        assert model.loss_ == {2: "logistic", 3: "softmax"}[n_classes]
        shares = np.bincount(labels) / len(labels)
        np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), shares, atol=1e-3)

    def test_targets_that_a_loss_does_not_take_are_refused_wherever_they_are(self, rng, small_samples):
        X, _ = table(rng, 9000)
        counts = rng.poisson(2.0, size=9000).astype(float)
        counts[8765] = -1.0
        with pytest.raises(ValueError, match="poisson"):
            KernelPursuitRegressor(loss="poisson", random_state=0).fit(ArraySource(X, counts))


class TestRareClasses:
    @pytest.fixture
    def rare(self, rng):
        X, z = table(rng, 20_000, noise=0.3)
        return X, np.where(z >= np.sort(z)[-60], "rare", "common")

    @pytest.mark.parametrize("given", [{}, {"class_weight": "balanced"}, {"max_atoms": 30, "gamma": "learn"}])
    def test_a_source_is_fitted_as_an_array_is(self, rare, small_samples, given):
        X, labels = rare
        given = {"gamma": 0.3, "max_atoms": 20, "loss": "squared", "random_state": 0, **given}
        expected = KernelPursuitClassifier(**given).fit(X, labels)
        model = KernelPursuitClassifier(**given).fit(ArraySource(X, labels.astype(object)))
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-10)

    def test_all_rows_of_a_rare_class_are_learned_from(self, rare, small_samples):
        X, labels = rare
        source = ArraySource(X, labels)
        model = KernelPursuitClassifier(gamma=0.3, max_atoms=20, loss="log", random_state=0).fit(source)
        # With a constant and no penalty of it, probabilities of all rows add up to the number of each class.
        share = model.predict_proba(X)[:, 1].mean()
        assert share == pytest.approx(60 / 20_000, rel=1e-3)

    def test_weights_put_the_shares_right(self, rng):
        classes = (np.arange(10_000) % 1000 == 0).astype(int)
        given = rng.uniform(0.5, 2.0, size=10_000)
        y = np.where(classes == 1, 1.0, -1.0)[:, None]
        places = sampled.sampled_places(np.arange(10_000), 500, classes, 10)
        for weights in (None, given):
            sample = TrainingData(np.zeros((500, 1)), y[places], None if weights is None else weights[places], None)
            by_class = np.bincount(classes, weights=weights)
            whole = sampled.Whole(None, 10_000, places, extremes=None, by_class=by_class)
            found = sampled.with_shares_of_classes(sample, whole)
            sums = np.bincount(classes[places], weights=found.weights)
            np.testing.assert_allclose(sums / sums.sum(), by_class / by_class.sum())
            assert found.weights.mean() == pytest.approx(1.0 if weights is None else weights.mean())
            np.testing.assert_array_equal(found.counts, 1.0 if weights is None else weights[places])

    def test_samples_of_common_classes_have_no_weights(self, rng):
        y = np.where(rng.uniform(size=10_000) < 0.3, 1.0, -1.0)[:, None]
        sample = TrainingData(np.zeros((500, 1)), y[:500], None, None)
        whole = sampled.Whole(None, 10_000, np.arange(500), extremes=None, by_class=np.array([7000.0, 3000.0]))
        assert sampled.with_shares_of_classes(sample, whole) is sample


class TestRefusals:
    def test_what_needs_rows_in_memory_is_fitted_to_the_sample_with_a_warning(self, rng, small_samples):
        X, y = table(rng, 9000)
        source = ArraySource(X, y)
        settings = {"update": "stagewise", "stop": "max", "gamma": 0.3, "max_atoms": 5, "random_state": 0}
        words = "update='stagewise' needs rows in memory, so this fit is of 6000 of 9000 rows"
        with pytest.warns(SampledWarning, match=words):
            KernelPursuitRegressor(**settings).fit(source)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KernelPursuitRegressor(**settings).fit(X, y)

    @pytest.mark.parametrize(
        "settings",
        [
            {"update": "stagewise"},
            {"exchange": True},
            {"penalty": "nugget"},
            {"penalty": "ols"},
            {"stop": "tr4"},
            {"update": Orthogonal(rcond=1e-8)},
        ],
        ids=str,
    )
    def test_sample_rows_beside_a_setting_that_needs_all(self, rng, settings):
        X, y = table(rng, 500)
        model = KernelPursuitRegressor(gamma=0.3, alpha=1e-3, max_atoms=5, sample_rows=100, random_state=0)
        model.set_params(**{"stop": "max", **settings})
        with pytest.raises(ValueError, match=r"sample_rows=100 does not go with .*, which needs all rows"):
            model.fit(X, y)
        model.set_params(sample_rows=500).fit(X, y)  # all of them

    @pytest.mark.parametrize(
        "settings", [{"selection": "correlation"}, {"selection": "residual"}, {"penalty": "rkhs"}, {"candidates": 30}]
    )
    def test_systems_of_papers_pick_on_a_sample_where_told_to(self, rng, settings, small_samples):
        X, y = table(rng, 9000)
        model = KernelPursuitRegressor(gamma=0.3, alpha=1e-3, max_atoms=15, stop="max", random_state=0, **settings)
        model.fit(X, y)
        sampled = model.center_indices_
        model.set_params(sample_rows=300)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)
        assert len(np.intersect1d(sampled, model.center_indices_)) < 15
        # Coefficients are of all rows: their residuals are orthogonal to the constant.
        assert abs(np.mean(y - model.predict(X))) < 1e-9
        assert model.path_.total_weight == 9000

    def test_sample_rows(self, rng):
        X, y = table(rng, 50)
        for bad in (0, -1, 2.5, "all", True):
            with pytest.raises(ValueError, match="sample_rows="):
                KernelPursuitRegressor(sample_rows=bad).fit(X, y)

    def test_a_bad_row_leaves_the_estimator_as_it_was(self, rng):
        X, y = table(rng, 300)
        model = KernelPursuitRegressor(random_state=0).fit(X, y)
        before, bad = model.predict(X), X[:, :2].copy()
        bad[77, 1] = np.nan
        with pytest.raises(ValueError, match="X holds nan in row 77, feature 1"):
            model.fit(ArraySource(bad, y))
        assert model.n_features_in_ == 3
        np.testing.assert_array_equal(model.predict(X), before)

    def test_labels_that_are_none(self, rng):
        X = rng.normal(size=(60, 2))
        model = KernelPursuitClassifier(gamma=0.5)
        for y, words in (
            (np.array([1, "a"] * 30, dtype=object), "y holds labels of several types, which cannot be sorted"),
            (X[:, 0], r"y holds -?\d\S*, which is no label; use KernelPursuitRegressor for numbers"),
        ):
            with pytest.raises(ValueError, match=words):
                model.fit(ArraySource(X, y))
        with pytest.raises(ValueError, match="class_weight is 0 for 2; leave rows of that class out of the source"):
            model.set_params(class_weight={0: 1, 1: 1, 2: 0}).fit(ArraySource(X, np.arange(60) % 3))

    @pytest.mark.parametrize("kind", [KernelPursuitRegressor, KernelPursuitClassifier])
    def test_no_targets(self, rng, kind):
        with pytest.raises(ValueError, match=f"{kind.__name__} requires y to be passed; give the name of a column"):
            kind().fit(lambda: iter([rng.normal(size=(20, 2))]))

    def test_targets_as_a_column_and_very_large_ones(self, rng, tmp_path):
        X, y = table(rng, 60)
        np.save(tmp_path / "X.npy", X)
        model = KernelPursuitRegressor(gamma=0.5).fit(tmp_path / "X.npy", y[:, None])
        assert model.predict(X).shape == (60, 1)
        with pytest.raises(ValueError, match=r"y is of the size .*; multiply y by a constant first"):
            model.fit(ArraySource(X, 1e307 * y))

    def test_one_class(self, rng):
        X, _ = table(rng, 50)
        with pytest.raises(ValueError, match="y holds one class only, 'a'"):
            KernelPursuitClassifier().fit(ArraySource(X, np.full(50, "a")))
        with pytest.raises(ValueError, match="multi_class='ovr' needs rows in memory"):
            KernelPursuitClassifier(multi_class="ovr").fit(ArraySource(X, np.full(50, "a")))
