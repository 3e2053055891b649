"""Fits of Dask arrays and frames: those of rows in memory, however they are chunked."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import kernelpursuit
from kernelpursuit.dask import KernelPursuitClassifier, KernelPursuitRegressor, source
from kernelpursuit.pursuit.checkpoint import Checkpoint

N_ROWS = 4000
# A fit of some steps, whose atoms are picked from a sample, and one that learns all.
FEW = {"gamma": 0.3, "max_atoms": 20, "random_state": 0}
CHUNKS = {"one": (4000,), "even": (1000,) * 4, "odd": (1, 1700, 0, 999, 1300), "many": (200,) * 20}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * np.abs(X[:, 2]) + 0.1 * rng.normal(size=N_ROWS)
    return X, y


def in_chunks(values, lengths):
    ends = np.cumsum(lengths)
    return da.concatenate(
        [da.from_array(values[end - length : end], chunks=-1) for end, length in zip(ends, lengths)],
        allow_unknown_chunksizes=True,
    )


def frame(X, n_partitions=3):
    return dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=n_partitions)


def assert_same(model, expected, X, tolerance=1e-8):
    np.testing.assert_array_equal(model.center_indices_, expected.center_indices_)
    values = expected.predict(X)
    scale = np.abs(values).max()
    np.testing.assert_allclose(model.to_local().predict(X), values, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(model.path_.loo, expected.path_.loo, rtol=tolerance)


class TestSameAsInMemory:
    def test_whatever_the_chunks(self, rows, client, small_samples):
        X, y = rows
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(X, y)
        for lengths in CHUNKS.values():
            model = KernelPursuitRegressor(**FEW, client=client)
            assert_same(model.fit(in_chunks(X, lengths), in_chunks(y, lengths)), expected, X)
        # All rows are fitted, and not those of the sample alone.
        assert model.path_.n_units == N_ROWS

    def test_what_is_learned(self, rows, client, small_samples, short_plan):
        X, y = rows
        expected = kernelpursuit.KernelPursuitRegressor(random_state=0, max_atoms=30).fit(X, y)
        model = KernelPursuitRegressor(random_state=0, max_atoms=30, client=client)
        model.fit(in_chunks(X, CHUNKS["odd"]), in_chunks(y, CHUNKS["even"]))
        assert_same(model, expected, X)
        for found, wanted in zip(model.predict_interval(X[:99]), expected.predict_interval(X[:99])):
            np.testing.assert_allclose(found, wanted, atol=1e-7)

    def test_the_same_chunks_give_the_same_bits(self, rows, client, small_samples):
        X, y = (in_chunks(values, CHUNKS["many"]) for values in rows)
        models = [KernelPursuitRegressor(**FEW, client=client).fit(X, y) for _ in range(2)]
        np.testing.assert_array_equal(models[0].coef_, models[1].coef_)

    def test_weights_whose_chunks_are_others(self, rows, client, small_samples, rng):
        X, y = rows
        w = rng.uniform(0.0, 2.0, size=N_ROWS)
        w[::7] = 0.0
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(X, y, w)
        model = KernelPursuitRegressor(**FEW, client=client).fit(
            in_chunks(X, CHUNKS["even"]), in_chunks(y, CHUNKS["odd"]), in_chunks(w, CHUNKS["many"])
        )
        assert_same(model, expected, X)

    def test_a_fit_goes_on_from_a_checkpoint(self, rows, client, small_samples, tmp_path, monkeypatch):
        X, y = (in_chunks(values, CHUNKS["even"]) for values in rows)
        expected = KernelPursuitRegressor(**FEW, client=client).fit(X, y)
        monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (0.0,))
        add_up, n_seen = source.added, []

        def fail_later(first, second):
            n_seen.append(first)
            if len(n_seen) == 7:
                raise OSError("the scheduler is gone")
            return add_up(first, second)

        model = KernelPursuitRegressor(**FEW, checkpoint=tmp_path / "fit", client=client)
        with monkeypatch.context() as patched:
            patched.setattr(source, "added", fail_later)
            with pytest.raises(OSError, match="is gone"):
                model.fit(X, y)
        assert (tmp_path / "fit").exists()
        np.testing.assert_array_equal(model.fit(X, y).coef_, expected.coef_)
        assert not (tmp_path / "fit").exists()

    def test_few_rows_are_fitted_in_memory(self, rows, client):
        X, y = (values[:300] for values in rows)
        expected = kernelpursuit.KernelPursuitRegressor(random_state=0, gamma=0.3).fit(X, y)
        model = KernelPursuitRegressor(random_state=0, gamma=0.3, client=client)
        model.fit(da.from_array(X, chunks=(70, 2)), da.from_array(y, chunks=100))
        np.testing.assert_array_equal(model.coef_, expected.coef_)

    def test_several_targets_and_float32(self, rows, client, small_samples):
        X, y = rows
        X, Y = X.astype(np.float32), np.column_stack([y, X[:, 0]])
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(X, Y)
        model = KernelPursuitRegressor(**FEW, client=client)
        model.fit(in_chunks(X, CHUNKS["odd"]), da.from_array(Y, chunks=(1500, 1)))
        assert_same(model, expected, X, tolerance=1e-6)
        assert model.predict(in_chunks(X, CHUNKS["odd"])).dtype == np.float32

    def test_sparse_chunks(self, rows, client, small_samples):
        X, y = rows
        X = np.where(np.abs(X) > 0.5, X, 0.0)
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(X, y)
        chunks = in_chunks(X, CHUNKS["even"]).map_blocks(sp.csr_array)
        model = KernelPursuitRegressor(**FEW, client=client).fit(chunks, in_chunks(y, CHUNKS["even"]))
        assert_same(model, expected, X)

    def test_classes(self, rows, client, small_samples):
        X, y = rows
        labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
        given = {**FEW, "loss": "squared", "class_weight": "balanced"}
        expected = kernelpursuit.KernelPursuitClassifier(**given).fit(X, labels)
        for kind in (labels.dtype, object):
            model = KernelPursuitClassifier(**given, client=client)
            model.fit(in_chunks(X, CHUNKS["odd"]), in_chunks(labels.astype(kind), CHUNKS["even"]))
            np.testing.assert_array_equal(model.classes_, expected.classes_)
            np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-8)

    def test_a_rare_class(self, rows, client, small_samples):
        X, y = rows
        labels = np.where(y >= np.sort(y)[-15], "rare", "common")
        given = {**FEW, "loss": "squared"}
        expected = kernelpursuit.KernelPursuitClassifier(**given).fit(X, labels)
        for chunks in ("odd", "many"):
            model = KernelPursuitClassifier(**given, client=client)
            model.fit(in_chunks(X, CHUNKS[chunks]), in_chunks(labels, CHUNKS[chunks]))
            np.testing.assert_array_equal(model.center_indices_, expected.center_indices_)
            np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-8)


class TestFrames:
    def test_lengths_that_are_not_known(self, rows, client, small_samples):
        X, y = rows
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(
            pd.DataFrame(X[X[:, 0] > 0], columns=list("abc")), y[X[:, 0] > 0]
        )
        table = frame(X).assign(y=dd.from_pandas(pd.Series(y), npartitions=3))
        table = table[table.a > 0]
        for target in ("y", ["y"]):
            model = KernelPursuitRegressor(**FEW, client=client).fit(table, target)
            assert_same(model, expected, pd.DataFrame(X, columns=list("abc")))
        model = KernelPursuitRegressor(**FEW, client=client).fit(table[["a", "b", "c"]], table.y)
        assert_same(model, expected, pd.DataFrame(X, columns=list("abc")))
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]

    def test_empty_partitions(self, rows, client, small_samples):
        X, y = rows
        ordered = np.argsort(X[:, 0])
        X, y = X[ordered], y[ordered]
        kept = np.abs(X[:, 0]) > 1
        table = frame(X, 8).assign(y=dd.from_pandas(pd.Series(y), npartitions=8))
        model = KernelPursuitRegressor(**FEW, client=client).fit(table[abs(table.a) > 1], "y")
        expected = kernelpursuit.KernelPursuitRegressor(**FEW).fit(pd.DataFrame(X[kept], columns=list("abc")), y[kept])
        assert_same(model, expected, pd.DataFrame(X, columns=list("abc")))
        values = model.predict(table[abs(table.a) > 1][["a", "b", "c"]]).compute()
        np.testing.assert_array_equal(values, model.to_local().predict(pd.DataFrame(X[kept], columns=list("abc"))))

    def test_labels_of_pandas(self, rows, client):
        X, y = (values[:400] for values in rows)
        labels = pd.Series(np.where(y > 0, "yes", "no"))
        expected = kernelpursuit.KernelPursuitClassifier(**FEW).fit(X, labels)
        for kind in ("string", "category", object):
            column = dd.from_pandas(labels.astype(kind), npartitions=2)
            model = KernelPursuitClassifier(**FEW, client=client).fit(da.from_array(X, chunks=(150, 3)), column)
            np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-10)
        whole = dd.from_pandas(pd.Series((y > 0).astype(int)).astype("Int64"), npartitions=2)
        model = KernelPursuitClassifier(**FEW, client=client).fit(da.from_array(X, chunks=(150, 3)), whole)
        assert model.classes_.tolist() == [0, 1]
