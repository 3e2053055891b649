"""Kernels that are sums, products and multiples of others: exact, native, and at home wherever a kernel is."""

import copy
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets, pursuit_path
from kernelpursuit.dictionary import Constant, KernelAtoms, Union, as_dictionary, widths
from kernelpursuit.engine import Engine
from kernelpursuit.kernels import (
    RBF,
    CallableKernel,
    Laplacian,
    Linear,
    Matern32,
    Periodic,
    Polynomial,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)
from kernelpursuit.model import from_arrays, to_arrays

KERNELS = {
    "sum": (RBF(gamma=0.7) + Linear(gamma=0.4), lambda a, b: a + b, (RBF(gamma=0.7), Linear(gamma=0.4))),
    "product": (
        RBF(gamma=[0.1, 0.0]) * Periodic(gamma=[0.0, 1.0], period=2.0),
        lambda a, b: a * b,
        (RBF(gamma=[0.1, 0.0]), Periodic(gamma=[0.0, 1.0], period=2.0)),
    ),
    "multiple": (2.5 * Matern32(gamma=0.3), lambda a: 2.5 * a, (Matern32(gamma=0.3),)),
    "nested": (
        3 * Laplacian(gamma=0.2) * (RBF(gamma=1.0) + Polynomial(gamma=0.1, degree=2)),
        lambda a, b, c: 3 * a * (b + c),
        (Laplacian(gamma=0.2), RBF(gamma=1.0), Polynomial(gamma=0.1, degree=2)),
    ),
}
every = pytest.mark.parametrize("name", KERNELS)


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 2))


@pytest.fixture
def y(X, rng):
    return np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=len(X))


def combined(name, X, C):
    _, combine, terms = KERNELS[name]
    return combine(*(term(X, C) for term in terms))


