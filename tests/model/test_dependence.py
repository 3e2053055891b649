"""Partial dependence and predictions of many sizes: the same numbers as one size, one row and one point at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_friedman1
from sklearn.inspection import partial_dependence as of_sklearn

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, LinearTrend
from kernelpursuit.model import sizes
from kernelpursuit.model.dependence import grid_over, individual_dependence, partial_dependence
from kernelpursuit.model.sizes import ManySizes, kept_size, sized

X, Y = make_friedman1(120, 5, noise=0.5, random_state=0)
TWO = np.column_stack([Y, X[:, 0] - Y])
IRIS = load_iris(return_X_y=True)
MODELS = {
    "plain": KernelPursuitRegressor(gamma=0.5, max_atoms=9).fit(X, Y),
    "held outside": KernelPursuitRegressor(gamma=0.5, max_atoms=9, outside="return", truncate=9.0).fit(X, Y),
    "two targets": KernelPursuitRegressor(gamma=0.5, max_atoms=9).fit(X, TWO),
    "always": KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=0.5, max_atoms=6).fit(X, Y),
    "counts": KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=6).fit(X, np.round(Y)),
    "constant": KernelPursuitRegressor(gamma=0.5, max_atoms=3).fit(X, np.ones(len(X))),
    "stagewise": presets.kmp_basic(gamma=0.5, max_atoms=8).fit(X, Y),
    "exchange": presets.greedy_qr_exchange(gamma=0.5, max_atoms=8).fit(X, Y),
    "two classes": KernelPursuitClassifier(gamma=0.5, max_atoms=6).fit(X, Y > 14),
    "classes": KernelPursuitClassifier(gamma=0.5, max_atoms=6, loss="squared").fit(*IRIS),
    "a model each": KernelPursuitClassifier(gamma=0.5, max_atoms=5, multi_class="ovr").fit(*IRIS),
}


def rows_of(estimator):
    rows = X if estimator.n_features_in_ == 5 else IRIS[0]
    return np.vstack([rows[:15], 4 * rows[:5]])


def predicted(estimator, rows):
    """Targets of shape (n_rows, n_targets), or probabilities."""
    found = estimator.predict_proba(rows) if hasattr(estimator, "classes_") else estimator.predict(rows)
    return found.reshape(len(rows), -1)


@pytest.mark.parametrize("name", MODELS)
def test_many_sizes_are_those_of_at(name, monkeypatch):
    estimator = MODELS[name]
    rows, model = rows_of(estimator), estimator.model_
    n_sizes = min(len(one.path) for one in model.models) + 1
    many = ManySizes.of(model, range(n_sizes))
    found = many.outputs(rows)
    assert found.shape == (n_sizes, len(rows), many.n_outputs)
    for k in range(n_sizes):
        np.testing.assert_allclose(found[k], predicted(estimator.at(k), rows), rtol=1e-9, atol=1e-9, err_msg=f"{k}")
    monkeypatch.setattr(sizes, "MANY_BYTES", 1)
    assert many.rows_at_once == 1


@pytest.mark.parametrize("name", MODELS)
def test_averages_are_those_of_rows_one_by_one(name, monkeypatch):
    estimator = MODELS[name]
    rows, model, points = rows_of(estimator), estimator.model_, np.array([[0.1, 0.9], [0.5, -3.0], [2.0, 0.4]])
    steps = [0, min(3, len(model.models[0].path))]
    wanted = np.zeros((2, 3, ManySizes.of(model, steps).n_outputs))
    for i, k in enumerate(steps):
        for j, point in enumerate(points):
            moved = rows.copy()
            moved[:, [2, 0]] = point
            wanted[i, j] = predicted(estimator.at(k), moved).mean(axis=0)
    for bytes_at_once in (sizes.MANY_BYTES, 7000):
        monkeypatch.setattr(sizes, "MANY_BYTES", bytes_at_once)
        found = partial_dependence(model, rows, [2, 0], points, sizes=steps)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        each = individual_dependence(model, rows, [2, 0], points)
        assert each.shape == (3, len(rows), wanted.shape[2])
        of_kept = partial_dependence(model, sp.csr_array(rows), [2, 0], points)
        np.testing.assert_allclose(of_kept[0], each.mean(axis=1), rtol=1e-9, atol=1e-12)


def test_the_curve_of_a_feature_is_that_of_scikit_learn():
    estimator = MODELS["plain"]
    of_them = of_sklearn(estimator, X, [3], method="brute", kind="both", grid_resolution=7)
    points = of_them["grid_values"][0]
    found = partial_dependence(estimator.model_, X, [3], points)
    np.testing.assert_allclose(found[0, :, 0], of_them["average"][0], rtol=1e-9)
    each = individual_dependence(estimator.model_, X, [3], points)[:, :, 0]
    np.testing.assert_allclose(each.T, of_them["individual"][0], rtol=1e-9)


def test_models_of_classes_may_have_a_size_each():
    estimator = MODELS["a model each"]
    model = sized(estimator.model_, (1, 4, 2))
    assert kept_size(model) == (1, 4, 2)
    assert [one.n_atoms for one in model.models] == [1, 4, 2]
    found = partial_dependence(estimator.model_, IRIS[0], [0], [5.0, 6.0], sizes=[(1, 4, 2)])
    np.testing.assert_array_equal(found, partial_dependence(model, IRIS[0], [0], [5.0, 6.0]))


def test_points_of_a_curve():
    np.testing.assert_array_equal(grid_over([3.0, 1.0, 1.0, np.nan]), [1.0, 3.0])
    np.testing.assert_array_equal(grid_over(np.arange(101.0), 5), [0, 25, 50, 75, 100])
    np.testing.assert_allclose(grid_over(np.arange(101.0), 3, fraction=0.9), [5, 50, 95])


def test_what_has_no_curve_is_refused():
    K = X @ X.T
    precomputed = KernelPursuitRegressor(kernel="precomputed", max_atoms=3).fit(K, Y)
    with pytest.raises(ValueError, match="has no features"):
        partial_dependence(precomputed.model_, K, [0], [1.0])
    model = MODELS["plain"].model_
    with pytest.raises(ValueError, match="2 columns for 1 features"):
        partial_dependence(model, X, [0], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="no rows"):
        partial_dependence(model, X[:0], [0], [1.0])
