"""Workers that are lost, and what is refused: one sentence, which names the worker where there is one."""

from __future__ import annotations

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from kernelpursuit.dask import DaskSource, KernelPursuitClassifier, KernelPursuitRegressor, connection
from kernelpursuit.rows import Statistics

FEW = {"gamma": 0.3, "max_atoms": 10, "random_state": 0}
WORKER = r"worker tcp://127\.0\.0\.1:\d+"


def features(block_id=None):
    """Some rows, made on the worker, the same every time."""
    return np.random.default_rng(block_id[0]).normal(size=(500, 3))


def targets(X):
    return np.sin(2 * X[:, 0]) + X[:, 1]


@pytest.fixture
def made_there():
    X = da.map_blocks(features, chunks=((500,) * 6, (3,)), dtype=float, meta=np.empty((0, 3)))
    return X, X.map_blocks(targets, drop_axis=1, dtype=float, meta=np.empty(0))


@pytest.fixture(scope="module")
def mortal():
    """A cluster whose workers may be killed; they come back."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class TestLostWorkers:
    @pytest.mark.parametrize("is_kept", [True, False])
    def test_the_fit_goes_on_and_is_the_same(self, made_there, mortal, small_samples, monkeypatch, is_kept):
        X, y = mortal.persist(made_there) if is_kept else made_there
        expected = KernelPursuitRegressor(**FEW, client=mortal).fit(X, y)
        submit, passes = DaskSource._submit, []

        def submit_and_kill(self, *given):
            futures = submit(self, *given)
            passes.append(given)
            if len(passes) == 2:
                victim = next(iter(mortal.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
            return futures

        monkeypatch.setattr(DaskSource, "_submit", submit_and_kill)
        model = KernelPursuitRegressor(**FEW, client=mortal).fit(X, y)
        assert len(passes) > 2
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
        np.testing.assert_array_equal(model.center_indices_, expected.center_indices_)

    def test_a_worker_that_dies_of_its_rows(self, made_there, mortal, monkeypatch):
        # The first death is enough, so as not to wait for workers that come back.
        monkeypatch.setattr(mortal.cluster.scheduler, "allowed_failures", 0)
        with pytest.raises(RuntimeError, match=WORKER + " died over the same rows"):
            DaskSource(*made_there, client=mortal).reduce(die, 100)

    def test_a_worker_without_memory(self, made_there, client):
        with pytest.raises(MemoryError, match=WORKER + r" has no memory for partition \d of 500 rows; give it more"):
            DaskSource(*made_there, client=client).reduce(take_all_memory, 100)


def die(block):
    os._exit(1)


def take_all_memory(block):
    return np.empty(2**55)


def sums(block):
    return Statistics.of_block(block.y)


class TestSource:
    def test_a_pass_goes_on_from_where_another_was(self, made_there, client):
        source, seen = DaskSource(*made_there, client=client), []
        total = source.reduce(sums, 200, told=lambda done, found: seen.append((done, found)))
        assert [done for done, _ in seen] == [500 * k for k in range(1, 7)]
        again = source.reduce(sums, 200, before=seen[3])
        assert (again.n_rows, again.mean.tolist()) == (total.n_rows, total.mean.tolist())
        # Of other chunks nothing is taken over.
        assert source.reduce(sums, 200, before=(700, total)).n_rows == 3000

    def test_blocks(self, made_there, client):
        source = DaskSource(*made_there, client=client)
        blocks = list(source.blocks(300, 900))
        assert [(block.start, len(block)) for block in blocks][:3] == [(1000, 300), (1300, 200), (1500, 300)]
        np.testing.assert_array_equal(blocks[0].X, features((2,))[:300])

    def test_who_raises_ends_the_pass(self, made_there, client):
        source = DaskSource(*made_there, client=client)
        with pytest.raises(ZeroDivisionError):
            source.reduce(sums, 200, told=lambda done, _: 1 / 0)
        assert source.reduce(sums, 200).n_rows == 3000


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (lambda X, y: (X.compute(), y), "X is a ndarray and no Dask array or frame; dask.array.from_array"),
            (lambda X, y: (X, np.ones(3000)), "y is a ndarray and no Dask array or frame"),
            (lambda X, y: (X, None), r"y is None and no Dask array or frame; fit\(X, y\) needs both"),
            (lambda X, y: (X, y, [1.0]), "sample_weight is a list"),
            (lambda X, y: (X[:, 0], y), "X has 1 dimensions"),
            (lambda X, y: (X, y[:1000]), "y has 1000 rows, but X has 3000"),
            (lambda X, y: (X, y, y[:10]), "sample_weight has 10 rows, but X has 3000"),
            (lambda X, y: (X, "price"), "y='price' names columns, but X is an array"),
            (lambda X, y: (X[:0], y[:0]), "X has no rows in any of its"),
            (lambda X, y: (X.astype(str), y), "X is not usable: it holds <U"),
        ],
    )
    def test_arrays(self, made_there, client, given, words):
        with pytest.raises(ValueError, match=words):
            KernelPursuitRegressor(client=client).fit(*given(*made_there))

    @pytest.mark.parametrize(
        ("column", "target", "words"),
        [
            (["a", "b"], "y", "column 'x' holds"),
            (pd.to_datetime(["2020-01-01"] * 2), "y", "column 'x' holds dates or times; convert it"),
            ([1.0, 2.0], "z", "y='z' is no column of X"),
            ([1.0, 2.0], ["x", "y"], r"X has no columns beside y=\['x', 'y'\]"),
        ],
    )
    def test_frames(self, client, column, target, words):
        table = dd.from_pandas(pd.DataFrame({"x": column, "y": [0.0, 1.0]}), npartitions=1)
        with pytest.raises(ValueError, match=words):
            KernelPursuitRegressor(client=client).fit(table, target)

    def test_a_bad_row_has_the_number_that_it_has_among_all(self, made_there, client):
        X, y = made_there
        holed = da.where(da.arange(3000, chunks=500)[:, None] == 1003, np.nan, X)
        with pytest.raises(ValueError, match=r"X holds nan in row 1,003 \(3 of partition 2\), feature 0"):
            KernelPursuitRegressor(client=client).fit(holed, y)
        table = pd.DataFrame({"x": pd.array([1, None], dtype="Int64"), "y": [0.0, 1.0]})
        with pytest.raises(ValueError, match=r"X holds nan in row 1 \(1 of partition 0\), feature 'x'"):
            KernelPursuitRegressor(client=client).fit(dd.from_pandas(table, npartitions=1), "y")
        labels = dd.from_pandas(pd.Series(["a", None] * 1500, dtype="string"), npartitions=2)
        with pytest.raises(ValueError, match=r"y holds no label in row 1 \("):
            KernelPursuitClassifier(client=client).fit(X, labels)

    def test_chunks_that_are_not_what_they_are_said_to_be(self, made_there, client):
        X, y = made_there
        wide = X.map_blocks(lambda chunk: np.hstack([chunk, chunk]), dtype=float, meta=np.empty((0, 3)))
        with pytest.raises(ValueError, match=r"partition \d of X, on " + WORKER + r", has the shape \(500, 6\)"):
            KernelPursuitRegressor(client=client).fit(wide, y)
        short = X.map_blocks(lambda chunk: chunk[:7], dtype=float, meta=np.empty((0, 3)))
        with pytest.raises(ValueError, match=WORKER + ", had 500 rows first and 7 later"):
            KernelPursuitRegressor(client=client).fit(short, y)

    def test_clients(self, made_there, client, monkeypatch):
        with pytest.raises(ValueError, match=r"no Dask client; make one first, with distributed\.Client\(\)"):
            KernelPursuitRegressor().fit(*made_there)
        with pytest.raises(ValueError, match="client='localhost' is not usable"):
            KernelPursuitRegressor(client="localhost").fit(*made_there)
        with client.as_current():
            assert KernelPursuitRegressor(**FEW).fit(*made_there).n_atoms_ > 0

    def test_a_cluster_without_workers(self, made_there, monkeypatch):
        monkeypatch.setattr(connection, "WAIT_FOR_A_WORKER", 0.1)
        with (
            LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster, set_as_default=False) as client,
            pytest.raises(ValueError, match="had no worker for 0 s; add one"),
        ):
            KernelPursuitRegressor(client=client).fit(*made_there)
        with pytest.raises(ValueError, match="client is closed"):
            KernelPursuitRegressor(client=client).fit(*made_there)
