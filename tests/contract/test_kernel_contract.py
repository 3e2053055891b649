"""What every kernel keeps to, against formulas written out one pair of rows at a time."""

import copy
import pickle

import mpmath
import numpy as np
import pytest
from folding import every_case

from kernelpursuit import kernels
from kernelpursuit.kernels import BY_NAME, RBF, Linear, Matern32, Periodic, Polynomial, Sigmoid

N_FEATURES = 3
PER_FEATURE = np.array([0.3, 1.7, 0.6])


def _square(x, c, g):
    return mpmath.fsum(gf * (xf - cf) ** 2 for xf, cf, gf in zip(x, c, g))


def _product(x, c, g):
    return mpmath.fsum(gf * xf * cf for xf, cf, gf in zip(x, c, g))


def _matern32(r):
    return (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r)


def _matern52(r):
    return (1 + mpmath.sqrt(5) * r + 5 * r**2 / 3) * mpmath.exp(-mpmath.sqrt(5) * r)


def _periodic(x, c, g, p):
    sines = (mpmath.sin(mpmath.pi * (xf - cf) / p) ** 2 for xf, cf in zip(x, c))
    return mpmath.exp(-mpmath.fsum(gf * (p / mpmath.pi) ** 2 * sine for gf, sine in zip(g, sines)))


# Kernel and parameters -> its formula for one row x, one centre c, and one gamma for each feature.
FORMULAS = {
    ("rbf",): lambda x, c, g: mpmath.exp(-_square(x, c, g)),
    ("laplacian",): lambda x, c, g: mpmath.exp(-mpmath.fsum(gf * abs(xf - cf) for xf, cf, gf in zip(x, c, g))),
    ("matern12",): lambda x, c, g: mpmath.exp(-mpmath.sqrt(2 * _square(x, c, g))),
    ("matern32",): lambda x, c, g: _matern32(mpmath.sqrt(2 * _square(x, c, g))),
    ("matern52",): lambda x, c, g: _matern52(mpmath.sqrt(2 * _square(x, c, g))),
    ("rational_quadratic",): lambda x, c, g: 1 / (1 + _square(x, c, g)),
    ("rational_quadratic", ("shape", 2.5)): lambda x, c, g: (1 + _square(x, c, g) / 2.5) ** mpmath.mpf(-2.5),
    ("periodic",): lambda x, c, g: _periodic(x, c, g, 1),
    ("periodic", ("period", 2.5)): lambda x, c, g: _periodic(x, c, g, 2.5),
    ("polynomial",): lambda x, c, g: (_product(x, c, g) + 1) ** 3,
    ("polynomial", ("degree", 2), ("coef0", -1.5)): lambda x, c, g: (_product(x, c, g) - 1.5) ** 2,
    ("linear",): lambda x, c, g: _product(x, c, g),
    ("sigmoid",): lambda x, c, g: mpmath.tanh(_product(x, c, g)),
    ("sigmoid", ("coef0", -0.4)): lambda x, c, g: mpmath.tanh(_product(x, c, g) + mpmath.mpf(-0.4)),
}
# Kernels of several, all with the same gamma.
COMPOSED = {
    ("rbf + linear",): lambda g: RBF(g) + Linear(g),
    ("rbf * periodic",): lambda g: RBF(g) * Periodic(g, period=2.5),
    ("2 * rbf",): lambda g: 2 * RBF(g),
    ("nested",): lambda g: (0.5 * RBF(g) + Linear(g)) * (Matern32(g) + Polynomial(g, degree=2)),
    ("linear + sigmoid",): lambda g: Linear(g) + Sigmoid(g),
}
FORMULAS |= {
    ("rbf + linear",): lambda x, c, g: FORMULAS["rbf",](x, c, g) + _product(x, c, g),
    ("rbf * periodic",): lambda x, c, g: FORMULAS["rbf",](x, c, g) * _periodic(x, c, g, 2.5),
    ("2 * rbf",): lambda x, c, g: 2 * FORMULAS["rbf",](x, c, g),
    ("nested",): lambda x, c, g: (
        (FORMULAS["rbf",](x, c, g) / 2 + _product(x, c, g))
        * (FORMULAS["matern32",](x, c, g) + (_product(x, c, g) + 1) ** 2)
    ),
    ("linear + sigmoid",): lambda x, c, g: _product(x, c, g) + mpmath.tanh(_product(x, c, g)),
}
EVERY = [pytest.param(key, id="-".join(map(str, (key[0], *(v for _, v in key[1:]))))) for key in FORMULAS]
STATIONARY = ["rbf", "laplacian", "matern12", "matern32", "matern52", "rational_quadratic"]


def make(key, gamma=0.7):
    if key in COMPOSED:
        return COMPOSED[key](gamma)
    name, *parameters = key
    return BY_NAME[name](gamma=gamma, **dict(parameters))


def naive(key, X, C, gamma=0.7):
    gammas = [mpmath.mpf(float(g)) for g in np.broadcast_to(gamma, X.shape[1])]
    with mpmath.workdps(40):
        rows, centers = ([[mpmath.mpf(float(v)) for v in row] for row in A] for A in (X, C))
        return np.array([[float(FORMULAS[key](x, c, gammas)) for c in centers] for x in rows])


@pytest.fixture
def X(rng):
    return rng.normal(size=(7, N_FEATURES))


@pytest.fixture
def C(rng):
    return rng.normal(size=(5, N_FEATURES)) + 0.3


def test_every_kernel_has_a_formula_here():
    assert {key[0] for key in FORMULAS if key not in COMPOSED} == set(BY_NAME)
    assert {kind for kind, kernel in BY_NAME.items() if kernel.is_stationary} == set(STATIONARY)


