"""Defaults below 5,000 rows: a Gaussian process learned by its evidence, and atoms picked under its penalty."""

import itertools
import zlib

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback, TimeLimit
from kernelpursuit.kernels import RBF, Matern52
from kernelpursuit.learning import plan, process
from kernelpursuit.stopping import NoAtoms


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

    @pytest.mark.parametrize("loss", ["auto", "log", "squared", "hinge"])
    def test_is_that_of_the_process_for_a_classifier_unless_alpha_is_given(self, loss):
        X, y = wave(60)
        classifier = KernelPursuitClassifier(max_atoms=5, loss=loss, random_state=0)
        assert classifier.fit(X, y > 0).penalty_ == "rkhs"
        assert classifier.set_params(alpha=1e-2).fit(X, y > 0).penalty_ == "ridge"

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
        """In five of six draws, of a smooth wave and of a random walk."""
        smooth, rough = [], []
        for seed in range(6):
            smooth.append(isinstance(regressor().fit(*wave(60, seed=seed)).kernel_, RBF))
            rng = np.random.default_rng(seed)
            x, walk = np.sort(rng.uniform(size=150)), np.cumsum(rng.normal(size=150))
            rough.append(isinstance(regressor().fit(x[:, None], walk).kernel_, Matern52))
        assert sum(smooth) >= 5
        assert sum(rough) >= 5

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

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    def test_a_line_under_much_noise(self):
        """Ten scales cannot be told from forty rows; one for all of them can."""
        ratios = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(1040, 10))
            truth = X.sum(axis=1) / np.sqrt(10)
            model = regressor().fit(X[:40], (truth + rng.normal(size=1040))[:40])
            ratios.append(np.sqrt(np.mean(np.square(model.predict(X[40:]) - truth[40:]))))
        assert np.median(ratios) < 0.8, "1.0 is a constant, ridge regression has 0.6"

    @pytest.mark.parametrize("seed", range(3))
    def test_a_product_with_one_fast_factor(self, seed):
        """It has mean zero along the fast feature, so that no periodogram shows it."""
        rng = np.random.default_rng(seed)
        X, new = rng.uniform(-1, 1, size=(600, 5)), rng.uniform(-1, 1, size=(1000, 5))

        def f(X):
            return np.sign(np.sin(8 * X[:, 0])) * X[:, 1] + np.abs(np.sin(5 * X[:, 2]))

        model = regressor().fit(X, f(X) + 0.06 * rng.normal(size=600))
        assert np.std(model.predict(new) - f(new)) < 0.75 * f(new).std(), "without the product 0.88"

    def test_steps_are_no_noise(self, monkeypatch):
        """Evidence takes what a smooth kernel leaves beside a step for noise, and leave-one-out errors correct that."""
        rng = np.random.default_rng([0, zlib.crc32(b"step_of_200"), 0])
        x = rng.permutation((np.arange(200) + rng.random(200)) / 200)
        y = (x > 0.4) + 0.049 * rng.normal(size=200)
        corrected = regressor().fit(x[:, None], y)
        monkeypatch.setattr(process, "SCALE_AND_NOISE_FACTORS", ())
        as_it_was = regressor().fit(x[:, None], y)
        new = np.linspace(0.001, 0.999, 1000)
        errors = [np.mean(np.square(one.predict(new[:, None]) - (new > 0.4))) for one in (corrected, as_it_was)]
        assert errors[0] < 0.8 * errors[1]

    def test_what_is_fast_in_one_corner_needs_finer_scales(self, monkeypatch):
        trials = []
        monkeypatch.setattr(process, "_finer", lambda *given: trials.append(given) or iter(()))
        regressor().fit(*wave(60))
        assert trials


class TestTargets:
    @pytest.mark.parametrize("constant", [0.0, 1.0, 0.1])
    def test_one_that_does_not_vary_is_no_matter(self, constant):
        X, y = make_friedman1(150, noise=0.5, random_state=0)
        alone = regressor().fit(X, y[:, None])
        both = regressor().fit(X, np.column_stack([y, np.full(150, constant)]))
        np.testing.assert_allclose(both.predict(X)[:, 0], alone.predict(X)[:, 0], rtol=0.05, atol=0.3)
        np.testing.assert_allclose(both.predict(X)[:, 1], constant, atol=1e-6)

    @pytest.mark.parametrize("offset", [1e6, 1e9])
    def test_an_offset_is_no_matter(self, offset):
        X, y = wave(150)
        one, other = regressor().fit(X, y), regressor().fit(X, y + offset)
        assert np.sqrt(np.mean(np.square(other.predict(X) - offset - one.predict(X)))) < 0.02


