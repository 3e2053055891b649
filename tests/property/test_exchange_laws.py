"""Atoms that leave: the basis stays orthonormal, and every model of the path, as it was, can be had again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import Model
from plain import plain_regressor
from test_basis_laws import EPS, RATIO, factor_ratio, penalty_between, residual_ratio, run

from kernelpursuit import pursuit_path
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit.fits import Outcome

PENALTIES = [(None, 0.0), ("ridge", 0.1), ("rkhs", 0.01), ("nugget", 0.1)]
# Seeds and penalties for which the narrow kernel below has several exchanges among 40 steps.
GAMMA = 3.0
SEEDS = [0, 5]


def noise(seed, n=60, n_targets=2):
    """Targets that no atom has anything to do with, so that early picks are soon regretted."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, size=(n, 3)), rng.normal(size=(n, n_targets)), rng.uniform(0.3, 3.0, size=n)


def oracle(X, Y, weights, penalty, alpha, intercept, gamma=GAMMA):
    K = RBF(gamma=gamma)(X)
    total = len(X) if weights is None else weights.sum()
    L = {"ridge": alpha * np.eye(len(X)), "rkhs": total * alpha * K}.get(penalty)
    nugget = alpha if penalty == "nugget" else 0.0
    return Model(K + nugget * np.eye(len(X)), Y, L, weights, intercept, nugget)


def inner_product(basis):
    """||V V' + T T' - I||, the directions' products in the coordinates of the penalty."""
    V, T = basis.V.astype(np.longdouble), basis.T.astype(np.longdouble)
    return float(np.abs(V @ V.T + T @ T.T - np.eye(basis.size)).max())


@pytest.mark.parametrize(
    ("penalty", "alpha", "framed"), [(None, 0.0, False), ("ridge", 0.1, True), ("rkhs", 0.01, True)]
)
def test_thousands_of_swaps(penalty, alpha, framed, rng):
    """Atoms leave from anywhere and come back; nothing that rounding left in the basis adds up."""
    X, Y, weights = noise(1, n=70)
    y, weights = Y[:, 0], weights if framed else None
    settings = {"penalty": penalty, "alpha": alpha, "weights": weights, "intercept": framed}
    state, _ = run(RBF(gamma=GAMMA), X, y, order=range(20), **settings)
    left = set()
    for t in range(2000):
        leaving = state.atoms[t % 20 if t % 3 else -1]
        coming = int(rng.choice(np.setdiff1d(np.arange(70), state.atoms)))
        assert state.swap(leaving, coming, always=True)
        left.add(leaving)
        assert (leaving not in state.atoms, state.atoms[-1]) == (True, coming)
    assert len(left) == 70
    assert state.basis.size == 20 + framed
    assert inner_product(state.basis) < 50 * EPS
    root = np.ones(70) if weights is None else np.sqrt(weights)
    fixed = root[None, :] if framed else np.empty((0, 70))
    columns = np.vstack([fixed, state.engine.columns(np.array(state.atoms))]).T
    assert residual_ratio(state, columns) < RATIO
    assert factor_ratio(state, columns) < RATIO
    assert not np.tril(state.basis.R, -1).any()
    # What is carried along from swap to swap, against the directions themselves.
    V, b = state.basis.V, state.b[: state.basis.size, 0]
    np.testing.assert_allclose(state.residual[0], root * y - b @ V, atol=1e-11)
    np.testing.assert_allclose(state.leverage, np.square(V).sum(axis=0), atol=1e-11)
    assert state.residual_norm == pytest.approx(np.linalg.norm(state.residual), rel=1e-12)
    if penalty in ("ridge", "rkhs"):
        assert state.basis.n_coordinates == 70  # an atom keeps its coordinate when it leaves, and has but one
        np.testing.assert_allclose(state.basis.C.T @ state.basis.C, lifted_penalty(state), atol=1e-12)
    model = oracle(X, y, weights, penalty, alpha, framed)
    np.testing.assert_allclose(state.weights(), model.fit(state.atoms), atol=1e-10)
    assert state.cost() == pytest.approx(model.cost(state.atoms), rel=1e-10)


def lifted_penalty(state):
    """L over the atoms that ever had a coordinate, in the order in which they got it."""
    atoms = np.array(list(state.lifted))
    between = state.penalty.between(atoms, atoms)
    return np.diag(state.own_penalties[atoms]) if between is None else between


