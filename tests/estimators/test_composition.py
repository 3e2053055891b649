"""The regressor among scikit-learn's other parts: cloning, pickling, searching, pipelines."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from plain import plain_regressor
from sklearn.base import clone, is_regressor
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import KernelAtoms, widths
from kernelpursuit.kernels import RBF, Matern32
from kernelpursuit.pursuit import problem
from kernelpursuit.stopping import Loo, Tol, Validation


def module_kernel(X, C):
    return np.exp(-np.abs(X[:, None, 0] - C[:, 0]))


KINDS = [
    {},
    {"kernel": Matern32(gamma=0.2), "stop": Tol(0.1) | "loo"},
    {"kernel": ["rbf", "linear"]},
    {"kernel": widths("rbf", [0.1, 1.0])},
    {"kernel": module_kernel},
    {"kernel": KernelAtoms(RBF(gamma=0.5), centers=np.eye(3))},
    {"kernel": "precomputed"},
    {"stop": Validation(fraction=0.2), "random_state": 0},
]


@pytest.mark.parametrize("settings", KINDS)
@pytest.mark.parametrize("store", ["pickle", "joblib"])
def test_roundtrip(toy, settings, store, tmp_path):
    X, y = toy
    model = plain_regressor(max_atoms=8, **settings).fit(X, y)
    if store == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.at(2).predict(X, return_std=True), model.at(2).predict(X, return_std=True))
    np.testing.assert_array_equal(list(again.staged_predict(X)), list(model.staged_predict(X)))
    assert again.select("one-se").n_atoms_ == model.select("one-se").n_atoms_
    assert repr(again) == repr(model)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", ["rbf", "laplacian"]])
def test_a_stored_model_holds_no_training_data(kernel):
    X = np.random.default_rng(0).normal(size=(500, 500))
    X = X @ X.T
    model = plain_regressor(kernel=kernel, max_atoms=5).fit(X, X[0])
    assert len(pickle.dumps(model)) < 0.1 * X.nbytes


@pytest.mark.parametrize("settings", KINDS)
def test_clone(toy, settings):
    X, y = toy
    model = plain_regressor(max_atoms=6, **settings).fit(X, y)
    copy = clone(model)
    assert not copy.__sklearn_is_fitted__()
    assert set(copy.get_params()) == set(model.get_params())
    np.testing.assert_array_equal(copy.fit(X, y).predict(X), model.predict(X))


def test_set_params(toy):
    X, y = toy
    model = plain_regressor().set_params(max_atoms=3, stop="max", gamma=0.5)
    assert model.fit(X, y).n_atoms_ == 3
    with pytest.raises(ValueError, match="has no parameter 'n_atoms'; did you mean 'max_atoms'"):
        model.set_params(n_atoms=3)
    assert is_regressor(model)


def test_repr():
    assert repr(KernelPursuitRegressor()) == "KernelPursuitRegressor()"
    shown = repr(KernelPursuitRegressor(kernel=RBF(gamma=2.0), stop=Tol(0.1) | Loo(patience=5), max_atoms=9))
    assert shown.replace("\n", "").replace(" ", "") == (
        "KernelPursuitRegressor(kernel=RBF(gamma=2.0),max_atoms=9,stop=Tol(tol=0.1)|Loo(patience=5))"
    )
    held_out = KernelPursuitRegressor(stop=Validation(np.ones((1000, 3)), np.ones(1000)))
    assert "1000 held-out rows" in repr(held_out)


def test_cross_validation_and_grid_search(toy):
    X, y = toy
    assert cross_val_score(plain_regressor(max_atoms=40), X, y).mean() > 0.7
    grid = {
        "gamma": [0.05, 0.3],
        "alpha": [1e-4, 1e-1],
        "stop": ["loo", "one-se", Tol(0.3)],
        "kernel": ["rbf", RBF()],
    }
    search = GridSearchCV(plain_regressor(max_atoms=20), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert np.isfinite(search.predict(X)).all()


def test_fits_side_by_side(toy):
    """Fits that run in several threads at once do not disturb each other."""
    X, y = toy
    search = GridSearchCV(plain_regressor(max_atoms=30), {"gamma": [0.1, 0.2, 0.5, 1.0]}, cv=4)
    alone = clone(search).fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_config("threading", n_jobs=4):
        np.testing.assert_array_equal(search.fit(X, y).cv_results_["mean_test_score"], alone)


def test_pipeline(toy):
    X, y = toy
    pipeline = make_pipeline(StandardScaler(), plain_regressor(max_atoms=40))
    score = cross_val_score(pipeline, X * [1.0, 1e3, 1e-3], y).mean()
    np.testing.assert_allclose(score, cross_val_score(pipeline, X, y).mean(), rtol=1e-6)
    assert score > 0.7


def test_ensembles(toy_outputs):
    X, Y = toy_outputs
    bag = BaggingRegressor(plain_regressor(max_atoms=15), n_estimators=3, random_state=0).fit(X, Y[:, 0])
    assert bag.score(X, Y[:, 0]) > 0.8
    each = MultiOutputRegressor(plain_regressor(max_atoms=15)).fit(X, Y)
    np.testing.assert_array_equal(each.predict(X)[:, 1], plain_regressor(max_atoms=15).fit(X, Y[:, 1]).predict(X))


def test_sparse_model_roundtrip(toy, monkeypatch):
    X, y = toy
    monkeypatch.setattr(problem, "DENSE_UP_TO", 0)
    sparse = sp.csr_array(np.where(X > 0.5, X, 0))
    model = plain_regressor(max_atoms=6).fit(sparse, y)
    assert sp.issparse(model.centers_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(sparse), model.predict(sparse))
