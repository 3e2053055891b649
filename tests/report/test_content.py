"""Numbers of a page are those of `at(k)` and `select(rule)`, of `predict` and of scikit-learn's measures."""

import re

import numpy as np
import pytest
from report.reported import MODELS, fitted, numbers, unpacked
from sklearn.metrics import (
    brier_score_loss,
    confusion_matrix,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)

from kernelpursuit.model.dependence import partial_dependence
from kernelpursuit.model.sizes import kept_size, sized
from kernelpursuit.report.content import content_of
from kernelpursuit.report.curves import BACKGROUND_ROWS
from kernelpursuit.report.rows import SEED, given_rows
from kernelpursuit.report.states import thinned
from kernelpursuit.rows.sample import sample_numbers

CONTENTS = {}


def content(name):
    """The content of a page with rows, made once."""
    if name not in CONTENTS:
        CONTENTS[name] = content_of(fitted(name)[0], given_rows(*fitted(name)))
    return CONTENTS[name]


def with_size(estimator, size):
    """The estimator at a size of the page, which with a model for each class may be one for each."""
    return estimator._with_model(sized(estimator.model_, size))


def same_size(size, kept):
    """Whether a size of the page is that of a model, which with a model for each class is a tuple."""
    return size == kept or {size} == set(kept)


def background(X):
    """The rows that curves are averaged over: a sample, where there are many."""
    return X[sample_numbers(np.arange(len(X)), BACKGROUND_ROWS, SEED)]


def tile(found, label):
    """Values of a tile, shape (n_targets, n_sizes) or (n_sizes,)."""
    (values,) = (one["values"] for one in found["tiles"] if one["label"] == label)
    return numbers(values)


@pytest.mark.parametrize("name", MODELS)
def test_sizes_and_rules_are_those_of_the_path(name):
    estimator, found = fitted(name)[0], content(name)
    states = found["states"]
    assert same_size(states["sizes"][states["kept"]], kept_size(estimator.model_))
    for size, n_atoms in zip(states["sizes"], states["atoms"]):
        assert with_size(estimator, size).n_atoms_ == n_atoms
    assert {rule["name"] for rule in states["rules"]} | {rule for rule, _ in states["refused"]} >= {"loo", "mdl", "max"}
    for rule in states["rules"]:
        chosen = estimator.select(rule["name"])
        assert same_size(states["sizes"][rule["state"]], kept_size(chosen.model_)), rule["name"]
        assert rule["reason"] == chosen.stop_reason_
    for rule, why in states["refused"]:
        with pytest.raises(ValueError, match=re.escape(why)):
            estimator.select(rule)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ovr"])
def test_criteria_are_those_of_the_path(name):
    estimator, found = fitted(name)[0], content(name)
    by_title = {group["title"]: group for group in found["criteria"]}
    sizes = list(found["states"]["sizes"])
    np.testing.assert_allclose(numbers(by_title["Penalised cost"]["series"][0]["values"]), estimator.path_.cost[sizes])
    if estimator.path_.loo is not None:
        (left_out,) = [
            one for group in found["criteria"] if group["key"] == "loss" for one in group["series"] if one["error"]
        ]
        np.testing.assert_allclose(numbers(left_out["values"]), estimator.path_.loo[sizes])
        np.testing.assert_allclose(numbers(left_out["error"]), estimator.path_.loo_se[sizes])


@pytest.mark.parametrize(
    "name", [name for name in MODELS if "target" in name or not hasattr(fitted(name)[0], "classes_")]
)
def test_errors_and_predictions_of_numbers(name):
    estimator, X, y = fitted(name)
    found, truth = content(name), y.reshape(len(y), -1)
    rows = found["rows"]["numbers"]
    for i, size in enumerate(found["states"]["sizes"]):
        predicted = estimator.at(size).predict(X).reshape(len(y), -1)
        for target in range(truth.shape[1]):
            both = truth[:, target], predicted[:, target]
            close = {"rtol": 1e-7, "atol": 1e-9, "err_msg": f"{size}"}
            rmse = tile(found, "root mean squared error on the rows given")[target, i]
            np.testing.assert_allclose(rmse, np.sqrt(mean_squared_error(*both)), **close)
            absolute = tile(found, "mean absolute error on the rows given")[target, i]
            np.testing.assert_allclose(absolute, mean_absolute_error(*both), **close)
            if np.ptp(truth[:, target]):
                np.testing.assert_allclose(tile(found, "R² on the rows given")[target, i], r2_score(*both), **close)
            shown = unpacked(found["rows"]["targets"][target]["predicted"])[i]
            np.testing.assert_allclose(shown, predicted[rows, target], atol=1e-7 * max(1.0, np.abs(predicted).max()))


@pytest.mark.parametrize("name", ["regressor", "learned", "two targets"])
def test_intervals(name):
    estimator, X, y = fitted(name)
    found = content(name)
    for i, size in enumerate(found["states"]["sizes"]):
        for j, coverage in enumerate(found["intervals"]["asked"]):
            lower, upper = estimator.at(size).predict_interval(X, coverage=coverage)
            held = ((y >= lower) & (y <= upper)).reshape(len(y), -1).mean(axis=0)
            width = 0.5 * (upper - lower).reshape(len(y), -1).mean(axis=0)
            np.testing.assert_allclose(numbers(found["intervals"]["held"])[i, :, j], held, atol=0.02)
            np.testing.assert_allclose(numbers(found["intervals"]["width"])[i, :, j], width, rtol=1e-6)
            left_out = estimator.path_.half_width(size, coverage)
            np.testing.assert_allclose(numbers(found["intervals"]["left_out"])[i, :, j], left_out, rtol=1e-8)