@given(
    st.integers(0, 10**6),
    st.sampled_from(PENALTIES),
    st.booleans(),
    st.booleans(),
    st.integers(1, 30),
)
def test_every_model_of_any_history(seed, penalty, intercept, weighted, n_steps):
    """Atoms come, and now and then one leaves for another, first or last or in between."""
    (penalty, alpha), rng = penalty, np.random.default_rng(seed)
    X, Y, weights = noise(seed, n=40)
    weights = weights if weighted else None
    state, _ = run(
        RBF(gamma=GAMMA), X, Y[:, 0], order=(), penalty=penalty, alpha=alpha, weights=weights, intercept=intercept
    )
    seen = [(state.atoms.copy(), state.weights())]
    for _ in range(n_steps):
        free = np.setdiff1d(np.arange(40), state.atoms)
        assert state.add(state.examine(rng.choice(free, size=1)), 0) is Outcome.ADDED
        free = np.setdiff1d(free, state.atoms)
        if rng.random() < 0.6 and len(free):
            assert state.swap(int(rng.choice(state.atoms)), int(rng.choice(free)), always=True)
        seen.append((state.atoms.copy(), state.weights()))
    models, used = state.models(1.0), state.used
    assert len(set(used.tolist())) == len(used)
    model = oracle(X, Y[:, 0], weights, penalty, alpha, intercept)
    for k, (atoms, then) in enumerate(seen):
        assert used[models.members(k)].tolist() == atoms
        np.testing.assert_allclose(models.weights(k), then, atol=1e-11)
        np.testing.assert_allclose(models.weights(k), model.fit(atoms), atol=1e-9)


@pytest.fixture(scope="module", params=[(s, p) for s in SEEDS for p in PENALTIES], ids=lambda p: f"{p[1][0]}-{p[0]}")
def fitted(request):
    """A model whose path has swaps, some of them of atoms that come again, and its oracle."""
    seed, (penalty, alpha) = request.param
    X, Y, weights = noise(seed)
    model = plain_regressor(
        gamma=GAMMA,
        selection="residual",
        exchange=True,
        penalty=penalty,
        alpha=alpha,
        max_atoms=40,
        stop="max",
    ).fit(X, Y, sample_weight=weights)
    assert len(model.path_.swaps) >= 2
    assert len(set(model.path_.atom)) < 40
    return model, oracle(X, Y, weights, penalty, alpha, True), X


