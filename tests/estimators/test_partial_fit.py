"""Rows that come a block at a time: weights are those of all rows, atoms come where they are needed."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.estimators import relearning
from kernelpursuit.exceptions import ConstantModelWarning, GrossErrorWarning
from kernelpursuit.model.live import LiveModel
from kernelpursuit.stopping import Validation


def table(rng, n_rows, shift=0.0):
    X = rng.normal(size=(n_rows, 2)) + shift
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n_rows)


def weighted_fit(model, X, y, weights, alpha):
    """The weights of the atoms that least squares give, by the normal equations."""
    values = np.exp(-0.5 * ((X[:, None] - model.centers_) ** 2).sum(axis=2))
    D = np.column_stack([np.ones(len(X)), values])
    penalty = np.diag(np.append(0.0, np.full(model.n_atoms_, alpha)))
    return np.linalg.solve((D.T * weights) @ D + penalty, (D.T * weights) @ y)


@pytest.fixture
def fitted(rng):
    X, y = table(rng, 600)
    return KernelPursuitRegressor(gamma=0.5, max_atoms=15, alpha=0.1, stop="max").fit(X, y), X, y


class TestWeights:
    @pytest.mark.parametrize("forgetting", [1.0, 0.99])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_are_those_of_all_rows(self, rng, fitted, forgetting, weighted):
        model, X, y = fitted
        model = copy.copy(model).set_params(forgetting=forgetting)
        w = np.ones(600)
        for n_rows in (1, 37, 500):
            more_X, more_y = table(rng, n_rows)
            more_w = rng.uniform(0.1, 3, size=n_rows) if weighted else np.ones(n_rows)
            model.partial_fit(more_X, more_y, more_w if weighted else None, new_atoms=False)
            X, y, w = np.vstack([X, more_X]), np.append(y, more_y), np.append(w, more_w)
        # Rows of a fit count alike, and all less with every row after them.
        ages = np.minimum(np.arange(len(y) - 1, -1, -1.0), len(y) - 600)
        expected = weighted_fit(model, X, y, w * forgetting**ages, 0.1)
        np.testing.assert_allclose(np.append(model.intercept_, model.coef_), expected, rtol=1e-6, atol=1e-8)
        residual = y - model.predict(X)
        assert model.path_.target_residual[-1, 0] == pytest.approx((w * forgetting**ages) @ residual**2, rel=1e-6)
        assert model.path_.total_weight == pytest.approx((w * forgetting**ages).sum())

    def test_do_not_depend_on_the_order_of_blocks(self, rng):
        X, y = table(rng, 700)
        blocks = [table(rng, n_rows) for n_rows in (300, 5, 800, 64)]
        models = []
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
            model = KernelPursuitRegressor(random_state=0).fit(X, y)
            for i in order:
                model.partial_fit(*blocks[i], new_atoms=False)
            models.append(model)
        first = models[0].predict(X)
        for model in models[1:]:
            np.testing.assert_allclose(model.predict(X), first, atol=1e-8 * np.abs(first).max())

    def test_of_several_targets_and_smaller_models(self, rng):
        X, y = table(rng, 500)
        Y = np.column_stack([y, 50 * X[:, 0]])
        model = KernelPursuitRegressor(random_state=0).fit(X, Y)
        more, _ = table(rng, 900)
        target = np.column_stack([np.sin(2 * more[:, 0]) + more[:, 1], 50 * more[:, 0]])
        model.partial_fit(more, target, new_atoms=False)
        assert np.abs(model.predict(more) - target).max(axis=0)[1] < 5
        smaller = model.at(3)
        assert smaller.n_atoms_ == 3
        assert np.isfinite(smaller.predict(more)).all()

    def test_a_row_of_weight_zero_is_none(self, rng, fitted):
        model, X, y = fitted
        before = model.predict(X)
        one = copy.copy(model).partial_fit(X[:2] + 100, y[:2] * 1e6, [1e-300, 0.0])
        np.testing.assert_allclose(one.predict(X), before, atol=1e-6)


class TestAtoms:
    def test_come_where_the_model_is_surprised_and_only_there(self, rng):
        X, y = table(rng, 1000)
        model = KernelPursuitRegressor(random_state=0).fit(X, y)
        n_before = model.n_atoms_
        for _ in range(3):
            model.partial_fit(*table(rng, 400))
        assert model.n_atoms_ <= n_before + 5
        elsewhere, y = table(rng, 1500, shift=5.0)
        kept = copy.copy(model).partial_fit(elsewhere, y, new_atoms=False)
        model.partial_fit(elsewhere, y)
        assert model.n_atoms_ > kept.n_atoms_ + 2
        errors = [np.sqrt(np.mean((one.predict(elsewhere) - y) ** 2)) for one in (model, kept)]
        assert errors[0] < 0.2
        assert errors[0] < 0.7 * errors[1]
        assert len(model.center_indices_) == model.n_atoms_
        assert model.center_indices_.max() < 1000 + 1200 + 1500
        low, high = model.predict_interval(elsewhere)
        assert np.mean((low <= y) & (y <= high)) > 0.8

    def test_leave_what_earlier_rows_have_taught(self, rng):
        def rows(n_rows, shift):
            X = rng.uniform(-2, 2, size=(n_rows, 2)) + np.array([shift, 0])
            return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n_rows)

        model = KernelPursuitRegressor(kernel="rbf", trend=None, random_state=0).partial_fit(*rows(1000, 0.0))
        n_atoms = model.n_atoms_
        for shift in (0.5, 1.0, 2.0, 3.0):
            model.partial_fit(*rows(1000, shift))
        assert model.n_atoms_ > n_atoms + 10
        for shift in (0.0, 3.0):
            X, y = rows(500, shift)
            assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.13, shift

    def test_go_on_while_what_was_learned_is_forgotten(self, rng):
        model = KernelPursuitRegressor(gamma=0.3, alpha=1e-4, forgetting=0.998, random_state=0)
        X = rng.uniform(-2, 2, size=(8000, 2))
        y = np.where(np.arange(8000) < 1500, 1.0, -1.0) * np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=8000)
        for start in range(0, 8000, 500):
            model.partial_fit(X[start : start + 500], y[start : start + 500])
        assert np.sqrt(np.mean((model.predict(X[-500:]) - y[-500:]) ** 2)) < 0.13

    def test_are_no_more_than_max_atoms(self, rng):
        X, y = table(rng, 300)
        model = KernelPursuitRegressor(random_state=0, max_atoms=12).fit(X, y)
        model.partial_fit(*table(rng, 1000, shift=6.0))
        assert model.n_atoms_ <= 12


class TestLearningAgain:
    """Scales that the first rows gave no hint of are learned once rows tell of them, and nothing else is forgotten."""

    @staticmethod
    def rows(rng, n_rows):
        X = rng.normal(size=(n_rows, 4))
        return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]

    @pytest.mark.parametrize("forgetting", [1.0, 0.999])
    def test_where_the_first_rows_were_noise(self, rng, forgetting):
        X, f = self.rows(rng, 4500)
        y = f + 0.1 * rng.normal(size=4500)
        y[:500] = rng.normal(size=500)
        weights, known = rng.uniform(1.0, 3.0, size=4500), X
        model = KernelPursuitRegressor(random_state=0, forgetting=forgetting)
        with pytest.warns(ConstantModelWarning):
            model.partial_fit(X[:500], y[:500], weights[:500])
        first = copy.copy(model)
        for start in range(500, 4500, 500):
            block = slice(start, start + 500)
            model.partial_fit(X[block], y[block], weights[block])
            first.partial_fit(X[block], y[block], weights[block], new_atoms=False)
        X, f = self.rows(rng, 1000)
        assert np.sqrt(np.mean((first.predict(X) - f) ** 2)) > 0.9 * f.std()  # what was learned first is of no use
        assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.1 * f.std()
        assert model.feature_scales_[0] > 0
        np.testing.assert_allclose(model.centers_, known[model.center_indices_])
        assert len(model.center_indices_) == model.n_atoms_ < 80
        low, high = model.predict_interval(X)
        assert 0.75 < np.mean((low <= f + 0.1 * rng.normal(size=1000)) & (f <= high)) <= 1.0

    def test_of_classes(self, rng):
        X, f = self.rows(rng, 3000)
        labels = np.array(["low", "middle", "high"])[np.digitize(f, [-0.5, 0.5])]
        labels[:300] = rng.choice(labels, size=300)
        model = KernelPursuitClassifier(loss="squared", random_state=0)
        for start in range(0, 3000, 300):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConstantModelWarning)
                model.partial_fit(X[start : start + 300], labels[start : start + 300])
        X, f = self.rows(rng, 1000)
        assert model.score(X, np.array(["low", "middle", "high"])[np.digitize(f, [-0.5, 0.5])]) > 0.85

    def test_not_where_other_regions_would_be_forgotten(self, rng, monkeypatch):
        tried = []
        known = relearning.fit_model
        monkeypatch.setattr(relearning, "fit_model", lambda *args: tried.append(None) or known(*args))

        def rows(n_rows, is_elsewhere):
            X = rng.uniform(-1, 1, size=(n_rows, 3))
            X[:, 2] += 4 * is_elsewhere
            return X, np.sin(4 * X[:, int(is_elsewhere)]) + 0.1 * rng.normal(size=n_rows)

        model = KernelPursuitRegressor(random_state=0)
        for is_elsewhere in [False] * 5 + [True] * 3:
            model.partial_fit(*rows(1000, is_elsewhere))
        assert tried
        X, y = rows(500, False)
        assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.3

    def test_with_a_rule_that_has_its_own_rows_and_past_a_gross_error(self, rng):
        X, f = self.rows(rng, 3000)
        y = f + 0.1 * rng.normal(size=3000)
        y[10] = 1e6
        rule = Validation(X=X[2500:], y=f[2500:])
        for model in (KernelPursuitRegressor(random_state=0), KernelPursuitRegressor(random_state=0, stop=rule)):
            with pytest.warns(GrossErrorWarning):
                model.partial_fit(X[:500], y[:500])
            for start in range(500, 2500, 500):
                model.partial_fit(X[start : start + 500], y[start : start + 500])
            assert np.sqrt(np.mean((model.predict(X[2500:]) - f[2500:]) ** 2)) < 0.2 * f.std()

    @pytest.mark.parametrize("seed", range(2))
    def test_after_a_change(self, seed):
        rng = np.random.default_rng(seed)
        X, f = self.rows(rng, 9000)
        f[1000:] = (np.sin(2 * X[:, 3]) + X[:, 2])[1000:]
        y = f + 0.1 * rng.normal(size=9000)
        model = KernelPursuitRegressor(random_state=0, forgetting=0.998)
        for start in range(0, 9000, 500):
            model.partial_fit(X[start : start + 500], y[start : start + 500])
        assert np.sqrt(np.mean((model.predict(X[6000:]) - f[6000:]) ** 2)) < 0.1 * f.std()
        assert model.alpha_ > 1e-12
        assert model.path_.loo[-1] < 0.1

    def test_not_where_nothing_is_gained(self, rng, monkeypatch):
        monkeypatch.setattr(LiveModel, "begun_anew", None)
        X, f = self.rows(rng, 3000)
        y = f + 0.5 * rng.normal(size=3000)
        model = KernelPursuitRegressor(random_state=0)
        for start in range(0, 3000, 1000):
            model.partial_fit(X[start : start + 1000], y[start : start + 1000])

    def test_not_where_the_width_is_given_or_no_atoms_are_wanted(self, rng, monkeypatch):
        monkeypatch.setattr(relearning, "fit_model", None)
        X, f = self.rows(rng, 1000)
        for settings, options in (({"gamma": 0.5}, {}), ({}, {"new_atoms": False})):
            model = KernelPursuitRegressor(random_state=0, max_atoms=20, **settings)
            for start in range(0, 1000, 250):
                model.partial_fit(X[start : start + 250], f[start : start + 250], **options)


class TestClasses:
    def test_follow_rows(self, rng):
        X, y = table(rng, 900)
        labels = np.array(["low", "high", "top"])[np.digitize(y, [0.0, 1.5])]
        model = KernelPursuitClassifier(random_state=0, loss="squared")
        for start in range(0, 900, 300):
            part = slice(start, start + 300)
            model.partial_fit(X[part], labels[part], classes=["high", "low", "none", "top"])
        assert model.classes_.tolist() == ["high", "low", "none", "top"]
        assert model.score(X, labels) > 0.9
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)

    def test_weights_of_classes_that_are_still_to_come(self, rng):
        X, y = table(rng, 600)
        labels = np.digitize(y, [0.0, 1.5])
        few = np.flatnonzero(labels < 2)[:200]
        rest = np.setdiff1d(np.arange(600), few)
        weight = {0: 1.0, 1: 2.0, 2: 5.0}
        model = KernelPursuitClassifier(gamma=0.3, max_atoms=20, loss="squared", class_weight=weight, random_state=0)
        model.partial_fit(X[few], labels[few], classes=[0, 1, 2]).partial_fit(X[rest], labels[rest], new_atoms=False)
        assert model.path_.total_weight == pytest.approx(sum(weight[label] for label in labels.tolist()))

    def test_refusals(self, rng):
        X, y = table(rng, 100)
        labels = (y > 0).astype(int)
        with pytest.raises(ValueError, match="there is one class only, 1; name all that may come"):
            KernelPursuitClassifier(loss="squared").partial_fit(X, np.ones(100, dtype=int))
        with pytest.raises(ValueError, match="y holds the label 1, which is not among `classes`"):
            KernelPursuitClassifier(loss="squared").partial_fit(X, labels, classes=[0, 2])
        model = KernelPursuitClassifier(random_state=0, loss="squared").partial_fit(X, labels)
        with pytest.raises(ValueError, match="y holds the label 6, which is not among the classes of the first call"):
            model.partial_fit(X, labels + 6)
        with pytest.raises(ValueError, match="classes are not those of the first call"):
            model.partial_fit(X, labels, classes=[0, 1, 2])


class TestState:
    def test_no_rows_change_nothing(self, rng, fitted):
        model, X, y = fitted
        before = model.predict(X)
        np.testing.assert_array_equal(model.partial_fit(X[:0], y[:0]).predict(X), before)
        labels = KernelPursuitClassifier(gamma=0.5, max_atoms=9, loss="squared").fit(X, y > 0)
        before = labels.predict_proba(X)
        np.testing.assert_array_equal(labels.partial_fit(X[:0], (y > 0)[:0]).predict_proba(X), before)
        with pytest.raises(ValueError, match="multiply X by a constant first"):
            labels.partial_fit(1e305 * X, y > 0)

    def test_a_fit_forgets_it_and_a_pickle_keeps_it(self, rng, fitted):
        model, X, y = fitted
        live = copy.copy(model).partial_fit(*table(rng, 50))
        more = table(rng, 80)
        again = pickle.loads(pickle.dumps(live)).partial_fit(*more)
        np.testing.assert_array_equal(again.predict(X), copy.copy(live).partial_fit(*more).predict(X))
        np.testing.assert_array_equal(live.fit(X, y).predict(X), model.predict(X))
        assert live._live is None

    def test_rows_that_fail_leave_it_as_it_was(self, rng, fitted):
        model, X, _ = fitted
        before = model.predict(X)
        for bad_X, bad_y, words in (
            (X[:3, :1], np.zeros(3), "X is not usable"),
            (np.full((2, 2), np.nan), np.zeros(2), "X is not usable: it holds NaN in row 0, feature 0"),
            (X[:3], np.zeros(2), r"y has shape \(2,\), but X has 3 rows"),
            (X[:3], np.zeros((3, 2)), "y has 2 targets, but the model has 1"),
        ):
            with pytest.raises(ValueError, match=words):
                model.partial_fit(bad_X, bad_y)
        np.testing.assert_array_equal(model.predict(X), before)

    def test_it_is_there_where_rows_can_be_added(self):
        for params in (
            {"loss": "huber"},
            {"update": "stagewise"},
            {"penalty": "nugget"},
            {"penalty": "ols"},
            {"exchange": True},
            {"kernel": "precomputed"},
        ):
            (name,) = params
            assert not hasattr(KernelPursuitRegressor(**params), "partial_fit")
            with pytest.raises(AttributeError, match=f"^partial_fit does not go with {name}=.*; (use|give) "):
                _ = KernelPursuitRegressor(**params).partial_fit
        with pytest.raises(AttributeError, match=r"^partial_fit does not go with loss='auto'; use loss='squared'\.$"):
            KernelPursuitClassifier().partial_fit(np.eye(2), [0, 1])
        assert KernelPursuitRegressor.partial_fit.__doc__.startswith("Go on with more rows")
        for params in ({}, {"loss": "log"}, {"multi_class": "ovr"}, {"class_weight": "balanced"}):
            assert not hasattr(
                KernelPursuitClassifier(**{"loss": "squared", **params} if params else {}), "partial_fit"
            )
        assert hasattr(KernelPursuitClassifier(loss="squared"), "partial_fit")

    @pytest.mark.parametrize("forgetting", [0.0, 1.1, -1, np.nan, "no"])
    def test_forgetting_is_checked(self, rng, forgetting):
        X, y = table(rng, 30)
        with pytest.raises(ValueError, match="forgetting="):
            KernelPursuitRegressor(forgetting=forgetting).partial_fit(X, y)

    def test_forgetting_that_was_changed_after_a_fit_is_checked_too(self, rng, fitted):
        model, X, y = fitted
        with pytest.raises(ValueError, match=r"forgetting=1\.5 is too large; give a number above 0 and at most 1"):
            copy.copy(model).set_params(forgetting=1.5).partial_fit(X, y)
