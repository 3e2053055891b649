"""The estimators as they come: better than a width by rule of thumb, and at home in all that estimators can do."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from plain import plain_regressor
from short import SHORT
from short import short_regressor as regressor
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_predict

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.dictionary import Constant, KernelAtoms
from kernelpursuit.estimators import resolve
from kernelpursuit.kernels import RBF, Matern32, Matern52
from kernelpursuit.learning import LearningSpec, choose_kernel, make_plan, plan
from kernelpursuit.losses import Huber, Loss, Quantile
from kernelpursuit.pursuit import held_out_rows
from kernelpursuit.stopping import Loo, Max, Validation


class LowSquare(Loss):
    """Half the square, less so much that it is below zero near the targets."""

    def value(self, y, f):
        return np.square(y - f).sum(axis=0) / 2 - 3.0

    def gradient(self, y, f):
        return f - y

    def curvature(self, y, f):
        return np.ones(y.shape[1])


def classifier(**params):
    return KernelPursuitClassifier(**{**SHORT, "max_atoms": 6, **params})


@pytest.fixture(scope="module")
def labelled(some):
    X, y = some
    return X, np.array(["low", "mid", "high"])[np.digitize(y, [0.0, 1.0])]


@pytest.fixture
def learned_calls(monkeypatch):
    """How often something was learned."""
    calls = []

    def counted(*args, **kwargs):
        calls.append(kwargs)
        return learn(*args, **kwargs)

    learn = resolve.learn
    monkeypatch.setattr(resolve, "learn", counted)
    return calls


class TestBetterThanARuleOfThumb:
    def test_regression(self):
        X, y = make_friedman1(400, 10, noise=1.0, random_state=0)
        fresh, wanted = make_friedman1(2000, 10, random_state=1)
        errors = {
            gamma: np.mean(
                np.square(KernelPursuitRegressor(gamma=gamma, random_state=0).fit(X, y).predict(fresh) - wanted)
            )
            for gamma in ("learn", "scale")
        }
        assert errors["learn"] < errors["scale"] / 4

    def test_three_classes_of_which_two_of_ten_features_know(self, rng):
        X, fresh = rng.normal(size=(400, 10)), rng.normal(size=(2000, 10))
        rings = [np.digitize(np.hypot(rows[:, 0], rows[:, 1]), [0.8, 1.6]) for rows in (X, fresh)]
        wrong = {}
        for gamma in ("learn", "scale"):
            model = KernelPursuitClassifier(kernel="rbf", gamma=gamma, max_atoms=20, random_state=0).fit(X, rings[0])
            wrong[gamma] = 1 - model.score(fresh, rings[1])
        assert wrong["learn"] < 0.5 * wrong["scale"]
        assert wrong["learn"] < 0.15

    def test_a_rough_function_has_no_smooth_kernel(self, rng):
        X = rng.uniform(-2, 2, size=(200, 1))
        y = np.abs(X[:, 0] % 1 - 0.5) * 4
        model = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y)
        assert not isinstance(model.model_.kept.kernel, RBF)


class TestWhatIsFitted:
    @pytest.fixture(autouse=True)
    def _short(self, short_plan):
        pass

    def test_defaults(self):
        for estimator in (KernelPursuitRegressor(), KernelPursuitClassifier()):
            params = estimator.get_params()
            assert params["kernel"] == params["max_atoms"] == params["alpha"] == params["stop"] == "auto"
            assert params["refine"] == "auto"
            assert params["gamma"] == "learn"

    def test_attributes(self, some):
        X, y = some
        model = regressor().fit(X, y)
        assert model.feature_scales_.shape == (3,)
        assert (model.feature_scales_ >= 0).all()
        assert isinstance(model.alpha_, float)
        assert model.alpha_ > 0
        assert re.match(r"\d+ atoms?: .*leave-one-out error", model.stop_reason_)
        assert model.n_atoms_ == len(model.center_indices_) == len(model.centers_) == len(model.coef_) <= 12
        assert model.n_features_in_ == 3

    def test_centres_are_training_rows(self, some, labelled):
        for model in (regressor().fit(*some), classifier().fit(*labelled)):
            X, rows = some[0], model.center_indices_
            assert rows.min() >= 0
            factors = np.ones(len(rows)) if model.model_.kept.factors is None else model.model_.kept.factors
            assert len(set(zip(rows.tolist(), factors.tolist()))) == len(rows)
            np.testing.assert_allclose(model.centers_, X[rows], rtol=1e-12, atol=1e-14)

    def test_centres_are_training_rows_in_any_unit(self, some):
        X, y = some
        X = X * [1e-9, 1e12, 1.0] + [0.0, 1e12, 5.0]
        model = regressor().fit(X, y)
        np.testing.assert_allclose(model.centers_ / X[model.center_indices_], 1, rtol=1e-9)

    def test_prediction_is_the_sum_of_atoms(self, some):
        X, y = some
        model = regressor().fit(X, y)
        gamma = np.square(model.feature_scales_ / X.std(axis=0))
        difference = X[:, None] - model.centers_[None]
        factors = 1.0 if model.model_.kept.factors is None else model.model_.kept.factors
        K = np.exp(-factors * (np.square(difference) @ gamma))
        np.testing.assert_allclose(model.predict(X), K @ model.coef_ + model.intercept_, rtol=1e-8, atol=1e-9)

    @pytest.mark.parametrize(
        ("errors", "chosen"),
        [
            ((1.0, 0.5, 0.6), RBF),
            ((1.0, 0.9, 0.6), Matern32),
            ((1.0, 0.995, 0.999), Matern52),
            ((0.5, 0.9, 0.6), Matern52),
            ((0.0, 0.0, 0.0), Matern52),
        ],
    )
    def test_another_kernel_has_to_be_clearly_better(self, some, errors, chosen, monkeypatch):
        by_kernel = dict(zip((Matern52, RBF, Matern32), errors))

        def told(kernel, starts, *others, **named):
            found = learn_scales(kernel, starts, *others, **named)
            return replace(found, last=replace(found.last, values=np.full(len(some[0]), by_kernel[type(kernel)])))

        learn_scales = choose_kernel.learn_scales_at_every_row
        monkeypatch.setattr(choose_kernel, "learn_scales_at_every_row", told)
        monkeypatch.setattr(choose_kernel, "start_of_another", lambda kernel, model, *others, **named: model)
        few = type(regressor(kernel="auto", penalty="ridge").fit(*some).model_.kept.kernel)
        assert few is (chosen if chosen is not Matern32 else RBF), "so few rows choose between two"
        monkeypatch.setattr(plan, "THREE_KERNELS_FROM", 0)
        assert type(regressor(kernel="auto", penalty="ridge").fit(*some).model_.kept.kernel) is chosen

    def test_auto_chooses_one_of_three_kernels(self, some):
        model = regressor(kernel="auto").fit(*some)
        assert isinstance(model.model_.kept.kernel, (RBF, Matern32, Matern52))
        assert model.kernel == "auto"

    @pytest.mark.parametrize("kernel", ["laplacian", "matern12", "rational_quadratic", Matern32(), KernelAtoms("rbf")])
    def test_a_given_kernel_is_kept(self, some, kernel):
        model = regressor(kernel=kernel).fit(*some)
        wanted = KernelAtoms("rbf").kernel if isinstance(kernel, KernelAtoms) else KernelAtoms(kernel).kernel
        assert type(model.model_.kept.kernel) is type(wanted)
        assert model.feature_scales_ is not None

    def test_the_penalty_is_learned_or_given(self, some):
        X, y = some
        assert regressor(alpha=0.37).fit(X, y).alpha_ == 0.37
        assert regressor(alpha=0).fit(X, y).alpha_ == 0
        assert regressor(gamma="scale").fit(X, y).alpha_ == 1e-3
        with pytest.raises(ValueError, match=r"^alpha=-1"):
            regressor(alpha=-1).fit(X, y)
        with pytest.raises(ValueError, match=r"^alpha='car'"):
            regressor(alpha="car").fit(X, y)

    def test_the_rule_is_given(self, some):
        X, y = some
        assert regressor(stop="max").fit(X, y).n_atoms_ == 12
        auto, within = regressor().fit(X, y), regressor(stop=Loo(within=0.002)).fit(X, y)
        assert auto.n_atoms_ == within.n_atoms_
        assert regressor(stop=Validation(fraction=0.25)).fit(X, y).path_.validation is not None
        assert regressor(stop="cv").fit(X, y).path_.cv is not None

    def test_rows_that_the_rule_holds_out_are_not_learned_from(self, some):
        X, y = some
        first = regressor(stop=Validation(fraction=0.25)).fit(X, y)
        held = held_out_rows(np.ones(len(y)), 0.25, first._state.seed, y[:, None], classes=False)
        assert 0 < held.sum() < len(y)
        changed = np.where(held, 100.0 * y, y)
        second = regressor(stop=Validation(fraction=0.25)).fit(X, changed)
        np.testing.assert_array_equal(first.feature_scales_, second.feature_scales_)
        np.testing.assert_array_equal(first.path_.atom, second.path_.atom)
        assert not held[first.center_indices_].any()

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize("seed", range(3))
    def test_rare_events(self, seed):
        X, y = np.random.default_rng(seed).normal(size=(1100, 2)), np.zeros(1100)
        y[500] = 1.0
        f = KernelPursuitRegressor(random_state=seed, max_atoms=5).fit(X, y).predict(X)
        assert f.mean() == pytest.approx(1 / 1100, rel=1e-5)
        assert np.square(y - f).sum() <= 1.0

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize("penalty", ["auto", "ridge"])
    def test_noise_alone_has_few_atoms(self, penalty):
        rng = np.random.default_rng(3)
        model = KernelPursuitRegressor(kernel="matern52", penalty=penalty, random_state=0).fit(
            rng.normal(size=(600, 2)), rng.normal(size=600)
        )
        assert (model._state.resolved.learned.atoms is not None) == (penalty == "ridge")
        assert model.n_atoms_ < (20 if penalty == "ridge" else 1)

    def test_validation_rows_are_no_centres(self):
        X, y = make_friedman1(600, noise=1.0, random_state=0)
        model = KernelPursuitRegressor(kernel="rbf", max_atoms=20, penalty="ridge", random_state=0).fit(X, y)
        is_validation = model._state.resolved.learned.is_validation
        assert is_validation.sum() == 120
        assert not is_validation[model.center_indices_].any()

    def test_as_many_candidates_as_are_asked_for(self):
        assert (
            make_plan(LearningSpec(3000, 2, 1, max_atoms=1200, picks_atoms=True, refine=False)).atoms.n_candidates
            == 2400
        )
        assert make_plan(LearningSpec(9000, 2, 1, max_atoms=3000, picks_atoms=True, refine=False)).atoms.n_rows == 6000

    def test_validation_rows_are_centres_where_nearly_all_rows_are_asked_for(self):
        X, y = make_friedman1(600, noise=1.0, random_state=0)
        settings = {"kernel": "rbf", "max_atoms": 490, "stop": "max", "penalty": "ridge", "random_state": 0}
        model = KernelPursuitRegressor(**settings).fit(X, y)
        assert model.n_atoms_ == 490
        assert model.stop_reason_ == "490 atoms: max_atoms=490 reached"

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize("alpha", [0.0, 1e-9, 1e6])
    def test_a_given_penalty_is_that_of_the_learned_model(self, some, alpha):
        assert regressor(alpha=alpha, refine=True).fit(*some)._state.resolved.learned.alpha == alpha

    def test_the_automatic_rule_may_be_asked_for_again(self, some):
        model = regressor().fit(*some)
        assert model.at(3).select("auto").n_atoms_ == model.n_atoms_

    @pytest.mark.parametrize("max_atoms", [0, -3, 2.5, "many", None])
    def test_refuses_numbers_of_atoms(self, some, max_atoms):
        for gamma in ("learn", "scale"):
            with pytest.raises(ValueError, match=r"^max_atoms="):
                regressor(max_atoms=max_atoms, gamma=gamma).fit(*some)

    @pytest.mark.parametrize("gamma", ["lern", "auto", -1.0, 0.0])
    def test_refuses_other_words_for_gamma(self, some, gamma):
        with pytest.raises(ValueError, match=r"^gamma="):
            regressor(gamma=gamma).fit(*some)


class TestOnThePath:
    @pytest.fixture(scope="class")
    @staticmethod
    def fitted(some):
        return regressor(stop="max").fit(*some)

    def test_at_and_staged(self, fitted, some):
        X, _ = some
        stages = list(fitted.staged_predict(X))
        assert len(stages) == 13
        for k in (0, 1, 5, 12):
            part = fitted.at(k)
            assert part.n_atoms_ == k
            np.testing.assert_allclose(part.predict(X), stages[k], rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(part.center_indices_, fitted.center_indices_[:k])
            assert part.alpha_ == fitted.alpha_

    def test_select(self, fitted):
        some_rule = fitted.select("one-se")
        assert some_rule.n_atoms_ <= fitted.select("loo").n_atoms_ <= 12
        assert "standard error" in some_rule.stop_reason_
        np.testing.assert_array_equal(some_rule.center_indices_, fitted.center_indices_[: some_rule.n_atoms_])

    def test_standard_deviations(self, fitted, some):
        _, std = fitted.predict(some[0], return_std=True)
        assert (std > 0).all()

    def test_pickle_and_clone(self, fitted, some):
        X, y = some
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(again.at(3).predict_interval(X), fitted.at(3).predict_interval(X))
        np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))
        assert not hasattr(clone(fitted), "feature_scales_")

    def test_in_cross_validation(self, some, short_plan):
        X, y = some
        predicted = cross_val_predict(regressor(), X, y, cv=3)
        assert np.corrcoef(predicted, y)[0, 1] > 0.7


@pytest.mark.usefixtures("short_plan")
class TestWarmStart:
    def test_another_rule_learns_nothing_anew(self, some, learned_calls):
        X, y = some
        model = regressor(warm_start=True, stop=Loo()).fit(X, y)
        learned, path_atoms = model._state.resolved.learned, model.path_.used.copy()
        for stop in ("max", "one-se", Loo(within=0.1), "loo"):
            model.set_params(stop=stop).fit(X, y)
            assert model._state.resolved.learned is learned
            np.testing.assert_array_equal(model.path_.used[: len(path_atoms)], path_atoms[: len(model.path_.used)])
            fresh = regressor(stop=stop).fit(X, y)
            np.testing.assert_allclose(model.predict(X), fresh.predict(X), rtol=1e-8, atol=1e-8)
            assert model.stop_reason_ == fresh.stop_reason_
        assert len(learned_calls) == 1 + 4

    def test_the_automatic_rule_learns_fewer_atoms(self, some, learned_calls):
        X, y = some
        model = regressor(warm_start=True, penalty="ridge").fit(X, y)
        for stop in ("max", "auto"):
            model.set_params(stop=stop).fit(X, y)
            fresh = regressor(stop=stop, penalty="ridge").fit(X, y)
            np.testing.assert_array_equal(model.predict(X), fresh.predict(X))
        assert len(learned_calls) == 1 + 4

    def test_without_a_seed_the_rule_alone_changes(self, some, learned_calls):
        X, y = some
        model = regressor(warm_start=True, random_state=None, stop="loo").fit(X, y)
        scales = model.feature_scales_
        model.set_params(stop="max").fit(X, y)
        np.testing.assert_array_equal(model.feature_scales_, scales)
        assert len(learned_calls) == 1

    @pytest.mark.parametrize("numbers", [(5, 12), (12, 5), (5, "auto"), ("auto", 5)])
    def test_another_number_of_atoms_is_a_fit_from_scratch(self, some, numbers):
        X, y = some
        model = regressor(warm_start=True, max_atoms=numbers[0]).fit(X, y)
        model.set_params(max_atoms=numbers[1]).fit(X, y)
        fresh = regressor(max_atoms=numbers[1]).fit(X, y)
        np.testing.assert_allclose(model.predict(X), fresh.predict(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(model.center_indices_, fresh.center_indices_)
        assert model.stop_reason_ == fresh.stop_reason_

    @pytest.mark.parametrize("changed", [{"alpha": 0.5}, {"kernel": "matern52"}, {"gamma": "scale"}, {"refine": True}])
    def test_another_setting_is_a_fit_from_scratch(self, some, changed):
        X, y = some
        model = regressor(warm_start=True).fit(X, y).set_params(**changed).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), regressor(**changed).fit(X, y).predict(X))

    def test_other_data_are_a_fit_from_scratch(self, some):
        X, y = some
        model = regressor(warm_start=True).fit(X, y).fit(X, -y)
        np.testing.assert_array_equal(model.predict(X), regressor().fit(X, -y).predict(X))


@pytest.mark.usefixtures("short_plan")
class TestInputs:
    def test_float32(self, some):
        X, y = some
        small = X.astype(np.float32)
        model = regressor().fit(small, y)
        assert model.predict(small).dtype == np.float32
        np.testing.assert_allclose(model.predict(small), regressor().fit(X, y).predict(X), atol=1e-2)

    def test_frames(self, some):
        X, y = some
        want = regressor().fit(X, y).predict(X)
        names = ["a", "b", "c"]
        frame = pd.DataFrame(X, columns=names)
        model = regressor().fit(frame, pd.Series(y))
        np.testing.assert_allclose(model.predict(frame), want, rtol=1e-9, atol=1e-9)
        assert model.feature_names_in_.tolist() == names
        frame = pl.DataFrame(X, schema=names)
        np.testing.assert_allclose(regressor().fit(frame, y).predict(frame), want, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(regressor().fit(X.tolist(), y.tolist()).predict(X), want)

    def test_several_targets(self, some):
        X, y = some
        Y = np.column_stack([y, np.cos(X[:, 0]), X[:, 1]])
        model = regressor().fit(X, Y)
        assert model.predict(X).shape == Y.shape
        assert model.score(X, Y) > 0.6
        assert model.feature_scales_.shape == (3,)
        column = regressor().fit(X, y[:, None])
        np.testing.assert_allclose(column.predict(X)[:, 0], regressor().fit(X, y).predict(X), rtol=1e-9)

    @pytest.mark.parametrize("refine", ["auto", True])
    @pytest.mark.parametrize("loss", ["huber", Huber(delta=0.5), "quantile", Quantile(q=0.8), "poisson"])
    def test_other_losses(self, some, loss, refine):
        X, y = some
        y = np.exp(y / 2)
        model = regressor(loss=loss, max_atoms=5, refine=refine).fit(X, y)
        assert model.feature_scales_ is not None
        wanted = 0.8 if loss == Quantile(q=0.8) else 0.5
        assert np.mean(y <= model.predict(X)) == pytest.approx(wanted, abs=0.2)
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.4

    @pytest.mark.parametrize("loss", ["huber", "quantile"])
    def test_a_wild_target_is_borne(self, loss):
        """It makes up nearly all of the loss, of which the automatic rule would give a hundredth away."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 2))
        truth = np.sin(X[:, 0]) + X[:, 1]
        y = truth + 0.1 * rng.normal(size=200)
        y[3] = 1e6
        model = regressor(loss=loss, max_atoms=20).fit(X, y)
        assert np.corrcoef(np.delete(model.predict(X), 3), np.delete(truth, 3))[0, 1] > 0.98
        assert model.at(1).select("auto").n_atoms_ == model.n_atoms_

    @pytest.mark.parametrize("refine", ["auto", True])
    def test_a_loss_below_zero(self, some, refine):
        """Its logarithm, which a search might lower, does not exist."""
        X, y = some
        model = regressor(loss=LowSquare(), max_atoms=5, refine=refine).fit(X, y)
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.4

    @pytest.mark.parametrize("refine", ["auto", True])
    def test_counts_of_nothing(self, some, refine):
        X, y = some
        model = regressor(loss="poisson", max_atoms=5, refine=refine).fit(X, np.zeros(len(y)))
        np.testing.assert_allclose(model.predict(X), 0, atol=1e-6)

    def test_units_of_targets_with_another_loss(self, some):
        X, y = some
        want, got = (regressor(loss="huber", max_atoms=5).fit(X, unit * y) for unit in (1.0, 2.0**20))
        np.testing.assert_allclose(got.predict(X) / 2.0**20, want.predict(X), rtol=1e-2, atol=1e-2)

    def test_a_column_of_weights(self, some):
        X, y = some
        with pytest.raises(ValueError, match=r"^sample_weight"):
            regressor().fit(X, y, np.ones((len(y), 1)))

    def test_inputs_stay_as_they_are(self, some):
        X, y, weights = some[0].copy(), some[1].copy(), np.linspace(0, 2, len(some[1]))
        before = [array.copy() for array in (X, y, weights)]
        regressor(refine=True).fit(X, y, weights).predict(X)
        for array, copy in zip((X, y, weights), before):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.usefixtures("short_plan")
