"""The classifier: labels, scores, weights, the path, one against the rest, and its place among scikit-learn's parts."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from plain import plain_classifier
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sparse_rows import random_csr

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.losses import Logistic, SmoothHinge, Softmax, Squared
from kernelpursuit.pursuit.selection import FOLDS
from kernelpursuit.stopping import CV, Loo, Validation

LOSSES = ["log", "logistic", "softmax", "squared", "squared_hinge", "hinge", "exponential", "tanh", "doom2"]
GAMMA = 0.4


@pytest.fixture(scope="module")
def rows(toy):
    """Eighty rows and their classes: 0, 1 or 2 by a curved border, every eighth row by chance."""
    X, y = toy
    classes = np.digitize(y, np.quantile(y, [0.35, 0.65]))
    classes[::8] = np.arange(10) % 3
    classes.flags.writeable = False
    return X, classes


@pytest.fixture(scope="module")
def two(rows):
    """The same rows in two classes."""
    X, classes = rows
    return X, (classes > 0).astype(int)


def classifier(**settings):
    return plain_classifier(**{"max_atoms": 5, "gamma": GAMMA, **settings})


LABELS = {
    "strings": lambda c: np.array(["ant", "bee", "cat"])[c],
    "objects": lambda c: np.array(["ant", "bee", "cat"], dtype=object)[c],
    "integers": lambda c: np.array([-7, 3, 40])[c],
    "small integers": lambda c: c.astype(np.int8),
    "whole floats": lambda c: np.array([-1.0, 0.0, 12.0])[c],
    "a list": lambda c: [["x", "y", "z"][i] for i in c],
    "a pandas series": lambda c: pd.Series(np.array(["ant", "bee", "cat"])[c], index=np.arange(80)[::-1]),
    "pandas categories": lambda c: pd.Series(np.array(["ant", "bee", "cat"])[c], dtype="category"),
    "a polars series": lambda c: pl.Series([["ant", "bee", "cat"][i] for i in c]),
    "booleans": lambda c: c > 0,
    "two strings": lambda c: np.where(c > 0, "yes", "no"),
}


class TestLabels:
    @pytest.mark.parametrize("kind", LABELS)
    def test_labels_of_every_kind(self, rows, kind):
        X, classes = rows
        y = LABELS[kind](classes)
        known, codes = np.unique(np.asarray(y), return_inverse=True)
        model, plain = classifier().fit(X, y), classifier().fit(X, codes)
        np.testing.assert_array_equal(model.classes_, known)
        np.testing.assert_array_equal(model.predict(X), known[plain.predict(X)])
        assert model.predict(X).dtype == model.classes_.dtype
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
        assert model.score(X, y) == np.mean(known[plain.predict(X)] == np.asarray(y)) > 0.7

    @pytest.mark.parametrize("loss", ["log", "squared", "hinge"])
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_the_order_of_labels_is_the_order_of_columns(self, rows, loss, multi_class):
        X, classes = rows
        order = np.array([2, 0, 1])
        settings = {"loss": loss, "multi_class": multi_class, "stop": "max"}
        one, other = classifier(**settings).fit(X, classes), classifier(**settings).fit(X, order[classes])
        np.testing.assert_allclose(other.decision_function(X)[:, order], one.decision_function(X), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(other.predict_proba(X)[:, order], one.predict_proba(X), atol=1e-4)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_two_classes_the_other_way_round(self, two, loss):
        X, y = two
        settings = {"loss": loss, "stop": "max", "max_atoms": 4}
        one, other = classifier(**settings).fit(X, y), classifier(**settings).fit(X, 1 - y)
        np.testing.assert_allclose(other.decision_function(X), -one.decision_function(X), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(other.predict_proba(X)[:, ::-1], one.predict_proba(X), atol=1e-4)

    def test_a_column_of_labels_is_taken_with_a_warning(self, rows):
        X, classes = rows
        want = classifier().fit(X, classes).coef_
        for column in (classes[:, None], pd.DataFrame({"label": classes})):
            with pytest.warns(DataConversionWarning, match="column-vector y"):
                np.testing.assert_array_equal(classifier().fit(X, column).coef_, want)

    def test_a_label_not_seen_counts_as_wrong(self, rows):
        X, classes = rows
        model = classifier().fit(X, classes)
        right = model.predict(X) == classes
        y = np.where(np.arange(80) < 40, classes, 9)
        assert model.score(X, y) == right[:40].sum() / 80

    def test_what_kind_of_estimator_it_is(self):
        assert is_classifier(plain_classifier())
        assert repr(KernelPursuitClassifier(loss=SmoothHinge(width=0.2))).endswith("(loss=SmoothHinge(width=0.2))")


SHAPES = [
    (loss, how, n) for loss in LOSSES for how in ("shared", "ovr") for n in (2, 3) if (loss, how) != ("softmax", "ovr")
]


class TestScores:
    @pytest.mark.parametrize(("loss", "multi_class", "n_classes"), SHAPES)
    def test_scores_labels_and_probabilities_agree(self, rows, two, loss, multi_class, n_classes):
        X, y = rows if n_classes == 3 else two
        model = classifier(loss=loss, multi_class=multi_class).fit(X, y)
        anywhere = np.vstack([X, 3 * X[:40] + 1])
        scores, p, labels = model.decision_function(anywhere), model.predict_proba(anywhere), model.predict(anywhere)
        assert scores.shape == ((120,) if n_classes == 2 else (120, 3))
        assert p.shape == (120, n_classes)
        by_scores = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(labels, model.classes_[by_scores])
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        assert ((p >= 0) & (p <= 1)).all()
        chosen = p[np.arange(120), by_scores]
        np.testing.assert_array_less(p.max(axis=1) - chosen, 1e-9)
        np.testing.assert_allclose(model.predict_log_proba(anywhere), np.log(p))

    @pytest.mark.parametrize("loss", LOSSES)
    def test_every_loss_learns(self, two, loss):
        """Less than half the errors of always naming the larger class, which has five eighths of the rows."""
        X, y = two
        assert classifier(loss=loss, max_atoms=15).fit(X, y).score(X, y) > 0.82

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_scores_are_the_weighted_sum_of_the_atoms(self, rows, two, loss, n_classes):
        X, y = rows if n_classes == 3 else two
        model = classifier(loss=loss, stop="max", max_atoms=4).fit(X, y)
        n_scores = 2 if loss == "softmax" and n_classes == 2 else 1 if n_classes == 2 else 3
        assert model.coef_.shape == (n_scores, model.n_atoms_)
        assert model.intercept_.shape == (n_scores,)
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
        scores = rbf_kernel(X, model.centers_, gamma=GAMMA) @ model.coef_.T + model.intercept_
        want = scores if n_classes == 3 else scores[:, 0] if n_scores == 1 else scores[:, 1] - scores[:, 0]
        np.testing.assert_allclose(model.decision_function(X), want, rtol=1e-8, atol=1e-8)

    def test_log_is_logistic_for_two_classes_and_softmax_for_more(self, rows, two):
        for (X, y), names in ((two, ("logistic", Logistic())), (rows, ("softmax", Softmax()))):
            want = classifier().fit(X, y)
            assert want.path_.loss == (names[0])
            for name in names:
                np.testing.assert_array_equal(classifier(loss=name).fit(X, y).coef_, want.coef_)

    def test_squared_is_regression_on_codes(self, rows):
        """Least squares on -1 and +1, which a ridge solution over the same atoms must equal."""
        X, y = rows
        model = classifier(loss=Squared(), stop="max", alpha=0.1).fit(X, y)
        D = np.column_stack([np.ones(80), rbf_kernel(X, model.centers_, gamma=GAMMA)])
        ridge = 0.1 * np.diag([0.0] + [1.0] * 5)
        weights = np.linalg.solve(D.T @ D + ridge, D.T @ np.where(y[:, None] == np.arange(3), 1.0, -1.0))
        np.testing.assert_allclose(np.column_stack([model.intercept_, model.coef_]), weights.T, rtol=1e-6)

    def test_logistic_weights_are_stationary(self, two):
        X, y = two
        model = classifier(stop="max", alpha=0.05).fit(X, y)
        signs = 2 * y - 1
        slope = -2 / np.log(2) * signs / (1 + np.exp(2 * signs * model.decision_function(X)))
        D = np.column_stack([np.ones(80), rbf_kernel(X, model.centers_, gamma=GAMMA)])
        gradient = D.T @ slope + 2 * 0.05 * np.append(0, model.coef_[0])
        assert np.abs(gradient).max() < 1e-3 * np.abs(D.T @ np.abs(slope)).max()


class TestWeights:
    def test_class_weights_are_weights_of_rows(self, rows):
        X, y = rows
        given = classifier(class_weight={0: 3.0, 2: 0.5}).fit(X, y)
        rowwise = classifier().fit(X, y, sample_weight=np.array([3.0, 1.0, 0.5])[y])
        np.testing.assert_array_equal(given.coef_, rowwise.coef_)
        both = classifier(class_weight={0: 3.0, 2: 0.5}).fit(X, y, sample_weight=np.arange(80.0))
        product = classifier().fit(X, y, sample_weight=np.array([3.0, 1.0, 0.5])[y] * np.arange(80.0))
        np.testing.assert_array_equal(both.coef_, product.coef_)

    def test_class_weights_by_name(self, rows):
        X, y = rows
        names = np.array(["ant", "bee", "cat"])[y]
        got = classifier(class_weight={"bee": 4.0}).fit(X, names)
        want = classifier().fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
        np.testing.assert_array_equal(got.coef_, want.coef_)

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_balanced_gives_all_classes_the_same_sum(self, rows, multi_class):
        X, y = rows
        got = classifier(class_weight="balanced", multi_class=multi_class).fit(X, y)
        weights = 80 / (3 * np.bincount(y))
        want = classifier(multi_class=multi_class).fit(X, y, sample_weight=weights[y])
        np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)

    def test_balanced_counts_the_weights_of_rows(self, rows):
        X, y = rows
        given = np.where(y == 0, 2.0, 1.0) * np.linspace(0.5, 1.5, 80)
        got = classifier(class_weight="balanced", loss="squared", stop="max").fit(X, y, sample_weight=given)
        sums = np.bincount(y, weights=given)
        scaled = given * (given.sum() / (3 * sums))[y]
        np.testing.assert_allclose(np.bincount(y, weights=scaled), given.sum() / 3)
        want = classifier(loss="squared", stop="max").fit(X, y, sample_weight=scaled)
        np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-8)

    def test_balanced_helps_the_rare_class(self, two):
        X, y = two
        rare = (y == 1) | (np.arange(80) % 2 == 0)
        plain = classifier(stop="max").fit(X[rare], y[rare])
        balanced = classifier(stop="max", class_weight="balanced").fit(X[rare], y[rare])
        assert (balanced.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()

    @pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
    @pytest.mark.parametrize("loss", ["log", "squared", "squared_hinge"])
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_weight_two_is_a_row_twice_and_weight_zero_is_none(self, rows, loss, class_weight, multi_class):
        X, y = rows
        weights = np.ones(80)
        weights[[3, 7, 20]], weights[60:] = 2, 0
        repeated = np.repeat(np.arange(80), weights.astype(int))
        settings = {
            "loss": loss,
            "class_weight": class_weight,
            "multi_class": multi_class,
            "stop": "max",
            "max_atoms": 3,
        }
        weighted = classifier(**settings).fit(X, y, sample_weight=weights)
        plain = classifier(**settings).fit(X[repeated], y[repeated])
        np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-4)
        assert weighted.center_indices_.max() < 60
        for one, other in zip(weighted.path_, plain.path_) if multi_class == "ovr" else [(weighted.path_, plain.path_)]:
            np.testing.assert_allclose(one.loo_error, other.loo_error, atol=1e-12)

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_a_class_without_weight_is_no_class(self, rows, multi_class):
        X, y = rows
        model = classifier(multi_class=multi_class).fit(X, y, sample_weight=(y != 1).astype(float))
        plain = classifier().fit(X[y != 1], y[y != 1])
        np.testing.assert_array_equal(model.classes_, [0, 2])
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-8)
        by_class = classifier(class_weight={1: 0.0}).fit(X, y)
        np.testing.assert_array_equal(by_class.classes_, [0, 2])
        np.testing.assert_array_equal(by_class.coef_, model.coef_)
        third = classifier(multi_class=multi_class, class_weight={1: 0.0}).fit(np.vstack([X, X]), np.append(y, y + 1))
        np.testing.assert_array_equal(third.classes_, [0, 2, 3])


class TestPath:
    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_at_and_staged_are_in_step_with_the_path(self, rows, two, loss, n_classes):
        X, y = rows if n_classes == 3 else two
        model = classifier(loss=loss, max_atoms=4).fit(X, y)
        before = model.predict_proba(X)
        scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
        assert len(scores) == len(labels) == len(model.path_) + 1 == len(model.path_.loo_error)
        for k, (stage, names) in enumerate(zip(scores, labels)):
            small = model.at(k)
            assert small.n_atoms_ == k == len(small.center_indices_)
            assert f"at({k})" in small.stop_reason_
            np.testing.assert_allclose(small.decision_function(X), stage, rtol=1e-7, atol=1e-9)
            np.testing.assert_array_equal(small.predict(X), names)
            np.testing.assert_allclose(small.predict_proba(X).sum(axis=1), 1)
        np.testing.assert_array_equal(model.at(model.n_atoms_).predict_proba(X), before)
        np.testing.assert_array_equal(model.predict_proba(X), before)

    def test_the_cost_is_that_of_the_stages(self, two):
        X, y = two
        model = classifier(stop="max", alpha=0.01).fit(X, y)
        for k, stage in enumerate(model.staged_decision_function(X)):
            losses = np.logaddexp(0, -2 * (2 * y - 1) * stage) / np.log(2)
            cost = losses.sum() + 0.01 * np.square(model.at(k).coef_).sum()
            np.testing.assert_allclose(model.path_.cost[k], cost, rtol=1e-7)
            np.testing.assert_allclose(model.path_.residual_norm[k] ** 2, losses.sum(), rtol=1e-7)

    def test_steps_that_pick_an_atom_again(self, rows):
        X, y = rows
        model = classifier(update="stagewise", stop="max", max_atoms=25).fit(X, y)
        stages = list(model.staged_decision_function(X))
        assert len(stages) == 26
        assert model.path_.loo_error is None
        np.testing.assert_allclose(model.at(25).decision_function(X), stages[25], atol=1e-9)
        np.testing.assert_allclose(model.at(7).decision_function(X), stages[7], atol=1e-9)

    def test_what_rules_choose(self, rows):
        X, y = rows
        model = classifier(stop="max", max_atoms=20).fit(X, y)
        path = model.path_
        assert model.select("loo").n_atoms_ == np.argmin(path.loo) > 0
        assert model.select("loo-error").n_atoms_ == np.argmin(path.loo_error) > 0
        assert model.select("loo-error").stop_reason_.endswith("of 20 tried")
        band = path.loo.min() + path.loo_se[np.argmin(path.loo)]
        assert model.select("one-se").n_atoms_ == np.argmax(path.loo <= band)
        assert model.select("max").n_atoms_ == 20
        assert model.n_atoms_ == 20

    @pytest.mark.parametrize("rule", ["loo", "one-se", "loo-error", Loo(patience=2)])
    @pytest.mark.parametrize("loss", ["log", "squared"])
    def test_fit_keeps_what_select_keeps(self, rows, rule, loss):
        X, y = rows
        fitted = classifier(loss=loss, stop=rule, max_atoms=12).fit(X, y)
        selected = classifier(loss=loss, stop="max", max_atoms=12).fit(X, y).select(rule)
        if rule in ("loo", "one-se", "loo-error"):
            assert selected.n_atoms_ == fitted.n_atoms_
            assert selected.stop_reason_ == fitted.stop_reason_
            np.testing.assert_array_equal(selected.center_indices_, fitted.center_indices_)
        else:
            assert len(fitted.path_) <= 12
            assert fitted.n_atoms_ == np.argmin(fitted.path_.loo)

    @pytest.mark.parametrize("of", ["loss", "error"])
    @pytest.mark.parametrize("loss", ["log", "squared", "hinge"])
    def test_given_held_out_rows_with_labels(self, rows, loss, of):
        X, classes = rows
        y = np.array(["ant", "bee", "cat"])[classes]
        weights = np.linspace(0.5, 1.5, 20)
        rule = Validation(X[60:], y[60:], patience=None, sample_weight=weights, of=of)
        model = classifier(loss=loss, stop=rule, max_atoms=8).fit(X[:60], y[:60])
        labels = np.array(list(model.staged_predict(X[60:])))
        np.testing.assert_allclose(model.path_.validation_error, (labels != y[60:]) @ weights / weights.sum())
        curve = model.path_.validation if of == "loss" else model.path_.validation_error
        assert model.n_atoms_ == np.argmin(curve)
        again = classifier(loss=loss, stop="max", max_atoms=8).fit(X[:60], y[:60]).select(rule)
        np.testing.assert_allclose(again.path_.validation_error, model.path_.validation_error)
        np.testing.assert_allclose(again.path_.validation, model.path_.validation, rtol=1e-3)
        assert again.n_atoms_ == model.n_atoms_

    def test_the_validation_loss_is_that_of_the_stages(self, rows):
        X, y = rows
        rule = Validation(X[60:], y[60:], patience=None)
        model = classifier(stop=rule, max_atoms=5).fit(X[:60], y[:60])
        for k, stage in enumerate(model.staged_decision_function(X[60:])):
            if k != model.n_atoms_:  # its weights were refitted after it was recorded
                loss = np.mean(np.log(np.exp(stage).sum(axis=1)) - stage[np.arange(20), y[60:]])
                np.testing.assert_allclose(model.path_.validation[k], loss, rtol=1e-6)

    @pytest.mark.parametrize(
        "stop", ["validation", Validation(of="error", fraction=0.3), CV(folds=3, of="error"), "cv"]
    )
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_rules_that_hold_rows_out(self, rows, stop, multi_class):
        X, y = rows
        model = classifier(stop=stop, random_state=1, max_atoms=4, multi_class=multi_class).fit(X, y)
        for path in model.path_ if multi_class == "ovr" else [model.path_]:
            loss, error = (path.cv, path.cv_error) if path.cv is not None else (path.validation, path.validation_error)
            assert loss.shape == error.shape == (len(path) + 1,)
            assert ((error >= 0) & (error <= 1)).all()
            assert (loss > 0).all()
        if multi_class == "shared":
            assert model.n_atoms_ == np.argmin(error if getattr(stop, "of", "") == "error" else loss)
        assert model.score(X, y) > 0.5

    @pytest.mark.parametrize("loss", ["squared", "log"])
    def test_errors_over_folds_are_those_of_a_loop_by_hand(self, rows, loss):
        X, y = rows
        settings = {"loss": loss, "random_state": 3, "max_atoms": 5}
        model = classifier(stop=CV(folds=4, of="error"), **settings).fit(X, y)
        order = np.random.default_rng([check_seed(3), 0, FOLDS]).permutation(80)
        order = order[np.argsort(y[order], kind="stable")]  # dealt one class after the other
        wrong = np.zeros(6)
        for first in range(4):
            fold = np.sort(order[first::4])
            rest = np.setdiff1d(np.arange(80), fold)
            there = classifier(stop="max", **settings).fit(X[rest], y[rest])
            wrong += (np.array(list(there.staged_predict(X[fold]))) != y[fold]).sum(axis=1)
        np.testing.assert_allclose(model.path_.cv_error, wrong / 80)
        assert model.n_atoms_ == np.argmin(wrong)

    def test_a_rule_for_squares_works_with_the_squared_loss(self, rows):
        X, y = rows
        model = classifier(loss="squared", stop="mdl", max_atoms=15).fit(X, y)
        assert "MDL" in model.stop_reason_
        assert model.n_atoms_ == model.select("mdl").n_atoms_

    @pytest.mark.parametrize("loss", ["log", "squared", "tanh"])
    @pytest.mark.parametrize("update", ["orthogonal", "stagewise"])
    def test_warm_start_extends_the_path(self, rows, loss, update):
        X, y = rows
        settings = {"loss": loss, "update": update, "stop": "max"}
        warm = classifier(max_atoms=3, warm_start=True, **settings).fit(X, y)
        scored = []
        warm.set_params(max_atoms=10).fit(X, y, callback=lambda path: scored.append(len(path)) and False)
        cold = classifier(max_atoms=10, **settings).fit(X, y)
        assert scored == list(range(1, 11))
        np.testing.assert_array_equal(warm.path_.atom, cold.path_.atom)
        np.testing.assert_array_equal(warm.path_.cost, cold.path_.cost)
        np.testing.assert_array_equal(warm.coef_, cold.coef_)
        np.testing.assert_array_equal(warm.predict_proba(X), cold.predict_proba(X))

    def test_warm_start_starts_anew_where_the_problem_is_another(self, rows):
        X, y = rows
        changes = ({"loss": "squared"}, {"class_weight": "balanced"}, {"multi_class": "ovr"}, {"multi_class": "shared"})
        warm = classifier(warm_start=True).fit(X, y)
        for change in changes:
            warm.set_params(**change).fit(X, y)
            cold = clone(warm).fit(X, y)
            np.testing.assert_array_equal(warm.coef_, cold.coef_)
            np.testing.assert_array_equal(warm.predict_proba(X), cold.predict_proba(X))
        np.testing.assert_array_equal(warm.fit(X, 2 - y).predict(X), clone(warm).fit(X, 2 - y).predict(X))

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_refits_leave_nothing_of_the_last_fit(self, rows, two, multi_class):
        other = "ovr" if multi_class == "shared" else "shared"
        fresh = classifier(multi_class=multi_class).fit(*rows)
        used = classifier(multi_class=other).fit(*rows).set_params(multi_class=multi_class).fit(*rows)
        public = {name for name in vars(fresh) if name.endswith("_") and not name.startswith("_")}
        assert {name for name in vars(used) if name.endswith("_") and not name.startswith("_")} == public
        assert "estimators_" not in vars(classifier(multi_class="ovr").fit(*rows).fit(*two))

    def test_the_callback_sees_every_step_and_ends_the_fit(self, rows):
        X, y = rows
        seen = []

        def third(path):
            seen.append(len(path))
            return len(path) == 3

        model = classifier(stop="max").fit(X, y, callback=third)
        assert seen == [1, 2, 3]
        assert len(model.path_) == 3
        assert "callback" in model.stop_reason_


class TestOneAgainstTheRest:
    @pytest.mark.parametrize(
        "settings", [{}, {"loss": "squared"}, {"loss": "hinge"}, {"update": "stagewise", "stop": "max"}]
    )
    def test_each_class_is_a_binary_fit_with_atoms_of_its_own(self, rows, settings):
        X, y = rows
        model = classifier(multi_class="ovr", **settings).fit(X, y)
        scores = []
        for label, row in zip(range(3), model.coef_):
            alone = classifier(**settings).fit(X, y == label)
            scores.append(alone.decision_function(X))
            assert set(model.center_indices_[row != 0]) <= set(alone.center_indices_)
            np.testing.assert_array_equal(
                row[np.searchsorted(model.center_indices_, alone.center_indices_)], alone.coef_[0]
            )
            assert np.count_nonzero(row) <= alone.n_atoms_
            np.testing.assert_array_equal(model.estimators_[label].coef_, alone.coef_)
        np.testing.assert_array_equal(model.decision_function(X), np.column_stack(scores))
        np.testing.assert_array_equal(np.unique(model.center_indices_), model.center_indices_)
        assert model.n_atoms_ == len(model.center_indices_) == model.coef_.shape[1] > model.estimators_[0].n_atoms_
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
        by_hand = rbf_kernel(X, model.centers_, gamma=GAMMA) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), by_hand, rtol=1e-8, atol=1e-8)
        assert len(model.path_) == len(model.estimators_) == 3
        assert model.stop_reason_.startswith(f"{model.n_atoms_} atoms in all, each counted once: 0 has ")

    def test_at_and_select_choose_for_each_class(self, rows):
        X, y = rows
        model = classifier(multi_class="ovr", stop="max", max_atoms=8).fit(X, y)
        before = model.predict_proba(X)
        assert [one.n_atoms_ for one in model.at(2).estimators_] == [2, 2, 2]
        assert 2 <= model.at(2).n_atoms_ <= 6
        assert model.at(0).n_atoms_ == 0
        assert model.at(0).coef_.shape == (3, 0)
        assert model.at(0).predict(X).shape == (80,)
        chosen = model.select("loo-error")
        assert [one.n_atoms_ for one in chosen.estimators_] == [np.argmin(path.loo_error) for path in model.path_]
        for label in range(3):
            alone = classifier(stop="max", max_atoms=8).fit(X, y == label).select("loo-error")
            np.testing.assert_array_equal(chosen.decision_function(X)[:, label], alone.decision_function(X))
        np.testing.assert_array_equal(model.predict_proba(X), before)
        with pytest.raises(ValueError, match="k=9 is not on the path"):
            model.at(9)

    def test_two_classes_need_one_path(self, two):
        X, y = two
        ovr, shared = classifier(multi_class="ovr").fit(X, y), classifier().fit(X, y)
        np.testing.assert_array_equal(ovr.coef_, shared.coef_)
        assert not hasattr(ovr, "estimators_")
        assert classifier(multi_class="ovr", loss="softmax").fit(X, y).coef_.shape[0] == 2

    def test_refuses_what_has_no_meaning(self, rows):
        X, y = rows
        for loss in ("softmax", Softmax()):
            with pytest.raises(
                ValueError, match=r"^loss=.oftmax.* use multi_class='shared', or loss='log'\.$|^loss='s.*\.$"
            ):
                classifier(multi_class="ovr", loss=loss).fit(X, y)
        rule = Validation(X[:40], y[:40])
        with pytest.raises(ValueError, match=r"^multi_class='ovr' .*give Validation a fraction in place of X and y\.$"):
            classifier(multi_class="ovr", stop=rule).fit(X, y)
        model = classifier(multi_class="ovr").fit(X, y)
        for staged in (model.staged_predict, model.staged_decision_function):
            with pytest.raises(ValueError, match=r"^multi_class='ovr' has a path for each class; .*estimators_\.$"):
                next(staged(X))

    @pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
    def test_select_refuses_given_held_out_rows_too(self, rows, classes):
        """The classes' own models know but True and False: labels 0 and 1 must not be taken for these."""
        X, y = rows
        model = classifier(multi_class="ovr", stop="max").fit(X, y)
        some = np.isin(y, classes)
        with pytest.raises(ValueError, match=r"^multi_class='ovr' "):
            model.select(Validation(X[some], y[some]))