class TestPathWithSwaps:
    def test_atoms(self, fitted):
        path, swaps = fitted[0].path_, {k: (leaving, coming) for k, leaving, coming in fitted[0].path_.swaps}
        assert len(swaps) == len(path.swaps)
        atoms = set()
        for k in range(1, path.n_steps + 1):
            assert path.atom[k - 1] not in atoms
            atoms.add(int(path.atom[k - 1]))
            if k in swaps:
                leaving, coming = swaps[k]
                assert leaving in atoms
                assert coming not in atoms
                atoms = atoms - {leaving} | {coming}
            assert set(path.atoms(k).tolist()) == atoms
            assert len(path.atoms(k)) == path.size[k] == k

    def test_weights_are_least_squares_fits(self, fitted):
        (model, want, _), path = fitted, fitted[0].path_
        for k in range(path.n_steps + 1):
            np.testing.assert_allclose(path.weights(k), want.fit(path.atoms(k).tolist()), atol=1e-9)
        np.testing.assert_array_equal(model.coef_, path.coef(40).T)

    def test_factors_are_those_of_the_columns(self, fitted):
        (_, want, _), path = fitted, fitted[0].path_
        root = np.sqrt(want.weights)[:, None]
        for k in range(path.n_steps + 1):
            factor, atoms = path.factor(k), path.atoms(k).tolist()
            A, L = root * want.columns(atoms), want.penalty(atoms)
            inner = A.T @ A + (0.0 if L is None else L)
            assert not np.tril(factor.R, -1).any()
            np.testing.assert_allclose(factor.R.T @ factor.R, inner, atol=1e-12 * np.abs(inner).max())
            np.testing.assert_allclose(factor.R @ path.weights(k), factor.b, atol=1e-10)

    def test_criteria(self, fitted):
        (_, want, _), path = fitted, fitted[0].path_
        assert (np.diff(path.cost) < 0).all()
        for k in range(0, path.n_steps + 1, 3):
            atoms = path.atoms(k).tolist()
            assert path.cost[k] == pytest.approx(want.cost(atoms), rel=1e-10)
            assert path.dof[k] == pytest.approx(np.trace(want.hat(atoms)), rel=1e-10)
            squares = want.weights @ np.square(want.predicting_residual(atoms))
            np.testing.assert_allclose(path.target_residual[k], squares, rtol=1e-9)

    @pytest.mark.parametrize("k", [5, 20, 33, 40])
    def test_leaving_rows_out(self, fitted, k):
        (_, want, _), path = fitted, fitted[0].path_
        atoms = path.atoms(k).tolist()
        mean, error = want.leave_one_out(atoms)
        # A row that is all but interpolated leaves little to divide by.
        left = 1.0 - np.diag(want.hat(atoms)) / np.maximum(want.weights, 1.0)
        slack = 1e-9 + 1000 * EPS / left.min()
        assert slack < 1e-3
        assert path.loo[k] == pytest.approx(mean, rel=slack)
        assert path.loo_se[k] == pytest.approx(error, rel=slack)

    def test_predictions_and_their_spread_are_those_of_a_fit_on_these_atoms(self, fitted, rng):
        model, want, X = fitted
        new = rng.uniform(-2, 2, size=(7, 3))
        staged = list(model.staged_predict(new))
        around = [k + d for k, _, _ in model.path_.swaps for d in (-1, 0) if k + d]
        for k in sorted({40, *around[:4], *around[-2:]}):
            here = model.at(k)
            fresh = plain_regressor(
                gamma=GAMMA,
                selection="random",
                candidates=here.center_indices_,
                penalty=model.penalty,
                alpha=model.alpha,
                stop="max",
            ).fit(X, want.y, sample_weight=want.weights)
            assert fresh.n_atoms_ == k
            for got, expected in zip(here.predict(new, return_std=True), fresh.predict(new, return_std=True)):
                np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(staged[k], here.predict(new), atol=1e-10)


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_swap_lowers_the_cost_and_the_weighted_residuals_decide(seed, penalty, alpha):
    """Nair algorithm 1: out goes the smallest residual of the model, in comes the largest outside, where it pays."""
    X, Y, weights = noise(seed)
    path = pursuit_path(
        X, Y, gamma=GAMMA, selection="residual", exchange=True, penalty=penalty, alpha=alpha, max_atoms=40,
        sample_weight=weights,
    )  # fmt: skip
    model = oracle(X, Y, weights, penalty, alpha, False)
    assert path.swaps
    for k, leaving, coming in path.swaps:
        before = [*path.atoms(k - 1).tolist(), int(path.atom[k - 1])]
        residual = np.square(model.residual(before)).sum(axis=1)
        assert leaving == before[np.argmin(residual[before])]
        outside = np.setdiff1d(np.arange(60), before)
        assert coming == outside[np.argmax(residual[outside])]
        assert path.cost[k] < model.cost(before)


@pytest.mark.parametrize("selection", ["gain", "correlation"])
@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("candidates", ["all", 12])
def test_scores_after_a_swap_are_those_of_the_atoms_there_are(selection, penalty, alpha, candidates):
    """Before every step, those after a swap among them, no atom that is looked at has a better score."""
    n_after = 0
    for seed in (2, 3, 6, 10):
        X, Y, weights = noise(seed, n_targets=1)
        path = pursuit_path(
            X, Y, gamma=1.0, selection=selection, exchange=True, penalty=penalty, alpha=alpha, max_atoms=25,
            sample_weight=weights, candidates=candidates, random_state=1,
        )  # fmt: skip
        model = oracle(X, Y, weights, penalty, alpha, False, gamma=1.0)
        n_after += sum(k < path.n_steps for k, _, _ in path.swaps)
        for k in range(path.n_steps):
            atoms = path.atoms(k).tolist()
            left = np.setdiff1d(np.arange(60), atoms)
            if candidates != "all":
                left = np.random.default_rng([1, k + 1, 1]).choice(left, size=min(12, len(left)), replace=False)
            scores = {j: getattr(model, selection)(atoms, j) for j in left.tolist()}
            assert scores[int(path.atom[k])] >= max(scores.values()) * (1 - 1e-8), (seed, k)
    assert n_after