class TestClasses:
    @pytest.mark.parametrize("loss", ["log", "squared", "squared_hinge"])
    def test_losses(self, labelled, loss):
        X, y = labelled
        model = classifier(loss=loss, max_atoms=10).fit(X, y)
        assert model.score(X, y) > 0.6
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.feature_scales_.shape == (3,)

    def test_a_model_for_each_class(self, labelled):
        X, y = labelled
        model = classifier(multi_class="ovr", kernel="auto", max_atoms=10).fit(X, y)
        assert len(model.estimators_) == 3
        assert model.score(X, y) > 0.6
        assert model.feature_scales_.shape == (3,)
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
        gammas = [one.model_.kept.kernel.gamma for one in model.estimators_]
        np.testing.assert_array_equal(gammas[0], gammas[1])
        assert {one.alpha_ for one in model.estimators_} == {model.alpha_}
        assert model.at(2).estimators_[0].n_atoms_ == 2
        assert model.select("one-se").n_atoms_ <= model.select("max").n_atoms_

    def test_two_classes_one_model(self, labelled):
        X, y = labelled
        y = y == "low"
        shared, each = classifier().fit(X, y), classifier(multi_class="ovr").fit(X, y)
        np.testing.assert_array_equal(shared.decision_function(X), each.decision_function(X))

    def test_class_weights(self, labelled):
        X, y = labelled
        model = classifier(class_weight="balanced").fit(X, y)
        assert set(model.predict(X)) == set(y)

    def test_staged_and_at(self, labelled):
        X, y = labelled
        model = classifier().fit(X, y)
        stages = list(model.staged_predict(X))
        np.testing.assert_array_equal(stages[model.n_atoms_], model.predict(X))
        assert model.at(2).n_atoms_ == 2

    def test_warm_start(self, labelled, learned_calls):
        X, y = labelled
        model = classifier(warm_start=True, stop="loo").fit(X, y)
        model.set_params(stop="max").fit(X, y)
        assert len(learned_calls) == 1
        np.testing.assert_allclose(
            model.predict_proba(X), classifier(stop="max").fit(X, y).predict_proba(X), rtol=1e-6, atol=1e-8
        )


