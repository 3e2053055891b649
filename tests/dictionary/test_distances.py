"""Kernels from a table of distances: the values, and where they come from."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import (
    Constant,
    DistanceAtoms,
    KernelAtoms,
    Precomputed,
    Union,
    distances,
    share_distances,
)
from kernelpursuit.dictionary.distances import MANY_ATOMS, shared_size, unshare
from kernelpursuit.kernels import RBF, RationalQuadratic

KERNELS = ["rbf", "laplacian", "matern12", "matern32", "matern52", "rational_quadratic", RationalQuadratic(shape=2.5)]
N_ROWS, GAMMA = 150, 0.7
ALL = np.arange(N_ROWS)


@pytest.fixture(autouse=True)
def _gathered_for_few_features(monkeypatch):
    monkeypatch.setattr(distances, "GATHER_FROM", 1)


@pytest.fixture(scope="module")
def X():
    return 100.0 + np.random.default_rng(3).normal(size=(N_ROWS, 4))


def both(kernel, X, gamma=0.2, dtype=np.float64, centers=None):
    """The dictionary with a table at another gamma, and the one without, resolved."""
    plain = KernelAtoms(kernel, centers)
    shared = share_distances(plain, X, GAMMA, dtype)
    assert isinstance(shared, DistanceAtoms)
    return shared.resolve(X, gamma), plain.resolve(X, gamma)


def serves(dictionary, rows, atoms, dtype=np.float64):
    """Whether the table serves such a request."""
    return dictionary._known(rows, atoms, dtype) is not None


@every_case("kernel", KERNELS)
@every_case("gamma", [1e-3, 0.2, GAMMA, 30.0])
def test_values_of_every_width(kernel, gamma, X):
    shared, plain = both(kernel, X, gamma)
    rows = shared.rows(X)
    assert serves(shared, rows, ALL)
    expected = plain.block(plain.rows(X), ALL)
    np.testing.assert_allclose(shared.block(rows, ALL), expected, rtol=1e-12, atol=1e-300)
    out = np.empty((N_ROWS, N_ROWS))
    shared.fill(rows, ALL, out)
    np.testing.assert_array_equal(out, shared.block(rows, ALL))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gamma_of_the_table_gives_the_same_bits(kernel, X):
    shared, plain = both(kernel, X, GAMMA)
    np.testing.assert_array_equal(shared.block(shared.rows(X), ALL), plain.block(plain.rows(X), ALL))


def test_few_atoms_are_evaluated_from_rows_with_the_same_bits(X):
    shared, plain = both("rbf", X)
    few = np.arange(MANY_ATOMS - 1)
    assert not serves(shared, shared.rows(X), few)
    np.testing.assert_array_equal(shared.block(shared.rows(X), few), plain.block(plain.rows(X), few))


@pytest.mark.parametrize("weights", [np.ones(N_ROWS), np.linspace(0.5, 2.0, N_ROWS)], ids=["ones", "weights"])
def test_squared_norms(weights, X):
    shared, plain = both("matern32", X)
    got = shared.sqnorms(shared.rows(X), weights, ALL)
    np.testing.assert_allclose(got, plain.sqnorms(plain.rows(X), weights, ALL), rtol=1e-13)


def test_rows_of_a_fold_and_the_atoms_left_are_found(X):
    shared, plain = both("rbf", X)
    kept, atoms = ALL[ALL % 5 != 2], ALL[ALL % 3 != 1][::-1]
    part, expected = shared.take(atoms), plain.take(atoms)
    rows = part.rows(X[kept].copy())
    numbers = np.arange(len(atoms))
    assert serves(part, rows, numbers)
    np.testing.assert_allclose(part.block(rows, numbers), expected.block(expected.rows(X[kept]), numbers), rtol=1e-13)


def test_few_features_are_evaluated_sooner_than_gathered(X, monkeypatch):
    monkeypatch.setattr(distances, "GATHER_FROM", 5)
    shared, plain = both("rbf", X)
    assert serves(shared, shared.rows(X), ALL)
    rows = shared.rows(X[::-1])
    assert not serves(shared, rows, ALL)
    np.testing.assert_array_equal(shared.block(rows, ALL), plain.block(plain.rows(X[::-1]), ALL))


def test_equal_rows_are_one_row_of_the_table(X):
    X = np.vstack([X, X[:50]])
    shared, plain = both("rbf", X)
    atoms = np.arange(len(X))
    rows = shared.rows(X.copy())
    assert serves(shared, rows, atoms)
    np.testing.assert_allclose(shared.block(rows, atoms), plain.block(plain.rows(X), atoms), rtol=1e-13)


@pytest.mark.parametrize(
    "others",
    [lambda X: X + 1e-9, lambda X: np.vstack([X, X[:1] + 1]), lambda X: X.astype(np.float32)],
    ids=["moved", "one more", "another type"],
)
def test_rows_that_are_not_in_the_table_are_evaluated(others, X):
    shared, plain = both("rbf", X)
    rows = shared.rows(others(X))
    assert not serves(shared, rows, ALL)
    np.testing.assert_array_equal(shared.block(rows, ALL), plain.block(plain.rows(others(X)), ALL))


def test_sparse_rows_are_evaluated(X):
    shared, plain = both("rbf", X)
    rows = sp.csr_array(X)
    np.testing.assert_allclose(shared.block(shared.rows(rows), ALL), plain.block(plain.rows(rows), ALL), rtol=1e-14)


def test_a_float32_table_serves_float32_alone(X):
    shared, plain = both("matern52", X, dtype=np.float32)
    rows = shared.rows(X)
    assert serves(shared, rows, ALL, np.float32)
    assert not serves(shared, rows, ALL, np.float64)
    np.testing.assert_array_equal(shared.block(rows, ALL), plain.block(plain.rows(X), ALL))
    single = shared.block(rows, ALL, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, plain.block(plain.rows(X), ALL), rtol=2e-5)


def test_a_float64_table_serves_float32(X):
    shared, plain = both("rbf", X)
    out = np.empty((N_ROWS, N_ROWS), dtype=np.float32)
    shared.fill(shared.rows(X), ALL, out)
    np.testing.assert_allclose(out, plain.block(plain.rows(X), ALL), rtol=1e-6)


def test_rows_far_from_the_size_of_one_do_not_overflow(X):
    """Sums are kept at a gamma of the size of those that are wanted, so that they are of the size of one."""
    huge = (X - 100) * 1e30
    shared = share_distances(KernelAtoms("rbf"), huge, 0.7e-60, np.float32).resolve(huge, 0.2e-60)
    plain = KernelAtoms("rbf").resolve(huge, 0.2e-60)
    values = shared.block(shared.rows(huge), ALL, np.float32)
    np.testing.assert_allclose(values, plain.block(plain.rows(huge), ALL), rtol=1e-5)


def test_centres_of_ones_own(X):
    centers = X[:80] + 0.1
    shared, plain = both("rbf", X, centers=centers)
    atoms = np.arange(80)
    assert serves(shared, shared.rows(X), atoms)
    np.testing.assert_allclose(shared.block(shared.rows(X), atoms), plain.block(plain.rows(X), atoms), rtol=1e-13)


def test_a_union_shares_part_by_part(X):
    union = KernelAtoms("rbf") + KernelAtoms("matern32") + KernelAtoms("laplacian") + KernelAtoms(RBF(gamma=3.0))
    union = union + Constant()
    shared = share_distances(union, X, GAMMA)
    kinds = [type(part) for part in shared.parts]
    assert kinds == [DistanceAtoms, DistanceAtoms, DistanceAtoms, KernelAtoms, Constant]
    assert shared.parts[0]._table is shared.parts[1]._table
    assert shared.parts[0]._table is not shared.parts[2]._table
    assert shared_size(union, N_ROWS) == 2 * N_ROWS**2
    resolved, plain = shared.resolve(X, 0.2), union.resolve(X, 0.2)
    atoms = np.arange(resolved.n_atoms)
    got, expected = (d.block(d.rows(X), atoms) for d in (resolved, plain))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "dictionary",
    [KernelAtoms(RBF(gamma=2.0)), KernelAtoms("polynomial"), KernelAtoms(lambda X, C: X @ C.T), Precomputed()],
    ids=["gamma", "products", "callable", "precomputed"],
)
def test_what_has_no_distances_to_share_is_returned_as_it_is(dictionary, X):
    assert share_distances(dictionary, X, GAMMA) is dictionary
    assert shared_size(dictionary, N_ROWS) == 0


def test_sparse_rows_share_nothing(X):
    dictionary = KernelAtoms("rbf")
    assert share_distances(dictionary, sp.csr_array(X), GAMMA) is dictionary


def test_models_keep_no_table(X):
    y = np.sin(X[:, 0])
    shared = share_distances(KernelAtoms("rbf"), X, GAMMA)
    model = KernelPursuitRegressor(kernel=shared, gamma=0.2, alpha=1e-3, max_atoms=10, stop="max").fit(X, y)
    plain = KernelPursuitRegressor(gamma=0.2, alpha=1e-3, max_atoms=10, stop="max").fit(X, y)
    assert type(model.model_.atoms) is KernelAtoms
    np.testing.assert_array_equal(model.center_indices_, plain.center_indices_)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_unshare_leads_back(X):
    union = (KernelAtoms("rbf") + KernelAtoms("laplacian")).resolve(X, 0.2)
    shared = share_distances(KernelAtoms("rbf") + KernelAtoms("laplacian"), X, GAMMA).resolve(X, 0.2)
    picked = np.array([200, 3, 7, 299])
    back = unshare(shared.take(picked))
    assert isinstance(back, Union)
    assert [type(part) for part in back.parts] == [KernelAtoms, KernelAtoms]
    np.testing.assert_array_equal(back.training_rows, union.take(picked).training_rows)
    rows = back.rows(X)
    np.testing.assert_array_equal(back.block(rows, np.arange(4)), union.take(picked).block(union.rows(X), np.arange(4)))


def test_pickles_without_its_table(X):
    shared, plain = both("rbf", X)
    shared.block(shared.rows(X), ALL)
    loaded = pickle.loads(pickle.dumps(shared))
    assert loaded._table is None
    np.testing.assert_array_equal(loaded.block(loaded.rows(X), ALL), plain.block(plain.rows(X), ALL))


def test_sums_are_computed_once_and_late(X, monkeypatch):
    shared = share_distances(KernelAtoms("rbf"), X, GAMMA)
    assert shared._table._sums is None
    first = shared.resolve(X, 0.2)
    first.block(first.rows(X), ALL)
    sums = shared._table._sums
    assert sums.shape == (N_ROWS, N_ROWS)
    second = shared.resolve(X, 5.0)
    second.block(second.rows(X), ALL)
    assert shared._table._sums is sums
