"""The transcriptions of the papers against what the papers say of them, and against each other."""

from itertools import pairwise

import numpy as np
import pytest
from folding import every_case
from papers import hagiwara, kmp, nair, xu, zhang
from papers.trace import lead, norm, thin_qr
from scipy.optimize import minimize

PROBLEMS = {"narrow": (0, 1, 40, 4.0), "noisy": (1, 2, 50, 0.7), "smooth": (2, 5, 60, 0.1)}
ALPHA = 1e-2


def problem(name):
    seed, d, n, gamma = PROBLEMS[name]
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    y = np.sin(2 * X[:, 0]) + 0.5 * X.sum(axis=1) + 0.3 * rng.normal(size=n)
    return np.exp(-gamma * np.square(X[:, None] - X).sum(axis=-1)), y


@pytest.fixture(params=PROBLEMS)
def gram(request):
    return problem(request.param)


def assert_refitted(trace, D, y):
    """Weights of every step are those of least squares on the picked columns."""
    for k in range(1, trace.n_steps + 1):
        atoms = list(trace.atoms(k))
        wanted = np.linalg.lstsq(D[:, atoms], y, rcond=None)[0]
        np.testing.assert_allclose(trace.weights[k][atoms, 0], wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())
        np.testing.assert_allclose(trace.residuals[k][:, 0], y - D[:, atoms] @ wanted, atol=1e-8)


def same_steps(first, second, k):
    assert first.picks[:k] == second.picks[:k]
    for one, other in zip(first.weights[: k + 1], second.weights[: k + 1]):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8 * max(np.abs(other).max(), 1))


class TestChoices:
    def test_the_lowest_of_equals_which_is_not_clear(self):
        assert lead([1.0, 3.0, 3.0]) == (1, False)
        assert lead([1.0, 3.0, 2.0]) == (1, True)
        assert lead([1.0, 3.0, 2.0], noise=0.6) == (1, False)
        assert lead([1.0, 3.0, 2.0], noise=[9.0, 0.0, 0.0], among=[2, 1]) == (1, True)

    def test_steps_after_a_doubt_do_not_count(self):
        """Two copies of a column: basic pursuit takes either; all that follows hangs on which."""
        rng = np.random.default_rng(0)
        D = rng.normal(size=(20, 6))
        y = 5 * D[:, 2] + rng.normal(size=20)
        assert kmp.basic(D, y, 4).n_clear == 4
        assert kmp.basic(np.column_stack([D, D[:, 2]]), y, 4).n_clear == 0


class TestKMP:
    def test_basic_minimises_eq_3_at_every_step(self, gram):
        D, y = gram
        trace = kmp.basic(D, y, 25)
        for k, picked in enumerate(trace.picks):
            r = trace.residuals[k][:, 0]
            left_over = [norm(r - d * (d @ r) / (d @ d)) for d in D.T]
            assert int(np.argmin(left_over)) == picked
            assert trace.residual_norm(k + 1) == pytest.approx(min(left_over), rel=1e-12)
        np.testing.assert_allclose(y - D @ trace.weights[-1][:, 0], trace.residuals[-1][:, 0], atol=1e-12)

    def test_backfit(self, gram):
        D, y = gram
        trace = kmp.backfit(D, y, 12)
        assert_refitted(trace, D, y)

    def test_prefit_minimises_eq_7(self, gram):
        D, y = gram
        trace = kmp.prefit(D, y, 10)
        assert trace.n_clear == 10
        assert_refitted(trace, D, y)
        for k in range(10):
            taken = trace.picks[:k]
            left = [j for j in range(len(D)) if j not in taken]
            tried = [np.linalg.lstsq(D[:, [*taken, j]], y, rcond=None)[0] for j in left]
            sizes = [norm(y - D[:, [*taken, j]] @ w) for j, w in zip(left, tried)]
            assert left[int(np.argmin(sizes))] == trace.picks[k]

    def test_several_targets_are_weighted_by_norm(self, gram):
        """A rotation of the targets turns weights and residuals with it, and changes no pick."""
        D, y = gram
        Y = np.column_stack([y, np.roll(y, 3), np.cos(y)])
        turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
        for flavour in (kmp.basic, kmp.backfit, kmp.prefit, nair.ormp, nair.greedy_qr, xu.oga, xu.fast_oga):
            plain, turned = flavour(D, Y, 8), flavour(D, Y @ turn, 8)
            assert plain.n_clear == 8
            assert plain.picks == turned.picks
            np.testing.assert_allclose(plain.weights[-1] @ turn, turned.weights[-1], rtol=1e-6, atol=1e-6)


