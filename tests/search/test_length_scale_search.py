"""A grid of widths and penalties: the table is that of separate fits, and the best an ordinary model."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from array_api import NEEDS_ARRAY_API, printed_with_array_api
from folding import every_case, run_each
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification, make_friedman1
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch, presets
from kernelpursuit.dictionary import Always, Constant, DistanceAtoms, KernelAtoms, distances
from kernelpursuit.engine import engine as engine_module
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Huber
from kernelpursuit.search import length_scales
from kernelpursuit.stopping import CV, FPE, MDL, PTR, Loo, Tol, Validation

GAMMAS, ALPHAS = [0.003, 0.03, 0.3, 3.0], [1e-4, 1e-1]


@pytest.fixture(autouse=True)
def _shared_for_few_features(monkeypatch):
    """Distances are shared where it saves no time either, so that all these small fits go that way."""
    monkeypatch.setattr(length_scales, "WORTH_FROM", 1)
    monkeypatch.setattr(distances, "GATHER_FROM", 1)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(130, n_features=6, noise=0.5, random_state=0)


@pytest.fixture(scope="module")
def classes():
    return make_classification(140, n_features=5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)


def regressor(**settings):
    return KernelPursuitRegressor(**{"alpha": 1e-3, "max_atoms": 15, "stop": "loo", "random_state": 3, **settings})


def classifier(**settings):
    return KernelPursuitClassifier(**{"alpha": 0.1, "max_atoms": 8, "stop": "loo", "random_state": 3, **settings})


def separate(estimator, X, y, sample_weight=None, gammas=GAMMAS, alphas=ALPHAS):
    """Fits of every combination by itself."""
    grid = [{"gamma": gamma, "alpha": alpha} for gamma in gammas for alpha in alphas]
    return [clone(estimator).set_params(**params).fit(X, y, sample_weight=sample_weight) for params in grid]


def assert_same_model(one, other):
    np.testing.assert_array_equal(one.center_indices_, other.center_indices_)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-9, atol=1e-9)
    assert one.stop_reason_ == other.stop_reason_


SETTINGS = [
    {},
    {"kernel": "laplacian"},
    {"kernel": "matern12"},
    {"kernel": "matern32", "selection": "correlation"},
    {"kernel": "matern52", "penalty": "rkhs"},
    {"kernel": "rational_quadratic", "penalty": "nugget"},
    {"kernel": ["rbf", "laplacian", RBF(gamma=0.5)]},
    {"kernel": KernelAtoms("rbf") + Constant()},
    {"kernel": Always(lambda X: X[:, 0]) + KernelAtoms("matern52")},
    {"kernel": "polynomial", "selection": "gain"},
    {"candidates": 20},
    {"selection": "residual", "exchange": True},
    {"update": "stagewise", "stop": "mdl"},
    {"loss": Huber()},
    {"stop": "validation"},
    {"stop": "cv", "max_atoms": 6},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_combination_is_that_of_a_separate_fit(settings, friedman):
    X, y = friedman
    estimator = regressor(**settings)
    search = LengthScaleSearch(estimator, gammas=GAMMAS, alphas=ALPHAS).fit(X, y)
    models = separate(estimator, X, y)
    rule = length_scales.search_rule("stop", estimator.stop, 5).by
    scores = [rule.curve(model.path_)[model.model_.n_steps] for model in models]
    np.testing.assert_allclose(search.results_["score"], scores, rtol=1e-9)
    np.testing.assert_array_equal(search.results_["n_atoms"], [model.n_atoms_ for model in models])
    np.testing.assert_array_equal(search.results_["gamma"], np.repeat(GAMMAS, 2))
    np.testing.assert_array_equal(search.results_["alpha"], np.tile(ALPHAS, 4))
    assert search.best_index_ == np.argmin(scores)
    assert search.best_score_ == search.results_["score"].min()
    best = models[search.best_index_]
    assert search.best_params_ == {"gamma": best.gamma, "alpha": best.alpha}
    assert_same_model(search.best_estimator_, best)
    np.testing.assert_allclose(search.predict(X), best.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{}, {"loss": "squared"}, {"loss": "hinge", "stop": "loo-error"}, {"multi_class": "ovr", "max_atoms": 3}],
    ids=str,
)
def test_classifiers(settings, classes):
    X, c = classes
    labels = np.array(["ash", "elm", "oak"])[c]
    estimator = classifier(**settings)
    search = LengthScaleSearch(estimator, gammas=GAMMAS, alphas=ALPHAS).fit(X, labels)
    models = separate(estimator, X, labels)
    np.testing.assert_array_equal(search.results_["n_atoms"], [model.n_atoms_ for model in models])
    best = models[search.best_index_]
    assert_same_model(search.best_estimator_, best)
    assert search.classes_.tolist() == ["ash", "elm", "oak"]
    assert is_classifier(search)
    np.testing.assert_allclose(search.predict_proba(X), best.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(search.predict_log_proba(X), best.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(search.decision_function(X), best.decision_function(X), rtol=1e-9)
    assert search.score(X, labels) == best.score(X, labels)


def test_weights_and_several_targets(friedman):
    X, y = friedman
    Y = np.column_stack([y, X[:, 0] ** 2])
    weights = np.tile([0.0, 1.0, 2.5, 1.0, 0.3], 26)
    search = LengthScaleSearch(regressor(), gammas=GAMMAS, alphas=ALPHAS).fit(X, Y, sample_weight=weights)
    models = separate(regressor(), X, Y, weights)
    np.testing.assert_allclose(search.results_["score"], [m.path_.loo[m.n_atoms_] for m in models], rtol=1e-9)
    assert_same_model(search.best_estimator_, models[search.best_index_])
    assert search.predict(X).shape == (130, 2)


def test_float32_scores(friedman, monkeypatch):
    """Large dictionaries are scored in float32, and close ones looked at again: the same atoms."""
    X, y = friedman
    for module in (engine_module, length_scales):
        monkeypatch.setattr(module, "FLOAT64_UP_TO", 1000)
    search = LengthScaleSearch(regressor(), gammas=GAMMAS, alphas=ALPHAS).fit(X, y)
    assert search.shared_distances_
    models = separate(regressor(), X, y)
    np.testing.assert_allclose(search.results_["score"], [m.path_.loo[m.n_atoms_] for m in models], rtol=1e-9)
    assert_same_model(search.best_estimator_, models[search.best_index_])


@pytest.mark.parametrize("budget", [0, 400_000])
def test_where_distances_do_not_fit_the_result_is_the_same(budget, friedman, capsys):
    X, y = friedman
    search = LengthScaleSearch(regressor(memory_budget=budget), gammas=GAMMAS, verbose=True).fit(X, y)
    other = LengthScaleSearch(regressor(), gammas=GAMMAS).fit(X, y)
    assert search.shared_distances_ == (budget > 0)
    assert other.shared_distances_
    assert ("computed again" in capsys.readouterr().err) == (budget == 0)
    np.testing.assert_array_equal(search.results_["score"], other.results_["score"])
    assert_same_model(search.best_estimator_, other.best_estimator_)
    assert search.best_estimator_.memory_budget == budget


@pytest.mark.parametrize("shown", ["all", [1, 5, 77]])
def test_few_candidates_share_nothing(shown, friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(candidates=shown), gammas=GAMMAS).fit(X, y)
    assert search.shared_distances_ == (shown == "all")


@pytest.mark.parametrize("n_features", [31, 32, 64])
def test_distances_are_shared_where_that_saves_time(n_features, monkeypatch):
    monkeypatch.undo()
    X = np.random.default_rng(2).normal(size=(100, n_features))
    y = X[:, 0] + X[:, 1] ** 2
    search = LengthScaleSearch(regressor(stop="cv", max_atoms=4), gammas=[0.01, 0.1]).fit(X, y)
    assert search.shared_distances_ == (n_features >= 32)
    models = separate(regressor(stop="cv", max_atoms=4), X, y, gammas=[0.01, 0.1], alphas=[1e-3])
    np.testing.assert_allclose(search.results_["score"], [m.path_.cv[m.n_atoms_] for m in models], rtol=1e-9)


def test_sparse_rows(friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(), gammas="auto").fit(sp.csr_array(X), y)
    dense = LengthScaleSearch(regressor(), gammas="auto").fit(X, y)
    assert not search.shared_distances_
    np.testing.assert_allclose(search.results_["gamma"], dense.results_["gamma"], rtol=1e-6)
    np.testing.assert_allclose(search.predict(X), dense.predict(X), rtol=1e-4)


# The criterion that compares combinations


def test_by_loo_is_hagiwaras_protocol(friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(stop="tcr"), gammas=GAMMAS, by="loo").fit(X, y)
    models = separate(regressor(stop="tcr"), X, y, alphas=[1e-3])
    np.testing.assert_allclose(search.results_["score"], [m.path_.loo[m.n_atoms_] for m in models], rtol=1e-9)
    np.testing.assert_allclose(
        search.results_["standard_error"], [m.path_.loo_se[m.n_atoms_] for m in models], rtol=1e-9
    )
    assert search.by_ == "loo"


@pytest.mark.parametrize("stop", ["tcr", FPE(), FPE(counts="atoms"), "one-se"], ids=str)
def test_where_the_error_is_read(stop, friedman):
    """At the size that a rule keeps, or where it is least on the path; the size kept is the rule's in both cases."""
    X, y = friedman
    grid = {"gammas": GAMMAS, "alphas": ALPHAS, "by": "loo"}
    models = separate(regressor(stop=stop), X, y)
    wanted = {
        "kept": [model.path_.loo[model.n_atoms_] for model in models],
        "least": [model.path_.loo.min() for model in models],
    }
    assert any(at > least for at, least in zip(*wanted.values()))
    for score_at, scores in wanted.items():
        search = LengthScaleSearch(regressor(stop=stop), score_at=score_at, **grid).fit(X, y)
        np.testing.assert_allclose(search.results_["score"], scores, rtol=1e-9)
        np.testing.assert_array_equal(search.results_["n_atoms"], [model.n_atoms_ for model in models])
        places = [int(np.flatnonzero(model.path_.loo == score)[0]) for model, score in zip(models, scores)]
        errors = [model.path_.loo_se[place] for model, place in zip(models, places)]
        np.testing.assert_allclose(search.results_["standard_error"], errors, rtol=1e-9)
        assert search.best_index_ == int(np.argmin(scores))
        assert_same_model(search.best_estimator_, models[search.best_index_])
    default = LengthScaleSearch(regressor(stop=stop), **grid).fit(X, y)
    np.testing.assert_array_equal(default.results_["score"], wanted["kept"])


