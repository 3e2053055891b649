"""Statistics of columns: those of blocks add up to those of all rows."""

import functools
import operator

import numpy as np
import pytest

from kernelpursuit.rows import Statistics


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 9, 50])
def test_blocks_add_up(rng, weighted, size):
    X = 1e8 + rng.normal(size=(50, 3)) * [1.0, 10.0, 0.0]
    weights = rng.uniform(0, 2, size=50) if weighted else None
    total = functools.reduce(
        operator.add,
        [
            Statistics.of_block(X[i : i + size], None if weights is None else weights[i : i + size])
            for i in range(0, 50, size)
        ],
    )
    mean = np.average(X, axis=0, weights=weights)
    assert total.n_rows == 50
    np.testing.assert_allclose(total.mean, mean, rtol=1e-15)
    np.testing.assert_allclose(total.spread**2, np.average((X - mean) ** 2, axis=0, weights=weights), 1e-7, 1e-14)
    np.testing.assert_array_equal([total.low, total.high], [X.min(axis=0), X.max(axis=0)])


def test_units_keep_squares_in_range():
    values = np.array([[1e300], [-1e300]])
    assert Statistics.of_block(values, unit=1e300).spread == 1.0
