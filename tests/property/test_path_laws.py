"""Laws of the path: what must not matter, does not; what must fall, falls."""

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from plain import plain_regressor

import kernelpursuit.dictionary.base
import kernelpursuit.engine.engine
from kernelpursuit import _native, pursuit_path
from kernelpursuit.dictionary import Constant, KernelAtoms, widths
from kernelpursuit.kernels import RBF, Laplacian

CRITERIA = ("cost", "residual_norm", "dof", "loo", "loo_se")
SELECTIONS = ("gain", "correlation", "residual")
PENALTIES = (None, "ridge", "rkhs", "nugget")

settings_of_a_fit = st.fixed_dictionaries(
    {
        "selection": st.sampled_from(SELECTIONS),
        "penalty": st.sampled_from(PENALTIES),
        "alpha": st.sampled_from([1e-4, 0.03, 2.0]),
        "fit_intercept": st.booleans(),
        "gamma": st.sampled_from([0.5, 2.0]),
    }
)


@st.composite
def problems(draw, least=24, most=48):
    """Generic data: no ties, nothing dependent to rounding within the few atoms that are picked."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, q = draw(st.integers(least, most)), draw(st.integers(2, 4)), draw(st.integers(1, 2))
    X = rng.normal(size=(n, d)) * 2
    Y = np.sin(X @ rng.normal(size=(d, q))) + 0.3 * rng.normal(size=(n, q))
    weights = rng.uniform(0.2, 3.0, size=n) if draw(st.booleans()) else None
    return X, Y, weights


def fit(X, Y, weights=None, max_atoms=6, **settings):
    return pursuit_path(X, Y, sample_weight=weights, max_atoms=max_atoms, **settings)


def assert_same_criteria(path, other, rtol=1e-9):
    for name in CRITERIA:
        first, second = getattr(path, name), getattr(other, name)
        # A row all but interpolated has a leave-one-out error that is as large as it is uncertain.
        doubt = np.where(first > 100 * first[0], 1e3, 1.0) if name.startswith("loo") else 1.0
        finite = np.isfinite(first)
        np.testing.assert_array_equal(finite, np.isfinite(second), err_msg=name)
        off = np.abs(first[finite] - second[finite]) / np.broadcast_to(doubt, first.shape)[finite]
        assert (off <= rtol * (np.abs(first[finite]) + np.abs(first[0]))).all(), (name, first, second)


def assert_same_path(path, other, rtol=1e-9):
    np.testing.assert_array_equal(path.atom, other.atom)
    assert_same_criteria(path, other, rtol)


def predictions(path, X, new, gamma):
    K = np.exp(-gamma * ((new[:, None, :] - X[path.atom]) ** 2).sum(axis=-1))
    return K @ path.coef(path.n_steps) + path.intercept(path.n_steps)


@given(problems(), settings_of_a_fit, st.integers(1, 5), st.sampled_from([None, 3]))
def test_prefix(problem, settings, k, kappa):
    """The path to k atoms is the beginning of every longer one."""
    settings |= {"candidates": kappa or "all", "random_state": 5}
    longer, shorter = fit(*problem, max_atoms=8, **settings), fit(*problem, max_atoms=k, **settings)
    k = shorter.n_steps
    np.testing.assert_array_equal(shorter.atom, longer.atom[:k])
    for name in CRITERIA:
        np.testing.assert_allclose(getattr(shorter, name), getattr(longer, name)[: k + 1], rtol=1e-13)
    np.testing.assert_allclose(shorter.weights(k), longer.weights(k), rtol=1e-12)


@given(problems(), st.integers(1, 5))
def test_prefix_of_random_selection(problem, k):
    settings = {"selection": "random", "random_state": 9, "gamma": 1.0}
    longer, shorter = fit(*problem, max_atoms=10, **settings), fit(*problem, max_atoms=k, **settings)
    np.testing.assert_array_equal(shorter.atom, longer.atom[:k])


@given(problems(), settings_of_a_fit, st.randoms(use_true_random=False))
def test_row_permutation(problem, settings, random):
    X, Y, weights = problem
    order = np.array(random.sample(range(len(X)), len(X)))
    path = fit(X, Y, weights, **settings)
    permuted = fit(X[order], Y[order], None if weights is None else weights[order], **settings)
    np.testing.assert_array_equal(order[permuted.atom], path.atom)
    assert_same_criteria(path, permuted, rtol=1e-8)
    new = X[:5] + 0.1
    first, second = (
        predictions(path, X, new, settings["gamma"]),
        predictions(permuted, X[order], new, settings["gamma"]),
    )
    np.testing.assert_allclose(second, first, rtol=1e-7, atol=1e-7)


@given(problems(), settings_of_a_fit, st.integers(-400, 400), st.booleans())
def test_target_scaling_by_a_power_of_two_is_exact(problem, settings, exponent, negative):
    X, Y, weights = problem
    factor = np.ldexp(-1.0 if negative else 1.0, exponent)
    path, scaled = fit(X, Y, weights, **settings), fit(X, Y * factor, weights, **settings)
    np.testing.assert_array_equal(scaled.atom, path.atom)
    np.testing.assert_array_equal(scaled.weights(scaled.n_steps), path.weights(path.n_steps) * factor)
    np.testing.assert_array_equal(scaled.residual_norm, path.residual_norm * abs(factor))
    for name in ("cost", "loo", "loo_se"):
        np.testing.assert_array_equal(getattr(scaled, name), getattr(path, name) * factor**2)
    np.testing.assert_array_equal(scaled.dof, path.dof)


@given(problems(), settings_of_a_fit, st.sampled_from([1e-150, 1e150, 3e-7, -0.1, 7e11]))
def test_target_scaling(problem, settings, factor):
    X, Y, weights = problem
    path, scaled = fit(X, Y, weights, **settings), fit(X, Y * factor, weights, **settings)
    np.testing.assert_array_equal(scaled.atom, path.atom)
    np.testing.assert_allclose(scaled.weights(scaled.n_steps) / factor, path.weights(path.n_steps), rtol=1e-8)
    for name in ("cost", "loo", "loo_se"):
        wanted, got = getattr(path, name), getattr(scaled, name) / factor / factor
        # What is left of 1 - leverage in a row all but interpolated is lost in as many digits as its error is larger.
        lost = np.maximum(1.0, np.sqrt(path.loo / path.loo[0])) if name.startswith("loo") else np.ones(len(wanted))
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(got[~finite], wanted[~finite], err_msg=name)
        off = np.abs(got[finite] - wanted[finite])
        assert (off <= 1e-10 * lost[finite] * wanted[finite]).all(), (name, wanted, got)


@given(problems(), settings_of_a_fit, st.sampled_from([-1e3, 0.5, 40.0]))
def test_target_shift_moves_the_intercept_alone(problem, settings, shift):
    X, Y, weights = problem
    settings |= {"fit_intercept": True}
    path, shifted = fit(X, Y, weights, **settings), fit(X, Y + shift, weights, **settings)
    assert_same_path(path, shifted, rtol=1e-8)
    k = path.n_steps
    np.testing.assert_allclose(shifted.coef(k), path.coef(k), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(shifted.intercept(k) - shift, path.intercept(k), rtol=1e-6, atol=1e-8)


@given(
    problems(),
    settings_of_a_fit.filter(lambda s: s["penalty"] != "nugget"),
    st.lists(st.integers(0, 11), min_size=1, max_size=5),
    st.booleans(),
)
def test_a_duplicated_row_is_a_row_of_weight_two(problem, settings, again, by_scale):
    """A nugget is left out: it belongs to a row, and two rows have two."""
    X, Y, weights = problem
    weights = np.ones(len(X)) if weights is None else np.ceil(weights)
    settings |= {"gamma": "scale"} if by_scale else {}
    counts = weights.copy()
    np.add.at(counts, again, weights[again])
    weighted = fit(X, Y, counts, **settings)
    repeated = fit(
        np.vstack([X, X[again]]), np.vstack([Y, Y[again]]), np.concatenate([weights, weights[again]]), **settings
    )
    assert_same_path(weighted, repeated, rtol=1e-8)
    np.testing.assert_allclose(
        repeated.weights(repeated.n_steps), weighted.weights(weighted.n_steps), rtol=1e-6, atol=1e-8
    )


@given(problems(), settings_of_a_fit, st.sets(st.integers(0, 11), min_size=1, max_size=8), st.booleans())
def test_zero_weight_is_removal(problem, settings, removed, by_scale):
    X, Y, weights = problem
    weights = np.ones(len(X)) if weights is None else weights
    settings |= {"gamma": "scale"} if by_scale else {}
    zeroed = weights.copy()
    zeroed[list(removed)] = 0.0
    kept = np.flatnonzero(zeroed)
    with_zeros, without = fit(X, Y, zeroed, **settings), fit(X[kept], Y[kept], weights[kept], **settings)
    np.testing.assert_array_equal(with_zeros.atom, kept[without.atom])
    assert_same_criteria(with_zeros, without, rtol=1e-8)


@pytest.mark.parametrize("n_columns", [15, 20, 30])
def test_zero_weight_removes_a_row_and_no_column_of_a_precomputed_matrix(n_columns, rng):
    """Columns of a matrix that is no Gram matrix have nothing to do with its rows, square or not."""
    D, y, weights = rng.normal(size=(20, n_columns)), rng.normal(size=20), np.ones(20)
    first = fit(D, y, None, 1, kernel="precomputed", penalty=None).atom[0]
    weights[min(first, 19)] = 0.0
    kept = np.flatnonzero(weights)
    settings = {"kernel": "precomputed", "penalty": None, "max_atoms": 10}
    assert_same_path(fit(D, y, weights, **settings), fit(D[kept], y[kept], **settings))


@given(problems(14, 60), settings_of_a_fit, st.integers(4, 12))
def test_cost_never_rises(problem, settings, max_atoms):
    X, Y, weights = problem
    path = fit(X, Y, weights, max_atoms, **settings)
    assert (np.diff(path.cost) <= 1e-13 * path.cost[0]).all()
    assert (path.residual_norm**2 <= path.cost * (1 + 1e-12)).all()
    steps = np.diff(path.dof)
    assert (steps > -1e-12).all()
    assert (steps < 1 + 1e-10).all()
    if settings["penalty"] != "nugget":  # which a row left out takes with it: its residual may be larger with it
        assert (path.loo * path.total_weight >= path.target_residual.mean(axis=1) * (1 - 1e-12)).all()
    assert len(set(path.atom)) == path.n_steps


@every_case("alpha", [1e-12, 1e-6, 1.0])
@every_case("penalty", ["ridge", "rkhs", "nugget"])
@every_case("selection", [*SELECTIONS, "random"])
def test_cost_never_rises_on_smooth_kernels(selection, penalty, alpha, rng):
    """All atoms of a Gram matrix whose condition number is beyond 1e16: those that are dependent stay out."""
    X = rng.uniform(-1, 1, size=(120, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=120)
    path = fit(X, y, None, 120, gamma=0.1, selection=selection, penalty=penalty, alpha=alpha)
    assert (np.diff(path.cost) <= 1e-12 * path.cost[0]).all()
    assert (np.diff(path.dof) > -1e-9).all()
    assert not set(path.atom) & {atom for _, atom in path.skipped}


@given(problems(), settings_of_a_fit)
def test_fitting_leaves_its_arguments_alone(problem, settings):
    X, Y, weights = problem
    before = [None if a is None else a.copy() for a in problem]
    for array in filter(lambda a: a is not None, problem):
        array.flags.writeable = False
    fit(X, Y, weights, **settings)
    for array, copied in zip(problem, before):
        np.testing.assert_array_equal(array, copied)


KERNELS = {
    "rbf": RBF(gamma=1.0),
    "widths": widths("rbf", [0.2, 2.0]),
    "callable": lambda A, C: np.cos(A @ C.T) + A[:, :1],
    "mixed": KernelAtoms(Laplacian(gamma=0.5)) + Constant(),
}


def large_problem(n=270):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)


def assert_same_bits(path, other):
    """Sums of the native core have the same bits however they are divided; those of the NumPy twin nearly so."""
    assert_same_path(path, other, rtol=1e-10)
    if _native.BACKEND == "native":
        for name in CRITERIA:
            np.testing.assert_array_equal(getattr(path, name), getattr(other, name), err_msg=name)
        np.testing.assert_array_equal(path.coef(path.n_steps), other.coef(other.n_steps))


@pytest.mark.parametrize("float64_up_to", [10**9, 0], ids=["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("selection", ["gain", "correlation"])
def test_the_memory_budget_changes_nothing(monkeypatch, kernel, selection, float64_up_to):
    monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", float64_up_to)
    X, y, weights = large_problem()
    settings = {"kernel": KERNELS[kernel], "selection": selection, "fit_intercept": True}
    paths = [fit(X, y, weights, 20, memory_budget=budget, **settings) for budget in (0, 200_000, 2**30)]
    for path in paths[1:]:
        assert_same_bits(paths[0], path)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_size_of_tiles_changes_nothing(monkeypatch, kernel):
    X, y, weights = large_problem()
    settings = {"kernel": KERNELS[kernel], "memory_budget": 0}
    whole = fit(X, y, weights, 15, **settings)
    monkeypatch.setattr(kernelpursuit.dictionary.base, "TILE_BYTES", 7 * 270 * 8)
    assert_same_bits(whole, fit(X, y, weights, 15, **settings))


@pytest.mark.parametrize("budget", [0, 2**30])
@pytest.mark.parametrize("kernel", ["rbf", "widths"])
@pytest.mark.parametrize("float64_up_to", [10**9, 0], ids=["float64", "float32"])
def test_the_number_of_threads_changes_nothing(monkeypatch, kernel, budget, float64_up_to):
    monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", float64_up_to)
    X, y, weights = large_problem(600)
    settings = {"kernel": KERNELS[kernel], "memory_budget": budget}
    one, *others = (fit(X, y, weights, 20, n_jobs=n, **settings) for n in (1, 2, 3))
    for path in others:
        assert_same_bits(one, path)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("selection", ["gain", "correlation"])
@pytest.mark.parametrize("seed", range(3))
def test_float32_scores_pick_the_same_atoms(monkeypatch, selection, penalty, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
    settings = {"gamma": 1.0, "selection": selection, "penalty": penalty, "fit_intercept": True}
    exact = fit(X, y, None, 40, **settings)
    monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", 0)
    # The solution is made of float64 columns in both cases.
    assert_same_path(exact, fit(X, y, None, 40, **settings), rtol=1e-12)


class TestDependentAtoms:
    def test_a_dependent_column_is_skipped_and_recorded(self, rng):
        D = rng.normal(size=(30, 6))
        D[:, 5] = D[:, 0] + 2 * D[:, 1]
        y = D[:, 0] + D[:, 1] + 0.1 * rng.normal(size=30)
        for selection in ("gain", "correlation", "random"):
            settings = {"kernel": "precomputed", "selection": selection, "penalty": None, "random_state": 0}
            path = fit(D, y, None, 6, **settings)
            assert path.n_steps == 5
            assert path.atom.tolist() == list(dict.fromkeys(path.atom.tolist()))
            assert path.end_reason == "every atom left is numerically dependent on the picked ones"
            (missing,) = set(range(6)) - set(path.atom)
            assert missing in (0, 1, 5)
            assert {atom for _, atom in path.skipped} <= {missing}
            if selection == "random":
                assert path.skipped

    @pytest.mark.parametrize("selection", ["gain", "correlation", "residual", "random"])
    @pytest.mark.parametrize("penalty", [None, "rkhs"])
    @pytest.mark.parametrize("kappa", ["all", 4])
    def test_rank_is_the_end(self, rng, selection, penalty, kappa):
        """A linear kernel in two features has two atoms to give, however many rows there are."""
        if selection == "random":
            kappa = "all"  # one atom is drawn, and looked at
        X = rng.normal(size=(25, 2))
        y = X[:, 0] + rng.normal(size=25)
        settings = {"kernel": "linear", "gamma": 1.0, "selection": selection, "penalty": penalty, "alpha": 1e-3}
        path = fit(X, y, None, 25, candidates=kappa, random_state=1, **settings)
        assert path.n_steps == 2
        assert not set(path.atom) & {atom for _, atom in path.skipped}
        assert len({atom for _, atom in path.skipped}) == len(path.skipped)
        assert "dependent" in path.end_reason or "lowers the cost" in path.end_reason

    def test_a_zero_column_is_never_picked(self, rng):
        D = rng.normal(size=(20, 5))
        D[:, 2] = 0.0
        for selection in ("gain", "correlation", "random"):
            path = fit(D, rng.normal(size=20), None, 5, kernel="precomputed", selection=selection, penalty=None)
            assert sorted(path.atom) == [0, 1, 3, 4]

    def test_the_constant_is_dependent_on_the_intercept(self, rng):
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        kernel = KernelAtoms(RBF(gamma=1.0)) + Constant()
        path = fit(X, y, None, 21, kernel=kernel, penalty=None, fit_intercept=True)
        assert 20 not in path.atom
        assert 0 in fit(X, y + 9, None, 3, kernel=Constant() + KernelAtoms(RBF(gamma=1.0)), penalty=None).atom

    def test_the_end_is_named(self, rng):
        D = np.linalg.qr(rng.normal(size=(10, 4)))[0]
        exact = fit(D, D[:, 2] - 2 * D[:, 1], None, 4, kernel="precomputed", penalty=None)
        assert sorted(exact.atom) == [1, 2]
        assert exact.end_reason == "the residual is zero to rounding"
        other = np.linalg.svd(D)[0][:, -1]
        useless = fit(D, other, None, 4, kernel="precomputed", penalty=None)
        assert useless.n_steps == 0
        assert useless.end_reason == "no atom lowers the cost any more"


class TestTies:
    @pytest.mark.parametrize("selection", ["gain", "correlation"])
    @pytest.mark.parametrize("penalty", [None, "ridge"])
    @pytest.mark.parametrize("float64_up_to", [10**9, 0], ids=["float64", "float32"])
    def test_of_equal_columns_the_first(self, monkeypatch, rng, selection, penalty, float64_up_to):
        monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", float64_up_to)
        columns, y = rng.normal(size=(30, 7)), rng.normal(size=30)
        copies = np.array([3, 0, 6, 3, 1, 0, 2, 4, 5, 6, 1])
        alone = fit(columns, y, None, 7, kernel="precomputed", selection=selection, penalty=penalty)
        path = fit(columns[:, copies], y, None, 7, kernel="precomputed", selection=selection, penalty=penalty)
        first = [copies.tolist().index(j) for j in range(7)]
        if penalty is None:
            assert path.atom.tolist() == [first[j] for j in alone.atom]
        else:
            # Under a ridge a second copy shares the weight of the first; the first still comes first.
            position = {atom: k for k, atom in enumerate(path.atom)}
            assert all(first[copies[j]] in position for j in path.atom)
            assert all(position[first[copies[j]]] <= position[j] for j in path.atom)

    @pytest.mark.parametrize("selection", SELECTIONS)
    def test_mirror_images(self, selection):
        """Data symmetric about 0: a row and its mirror image score the same but for rounding."""
        half = np.array([0.4, 1.1, 1.9, 2.7, 3.6])
        X = np.concatenate([-half[::-1], half])[:, None]
        y = np.cos(1.3 * X[:, 0]) + 0.1 * X[:, 0] ** 2
        path = fit(X, y, None, 1, gamma=0.5, selection=selection)
        assert path.atom[0] < 5
        backwards = fit(X[::-1], y[::-1], None, 1, gamma=0.5, selection=selection)
        assert backwards.atom[0] == path.atom[0]

    def test_scaled_copies_tie(self, rng):
        """Columns in different units are the same atom, and rounding must not decide between them."""
        column, y = rng.normal(size=40), rng.normal(size=40)
        D = np.stack([column / 3, column * 1e3, column, column / 7], axis=1)
        for order in ([0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0]):
            for selection in ("gain", "correlation"):
                path = fit(D[:, order], y, None, 1, kernel="precomputed", selection=selection, penalty=None)
                assert path.atom.tolist() == [0]


@given(problems(), settings_of_a_fit)
def test_staged_predictions_are_the_models_along_the_path(problem, settings):
    X, Y, weights = problem
    model = plain_regressor(max_atoms=5, stop="max", **settings).fit(X, Y, sample_weight=weights)
    staged = list(model.staged_predict(X))
    assert len(staged) == model.path_.n_steps + 1
    for k, prediction in enumerate(staged):
        np.testing.assert_allclose(prediction, model.at(k).predict(X), rtol=1e-8, atol=1e-8)
