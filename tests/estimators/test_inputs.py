"""What may be handed to `fit` and `predict`: sparse, frames, float32, precomputed values, weights."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from plain import plain_regressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sparse_rows import random_csr

from kernelpursuit.dictionary import Constant, Functions, KernelAtoms
from kernelpursuit.kernels import BY_NAME, Polynomial, RationalQuadratic
from kernelpursuit.pursuit import problem
from kernelpursuit.stopping import Validation

KERNELS = [*BY_NAME, Polynomial(degree=2, coef0=0.5), RationalQuadratic(shape=3.0), ["rbf", "linear"]]


@pytest.fixture(scope="module")
def holey(toy):
    """Rows of which two thirds of the entries are zero, and the same in compressed form."""
    X, y = toy
    mask = np.random.default_rng(0).random(X.shape) < 0.6
    dense = np.where(mask, 0.0, X)
    dense.flags.writeable = False
    return dense, sp.csr_array(dense), y


@pytest.fixture(params=["made dense", "kept sparse"])
def sparse_route(request, monkeypatch):
    """Both ways to fit sparse rows; which one is taken is a matter of size."""
    if request.param == "kept sparse":
        monkeypatch.setattr(problem, "DENSE_UP_TO", 0)


@pytest.mark.usefixtures("sparse_route")
@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_give_what_dense_rows_give(holey, kernel):
    dense, sparse, y = holey
    settings = {"kernel": kernel, "gamma": 0.3, "max_atoms": 12, "stop": "max"}
    want = plain_regressor(**settings).fit(dense, y)
    got = plain_regressor(**settings).fit(sparse, y)
    before = sparse.copy()
    np.testing.assert_array_equal(got.center_indices_, want.center_indices_)
    np.testing.assert_allclose(got.predict(sparse), want.predict(dense), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(got.predict(dense), want.predict(sparse), rtol=1e-8, atol=1e-8)
    assert (before != sparse).nnz == 0


@pytest.mark.usefixtures("sparse_route")
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs", "nugget"])
@pytest.mark.parametrize("selection", ["residual", "correlation", "gain"])
def test_sparse_rows_by_selection_and_penalty(holey, selection, penalty):
    dense, sparse, y = holey
    settings = {"selection": selection, "penalty": penalty, "max_atoms": 10, "stop": "max", "gamma": 0.5}
    want = plain_regressor(**settings).fit(dense, y)
    got = plain_regressor(**settings).fit(sparse, y)
    np.testing.assert_array_equal(got.center_indices_, want.center_indices_)
    np.testing.assert_allclose(got.predict(sparse), want.predict(dense), rtol=1e-7)
    mean, std = got.predict(sparse, return_std=True)
    np.testing.assert_allclose(std, want.predict(dense, return_std=True)[1], rtol=1e-7)
    np.testing.assert_array_equal(mean, got.predict(sparse))


def test_rows_too_wide_to_be_dense_stay_sparse(monkeypatch):
    """At 200,000 features neither the fit nor a prediction makes anything dense of the rows."""
    rows = random_csr((60, 200_000), 1e-4)
    monkeypatch.setattr(problem, "DENSE_UP_TO", 10**6)
    monkeypatch.setattr(type(rows), "toarray", guarded(type(rows).toarray, 10**6))
    model = plain_regressor(max_atoms=5, stop="max").fit(rows, np.arange(60.0))
    assert sp.issparse(model.centers_)
    assert model.predict(rows).shape == (60,)
    assert model.predict(rows, return_std=True)[1].shape == (60,)


def guarded(toarray, most):
    def refuse(matrix, *args, **kwargs):
        assert np.prod(matrix.shape) <= most, "made dense"
        return toarray(matrix, *args, **kwargs)

    return refuse


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.csc_matrix])
def test_other_sparse_layouts(holey, layout):
    dense, sparse, y = holey
    model = plain_regressor(max_atoms=8).fit(layout(dense), y)
    np.testing.assert_array_equal(model.predict(layout(dense)), model.predict(sparse))


def test_sparse_precomputed(holey):
    _, sparse, y = holey
    K = sp.csr_array(sparse @ sparse.T)
    model, dense = (plain_regressor(kernel="precomputed", max_atoms=3).fit(A, y) for A in (K, K.toarray()))
    np.testing.assert_allclose(model.predict(K), dense.predict(K.toarray()), rtol=1e-10)
    np.testing.assert_allclose(model.predict(K[:, model.center_indices_]), model.predict(K), rtol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(toy, frame):
    X, y = toy
    plain = plain_regressor(max_atoms=10).fit(X, y)
    table = frame(dict(zip("abc", X.T)))
    model = plain_regressor(max_atoms=10).fit(table, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_allclose(model.predict(table), plain.predict(X), rtol=1e-12)
    renamed = frame(dict(zip("abd", X.T)))
    for call in (model.predict, model.at(2).predict, lambda rows: next(model.staged_predict(rows))):
        with pytest.raises(ValueError, match="feature names"):
            call(renamed)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["c", "b", "a"]])


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_series_as_targets_and_weights(toy, series):
    X, y = toy
    weight = np.arange(80.0)
    got = plain_regressor(max_atoms=5).fit(X, series(y), sample_weight=series(weight))
    want = plain_regressor(max_atoms=5).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(got.coef_, want.coef_)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_float32_in_float32_out(toy, kernel):
    X, y = toy
    settings = {"kernel": kernel, "max_atoms": 10, "gamma": 0.3, "stop": "max"}
    double = plain_regressor(**settings).fit(X, y)
    single = plain_regressor(**settings).fit(X.astype(np.float32), y)
    rows = X.astype(np.float32)
    mean, std = single.predict(rows, return_std=True)
    assert mean.dtype == std.dtype == np.float32
    assert {stage.dtype for stage in single.staged_predict(rows)} == {np.dtype(np.float32)}
    assert single.predict(X).dtype == np.float64
    assert double.predict(rows).dtype == np.float32
    assert single.predict(sp.csr_array(rows)).dtype == np.float32
    np.testing.assert_array_equal(single.center_indices_, double.center_indices_)
    np.testing.assert_allclose(mean, double.predict(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("square", [True, False])
def test_precomputed_equals_the_kernel(toy, square):
    X, y = toy
    rows = np.arange(80) if square else np.arange(0, 80, 3)
    K = rbf_kernel(X, X[rows], gamma=0.4)
    settings = {"max_atoms": 12, "stop": "max", "penalty": "ridge"}
    model = plain_regressor(kernel="precomputed", **settings).fit(K, y)
    direct = plain_regressor(gamma=0.4, candidates=rows, **settings).fit(X, y)
    np.testing.assert_array_equal(rows[model.center_indices_], direct.center_indices_)
    np.testing.assert_allclose(model.predict(K), direct.predict(X), rtol=1e-8)
    assert model.centers_ is None
    for size in (0, 1, 4, 12):
        small = model.at(size)
        picked = K[:, small.center_indices_]
        np.testing.assert_allclose(small.predict(K), direct.at(size).predict(X), rtol=1e-8)
        np.testing.assert_allclose(small.predict(picked), small.predict(K), rtol=1e-12)
        np.testing.assert_allclose(
            small.predict(picked, return_std=True)[1], small.predict(K, return_std=True)[1], rtol=1e-10
        )


def test_precomputed_with_every_column_picked_in_another_order(toy):
    """As many columns as atoms picked: all columns are given, in their own order, as documented first."""
    X, y = toy
    D = np.column_stack([X, X**2])
    model = plain_regressor(kernel="precomputed", stop="max", penalty=None).fit(D, y)
    assert sorted(model.center_indices_) == list(range(6))
    want = D[:, model.center_indices_] @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(D), want, rtol=1e-10)


@pytest.mark.parametrize("n_columns", [1, 5, 79, 81])
def test_precomputed_refuses_another_width(toy, n_columns):
    X, y = toy
    model = plain_regressor(kernel="precomputed", max_atoms=10, stop="max").fit(rbf_kernel(X), y)
    with pytest.raises(ValueError, match=f"{n_columns} features.*80"):
        model.predict(np.ones((2, n_columns)))


def test_precomputed_in_cross_validation(toy):
    X, y = toy
    ours = cross_val_score(plain_regressor(kernel="precomputed", max_atoms=20), rbf_kernel(X, gamma=0.4), y)
    direct = cross_val_score(plain_regressor(gamma=0.4, max_atoms=20), X, y)
    np.testing.assert_allclose(ours, direct, rtol=1e-6)


def test_dictionaries_of_several_kinds(toy):
    X, y = toy
    dictionary = KernelAtoms("rbf") + Constant() + Functions(first_feature) + KernelAtoms("linear", centers=np.eye(3))
    model = plain_regressor(kernel=dictionary, max_atoms=30, stop="max").fit(X, y)
    assert {80, 81} & set(model.center_indices_.tolist())
    functions = np.isin(model.center_indices_, [80, 81])
    np.testing.assert_array_equal(np.isnan(model.centers_).all(axis=1), functions)
    assert model.score(X, y) > 0.99


def first_feature(X):
    return X[:, 0]


def asymmetric(X, C):
    return np.tanh(X @ np.roll(C, 1, axis=1).T)


@pytest.mark.parametrize("kernel", ["sigmoid", asymmetric, Polynomial(coef0=-1.0), "precomputed"])
@pytest.mark.parametrize("settings", [{"selection": "residual"}, {"penalty": "rkhs"}])
def test_rules_that_need_mercer_refuse_other_dictionaries(toy, kernel, settings):
    X, y = toy
    rows = X @ np.roll(X, 1, axis=1).T if kernel == "precomputed" else X
    name = next(iter(settings))
    with pytest.raises(ValueError, match=rf"{name}='.*positive semidefinite"):
        plain_regressor(kernel=kernel, **settings).fit(rows, y)


@pytest.mark.parametrize("selection", ["residual", "correlation", "gain", "random"])
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs"])
def test_weight_two_is_a_row_twice_and_weight_zero_is_none(toy, selection, penalty):
    X, y = toy
    weights = np.ones(80)
    weights[[3, 7]], weights[60:] = 2, 0
    settings = {"selection": selection, "penalty": penalty, "max_atoms": 60, "stop": "max", "gamma": 0.3}
    settings |= {"max_atoms": 15} if selection != "random" else {"penalty": "ridge", "alpha": 0.1}
    weighted = plain_regressor(**settings).fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(80), weights.astype(int))
    plain = plain_regressor(**settings).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X), rtol=1e-6, atol=1e-6)
    assert weighted.center_indices_.max() < 60


def test_weights_scale_with_the_ridge(toy):
    """Weights c times as large under alpha c times as large give the same model."""
    X, y = toy
    weights = np.linspace(0.1, 2, 80)
    one = plain_regressor(alpha=0.1, max_atoms=15, stop="max").fit(X, y, sample_weight=weights)
    ten = plain_regressor(alpha=1.0, max_atoms=15, stop="max").fit(X, y, sample_weight=10 * weights)
    np.testing.assert_array_equal(one.center_indices_, ten.center_indices_)
    np.testing.assert_allclose(one.predict(X), ten.predict(X), rtol=1e-8)
    scalar = plain_regressor(max_atoms=5).fit(X, y, sample_weight=1.0)
    np.testing.assert_allclose(scalar.coef_, plain_regressor(max_atoms=5).fit(X, y).coef_)


def test_sparse_rows_are_made_dense_only_where_that_is_faster():
    def made_dense(n_features, density):
        rows = random_csr((40, n_features), density)
        model = plain_regressor(max_atoms=2, stop="max").fit(rows, np.arange(40.0))
        return not sp.issparse(model.centers_)

    assert made_dense(50, 0.01)
    assert made_dense(1000, 0.5)
    assert not made_dense(1000, 0.01)


def test_functions_see_held_out_rows_as_they_see_training_rows(toy):
    """Dense in the fit means dense in the validation, however the held-out rows were given."""
    X, y = toy
    kinds = set()

    def first_feature(rows):
        kinds.add(type(rows))
        return rows[:, 0]

    dictionary = Functions(first_feature) + KernelAtoms("linear")
    rule = Validation(sp.csr_array(X[60:]), y[60:])
    model = plain_regressor(kernel=dictionary, max_atoms=3, stop=rule).fit(X[:60], y[:60])
    model.select(rule)
    model.predict(sp.csr_array(X))
    assert kinds == {np.ndarray}
