"""A fitted model: small, frozen, without training rows, and the same after it was written down as arrays."""

import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_friedman1

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms, LinearTrend, widths
from kernelpursuit.model import from_arrays, to_arrays
from kernelpursuit.updates import MinRes

X, Y = make_friedman1(150, 5, noise=0.5, random_state=0)
IRIS = load_iris(return_X_y=True)
NEW = np.vstack([X[:20] + 0.01, 3 * X[:5]])

REGRESSORS = {
    "default": KernelPursuitRegressor(random_state=0),
    "trend": KernelPursuitRegressor(trend="linear", random_state=0),
    "plain": KernelPursuitRegressor(gamma=0.5, max_atoms=12),
    "union": KernelPursuitRegressor(
        kernel=KernelAtoms("rbf") + KernelAtoms("linear") + Constant(), gamma=0.5, max_atoms=12
    ),
    "widths": KernelPursuitRegressor(kernel=widths("matern52", [0.3, 3.0]), max_atoms=12, truncate="auto"),
    "always": KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=0.5, max_atoms=8),
    "huber": KernelPursuitRegressor(loss="huber", gamma=0.5, max_atoms=8),
    "poisson": KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=8),
    "stagewise": presets.kmp_basic(gamma=0.5, max_atoms=8),
    "rescale": presets.sparse_gp_greedy(gamma=0.5, max_atoms=8),
    "exchange": presets.greedy_qr_exchange(gamma=0.5, max_atoms=12, stop="mdl"),
    "minres": presets.mrx(gamma=0.5, max_atoms=8),
    "learned": presets.rfs(gamma="learn", max_atoms=8, random_state=0),
}
CLASSIFIERS = {
    "log": KernelPursuitClassifier(gamma=0.5, max_atoms=8),
    "squared": KernelPursuitClassifier(loss="squared", gamma=0.5, max_atoms=8),
    "hinge": KernelPursuitClassifier(loss="hinge", gamma=0.5, max_atoms=8),
    "ovr": KernelPursuitClassifier(gamma=0.5, max_atoms=5, multi_class="ovr"),
}


def with_model(estimator, model):
    """The estimator with another model."""
    other = pickle.loads(pickle.dumps(estimator))
    other.model_ = model
    return other


def written_and_read(model):
    """The model after it was text and arrays."""
    arrays = to_arrays(model)
    structure = json.loads(json.dumps(arrays.pop("structure"), allow_nan=False))
    assert all(type(array) is np.ndarray and array.dtype.kind in "biufU" for array in arrays.values())
    return from_arrays({"structure": structure, **{name: array.copy() for name, array in arrays.items()}})


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_as_arrays(name):
    y = np.abs(np.round(Y)) if name == "poisson" else Y
    model = REGRESSORS[name].fit(X, y)
    again = with_model(model, written_and_read(model.model_))
    for size in (model.n_atoms_, min(3, len(model.path_))):
        one, other = model.at(size), again.at(size)
        np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
        np.testing.assert_array_equal(one.center_indices_, other.center_indices_)
    np.testing.assert_array_equal(list(model.staged_predict(NEW)), list(again.staged_predict(NEW)))
    if name in ("default", "trend", "plain", "union", "widths", "always", "learned"):
        np.testing.assert_array_equal(model.predict_interval(NEW), again.predict_interval(NEW))
        np.testing.assert_array_equal(model.predict(NEW, return_std=True), again.predict(NEW, return_std=True))
        assert model.select("auto").n_atoms_ == again.select("auto").n_atoms_
    assert again.stop_reason_ == model.stop_reason_
    assert repr(again.kernel_) == repr(model.kernel_)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("words", [False, True])
def test_a_classifier_as_arrays(name, words):
    rows, labels = IRIS
    labels = np.array(["one", "two", "three"], dtype=object)[labels] if words else labels
    model = CLASSIFIERS[name].fit(rows, labels)
    again = with_model(model, written_and_read(model.model_))
    np.testing.assert_array_equal(model.predict_proba(rows), again.predict_proba(rows))
    np.testing.assert_array_equal(model.at(2).predict(rows), again.at(2).predict(rows))
    np.testing.assert_array_equal(again.model_.classes, model.classes_)


def test_sparse_centers_and_precomputed_columns():
    wide = sp.random_array((60, 300), density=0.05, format="csr", random_state=0)
    y = np.asarray(wide.sum(axis=1)).ravel()
    sparse = KernelPursuitRegressor(gamma=0.1, max_atoms=5).fit(wide, y)
    again = with_model(sparse, written_and_read(sparse.model_))
    np.testing.assert_array_equal(sparse.predict(wide), again.predict(wide))
    K = X @ X.T
    columns = KernelPursuitRegressor(kernel="precomputed", max_atoms=4).fit(K, Y)
    again = with_model(columns, written_and_read(columns.model_))
    np.testing.assert_array_equal(columns.predict(K), again.predict(K[:, again.center_indices_]))