@pytest.mark.parametrize("name", ["two classes", "squared", "classes", "ovr", "hostile labels"])
def test_errors_and_probabilities_of_classes(name):
    estimator, X, y = fitted(name)
    found, rows = content(name), content(name)["rows"]["numbers"]
    for i, size in enumerate(found["states"]["sizes"]):
        this = with_size(estimator, size)
        p, labels = this.predict_proba(X), this.predict(X)
        places = np.searchsorted(estimator.classes_, y)
        assert tile(found, "wrong class on the rows given")[i] == pytest.approx(np.mean(labels != y), abs=1e-9)
        assert tile(found, "log loss on the rows given")[i] == pytest.approx(log_loss(y, p), rel=1e-6)
        brier = np.square(p - np.eye(p.shape[1])[places]).sum(axis=1).mean()
        assert tile(found, "Brier score on the rows given")[i] == pytest.approx(brier, rel=1e-6)
        shown = unpacked(found["rows"]["probability"])[i]
        np.testing.assert_allclose(shown, p[rows, places[rows]], atol=2e-5)
        named = np.rint(unpacked(found["rows"]["named"])[i]).astype(int)
        assert (estimator.classes_[named] == labels[rows]).all()
        counts = np.rint(unpacked(found["confusion"])[i])
        np.testing.assert_array_equal(counts, confusion_matrix(y, labels, labels=estimator.classes_))
    if name == "two classes":
        assert tile(found, "Brier score on the rows given")[0] == pytest.approx(
            2 * brier_score_loss(y, estimator.at(0).predict_proba(X)[:, 1])
        )


def test_reliability_bins_and_sets():
    estimator, X, y = fitted("classes")
    found = content("classes")
    state = found["states"]["kept"]
    p, size = estimator.predict_proba(X), found["states"]["sizes"][state]
    assert found["reliability"]["curves"] == ["the class that is named", "0", "1", "2"]
    bins = unpacked(found["reliability"]["bins"])[state]
    for curve, column, hit in [(0, p.max(axis=1), p.argmax(axis=1) == y), (2, p[:, 1], y == 1)]:
        which = np.minimum((10 * column).astype(int), 9)
        for b in range(10):
            n, mean, fraction = bins[curve, b]
            assert np.rint(n) == (which == b).sum()
            if n > 0.5:
                np.testing.assert_allclose(
                    [mean, fraction], [column[which == b].mean(), hit[which == b].mean()], atol=1e-4
                )
    for j, coverage in enumerate(found["sets"]["asked"]):
        sets = estimator.at(size).predict_set(X, coverage=coverage)
        assert found["sets"]["held"][state][j] == pytest.approx(sets[np.arange(len(y)), y].mean())
        assert found["sets"]["sizes"][state][j] == pytest.approx(sets.sum(axis=1).mean())


@pytest.mark.parametrize("name", ["regressor", "learned", "two targets", "classes", "two classes", "ovr"])
def test_curves_are_partial_dependence(name):
    estimator, X, _ = fitted(name)
    found = content(name)
    names = [f"x{j}" for j in range(X.shape[1])]
    outputs = [1] if name == "two classes" else range(found["n_outputs"])
    first, second = (
        np.ptp(unpacked(found["curves"]["features"][i]["values"])[found["states"]["kept"]]) for i in (0, -1)
    )
    assert first >= second
    for curve in found["curves"]["features"]:
        j, values = names.index(curve["name"]), unpacked(curve["values"])
        for i in (0, found["states"]["kept"]):
            size = found["states"]["sizes"][i]
            wanted = partial_dependence(estimator.model_, background(X), [j], curve["points"], sizes=[size])
            np.testing.assert_allclose(values[i], wanted[0][:, list(outputs)], atol=2e-5 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("name", ["regressor", "stagewise", "exchange", "two targets", "precomputed", "two classes"])
def test_centres_and_weights(name):
    estimator, found = fitted(name)[0], content(name)
    atoms, weights = found["atoms"], unpacked(found["atoms"]["weights"])
    order = {number: i for i, number in enumerate(atoms["numbers"])}
    for i, size in enumerate(found["states"]["sizes"]):
        this = estimator.at(size)
        members = [order[number] for number in this.center_indices_]
        coef = np.atleast_2d(this.coef_)
        np.testing.assert_allclose(weights[i][:, members], coef, atol=1e-6 * max(1.0, np.nanmax(np.abs(weights))))
        assert np.isfinite(weights[i][0]).sum() == this.n_atoms_
        if this.centers_ is not None and this.n_atoms_:
            shown = numbers(atoms["centers"])[members]
            features = [int(one[1:]) for one in atoms["names"]]
            np.testing.assert_allclose(shown, this.centers_[:, features], rtol=1e-8)


def test_weights_of_a_model_for_each_class_are_those_that_were_kept():
    estimator, found = fitted("ovr")[0], content("ovr")
    np.testing.assert_array_equal(found["atoms"]["numbers"], estimator.center_indices_)
    weights = np.nan_to_num(unpacked(found["atoms"]["weights"])[0])
    np.testing.assert_allclose(weights, estimator.coef_, atol=1e-6)


def test_long_paths_are_thinned_and_keep_what_rules_keep():
    found = thinned(1000, [777, 3], 50)
    assert found[0] == 0
    assert found[-1] == 999
    assert {777, 3} <= set(found)
    assert len(found) <= 52
    assert sorted(set(found)) == found
    assert thinned(5, [2], 50) == [0, 1, 2, 3, 4]


def test_without_rows_a_page_has_what_the_model_knows():
    for name in MODELS:
        estimator = fitted(name)[0]
        found = content_of(estimator, None)
        assert "rows" not in found
        has_centres = name not in ("precomputed", "functions", "constant")
        assert isinstance(found["curves"], str) != has_centres, name