class TestWeights:
    """Errors are those of `penalty="ridge"`, by far the closest rival, or less."""

    @pytest.mark.parametrize("kind", ["one of 300", "one of 3000", "log-normal"])
    def test_uneven_ones_do_not_ruin_a_model(self, kind):
        errors = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X, new = rng.uniform(-1, 1, size=(300, 2)), rng.uniform(-1, 1, size=(500, 2))
            weights = np.ones(300)
            if kind == "log-normal":
                weights = np.exp(3 * rng.normal(size=300))
            else:
                weights[3] = float(kind.split()[-1])
            y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2
            model = regressor().fit(X, y + 0.1 * rng.normal(size=300), weights)
            truth = np.sin(4 * new[:, 0]) + new[:, 1] ** 2
            errors.append(np.sqrt(np.mean(np.square(model.predict(new) - truth))))
        assert max(errors) < 0.3, "a constant has 0.75"

    def test_a_heavy_row_outside_the_sample_does_not_change_the_noise(self):
        X, y = make_friedman1(1500, noise=1.0, random_state=0)
        plain = regressor(max_atoms=20).fit(X, y)
        for row in (0, 700):
            weights = np.ones(1500)
            weights[row] = 1000.0
            heavy = regressor(max_atoms=20).fit(X, y, weights)
            noise = heavy.alpha_ * weights.mean()  # weights are taken in units of their mean
            assert noise == pytest.approx(plain.alpha_, rel=1.5)


class TestRule:
    @pytest.mark.parametrize("seed", range(4))
    def test_select_auto_is_what_the_fit_kept(self, seed):
        X, y = make_friedman1(200, noise=1.0, random_state=seed)
        model = regressor().fit(X, y)
        assert model.select("auto").n_atoms_ == model.n_atoms_
        assert model.select("auto").stop_reason_ == model.stop_reason_

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    def test_noise_has_a_short_path_and_says_why(self):
        rng = np.random.default_rng(0)
        model = regressor().fit(rng.normal(size=(300, 2)), rng.normal(size=300))
        assert model.stop_reason_ == "0 atoms: their evidence is no higher than that of a constant"
        assert 0 < model.path_.n_steps <= 64

    def test_the_rule_that_keeps_none_ends_the_loop_where_it_was_told_to(self):
        X, y = wave(100, periods=6)
        path = regressor(gamma=300.0, kernel="matern52", stop=NoAtoms("none are wanted", n_steps=9)).fit(X, y)
        assert (path.path_.n_steps, path.n_atoms_) == (9, 0)

    @pytest.mark.parametrize(("n_rows", "refine"), list(itertools.product([59, 60], ["auto", False, True])))
    def test_which_rows_are_few(self, n_rows, refine, monkeypatch):
        monkeypatch.setattr(plan, "REFINE_FROM", 60)
        model = regressor(max_atoms=5, refine=refine).fit(*wave(n_rows))
        assert model.penalty_ == ("rkhs" if n_rows < 60 and refine is not True else "ridge")

    def test_a_time_limit_leaves_a_model(self):
        X, y = make_friedman1(1200, noise=1.0, random_state=0)
        model = regressor().fit(X, y, callback=TimeLimit(1.0, clock=itertools.count(step=0.01).__next__))
        assert model.n_atoms_ > 5
        assert model.score(X, y) > 0.5
        assert "TimeLimit" in model.stop_reason_


class TestIntervals:
    @pytest.mark.parametrize(("n_rows", "n_features"), [(60, 30), (240, 100)])
    def test_many_features_for_the_rows(self, n_rows, n_features):
        """Scales tuned on so few rows make their errors look small: half of new rows were in 90 % intervals."""
        held = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(n_rows + 500, n_features))
            y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X))
            lower, upper = regressor().fit(X[:n_rows], y[:n_rows]).predict_interval(X[n_rows:])
            held.append(np.mean((y[n_rows:] >= lower) & (y[n_rows:] <= upper)))
        assert np.mean(held) > 0.75


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
        assert stage in model.stop_reason_ or "callback" in model.stop_reason_


class TestRowsFarFromAllOthers:
    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.GrossErrorWarning")
    def test_do_not_decide_the_number_of_atoms(self):
        """Without it, there is only the constant at such a row, which wide kernels may have led anywhere.

        Over six draws, by their mean; none of them is a constant or near it.
        """
        errors, kept = [], np.arange(90) != 4
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(90, 3))
            y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 2] + 0.1 * rng.normal(size=90)
            X[4, 1] = 60.0
            model = regressor(kernel="rbf", max_atoms=12).fit(X, y)
            assert model.n_atoms_ >= 4, seed
            errors.append(np.mean(np.square(model.predict(X[kept]) - y[kept])) / y.var())
        assert np.mean(errors) < 0.1, errors
        assert max(errors) < 0.3, errors

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.GrossErrorWarning")
    def test_are_left_out_within_the_range_of_predictions(self):
        X, y = wave(50)
        X = np.vstack([X, [[40.0]]])
        y = np.append(y, 0.5)
        bounded, free = (regressor(stop="max", max_atoms=20, outside=outside).fit(X, y) for outside in ("auto", "free"))
        assert (bounded.path_.loo <= free.path_.loo + 1e-12).all()
        assert bounded.path_.loo.max() * 51 < (2 * np.ptp(y)) ** 2 + 51 * np.var(y) * 1.1