def test_the_two_readings_may_keep_different_widths(friedman):
    """A rule that keeps little of a long path is scored at what it keeps, or at the least of the path."""
    X, y = friedman
    estimator = regressor(stop="tcr", alpha=1e-4, max_atoms=40)
    kept, least = (
        LengthScaleSearch(estimator, gammas=GAMMAS, score_at=score_at).fit(X, y) for score_at in ("kept", "least")
    )
    assert (kept.best_params_["gamma"], least.best_params_["gamma"]) == (0.3, 3.0)


def test_the_least_over_folds_that_end_early():
    """Models that a fold does not have are no least."""
    X, y = make_friedman1(20, n_features=5, random_state=0)
    search = LengthScaleSearch(
        regressor(stop="tol", alpha=0.1, max_atoms=18), gammas=[1.0, 10.0], by="cv", cv=4, score_at="least"
    )
    search.fit(X, y)
    path = search.best_estimator_.path_
    assert np.isnan(path.cv[-1])
    assert search.best_score_ == np.nanmin(path.cv)


def test_by_cv_is_nairs_protocol(friedman):
    """Folds are those of `stop="cv"`, and the number of atoms is that of the estimator's own rule."""
    X, y = friedman
    search = LengthScaleSearch(regressor(stop="mdl"), gammas=GAMMAS, by="cv", cv=4).fit(X, y)
    expected = []
    for model in separate(regressor(stop="mdl"), X, y, alphas=[1e-3]):
        folds = clone(model).set_params(stop=CV(4)).fit(X, y)
        expected.append(folds.path_.cv[model.n_atoms_])
    np.testing.assert_allclose(search.results_["score"], expected, rtol=1e-9)
    assert np.isnan(search.results_["standard_error"]).all()
    best = search.best_estimator_
    assert best.stop == "mdl"
    assert best.path_.cv is not None
    assert_same_model(best, clone(best).fit(X, y))


