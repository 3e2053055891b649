"""Generators of data: shapes, seeds, and the functions they say they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kernelpursuit.data import make_chirp, make_friedman, make_homes, make_peaks, make_waves

GENERATORS = [(make_chirp, 1), (make_peaks, 2), (make_friedman, 10), (make_waves, 6)]


@pytest.mark.parametrize(("make", "n_features"), GENERATORS)
def test_shapes(make, n_features):
    X, y = make(37)
    assert X.shape == (37, n_features)
    assert y.shape == (37,)
    assert X.dtype == y.dtype == np.float64
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()


@pytest.mark.parametrize(("make", "n_features"), GENERATORS)
def test_a_seed_fixes_the_draw(make, n_features):
    for first, second in zip(make(50, seed=3), make(50, seed=3)):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(make(50, seed=3)[1], make(50, seed=4)[1])


@pytest.mark.parametrize(("make", "n_features"), GENERATORS)
def test_noise_is_added_and_nothing_else(make, n_features):
    X, clean = make(4000, noise=0.0)
    same, noisy = make(4000, noise=0.5)
    np.testing.assert_array_equal(X, same)
    assert np.std(noisy - clean) == pytest.approx(0.5, rel=0.05)


def test_the_functions_are_those_of_the_docstrings():
    X, y = make_chirp(100, noise=0.0)
    x = X[:, 0]
    assert (np.diff(x) >= 0).all()
    assert 0 <= x.min() <= x.max() <= 10
    np.testing.assert_allclose(y, (1 + x / 10) * np.sin(x**3 / 40))
    X, y = make_friedman(100, noise=0.0)
    expected = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    np.testing.assert_allclose(y, expected)


def test_waves_depend_on_three_features_and_most_on_the_first():
    X, y = make_waves(3000, noise=0.0)
    waves = [a * np.sin(f * np.pi * x) for a, f, x in zip((2, 1.5, 1), (2.5, 2, 1.5), X.T)]
    np.testing.assert_allclose(y, sum(waves))
    assert np.var(waves[0]) > np.var(waves[1]) > np.var(waves[2]) > 0.1


def test_homes_are_a_table_whose_noise_grows_with_the_price():
    X, clean = make_homes(4000, noise=0.0)
    same, noisy = make_homes(4000, noise=0.1)
    assert X.equals(same)
    assert X.shape == (4000, 9)
    assert X.notna().all().all()
    assert (clean > 0).all()
    assert np.std(noisy / clean) == pytest.approx(0.1, rel=0.05)
    assert not make_homes(4000, seed=1)[1].equals(noisy)


def test_homes_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^make_homes\(\) needs pandas: pip install 'kernelpursuit\[io\]'\.$"):
        make_homes(10)


def test_of_two_homes_that_differ_in_one_thing_the_better_costs_more():
    X, y = make_homes(6000, noise=0.0)
    flats = X["garden"] == 0
    for better, worse in [
        (X["area"] > 120, X["area"] < 60),
        (X["distance"] < 2, X["distance"] > 10),
        (flats & (X["floor"] > 4) & (X["lift"] == 1), flats & (X["floor"] > 4) & (X["lift"] == 0)),
    ]:
        assert y[better].median() > 1.1 * y[worse].median()
    assert abs(np.corrcoef(X["day"], y)[0, 1]) < 0.05
