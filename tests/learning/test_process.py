"""Defaults below 5,000 rows: a Gaussian process learned by its evidence, and atoms picked under its penalty."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback
from kernelpursuit.kernels import RBF, Matern52
from kernelpursuit.learning import plan


def regressor(**params):
    return KernelPursuitRegressor(**{"random_state": 0, "n_jobs": 1, **params})


def wave(n, seed=0, noise=0.1, periods=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(2 * np.pi * periods * X[:, 0]) + noise * rng.normal(size=n)


class TestPenalty:
    def test_is_that_of_the_process(self):
        model = regressor().fit(*wave(60))
        assert (model.penalty, model.penalty_) == ("auto", "rkhs")

    @pytest.mark.parametrize("settings", [{"alpha": 1e-2}, {"penalty": "ridge"}, {"loss": "huber"}, {"gamma": 1.0}])
    def test_is_ridge_where_something_else_was_asked_for(self, settings):
        assert regressor(max_atoms=5, **settings).fit(*wave(60)).penalty_ == "ridge"

    def test_is_ridge_where_rows_are_refined_for(self, monkeypatch):
        monkeypatch.setattr(plan, "REFINED_FROM", 60)
        assert regressor(max_atoms=5).fit(*wave(60)).penalty_ == "ridge"

    def test_is_ridge_for_a_classifier_but_under_the_squared_loss(self):
        X, y = wave(60)
        assert KernelPursuitClassifier(max_atoms=5, random_state=0).fit(X, y > 0).penalty_ == "ridge"
        assert KernelPursuitClassifier(max_atoms=5, loss="squared", random_state=0).fit(X, y > 0).penalty_ == "rkhs"

    @pytest.mark.parametrize("weights", [None, np.linspace(0.2, 2.0, 40)])
    def test_with_an_atom_at_every_row_the_model_is_the_posterior_mean(self, weights):
        X, y = wave(40, periods=6)
        model = regressor(kernel="matern52", stop="max", max_atoms=40, outside="free").fit(X, y, weights)
        assert model.n_atoms_ == 40
        w = np.ones(40) if weights is None else weights / weights.mean()
        C = np.linalg.inv(model.kernel_(X, X) + 40 * model.alpha_ * np.diag(1 / w))
        mean = C.sum(axis=0) @ y / C.sum()
        expected = mean + model.kernel_(X, X) @ C @ (y - mean)
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6, atol=1e-8)


class TestWhatIsFound:
    def test_kernels_are_told_apart_by_few_rows(self):
        assert isinstance(regressor().fit(*wave(60)).kernel_, RBF)
        rng = np.random.default_rng(1)
        x = np.sort(rng.uniform(size=150))
        walk = np.cumsum(rng.normal(size=150))
        assert isinstance(regressor().fit(x[:, None], walk).kernel_, Matern52)

    @pytest.mark.parametrize("seed", range(3))
    def test_noise_is_found(self, seed):
        X, y = wave(300, seed=seed, noise=0.3)
        model = regressor().fit(X, y)
        assert np.sqrt(model.path_.noise_variance(model.n_atoms_)) == pytest.approx(0.3, rel=0.15)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_product_of_two_features_has_few_atoms(self, seed):
        rng = np.random.default_rng(seed)
        X, new = rng.uniform(-1, 1, size=(300, 5)), rng.uniform(-1, 1, size=(1000, 5))
        y = X[:, 0] * X[:, 1]
        model = regressor().fit(X, y + 0.1 * y.std() * rng.normal(size=300))
        truth = new[:, 0] * new[:, 1]
        assert model.n_atoms_ < 40
        assert np.sqrt(np.mean(np.square(model.predict(new) - truth))) < 0.03 * truth.std()

    def test_what_is_fast_in_one_corner_is_found(self):
        """To a search that starts from wide kernels it looks like noise."""
        rng = np.random.default_rng(0)
        X, new = rng.uniform(-1, 1, size=(1500, 2)), rng.uniform(-1, 1, size=(1000, 2))

        def f(X):
            inside = (X > 0).all(axis=1)
            return np.sin(2 * X[:, 0]) + X[:, 1] + inside * np.sin(20 * X[:, 0]) * np.sin(20 * X[:, 1])

        model = regressor().fit(X, f(X) + 0.08 * rng.normal(size=1500))
        error = np.sqrt(np.mean(np.square(model.predict(new) - f(new)))) / f(new).std()
        assert error < 0.15, "without the fast part 0.24"

    def test_labels_that_cluster_are_not_fitted_without_noise(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(200, 8))
        y = (X[:, 0] + 0.8 * rng.normal(size=200) > 0.5).astype(float)
        model = regressor().fit(X, y)
        assert model.alpha_ * 200 >= 0.03
        assert model.predict(X).max() < 1.6


class TestSeeds:
    def test_below_a_thousand_rows_nothing_is_random(self):
        X, y = make_friedman1(450, noise=1.0, random_state=0)
        one, other = (regressor(random_state=seed).fit(X, y).predict(X) for seed in (0, 5))
        np.testing.assert_array_equal(one, other)

    def test_the_order_of_rows_is_no_matter(self):
        X, y = make_friedman1(450, noise=1.0, random_state=0)
        order = np.random.default_rng(0).permutation(450)
        one, other = regressor().fit(X, y), regressor().fit(X[order], y[order])
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-7)


class TestCandidates:
    def test_of_more_rows_than_a_thousand_some_may_be_centres(self, monkeypatch):
        monkeypatch.setattr(plan.EvidencePlan, "__init__", _short(n_candidates=50, n_rows=100, n_first=60))
        X, y = make_friedman1(200, noise=1.0, random_state=0)
        model = regressor(stop="max", max_atoms=200).fit(X, y)
        assert model.path_.n_candidates == 50
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])

    def test_an_end_in_vain_is_no_end_of_a_wave(self):
        """The first atoms of a fast wave gain nothing, and the loop must not lose patience."""
        rng = np.random.default_rng(0)
        X = (np.arange(500)[:, None] + rng.random((500, 1))) / 500
        truth = np.sin(2 * np.pi * 60 * X[:, 0])
        model = regressor().fit(X, truth + 0.1 * rng.normal(size=500))
        assert np.sqrt(np.mean(np.square(model.predict(X) - truth))) < 0.1


def _short(**settings):
    init = plan.EvidencePlan.__init__

    def begin(self, **given):
        init(self, **{**settings, **given})

    return begin


class Follows(Callback):
    """Notes every stage, and ends those of one name."""

    def __init__(self, ends=None):
        self.ends, self.seen = ends, []

    def on_stage(self, stage):
        self.seen.append(stage)
        return self.ends is not None and stage.name.startswith(self.ends)

    @property
    def names(self):
        return [name for name, _ in itertools.groupby(stage.name for stage in self.seen)]


class TestStages:
    def test_are_followed(self):
        follows = Follows()
        regressor().fit(*wave(80), callback=follows)
        assert follows.names == ["scales", "fitting all rows"]
        done = [stage.fraction for stage in follows.seen]
        assert done == sorted(done)

    @pytest.mark.parametrize("stage", ["scales", "fitting all rows"])
    def test_each_may_be_ended(self, stage):
        X, y = wave(80)
        model = regressor().fit(X, y, callback=Follows(ends=stage))
        assert np.isfinite(model.predict(X)).all()


class TestRowsFarFromAllOthers:
    @pytest.mark.parametrize("seed", range(4))
    def test_do_not_decide_the_number_of_atoms(self, seed):
        """Without it, there is only the constant at such a row, which wide kernels may have led anywhere."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 3))
        y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 2] + 0.1 * rng.normal(size=90)
        X[4, 1] = 60.0
        model = regressor(kernel="rbf", max_atoms=12).fit(X, y)
        assert model.n_atoms_ > 5
        kept = np.arange(90) != 4
        assert np.mean(np.square(model.predict(X[kept]) - y[kept])) < 0.1

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.GrossErrorWarning")
    def test_are_left_out_within_the_range_of_predictions(self):
        X, y = wave(50)
        X = np.vstack([X, [[40.0]]])
        y = np.append(y, 0.5)
        bounded, free = (regressor(stop="max", max_atoms=20, outside=outside).fit(X, y) for outside in ("auto", "free"))
        assert (bounded.path_.loo <= free.path_.loo + 1e-12).all()
        assert bounded.path_.loo.max() * 51 < (2 * np.ptp(y)) ** 2 + 51 * np.var(y) * 1.1