def test_folds_that_end_early_count_by_their_last_model():
    X = np.linspace(0, 1, 12)[:, None]
    search = LengthScaleSearch(regressor(stop="max", alpha=0.1, max_atoms=12), gammas=[1.0, 10.0], by="cv", cv=4)
    search.fit(X, np.sin(6 * X[:, 0]))
    assert np.isfinite(search.results_["score"]).all()


def test_by_validation_fits_the_best_again_on_all_rows(friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(), gammas=GAMMAS, by="validation").fit(X, y)
    held_out = separate(regressor(stop="loo"), X, y, alphas=[1e-3])[search.best_index_]
    assert_same_model(search.best_estimator_, held_out)
    assert search.best_estimator_.path_.total_weight == len(X)


def test_by_given_rows(friedman):
    X, y = friedman
    rule = Validation(X[100:], y[100:])
    search = LengthScaleSearch(regressor(), gammas=GAMMAS, by=rule).fit(X[:100], y[:100])
    models = separate(regressor(), X[:100], y[:100], alphas=[1e-3])
    expected = [np.mean((model.predict(X[100:]) - y[100:]) ** 2) for model in models]
    np.testing.assert_allclose(search.results_["score"], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("stop", "by", "expected"),
    [
        ("loo", "stop", "loo"),
        ("one-se", "stop", "loo"),
        (Tol(0.1) | Loo(), "stop", "loo"),
        ("ptr", "stop", "hdaic"),
        ("max", MDL(), "mdl"),
        ("cv", "cv", "cv"),
        (CV(3), "stop", "cv"),
        ("validation", "validation", "validation"),
    ],
)
def test_which_criterion(stop, by, expected, friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(stop=stop, max_atoms=5), gammas=[0.03, 0.3], by=by).fit(X, y)
    assert search.by_ == expected
    assert np.isfinite(search.results_["score"]).all()