class TestNair:
    def test_ormp_is_prefitting(self, gram):
        K, y = gram
        ormp, prefit = nair.ormp(K, y, 12), kmp.prefit(K, y, 12)
        assert ormp.n_clear == prefit.n_clear == 12
        same_steps(ormp, prefit, 12)

    @every_case("sigma2", [0.0, 0.1])
    def test_greedy_qr(self, gram, sigma2):
        K, y = gram
        K = K + sigma2 * np.eye(len(K))
        trace = nair.greedy_qr(K, y, 12)
        assert_refitted(trace, K, y)
        for k, picked in enumerate(trace.picks):
            size = np.abs(trace.residuals[k][:, 0])
            size[trace.picks[:k]] = -1
            assert picked == np.argmax(size)

    def test_one_dimensional_problems(self, gram):
        """Section 3.1 in closed form: rho_j² = ||r||² - (r, K e_j)² / (K e_j, K e_j), least over those looked at."""
        K, y = gram
        looked_at = {}

        def draw(p, left):
            return looked_at.setdefault(p, np.random.default_rng(p).choice(left, size=7, replace=False))

        trace = nair.mrx(K, y, 8, criterion=nair.one_dimensional, draw=draw)
        for p, picked in enumerate(trace.picks, start=1):
            r = trace.residuals[p - 1][:, 0]
            rho = {j: r @ r - (r @ K[:, j]) ** 2 / (K[:, j] @ K[:, j]) for j in looked_at[p]}
            assert picked == min(rho, key=rho.get)
            assert not set(looked_at[p]) & set(trace.atoms(p - 1))
        everyone = nair.greedy_qr(K, y, 8, criterion=nair.one_dimensional)
        same_steps(everyone, xu.oga(K, y, 8), 8)

    def test_reciprocal_condition_numbers_end_the_iterations(self):
        K, y = problem("smooth")
        whole = nair.greedy_qr(K, y, 20)
        assert whole.rcond[1] == 1.0
        level = np.sort(whole.rcond[1:])[3] * 1.0001
        cut = nair.greedy_qr(K, y, 20, rcond=level)
        assert cut.n_steps == int(np.argmax(np.array(whole.rcond[1:]) < level)) < 20
        assert cut.picks == whole.picks[: cut.n_steps]
        # With c = ||Q'k|| / ||k||, the singular values are sqrt(1 + c), ones, and sqrt(1 - c).
        Q = thin_qr(K[:, whole.picks[:5]])[0]
        k = K[:, whole.picks[5]]
        c = norm(Q.T @ k) / norm(k)
        assert whole.rcond[6] == pytest.approx(np.sqrt((1 - c) / (1 + c)), rel=1e-8)

    def test_the_exchange_minimises_over_gamma(self, gram):
        K, y = gram
        trace = nair.greedy_qr(K, y, 6)
        alpha, r = trace.weights[-1][:, 0], trace.residuals[-1][:, 0]
        s, other, gamma, tried, accepted, _ = nair.exchange(K, trace.picks, alpha, r, 0.0)
        assert s in trace.picks
        assert other not in trace.picks
        moved = alpha.copy()
        moved[s] = 0.0
        for g, sign in ((gamma, 0), (1.01 * gamma + 0.01, 1), (0.99 * gamma - 0.01, 1)):
            moved[other] = g
            assert (norm(y - K @ moved) > norm(tried)) == bool(sign) or norm(y - K @ moved) == pytest.approx(
                norm(tried)
            )
        assert accepted == (norm(tried) < norm(r))

    @pytest.mark.parametrize("seed", [1, 3, 4, 5])
    def test_minimal_residual_iterations(self, seed):
        K, y = swapping(seed)
        trace = nair.mrx(K, y, 15)
        assert trace.swaps
        sizes = [trace.residual_norm(k) for k in range(16)]
        assert all(after < before for before, after in pairwise(sizes))
        for weights, r in zip(trace.weights, trace.residuals):
            np.testing.assert_allclose(y - K @ weights[:, 0], r[:, 0], atol=1e-10)
        assert [len(trace.atoms(k)) for k in range(16)] == list(range(16))
        assert_refitted_last(nair.mrx(K, y, 15, refit=True), K, y)

    @pytest.mark.parametrize("seed", [1, 3, 4, 5])
    def test_givens_downdates_are_fresh_factorisations(self, seed):
        K, y = swapping(seed)
        fresh, givens = (nair.greedy_qr_exchange(K, y, 12, downdate) for downdate in ("fresh", "givens"))
        assert fresh.swaps
        assert fresh.swaps == givens.swaps
        same_steps(fresh, givens, 12)
        assert_refitted(fresh, K, y)

    def test_givens_downdate_of_every_column(self):
        A = np.random.default_rng(0).normal(size=(12, 6))
        Q, R = thin_qr(A)
        for position in range(6):
            Q_less, R_less = nair.givens_downdate(Q, R, position)
            np.testing.assert_allclose(Q_less @ R_less, np.delete(A, position, axis=1), atol=1e-13)
            np.testing.assert_allclose(Q_less.T @ Q_less, np.eye(5), atol=1e-13)
            np.testing.assert_array_equal(R_less, np.triu(R_less))