class TestInputs:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_frames(self, rows, frame, multi_class):
        X, y = rows
        table, renamed = (frame(dict(zip(names, X.T))) for names in ("abc", "abd"))
        model, plain = (classifier(multi_class=multi_class).fit(data, y) for data in (table, X))
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.n_features_in_ == 3
        assert not hasattr(plain, "feature_names_in_")
        np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(X), rtol=1e-9)
        for call in (model.predict, model.predict_proba, model.decision_function, model.at(1).predict):
            with pytest.raises(ValueError, match="feature names"):
                call(renamed)

    @pytest.mark.parametrize("loss", ["log", "squared"])
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_float32_in_float32_out(self, rows, two, loss, multi_class, n_classes):
        X, y = rows if n_classes == 3 else two
        single, double = (classifier(loss=loss, multi_class=multi_class).fit(A, y) for A in (X.astype(np.float32), X))
        small = X.astype(np.float32)
        for model in (single, double):
            assert model.decision_function(small).dtype == model.predict_proba(small).dtype == np.float32
            assert model.decision_function(X).dtype == model.predict_proba(X).dtype == np.float64
        np.testing.assert_allclose(single.predict_proba(small), double.predict_proba(X), atol=1e-3)
        if multi_class == "shared":
            assert {stage.dtype for stage in single.staged_decision_function(small)} == {np.dtype(np.float32)}

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    @pytest.mark.parametrize("loss", ["log", "squared_hinge"])
    def test_sparse_rows_give_what_dense_rows_give(self, rows, multi_class, loss):
        X, y = rows
        dense = np.where(np.abs(X) < 0.7, 0.0, X)
        sparse = sp.csr_array(dense)
        got, want = (classifier(multi_class=multi_class, loss=loss).fit(A, y) for A in (sparse, dense))
        np.testing.assert_array_equal(got.center_indices_, want.center_indices_)
        np.testing.assert_allclose(got.predict_proba(sparse), want.predict_proba(dense), atol=1e-6)
        np.testing.assert_allclose(got.decision_function(dense), want.decision_function(sparse), rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_wide_sparse_rows_stay_sparse(self, multi_class):
        X = random_csr((60, 5000), 2e-3)
        y = np.arange(60) % 3
        model = classifier(max_atoms=3, stop="max", gamma="scale", multi_class=multi_class).fit(X, y)
        assert sp.issparse(model.centers_)
        assert model.centers_.shape == (model.n_atoms_, 5000)
        np.testing.assert_array_equal(model.centers_.toarray(), X[model.center_indices_].toarray())
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_precomputed_with_all_columns_or_the_picked_ones(self, rows, multi_class):
        X, y = rows
        K = rbf_kernel(X, gamma=GAMMA)
        model = plain_classifier(kernel="precomputed", max_atoms=5, multi_class=multi_class).fit(K, y)
        direct = classifier(multi_class=multi_class).fit(X, y)
        np.testing.assert_array_equal(model.center_indices_, direct.center_indices_)
        assert model.centers_ is None
        np.testing.assert_allclose(model.predict_proba(K), direct.predict_proba(X), atol=1e-6)
        for one in (model, model.at(2)):
            picked = K[:, one.center_indices_]
            np.testing.assert_allclose(one.decision_function(picked), one.decision_function(K), rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(one.predict_proba(picked), one.predict_proba(K), atol=1e-10)
            np.testing.assert_array_equal(one.predict(picked), one.predict(K))
        with pytest.raises(ValueError, match=r"79 features.*80"):
            model.predict(K[:, :79])

    @pytest.mark.parametrize("loss", ["log", "squared"])
    def test_other_updates_penalties_and_selections(self, rows, loss):
        X, y = rows
        ways = [{"selection": "correlation"}, {"penalty": "rkhs"}, {"penalty": None}, {"fit_intercept": False}]
        ways += [{"selection": "random", "random_state": 0, "max_atoms": 15}, {"candidates": 20, "random_state": 0}]
        ways += [{"kernel": "laplacian"}, {"kernel": ["rbf", "laplacian"]}, {"memory_budget": 0}]
        if loss == "squared":
            ways += [{"selection": "residual", "exchange": True}, {"penalty": "nugget", "alpha": 0.1}]
            ways += [{"update": "rescale", "stop": "max"}, {"penalty": "ols"}]
        for settings in ways:
            model = classifier(loss=loss, **settings).fit(X, y)
            assert model.score(X, y) > 0.5, settings
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert not classifier(loss=loss, fit_intercept=False).fit(X, y).intercept_.any()


KINDS = [
    {},
    {"loss": "squared"},
    {"loss": SmoothHinge(width=0.3), "stop": Loo(patience=3)},
    {"multi_class": "ovr"},
    {"multi_class": "ovr", "loss": "tanh", "class_weight": "balanced"},
    {"stop": Validation(fraction=0.2, of="error"), "random_state": 0},
    {"class_weight": {0: 2.0}},
]


class TestComposition:
    @pytest.mark.parametrize("settings", KINDS)
    def test_pickle_and_clone(self, rows, settings):
        X, y = rows
        model = classifier(**settings).fit(X, y)
        stored = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(stored.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(stored.at(1).predict_proba(X), model.at(1).predict_proba(X))
        assert stored.select("max").n_atoms_ == model.select("max").n_atoms_
        copy = clone(model)
        assert not copy.__sklearn_is_fitted__()
        assert repr(copy) == repr(model) == repr(stored)
        np.testing.assert_array_equal(copy.fit(X, y).predict_proba(X), model.predict_proba(X))

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_a_stored_model_holds_no_training_data(self, multi_class):
        X = np.random.default_rng(0).normal(size=(400, 300))
        model = classifier(multi_class=multi_class, loss="squared", max_atoms=3).fit(X, np.arange(400) % 3)
        assert len(pickle.dumps(model)) < 0.15 * X.nbytes

    def test_grid_search(self, rows):
        X, y = rows
        grid = {"gamma": [0.1, 0.5], "alpha": [1e-3, 1e-1], "loss": ["log", "squared", "hinge"]}
        search = GridSearchCV(classifier(max_atoms=4), grid, cv=2, scoring="neg_log_loss").fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert len(set(search.cv_results_["mean_test_score"])) > 6
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()

    def test_calibration_by_scikit_learn(self, rows, two):
        for X, y in (rows, two):
            outer = CalibratedClassifierCV(classifier(loss="squared"), cv=3).fit(X, y)
            np.testing.assert_allclose(outer.predict_proba(X).sum(axis=1), 1)
            assert outer.score(X, y) > 0.65

    def test_pipelines(self, rows):
        X, y = rows
        pipeline = make_pipeline(StandardScaler(), plain_classifier(max_atoms=10))
        scores = cross_val_score(pipeline, X * [1.0, 1e4, 1e-4], y, cv=4)
        np.testing.assert_allclose(scores, cross_val_score(pipeline, X, y, cv=4))
        assert scores.mean() > 0.6
        table = pd.DataFrame(X, columns=list("abc"))
        named = clone(pipeline).set_output(transform="pandas").fit(table, y)
        assert named[-1].feature_names_in_.tolist() == ["a", "b", "c"]
        want = clone(pipeline).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(named.predict_proba(table), want, rtol=1e-9)

    def test_weights_find_their_way_through_a_pipeline(self, rows):
        X, y = rows
        weights = np.linspace(0.1, 2, 80)
        with sklearn.config_context(enable_metadata_routing=True):
            asked = make_pipeline(
                StandardScaler(),
                classifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            )
            asked[0].set_fit_request(sample_weight=False)
            got = asked.fit(X, y, sample_weight=weights)[-1]
            if hasattr(asked, "set_score_request"):  # early versions want the request of the pipeline itself
                asked.set_score_request(sample_weight=True)
            scored = cross_val_score(asked, X, y, params={"sample_weight": weights}, cv=2, error_score="raise")
        want = classifier().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
        np.testing.assert_array_equal(got.coef_, want.coef_)
        assert len(scored) == 2
        old_way = make_pipeline(StandardScaler(), classifier()).fit(
            X, y, kernelpursuitclassifier__sample_weight=weights
        )
        np.testing.assert_array_equal(old_way[-1].coef_, want.coef_)

    def test_arguments_are_left_alone(self, rows):
        X, y = rows
        weights, by_class = np.ones(80), {0: 2.0}
        weights.flags.writeable = False
        model = classifier(class_weight=by_class).fit(X, y, sample_weight=weights)
        assert by_class == {0: 2.0}
        assert model.class_weight is by_class
        assert model.get_params()["loss"] == model.loss == "auto"

    @pytest.mark.parametrize(
        "settings", [{}, {"stop": "validation"}, {"selection": "random"}, {"stop": "cv", "max_atoms": 3}]
    )
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_the_same_seed_gives_the_same_model(self, rows, settings, multi_class):
        X, y = rows
        one, other = (classifier(**{"random_state": 5, "multi_class": multi_class, **settings}).fit(X, y) for _ in "ab")
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
