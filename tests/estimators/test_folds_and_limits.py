"""Errors over folds against a loop by hand, and predictions that are kept within limits."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from plain import plain_regressor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelpursuit import pursuit_path
from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit.selection import FOLDS
from kernelpursuit.stopping import CV, MDL, Validation

SEED, GAMMA = 3, 0.5


def dealt(n_folds, usable):
    """Rows of every fold."""
    order = np.random.default_rng([check_seed(SEED), 0, FOLDS]).permutation(usable)
    return [np.sort(order[first::n_folds]) for first in range(n_folds)]


def by_hand(X, Y, weights=None, n_folds=5, limit=np.inf, **settings):
    """Fit without each fold, predict it with every model of that path, average; as long as the shortest path."""
    s = np.ones(len(X)) if weights is None else weights
    total, n_steps = 0.0, np.inf
    for fold in dealt(n_folds, np.flatnonzero(s)):
        rest = np.setdiff1d(np.flatnonzero(s), fold)
        model = plain_regressor(stop="max", gamma=GAMMA, random_state=SEED, **settings)
        model.fit(X[rest], Y[rest], sample_weight=s[rest])
        staged = np.clip(list(model.staged_predict(X[fold])), -limit, limit)
        squares = np.square(staged - Y[fold]).reshape(len(staged), len(fold), -1).mean(axis=2) @ s[fold]
        n_steps = int(min(n_steps, len(squares) - 1))
        total = (total if np.ndim(total) else np.zeros(n_steps + 1))[: n_steps + 1] + squares[: n_steps + 1]
    return total / s.sum()


def fitted(X, Y, weights=None, stop="cv", **settings):
    settings = {"gamma": GAMMA, "random_state": SEED, **settings}
    return plain_regressor(stop=stop, **settings).fit(X, Y, sample_weight=weights)


CONFIGURATIONS = [
    {},
    {"penalty": "rkhs", "alpha": 0.01, "selection": "correlation"},
    {"penalty": "nugget", "alpha": 0.1, "selection": "residual"},
    {"penalty": "ols", "fit_intercept": False},
    {"penalty": None, "selection": "residual", "exchange": True},
    {"update": "stagewise", "penalty": None},
    {"update": "rescale", "penalty": "rkhs"},
    {"truncate": 2.5},
]


class TestFolds:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("settings", CONFIGURATIONS)
    def test_errors_are_those_of_a_loop_by_hand(self, toy_outputs, settings, weighted):
        X, Y = toy_outputs
        weights = np.arange(80) % 4 / 2 if weighted else None
        model = fitted(X, Y, weights, max_atoms=12, **settings)
        limit = settings.get("truncate", np.inf)
        want = by_hand(X, Y, weights, limit=limit, max_atoms=12, **settings)
        np.testing.assert_allclose(model.path_.cv, want, rtol=1e-7)
        assert model.model_.n_steps == np.argmin(want)

    @pytest.mark.parametrize("n_folds", [2, 3, 80])
    def test_any_number_of_folds(self, toy, n_folds):
        X, y = toy
        model = fitted(X, y, stop=CV(folds=n_folds), max_atoms=4)
        np.testing.assert_allclose(model.path_.cv, by_hand(X, y, n_folds=n_folds, max_atoms=4), rtol=1e-7)

    def test_scale_is_that_of_the_rows_left(self, toy):
        """With gamma="scale" each fold's path has a width of its own, as if its rows had never been there."""
        X, y = toy
        X = X * np.where(np.arange(80) < 20, 5.0, 1.0)[:, None]
        model = fitted(X, y, gamma="scale", max_atoms=3)
        errors = np.zeros(4)
        for fold in dealt(5, np.arange(80)):
            rest = np.setdiff1d(np.arange(80), fold)
            there = plain_regressor(stop="max", max_atoms=3).fit(X[rest], y[rest])
            errors += np.square(np.array(list(there.staged_predict(X[fold]))) - y[fold]).sum(axis=1)
        np.testing.assert_allclose(model.path_.cv, errors / 80, rtol=1e-7)

    def test_sparse_rows(self, toy):
        X, y = toy
        X = np.where(np.abs(X) < 0.8, 0.0, X)
        dense, sparse = fitted(X, y, max_atoms=6), fitted(sp.csr_array(X), y, max_atoms=6)
        np.testing.assert_allclose(sparse.path_.cv, dense.path_.cv, rtol=1e-9)

    def test_a_precomputed_gram_matrix_loses_the_columns_of_a_fold_too(self, toy):
        X, y = toy
        kernel = fitted(X, y, max_atoms=8)
        matrix = plain_regressor(kernel="precomputed", stop="cv", max_atoms=8, random_state=SEED)
        matrix.fit(RBF(gamma=GAMMA)(X), y)
        np.testing.assert_array_equal(matrix.path_.atom, kernel.path_.atom)
        np.testing.assert_allclose(matrix.path_.cv, kernel.path_.cv, rtol=1e-8)

    def test_a_precomputed_matrix_of_any_columns_keeps_them_all(self, toy, rng):
        _, y = toy
        D = rng.normal(size=(80, 7))
        model = plain_regressor(kernel="precomputed", stop="cv", random_state=SEED).fit(D, y)
        errors = np.zeros(8)
        for fold in dealt(5, np.arange(80)):
            rest = np.setdiff1d(np.arange(80), fold)
            there = plain_regressor(kernel="precomputed", stop="max").fit(D[rest], y[rest])
            errors += np.square(np.array(list(there.staged_predict(D[fold]))) - y[fold]).sum(axis=1)
        np.testing.assert_allclose(model.path_.cv, errors / 80, rtol=1e-7)

    def test_paths_that_are_shorter_in_a_fold(self, rng):
        X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
        model = fitted(X, y, max_atoms=10, gamma=2.0, penalty=None, fit_intercept=False)
        assert len(model.path_) == 10
        assert np.isnan(model.path_.cv).tolist() == [False] * 9 + [True] * 2
        assert model.model_.n_steps == np.nanargmin(model.path_.cv)

    def test_the_path_is_that_of_all_rows_and_can_be_asked_again(self, toy):
        X, y = toy
        model, plain = fitted(X, y, max_atoms=30), fitted(X, y, stop="max", max_atoms=30)
        np.testing.assert_array_equal(model.path_.atom, plain.path_.atom)
        np.testing.assert_array_equal(model.path_.cost, plain.path_.cost)
        assert plain.path_.cv is None
        again = model.select("cv")
        assert again.n_atoms_ == model.n_atoms_
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert model.select("mdl").select(CV()).n_atoms_ == model.n_atoms_
        assert model.at(2).select("cv").n_atoms_ == model.n_atoms_
        np.testing.assert_array_equal(model.path_.to_frame()["cv"], model.path_.cv)
        with pytest.raises(ValueError, match=r"^stop='cv' needs errors over folds.*fit with it\.$"):
            plain.select("cv")

    def test_joined_with_others(self, toy):
        X, y = toy
        cv, mdl = fitted(X, y, max_atoms=30), fitted(X, y, stop="mdl", max_atoms=30)
        both = fitted(X, y, stop="cv | mdl", max_atoms=30)
        assert both.n_atoms_ == min(cv.n_atoms_, mdl.n_atoms_)
        assert both.select("cv").n_atoms_ == CV().choose(both.path_)
        rule = CV() | MDL() | Validation(X[:10], y[:10], patience=None)
        three = fitted(X, y, stop=rule, max_atoms=30)
        np.testing.assert_array_equal(three.path_.cv[: len(both.path_) + 1], both.path_.cv[: len(three.path_) + 1])
        assert three.path_.validation is not None

    def test_seeds(self, toy):
        X, y = toy
        curves = [fitted(X, y, max_atoms=5, random_state=seed).path_.cv for seed in (0, 0, 1)]
        np.testing.assert_array_equal(curves[0], curves[1])
        assert (curves[0] != curves[2]).all()

    def test_the_plain_function_deals_alike(self, toy):
        X, y = toy
        path = pursuit_path(
            X, y, gamma=GAMMA, stop="cv", max_atoms=6, fit_intercept=True, random_state=check_seed(SEED)
        )
        np.testing.assert_array_equal(path.cv, fitted(X, y, max_atoms=6).path_.cv)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("memory_budget", [0, 2**30])
    def test_threads_and_memory_change_nothing(self, toy, n_jobs, memory_budget):
        X, y = toy
        want = fitted(X, y, max_atoms=6).path_.cv
        got = fitted(X, y, max_atoms=6, n_jobs=n_jobs, memory_budget=memory_budget).path_.cv
        np.testing.assert_allclose(got, want, rtol=1e-12)

    @pytest.mark.parametrize(("n", "weights"), [(4, None), (1, None), (20, np.r_[np.ones(4), np.zeros(16)])])
    def test_too_few_rows(self, toy, n, weights):
        model = plain_regressor(stop="cv")
        with pytest.raises(ValueError, match=rf"^stop='cv' .*5 folds.*n_samples={min(n, 4)} .*fewer folds\.$"):
            model.fit(toy[0][:n], toy[1][:n], sample_weight=weights)
        assert vars(model) == model.get_params(deep=False)

    def test_warm_start_has_the_errors_of_the_longer_path(self, toy):
        X, y = toy
        warm = plain_regressor(gamma=GAMMA, stop="cv", random_state=SEED, warm_start=True)
        for size in (3, 9):
            warm.set_params(max_atoms=size).fit(X, y)
        np.testing.assert_allclose(warm.path_.cv, fitted(X, y, max_atoms=9).path_.cv, rtol=1e-12)