@every
class TestValues:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_are_those_of_the_terms_combined(self, name, X, dtype):
        X = X.astype(dtype)
        values, wanted = KERNELS[name][0](X, X[:9]), combined(name, X, X[:9])
        assert values.dtype == dtype
        eps = np.finfo(dtype).eps  # of the terms, which may be larger than their sum
        np.testing.assert_allclose(values, wanted, rtol=4 * eps, atol=4 * eps * np.abs(wanted).max())

    def test_sparse_rows(self, name, X):
        X = np.where(np.abs(X) < 0.5, 0.0, X)
        kernel = KERNELS[name][0]
        atoms = KernelAtoms(kernel).resolve(sp.csr_array(X))
        rows = atoms.rows(sp.csr_array(X))
        assert sp.issparse(rows)
        np.testing.assert_allclose(atoms.block(rows, np.arange(60)), kernel(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(atoms.own_values(), kernel(X).diagonal(), rtol=1e-12)
        # Sparse rows at centres that were dense, and the other way round.
        dense = KernelAtoms(kernel).resolve(X)
        np.testing.assert_allclose(
            dense.block(dense.rows(sp.csr_array(X)), np.arange(60)), kernel(X), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_allclose(atoms.block(atoms.rows(X), np.arange(60)), kernel(X), rtol=1e-12, atol=1e-12)

    def test_memory_and_threads_change_no_bit(self, name, rng):
        X = rng.normal(size=(700, 2))
        atoms, V = KernelAtoms(KERNELS[name][0]).resolve(X), rng.normal(size=(2, 700))
        engines = [
            Engine(atoms, X, memory_budget=budget, n_threads=n_threads)
            for budget, n_threads in ((10**9, 1), (0, 1), (0, 2), (700 * 8 * 100, 2))
        ]
        first, *others = [(e.correlate(V), e.sqnorms(), e.columns(np.array([3, 600]))) for e in engines]
        assert [engine.n_kept for engine in engines] == [700, 0, 0, 100]
        for other in others:
            for a, b in zip(first, other):
                np.testing.assert_array_equal(a, b, strict=True)

    def test_positive_semidefinite(self, name, X):
        kernel = KERNELS[name][0]
        assert kernel.is_mercer
        assert np.linalg.eigvalsh(kernel(X)).min() > -1e-10


@every
class TestModels:
    def test_like_the_matrix(self, name, X, y):
        """The kernel and its matrix give one model, with scores from float64 and picked columns from it."""
        kernel, settings = KERNELS[name][0], {"max_atoms": 8, "stop": "max", "alpha": 1e-3, "fit_intercept": False}
        model = KernelPursuitRegressor(kernel=kernel, **settings).fit(X, y)
        by_matrix = KernelPursuitRegressor(kernel="precomputed", **settings).fit(kernel(X), y)
        np.testing.assert_array_equal(model.center_indices_, by_matrix.center_indices_)
        np.testing.assert_allclose(model.coef_, by_matrix.coef_, rtol=1e-6)
        new = X[:20] + 0.1
        np.testing.assert_allclose(model.predict(new), by_matrix.predict(kernel(new, X)), rtol=1e-9, atol=1e-11)
        saved = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(saved.predict(new), model.predict(new))
        arrays = to_arrays(model.model_)
        arrays["structure"] = json.loads(json.dumps(arrays["structure"]))
        saved.model_ = from_arrays(arrays)
        np.testing.assert_array_equal(saved.predict(new), model.predict(new))

    @pytest.mark.parametrize("penalty", ["rkhs", "ridge", "nugget"])
    def test_every_penalty_and_residuals(self, name, X, y, penalty):
        kernel = KERNELS[name][0]
        settings = {"penalty": penalty, "alpha": 1e-2, "selection": "residual", "max_atoms": 6, "stop": "max"}
        path = pursuit_path(X, y, kernel=kernel, **settings)
        by_matrix = pursuit_path(kernel(X), y, kernel="precomputed", **settings)
        np.testing.assert_array_equal(path.atoms(6), by_matrix.atoms(6))
        np.testing.assert_allclose(path.cost, by_matrix.cost, rtol=1e-8)

    def test_presets_of_positive_semidefinite_kernels(self, name, X, y):
        for preset in (presets.sparse_gp_greedy, presets.greedy_qr_exchange, presets.mrx):
            model = preset(kernel=KERNELS[name][0], max_atoms=6, gamma="scale").fit(X, y)
            assert np.isfinite(model.predict(X)).all()

    def test_classes(self, name, X, y):
        model = KernelPursuitClassifier(kernel=KERNELS[name][0], max_atoms=6).fit(X, y > 0)
        assert model.score(X, y > 0) > 0.7

    def test_nothing_is_learned(self, name, X, y):
        """As for a list of kernels, gamma="learn" leaves all as it is."""
        kernel = KERNELS[name][0]
        learn = KernelPursuitRegressor(kernel=kernel, max_atoms=6, gamma="learn").fit(X, y)
        scale = KernelPursuitRegressor(kernel=kernel, max_atoms=6, gamma="scale").fit(X, y)
        assert learn.feature_scales_ is None
        np.testing.assert_array_equal(learn.predict(X), scale.predict(X))

    def test_clone_and_parameters(self, name):
        model = KernelPursuitRegressor(kernel=KERNELS[name][0], max_atoms=3)
        twin = clone(model)
        assert twin.kernel == model.kernel
        assert twin.get_params()["kernel"] == model.get_params()["kernel"]
        assert twin.set_params(kernel=RBF(1.0) + Linear()).kernel == RBF(1.0) + Linear()


def test_tiles_and_precision_of_large_dictionaries(rng):
    """Above eight million values scores are float32, and D'V never needs D."""
    X = rng.normal(size=(3001, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    settings = {"max_atoms": 5, "stop": "max", "alpha": 1e-3}
    kernel = RBF(gamma=0.7) + Linear(gamma=0.4)
    model = KernelPursuitRegressor(kernel=kernel, memory_budget=0, **settings).fit(X, y)
    whole = KernelPursuitRegressor(kernel=kernel, **settings).fit(X, y)
    np.testing.assert_array_equal(model.center_indices_, whole.center_indices_)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


class TestGamma:
    def test_terms_without_one_take_the_estimators(self, X, y):
        settings = {"max_atoms": 6, "stop": "max"}
        left_open = KernelPursuitRegressor(kernel=RBF() + Linear(gamma=0.4), gamma=0.7, **settings).fit(X, y)
        given = KernelPursuitRegressor(kernel=RBF(gamma=0.7) + Linear(gamma=0.4), gamma="scale", **settings).fit(X, y)
        np.testing.assert_array_equal(left_open.predict(X), given.predict(X))

    def test_scale_is_that_of_each_term(self, X):
        np.testing.assert_array_equal((RBF() * Linear())(X), RBF()(X) * Linear()(X))
        resolved = (RBF() + 2 * Linear(gamma=3.0)).resolve(X)
        assert resolved == RBF().resolve(X) + 2 * Linear(gamma=3.0)

    def test_is_open_where_one_term_is(self):
        assert (RBF() + Linear(gamma=3.0)).gamma is None
        assert KernelAtoms(RBF() + Linear(gamma=3.0)).takes_gamma
        assert not KernelAtoms(RBF(gamma=1.0) + Linear(gamma=3.0)).takes_gamma
        assert (RBF(gamma=1.0) + 2 * Linear(gamma=3.0)).gamma == (1.0, (3.0,))

    def test_with_gamma_fills_in_what_is_open(self):
        assert (RBF() * Periodic(gamma=3.0)).with_gamma(2.0) == RBF(gamma=2.0) * Periodic(gamma=3.0)
        assert (2 * RBF(gamma=1.0) + Linear(gamma=3.0)).with_gamma(2.0) == 2 * RBF(gamma=2.0) + Linear(gamma=2.0)

    def test_widths(self, X):
        atoms = widths(RBF() + Linear(gamma=0.4), [0.1, 1.0]).resolve(X)
        wanted = [(RBF(gamma=gamma) + Linear(gamma=0.4))(X) for gamma in (0.1, 1.0)]
        np.testing.assert_allclose(
            atoms.block(atoms.rows(X), np.arange(120)), np.vstack(wanted), rtol=1e-12, atol=1e-13
        )

    def test_a_gamma_that_no_term_takes_is_refused(self, X, y):
        with pytest.raises(ValueError, match=r"gamma=2\.0 would be ignored"):
            KernelPursuitRegressor(kernel=RBF(gamma=1.0) + Linear(gamma=1.0), gamma=2.0).fit(X, y)

    def test_factors_are_refused(self, X):
        with pytest.raises(ValueError, match="factors"):
            KernelAtoms(RBF() + RBF(), X, factors=np.ones(60))


class TestOperators:
    def test_chains_are_flat(self):
        a, b, c = RBF(1.0), Linear(), Matern32(2.0)
        assert (a + b) + c == a + (b + c) == Sum((a, b, c))
        assert (a * b) * c == a * (b * c) == Product((a, b, c))
        assert a * (b + c) == Product((a, Sum((b, c))))
        assert a + b != b + a

    @pytest.mark.parametrize("two", [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2)], ids=repr)
    def test_numbers_from_both_sides(self, two):
        assert two * RBF(1.0) == RBF(1.0) * two == Scaled(RBF(1.0), 2.0)
        assert hash(two * RBF(1.0)) == hash(Scaled(RBF(1.0), 2.0))

    @pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf, True])
    def test_factors_must_be_positive(self, factor):
        with pytest.raises(ValueError, match="factor="):
            factor * RBF(1.0)

    @pytest.mark.parametrize("other", ["linear", np.sin, CallableKernel(np.sin), 1j], ids=repr)
    def test_what_is_no_kernel_is_refused(self, other):
        with pytest.raises(TypeError, match=r"RBF\(gamma=1.0\) [+*] .* is no kernel; write a kernel object"):
            RBF(1.0) + other
        with pytest.raises(TypeError, match="is no kernel"):
            RBF(1.0) * other
        with pytest.raises(ValueError, match="Sum takes a tuple of two or more kernel objects"):
            Sum((RBF(1.0), other))

    def test_a_number_is_no_term(self):
        with pytest.raises(TypeError, match=r"\+ 1.0 is no kernel"):
            RBF(1.0) + 1.0

    def test_dictionaries_make_unions(self, X):
        for union in (RBF(1.0) + Constant(), Constant() + RBF(1.0), KernelAtoms(RBF(1.0)) + (RBF(1.0) + Linear())):
            assert isinstance(union, Union)
            assert len(union.parts) == 2
        assert as_dictionary(RBF(1.0) + Linear()).resolve(X).n_atoms == 60
        assert as_dictionary([RBF(1.0), Linear()]).resolve(X).n_atoms == 120

    def test_indefinite_terms_make_no_mercer_kernel(self):
        assert not (RBF() + Sigmoid()).is_mercer
        assert not (2 * Sigmoid()).is_mercer
        assert not (Polynomial(coef0=-1.0) * RBF()).is_mercer

    def test_copies_and_hashes(self):
        for kernel, _, _ in KERNELS.values():
            for twin in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel), copy.copy(kernel)):
                assert twin == kernel
                assert hash(twin) == hash(kernel)


def test_builtin_sum():
    """`sum` begins with 0, which no other number may stand for."""
    kernels = [RBF(gamma=0.7), Linear(gamma=0.4), Matern32(gamma=0.3)]
    assert sum(kernels) == Sum(tuple(kernels))
    assert 0 + kernels[0] is kernels[0]
    assert np.float64(0.0) + kernels[0] is kernels[0]
    with pytest.raises(TypeError, match="is no kernel"):
        1 + kernels[0]
    assert isinstance(KernelAtoms("rbf") + kernels[1], Union)
