"""Which rows differ, against rows sorted as a whole."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelpursuit.rows import FEWEST_ROWS, Distinct, distinct_numbers


def numbers_of_whole_rows(rows):
    """Numbers in the order of the rows, the last column first."""
    return np.unique(rows[:, ::-1], axis=0, return_inverse=True)[1].reshape(-1)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 60), st.sampled_from([2, 3, 1000]))
def test_numbers_are_those_of_whole_rows(seed, n_columns, n_rows, n_values):
    rng = np.random.default_rng(seed)
    rows = rng.integers(n_values, size=(n_rows, n_columns)).astype(float)
    np.testing.assert_array_equal(distinct_numbers(rows), numbers_of_whole_rows(rows))
    np.testing.assert_array_equal(distinct_numbers(rows.astype(np.float32)), numbers_of_whole_rows(rows))


class TestDistinct:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_rows_once_with_the_sum_of_their_weights(self, rng, weighted, sparse):
        X, y = rng.integers(2, size=(40, 3)).astype(float), rng.integers(2, size=(40, 1)).astype(float)
        weights = np.where(rng.uniform(size=40) < 0.3, 0.0, rng.uniform(0.5, 2, size=40)) if weighted else None
        found = Distinct.of(sp.csr_array(X) if sparse else X, y, weights)
        given_weights, both = np.ones(40) if weights is None else weights, np.hstack([X, y])
        assert len(found) == len(np.unique(both[given_weights > 0], axis=0))
        for number, first in enumerate(found.first):
            same = (both == both[first]).all(axis=1) & (given_weights > 0)
            np.testing.assert_array_equal(np.flatnonzero(found.which == number), np.flatnonzero(same))
            assert first == np.flatnonzero(same)[0]
            assert found.weights[number] == pytest.approx(given_weights[same].sum())
        assert (found.which[given_weights == 0] == -1).all()

    @pytest.mark.parametrize("sparse", [False, True])
    def test_order_does_not_depend_on_how_rows_were_given(self, rng, sparse):
        X, y, order = rng.normal(size=(30, 3)), rng.integers(3, size=(30, 1)).astype(float), rng.permutation(30)
        kind = sp.csr_array if sparse else np.asarray
        first, second = Distinct.of(kind(X), y, None), Distinct.of(kind(X[order]), y[order], None)
        np.testing.assert_array_equal(X[first.first], X[order][second.first])

    def test_minus_zero_is_zero(self):
        assert len(Distinct.of(np.array([[0.0], [-0.0]]), np.array([[-0.0], [0.0]]), None)) == 1

    def test_wide_rows_are_compared_by_digests(self, rng):
        X = rng.normal(size=(6, 1200))
        X[4] = X[1]
        np.testing.assert_array_equal(np.bincount(distinct_numbers(X)).max(), 2)
        assert distinct_numbers(X)[4] == distinct_numbers(X)[1]

    def test_are_enough_where_features_vary(self, rng):
        y = np.arange(float(FEWEST_ROWS))[:, None]
        X = np.ones((FEWEST_ROWS, 2))
        assert not Distinct.of(X, y, None).are_enough(X)
        X[-1, 1] = 2.0
        assert Distinct.of(X, y, None).are_enough(X)
        assert not Distinct.of(X[1:], y[1:], None).are_enough(X[1:])


def test_labels_take_no_more_memory_for_more_columns(rng):
    """All rows tie in a column of labels: the others are read one at a time."""
    peaks, y = [], rng.integers(2, size=(20_000, 1)).astype(float)
    for n_columns in (2, 60):
        X = rng.normal(size=(20_000, n_columns))
        tracemalloc.start()
        Distinct.of(X, y, None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000
