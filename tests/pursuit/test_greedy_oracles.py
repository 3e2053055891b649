"""Atoms and weights of the engine against literal, dense transcriptions of the papers."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from folding import every_case
from oracles import Model, greedy
from plain import plain_regressor
from sklearn.linear_model import orthogonal_mp

from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import Constant, KernelAtoms, widths
from kernelpursuit.kernels import RBF

N, ALPHA, GAMMA, N_ATOMS = 30, 0.05, 1.5, 8
SCORES = {
    "gain": Model.gain,
    "correlation": Model.correlation,
    "residual": Model.largest_residual,
}


def data(seed, n_targets=1, n=N):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    Y = np.stack([np.sin((t + 2) * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n) for t in range(n_targets)], axis=1)
    return X, Y, rng.uniform(0.3, 3.0, size=n)


def gram(X, gamma=GAMMA):
    return np.exp(-gamma * ((X[:, None, :] - X) ** 2).sum(axis=-1))


def model_of(K, y, penalty, weights, intercept):
    """The dense model that `penalty` and ALPHA mean for kernels at the training rows."""
    n = len(K) if weights is None else weights.sum()
    L = {"ridge": ALPHA * np.eye(len(K)), "rkhs": n * ALPHA * K}.get(penalty)
    D = K + ALPHA * np.eye(len(K)) if penalty == "nugget" else K
    return Model(D, y, L, weights, intercept, ALPHA if penalty == "nugget" else 0.0)


def assert_follows(path, model, picks, at_least=N_ATOMS):
    """Same atoms while the oracle's choice is clear, and for each k the weights, cost and residual of a refit."""
    assert picks.n_clear >= at_least
    assert path.atom[: picks.n_clear].tolist() == picks.atoms[: picks.n_clear]
    for k in range(picks.n_clear + 1):
        atoms = picks.atoms[:k]
        w = model.fit(atoms)
        scale = max(np.abs(w).max(initial=0.0), 1e-300)
        np.testing.assert_allclose(path.weights(k), w, rtol=1e-9, atol=1e-9 * scale)
        assert path.cost[k] == pytest.approx(model.cost(atoms), rel=1e-10)
        norm = np.sqrt(model.rows_weights() @ np.square(model.residual(atoms)).sum(axis=1))
        assert path.residual_norm[k] == pytest.approx(norm, rel=1e-10)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs", "nugget"])
@pytest.mark.parametrize("selection", SCORES)
def test_every_rule_with_every_penalty(selection, penalty, weighted, intercept, n_targets):
    X, Y, weights = data(1, n_targets)
    weights = weights if weighted else None
    path = pursuit_path(
        X,
        Y,
        kernel=RBF(gamma=GAMMA),
        selection=selection,
        penalty=penalty,
        alpha=ALPHA,
        max_atoms=N_ATOMS,
        sample_weight=weights,
        fit_intercept=intercept,
    )
    model = model_of(gram(X), Y, penalty, weights, intercept)
    assert_follows(path, model, greedy(model, N_ATOMS, SCORES[selection]))


@pytest.mark.parametrize("alpha", [1e-6, 0.05, 3.0])
def test_regularised_forward_selection(alpha):
    """Hagiwara eq. 5 to 7; the cost falls by c² (eq. 9) and the residual is P_k y (eq. 10)."""
    X, Y, _ = data(2)
    y = Y[:, 0]
    atoms, reductions, P = oracles.regularised_forward_selection(gram(X), y, alpha, 14)
    path = pursuit_path(X, y, gamma=GAMMA, penalty="ridge", alpha=alpha, max_atoms=14)
    assert path.atom.tolist() == atoms
    np.testing.assert_allclose(-np.diff(path.cost), reductions, rtol=1e-8, atol=1e-10)
    assert path.residual_norm[-1] == pytest.approx(np.linalg.norm(P @ y), rel=1e-9)
    assert path.dof[-1] == pytest.approx(np.trace(np.eye(N) - P), rel=1e-9)