@pytest.mark.parametrize(
    "kernel", [lambda X, C: X @ C.T, Functions(np.sum, lambda X: X[:, 0]) + KernelAtoms("rbf")], ids=["kernel", "atoms"]
)
def test_functions_of_the_user_are_refused_in_a_sentence(kernel):
    if not callable(kernel):
        kernel = Functions(lambda X: X[:, 0]) + KernelAtoms("rbf")
    model = KernelPursuitRegressor(kernel=kernel, max_atoms=3).fit(X, Y)
    with pytest.raises(ValueError, match="written down as arrays"):
        to_arrays(model.model_)


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("structure"),
        lambda arrays: arrays["structure"].update(version=99),
        lambda arrays: arrays["structure"].update(model=7),
        lambda arrays: arrays.pop("path.cost"),
        lambda arrays: arrays["structure"]["model"].update(type="os.system"),
        lambda arrays: arrays["structure"]["model"]["fields"].pop("atoms"),
        lambda arrays: arrays["structure"]["model"]["fields"].update(path={"strange": 1}),
    ],
)
def test_damaged_arrays_are_refused_in_a_sentence(damage):
    arrays = to_arrays(REGRESSORS["plain"].fit(X, Y).model_)
    damage(arrays)
    with pytest.raises(ValueError, match=r"hold no model|damaged|does not know"):
        from_arrays(arrays)


def test_a_model_is_frozen():
    model = REGRESSORS["plain"].fit(X, Y).model_
    with pytest.raises(FrozenInstanceError):
        model.n_steps = 3


@pytest.mark.parametrize("name", ["default", "plain", "union", "stagewise", "rescale", "exchange", "minres", "huber"])
def test_without_later_steps(name):
    model = REGRESSORS[name].fit(X, Y)
    for k in (0, 1, 5):
        small, whole = model.at(k, keep_path=False), model.at(k)
        np.testing.assert_array_equal(small.predict(NEW), whole.predict(NEW))
        np.testing.assert_array_equal(small.center_indices_, whole.center_indices_)
        assert len(small.path_) == k
        np.testing.assert_array_equal(small.path_.cost, model.path_.cost[: k + 1])
        np.testing.assert_array_equal(list(small.staged_predict(NEW)), list(model.staged_predict(NEW))[: k + 1])
        if name in ("default", "plain", "union"):
            np.testing.assert_array_equal(small.predict_interval(NEW), whole.predict_interval(NEW))
    with pytest.raises(ValueError, match="not on the path"):
        model.at(3, keep_path=False).at(4)


def test_each_class_without_later_steps():
    rows, labels = IRIS
    model = CLASSIFIERS["ovr"].fit(rows, labels)
    small = model.at(2, keep_path=False)
    np.testing.assert_array_equal(small.predict_proba(rows), model.at(2).predict_proba(rows))
    assert [len(path) for path in small.path_] == [2, 2, 2]


def test_a_pickle_has_nothing_of_the_training_rows():
    """As many rows again, and the same atoms: no more bytes."""
    sizes = {}
    for n in (1000, 8000):
        rows, targets = make_friedman1(n, 5, noise=0.5, random_state=0)
        for name, settings in {"plain": {"gamma": 0.5}, "default": {"random_state": 0}}.items():
            model = KernelPursuitRegressor(max_atoms=15, stop="max", **settings).fit(rows, targets)
            sizes[name, n] = len(pickle.dumps(model))
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    assert sizes["plain", 8000] < 1.01 * sizes["plain", 1000]
    assert sizes["default", 8000] < 1.2 * sizes["default", 1000]


def test_a_small_model_has_a_small_pickle():
    model = KernelPursuitRegressor(random_state=0).fit(X, Y)
    few, whole = model.at(3, keep_path=False), model.at(3)
    assert len(pickle.dumps(few)) < len(pickle.dumps(whole))
    plain = KernelPursuitRegressor(gamma=0.5, max_atoms=60, stop="max").fit(X, Y)
    assert len(pickle.dumps(plain.at(3, keep_path=False))) < len(pickle.dumps(plain)) / 8


def test_a_warm_start_after_a_pickle_starts_from_nothing():
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5, warm_start=True).fit(X, Y)
    again = pickle.loads(pickle.dumps(model)).set_params(max_atoms=9).fit(X, Y)
    want = KernelPursuitRegressor(gamma=0.5, max_atoms=9).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), want.predict(X))


def test_a_fit_that_fails_changes_nothing():
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(X, Y)
    before, n_features = model.predict(X), model.n_features_in_
    with pytest.raises(ValueError, match="truncate"):
        model.set_params(truncate=-1.0).fit(X[:, :2], Y)
    assert model.n_features_in_ == n_features
    np.testing.assert_array_equal(model.predict(X), before)


def test_attributes_are_those_of_the_model():
    model = KernelPursuitRegressor(
        update=MinRes(), selection="residual", penalty=None, gamma=0.5, max_atoms=5, stop="max", candidates="all"
    )
    assert not hasattr(model, "coef_")
    model.fit(X, Y)
    assert model.coef_.shape == (5,)
    assert model.model_.coef.shape == (1, 5)
    assert model.n_atoms_ == model.model_.n_atoms == 5
