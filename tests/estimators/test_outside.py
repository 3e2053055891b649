"""Predictions and scores outside the training rows: back to the base, and within the range of the targets."""

import pickle

import numpy as np
import pytest
from plain import plain_classifier, plain_regressor

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.model.outside import Outside

FAR = np.array([[510.0], [550.0], [599.0], [800.0], [1e5], [-1e5], [1e300]])


def wave(seed=0, n=500):
    t = np.arange(float(n))[:, None]
    noise = np.random.default_rng(seed).normal(size=n)
    return t, 10 + 0.02 * t[:, 0] + 3 * np.sin(t[:, 0] / 8) + 0.1 * noise


@pytest.fixture(scope="module")
def fitted():
    t, y = wave()
    return KernelPursuitRegressor(random_state=0).fit(t, y), t, y


class TestBox:
    box = Outside.of(np.array([[0.0, 5.0, 1.0], [10.0, 5.0, 3.0]]), np.array([[1.0], [3.0]]), np.array([1.0, 1.0, 2.0]))

    def test_features_that_vary_and_have_a_scale(self):
        assert self.box.features.tolist() == [0, 2]
        rows = np.array([[0.0, 1.0], [1.0, 0.0]])
        assert Outside.of(rows, np.zeros((2, 1)), np.array([0.0, 1.0])).features.tolist() == [1]
        assert Outside.of(rows, np.zeros((2, 1)), None).features.tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("row", "wanted"),
        [
            ([0, 99, 1], 1.0),
            ([10, 0, 3], 1.0),
            ([12.5, 0, 2], 1.0),
            ([20, 0, 2], 0.0),
            ([16.25, 0, 2], 0.5),
            ([-6.25, 0, 2], 0.5),
            ([1e308, 0, -1e308], 0.0),
            ([10 + 10 * 0.625 * 0.6, 0, 3 + 2 * 0.625 * 0.8], 0.5),
        ],
    )
    def test_fade(self, row, wanted):
        assert self.box.fade(np.array([row], dtype=float)) == pytest.approx(wanted)

    def test_hold(self):
        assert (self.box.floor, self.box.ceiling) == (0.0, 4.0)
        values, base = np.array([[7.0], [3.0], [7.0], [-9.0]]), np.full((4, 1), 2.0)
        held = self.box.hold(values, base, np.array([1.0, 1.0, 0.5, 1.0]), clips=True)
        assert held.tolist() == [[6.0], [3.0], [4.0], [2.0]]
        assert self.box.hold(values, base, np.array([1.0, 1.0, 0.5, 1.0]), clips=False).tolist() == [
            [7.0],
            [3.0],
            [4.5],
            [-9.0],
        ]


