"""Gradients through a block: against finite differences, and the core against plain sums over reference slopes."""

import numpy as np
import pytest
from folding import every_case
from native_reference import DTYPES, STATIONARY, STATIONARY_IDS, points, some_factors

from kernelpursuit import _native
from kernelpursuit._native import backend as backends
from kernelpursuit._native import numpy_twin

# (rows, centres, features): single ones, fewer than a vector holds, many features, several chunks of rows.
SHAPES = [(1, 1, 1), (1, 7, 3), (13, 1, 2), (67, 13, 10), (45, 6, 40), (2 * 2048 + 777, 9, 5)]

stationary = pytest.mark.parametrize("kernel", STATIONARY, ids=STATIONARY_IDS)
factors_or_none = pytest.mark.parametrize("with_factors", [False, True], ids=["ones", "factors"])


@pytest.fixture(params=["native", "numpy"])
def backend(request, monkeypatch):
    """Run an operation on the native core and on its twin."""
    if request.param == "native":
        request.getfixturevalue("core")
    else:
        monkeypatch.setattr(backends, "implementation", numpy_twin)
    return request.param


def exact(kernel, C, X, G, factors):
    """Return the gradients by their formulas in extended precision, and with all terms positive, for bounds."""
    kind, p0, _ = kernel
    C, X, G = (a.astype(np.longdouble) for a in (C, X, G))
    f = np.ones(len(C), np.longdouble) if factors is None else factors.astype(np.longdouble)
    difference = X[None, :, :] - C[:, None, :]
    if kind == "laplacian":
        by_center, by_scale, s = -np.sign(difference), abs(difference), abs(difference).sum(2)
    else:
        by_center, by_scale, s = -2 * difference, 2 * difference**2, (difference**2).sum(2)
    r = f[:, None] * s
    root = np.sqrt(np.where(r == 0, 1, r))
    slope = {
        "rbf": lambda: -np.exp(-r),
        "laplacian": lambda: -np.exp(-r),
        "matern12": lambda: np.where(r == 0, 0, -np.exp(-np.sqrt(2 * r)) / (np.sqrt(np.longdouble(2)) * root)),
        "matern32": lambda: -3 * np.exp(-np.sqrt(6 * r)),
        "matern52": lambda: -5 * (1 + np.sqrt(10 * r)) / 3 * np.exp(-np.sqrt(10 * r)),
        "rational_quadratic": lambda: -((1 + r / np.longdouble(p0)) ** (-np.longdouble(p0) - 1)),
    }[kind]()
    P = G * slope * f[:, None]
    gradients = [np.einsum("ji,jik->jk", P, by_center), np.einsum("ji,jik->k", P, by_scale), (P * s).sum(1)]
    size = abs(P)
    sizes = [np.einsum("ji,jik->jk", size, abs(by_center)), np.einsum("ji,jik->k", size, by_scale), (size * s).sum(1)]
    return gradients, sizes


def check_against_formulas(kernel, with_factors, dtype, rng):
    for n, m, d in SHAPES:
        X, C = points(rng, n, m, d, dtype)
        G, factors = rng.normal(size=(m, n)).astype(dtype), some_factors(rng, m, dtype, with_factors)
        wanted, sizes = exact(kernel, C, X, G, factors)
        found = _native.pullback(kernel, C, X, G, factors)
        # The sums are in float64; what is in the inputs' type is the distance, which the exponent amplifies.
        rounding = (40 + 8 * d) * float(np.finfo(dtype).eps) + 1e-13
        for a, b, size, shape in zip(found, wanted, sizes, [(m, d), (d,), (m,)]):
            assert a.shape == shape
            assert a.dtype == np.float64
            assert np.all(abs(a - b) <= rounding * size)


@pytest.mark.parametrize("dtype", DTYPES)
@factors_or_none
@stationary
def test_every_instruction_set_is_the_formulas(isa, kernel, with_factors, dtype, rng):
    check_against_formulas(kernel, with_factors, dtype, rng)