def test_folds_are_the_same_for_all_without_a_seed(friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(random_state=None, stop="cv", max_atoms=4), gammas=[0.1, 0.1, 0.1]).fit(X, y)
    assert len(set(search.results_["score"])) == 1
    assert search.best_index_ == 0
    assert search.best_estimator_.random_state is None


def test_a_random_state_is_not_used_up(friedman):
    X, y = friedman
    state = np.random.RandomState(5)
    search = LengthScaleSearch(regressor(random_state=state, stop="cv", max_atoms=4), gammas=[0.1, 0.1]).fit(X, y)
    assert len(set(search.results_["score"])) == 1
    assert state.randint(2**31) == np.random.RandomState(5).randint(2**31)


# The grid


def test_auto_gammas_do_not_depend_on_units(friedman):
    X, y = friedman
    first = LengthScaleSearch(regressor(max_atoms=3)).fit(X, y)
    second = LengthScaleSearch(regressor(max_atoms=3)).fit(1000 * X + 7, y)
    assert len(first.results_["gamma"]) == 9
    np.testing.assert_allclose(np.diff(np.log(first.results_["gamma"])), np.log(4))
    np.testing.assert_allclose(second.results_["gamma"] * 1e6, first.results_["gamma"], rtol=1e-9)
    np.testing.assert_allclose(second.results_["score"], first.results_["score"], rtol=1e-6)


def test_auto_gammas_are_around_the_median_distance():
    X = np.array([[0.0], [1.0], [1.0], [3.0]])
    middle = LengthScaleSearch(regressor(max_atoms=2)).fit(X, np.arange(4.0)).results_["gamma"][4]
    assert middle == 1 / 4  # of 1, 1, 4, 4, 9, the pair of equal rows left out
    middle = LengthScaleSearch(regressor(kernel="laplacian", max_atoms=2)).fit(X, np.arange(4.0)).results_["gamma"][4]
    assert middle == 1 / 2


