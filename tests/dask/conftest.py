"""A small cluster of real processes, on this machine alone, which all tests of this folder share."""

import pytest
from distributed import Client, LocalCluster

from kernelpursuit.estimators import sampled


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def small_samples(monkeypatch):
    """As if this process had memory for 1,500 rows."""
    monkeypatch.setattr(sampled, "ROWS_LEARNED_FROM", 1500)
    monkeypatch.setattr(sampled, "LEAST_SAMPLE", 500)
    monkeypatch.setattr(sampled, "SAMPLED_ABOVE", 1500)
    monkeypatch.setattr(sampled, "ROWS_PICKED_FROM", 1000)
