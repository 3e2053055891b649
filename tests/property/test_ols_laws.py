"""The penalty of orthogonalised atoms: the paper's path also with weights, an intercept and several targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import Model
from papers import hagiwara
from plain import plain_regressor
from test_path_laws import problems

import kernelpursuit.engine.engine
from kernelpursuit import pursuit_path
from kernelpursuit.kernels import RBF

GAMMAS = st.sampled_from([0.5, 2.0])
ALPHAS = st.sampled_from([1e-4, 0.03, 2.0])


def fit(X, Y, weights, alpha, gamma, intercept, max_atoms=8, **settings):
    return pursuit_path(
        X, Y, sample_weight=weights, alpha=alpha, gamma=gamma, fit_intercept=intercept, penalty="ols",
        max_atoms=max_atoms, **settings,
    )  # fmt: skip


def on_the_rows(X, Y, weights, gamma, intercept):
    """Columns and targets times the root of the weights, without what the intercept explains; extended precision."""
    s = (np.ones(len(X)) if weights is None else weights).astype(np.longdouble)
    A = np.hstack([RBF(gamma=gamma)(X), Y]).astype(np.longdouble)
    if intercept:
        A = A - s @ A / s.sum()
    A = np.sqrt(s)[:, None] * A
    return A[:, : len(X)], A[:, len(X) :]


def orthogonalised(G, atoms):
    """Q and the unit upper triangular U with G[:, atoms] = Q U."""
    Q, U = np.zeros((len(G), 0), dtype=G.dtype), np.eye(len(atoms), dtype=G.dtype)
    for k, atom in enumerate(atoms):
        q = G[:, atom].copy()
        for _ in range(3):
            beta = (Q.T @ q) / np.square(Q).sum(axis=0)
            q, U[:k, k] = q - Q @ beta, U[:k, k] + beta
        Q = np.column_stack([Q, q])
    return Q, U


@given(problems(), ALPHAS, GAMMAS, st.booleans())
def test_the_paper_with_weights_and_an_intercept(problem, alpha, gamma, intercept):
    X, Y, weights = problem
    Y = Y[:, :1]
    path = fit(X, Y, weights, alpha, gamma, intercept)
    G, y = on_the_rows(X, Y, weights, gamma, intercept)
    trace, reductions, _, costs = hagiwara.ols(G, y[:, 0], alpha, 8)
    n_clear = trace.n_clear
    assert n_clear >= 4
    assert path.atom[:n_clear].tolist() == trace.picks[:n_clear]
    np.testing.assert_allclose(path.cost[: n_clear + 1], costs[: n_clear + 1], rtol=1e-9)
    np.testing.assert_allclose(-np.diff(path.cost)[:n_clear], reductions[:n_clear], rtol=1e-7, atol=1e-11 * costs[0])
    s = np.ones(len(X)) if weights is None else weights
    for k in range(n_clear + 1):
        w = trace.weights[k]
        np.testing.assert_allclose(path.coef(k), w[path.atoms(k)], rtol=1e-7, atol=1e-8)
        left = Y - RBF(gamma=gamma)(X) @ w
        constant = np.average(left, axis=0, weights=s) if intercept else np.zeros(1)
        np.testing.assert_allclose(path.intercept(k), constant, rtol=1e-7, atol=1e-8)


@given(problems(), ALPHAS, GAMMAS, st.booleans(), st.booleans(), st.sampled_from(["gain", "residual", "random"]))
def test_costs_and_picks(problem, alpha, gamma, intercept, float32, selection):
    """Each step lowers the cost by sum_t (q'r_t)² / (q'q + alpha), more than any other would where that is asked."""
    X, Y, weights = problem
    with pytest.MonkeyPatch.context() as patch:
        if float32:
            patch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", 0)
        path = fit(X, Y, weights, alpha, gamma, intercept, selection=selection, random_state=0)
    G, y = on_the_rows(X, Y, weights, gamma, intercept)
    assert path.cost[0] == pytest.approx(float(np.square(y).sum()), rel=1e-12)
    for k, atom in enumerate(path.atom):
        Q, _ = orthogonalised(G, path.atom[:k])
        lengths = np.square(Q).sum(axis=0)
        q = G - Q @ ((Q.T @ G) / lengths[:, None])
        # What is shrunk of earlier targets lies along Q, to which q is orthogonal.
        gain = (np.square(q.T @ y).sum(axis=1) / (np.square(q).sum(axis=0) + alpha)).astype(float)
        gain[path.atom[:k]] = 0.0
        assert path.cost[k] - path.cost[k + 1] == pytest.approx(gain[atom], rel=1e-7, abs=1e-11 * path.cost[0])
        if selection == "gain":
            assert gain[atom] >= gain.max() * (1 - 1e-7) - 1e-11 * path.cost[0]


@given(problems(), ALPHAS, GAMMAS, st.booleans())
def test_a_ridge_problem_with_its_own_matrix(problem, alpha, gamma, intercept):
    """Weights, cost, degrees of freedom and the error of leaving rows out are those of L = alpha U'U, held fixed."""
    X, Y, weights = problem
    path = fit(X, Y, weights, alpha, gamma, intercept)
    G, _ = on_the_rows(X, Y, weights, gamma, intercept)
    for k in range(1, path.n_steps + 1):
        atoms = path.atoms(k)
        np.testing.assert_array_equal(atoms, path.atom[:k])
        _, U = orthogonalised(G, atoms)
        model = Model(RBF(gamma=gamma)(X)[:, atoms], Y, (alpha * U.T @ U).astype(float), weights, intercept)
        everything = list(range(k))
        np.testing.assert_allclose(path.weights(k), model.fit(everything), rtol=1e-7, atol=1e-8)
        assert path.cost[k] == pytest.approx(model.cost(everything), rel=1e-9)
        assert path.dof[k] == pytest.approx(np.trace(model.hat(everything)), rel=1e-9)
        R = path.factor(k).R
        s = np.ones(len(X)) if weights is None else weights
        A = np.sqrt(s)[:, None] * model.columns(everything)
        np.testing.assert_allclose(R.T @ R, A.T @ A + model.penalty(everything), rtol=1e-9, atol=1e-9)
    mean, error = model.leave_one_out(everything)
    assert path.loo[-1] == pytest.approx(mean, rel=1e-8)
    assert path.loo_se[-1] == pytest.approx(error, rel=1e-8)