class TestPrecomputed:
    """Any matrix as the dictionary; on unit columns, "correlation" is scikit-learn's orthogonal_mp."""

    @pytest.mark.parametrize("shape", [(40, 25), (30, 30), (20, 60)], ids=str)
    @pytest.mark.parametrize("seed", range(3))
    def test_orthogonal_mp_on_unit_columns(self, shape, seed):
        rng = np.random.default_rng(seed)
        D = rng.normal(size=shape)
        D /= np.linalg.norm(D, axis=0)
        y = rng.normal(size=shape[0])
        for k in range(1, 11):
            wanted = orthogonal_mp(D, y, n_nonzero_coefs=k)
            path = pursuit_path(D, y, kernel="precomputed", selection="correlation", penalty=None, max_atoms=k)
            coef = np.zeros(shape[1])
            coef[path.atom] = path.coef(k)[:, 0]
            assert set(path.atom) == set(np.flatnonzero(wanted))
            np.testing.assert_allclose(coef, wanted, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("selection", ["gain", "correlation"])
    @pytest.mark.parametrize("spread", [1.0, 8.0], ids=["near", "far"])
    def test_columns_of_any_length(self, selection, spread):
        """Neither rule depends on the unit of a column; weights are in its unit."""
        rng = np.random.default_rng(7)
        D, y = rng.normal(size=(30, 45)), rng.normal(size=30)
        units = 10.0 ** rng.uniform(-spread, spread, size=45)
        model = Model(D, y)
        picks = greedy(model, 10, SCORES[selection])
        path = pursuit_path(D * units, y, kernel="precomputed", selection=selection, penalty=None, max_atoms=10)
        assert path.atom.tolist() == picks.atoms
        np.testing.assert_allclose(path.coef(10)[:, 0] * units[path.atom], model.fit(picks.atoms)[:, 0], rtol=1e-9)

    @pytest.mark.parametrize("penalty", ["ridge", "rkhs", "nugget"])
    def test_a_gram_matrix_is_the_kernel_it_was_made_of(self, penalty):
        X, Y, weights = data(3, 2)
        settings = {"penalty": penalty, "alpha": ALPHA, "max_atoms": N_ATOMS, "sample_weight": weights}
        of_kernel = pursuit_path(X, Y, gamma=GAMMA, **settings)
        of_matrix = pursuit_path(gram(X), Y, kernel="precomputed", **settings)
        np.testing.assert_array_equal(of_matrix.atom, of_kernel.atom)
        np.testing.assert_allclose(of_matrix.cost, of_kernel.cost, rtol=1e-10)
        np.testing.assert_allclose(of_matrix.loo, of_kernel.loo, rtol=1e-9)


class TestCandidates:
    def test_a_fixed_subset(self):
        X, Y, _ = data(4)
        subset = [29, 2, 3, 5, 8, 13, 21, 24, 1, 17, 11]
        model = model_of(gram(X), Y, "ridge", None, False)
        path = pursuit_path(X, Y, gamma=GAMMA, alpha=ALPHA, candidates=subset, max_atoms=N_ATOMS)
        assert_follows(path, model, greedy(model, N_ATOMS, Model.gain, candidates=subset))

    @pytest.mark.parametrize("selection", SCORES)
    @pytest.mark.parametrize("penalty", [None, "rkhs"])
    @pytest.mark.parametrize("kappa", [2, 7, 100])
    def test_the_best_of_those_drawn(self, selection, penalty, kappa):
        X, Y, weights = data(5, 2)
        seed = 11

        def drawn(step, left):
            size = min(kappa, len(left))
            return np.sort(np.random.default_rng([seed, step + 1, 1]).choice(left, size=size, replace=False))

        model = model_of(gram(X), Y, penalty, weights, True)
        path = pursuit_path(
            X,
            Y,
            gamma=GAMMA,
            selection=selection,
            penalty=penalty,
            alpha=ALPHA,
            candidates=kappa,
            max_atoms=N_ATOMS,
            sample_weight=weights,
            fit_intercept=True,
            random_state=seed,
        )
        assert_follows(path, model, greedy(model, N_ATOMS, SCORES[selection], candidates=drawn))

    def test_random_selection_refits_what_it_drew(self):
        X, Y, _ = data(6)
        model = model_of(gram(X), Y, "ridge", None, False)
        path = pursuit_path(X, Y, gamma=GAMMA, alpha=ALPHA, selection="random", max_atoms=20, random_state=4)
        assert len(set(path.atom)) == 20
        for k in (1, 5, 20):
            np.testing.assert_allclose(path.coef(k), model.fit(path.atom[:k].tolist()), rtol=1e-8, atol=1e-9)
        other = pursuit_path(X, Y, gamma=GAMMA, alpha=ALPHA, selection="random", max_atoms=20, random_state=5)
        assert path.atom.tolist() != other.atom.tolist()


class TestUnions:
    """Atoms of several kinds in one dictionary: the loop sees columns, and L is block-diagonal for rkhs."""

    @pytest.mark.parametrize("penalty", [None, "ridge", "rkhs"])
    def test_several_widths(self, penalty):
        X, Y, weights = data(8, 2)
        blocks = [gram(X, g) for g in (0.3, 3.0)]
        D = np.hstack(blocks)
        L = {None: None, "ridge": ALPHA * np.eye(2 * N)}.get(penalty, weights.sum() * ALPHA * _diagonal(blocks))
        model = Model(D, Y, L, weights, True)
        path = pursuit_path(
            X,
            Y,
            kernel=widths("rbf", [0.3, 3.0]),
            penalty=penalty,
            alpha=ALPHA,
            max_atoms=N_ATOMS,
            sample_weight=weights,
            fit_intercept=True,
        )
        assert_follows(path, model, greedy(model, N_ATOMS, Model.gain))

    def test_kernels_and_functions(self):
        X, Y, _ = data(9)
        D = np.hstack([gram(X), np.ones((N, 1))])
        model = Model(D, Y + 5.0, ALPHA * np.eye(N + 1))
        path = pursuit_path(
            X, Y + 5.0, kernel=KernelAtoms(RBF(gamma=GAMMA)) + Constant(), alpha=ALPHA, max_atoms=N_ATOMS
        )
        assert path.atom[0] == N
        assert_follows(path, model, greedy(model, N_ATOMS, Model.gain))

    def test_an_asymmetric_callable(self):
        X, Y, _ = data(10)

        def kernel(A, C):
            return np.cos(A @ C.T + C[:, 0]) + 0.2 * A[:, :1]

        model = Model(kernel(X, X), Y, ALPHA * np.eye(N))
        path = pursuit_path(X, Y, kernel=kernel, alpha=ALPHA, max_atoms=N_ATOMS)
        assert_follows(path, model, greedy(model, N_ATOMS, Model.gain))


def _diagonal(blocks):
    sizes = [len(block) for block in blocks]
    out = np.zeros((sum(sizes), sum(sizes)))
    for start, block in zip(np.cumsum([0, *sizes]), blocks):
        out[start : start + len(block), start : start + len(block)] = block
    return out


class TestIllConditioned:
    """Smooth kernels: the Gram matrix has a condition number beyond 1e16, and nothing is said in advance."""

    @pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
    @pytest.mark.parametrize("seed", range(4))
    def test_atoms_until_the_oracle_is_in_doubt(self, gamma, seed):
        X, Y, _ = data(seed, n=60)
        K, y = gram(X, gamma), Y[:, 0]
        atoms = oracles.textbook_ormp(K, y, 40)
        path = pursuit_path(X, y, gamma=gamma, penalty=None, max_atoms=40)
        assert len(atoms) >= 4
        assert path.atom[: len(atoms)].tolist() == atoms
        for k in range(1, len(atoms) + 1):
            fitted = K[:, atoms[:k]] @ path.coef(k)[:, 0]
            wanted = y - Model(K, y).residual(atoms[:k])[:, 0]
            np.testing.assert_allclose(fitted, wanted, atol=1e-9 * np.linalg.norm(y))

    @pytest.mark.parametrize("penalty", ["ridge", "rkhs"])
    @pytest.mark.parametrize("alpha", [1e-10, 1e-6])
    def test_penalised(self, penalty, alpha):
        X, Y, _ = data(0, n=50)
        K = gram(X, 0.05)
        L = alpha * (np.eye(50) if penalty == "ridge" else 50 * K)
        model = Model(K, Y, L)
        path = pursuit_path(X, Y, gamma=0.05, penalty=penalty, alpha=alpha, max_atoms=20)
        picks = greedy(model, 12, Model.gain)
        assert picks.n_clear >= 5
        assert path.atom[: picks.n_clear].tolist() == picks.atoms[: picks.n_clear]
        for k in range(path.n_steps + 1):
            assert path.cost[k] == pytest.approx(model.cost(path.atom[:k].tolist()), rel=1e-7)


class TestPredictionStd:
    """sigma sqrt(1 + s phi' (D'D + L)^-1 phi), sigma² = RSS / (n - dof) / s, s the mean weight of units.

    A row of weight w has noise of variance sigma² s / w, so that a common factor of weights below one cancels.
    """

    @every_case("intercept", [False, True])
    @every_case("penalty", [None, "ridge", "rkhs", "nugget"])
    @every_case("n_targets", [1, 2])
    def test_formula(self, penalty, intercept, n_targets):
        X, Y, weights = data(12, n_targets)
        new = np.random.default_rng(1).uniform(-2, 2, size=(11, 2))
        regressor = plain_regressor(
            gamma=GAMMA, penalty=penalty, alpha=ALPHA, fit_intercept=intercept, max_atoms=8, stop="max"
        )
        regressor.fit(X, Y if n_targets > 1 else Y[:, 0], sample_weight=weights)
        model = model_of(gram(X), Y, penalty, weights, intercept)
        atoms = regressor.center_indices_.tolist()
        A, penalty_matrix = model.columns(atoms), model.penalty(atoms)
        normal = A.T @ (weights[:, None] * A) + (0.0 if penalty_matrix is None else penalty_matrix)
        K_new = np.exp(-GAMMA * ((new[:, None, :] - X[atoms]) ** 2).sum(axis=-1))
        phi = np.hstack([np.ones((11, int(intercept))), K_new])
        mean_weight = weights.sum() / np.maximum(weights, 1.0).sum()
        spread = 1 + mean_weight * np.einsum("ij,ji->i", phi, np.linalg.solve(normal, phi.T))
        sigma2 = model.noise_variance(atoms)
        mean, std = regressor.predict(new, return_std=True)
        np.testing.assert_allclose(std.reshape(11, -1), np.sqrt(np.outer(spread, sigma2)), rtol=1e-9)
        np.testing.assert_allclose(mean.reshape(11, -1), phi @ model.fit(atoms), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(regressor.path_.noise_variance(8), sigma2, rtol=1e-10)


class TestLeaveOneOut:
    """The closed form against models fitted without one row."""

    @pytest.mark.parametrize("n_targets", [1, 2])
    @pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
    @pytest.mark.parametrize("weighting", ["none", "whole", "fractions"])
    @pytest.mark.parametrize("penalty", [None, "ridge", "rkhs", "nugget"])
    def test_criteria(self, penalty, weighting, intercept, n_targets):
        X, Y, weights = data(13, n_targets, n=24)
        weights = {"none": None, "whole": np.arange(24) % 3 + 1.0, "fractions": weights}[weighting]
        path = pursuit_path(
            X,
            Y,
            gamma=GAMMA,
            penalty=penalty,
            alpha=ALPHA,
            max_atoms=8,
            sample_weight=weights,
            fit_intercept=intercept,
        )
        model = model_of(gram(X), Y, penalty, weights, intercept)
        for k in range(9):
            atoms = path.atom[:k].tolist()
            loo, loo_se = model.leave_one_out(atoms)
            assert path.loo[k] == pytest.approx(loo, rel=1e-8)
            assert path.loo_se[k] == pytest.approx(loo_se, rel=1e-8)
            assert path.dof[k] == pytest.approx(np.trace(model.hat(atoms)), rel=1e-9, abs=1e-12)

    def test_weight_of_two_is_two_rows_one_of_which_is_left_out(self):
        X, Y, _ = data(14, n=20)
        counts = np.arange(20) % 3 + 1
        weighted = pursuit_path(X, Y, gamma=GAMMA, alpha=ALPHA, max_atoms=6, sample_weight=counts)
        model = model_of(gram(X), Y, "ridge", None, False)
        rows = np.repeat(np.arange(20), counts)
        repeated = replace(model, D=model.D[rows], y=model.y[rows])
        for k in range(7):
            loo, loo_se = repeated.leave_one_out(weighted.atom[:k].tolist())
            assert weighted.loo[k] == pytest.approx(loo, rel=1e-9)
            assert weighted.loo_se[k] == pytest.approx(loo_se, rel=1e-9)

    def test_an_interpolated_row_has_no_leave_one_out_error(self):
        D = np.eye(5)
        path = pursuit_path(D, np.arange(1.0, 6.0), kernel="precomputed", penalty=None, max_atoms=3)
        assert np.isfinite(path.loo[0])
        assert np.isinf(path.loo[1:]).all()
        assert np.isinf(path.loo_se[1:]).all()