class TestNumbers:
    @pytest.mark.parametrize("seed", [1, 3])
    def test_a_wave_on_a_trend(self, seed):
        t, y = wave(seed)
        model = KernelPursuitRegressor(random_state=seed).fit(t, y)
        predicted = model.predict(FAR)
        margin = 0.5 * np.ptp(y)
        assert (predicted >= y.min() - margin).all()
        assert (predicted <= y.max() + margin).all()
        np.testing.assert_allclose(predicted[4:], y.mean(), rtol=1e-12)

    def test_nothing_changes_inside(self, fitted):
        model, t, y = fitted
        free = KernelPursuitRegressor(random_state=0, outside="free").fit(t, y)
        np.testing.assert_array_equal(model.predict(t), free.predict(t))
        assert not np.allclose(model.predict(FAR), free.predict(FAR))

    def test_models_of_every_size(self, fitted):
        model, _, y = fitted
        for k, predicted in enumerate(model.staged_predict(FAR)):
            np.testing.assert_allclose(predicted, model.at(k).predict(FAR), rtol=1e-9)
            np.testing.assert_allclose(predicted[4:], y.mean(), rtol=1e-12)

    def test_continuous(self, fitted):
        model, _, y = fitted
        steps = np.diff(model.predict(np.linspace(400, 1100, 20_001)[:, None]))
        assert np.abs(steps).max() < 0.02 * np.ptp(y)

    def test_pickled(self, fitted):
        model = pickle.loads(pickle.dumps(fitted[0]))
        np.testing.assert_array_equal(model.predict(FAR), fitted[0].predict(FAR))
        np.testing.assert_array_equal(model.predict_interval(FAR), fitted[0].predict_interval(FAR))

    def test_rows_of_weight_zero_are_outside(self, fitted):
        t, y = wave()
        both, targets = np.vstack([t, [[5000.0]]]), np.append(y, 1e6)
        model = KernelPursuitRegressor(random_state=0).fit(both, targets, np.append(np.ones(500), 0.0))
        np.testing.assert_allclose(model.predict(FAR), fitted[0].predict(FAR), rtol=1e-6)
        np.testing.assert_allclose(model.predict_interval(FAR), fitted[0].predict_interval(FAR), rtol=1e-5)

    def test_where_nothing_is_learned_only_on_request(self):
        t, y = wave(n=120)
        free = plain_regressor(gamma=1e-5, max_atoms=9).fit(t, y)
        back = plain_regressor(gamma=1e-5, max_atoms=9, outside="return").fit(t, y)
        assert free.model_.outside is None
        np.testing.assert_array_equal(back.predict(t), free.predict(t))
        np.testing.assert_allclose(back.predict([[240.0]]), y.mean())
        assert abs(free.predict([[240.0]])[0] - y.mean()) > 1.0

    def test_several_targets(self, short_plan):
        t, y = wave()
        model = KernelPursuitRegressor(random_state=0, kernel="rbf").fit(t, np.column_stack([y, -100 * y]))
        np.testing.assert_allclose(model.predict([[2000.0]])[0], [y.mean(), -100 * y.mean()])

    def test_means_of_counts_are_bounded(self, short_plan):
        t = np.linspace(0, 4, 80)[:, None]
        y = np.random.default_rng(0).poisson(np.exp(t[:, 0]))
        model = KernelPursuitRegressor(loss="poisson", random_state=0).fit(t, y)
        assert model.predict(np.linspace(4, 9, 50)[:, None]).max() <= y.max() + 0.5 * np.ptp(y)
        assert model.predict([[99.0]]) == pytest.approx(y.mean(), rel=1e-3)

    @pytest.mark.parametrize("value", ["clip", None, True, 1.5])
    def test_refuses_other_words(self, value):
        with pytest.raises(ValueError, match=r"^outside="):
            KernelPursuitRegressor(outside=value).fit([[0.0], [1.0]], [0.0, 1.0])

    def test_refuses_precomputed_columns(self):
        with pytest.raises(ValueError, match="precomputed"):
            KernelPursuitRegressor(kernel="precomputed", gamma="scale", outside="return").fit(np.eye(3), np.arange(3.0))


class TestClasses:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 2))
    two = (X[:, 0] + 0.3 * rng.normal(size=150) > 0.7).astype(int)
    three = two + (X[:, 1] > 0.5)

    @pytest.mark.parametrize("settings", [{}, {"multi_class": "ovr"}], ids=str)
    def test_probabilities_return_to_the_shares(self, short_plan, settings):
        model = KernelPursuitClassifier(random_state=0, max_atoms=10, **settings).fit(self.X, self.three)
        p = model.predict_proba([[1e4, -1e4], [-80.0, 90.0]])
        shares = np.bincount(self.three) / len(self.three)
        np.testing.assert_allclose(p, [shares, shares], atol=0.03)

    def test_nothing_changes_inside(self, short_plan):
        model = KernelPursuitClassifier(random_state=0, max_atoms=10).fit(self.X, self.two)
        free = KernelPursuitClassifier(random_state=0, max_atoms=10, outside="free").fit(self.X, self.two)
        np.testing.assert_array_equal(model.decision_function(self.X), free.decision_function(self.X))

    def test_where_nothing_is_learned_scores_are_free(self):
        assert plain_classifier(max_atoms=5).fit(self.X, self.two).model_.outside is None