@given(problems(), GAMMAS, st.booleans())
def test_without_penalty_it_is_plain_and_with_one_atom_it_is_ridge(problem, gamma, intercept):
    X, Y, weights = problem
    settings = {"sample_weight": weights, "gamma": gamma, "fit_intercept": intercept, "max_atoms": 6}
    plain, none = pursuit_path(X, Y, penalty=None, **settings), fit(X, Y, weights, 0.0, gamma, intercept, 6)
    np.testing.assert_array_equal(none.atom, plain.atom)
    np.testing.assert_array_equal(none.cost, plain.cost)
    ridge, ols = (pursuit_path(X, Y, penalty=p, alpha=0.7, **settings | {"max_atoms": 1}) for p in ("ridge", "ols"))
    np.testing.assert_array_equal(ols.atom, ridge.atom)
    np.testing.assert_allclose(ols.cost, ridge.cost, rtol=1e-12)


@given(problems(), ALPHAS, GAMMAS, st.booleans(), st.lists(st.integers(0, 11), min_size=1, max_size=5))
def test_a_duplicated_row_is_a_row_of_weight_two(problem, alpha, gamma, intercept, again):
    X, Y, weights = problem
    weights = np.ones(len(X)) if weights is None else np.ceil(weights)
    counts = weights.copy()
    np.add.at(counts, again, weights[again])
    rows = np.concatenate([np.arange(len(X)), again])
    weighted = fit(X, Y, counts, alpha, gamma, intercept)
    repeated = fit(X[rows], Y[rows], weights[rows], alpha, gamma, intercept)
    np.testing.assert_array_equal(repeated.atom, weighted.atom)
    np.testing.assert_allclose(repeated.cost, weighted.cost, rtol=1e-8)


@given(problems(), ALPHAS, GAMMAS, st.booleans())
def test_spread_and_stages(problem, alpha, gamma, intercept):
    X, Y, weights = problem
    model = plain_regressor(
        penalty="ols", alpha=alpha, gamma=gamma, fit_intercept=intercept, max_atoms=6, stop="max"
    ).fit(X, Y, sample_weight=weights)
    G, _ = on_the_rows(X, Y, weights, gamma, intercept)
    atoms, s = model.center_indices_, np.ones(len(X)) if weights is None else weights
    _, U = orthogonalised(G, atoms)
    L = (alpha * U.T @ U).astype(float)
    oracle = Model(RBF(gamma=gamma)(X)[:, atoms], Y, L, weights, intercept)
    everything = list(range(len(atoms)))
    phi = oracle.columns(everything)
    normal = (s[:, None] * phi).T @ phi + oracle.penalty(everything)
    # Weights below one are no counts: noise is that of a row of mean weight.
    mean_weight = s.sum() / np.maximum(s, 1.0).sum()
    spread = 1 + mean_weight * np.einsum("ij,ji->i", phi, np.linalg.solve(normal, phi.T))
    _, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, np.sqrt(np.outer(spread, oracle.noise_variance(everything))), rtol=1e-7)
    for k, prediction in enumerate(model.staged_predict(X)):
        np.testing.assert_allclose(prediction, model.at(k).predict(X), rtol=1e-9, atol=1e-9)