@pytest.mark.parametrize("dtype", DTYPES)
@factors_or_none
@stationary
def test_both_backends_are_the_formulas(backend, kernel, with_factors, dtype, rng):
    check_against_formulas(kernel, with_factors, dtype, rng)


@factors_or_none
@stationary
def test_gradients_are_finite_differences(backend, kernel, with_factors, rng):
    n, m, d, step = 31, 4, 3, 1e-6
    X, C = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    G, factors = rng.normal(size=(m, n)), some_factors(rng, m, float, with_factors)
    base = np.ones(m) if factors is None else factors

    def loss(by_center, by_scale, by_factor):
        scale = np.exp(by_scale)
        block = _native.block(kernel, (C + by_center) * scale, X * scale, factors=base * np.exp(by_factor))
        return np.sum(G * block)

    moves = [np.zeros((m, d)), np.zeros(d), np.zeros(m)]
    for move, gradient in zip(moves, _native.pullback(kernel, C, X, G, factors)):
        differences = np.empty(gradient.shape)
        for place in np.ndindex(gradient.shape):
            move[place] = step
            ahead = loss(*moves)
            move[place] = -step
            differences[place] = (ahead - loss(*moves)) / (2 * step)
            move[place] = 0.0
        np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-8)


@every_case("dtype", DTYPES)
@stationary
def test_a_row_at_a_centre_counts_nothing(backend, kernel, dtype):
    C = np.array([[0.3, -1.0, 2.0]], dtype)
    for gradient in _native.pullback(kernel, C, C.copy(), np.full((1, 1), 3.0, dtype)):
        assert not gradient.any()


@every_case("dtype", DTYPES)
@stationary
def test_far_away_is_zero(backend, kernel, dtype):
    C, X = np.zeros((2, 2), dtype), np.full((5, 2), 1e4, dtype)
    X[1:] *= np.finfo(dtype).max / 1e6
    for gradient in _native.pullback(kernel, C, X, np.ones((2, 5), dtype)):
        assert np.isfinite(gradient).all()
        assert np.all(abs(gradient) <= 1e-2)


@stationary
def test_empty_sums_are_zero(backend, kernel):
    for gradient in _native.pullback(kernel, np.ones((3, 2)), np.empty((0, 2)), np.empty((3, 0))):
        assert not gradient.any()
    shapes = [a.shape for a in _native.pullback(kernel, np.empty((0, 2)), np.ones((4, 2)), np.empty((0, 4)))]
    assert shapes == [(0, 2), (2,), (0,)]


def test_many_waves_of_chunks(core, rng):
    # Enough atoms, features and rows that the sums of all chunks do not fit one wave.
    X, C = points(rng, 9 * 2048 + 5, 300, 400, np.float32)
    G = rng.normal(size=(300, len(X))).astype(np.float32)
    centers, _, by_factor = _native.pullback(("rbf", 0, 0), C, X, G)
    alone = _native.pullback(("rbf", 0, 0), C[33:34], X, G[33:34], n_threads=1)
    np.testing.assert_array_equal(centers[33:34], alone[0])
    np.testing.assert_array_equal(by_factor[33:34], alone[2])


def test_memory_layout_does_not_matter(backend, rng):
    X, C = points(rng, 41, 11, 5, np.float64)
    G, factors = rng.normal(size=(11, 41)), some_factors(rng, 11, float)
    plain = _native.pullback(("matern32", 0, 0), C, X, G, factors)
    other = [np.asfortranarray(X), C[::-1].copy()[::-1], np.asfortranarray(G), np.repeat(factors, 2)[::2]]
    for a, b in zip(plain, _native.pullback(("matern32", 0, 0), other[1], other[0], other[2], other[3])):
        np.testing.assert_array_equal(a, b)