class TestLimits:
    @pytest.mark.parametrize("truncate", [1.5, "auto"])
    def test_predictions_are_clipped_and_nothing_else_changes(self, toy_outputs, rng, truncate):
        X, Y = toy_outputs
        plain = fitted(X, Y, stop="max", max_atoms=12, penalty=None)
        model = fitted(X, Y, stop="max", max_atoms=12, penalty=None, truncate=truncate)
        limits = np.full(3, 1.5) if truncate == 1.5 else np.abs(Y).max(axis=0)
        rows = np.vstack([X, 3 * rng.normal(size=(40, 3))])
        free = plain.predict(rows)
        assert (np.abs(free) > limits).any()
        np.testing.assert_array_equal(model.path_.cost, plain.path_.cost)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        np.testing.assert_array_equal(model.predict(rows), np.clip(free, -limits, limits))
        mean, std = model.predict(rows, return_std=True)
        np.testing.assert_array_equal(mean, model.predict(rows))
        np.testing.assert_array_equal(std, plain.predict(rows, return_std=True)[1])
        for k, (got, want) in enumerate(zip(model.staged_predict(rows), plain.staged_predict(rows), strict=True)):
            np.testing.assert_array_equal(got, np.clip(want, -limits, limits))
            np.testing.assert_allclose(model.at(k).predict(rows), got, atol=1e-9)
        np.testing.assert_array_equal(model.select("loo").predict(rows), np.clip(
            plain.select("loo").predict(rows), -limits, limits))  # fmt: skip
        score = 1 - np.square(Y - model.predict(X)).sum(0) / np.square(Y - Y.mean(0)).sum(0)
        assert model.score(X, Y) == pytest.approx(score.mean(), rel=1e-12)

    def test_one_target_in_either_shape(self, toy):
        X, y = toy
        flat, column = (fitted(X, target, truncate=2.0, max_atoms=5) for target in (y, y[:, None]))
        assert flat.predict(X).max() == 2.0
        np.testing.assert_array_equal(column.predict(X), flat.predict(X)[:, None])
        assert flat.predict(X.astype(np.float32)).dtype == np.float32

    @pytest.mark.parametrize("after", [False, True], ids=["in the fit", "select"])
    def test_validation_errors_are_of_what_is_predicted(self, toy_outputs, after):
        X, Y = toy_outputs
        held, weights = slice(60, 80), np.linspace(0.5, 2, 20)
        rule = Validation(X[held], Y[held], sample_weight=weights, patience=None)
        settings = {"truncate": 1.2, "max_atoms": 8, "stop": "max" if after else rule}
        model = fitted(X[:60], Y[:60], **settings)
        model = model.select(rule) if after else model
        staged = np.array(list(model.staged_predict(X[held])))
        want = np.average(np.square(staged - Y[held]).mean(axis=2), axis=1, weights=weights)
        np.testing.assert_allclose(model.path_.validation, want, rtol=1e-9)
        free = fitted(X[:60], Y[:60], max_atoms=8, stop="max").select(rule).path_.validation
        assert (np.abs(model.path_.validation - free) > 1e-6).any()

    def test_rows_of_no_weight_set_no_limit(self, toy):
        """A row of weight zero is as good as not there, however large its target."""
        X, y = toy
        y = np.where(np.arange(80) == 7, 1e6, y)
        weights = (np.arange(80) != 7).astype(float)
        kept = np.flatnonzero(weights)
        far, settings = 100 * X, {"kernel": "linear", "truncate": "auto", "stop": "max"}
        zeroed = fitted(X, y, weights, **settings).predict(far)
        removed = fitted(X[kept], y[kept], **settings).predict(far)
        assert np.abs(removed).max() == np.abs(y[kept]).max()
        np.testing.assert_allclose(zeroed, removed, rtol=1e-8)

    @pytest.mark.parametrize("truncate", [0, -1.0, np.nan, np.inf, "max", "Auto", True, [1.0], {}])
    def test_bad_values(self, toy, truncate):
        model = plain_regressor(truncate=truncate)
        with pytest.raises(ValueError, match=r"^truncate=.*above 0, 'auto'.*None\.$") as refusal:
            model.fit(*toy)
        assert re.fullmatch(r"[^\n]*", str(refusal.value))
        assert vars(model) == model.get_params(deep=False)

    def test_a_parameter_like_any_other(self, toy):
        X, y = toy
        model = fitted(X, y, truncate=2.0, max_atoms=5)
        assert clone(model).truncate == 2.0
        before = model.predict(X)
        model.set_params(truncate=None)
        np.testing.assert_array_equal(model.predict(X), before)  # what was fitted stays until the next fit
        assert model.fit(X, y).predict(X).max() > 2.0
        warm = clone(model).set_params(warm_start=True, truncate=2.0).fit(X, y)
        assert warm.set_params(truncate=1.0).fit(X, y).predict(X).max() == 1.0
        search = GridSearchCV(clone(model), {"truncate": [None, 0.5]}, cv=2).fit(X, y)
        assert search.best_params_ == {"truncate": None}

    def test_targets_of_zero(self, toy):
        X, _ = toy
        model = fitted(X, np.zeros(80), truncate="auto")
        np.testing.assert_array_equal(model.predict(3 * X), 0.0)
