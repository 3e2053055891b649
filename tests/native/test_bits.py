"""Results of the native core do not depend, to the last bit, on how the work was cut up."""

import math

import numpy as np
import pytest
from folding import every_case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_reference import DTYPES, KERNELS, STATIONARY, STATIONARY_IDS, every_kernel, points, some_factors

from kernelpursuit import _native

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(a, b):
    np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@every_kernel
class TestEveryKernel:
    def test_values_do_not_depend_on_their_neighbours(self, isa, kernel, with_factors, dtype, rng):
        X, C = points(rng, 211, 23, 7, dtype)
        factors = some_factors(rng, 23, dtype, with_factors)
        whole = _native.block(kernel, C, X, factors=factors)
        for rows, atoms in (
            (slice(0, 1), slice(0, 1)),
            (slice(3, 50), slice(2, 9)),
            (slice(100, 211), slice(19, 23)),
        ):
            theirs = factors[atoms] if with_factors else None
            same(_native.block(kernel, C[atoms], X[rows], factors=theirs), whole[atoms, rows].copy())

    def test_products_are_those_of_the_stored_block(self, isa, kernel, with_factors, dtype, rng):
        X, C = points(rng, 2 * 2048 + 777, 21, 6, dtype)
        factors = some_factors(rng, 21, dtype, with_factors)
        V = rng.normal(size=(3, len(X)))
        stored = _native.block(kernel, C, X, factors=factors)
        same(_native.rmatvec(kernel, C, X, V, factors=factors), _native.stored_rmatvec(stored, V))
        # The same values give the same products, whatever kernel made them.
        unit = np.eye(len(C))
        product = _native.matvec(kernel, X[:50], C, unit, factors=factors)
        same(product, stored[:, :50].T.astype(np.float64, order="C"))

    def test_unit_weights_are_no_weights(self, isa, kernel, with_factors, dtype, rng):
        X, C = points(rng, 3000, 9, 3, dtype)
        factors = some_factors(rng, 9, dtype, with_factors)
        plain = _native.sqnorms(kernel, C, X, factors=factors)
        same(plain, _native.sqnorms(kernel, C, X, np.ones(len(X)), factors=factors))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", STATIONARY, ids=STATIONARY_IDS)
class TestStationaryKernels:
    def test_unit_factors_are_no_factors(self, isa, kernel, dtype, rng):
        X, C = points(rng, 300, 9, 3, dtype)
        same(_native.block(kernel, C, X, factors=np.ones(9)), _native.block(kernel, C, X))

    @every_case("shape", [(1, 1, 1), (211, 23, 7), (5000, 9, 40)], ids=str)
    def test_values_are_those_of_stored_distances(self, isa, kernel, shape, dtype, rng):
        X, C = points(rng, *shape, dtype)
        sums = _native.distances(kernel, C, X)
        same(_native.transform(kernel, sums), _native.block(kernel, C, X))
        factor = 0.37
        same(_native.transform(kernel, sums, factor), _native.block(kernel, C, X, factors=np.full(len(C), factor)))

    def test_distances_and_their_values_on_any_number_of_threads(self, isa, kernel, dtype, rng):
        X, C = points(rng, 70_001, 9, 2, dtype)
        sums = _native.distances(kernel, C, X, n_threads=1)
        values = _native.transform(kernel, sums, 1.3, n_threads=1)
        for n_threads in (2, 3):
            same(sums, _native.distances(kernel, C, X, n_threads=n_threads))
            same(values, _native.transform(kernel, sums, 1.3, n_threads=n_threads))

    @pytest.mark.parametrize("with_factors", [False, True], ids=["ones", "factors"])
    def test_gradients_do_not_depend_on_the_cut(self, isa, kernel, with_factors, dtype, rng):
        X, C = points(rng, 2 * 2048 + 777, 75, 6, dtype)
        G, factors = rng.normal(size=(75, len(X))).astype(dtype), some_factors(rng, 75, dtype, with_factors)
        whole = _native.pullback(kernel, C, X, G, factors, n_threads=1)
        for n_threads in (2, 3, 7):
            for a, b in zip(whole, _native.pullback(kernel, C, X, G, factors, n_threads)):
                same(a, b)
        some = slice(3, 66)
        centers, _, by_factor = _native.pullback(kernel, C[some], X, G[some], factors[some] if with_factors else None)
        same(centers, whole[0][some])
        same(by_factor, whole[2][some])


@SETTINGS
@given(
    n=st.integers(1, 9000),
    m=st.integers(1, 150),
    d=st.integers(1, 40),
    dtype=st.sampled_from(DTYPES),
    with_factors=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_cut_gives_the_same_bits(isa, n, m, d, dtype, with_factors, seed):
    rng = np.random.default_rng(seed)
    X, C = points(rng, n, m, d, dtype)
    kernels = STATIONARY if with_factors else KERNELS
    kernel = kernels[seed % len(kernels)]
    V, coef, weights = rng.normal(size=(3, n)), rng.normal(size=(m, 3)), rng.uniform(size=n)
    a, b = sorted(rng.integers(0, m + 1, 2))
    i, j = sorted(rng.integers(0, n + 1, 2))
    factors = some_factors(rng, m, dtype, with_factors)
    f, f_part = {"factors": factors}, {"factors": factors[a:b] if with_factors else None}

    stored = _native.block(kernel, C, X, n_threads=1, **f)
    same(stored, _native.block(kernel, C, X, n_threads=2, **f))
    same(stored[a:b, i:j].copy(), _native.block(kernel, C[a:b], X[i:j], **f_part))

    rmv = _native.rmatvec(kernel, C, X, V, n_threads=1, **f)
    same(rmv, _native.rmatvec(kernel, C, X, V, n_threads=2, **f))
    same(rmv, _native.stored_rmatvec(stored, V, n_threads=1))
    same(rmv, _native.stored_rmatvec(stored, V, n_threads=3))
    same(rmv[1:2], _native.rmatvec(kernel, C, X, V[1:2], **f))
    same(rmv[1:2], _native.stored_rmatvec(stored, V[1:2]))
    same(rmv[:, a:b].copy(), _native.rmatvec(kernel, C[a:b], X, V, **f_part))
    same(rmv[:, a:b].copy(), _native.stored_rmatvec(stored[a:b], V))

    mv = _native.matvec(kernel, X, C, coef, n_threads=1, **f)
    same(mv, _native.matvec(kernel, X, C, coef, n_threads=2, **f))
    same(mv[:, 1:2].copy(), _native.matvec(kernel, X, C, coef[:, 1:2], **f))
    same(mv[i:j], _native.matvec(kernel, X[i:j], C, coef, **f))

    norms = _native.sqnorms(kernel, C, X, weights, n_threads=1, **f)
    same(norms, _native.sqnorms(kernel, C, X, weights, n_threads=2, **f))
    same(norms[a:b], _native.sqnorms(kernel, C[a:b], X, weights, **f_part))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1500, 2048, 5000])
def test_many_vectors_give_the_bits_of_each_alone(isa, n, dtype, rng):
    # Vectors go through registers six, three or two at a time, and the last by itself.
    X, C = points(rng, n, 37, 4, dtype)
    kernel, V = KERNELS[0], rng.normal(size=(29, n))
    stored = _native.block(kernel, C, X)
    alone = np.concatenate([_native.stored_rmatvec(stored, v[None]) for v in V])
    for q in (2, 3, 4, 5, 7, 8, 16, 17, 29):
        same(_native.rmatvec(kernel, C, X, V[:q]), alone[:q])
        same(_native.stored_rmatvec(stored, V[:q]), alone[:q])


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