def swapping(seed):
    """Spiky data, on which exchanges are accepted."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(60, 5))
    y = np.sin(2 * X[:, 0]) + 0.5 * X.sum(axis=1) + 0.3 * rng.normal(size=60)
    return np.exp(-1.0 * np.square(X[:, None] - X).sum(axis=-1)), y


def assert_refitted_last(trace, D, y):
    atoms = trace.atoms(trace.n_steps)
    w = trace.weights[-1][atoms, 0]
    np.testing.assert_allclose(w, np.linalg.lstsq(D[:, atoms], y, rcond=None)[0], rtol=1e-7, atol=1e-8)


class TestHagiwara:
    @every_case("lam", [1e-4, 0.1])
    def test_rfs_costs_fall_by_c2(self, gram, lam):
        """Eq. 9, with the two costs the right way round."""
        G, y = gram
        trace, reductions, matrices = hagiwara.rfs(G, y, lam, 10)
        costs = [np.square(r).sum() + lam * np.square(w).sum() for r, w in zip(trace.residuals, trace.weights)]
        np.testing.assert_allclose(-np.diff(costs), reductions, rtol=1e-7)
        np.testing.assert_allclose(y - G @ trace.weights[-1][:, 0], matrices[-1] @ y, atol=1e-9)

    @every_case("lam", [1e-4, 0.1])
    def test_ols_costs_fall_by_c2(self, gram, lam):
        """Eq. 17; the model written in the original functions is the one in the orthogonalised."""
        G, y = gram
        trace, reductions, matrices, costs = hagiwara.ols(G, y, lam, 10)
        np.testing.assert_allclose(-np.diff(costs), reductions, rtol=1e-7)
        for weights, P, r in zip(trace.weights, matrices, trace.residuals):
            np.testing.assert_allclose(y - G @ weights[:, 0], P @ y, atol=1e-9)
            np.testing.assert_allclose(P @ y, r[:, 0], atol=1e-12)

    def test_ols_minimises_eq_15_over_the_next_function(self, gram):
        G, y = gram
        trace, _, _, costs = hagiwara.ols(G, y, ALPHA, 6)
        for k, picked in enumerate(trace.picks):
            taken = trace.picks[:k]
            tried = {j: _ols_cost(G[:, [*taken, j]], y, ALPHA) for j in range(len(G)) if j not in taken}
            assert min(tried, key=tried.get) == picked
            assert costs[k + 1] == pytest.approx(tried[picked], rel=1e-9)

    def test_without_penalty_both_are_prefitting(self, gram):
        G, y = gram
        prefit = kmp.prefit(G, y, 10)
        assert prefit.n_clear == 10
        assert hagiwara.ols(G, y, 0.0, 10)[0].picks == hagiwara.rfs(G, y, 0.0, 10)[0].picks == prefit.picks

    def test_leave_one_out_leaves_one_out(self, gram):
        G, y = gram
        trace, _, matrices = hagiwara.rfs(G, y, ALPHA, 6)
        A = G[:, trace.picks]
        errors = []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            w = np.linalg.solve(A[rest].T @ A[rest] + ALPHA * np.eye(6), A[rest].T @ y[rest])
            errors.append(y[i] - A[i] @ w)
        assert hagiwara.leave_one_out(y, matrices)[-1] == pytest.approx(np.square(errors).sum(), rel=1e-9)

    def test_tcr_keeps_no_more_than_leave_one_out(self, gram):
        G, y = gram
        _, reductions, matrices = hagiwara.rfs(G, y, 1e-6, 25)
        k, k_lcv, _ = hagiwara.tcr(y, reductions, matrices)
        sigma2 = hagiwara.leave_one_out(y, matrices)[k_lcv - 1] / len(y)
        assert 0 < k <= k_lcv
        assert reductions[k - 1] >= 2 * sigma2 * np.log(len(y) - k + 1)
        assert all(reductions[j] < 2 * sigma2 * np.log(len(y) - j) for j in range(k, k_lcv))


def _ols_cost(A, y, lam):
    """Least cost of eq. 15 over v, columns orthogonalised in their order and not normalised."""
    Q, R = np.linalg.qr(A)
    Q = Q * np.diag(R)
    v = np.linalg.solve(Q.T @ Q + lam * np.eye(A.shape[1]), Q.T @ y)
    return np.square(y - Q @ v).sum() + lam * v @ v


class TestZhang:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_greedy_by_brute_force(self, weighted):
        K, y = problem("narrow")
        s = np.random.default_rng(1).uniform(0.3, 3, size=len(y)) if weighted else None
        trace = zhang.greedy(K, y, ALPHA, 5, s)
        assert trace.n_clear == 5
        for k, picked in enumerate(trace.picks):
            w = trace.weights[k][:, 0]

            def at(found, i, w=w):
                return zhang.risk(K, y, ALPHA, found[0] * w + found[1] * np.eye(len(w))[i], s)

            tried = [minimize(at, [1.0, 0.0], args=(i,), tol=1e-12).fun for i in range(len(K))]
            assert int(np.argmin(tried)) == picked
            assert zhang.risk(K, y, ALPHA, trace.weights[k + 1][:, 0], s) == pytest.approx(min(tried), rel=1e-8)

    def test_subspace_minimises_over_all_weights(self, gram):
        """The gradient of R in the weights of the picked atoms is zero: (K_A'K_A / n + lambda K_AA) w = K_A'y / n."""
        K, y = gram
        trace = zhang.subspace(K, y, ALPHA, 6)
        for k in range(1, 7):
            atoms, w = trace.picks[:k], trace.weights[k][:, 0]
            gradient = K[:, atoms].T @ (K @ w - y) / len(y) + ALPHA * (K @ w)[atoms]
            np.testing.assert_allclose(gradient, 0, atol=1e-10)

    def test_subspace_is_the_greedy_random_algorithm(self, gram):
        K, y = gram
        trace = zhang.subspace(K, y, ALPHA, 6)
        same_steps(trace, zhang.random(K, y, ALPHA, trace.picks), 6)

    def test_orthogonal_atoms_are_optimal_and_never_rescaled(self):
        """Proposition 6.1: atoms come by the size of alpha_i² x_i' G x_i, and beta = 1."""
        y = np.array([3.0, -1.0, 2.0, 0.5, -4.0])
        trace = zhang.greedy(np.eye(5), y, ALPHA, 5)
        assert trace.picks == [4, 0, 2, 1, 3]
        np.testing.assert_allclose(trace.weights[-1][:, 0], y / (1 + 5 * ALPHA), rtol=1e-12)

    def test_kappa_greedy_looks_at_the_given_only(self, gram):
        K, y = gram
        subsets = [np.random.default_rng(t).choice(len(K), size=5, replace=False) for t in range(10)]
        trace = zhang.kappa_greedy(K, y, ALPHA, subsets)
        assert all(picked in subset for picked, subset in zip(trace.picks, subsets))
        assert trace.picks != zhang.greedy(K, y, ALPHA, 10).picks

    def test_scaling_is_at_least_as_good_a_step(self, gram):
        """From any state, the best (alpha, beta) beats the best alpha alone."""
        K, y = gram
        trace = zhang.stagewise(K, y, ALPHA, 15)
        for k in range(15):
            w, r = trace.weights[k][:, 0], zhang.risk(K, y, ALPHA, trace.weights[k + 1][:, 0])
            beta, alpha = zhang.two_weights(K, y, ALPHA, w, trace.picks[k], np.ones(len(y)))
            assert zhang.risk(K, y, ALPHA, beta * w + alpha * np.eye(len(w))[trace.picks[k]]) <= r * (1 + 1e-12)


class TestXu:
    def test_fast_oga_is_oga_is_backfitting(self, gram):
        K, y = gram
        slow, fast, backfit = xu.oga(K, y, 12), xu.fast_oga(K, y, 12), kmp.backfit(K, y, 12)
        assert slow.n_clear == fast.n_clear == backfit.n_clear == 12
        same_steps(slow, fast, 12)
        same_steps(slow, backfit, 12)
        assert_refitted(slow, K, y)

    def test_truncation(self):
        np.testing.assert_array_equal(xu.truncate(np.array([-3.0, -1.0, 0.5, 9.0]), 2.0), [-2.0, -1.0, 0.5, 2.0])

    def test_ptr_keeps_one_of_the_sizes_it_looks_at(self, gram):
        K, y = gram
        trace = xu.oga(K, y, 14)
        k, _ = xu.ptr(y, trace, n_features=5)
        n = len(y)
        scores = [n * np.log(np.mean(np.square(r))) + 2 * j * np.log(n) for j, r in enumerate(trace.residuals)]
        largest = (1 + np.log(5)) * np.sqrt(n / np.log(n))
        assert k < largest
        assert k == int(np.argmin(scores[: int(largest) + 1]))