@pytest.mark.parametrize("key", EVERY)
class TestEveryKernel:
    @every_case("gamma", [0.7, PER_FEATURE, np.array([0.0, 2.0, 0.0])], ids=["one", "each", "zeros"])
    def test_values(self, key, X, C, gamma):
        values = make(key, gamma)(X, C)
        assert values.shape == (7, 5)
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, naive(key, X, C, gamma), rtol=1e-13, atol=1e-15)

    def test_float32_in_float32_out(self, key, X, C):
        values = make(key)(X.astype(np.float32), C.astype(np.float32))
        assert values.dtype == np.float32
        wanted = naive(key, X.astype(np.float32), C.astype(np.float32))
        np.testing.assert_allclose(values, wanted, rtol=3e-6, atol=1e-6)

    def test_integers_and_lists_are_taken_as_float64(self, key):
        X = np.array([[1, 2, 0], [0, -1, 1]])
        values = make(key)(X.tolist())
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, naive(key, X, X), rtol=1e-13)

    def test_symmetric(self, key, X, C):
        kernel = make(key)
        np.testing.assert_allclose(kernel(X), kernel(X).T, rtol=1e-14)
        # The origin is moved into the first argument, so the two calls round apart by a few eps of the inputs.
        np.testing.assert_allclose(kernel(X, C), kernel(C, X).T, rtol=1e-13, atol=1e-15)

    def test_diagonal(self, key, X):
        kernel = make(key)
        embedded = kernel.embed(X, kernel.origin(X))
        assert embedded.shape == (len(X), kernel.columns * N_FEATURES)
        np.testing.assert_allclose(kernel.diagonal(embedded), np.diag(naive(key, X, X)), rtol=1e-13)

    def test_positive_semidefinite_where_it_says_so(self, key, rng):
        kernel = make(key)
        least = []
        for scale in (0.1, 1.0, 3.0):
            K = kernel(scale * rng.normal(size=(40, N_FEATURES)))
            least.append(np.linalg.eigvalsh((K + K.T) / 2).min() / np.abs(K).max())
        assert kernel.is_mercer == (min(least) > -1e-10)

    def test_gamma_of_each_feature_is_scaled_inputs(self, key, X, C):
        kernel, unit = make(key, PER_FEATURE), make(key, 1.0)
        if "periodic" in key[0]:  # the period is no part of gamma: where gamma is 0, a feature does not count
            kernel, fewer = make(key, [0.3, 0.0, 0.6]), make(key, [0.3, 0.6])
            np.testing.assert_allclose(kernel(X, C), fewer(X[:, ::2], C[:, ::2]), rtol=1e-13, atol=1e-15)
            return
        scales = PER_FEATURE**kernel.gamma_power
        np.testing.assert_allclose(kernel(X, C), unit(X * scales, C * scales), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(kernel(X, C), naive(key, X * scales, C * scales, 1.0), rtol=1e-12, atol=1e-14)

    def test_scale_is_one_over_the_variance_of_all_entries(self, key, X, C):
        X = 3.0 * X
        gamma = 1 / (N_FEATURES * X.var())
        for kernel in (make(key, "scale"), make(key, None)):
            np.testing.assert_allclose(kernel(X, C), naive(key, X, C, gamma), rtol=1e-12, atol=1e-14)

    def test_repr_says_how_to_make_it(self, key):
        for kernel in (make(key), make(key, None), make(key, "scale")):
            assert eval(repr(kernel), dict(vars(kernels))) == kernel
        assert "gamma" not in repr(make(key, None))

    @every_case(
        ("gamma", "same"),
        [(0.5, np.float64(0.5)), (1, 1.0), ([1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0])), (None, None)],
        ids=["float", "int", "array", "none"],
    )
    def test_equal_kernels_have_equal_hashes(self, key, gamma, same):
        kernel, twin = make(key, gamma), make(key, same)
        assert kernel == twin
        assert hash(kernel) == hash(twin)

    def test_unequal(self, key):
        kernel = make(key)
        others = [make(other) for other in FORMULAS if other != key]
        assert all(kernel != other for other in [*others, make(key, 0.8), make(key, PER_FEATURE), "rbf", None])

    def test_pickles_and_copies(self, key, X, C):
        for gamma in (0.7, PER_FEATURE, None):
            kernel = make(key, gamma)
            for twin in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
                assert twin == kernel
                np.testing.assert_array_equal(twin(X, C), kernel(X, C))

    def test_inputs_stay_as_they_were(self, key, X, C):
        before = X.copy(), C.copy(), PER_FEATURE.copy()
        for array in (X, C):
            array.flags.writeable = False
        make(key, PER_FEATURE)(X, C)
        make(key)(X)
        for array, copied in zip((X, C, PER_FEATURE), before):
            np.testing.assert_array_equal(array, copied)

    def test_cannot_be_changed(self, key):
        kernel = make(key)
        with pytest.raises(AttributeError):
            kernel.gamma = 2.0
        assert kernel.with_gamma(2.0) == make(key, 2.0)
        assert kernel == make(key)

    def test_no_rows_or_no_centres(self, key, X):
        kernel = make(key)
        assert kernel(X[:0], X).shape == (0, 7)
        assert kernel(X, X[:0]).shape == (7, 0)

    @every_case("gamma", [0.0, -1.0, np.nan, np.inf, "auto", [1.0, -1.0, 1.0], [1.0, 2.0], [[1.0] * 3], {}, [0.0] * 3])
    def test_bad_gamma(self, key, X, gamma):
        with pytest.raises(ValueError, match="gamma"):
            make(key, gamma)(X)
