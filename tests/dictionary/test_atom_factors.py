"""Atoms with a gamma of their own: each is the kernel with gamma times its factor, however it is asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import BY_NAME, RBF, CallableKernel, Linear

STATIONARY = [name for name, kernel in BY_NAME.items() if kernel.is_stationary]
FACTORS = np.array([0.2, 1.0, 3.5, 0.2, 1.7])


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.fixture(params=STATIONARY)
def kernel(request):
    return BY_NAME[request.param](gamma=np.array([0.4, 0.0, 1.3]))


@pytest.fixture
def rows(rng):
    return rng.normal(size=(23, 3)) * (rng.uniform(size=(23, 3)) < 0.7)


@pytest.fixture
def centers(rng):
    return rng.normal(size=(5, 3))


def one_by_one(kernel, centers, X):
    """Values of shape (n_centres, n_rows), each from a kernel with its own gamma."""
    pairs = zip(centers, FACTORS)
    return np.array([kernel.with_gamma(kernel.gamma * factor)(X, center[None])[:, 0] for center, factor in pairs])


AS_ROWS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("as_rows", AS_ROWS)
class TestValues:
    @pytest.fixture
    def close(self, kernel, as_rows):
        # Sparse distances come from products, which leave eps of a zero distance, and its root in exp(-r).
        tolerance = 1e-7 if kernel.kind == "matern12" and as_rows == "sparse" else 1e-12
        return lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    @pytest.fixture
    def atoms(self, kernel, centers, rows, as_rows):
        return KernelAtoms(kernel, AS_ROWS[as_rows](centers), FACTORS).resolve(AS_ROWS[as_rows](rows))

    @pytest.fixture
    def embedded(self, atoms, rows, as_rows):
        return atoms.rows(AS_ROWS[as_rows](rows))

    def test_block_and_fill(self, close, atoms, embedded, kernel, centers, rows):
        wanted, some = one_by_one(kernel, centers, rows), np.array([4, 0, 2, 0])
        close(atoms.block(embedded, np.arange(5)), wanted)
        close(atoms.block(embedded, some), wanted[some])
        assert atoms.block(embedded, some, np.float32).dtype == np.float32
        out = np.empty((4, len(rows)))
        atoms.fill(embedded, some, out)
        close(out, wanted[some])

    def test_products(self, close, atoms, embedded, kernel, centers, rows, rng):
        wanted, some = one_by_one(kernel, centers, rows), np.array([4, 0, 2])
        V, weights, coef = rng.normal(size=(2, len(rows))), rng.uniform(size=len(rows)), rng.normal(size=(5, 2))
        close(atoms.rmatvec(embedded, V, some), V @ wanted[some].T)
        close(atoms.sqnorms(embedded, weights, some), wanted[some] ** 2 @ weights)
        products, squares = atoms.examine(embedded, V, weights, some)
        close(products, V @ wanted[some].T)
        close(squares, wanted[some] ** 2 @ weights)
        close(atoms.matvec(embedded, coef), wanted.T @ coef)
        close(atoms.own_values(), np.ones(5))

    def test_take_and_pickle(self, close, atoms, embedded, kernel, centers, rows):
        some = np.array([3, 1, 1])
        taken = pickle.loads(pickle.dumps(atoms.take(some)))
        np.testing.assert_array_equal(taken.factors, FACTORS[some])
        close(taken.block(embedded, np.arange(3)), one_by_one(kernel, centers, rows)[some])

    def test_repeated_takes_centre_and_factor(self, kernel, centers, rows, as_rows):
        twice = AS_ROWS[as_rows](centers[[0, 1, 0, 0, 1]])
        atoms = KernelAtoms(kernel, twice, [0.5, 0.5, 0.5, 2.0, 0.5]).resolve(AS_ROWS[as_rows](rows))
        np.testing.assert_array_equal(atoms.repeated(), [False, False, True, False, True])
        np.testing.assert_array_equal(atoms.same_as(0, np.arange(5)), [True, False, True, False, False])
        np.testing.assert_array_equal(atoms.same_as(3, np.array([0, 3])), [False, True])


class TestMercer:
    def test_factors_that_differ_have_no_kernel_behind_them(self, kernel, centers, rows):
        atoms = KernelAtoms(kernel, centers, FACTORS).resolve(rows)
        assert atoms.is_mercer is False
        with pytest.raises(ValueError, match="positive semidefinite"):
            atoms.gram(np.arange(5), np.arange(5))

    def test_equal_factors_are_another_gamma(self, kernel, centers, rows):
        atoms = KernelAtoms(kernel, centers, np.full(5, 1.5)).resolve(rows)
        assert atoms.is_mercer is True
        wanted = kernel.with_gamma(1.5 * kernel.gamma)(centers)
        np.testing.assert_allclose(atoms.gram(np.arange(5), np.arange(5)), wanted, rtol=1e-12)

    def test_ones_are_no_factors(self, kernel, centers, rows):
        plain, ones = (KernelAtoms(kernel, centers, factors).resolve(rows) for factors in (None, np.ones(5)))
        np.testing.assert_array_equal(
            plain.block(plain.rows(rows), np.arange(5)), ones.block(ones.rows(rows), np.arange(5))
        )
        assert plain.factors is None


def test_gamma_may_be_left_to_the_estimator(centers, rows):
    atoms = KernelAtoms("rbf", centers, FACTORS).resolve(rows, gamma=0.7)
    wanted = one_by_one(RBF(gamma=0.7), centers, rows)
    np.testing.assert_allclose(atoms.block(atoms.rows(rows), np.arange(5)), wanted, rtol=1e-12)


def test_a_model_keeps_the_factors_of_its_atoms(centers, rows, rng):
    y = rng.normal(size=len(rows))
    kernel = RBF(gamma=0.5)
    model = KernelPursuitRegressor(kernel=KernelAtoms(kernel, centers, FACTORS), max_atoms=3, stop="max").fit(rows, y)
    picked = model.path_.atom[:3]
    wanted = model.intercept_ + model.coef_ @ one_by_one(kernel, centers, rows)[picked]
    np.testing.assert_allclose(model.predict(rows), wanted, rtol=1e-9)


def test_factors_are_copied_and_read_only(centers):
    given = FACTORS.copy()
    atoms = KernelAtoms("rbf", centers, given)
    given[:] = 7.0
    np.testing.assert_array_equal(atoms.factors, FACTORS)
    with pytest.raises(ValueError, match="read-only"):
        atoms.factors[0] = 1.0
    with pytest.raises(AttributeError):
        atoms.factors = given
    assert repr(atoms) == "KernelAtoms(RBF(), at 5 centres)"


CENTERS = np.ones((3, 2))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: KernelAtoms("rbf", factors=np.ones(3)), "factors need centers"),
        (lambda: KernelAtoms(Linear(), CENTERS, np.ones(3)), "kernel=Linear is none"),
        (lambda: KernelAtoms(np.dot, CENTERS, np.ones(3)), "kernel=dot is none"),
        (lambda: KernelAtoms(CallableKernel(RBF(gamma=1.0)), CENTERS, np.ones(3)), "factors multiply the gamma"),
        (lambda: KernelAtoms("rbf", CENTERS, np.ones(2)), "factors has shape (2,)"),
        (lambda: KernelAtoms("rbf", CENTERS, 2.0), "factors has shape ()"),
        (lambda: KernelAtoms("rbf", CENTERS, [1.0, 0.0, 1.0]), "not positive and finite"),
        (lambda: KernelAtoms("rbf", CENTERS, [1.0, np.inf, 1.0]), "not positive and finite"),
        (lambda: KernelAtoms("rbf", CENTERS, ["a", "b", "c"]), "factors holds something else than numbers"),
    ],
)
def test_bad_factors_get_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=r"^[^\n]*[.]$") as caught:
        call()
    assert sentence in str(caught.value)
