"""Results of the native core do not depend, to the last bit, on how the work was cut up."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_reference import DTYPES, IDS, KERNELS, points

from kernelpursuit import _native

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(a, b):
    np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
class TestEveryKernel:
    def test_values_do_not_depend_on_their_neighbours(self, isa, kernel, dtype, rng):
        X, C = points(rng, 211, 23, 7, dtype)
        whole = _native.block(kernel, C, X)
        for rows, atoms in (
            (slice(0, 1), slice(0, 1)),
            (slice(3, 50), slice(2, 9)),
            (slice(100, 211), slice(19, 23)),
        ):
            same(_native.block(kernel, C[atoms], X[rows]), whole[atoms, rows].copy())

    def test_products_are_those_of_the_stored_block(self, isa, kernel, dtype, rng):
        X, C = points(rng, 2 * 2048 + 777, 21, 6, dtype)
        V = rng.normal(size=(3, len(X)))
        stored = _native.block(kernel, C, X)
        same(_native.rmatvec(kernel, C, X, V), _native.stored_rmatvec(stored, V))
        # The same values give the same products, whatever kernel made them.
        unit = np.eye(len(C))
        same(_native.matvec(kernel, X[:50], C, unit), stored[:, :50].T.astype(np.float64, order="C"))

    def test_unit_weights_are_no_weights(self, isa, kernel, dtype, rng):
        X, C = points(rng, 3000, 9, 3, dtype)
        same(_native.sqnorms(kernel, C, X), _native.sqnorms(kernel, C, X, np.ones(len(X))))


@SETTINGS
@given(
    n=st.integers(1, 9000),
    m=st.integers(1, 150),
    d=st.integers(1, 40),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_cut_gives_the_same_bits(isa, n, m, d, dtype, seed):
    rng = np.random.default_rng(seed)
    X, C = points(rng, n, m, d, dtype)
    kernel = KERNELS[seed % len(KERNELS)]
    V, coef, weights = rng.normal(size=(3, n)), rng.normal(size=(m, 3)), rng.uniform(size=n)
    a, b = sorted(rng.integers(0, m + 1, 2))
    i, j = sorted(rng.integers(0, n + 1, 2))

    stored = _native.block(kernel, C, X, n_threads=1)
    same(stored, _native.block(kernel, C, X, n_threads=2))
    same(stored[a:b, i:j].copy(), _native.block(kernel, C[a:b], X[i:j]))

    rmv = _native.rmatvec(kernel, C, X, V, n_threads=1)
    same(rmv, _native.rmatvec(kernel, C, X, V, n_threads=2))
    same(rmv, _native.stored_rmatvec(stored, V, n_threads=1))
    same(rmv, _native.stored_rmatvec(stored, V, n_threads=3))
    same(rmv[1:2], _native.rmatvec(kernel, C, X, V[1:2]))
    same(rmv[1:2], _native.stored_rmatvec(stored, V[1:2]))
    same(rmv[:, a:b].copy(), _native.rmatvec(kernel, C[a:b], X, V))
    same(rmv[:, a:b].copy(), _native.stored_rmatvec(stored[a:b], V))

    mv = _native.matvec(kernel, X, C, coef, n_threads=1)
    same(mv, _native.matvec(kernel, X, C, coef, n_threads=2))
    same(mv[:, 1:2].copy(), _native.matvec(kernel, X, C, coef[:, 1:2]))
    same(mv[i:j], _native.matvec(kernel, X[i:j], C, coef))

    norms = _native.sqnorms(kernel, C, X, weights, n_threads=1)
    same(norms, _native.sqnorms(kernel, C, X, weights, n_threads=2))
    same(norms[a:b], _native.sqnorms(kernel, C[a:b], X, weights))


def test_many_atoms_and_waves_of_chunks(core, rng):
    # Enough atoms, vectors and rows that the sums of all chunks do not fit one wave.
    X, C = points(rng, 9 * 2048 + 5, 900, 1, np.float32)
    V = rng.normal(size=(400, len(X)))
    result = _native.rmatvec(("rbf", 0, 0), C, X, V)
    same(result[7:8], _native.rmatvec(("rbf", 0, 0), C, X, V[7:8], n_threads=1))
    same(result[:, 33:34].copy(), _native.rmatvec(("rbf", 0, 0), C[33:34], X, V, n_threads=1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
def test_sums_over_a_million_rows_are_accurate(core, dtype, signed, rng):
    n = 1_000_000
    X, C = points(rng, n, 2, 2, dtype)
    v = rng.uniform(0.1, 1.0, n) * (rng.choice([-1.0, 1.0], n) if signed else 1.0)
    values = _native.block(("rbf", 0, 0), C, X).astype(np.float64)
    result = _native.rmatvec(("rbf", 0, 0), C, X, v[None])
    norms = _native.sqnorms(("rbf", 0, 0), C, X)
    for j in range(2):
        # The sum of the sizes of the terms is the scale of rounding.
        terms = (values[j] * v).tolist()
        scale = math.fsum(map(abs, terms))
        assert abs(result[0, j] - math.fsum(terms)) <= 2e-15 * scale
        assert norms[j] == pytest.approx(math.fsum((values[j] ** 2).tolist()), rel=2e-15)


def test_a_constant_sums_exactly_enough(core):
    # Every addition rounds the same way: the worst case for one running sum, which would lose five digits.
    n = 1_000_000
    V = np.full((1, n), 0.1)
    result = _native.rmatvec(("rbf", 0, 0), np.zeros((1, 1)), np.zeros((n, 1)), V)
    assert result[0, 0] == pytest.approx(math.fsum(V[0].tolist()), rel=5e-15)
