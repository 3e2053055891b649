"""Products and norms against plain sums over reference values, for every kernel, type, shape and layout."""

import numpy as np
import pytest
from folding import every_case
from native_reference import DTYPES, SHAPES, every_kernel, points, reference, some_factors

from kernelpursuit import _native
from kernelpursuit._native import backend as backends
from kernelpursuit._native import numpy_twin


@pytest.fixture(params=["native", "numpy"])
def backend(request, monkeypatch):
    """Run an operation on the native core and on its twin."""
    if request.param == "native":
        request.getfixturevalue("core")
    else:
        monkeypatch.setattr(backends, "implementation", numpy_twin)
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
@every_kernel
def test_sums_are_the_formulas(backend, kernel, with_factors, dtype, rng):
    for n, m, d in SHAPES:
        X, C = points(rng, n, m, d, dtype)
        factors = some_factors(rng, m, dtype, with_factors)
        values, bound = reference(kernel, C, X, factors)
        V, coef, weights = rng.normal(size=(3, n)), rng.normal(size=(m, 2)), rng.uniform(size=n)
        rounding = 1e-13

        result = _native.matvec(kernel, X, C, coef, factors=factors)
        assert result.shape == (n, 2)
        slack = (bound + rounding * abs(values)).T @ abs(coef)
        assert np.all(abs(result - values.T @ coef) <= slack)

        result = _native.rmatvec(kernel, C, X, V, factors=factors)
        assert result.shape == (3, m)
        slack = abs(V) @ (bound + rounding * abs(values)).T
        assert np.all(abs(result - V @ values.T) <= slack)

        for w, weight in ((None, np.ones(n)), (weights, weights)):
            result = _native.sqnorms(kernel, C, X, w, factors=factors)
            assert result.shape == (m,)
            slack = (2 * bound * (abs(values) + bound) + rounding * values**2) @ weight
            assert np.all(abs(result - values**2 @ weight) <= slack)

        stored = _native.block(kernel, C, X, factors=factors)
        np.testing.assert_allclose(
            _native.stored_rmatvec(stored, V),
            V @ stored.T.astype(float),
            rtol=1e-12,
            atol=1e-12 * (1 + n) ** 0.5,
        )


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
}


@every_case("dtype", DTYPES)
@every_case("layout", LAYOUTS)
def test_memory_layout_does_not_matter(backend, layout, dtype, rng):
    kernel = ("matern32", 0, 0)
    X, C = points(rng, 41, 11, 5, dtype)
    V, coef = rng.normal(size=(2, 41)), rng.normal(size=(11, 3))
    stored = _native.block(kernel, C, X)
    plain = [
        stored,
        _native.matvec(kernel, X, C, coef),
        _native.rmatvec(kernel, C, X, V),
        _native.stored_rmatvec(stored, V),
        _native.sqnorms(kernel, C, X, V[0] ** 2),
    ]
    other = LAYOUTS[layout]
    oX, oC, oV, ocoef, ostored = map(other, (X, C, V, coef, stored))
    before = [a.copy() for a in (oX, oC, oV, ocoef, ostored)]
    for a in (oX, oC, oV, ocoef, ostored):
        a.flags.writeable = False
    again = [
        _native.block(kernel, oC, oX),
        _native.matvec(kernel, oX, oC, ocoef),
        _native.rmatvec(kernel, oC, oX, oV),
        _native.stored_rmatvec(ostored, oV),
        _native.sqnorms(kernel, oC, oX, (oV**2)[0]),
    ]
    for a, b in zip(plain, again):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(before, (oX, oC, oV, ocoef, ostored)):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_vectors(backend, dtype):
    X, C = np.ones((5, 2), dtype), np.ones((3, 2), dtype)
    assert _native.rmatvec(("rbf", 0, 0), C, X, np.empty((0, 5))).shape == (0, 3)
    assert _native.matvec(("rbf", 0, 0), X, C, np.empty((3, 0))).shape == (5, 0)
    assert _native.stored_rmatvec(np.ones((3, 5), dtype), np.empty((0, 5))).shape == (0, 3)


def test_empty_sums_are_zero(backend):
    X, C = np.empty((0, 2)), np.ones((3, 2))
    assert not _native.rmatvec(("rbf", 0, 0), C, X, np.empty((2, 0))).any()
    assert not _native.sqnorms(("rbf", 0, 0), C, X).any()
    assert not _native.matvec(("rbf", 0, 0), C, X, np.empty((0, 2))).any()
    assert not _native.stored_rmatvec(np.empty((3, 0)), np.empty((2, 0))).any()


def test_many_features_and_many_vectors(backend, rng):
    X, C = points(rng, 70, 9, 5000, np.float64)
    V, coef = rng.normal(size=(1200, 70)), rng.normal(size=(9, 300))
    values = np.asarray(reference(("linear", 0, 0), C, X)[0], float)
    np.testing.assert_allclose(_native.rmatvec(("linear", 0, 0), C, X, V), V @ values.T, atol=1e-12)
    np.testing.assert_allclose(_native.matvec(("linear", 0, 0), X, C, coef), values.T @ coef, atol=1e-12)


def test_out_is_filled_and_returned(backend, rng):
    X, C = points(rng, 19, 5, 2, np.float32)
    out = np.full((5, 19), np.nan, np.float32)
    assert _native.block(("rbf", 0, 0), C, X, out=out) is out
    np.testing.assert_array_equal(out, _native.block(("rbf", 0, 0), C, X))


@every_case(("m", "n"), [(0, 5), (1, 1), (3, 17), (7, 2049), (40, 5000)])
def test_sweep_subtracts_and_projects(backend, rng, m, n):
    V, p, z = rng.normal(size=(m, n)), rng.normal(size=m), rng.normal(size=n)
    left = z - p @ V
    after, squared = _native.sweep(V, p, z)
    np.testing.assert_allclose(z, left, atol=1e-12)
    np.testing.assert_allclose(after, V @ left, atol=1e-10)
    np.testing.assert_allclose(squared, left @ left, rtol=1e-12)


def test_sweep_has_the_same_bits_on_any_number_of_threads(backend, rng):
    V, p, z = rng.normal(size=(33, 20_000)), rng.normal(size=33), rng.normal(size=20_000)
    outcomes = []
    for n_threads in (1, 2, 3):
        left = z.copy()
        outcomes.append((left, *_native.sweep(V, p, left, n_threads)))
    for left, after, squared in outcomes[1:]:
        np.testing.assert_array_equal(left, outcomes[0][0])
        np.testing.assert_array_equal(after, outcomes[0][1])
        assert squared == outcomes[0][2]


def test_sweep_refuses_what_it_cannot_change_in_place(backend):
    V, p = np.ones((1, 4)), np.ones(1)
    for z in (np.ones(4, np.float32), np.ones(8)[::2], np.broadcast_to(1.0, 4)):
        with pytest.raises(ValueError, match="z must be a writable"):
            _native.sweep(V, p, z)
    with pytest.raises(ValueError, match="z has 3 entries"):
        _native.sweep(V, p, np.ones(3))