@every_case("dtype", DTYPES)
@stationary
def test_distances_and_transform(backend, kernel, dtype, rng):
    X, C = points(rng, 67, 13, 10, dtype)
    sums = _native.distances(kernel, C, X)
    assert sums.dtype == dtype
    difference = X[None].astype(float) - C[:, None].astype(float)
    wanted = (abs(difference) if kernel[0] == "laplacian" else difference**2).sum(2)
    np.testing.assert_allclose(sums, wanted, rtol=20 * np.finfo(dtype).eps)
    rtol = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(_native.transform(kernel, sums), _native.block(kernel, C, X), rtol=rtol)
    same_factor = _native.block(kernel, C, X, factors=np.full(13, 0.6))
    values = _native.transform(kernel, sums, 0.6)
    np.testing.assert_allclose(values, same_factor, rtol=rtol)
    out = np.full_like(sums, np.nan)
    assert _native.transform(kernel, sums, 0.6, out=out) is out
    np.testing.assert_array_equal(out, values)
    assert _native.transform(kernel, sums, 0.6, out=sums) is sums
    np.testing.assert_array_equal(sums, values)


ROWS, CENTRES, ONES = np.ones((4, 2)), np.ones((3, 2)), np.ones((3, 4))
RBF = ("rbf", 0, 0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: _native.pullback(("linear", 0, 0), CENTRES, ROWS, ONES), "pullback needs a stationary kernel"),
        (lambda: _native.pullback(RBF, CENTRES, ROWS, ONES.T), "G has shape (4, 3); it must have (3, 4)"),
        (lambda: _native.pullback(RBF, CENTRES, ROWS, np.ones(4)), "G has 1 dimensions"),
        (lambda: _native.pullback(RBF, CENTRES, ROWS, ONES.astype(np.float32)), "G has type float32 and X has float64"),
        (lambda: _native.pullback(RBF, CENTRES, ROWS, ONES.astype(int)), "G has type int64"),
        (lambda: _native.pullback(RBF, CENTRES, ROWS, ONES, np.ones(2)), "factors has 2 entries; it must have 3"),
        (lambda: _native.block(RBF, CENTRES, ROWS, factors=np.ones((3, 1))), "factors must be a vector"),
        (lambda: _native.block(RBF, CENTRES, ROWS, factors=np.ones(3, complex)), "factors must be a vector"),
        (lambda: _native.block(RBF, CENTRES, ROWS, factors=[1.0, 0.0, 1.0]), "factors must be positive and finite"),
        (lambda: _native.matvec(RBF, ROWS, CENTRES, ONES, factors=[1.0, np.nan, 1.0]), "factors must be positive"),
        (
            lambda: _native.block(RBF, np.float32(CENTRES), np.float32(ROWS), factors=[1.0, 1e-60, 1.0]),
            "positive and finite in float32",
        ),
        (lambda: _native.rmatvec(("linear", 0, 0), CENTRES, ROWS, ONES[:1], factors=np.ones(3)), "not kind 'linear'"),
        (lambda: _native.sqnorms(("sigmoid", 0, 0), CENTRES, ROWS, factors=np.ones(3)), "factors needs a stationary"),
        (lambda: _native.distances(("polynomial", 0, 2), CENTRES, ROWS), "distances needs a stationary kernel"),
        (lambda: _native.distances(("squares", 0, 0), CENTRES, ROWS), "kernel kind 'squares' is not known"),
        (lambda: _native.distances(RBF, CENTRES, ROWS, out=np.empty((4, 3))), "out does not fit"),
        (lambda: _native.transform(("linear", 0, 0), ONES), "transform needs a stationary kernel"),
        (lambda: _native.transform(RBF, ONES[0]), "sums has 1 dimensions"),
        (lambda: _native.transform(RBF, ONES, 0.0), "factor=0.0 is not usable"),
        (lambda: _native.transform(RBF, ONES, np.inf), "factor=inf is not usable"),
        (lambda: _native.transform(RBF, ONES, np.ones(3)), "is not usable; give a number"),
        (lambda: _native.transform(RBF, ONES, out=np.empty((4, 3))), "out does not fit"),
        (lambda: _native.transform(RBF, ONES[:2], out=ONES[1:]), "out shares memory"),
    ],
)
def test_bad_arguments_get_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=r"^[^\n]*[.]$") as caught:
        call()
    assert sentence in str(caught.value)