def test_auto_gammas_count_rows_by_weight():
    X, y = np.array([[0.0], [1.0], [3.0], [9.0]]), np.arange(4.0)
    weights = np.array([1, 3, 2, 0])
    once = LengthScaleSearch(regressor(max_atoms=2)).fit(X, y, sample_weight=weights)
    twice = LengthScaleSearch(regressor(max_atoms=2)).fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_array_equal(once.results_["gamma"], twice.results_["gamma"])


def test_auto_gammas_of_rows_that_are_all_the_same():
    search = LengthScaleSearch(regressor()).fit(np.ones((10, 2)), np.arange(10.0))
    assert search.results_["gamma"][4] == 1.0


def test_own_alpha_is_kept(friedman):
    search = LengthScaleSearch(regressor(alpha=0.02), gammas=GAMMAS).fit(*friedman)
    assert (search.results_["alpha"] == 0.02).all()
    assert set(search.best_params_) == {"gamma"}
    assert search.best_estimator_.alpha == 0.02


def test_words_are_settled_as_in_a_fit(friedman):
    """What is left to "auto" is what a fit with that gamma settles it to."""
    X, y = friedman
    search = LengthScaleSearch(KernelPursuitRegressor(random_state=0), gammas=[0.03, 0.3]).fit(X, y)
    model = KernelPursuitRegressor(random_state=0, **search.best_params_).fit(X, y)
    assert_same_model(search.best_estimator_, model)
    assert search.best_estimator_.get_params() == model.get_params()
    assert (search.results_["alpha"] == model.alpha_).all()


# What it leaves behind


def test_the_best_is_an_ordinary_estimator(friedman):
    X, y = friedman
    estimator = regressor(stop="one-se", verbose=True)
    search = LengthScaleSearch(estimator, gammas=GAMMAS, alphas=ALPHAS, by="loo").fit(X, y)
    best = search.best_estimator_
    assert type(best) is KernelPursuitRegressor
    expected = {**estimator.get_params(), **search.best_params_}
    assert best.get_params() == expected
    assert type(best.model_.atoms) is type(best.model_.kept) is KernelAtoms
    assert best.at(3).n_atoms_ == 3
    assert best.select("mdl").n_atoms_ >= 0
    mean, std = search.predict(X, return_std=True)
    assert mean.shape == std.shape
    loaded = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert len(pickle.dumps(best)) < 100_000
    refitted = clone(best).fit(X, y)
    assert_same_model(refitted, best)


def test_the_best_of_a_union_keeps_no_table(friedman):
    X, y = friedman
    best = LengthScaleSearch(regressor(kernel=["rbf", "matern32"]), gammas=GAMMAS).fit(X, y).best_estimator_
    assert best.kernel == ["rbf", "matern32"]
    for atoms in (best.model_.atoms, best.model_.kept):
        assert not any(isinstance(part, DistanceAtoms) for part in atoms.parts)


def test_a_warm_start_goes_on_from_the_best(friedman):
    X, y = friedman
    best = LengthScaleSearch(regressor(warm_start=True), gammas=GAMMAS).fit(X, y).best_estimator_
    first = best.path_.atom.copy()
    picked = []
    best.set_params(max_atoms=20).fit(X, y, callback=lambda path: picked.append(len(path)) and False)
    np.testing.assert_array_equal(best.path_.atom[:15], first)
    assert_same_model(best, clone(best).set_params(warm_start=False).fit(X, y))


def test_ranks_and_frame(friedman):
    search = LengthScaleSearch(regressor(), gammas=GAMMAS, alphas=ALPHAS).fit(*friedman)
    frame = search.to_frame()
    assert list(frame.columns) == ["gamma", "alpha", "n_atoms", "score", "standard_error", "rank", "seconds"]
    assert len(frame) == 8
    assert frame["rank"].iloc[search.best_index_] == 1
    assert (frame.sort_values("rank")["score"].diff().dropna() >= 0).all()
    assert (frame["seconds"] > 0).all()


