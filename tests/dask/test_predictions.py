"""Predictions of Dask arrays and frames, which are lazy; and what an estimator is beside fits and predictions."""

from __future__ import annotations

import copy
import inspect
import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import kernelpursuit
from kernelpursuit import dask as on_dask
from kernelpursuit.dask import KernelPursuitClassifier, KernelPursuitRegressor

FEW = {"gamma": 0.3, "max_atoms": 10, "random_state": 0}
PAIRS = [
    (KernelPursuitRegressor, kernelpursuit.KernelPursuitRegressor),
    (KernelPursuitClassifier, kernelpursuit.KernelPursuitClassifier),
]


@pytest.fixture(scope="module")
def table(client):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    return X, pd.Series(np.sin(X["a"]) + X["b"])


@pytest.fixture(scope="module")
def regressor(table, client):
    X, y = table
    return KernelPursuitRegressor(**FEW, client=client).fit(
        dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=2)
    )


@pytest.fixture(scope="module")
def classifier(table, client):
    X, y = table
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    return KernelPursuitClassifier(**FEW, client=client).fit(
        da.from_array(X.to_numpy(), chunks=(100, 1)), da.from_array(labels, chunks=77)
    )


def assert_lazy(found, expected, client):
    assert isinstance(found, da.Array)
    assert found.dtype == expected.dtype
    assert found.ndim == expected.ndim
    assert found.shape[1:] == expected.shape[1:]
    np.testing.assert_array_equal(found.compute(scheduler=client), expected)


def test_numbers(table, regressor, client):
    X, _ = table
    rows, plain = dd.from_pandas(X, npartitions=4), regressor.to_local()
    assert_lazy(regressor.predict(rows), plain.predict(X), client)
    for found, expected in zip(regressor.predict_interval(rows), plain.predict_interval(X), strict=True):
        assert_lazy(found, expected, client)
    both = regressor.predict(rows, return_std=True, interval=0.8)
    for found, expected in zip(both, plain.predict(X, return_std=True, interval=0.8), strict=True):
        assert_lazy(found, expected, client)
    # Predictions go back into the frame.
    again = rows.assign(prediction=regressor.predict(rows)).compute(scheduler=client)
    np.testing.assert_array_equal(again["prediction"], plain.predict(X))


def test_classes(table, classifier, client):
    X = table[0].to_numpy()
    rows, plain = da.from_array(X, chunks=(90, 1)), classifier.to_local()
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "predict_set"):
        found = getattr(classifier, method)(rows)
        assert_lazy(found, getattr(plain, method)(X), client)
        assert found.chunks[0] == rows.chunks[0]


def test_several_targets(table, client):
    X, y = table
    rows = da.from_array(X.to_numpy(), chunks=(100, 2))
    model = KernelPursuitRegressor(**FEW, client=client).fit(rows, da.from_array(np.column_stack([y, -y]), chunks=-1))
    assert_lazy(model.predict(rows), model.to_local().predict(X.to_numpy()), client)
    for found, expected in zip(model.predict_interval(rows), model.to_local().predict_interval(X.to_numpy())):
        assert_lazy(found, expected, client)
    score = model.score(rows, da.from_array(np.column_stack([y, -y]), chunks=-1))
    np.testing.assert_allclose(score, model.to_local().score(X.to_numpy(), np.column_stack([y, -y])), rtol=1e-12)


def test_chunks_of_no_rows_and_of_unknown_length(table, classifier, regressor, client):
    X, _ = table
    rows = da.from_array(X.to_numpy(), chunks=(100, 2))
    few = rows[rows[:, 0] > 10]
    assert classifier.predict_proba(few).compute(scheduler=client).shape == (0, 3)
    frame = dd.from_pandas(X, npartitions=2)
    assert len(regressor.predict(frame[frame.a > 10]).compute(scheduler=client)) == 0


