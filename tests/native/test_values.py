"""Kernel values against their formulas and, for the elementary functions, against mpmath."""

import mpmath
import numpy as np
import pytest
from folding import every_case
from native_reference import DTYPES, IDS, KERNELS, SHAPES, every_kernel, points, reference, some_factors

from kernelpursuit import _native
from kernelpursuit._native import numpy_twin
from kernelpursuit._native.spec import Atoms, steps_of


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(50):
        yield


def twin_block(kernel, C, X, factors):
    out = np.empty((len(C), len(X)), X.dtype)
    factors = np.empty(0, X.dtype) if factors is None else factors
    numpy_twin.block(Atoms(steps_of(kernel), C, factors), X, out, 1)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@every_kernel
def test_block_is_the_formula(isa, kernel, with_factors, dtype, rng):
    for n, m, d in SHAPES:
        X, C = points(rng, n, m, d, dtype)
        factors = some_factors(rng, m, dtype, with_factors)
        exact, bound = reference(kernel, C, X, factors)
        values = _native.block(kernel, C, X, factors=factors)
        assert values.shape == (m, n)
        assert values.dtype == dtype
        assert np.all(abs(values - exact) <= bound)
        assert np.all(abs(values - twin_block(kernel, C, X, factors)) <= 2 * bound)


@pytest.mark.parametrize("dtype", DTYPES)
@every_kernel
def test_twin_is_the_formula(kernel, with_factors, dtype, rng):
    for n, m, d in SHAPES:
        X, C = points(rng, n, m, d, dtype)
        factors = some_factors(rng, m, dtype, with_factors)
        exact, bound = reference(kernel, C, X, factors)
        assert np.all(abs(twin_block(kernel, C, X, factors) - exact) <= bound)


def ulps(values, exact):
    """Return the errors in units of the last place of the exact values."""
    units = np.spacing(np.array([abs(float(true)) for true in exact], values.dtype)).tolist()
    return np.array([float(abs(value - true) / unit) for value, true, unit in zip(values.tolist(), exact, units)])


def column(kernel, x, c=0.0):
    """Return the values at one-feature rows and one centre."""
    return _native.block(kernel, np.full((1, 1), c, x.dtype), x[:, None])[0]


@pytest.mark.parametrize("dtype", DTYPES)
class TestElementary:
    def test_exp(self, isa, dtype, rng):
        deepest = 708.3 if dtype == np.float64 else 87.3
        x = np.concatenate([rng.uniform(0, deepest, 4000), 10.0 ** rng.uniform(-30, 0, 1000), [0.0]]).astype(dtype)
        assert ulps(column(("laplacian", 0, 0), x), [mpmath.exp(-mpmath.mpf(v)) for v in x.tolist()]).max() < 2

    def test_tanh(self, isa, dtype, rng):
        x = 10.0 ** rng.uniform(-30, 2, 4000) * rng.choice([-1, 1], 4000)
        x = np.append(x, [0.0, 0.3466, 0.549, 19.0, 1e30]).astype(dtype)
        assert ulps(column(("sigmoid", 0, 0), x, 1.0), [mpmath.tanh(mpmath.mpf(v)) for v in x.tolist()]).max() < 3.5
        np.testing.assert_array_equal(column(("sigmoid", 0, 0), -x, 1.0), -column(("sigmoid", 0, 0), x, 1.0))

    @pytest.mark.parametrize("p0", [1e-3, 0.3, 1.0, 2.5, 40.0, 1e6, 1e18])
    def test_power(self, isa, dtype, p0, rng):
        p0 = float(dtype(p0))
        x = (10.0 ** rng.uniform(-12, 12 if dtype == np.float64 else 8, 1500)).astype(dtype)
        values = column(("rational_quadratic", p0, 0), x)
        s = x * x
        normal = values > np.finfo(dtype).tiny
        exact = [(1 + mpmath.mpf(v) / p0) ** -p0 for v in s[normal].tolist()]
        # s / p0 is rounded, by half a unit, which becomes up to s / (1 + s / p0) units of the value.
        amplified = s[normal] / (1 + s[normal] / dtype(p0))
        assert np.all(ulps(values[normal], exact) < 3 + 1.01 * amplified)
        assert all(float((1 + mpmath.mpf(v) / p0) ** -p0) < 1.1 * np.finfo(dtype).tiny for v in s[~normal].tolist())

    @pytest.mark.parametrize("degree", [1, 2, 3, 7, 20])
    def test_powers(self, isa, dtype, degree, rng):
        x = rng.uniform(-3, 3, 500).astype(dtype)
        exact = [mpmath.mpf(v) ** degree for v in x.tolist()]
        assert ulps(column(("polynomial", 0, degree), x, 1.0), exact).max() < 1 + degree

    @every_case("kernel", KERNELS[:6], ids=IDS[:6])
    def test_far_away_is_zero(self, isa, dtype, kernel):
        huge = np.finfo(dtype).max
        x = np.array([huge, -huge, np.inf, -np.inf], dtype)
        values = column(kernel, x)
        if kernel[0] == "laplacian":
            assert np.all(values == 0)
        assert np.all(values[2:] == 0)
        assert np.all(values <= 1e-30)
        assert not np.isnan(values).any()

    @every_case("kernel", KERNELS[:6], ids=IDS[:6])
    def test_results_below_the_normal_range_are_zero(self, isa, dtype, kernel):
        x = np.linspace(0, 1000, 20001).astype(dtype)
        values = column(kernel, x)
        assert np.all((values == 0) | (values >= np.finfo(dtype).tiny))
        assert values[0] == 1

    @every_case("kernel", KERNELS, ids=IDS)
    def test_nan_stays_nan(self, isa, dtype, kernel):
        x = np.array([np.nan, 0.5], dtype)
        assert np.isnan(column(kernel, x, 1.0)).tolist() == [True, False]

    def test_near_neighbours_keep_their_digits(self, isa, dtype):
        # ||x||^2 + ||c||^2 - 2 x.c would have no correct digit here.
        X = np.array([[1000.0], [np.nextafter(dtype(1000), dtype(2000))]], dtype)
        distance = float(X[1, 0]) - float(X[0, 0])
        values = _native.block(("matern12", 0, 0), X[:1], X)
        expected = np.exp(-np.sqrt(2) * distance)
        assert values[0, 1] == pytest.approx(expected, rel=4 * float(np.finfo(dtype).eps))


@every_case("p0", [1e-305, 1e-40, 1e40, 1e300])
@every_case("dtype", DTYPES)
def test_extreme_shapes_of_the_rational_quadratic(isa, dtype, p0):
    x = np.array([0.0, 1e-3, 1.0, 3.0], dtype)
    values = column(("rational_quadratic", p0, 0), x)
    expected = np.exp(-(x**2)) if p0 > 1 else np.ones(4)
    np.testing.assert_allclose(values, expected, rtol=20 * np.finfo(dtype).eps)
