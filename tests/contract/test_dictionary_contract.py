"""What every kind of dictionary keeps to, against values computed one atom and one row at a time."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case

from kernelpursuit.dictionary import (
    Constant,
    Functions,
    KernelAtoms,
    Precomputed,
    Union,
    as_dictionary,
    widths,
)
from kernelpursuit.kernels import BY_NAME, RBF, CallableKernel, Laplacian, Linear, Matern32, Polynomial

RNG = np.random.default_rng(3)
X = RNG.normal(size=(9, 2))
NEW = RNG.normal(size=(4, 2))
CENTERS = RNG.normal(size=(5, 2))
HALF = RNG.normal(size=(9, 9))
GRAM, NEW_GRAM = HALF @ HALF.T, RNG.normal(size=(4, 9))
WIDE, NEW_WIDE = RNG.normal(size=(9, 13)), RNG.normal(size=(4, 13))
SCALE = 1 / (2 * X.var())
AT_ROWS, NOWHERE = list(range(9)), -1


def rbf(gamma):
    return lambda x, c: np.exp(-gamma * sum((x - c) ** 2))


def laplace(x, c):
    return np.exp(-0.4 * sum(abs(x - c)))


def matern32(x, c):
    r = np.sqrt(2 * 0.5 * sum((x - c) ** 2))
    return (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)


def asymmetric(A, C):
    return np.cos(A[:, :1]) + A[:, [1]] * C[:, 0] ** 3


def indefinite(A, C):
    return -np.abs(A[:, :1] - C[:, 0]) + 0.1


def warp(A):
    return np.sin(A[:, 0])


def trend(A):
    return A[:, [1]]


def at(function, centers):
    """Atoms `function(., c)` one by one."""
    return [lambda x, c=c: function(x, c) for c in centers]


def column(j):
    return lambda x: x[j]


@dataclass
class Case:
    dictionary: Any
    naive: list  # one function of a row for each atom
    training_rows: list
    centers: Any
    is_mercer: bool = False
    fitted_on: Any = None
    new: Any = None

    def __post_init__(self):
        self.fitted_on = X if self.fitted_on is None else self.fitted_on
        self.new = NEW if self.new is None else self.new
        self.resolved = self.dictionary.resolve(self.fitted_on)

    def values(self, rows):
        rows = rows.toarray() if sp.issparse(rows) else rows
        return np.array([[atom(row) for row in rows] for atom in self.naive])


NAN = np.full((1, 2), np.nan)
CASES = {
    "rows": Case(KernelAtoms("rbf"), at(rbf(SCALE), X), AT_ROWS, X, True),
    "centers": Case(KernelAtoms(Matern32(gamma=0.5), CENTERS), at(matern32, CENTERS), [NOWHERE] * 5, CENTERS, True),
    "asymmetric": Case(KernelAtoms(asymmetric), at(lambda x, c: np.cos(x[0]) + x[1] * c[0] ** 3, X), AT_ROWS, X, False),
    "indefinite": Case(
        KernelAtoms(indefinite, CENTERS),
        at(lambda x, c: 0.1 - abs(x[0] - c[0]), CENTERS),
        [NOWHERE] * 5,
        CENTERS,
        False,
    ),
    "callable-mercer": Case(
        KernelAtoms(CallableKernel(Laplacian(gamma=0.4), is_mercer=True)), at(laplace, X), AT_ROWS, X, True
    ),
    "constant": Case(Constant(), [lambda x: 1.0], [NOWHERE], None, False),
    "functions": Case(
        Functions(warp, trend, warp),
        [lambda x: np.sin(x[0]), lambda x: x[1], lambda x: np.sin(x[0])],
        [NOWHERE] * 3,
        None,
        False,
    ),
    "gram": Case(Precomputed(), list(map(column, range(9))), AT_ROWS, None, True, GRAM, NEW_GRAM),
    "matrix": Case(Precomputed(), list(map(column, range(13))), [NOWHERE] * 13, None, False, WIDE, NEW_WIDE),
    "sparse-gram": Case(
        Precomputed(),
        list(map(column, range(9))),
        AT_ROWS,
        None,
        True,
        sp.csr_array(GRAM),
        sp.csr_array(NEW_GRAM),
    ),
    "union": Case(
        KernelAtoms(Linear(gamma=1.0)) + KernelAtoms(RBF(gamma=2.0), CENTERS) + Constant() + Functions(trend),
        [*at(lambda x, c: sum(x * c), X), *at(rbf(2.0), CENTERS), lambda x: 1.0, lambda x: x[1]],
        [*AT_ROWS, *[NOWHERE] * 7],
        np.vstack([X, CENTERS, NAN, NAN]),
        False,
    ),
    "widths": Case(
        widths("rbf", [0.1, 1.0, 10.0]),
        [*at(rbf(0.1), X), *at(rbf(1.0), X), *at(rbf(10.0), X)],
        AT_ROWS * 3,
        np.vstack([X, X, X]),
        True,
    ),
    "list": Case(
        as_dictionary([RBF(), Laplacian(gamma=0.4), asymmetric]),
        [*at(rbf(SCALE), X), *at(laplace, X), *at(lambda x, c: np.cos(x[0]) + x[1] * c[0] ** 3, X)],
        AT_ROWS * 3,
        np.vstack([X, X, X]),
        False,
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def some_atoms(case):
    """An unsorted choice with one atom twice."""
    order = np.random.default_rng(5).permutation(len(case.naive))
    return np.concatenate([order[: max(1, len(order) // 2 + 1)], order[:1]])


def block_of(dictionary, X, atoms=None, dtype=np.float64):
    atoms = np.arange(dictionary.n_atoms) if atoms is None else atoms
    return dictionary.block(dictionary.rows(X), atoms, dtype)


class TestEveryDictionary:
    @every_case(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 1e-5)])
    def test_block(self, case, dtype, rtol):
        assert case.resolved.n_atoms == len(case.naive)
        for rows in (case.fitted_on, case.new):
            wanted = case.values(rows)
            for atoms in (np.arange(len(wanted)), some_atoms(case), np.zeros(0, dtype=int)):
                values = block_of(case.resolved, rows, atoms, dtype)
                assert values.dtype == dtype
                assert values.flags.c_contiguous
                assert values.shape == (len(atoms), rows.shape[0])
                np.testing.assert_allclose(values, wanted[atoms], rtol=rtol, atol=rtol)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_products(self, case, dtype, rng):
        atoms = some_atoms(case)
        rows = case.resolved.rows(case.fitted_on)
        block = case.resolved.block(rows, atoms, dtype).astype(np.float64)
        V = rng.normal(size=(3, case.fitted_on.shape[0]))
        weights = rng.uniform(0.1, 3.0, size=V.shape[1])
        products = case.resolved.rmatvec(rows, V, atoms, dtype)
        assert products.dtype == np.float64
        np.testing.assert_allclose(products, V @ block.T, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(
            case.resolved.sqnorms(rows, weights, atoms, dtype), np.square(block) @ weights, rtol=1e-12
        )

    def test_matvec(self, case, rng):
        coef = rng.normal(size=(len(case.naive), 2))
        for rows in (case.fitted_on, case.new):
            result = case.resolved.matvec(case.resolved.rows(rows), coef)
            np.testing.assert_allclose(result, case.values(rows).T @ coef, rtol=1e-12, atol=1e-13)

    def test_take_keeps_the_order(self, case, rng):
        atoms = some_atoms(case)
        taken = case.resolved.take(atoms)
        wanted = case.values(case.new)[atoms]
        assert taken.n_atoms == len(atoms)
        np.testing.assert_allclose(block_of(taken, case.new), wanted, rtol=1e-13)
        coef = rng.normal(size=(len(atoms), 2))
        np.testing.assert_allclose(taken.matvec(taken.rows(case.new), coef), wanted.T @ coef, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(taken.training_rows, np.array(case.training_rows)[atoms])
        backwards = np.arange(len(atoms))[::-1]
        np.testing.assert_allclose(block_of(taken, case.new, backwards), wanted[backwards], rtol=1e-13)

    def test_takes_compose(self, case):
        first = some_atoms(case)
        second = np.array([len(first) - 1, 0, len(first) // 2])
        twice, once = case.resolved.take(first).take(second), case.resolved.take(first[second])
        np.testing.assert_array_equal(block_of(twice, case.new), block_of(once, case.new))
        np.testing.assert_array_equal(twice.training_rows, once.training_rows)

    def test_take_nothing(self, case):
        nothing = case.resolved.take(np.zeros(0, dtype=int))
        assert nothing.n_atoms == 0
        assert block_of(nothing, case.new).shape == (0, 4)

    def test_training_rows_and_centers(self, case):
        np.testing.assert_array_equal(case.resolved.training_rows, case.training_rows)
        atoms = some_atoms(case)
        if case.centers is None:
            assert case.resolved.centers is None
            assert case.resolved.take(atoms).centers is None
        else:
            np.testing.assert_array_equal(case.resolved.centers, case.centers)
            np.testing.assert_array_equal(case.resolved.take(atoms).centers, case.centers[atoms])

    def test_centres_of_a_model_are_its_own(self, case):
        if case.centers is not None:
            assert not np.shares_memory(case.resolved.take(some_atoms(case)).centers, case.fitted_on)

    def test_mercer(self, case):
        assert case.resolved.is_mercer is case.is_mercer
        everything = np.arange(case.resolved.n_atoms)
        if not case.is_mercer:
            with pytest.raises(ValueError, match="positive semidefinite"):
                case.resolved.gram(everything, everything)
            return
        gram = case.resolved.gram(everything, everything)
        np.testing.assert_allclose(gram, gram.T, rtol=1e-13)
        assert np.linalg.eigvalsh(gram).min() > -1e-12 * gram.max()
        np.testing.assert_allclose(case.resolved.own_values(), np.diag(gram), rtol=1e-13)
        some = some_atoms(case)
        np.testing.assert_allclose(case.resolved.gram(some, everything[2:]), gram[some][:, 2:], rtol=1e-13)
        taken = case.resolved.take(some)
        np.testing.assert_allclose(taken.own_values(), np.diag(gram)[some], rtol=1e-13)
        np.testing.assert_allclose(taken.gram(np.arange(2), np.arange(len(some))), gram[some[:2]][:, some], rtol=1e-13)

    def test_taken_dictionaries_pickle(self, case):
        taken = case.resolved.take(some_atoms(case))
        twin = pickle.loads(pickle.dumps(taken))
        np.testing.assert_array_equal(block_of(twin, case.new), block_of(taken, case.new))
        np.testing.assert_array_equal(twin.training_rows, taken.training_rows)

    def test_resolving_leaves_the_dictionary_and_the_rows_as_they_were(self, case):
        data = case.fitted_on.data if sp.issparse(case.fitted_on) else case.fitted_on
        before = data.copy()
        state = dict(vars(case.dictionary))
        again = case.dictionary.resolve(case.fitted_on)
        block_of(again, case.fitted_on)
        assert vars(case.dictionary) == state
        np.testing.assert_array_equal(data, before)

    def test_no_atom_is_a_repetition(self, case):
        assert case.resolved.repeated().shape == (case.resolved.n_atoms,)
        assert not case.resolved.repeated().any()


@every_case(
    "kernel", [RBF(gamma=1.0), [RBF(gamma=1.0), Laplacian(gamma=1.0)], asymmetric], ids=["one", "list", "callable"]
)
@every_case("as_rows", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_repeated_centres_are_seen(kernel, as_rows):
    rows = as_rows(np.vstack([X[:3], X[:2] * 1.0, [[0.0, 1.0], [-0.0, 1.0]], X[2:3] + 1e-12]))
    expected = np.array([False, False, False, True, True, False, True, False])
    dictionary = as_dictionary(kernel).resolve(rows)
    repeated = dictionary.repeated()
    np.testing.assert_array_equal(repeated, np.tile(expected, len(repeated) // 8))
    taken = dictionary.take(np.array([4, 1, 0, 3]))
    np.testing.assert_array_equal(taken.repeated(), [False, True, False, True])
    for atom in range(dictionary.n_atoms):
        same = dictionary.same_as(atom, np.arange(dictionary.n_atoms))
        assert same[atom]
        assert repeated[atom] == same[:atom].any()


class TestUnion:
    def test_sum_is_flat_and_associative(self):
        a, b, c = KernelAtoms("rbf"), KernelAtoms("linear", CENTERS), Constant()
        left, right = ((a + b) + c).resolve(X), (a + (b + c)).resolve(X)
        np.testing.assert_array_equal(block_of(left, X), block_of(right, X))
        assert len(left.parts) == 3

    def test_kernels_join_from_either_side(self):
        left, right = (Constant() + RBF(gamma=1.0)).resolve(X), ("rbf" + Constant()).resolve(X, gamma=1.0)
        assert left.n_atoms == right.n_atoms == 10
        np.testing.assert_allclose(block_of(left, NEW)[1:], block_of(right, NEW)[:-1])

    def test_estimators_gamma_goes_to_kernels_without_their_own(self):
        union = as_dictionary(["rbf", RBF(gamma=5.0)]).resolve(X, gamma=0.25)
        assert [part.kernel.gamma for part in union.parts] == [0.25, 5.0]

    def test_parts_are_orthogonal_in_the_gram(self):
        union = widths("rbf", [0.5, 2.0]).resolve(X)
        gram = union.gram(np.arange(18), np.arange(18))
        assert not gram[:9, 9:].any()
        np.testing.assert_allclose(gram[9:, 9:], RBF(gamma=2.0)(X), rtol=1e-13)

    def test_precomputed_is_refused(self):
        with pytest.raises(ValueError, match="precomputed"):
            Precomputed() + Constant()

    def test_empty_list_is_refused(self):
        with pytest.raises(ValueError, match="empty"):
            as_dictionary([])

    def test_widths_of_a_callable_are_refused(self):
        with pytest.raises(ValueError, match="gamma"):
            widths(asymmetric, [1.0, 2.0])

    def test_repr_names_the_parts(self):
        assert repr(widths("rbf", [0.1, 1.0])).count("KernelAtoms(RBF(gamma=") == 2
        assert isinstance(widths("rbf", [0.1]), Union)


class TestPrecomputed:
    def test_picked_columns_alone_are_enough(self):
        picked = np.array([7, 0, 3])
        taken = CASES["matrix"].resolved.take(picked)
        np.testing.assert_array_equal(block_of(taken, NEW_WIDE[:, picked]), block_of(taken, NEW_WIDE))
        np.testing.assert_array_equal(block_of(taken, NEW_WIDE), NEW_WIDE[:, picked].T)

    def test_all_columns_picked_in_another_order(self):
        order = np.arange(13)[::-1]
        taken = CASES["matrix"].resolved.take(order)
        np.testing.assert_array_equal(block_of(taken, NEW_WIDE), NEW_WIDE[:, order].T)

    @every_case(
        ("matrix", "is_mercer"),
        [
            (GRAM, True),
            (np.diag([1.0, 0.0, 2.0]), True),
            (-GRAM, False),
            (HALF, False),
            (WIDE, False),
            (np.array([[1.0, 2.0], [2.0, 1.0]]), False),
            (np.zeros((2, 2)), True),
        ],
        ids=["gram", "singular", "negative", "asymmetric", "wide", "indefinite", "zero"],
    )
    @every_case("as_matrix", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_is_mercer_is_read_from_the_matrix(self, matrix, is_mercer, as_matrix):
        assert Precomputed().resolve(as_matrix(matrix)).is_mercer is is_mercer

    def test_the_user_may_know_better(self):
        assert Precomputed(is_mercer=True).resolve(HALF).is_mercer
        assert not Precomputed(is_mercer=False).resolve(GRAM).is_mercer

    def test_a_model_does_not_keep_the_matrix(self):
        big = np.zeros((1000, 1000))
        assert len(pickle.dumps(Precomputed().resolve(big).take(np.arange(3)))) < 5000


@pytest.mark.parametrize("name", BY_NAME)
class TestSparseRows:
    """CSR rows give the values of the same rows held densely, for every kernel."""

    GAMMA = np.array([0.4, 1.1, 0.2, 0.9, 0.0, 2.0])

    @pytest.fixture
    def pair(self, name, rng):
        dense = rng.normal(size=(8, 6)) * (rng.uniform(size=(8, 6)) < 0.5)
        dense[2] = 0.0
        dense[5] = dense[1]
        kernel = BY_NAME[name](gamma=self.GAMMA)
        return dense, KernelAtoms(kernel).resolve(dense), KernelAtoms(kernel).resolve(sp.csr_array(dense))

    def close(self, name, actual, wanted):
        # Distances come from products: eps of the squared norms is left of a zero distance, its root in exp(-r).
        tolerance = 1e-7 if name == "matern12" else 1e-13
        np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance)

    def test_block(self, name, pair):
        dense, of_dense, of_sparse = pair
        atoms = np.array([5, 0, 7, 2])
        wanted = block_of(of_dense, dense, atoms)
        for rows in (sp.csr_array(dense), sp.csr_matrix(dense), dense):
            self.close(name, block_of(of_sparse, rows, atoms), wanted)
        self.close(name, block_of(of_dense, sp.csr_array(dense), atoms), wanted)
        assert block_of(of_sparse, sp.csr_array(dense), atoms, np.float32).dtype == np.float32

    def test_products(self, name, pair, rng):
        dense, of_dense, of_sparse = pair
        everything, V, weights = np.arange(8), rng.normal(size=(2, 8)), rng.uniform(1, 2, size=8)
        rows, sparse_rows = of_dense.rows(dense), of_sparse.rows(sp.csr_array(dense))
        self.close(name, of_sparse.rmatvec(sparse_rows, V, everything), of_dense.rmatvec(rows, V, everything))
        self.close(
            name, of_sparse.sqnorms(sparse_rows, weights, everything), of_dense.sqnorms(rows, weights, everything)
        )
        self.close(name, of_sparse.matvec(sparse_rows, V.T), of_dense.matvec(rows, V.T))

    def test_own_values_and_gram(self, name, pair):
        _, of_dense, of_sparse = pair
        self.close(name, of_sparse.own_values(), of_dense.own_values())
        if of_dense.is_mercer:
            some, others = np.array([3, 5]), np.array([1, 5, 0])
            self.close(name, of_sparse.gram(some, others), of_dense.gram(some, others))

    def test_take_and_centers(self, name, pair):
        dense, of_dense, of_sparse = pair
        atoms = np.array([5, 0, 2])
        taken = pickle.loads(pickle.dumps(of_sparse.take(atoms)))
        self.close(name, block_of(taken, sp.csr_array(dense)), block_of(of_dense.take(atoms), dense))
        np.testing.assert_array_equal(taken.centers.toarray(), dense[atoms])

    def test_entries_in_any_order_and_twice(self, name, pair):
        """An entry written as two that add up, indices unsorted: legal CSR, the same matrix, left untouched."""
        dense, of_dense, _ = pair
        i, j = np.nonzero(dense)
        order = np.lexsort((-j, i))
        i, j = np.repeat(i[order], 2), np.repeat(j[order], 2)
        half = dense[i, j] * np.tile([0.25, 0.75], len(i) // 2)
        messy = sp.csr_array((half, j, np.concatenate([[0], np.cumsum(np.bincount(i, minlength=8))])), shape=(8, 6))
        before = messy.data.copy(), messy.indices.copy(), messy.indptr.copy()
        atoms = KernelAtoms(BY_NAME[name](gamma=self.GAMMA)).resolve(messy)
        self.close(name, block_of(atoms, messy), block_of(of_dense, dense))
        np.testing.assert_array_equal(atoms.repeated(), of_dense.repeated())
        for array, copied in zip((messy.data, messy.indices, messy.indptr), before):
            np.testing.assert_array_equal(array, copied)


class TestFunctions:
    @pytest.mark.parametrize(
        ("function", "said"),
        [
            (lambda A: np.ones(3), "one value for each row"),
            (lambda A: np.ones((len(A), 2)), "one value for each row"),
            (lambda A: np.full(len(A), np.nan), "NaN or infinity"),
        ],
        ids=["short", "wide", "nan"],
    )
    def test_wrong_values_are_refused(self, function, said):
        with pytest.raises(ValueError, match=said):
            block_of(Functions(function).resolve(X), X)

    def test_only_functions(self):
        with pytest.raises(ValueError, match="Functions takes functions"):
            Functions(warp, 3.0)


class TestKernelAtoms:
    def test_values_before_resolving_are_refused(self):
        with pytest.raises(ValueError, match="resolve"):
            _ = KernelAtoms("rbf").centers
        with pytest.raises(ValueError, match="resolve"):
            _ = Precomputed().n_atoms

    @pytest.mark.parametrize("centers", [np.ones(2), np.ones((2, 3)), np.full((1, 2), np.nan)])
    def test_bad_centers(self, centers):
        with pytest.raises(ValueError, match="centers"):
            KernelAtoms("rbf", centers).resolve(X)

    def test_polynomial_with_negative_offset_is_not_mercer(self):
        assert not KernelAtoms(Polynomial(coef0=-1.0)).is_mercer

    def test_repr(self):
        assert repr(KernelAtoms("rbf")) == "KernelAtoms(RBF(), at training rows)"
        assert repr(KernelAtoms("linear", CENTERS)) == "KernelAtoms(Linear(), at 5 centres)"
