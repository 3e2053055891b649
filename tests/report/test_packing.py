"""Packed arrays come back to within what they promise."""

import json

import numpy as np
import pytest
from report.reported import unpacked

from kernelpursuit.report.packing import packed

SPREADS = {"around": 1.0, "tiny": 1e-300, "huge": 8e307}


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
@pytest.mark.parametrize(("n_bytes", "error"), [(3, 3e-8), (2, 8e-6), (1, 2e-3)])
def test_numbers_come_back(spread, n_bytes, error, rng):
    values = spread * rng.uniform(-1, 1, size=(4, 3, 5))
    values[1, 2, 3], values[0, 0, 0] = np.nan, np.inf
    found = unpacked(json.loads(json.dumps(packed(values, n_bytes), allow_nan=False)))
    assert found.shape == values.shape
    known = np.isfinite(values)
    assert np.isnan(found[~known]).all()
    np.testing.assert_allclose(found[known] / spread, values[known] / spread, rtol=0, atol=2 * error)


def test_a_few_whole_numbers_are_exact():
    values = np.arange(250).reshape(10, 25)
    np.testing.assert_array_equal(np.rint(unpacked(packed(values, 1))), values)


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.full(4, 7.5), np.full(2, np.nan), np.zeros(())])
def test_arrays_without_spread(values):
    np.testing.assert_array_equal(unpacked(packed(values)), values)