def test_the_last_atom_may_leave_at_once():
    """The step's own atom has the smallest residual: out it goes, and the model before it stays as it was."""
    seen = 0
    for seed in range(12):
        X, Y, weights = noise(seed, n_targets=1)
        path = pursuit_path(
            X, Y, gamma=GAMMA, selection="residual", exchange=True, penalty="ridge", alpha=3.0, sample_weight=weights
        )
        model = oracle(X, Y, weights, "ridge", 3.0, False)
        for k, leaving, coming in path.swaps:
            if leaving == path.atom[k - 1]:
                seen += 1
                assert coming == path.atoms(k)[-1]
                assert path.atoms(k)[:-1].tolist() == path.atoms(k - 1).tolist()
        for k in range(0, path.n_steps + 1, 7):
            np.testing.assert_allclose(path.weights(k), model.fit(path.atoms(k).tolist()), atol=1e-9)
    assert seen


@given(st.sampled_from(SEEDS), st.sampled_from(PENALTIES), st.integers(1, 30))
def test_prefix(seed, penalty, k):
    X, Y, weights = noise(seed)
    settings = {"gamma": GAMMA, "selection": "residual", "exchange": True, "penalty": penalty[0], "alpha": penalty[1]}
    longer, shorter = (pursuit_path(X, Y, max_atoms=m, sample_weight=weights, **settings) for m in (35, k))
    np.testing.assert_array_equal(shorter.atom, longer.atom[:k])
    assert shorter.swaps == [swap for swap in longer.swaps if swap[0] <= k]
    np.testing.assert_array_equal(shorter.atoms(k), longer.atoms(k))
    np.testing.assert_allclose(shorter.weights(k), longer.weights(k), atol=1e-11)


@pytest.mark.parametrize("update", ["orthogonal", "minres"])
@pytest.mark.parametrize("seed", [0, 5])
def test_target_scaling_by_a_power_of_two_is_exact(seed, update):
    X, Y, weights = noise(seed)
    settings = {"gamma": GAMMA, "selection": "residual", "exchange": True, "penalty": None, "update": update}
    path, scaled = (pursuit_path(X, Y * s, sample_weight=weights, max_atoms=30, **settings) for s in (1.0, -(2.0**60)))
    assert path.swaps
    assert scaled.swaps == path.swaps
    for k in range(31):
        np.testing.assert_array_equal(scaled.weights(k), path.weights(k) * -(2.0**60))


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES[:3])
def test_a_duplicated_row_is_a_row_of_weight_two(penalty, alpha):
    """A copy of an atom of the model may have the largest residual of all, and is not the one to come."""
    again, n_swaps = np.arange(0, 60, 2), 0
    number, counts = np.concatenate([np.arange(60), again]), np.tile([2.0, 1.0], 30)
    for seed, gamma in ((0, GAMMA), (4, GAMMA), (5, GAMMA), (1, 0.5), (7, 0.5)):
        X, Y, _ = noise(seed)
        settings = {"gamma": gamma, "selection": "residual", "exchange": True, "penalty": penalty, "alpha": alpha}
        weighted = pursuit_path(X, Y, sample_weight=counts, max_atoms=25, **settings)
        repeated = pursuit_path(np.vstack([X, X[again]]), np.vstack([Y, Y[again]]), max_atoms=25, **settings)
        assert [(k, number[out], number[come]) for k, out, come in repeated.swaps] == weighted.swaps
        np.testing.assert_array_equal(number[repeated.atom], weighted.atom)
        np.testing.assert_allclose(repeated.cost, weighted.cost, rtol=1e-9)
        n_swaps += len(weighted.swaps)
    assert n_swaps >= 3


def test_penalty_between_is_symmetric_in_the_basis():
    """What the helpers of this file take for L is what the basis has coordinates of."""
    X, Y, _ = noise(0)
    state, _ = run(RBF(gamma=GAMMA), X, Y[:, 0], order=range(6), penalty="rkhs", alpha=0.01)
    state.swap(2, 9, always=True)
    C = state.basis.C[:, [state.lifted[atom] for atom in state.atoms]]
    np.testing.assert_allclose(C.T @ C, penalty_between(state), atol=1e-13)
