"""Kernels by name, their parameters, what gamma="scale" is, and kernels that are functions of a user."""

import pickle

import numpy as np
import pytest
from folding import every_case

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import (
    BY_NAME,
    RBF,
    CallableKernel,
    Kernel,
    Linear,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    as_kernel,
    resolve_gamma,
)

STATIONARY = [name for name, kernel in BY_NAME.items() if kernel.is_stationary]


@pytest.fixture
def X(rng):
    return rng.normal(size=(7, 3))


@pytest.fixture
def C(rng):
    return rng.normal(size=(5, 3)) + 0.3


@every_case("name", STATIONARY)
def test_far_from_zero_nothing_is_lost(name, X, C):
    """Rounding X + 1e6 is the caller's doing; beyond it the offset changes nothing, in float32 scoring either."""
    kernel = BY_NAME[name](gamma=0.7)
    far_X, far_C = X + 1e6, C + 1e6
    wanted = kernel(far_X - 1e6, far_C - 1e6)
    np.testing.assert_allclose(kernel(far_X, far_C), wanted, rtol=1e-9)
    atoms = KernelAtoms(kernel, far_C).resolve(far_X)
    rows = atoms.rows(far_X)
    np.testing.assert_allclose(atoms.block(rows, np.arange(5)).T, wanted, rtol=1e-9)
    np.testing.assert_allclose(atoms.block(rows, np.arange(5), np.float32).T, wanted, rtol=2e-5)


@every_case(
    ("kernel", "parameters", "named"),
    [
        (RationalQuadratic, {"shape": 0.0}, "shape"),
        (RationalQuadratic, {"shape": -1.0}, "shape"),
        (RationalQuadratic, {"shape": np.inf}, "shape"),
        (RationalQuadratic, {"shape": "wide"}, "shape"),
        (Periodic, {"period": 0.0}, "period"),
        (Periodic, {"period": [1.0, -1.0]}, "period"),
        (Periodic, {"period": np.inf}, "period"),
        (Periodic, {"period": [[1.0]]}, "period"),
        (Periodic, {"period": "week"}, "period"),
        (Polynomial, {"degree": 0}, "degree"),
        (Polynomial, {"degree": 2.5}, "degree"),
        (Polynomial, {"degree": True}, "degree"),
        (Polynomial, {"coef0": np.nan}, "coef0"),
        (Sigmoid, {"coef0": np.inf}, "coef0"),
        (Sigmoid, {"coef0": None}, "coef0"),
    ],
)
def test_bad_parameters(kernel, parameters, named):
    with pytest.raises(ValueError, match=named):
        kernel(**parameters)


@pytest.mark.parametrize(("coef0", "is_mercer"), [(1.0, True), (0.0, True), (-1e-9, False), (-2.0, False)])
def test_polynomial_is_mercer_where_its_offset_is_not_negative(coef0, is_mercer):
    assert Polynomial(coef0=coef0).is_mercer is is_mercer


@every_case("name", BY_NAME)
def test_names(name):
    assert as_kernel(name) == BY_NAME[name]()
    assert as_kernel(BY_NAME[name](gamma=2.0)) == BY_NAME[name](gamma=2.0)


@pytest.mark.parametrize("unknown", ["rbff", None, 3, RBF])
def test_unknown_kernels_are_refused(unknown):
    with pytest.raises(ValueError, match=r"kernel=.* (is not known|is a class)"):
        as_kernel(unknown)


def test_a_near_miss_is_suggested():
    with pytest.raises(ValueError, match="did you mean 'laplacian'"):
        as_kernel("laplacean")


class TestResolveGamma:
    def test_scale_counts_rows_by_their_weights(self, X):
        repeated = np.repeat(X, [1, 3, 1, 2, 1, 1, 1], axis=0)
        weights = np.array([1.0, 3.0, 1.0, 2.0, 1.0, 1.0, 1.0])
        wanted = 1 / (X.shape[1] * repeated.var())
        assert resolve_gamma("scale", X, weights) == pytest.approx(wanted, rel=1e-13)
        assert resolve_gamma("scale", repeated) == pytest.approx(wanted, rel=1e-13)

    @every_case("value", [0.0, 1.0, -7.3, 1e6 + 0.1, 1e-150, 1e150])
    def test_constant_data(self, value):
        assert resolve_gamma("scale", np.full((11, 4), value)) == 0.25

    @pytest.mark.parametrize("scale", [1e-150, 1e-10, 1e10, 1e150])
    def test_scale_follows_the_data(self, X, scale):
        gamma = resolve_gamma("scale", X * scale)
        assert gamma * scale * scale == pytest.approx(resolve_gamma("scale", X), rel=1e-12)

    def test_own_gamma_wins(self, X):
        assert RBF(gamma=2.0).resolve(X, gamma=5.0).gamma == 2.0
        assert RBF().resolve(X, gamma=5.0).gamma == 5.0


def _asymmetric(X, C):
    return np.cos(X[:, :1]) + X[:, [1]] * C[:, 0] ** 3


class TestCallableKernel:
    def test_values(self, X, C):
        kernel = as_kernel(_asymmetric)
        wanted = [[np.cos(x[0]) + x[1] * c[0] ** 3 for c in C] for x in X]
        assert isinstance(kernel, CallableKernel)
        np.testing.assert_allclose(kernel(X, C), wanted, rtol=1e-14)
        np.testing.assert_array_equal(kernel(X), kernel(X, X))

    def test_is_mercer_is_what_the_user_says(self):
        assert not CallableKernel(_asymmetric).is_mercer
        assert CallableKernel(Linear(1.0), is_mercer=True).is_mercer

    def test_equality_hash_and_pickling(self, X, C):
        kernel = CallableKernel(_asymmetric, is_mercer=True)
        twin = pickle.loads(pickle.dumps(kernel))
        assert twin == kernel
        assert hash(twin) == hash(kernel)
        assert kernel != CallableKernel(_asymmetric)
        np.testing.assert_array_equal(twin(X, C), kernel(X, C))
        assert "_asymmetric" in repr(kernel)

    @pytest.mark.parametrize(
        ("function", "said"),
        [
            (lambda X, C: np.ones((len(C), len(X))), "shape"),
            (lambda X, C: np.ones(len(X)), "shape"),
            (lambda X, C: np.full((len(X), len(C)), np.nan), "NaN or infinity"),
            (lambda X, C: np.full((len(X), len(C)), np.inf), "NaN or infinity"),
        ],
        ids=["transposed", "vector", "nan", "infinity"],
    )
    def test_wrong_values_are_refused(self, X, C, function, said):
        with pytest.raises(ValueError, match=f"kernel=.*{said}"):
            CallableKernel(function)(X, C)


def test_kernels_are_kernels():
    assert all(issubclass(kernel, Kernel) for kernel in BY_NAME.values())
