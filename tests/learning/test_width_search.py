"""Scales learned for the systems of the papers: their own loop runs with them, over all rows."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import rbf_kernel

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.callbacks import TimeLimit
from kernelpursuit.kernels import RBF, Laplacian
from kernelpursuit.learning import search_width
from kernelpursuit.learning.width_search import FoundWidth
from kernelpursuit.pursuit import Watch, held_out_rows
from kernelpursuit.stopping import Validation

REFITTED = [
    preset
    for preset in presets.ALL
    if preset.name not in ("kmp_basic", "kmp_tanh", "sparse_gp_greedy", "sparse_gp_kappa")
]


@pytest.fixture(scope="module")
def friedman():
    """Five features that matter and five that do not."""
    X, y = make_friedman1(260, 10, noise=0.5, random_state=0)
    fresh, wanted = make_friedman1(1000, 10, random_state=1)
    return X, y - y.mean(), fresh, wanted - y.mean()


def fitted(preset, X, y, **params):
    most = {} if "stop" in preset.settings else {"max_atoms": 40}
    return preset(random_state=0, **{**most, **params}).fit(X, y)


class TestEveryPreset:
    @pytest.mark.parametrize("preset", [p for p in presets.ALL if p.name != "kmp_tanh"], ids=lambda p: p.name)
    def test_the_loop_of_the_paper_runs_with_what_was_learned(self, friedman, preset):
        X, y, fresh, _ = friedman
        model = fitted(preset, X, y, gamma="learn")
        again = fitted(preset, X, y, gamma=model.kernel_.gamma, alpha=model.alpha_)
        np.testing.assert_array_equal(model.center_indices_, again.center_indices_)
        np.testing.assert_array_equal(model.predict(fresh), again.predict(fresh))

    @pytest.mark.parametrize("preset", REFITTED, ids=lambda p: p.name)
    def test_errors_are_lower_than_with_a_rule_of_thumb(self, friedman, preset):
        X, y, fresh, wanted = friedman
        learned, plain = (
            np.mean(np.square(fitted(preset, X, y, gamma=gamma).predict(fresh) - wanted))
            for gamma in ("learn", "scale")
        )
        assert learned < plain / 2

    def test_features_that_do_not_matter_have_small_scales(self, friedman):
        X, y, _, _ = friedman
        scales = fitted(presets.greedy_qr, X, y, gamma="learn").feature_scales_
        assert scales[5:].max() < 0.2 * scales[:3].min()

    def test_a_penalty_that_is_given_stays(self, friedman):
        X, y, _, _ = friedman
        assert fitted(presets.tcr, X, y, gamma="learn").alpha_ == 1e-6
        assert fitted(presets.sparse_gp_subspace, X, y, gamma="learn", alpha=0.02).alpha_ == 0.02

    @pytest.mark.parametrize("penalty", ["ridge", "ols", "rkhs", "nugget"])
    def test_the_penalty_follows_the_noise(self, friedman, rng, penalty):
        X, y, _, _ = friedman
        noisy = y + 3.0 * rng.standard_normal(len(y))
        settings = {"selection": "residual", "penalty": penalty, "gamma": "learn"}
        alphas = [
            KernelPursuitRegressor(max_atoms=60, stop="max", random_state=0, fit_intercept=False, **settings)
            .fit(X, targets)
            .alpha_
            for targets in (y, noisy)
        ]
        assert alphas[1] > 3 * alphas[0]

    def test_predictions_are_those_of_the_sum_everywhere(self, friedman):
        X, y, _, _ = friedman
        model = fitted(presets.rfs, X, y, gamma="learn")
        far = X[:5] + 0.7
        scales = np.sqrt(model.kernel_.gamma)
        K = rbf_kernel(far * scales, model.centers_ * scales, gamma=1.0)
        np.testing.assert_allclose(model.predict(far), K @ np.ravel(model.coef_), rtol=1e-9)


class TestClasses:
    def test_two(self, rng):
        X = rng.normal(size=(300, 8))
        y = np.hypot(X[:, 0], X[:, 1]) > 1.2
        fresh = rng.normal(size=(2000, 8))
        wanted = np.hypot(fresh[:, 0], fresh[:, 1]) > 1.2
        learned, plain = (
            presets.greedy_qr.classifier(gamma=gamma, max_atoms=30, random_state=0).fit(X, y)
            for gamma in ("learn", "scale")
        )
        assert learned.score(fresh, wanted) > plain.score(fresh, wanted) + 0.05
        assert learned.feature_scales_[2:].max() < 0.3 * learned.feature_scales_[:2].min()

    def test_models_of_several_share_their_scales(self, rng):
        X = rng.normal(size=(300, 6))
        y = np.digitize(X[:, 0], [-0.5, 0.5])
        model = presets.kmp_backfit.classifier(gamma="learn", max_atoms=15, random_state=0).fit(X, y)
        assert model.feature_scales_ is not None
        for one in model.estimators_:
            np.testing.assert_array_equal(one.kernel_.gamma, model.kernel_.gamma)
        again = presets.kmp_backfit.classifier(gamma=model.kernel_.gamma, max_atoms=15, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))

    def test_another_loss(self, rng):
        X = rng.normal(size=(200, 4))
        y = X[:, 0] * X[:, 1] > 0
        model = presets.kmp_tanh.classifier(gamma="learn", max_atoms=15, random_state=0).fit(X, y)
        assert model.feature_scales_[2:].max() < model.feature_scales_[:2].min()


class TestAtHome:
    def test_a_warm_start_gives_what_a_fit_from_scratch_gives(self, friedman):
        X, y, fresh, _ = friedman
        model = presets.rfs(gamma="learn", max_atoms=10, warm_start=True, random_state=0).fit(X, y)
        warm = model.set_params(max_atoms=40).fit(X, y)
        np.testing.assert_array_equal(warm.predict(fresh), fitted(presets.rfs, X, y, gamma="learn").predict(fresh))
        gamma = warm.kernel_.gamma
        np.testing.assert_array_equal(warm.fit(X, y).kernel_.gamma, gamma)

    def test_copies_of_rows_do_not_validate_each_other(self):
        X, y = make_friedman1(150, 6, noise=3.0, random_state=0)
        fresh, wanted = make_friedman1(1000, 6, random_state=1)
        errors = [
            np.mean(np.square(model.predict(fresh) - wanted))
            for model in (
                fitted(presets.rfs, X, y, gamma="learn", fit_intercept=True),
                fitted(presets.rfs, np.tile(X, (4, 1)), np.tile(y, 4), gamma="learn", fit_intercept=True),
            )
        ]
        assert errors[1] < 2 * errors[0]

    def test_units_of_features_change_nothing(self, friedman):
        X, y, fresh, _ = friedman
        units = 2.0 ** np.arange(-5, 5)
        one, other = (
            fitted(presets.kmp_basic, X * unit, y, gamma="learn").predict(fresh * unit) for unit in (1.0, units)
        )
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("preset", [presets.rfs, presets.ols, presets.sparse_gp_subspace], ids=lambda p: p.name)
    def test_equal_weights_of_any_size_change_nothing(self, friedman, preset):
        X, y, fresh, _ = friedman
        plain = fitted(preset, X, y, gamma="learn").predict(fresh)
        weighted = preset(gamma="learn", max_atoms=40, random_state=0).fit(X, y, sample_weight=np.full(len(y), 1e-6))
        np.testing.assert_allclose(weighted.predict(fresh), plain, rtol=1e-4, atol=1e-4)

    def test_a_line_is_in_the_trials_too(self, friedman):
        X, y, fresh, wanted = friedman
        learned, plain = (
            np.mean(np.square(fitted(presets.rfs, X, y, gamma=g, trend="linear").predict(fresh) - wanted))
            for g in ("learn", "scale")
        )
        assert learned < plain / 2

    def test_rows_that_a_rule_holds_out_are_not_learned_from(self, friedman):
        X, y, _, _ = friedman
        rule = Validation(fraction=0.25)
        settings = {"selection": "correlation", "stop": rule, "random_state": 0, "max_atoms": 20}
        first = KernelPursuitRegressor(**settings).fit(X, y)
        held = held_out_rows(np.ones(len(y)), 0.25, first._state.seed, y[:, None], classes=False)
        second = KernelPursuitRegressor(**settings).fit(X, np.where(held, -y, y))
        np.testing.assert_array_equal(first.kernel_.gamma, second.kernel_.gamma)
        np.testing.assert_array_equal(first.path_.atom[:3], second.path_.atom[:3])

    def test_rows_without_a_weight_do_not_count(self, friedman):
        X, y, fresh, _ = friedman
        weights = np.arange(len(y)) % 3 > 0
        whole = fitted(presets.rfs, X[weights], y[weights], gamma="learn")
        model = presets.rfs(gamma="learn", max_atoms=40, random_state=0).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(model.predict(fresh), whole.predict(fresh), rtol=1e-6)

    def test_drawn_and_named_candidates(self, friedman):
        X, y, _, _ = friedman
        named = np.arange(0, len(y), 2)
        assert presets.rfs(gamma="learn", candidates=20, max_atoms=10, random_state=0).fit(X, y).n_atoms_ == 10
        model = presets.rfs(gamma="learn", candidates=named, max_atoms=10, random_state=0).fit(X, y)
        assert set(model.center_indices_) <= set(named)
        assert model.feature_scales_ is not None

    def test_a_time_limit_is_kept(self, friedman):
        X, y, _, _ = friedman
        model = presets.rfs(gamma="learn", max_atoms=30, random_state=0).fit(X, y, callback=TimeLimit(1e-6))
        assert "cut short" in model.stop_reason_

    def test_fewer_rows_than_can_be_learned_from(self):
        X, y = np.linspace(0, 1, 8)[:, None], np.arange(8.0)
        model = presets.rfs(gamma="learn", max_atoms=4).fit(X, y)
        want = presets.rfs(gamma="scale", max_atoms=4).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), want.predict(X))
        assert model.feature_scales_ is None

    def test_a_straight_line_comes_only_on_request(self, friedman):
        X, y, _, _ = friedman
        y = y + 30 * X[:, 0]
        assert fitted(presets.rfs, X, y, gamma="learn").model_.always is None
        assert fitted(presets.rfs, X, y, gamma="learn", trend="linear").model_.always is not None

    def test_says_what_it_does(self, friedman, capsys):
        X, y, _, _ = friedman
        fitted(presets.rfs, X, y, gamma="learn", verbose=True)
        assert "learning the scales of 10 features" in capsys.readouterr().err

    def test_a_classifier_that_is_not_a_preset(self, rng):
        X = rng.normal(size=(200, 5))
        y = X[:, 0] > 0
        model = KernelPursuitClassifier(selection="correlation", max_atoms=10, random_state=0).fit(X, y)
        assert model.feature_scales_ is not None
        assert model.score(X, y) > 0.9


class Errors:
    """A trial whose errors are known: least where scales and penalty are so many times those at the start."""

    def __init__(self, factor, times=1.0, plain=np.inf):
        self.factor, self.times, self.plain, self.watch, self.seen = factor, times, plain, Watch(), []

    def error(self, kernel, alpha):
        if kernel.gamma is None:
            return self.plain
        factor = float(np.max(kernel.gamma)) ** kernel.gamma_power
        self.seen.append((factor, alpha))
        return 1.0 + np.log(factor / self.factor) ** 2 + np.log(alpha / self.times) ** 2


class TestSearch:
    @pytest.mark.parametrize("kernel", [RBF(gamma=np.ones(2)), Laplacian(gamma=np.ones(2))])
    @pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 8.0])
    def test_goes_on_while_the_error_falls(self, kernel, factor):
        found = search_width(kernel, None, (type(kernel)(), 1.0), Errors(factor))
        assert found.factor == factor
        np.testing.assert_allclose(np.max(found.kernel.gamma) ** kernel.gamma_power, factor)

    @pytest.mark.parametrize("times", [0.01, 1.0, 100.0])
    def test_then_the_penalty(self, times):
        found = search_width(RBF(gamma=np.ones(2)), 1.0, (RBF(), 1.0), Errors(2.0, times))
        assert (found.factor, found.alpha) == (2.0, pytest.approx(times))

    def test_ends_after_some_steps(self):
        trial = Errors(1e9)
        assert search_width(RBF(gamma=np.ones(2)), None, (RBF(), 1.0), trial).factor == 16.0
        assert len(trial.seen) == 5

    def test_keeps_one_width_for_all_where_that_has_the_lower_error(self):
        found = search_width(RBF(gamma=np.ones(2)), 1.0, (RBF(), 0.5), Errors(2.0, plain=0.9))
        assert found == FoundWidth(RBF(), 0.5, None)

    def test_ends_where_it_is_asked_to(self):
        trial = Errors(4.0, plain=0.0)
        trial.watch = Watch(TimeLimit(1e-9))
        found = search_width(RBF(gamma=np.ones(2)), 1.0, (RBF(), 0.5), trial)
        assert (found.factor, found.alpha) == (1.0, 1.0)
        assert len(trial.seen) == 1