def test_nothing_given_is_changed(friedman):
    X, y = friedman
    estimator, gammas = regressor(), np.array(GAMMAS)
    before = estimator.get_params()
    search = LengthScaleSearch(estimator, gammas=gammas).fit(X, y)
    assert estimator.get_params() == before
    assert not hasattr(estimator, "path_")
    assert search.gammas is gammas


def test_a_failed_fit_leaves_the_last_one(friedman):
    X, y = friedman
    search = LengthScaleSearch(regressor(), gammas=GAMMAS).fit(X, y)
    before = search.predict(X)
    with pytest.raises(ValueError, match="gammas"):
        search.set_params(gammas=[]).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), before)


def test_frames_keep_their_names(friedman):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcdef"))
    search = LengthScaleSearch(regressor(), gammas=GAMMAS).fit(frame, y)
    assert search.feature_names_in_.tolist() == list("abcdef")
    assert search.best_estimator_.feature_names_in_.tolist() == list("abcdef")
    plain = LengthScaleSearch(regressor(), gammas=GAMMAS).fit(X, y)
    np.testing.assert_allclose(search.predict(frame), plain.predict(X), rtol=1e-9)
    assert search.shared_distances_


def test_in_a_pipeline_and_in_cross_validation(friedman):
    X, y = friedman
    pipeline = make_pipeline(StandardScaler(), LengthScaleSearch(regressor(), gammas=[0.02, 0.1]))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5
    assert is_regressor(pipeline)


def test_presets(friedman):
    search = LengthScaleSearch(presets.greedy_qr(max_atoms=10, stop="mdl"), gammas=[0.1, 1.0]).fit(*friedman)
    assert search.by_ == "mdl"


# What goes wrong


def test_a_combination_that_fails_is_a_row_without_a_score(friedman):
    X, y = friedman
    estimator = regressor(kernel="polynomial", stop="mdl")
    search = LengthScaleSearch(estimator, gammas=[0.1, 1e200], alphas=ALPHAS)
    with pytest.warns(FitFailedWarning, match=r"2 of 4 combinations .* gamma=1e\+200: The kernel overflows"):
        search.fit(X, y)
    assert np.isnan(search.results_["score"]).tolist() == [False, False, True, True]
    assert search.results_["rank"].tolist()[2:] == [4, 4]
    assert search.best_params_["gamma"] == 0.1


def test_where_all_fail_the_first_error_is_told(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="The kernel overflows"):
        LengthScaleSearch(regressor(kernel="polynomial"), gammas=[1e200]).fit(X, y)
    with pytest.raises(ValueError, match="selection='best' is not known"):
        LengthScaleSearch(regressor(selection="best"), gammas=[1.0]).fit(X, y)


@every_case("name", ["gammas", "alphas"])
@every_case("values", [[], 1.0, [[1.0]], [1.0, -1.0], [np.nan], [np.inf], ["a"], {"a": 1}, [1j]], ids=repr)
def test_values_that_are_not_usable(name, values, friedman):
    with pytest.raises(ValueError, match=f"{name}=.* is not usable; give a list of at least one finite number"):
        LengthScaleSearch(regressor(), **{"gammas": [1.0], name: values}).fit(*friedman)


def test_zero_is_an_alpha_and_no_gamma(friedman):
    LengthScaleSearch(regressor(), gammas=[1.0], alphas=[0.0]).fit(*friedman)
    with pytest.raises(ValueError, match="above 0"):
        LengthScaleSearch(regressor(), gammas=[0.0, 1.0]).fit(*friedman)