def test_scores_are_those_of_the_plain_estimator(table, regressor, classifier, client, rng):
    X, y = table
    w = rng.uniform(size=len(X))
    weights, rows = dd.from_pandas(pd.Series(w), npartitions=2), dd.from_pandas(X, npartitions=3)
    expected = regressor.to_local().score(X, y, w)
    np.testing.assert_allclose(regressor.score(rows, dd.from_pandas(y, npartitions=3), weights), expected, rtol=1e-12)
    assert regressor.score(X, y, w) == expected
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.4, 0.5])]
    found = classifier.score(da.from_array(X.to_numpy(), chunks=(80, 2)), da.from_array(labels, chunks=100))
    np.testing.assert_allclose(found, classifier.to_local().score(X.to_numpy(), labels), rtol=1e-12)


def test_rows_in_memory_are_predicted_at_once(table, regressor, classifier):
    X, _ = table
    assert isinstance(regressor.predict(X), np.ndarray)
    assert isinstance(classifier.predict_proba(X.to_numpy()), np.ndarray)
    assert len(list(regressor.staged_predict(X))) == regressor.path_.n_steps + 1


def test_other_sizes(table, regressor, client):
    X, _ = table
    rows = dd.from_pandas(X, npartitions=2)
    smaller = regressor.at(3)
    assert smaller.client is client
    assert_lazy(smaller.predict(rows), regressor.to_local().at(3).predict(X), client)
    with pytest.raises(ValueError, match=r"use at\(k\)\.predict"):
        next(regressor.staged_predict(rows))


def test_columns_are_checked_before_anything_is_computed(table, regressor):
    X, _ = table
    rows = dd.from_pandas(X, npartitions=2)
    with pytest.raises(ValueError, match="feature names should match"):
        regressor.predict(rows.rename(columns={"a": "other"}))
    with pytest.raises(ValueError, match="'a' holds"):
        regressor.predict(rows.astype({"a": str}))


@pytest.mark.parametrize(("distributed", "plain"), PAIRS)
class TestEstimators:
    def test_the_constructor_is_that_of_the_plain_one(self, distributed, plain):
        parameters = dict(inspect.signature(distributed).parameters)
        assert parameters.pop("client").default is None
        assert parameters == dict(inspect.signature(plain).parameters)

    def test_methods_take_what_those_of_the_plain_one_take(self, distributed, plain):
        for name in ("fit", "predict", "score"):
            here, there = (inspect.signature(getattr(one, name)).parameters for one in (distributed, plain))
            assert [(one.name, one.default) for one in here.values()] == [
                (one.name, one.default) for one in there.values()
            ]

    def test_all_predictions_are_lazy(self, distributed, plain):
        known = {name for name in dir(plain) if name.startswith("predict") or name == "decision_function"}
        of_files = {"predict_blocks", "predict_to"}
        assert known - of_files <= vars(distributed).keys()

    def test_clones_and_parameters(self, distributed, plain, client):
        model = distributed(max_atoms=7, client=client)
        assert clone(model).client is client
        assert clone(model).set_params(max_atoms=8).get_params()["max_atoms"] == 8
        assert copy.copy(model).client is client
        local = model.to_local()
        assert type(local) is plain
        assert local.max_atoms == 7


def test_pickles_have_no_client(table, regressor):
    X, _ = table
    for model in (pickle.loads(pickle.dumps(regressor)), pickle.loads(pickle.dumps(regressor.to_local()))):
        np.testing.assert_array_equal(model.predict(X), regressor.predict(X))
    assert pickle.loads(pickle.dumps(regressor)).client is None


def test_files_are_those_of_the_plain_estimator(table, regressor, tmp_path):
    X, _ = table
    regressor.save(tmp_path / "model.kp")
    model = kernelpursuit.load(tmp_path / "model.kp")
    assert type(model) is kernelpursuit.KernelPursuitRegressor
    np.testing.assert_array_equal(model.predict(X), regressor.predict(X))
    regressor.export(tmp_path / "model.py")
    assert regressor.predict_to(X, tmp_path / "out.npy") == len(X)


def test_more_rows_come_from_memory(table, regressor, client):
    X, y = table
    model = copy.copy(regressor).partial_fit(X, y)
    expected = regressor.to_local().partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    rows = dd.from_pandas(X, npartitions=2)
    with pytest.raises(ValueError, match="partial_fit takes some rows in memory"):
        model.partial_fit(rows, dd.from_pandas(y, npartitions=2))


def test_what_is_public():
    assert set(on_dask.__all__) == {"DaskSource", "KernelPursuitClassifier", "KernelPursuitRegressor"}