def product(X, C):
    return (X @ C.T + 1.0) ** 2


# Where no width can be learned, a fit is what it was before one could be.
FALL_BACK = {
    "linear": {"kernel": "linear"},
    "polynomial": {"kernel": "polynomial"},
    "callable": {"kernel": product},
    "list": {"kernel": ["rbf", "laplacian"]},
    "gamma of its own": {"kernel": RBF(gamma=0.3)},
    "dictionary": {"kernel": KernelAtoms("rbf") + Constant()},
    "given centres": {"kernel": KernelAtoms("rbf", centers=np.eye(3))},
}

# Atoms that are picked in another way are picked from the rows, with scales that are learned.
OTHER_LOOPS = [
    {"update": "stagewise", "stop": "max"},
    {"selection": "random"},
    {"selection": "residual"},
    {"selection": "correlation"},
    {"penalty": "rkhs"},
    {"penalty": "nugget"},
    {"penalty": "ols"},
    {"penalty": None},
    {"selection": "residual", "exchange": True},
    {"candidates": 20},
    {"candidates": "all"},
    {"candidates": [1, 5, 20, 33, 60]},
]


@pytest.mark.usefixtures("short_plan")
class TestOtherSettings:
    @pytest.mark.parametrize("name", FALL_BACK)
    def test_without_a_width_to_learn_nothing_is_learned(self, some, name, learned_calls):
        X, y = some
        settings = {**FALL_BACK[name], "max_atoms": 8, "random_state": 0}
        got = KernelPursuitRegressor(**settings).fit(X, y)
        want = KernelPursuitRegressor(**settings, gamma="scale", stop="loo", alpha=1e-3, refine=False).fit(X, y)
        np.testing.assert_array_equal(got.predict(X), want.predict(X))
        assert got.feature_scales_ is None
        assert got.alpha_ == 1e-3
        assert not learned_calls

    def test_precomputed(self, some):
        X, y = some
        K = rbf_kernel(X)
        got = KernelPursuitRegressor(kernel="precomputed", max_atoms=8, random_state=0).fit(K, y)
        want = plain_regressor(kernel="precomputed", max_atoms=8).fit(K, y)
        np.testing.assert_array_equal(got.predict(K), want.predict(K))

    @pytest.mark.parametrize("settings", OTHER_LOOPS)
    def test_atoms_picked_in_another_way(self, some, settings):
        X, y = some
        model = regressor(**settings).fit(X, y)
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
        found = {
            "gamma": "scale" if model.feature_scales_ is None else model.kernel_.gamma,
            "penalty": model.penalty_,
            "alpha": model.alpha_,
        }
        want = plain_regressor(**{**model.get_params(), **found}).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), want.predict(X))

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"selection": "residual"}, "selection='residual'"),
            ({"update": "stagewise", "stop": "max"}, "update='stagewise'"),
            ({"penalty": "rkhs"}, "penalty='rkhs'"),
            ({"candidates": 20}, "candidates"),
            ({"kernel": "linear"}, "kernel='linear'"),
            ({"kernel": ["rbf", "laplacian"]}, "kernel="),
        ],
    )
    def test_refine_is_refused_where_it_cannot_be(self, some, settings, why):
        with pytest.raises(ValueError, match=rf"^refine=True [^.\n]*{re.escape(why)}[^.\n]*\.$"):
            regressor(refine=True, **settings).fit(*some)

    def test_refine_is_refused_for_a_model_each(self, labelled):
        with pytest.raises(ValueError, match=r"^refine=True [^.\n]*ovr[^.\n]*\.$"):
            classifier(refine=True, multi_class="ovr").fit(*labelled)

    @pytest.mark.parametrize("refine", ["yes", 1, None, 0.0, "Auto"])
    @pytest.mark.parametrize("gamma", ["learn", 0.5])
    def test_refuses_other_words_for_refine(self, some, refine, gamma):
        with pytest.raises(ValueError, match=rf"^refine={re.escape(repr(refine))} is not usable; [^\n]*\.$"):
            regressor(refine=refine, gamma=gamma).fit(*some)

    def test_a_refusal_leaves_the_model_as_it_was(self, some):
        X, y = some
        model = regressor().fit(X, y)
        before = model.predict(X)
        with pytest.raises(ValueError, match=r"^refine="):
            model.set_params(refine="yes").fit(X, -y)
        np.testing.assert_array_equal(model.predict(X), before)

    def test_rules_that_look_at_other_rows(self, some):
        X, y = some
        rule = Validation(X=X[:20], y=y[:20]) | Max()
        assert regressor(stop=rule).fit(X[20:], y[20:]).path_.validation is not None

    def test_truncated(self, some):
        X, y = some
        assert np.abs(regressor(truncate=0.5).fit(X, y).predict(X)).max() == 0.5

    def test_a_callback_ends_the_fit(self, some):
        model = regressor(stop="max").fit(*some, callback=lambda path: len(path) >= 4)
        assert model.n_atoms_ == 4


@pytest.mark.usefixtures("short_plan")
class TestVerbose:
    def test_says_the_plan_in_one_line(self, some, capfd):
        regressor(verbose=True).fit(*some)
        lines = [line for line in capfd.readouterr().err.splitlines() if "about" in line]
        assert len(lines) == 1
        assert re.match(r"kernelpursuit: .*3 features .*90 rows.*about [\d.]+ s$", lines[0])

    def test_is_silent_otherwise(self, some, capfd):
        regressor().fit(*some)
        regressor(verbose=0).fit(*some)
        out, err = capfd.readouterr()
        assert out == err == ""

    def test_has_no_plan_where_nothing_is_learned(self, some, capfd):
        regressor(verbose=True, gamma=0.5).fit(*some)
        assert "about" not in capfd.readouterr().err

    @pytest.mark.parametrize("verbose", ["loud", -1, None])
    def test_refuses_other_words(self, some, verbose):
        with pytest.raises(ValueError, match=r"^verbose="):
            regressor(verbose=verbose).fit(*some)