@every_case(
    ("search", "words"),
    [
        (LengthScaleSearch(Ridge()), "give a KernelPursuitRegressor"),
        (LengthScaleSearch(make_pipeline(StandardScaler(), regressor())), "pipeline around the search"),
        (LengthScaleSearch(regressor(kernel=RBF(gamma=1.0))), "without a gamma of its own"),
        (LengthScaleSearch(regressor(kernel="precomputed")), "no width that gammas could set"),
        (LengthScaleSearch(regressor(kernel=lambda X, C: X @ C.T)), "no width that gammas could set"),
        (LengthScaleSearch(regressor(kernel="polynomial")), "gammas='auto' needs a kernel of distances"),
        (LengthScaleSearch(regressor(), gammas="scale"), "gammas='scale' is not known"),
        (LengthScaleSearch(regressor(penalty=None), alphas=[1.0]), "alphas would be ignored"),
        (LengthScaleSearch(regressor(stop="max")), "stop='max' minimises nothing"),
        (LengthScaleSearch(regressor(stop=PTR(T=2.0))), "stop='ptr' minimises nothing"),
        (LengthScaleSearch(regressor(), by="tol"), "minimises nothing"),
        (LengthScaleSearch(regressor(), by="lo"), "by='lo' is not known"),
        (LengthScaleSearch(regressor(), score_at="best"), "score_at='best' is not known"),
        (LengthScaleSearch(regressor(), by="cv", cv=1), "cv=1 is too small"),
        (LengthScaleSearch(regressor(stop=CV(3)), by="cv"), "by='cv' has 5 folds"),
        (LengthScaleSearch(regressor(stop=Validation(fraction=0.2)), by=Validation()), "each have validation rows"),
        (LengthScaleSearch(regressor(), by="loo-error"), "by='loo-error' needs a classifier"),
        (LengthScaleSearch(regressor(update="stagewise", stop="mdl"), by="loo"), "by='loo' needs the leave-one-out"),
        (LengthScaleSearch(regressor(loss=Huber()), by="mdl"), "by='mdl' is about squared residuals"),
        (LengthScaleSearch(regressor(), verbose="yes"), "verbose="),
        (LengthScaleSearch(regressor(memory_budget=-1)), "memory_budget=-1"),
    ],
    ids=lambda value: None if isinstance(value, str) else "search",
)
def test_refusals(search, words, friedman):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        search.fit(*friedman)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value) or "pipeline" in words


def test_before_the_fit():
    search = LengthScaleSearch(regressor())
    for ask in (lambda: search.predict([[1.0]]), search.to_frame, lambda: search.classes_):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(search, "predict_proba")
    assert hasattr(LengthScaleSearch(classifier()), "predict_proba")


def test_out_of_range_distances():
    with pytest.raises(ValueError, match="out of range"):
        LengthScaleSearch(regressor()).fit(np.array([[0.0], [1e200], [3e200]]), np.arange(3.0))


def test_progress(friedman, capsys, monkeypatch):
    from kernelpursuit.pursuit import progress

    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    LengthScaleSearch(regressor(), gammas=GAMMAS, verbose=True).fit(*friedman)
    assert "1 of 4 combinations, best loo" in capsys.readouterr().err
    LengthScaleSearch(regressor(), gammas=GAMMAS).fit(*friedman)
    assert capsys.readouterr().err == ""


# scikit-learn's own

# Which rows are dealt to a fold depends on their order, which the equivalence check shuffles.
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
SEARCHES = [
    ("regressor", LengthScaleSearch(regressor(max_atoms=10)), ()),
    ("cv", LengthScaleSearch(regressor(max_atoms=3), gammas=[0.1, 1.0], alphas=ALPHAS, by="cv", cv=2), WEIGHTS),
    ("classifier", LengthScaleSearch(classifier(max_atoms=2), gammas=[0.1, 1.0]), ()),
]


def checks(array_api, searches=SEARCHES):
    """Yield (name of the check, estimator, check)."""
    for _, search, contradicted in searches:
        for estimator, check in estimator_checks_generator(search, mark=None):
            what = getattr(check, "func", check).__name__
            if what not in contradicted and (what == NEEDS_ARRAY_API) == array_api:
                yield what, (estimator, check)


@pytest.mark.parametrize("search", [pytest.param(search, id=search[0]) for search in SEARCHES])
def test_estimator_checks(search):
    cases = list(checks(False, [search]))
    assert len(cases) > 40
    run_each(cases, lambda case: case[1](case[0]))


def test_array_api_check():
    printed_with_array_api(__file__)


if __name__ == "__main__":
    for _, (estimator, check) in checks(True):
        check(estimator)
