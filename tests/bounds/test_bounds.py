"""No measured gap exceeds its bound, and every lemma on the way to the bounds holds on random problems.

Zhang's section 3 to 6 in explicit vectors: rows x_i of a matrix, w a vector, his letters throughout.
"""

import tracemalloc
from dataclasses import replace
from itertools import combinations

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from plain import plain_regressor
from scipy.linalg import orth

from kernelpursuit import KernelPursuitRegressor, presets
from kernelpursuit.bounds import (
    certificate,
    gap_report,
    natarajan_theorem_1,
    orthogonal_greedy_gap,
    orthogonal_greedy_rate,
    rho,
    xu_rate,
    zhang_corollary_5_1,
    zhang_theorem_5_1,
    zhang_theorem_6_1,
)
from kernelpursuit.data import make_chirp, make_friedman
from kernelpursuit.dictionary import KernelAtoms, as_dictionary
from kernelpursuit.kernels import CallableKernel
from kernelpursuit.stopping import Validation

# Both sides of an inequality are rounded; relative to R(0), by less than this.
SLACK = 1e-11


class Zhang:
    """The ridge regression of Zhang eq. 4 with rows x_i, and its dual."""

    def __init__(self, X, y, lam):
        self.X, self.y, self.lam = X, y, lam
        self.n, self.d = X.shape
        self.G = X.T @ X / self.n + lam * np.eye(self.d)
        self.z = X.T @ y / self.n
        self.w_hat = np.linalg.solve(self.G, self.z)
        self.alpha_hat = (y - X @ self.w_hat) / (lam * self.n)
        self.M = np.linalg.norm(X, axis=1).max()

    def R(self, w):
        return np.square(self.X @ w - self.y).sum() / (2 * self.n) + self.lam / 2 * w @ w

    def Q(self, a):
        first = self.lam * (a @ self.y - self.lam * self.n / 2 * a @ a)
        return first - self.lam / 2 * a @ self.X @ self.X.T @ a

    def dR(self, w):
        return self.R(w) - self.R(self.w_hat)

    def best_in_span(self, *vectors):
        """The minimiser of R among combinations of vectors."""
        basis = orth(np.stack(vectors, axis=1), rcond=1e-10)
        return basis @ np.linalg.solve(basis.T @ self.G @ basis, basis.T @ self.z)

    def best_of_atoms(self, atoms):
        return self.best_in_span(*self.X[list(atoms)]) if len(atoms) else np.zeros(self.d)

    def step(self, w, looked_at):
        """One step of Algorithms 1 and 3: the best i, alpha and beta."""
        found = [self.best_in_span(self.X[i], w) if w.any() else self.best_in_span(self.X[i]) for i in looked_at]
        return min(found, key=self.R)

    def algorithm_1(self, n_steps):
        path = [np.zeros(self.d)]
        for _ in range(n_steps):
            path.append(self.step(path[-1], range(self.n)))
        return path

    def algorithm_4(self, n_steps):
        path, atoms = [np.zeros(self.d)], []
        for _ in range(n_steps):
            left = [i for i in range(self.n) if i not in atoms]
            atoms.append(min(left, key=lambda i: self.R(self.best_of_atoms([*atoms, i]))))
            path.append(self.best_of_atoms(atoms))
        return path

    def theorem_5_1(self, k):
        return zhang_theorem_5_1(k, self.dR(np.zeros(self.d)), self.R(self.w_hat), self.M, self.lam)

    def corollary_5_1(self, k):
        return zhang_corollary_5_1(k, self.R(np.zeros(self.d)), self.M, self.lam)


@st.composite
def ridges(draw, most=10):
    n, lam = draw(st.integers(4, most)), 10.0 ** draw(st.integers(-3, 1))
    d, seed = draw(st.integers(n, n + 4)), draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ np.diag(rng.uniform(0.2, 2.0, d)) + draw(st.sampled_from([0.0, 1.0]))
    return Zhang(X, rng.normal(size=n) + draw(st.sampled_from([0.0, 2.0])), lam), rng


def at_most(left, right, scale):
    assert np.all(np.asarray(left) <= np.asarray(right) + SLACK * scale), (left, right)


# ---- Section 3: the two objectives


@given(ridges())
def test_propositions_3_1_to_3_3(drawn):
    problem, rng = drawn
    least = problem.R(problem.w_hat)
    assert problem.Q(problem.alpha_hat) == pytest.approx(least, rel=1e-9)
    for _ in range(5):
        w, a = problem.w_hat + rng.normal(size=problem.d), problem.alpha_hat + rng.normal(size=problem.n)
        difference = w - problem.w_hat
        assert problem.dR(w) == pytest.approx(difference @ problem.G @ difference / 2, rel=1e-7)
        misfit = problem.X @ problem.w_hat - problem.y + problem.lam * problem.n * a
        delta_Q = problem.Q(problem.alpha_hat) - problem.Q(a)
        at_most(np.square(misfit).sum() / (2 * problem.n), delta_Q, delta_Q + least)
        # What a certificate rests on.
        at_most(problem.Q(a), least, least)


# ---- Section 5


@given(ridges())
def test_lemma_5_1_and_5_2(drawn):
    problem, rng = drawn
    for scale in (0.1, 3.0):
        w = problem.w_hat + scale * rng.normal(size=problem.d)
        phi = (problem.X @ problem.w_hat - problem.y)[:, None] * problem.X + problem.lam * w
        a_w = np.einsum("ui,ij,uj->", phi, problem.G, phi) / problem.n
        eta, gap = 2 * problem.lam * problem.dR(w) / a_w, problem.dR(w)
        mean = np.mean([problem.R(w - eta * phi_u) for phi_u in phi])
        assert mean == pytest.approx(problem.R(w) - 2 * problem.lam**2 * gap**2 / a_w, rel=1e-9)

        M2, lam, least = problem.M**2, problem.lam, problem.R(problem.w_hat)
        best = np.mean([problem.R(problem.best_in_span(x, w)) for x in problem.X])
        drop = lam**2 * gap**2 / ((least * M2 + lam * gap) * (M2 + lam))
        at_most(best, problem.R(w) - drop, problem.R(w))
        at_most(a_w, 2 * (least * M2 + lam * gap) * (M2 + lam), a_w)


@given(ridges())
def test_theorem_5_1_and_its_corollary_for_the_greedy_algorithms(drawn):
    problem, _ = drawn
    k = np.arange(5)
    start = problem.R(np.zeros(problem.d))
    at_most(problem.theorem_5_1(k), problem.corollary_5_1(k), start)
    for path in (problem.algorithm_1(4), problem.algorithm_4(4)):
        at_most([problem.dR(w) for w in path], problem.theorem_5_1(k), start)


def test_theorem_5_1_and_its_corollary_as_printed():
    gap, risk, M, lam, k = 0.7, 0.2, 1.5, 0.3, np.arange(0, 200, 13)
    shift = M**2 + lam
    printed = gap * shift / (lam**2 * gap / (risk * M**2 + lam * gap) * k + shift)
    np.testing.assert_allclose(zhang_theorem_5_1(k, gap, risk, M, lam), printed)
    printed = (gap + risk) * shift**2 / (lam**2 * k + shift**2)
    np.testing.assert_allclose(zhang_corollary_5_1(k, gap + risk, M, lam), printed)


@given(ridges(most=7))
def test_theorem_5_1_bounds_the_expectation_of_random_subsets(drawn):
    problem, _ = drawn
    for k in range(4):
        gaps = [problem.dR(problem.best_of_atoms(atoms)) for atoms in combinations(range(problem.n), k)]
        at_most(np.mean(gaps), problem.theorem_5_1(k), problem.R(np.zeros(problem.d)))


@given(ridges(most=4), st.integers(1, 3))
def test_theorem_5_1_bounds_the_expectation_of_kappa_greedy(drawn, kappa):
    problem, _ = drawn
    level = [np.zeros(problem.d)]
    for k in range(1, 4):
        level = [problem.step(w, drawn) for w in level for drawn in combinations(range(problem.n), kappa)]
        at_most(np.mean([problem.dR(w) for w in level]), problem.theorem_5_1(k), problem.R(np.zeros(problem.d)))


def test_the_worst_case_of_section_5():
    n, lam = 12, 0.01
    problem = Zhang(np.eye(n), np.ones(n), lam)
    gaps = [problem.dR(w) for w in problem.algorithm_4(6)]
    np.testing.assert_allclose(gaps, (1 - np.arange(7) / n) / (2 * (1 + lam * n)), rtol=1e-12)


# ---- Section 6 and appendix A


@given(ridges())
def test_lemma_a_1(drawn):
    problem, rng = drawn
    N = int(rng.integers(1, problem.n))
    picked = rng.permutation(problem.n)[: rng.integers(1, problem.n)]
    weights = np.zeros(problem.n)
    weights[picked] = np.linalg.lstsq(problem.X[picked].T, problem.best_of_atoms(picked), rcond=None)[0]
    w, reference = problem.X.T @ weights, rng.normal(size=N)
    beta, gradient = weights[:N] - reference, problem.G @ (problem.X.T @ weights) - problem.z
    a_w = np.square(beta) @ np.einsum("ui,ij,uj->u", problem.X[:N], problem.G, problem.X[:N])
    b_w = (w - problem.X[:N].T @ reference) @ gradient
    eta = b_w / a_w
    mean = np.mean([problem.R(w - eta * beta[u] * problem.X[u]) for u in range(N)])
    assert mean == pytest.approx(problem.R(w) - b_w**2 / (2 * N * a_w), rel=1e-8)


@given(ridges())
def test_lemma_a_2(drawn):
    problem, rng = drawn
    for _ in range(10):
        pair = [problem.w_hat + rng.exponential() * rng.normal(size=problem.d) for _ in range(2)]
        bar, w = sorted(pair, key=problem.dR)
        s, t = np.sqrt(problem.dR(w)), np.sqrt(problem.dR(bar))
        norm = np.sqrt((w - bar) @ problem.G @ (w - bar))
        b_w = (w - bar) @ (problem.G @ w - problem.z)
        at_most(np.sqrt(2) * s * norm * (s - t) / (s + t), b_w, s * norm)


@given(st.integers(0, 1000), st.sampled_from([1e-3, 0.1, 10.0]))
def test_proposition_6_1(seed, lam):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    problem = Zhang(rng.uniform(0.3, 2.0, 7)[:, None] * basis, rng.normal(size=7), lam)
    for k, w in enumerate(problem.algorithm_1(4)):
        best = min(problem.R(problem.best_of_atoms(atoms)) for atoms in combinations(range(7), k))
        assert problem.R(w) == pytest.approx(best, rel=1e-10)


@given(ridges(most=8))
def test_theorem_6_1(drawn):
    problem, rng = drawn
    inner, k, start = problem.X @ problem.G @ problem.X.T, np.arange(7)[: problem.n], problem.dR(np.zeros(problem.d))
    gaps = [problem.dR(w) for w in problem.algorithm_4(k[-1])]
    for N in (1, 2, 3):
        reference = rng.permutation(problem.n)[:N]
        found = rho(inner, reference)
        best = problem.best_of_atoms(reference)
        for bar in (best, best + 0.1 * problem.X[reference].T @ rng.normal(size=N)):
            sharpest = zhang_theorem_6_1(k, start, problem.dR(bar), N, found)
            at_most(gaps, sharpest, start)
            for gamma in (0.1, 1.0, 10.0):
                given_gamma = zhang_theorem_6_1(k, start, problem.dR(bar), N, found, gamma)
                at_most(sharpest, given_gamma, start)
                printed = 1 - gamma**2 / (N * (2 + gamma) ** 2 * found)
                literal = np.maximum((1 + gamma) ** 2 * problem.dR(bar), printed**k * start)
                np.testing.assert_allclose(given_gamma, np.minimum(literal, start))


def test_theorem_6_1_is_geometric_where_the_reference_is_exact():
    k = np.array([0, 1, 50])
    np.testing.assert_allclose(zhang_theorem_6_1(k, 2.0, 0.0, 4, 1.5), 2.0 * (1 - 1 / 6) ** k, rtol=1e-9)
    np.testing.assert_allclose(zhang_theorem_6_1(k, 2.0, 0.1, 4, np.inf), 2.0)


@given(ridges())
def test_rho_is_the_supremum_of_its_definition(drawn):
    """The best v leaves the Schur complement S, and the supremum over c is one over its least eigenvalue.

    In 50 digits; what is returned may be larger by what rounding can do to the least eigenvalue of all, never smaller.
    """
    problem, _ = drawn
    inner, N = problem.X @ problem.G @ problem.X.T, 2
    norms, found = np.sqrt(inner.diagonal()), rho(inner, np.arange(N))
    with mpmath.workdps(50):
        A = mpmath.matrix(inner.tolist())
        cross = A[N:, :N]
        S = A[:N, :N] - cross.T * A[N:, N:] ** -1 * cross
        a, b, c = (S[i, j] / mpmath.sqrt(A[i, i] * A[j, j]) for i, j in ((0, 0), (0, 1), (1, 1)))
        exact = float(2 / (a + c - mpmath.sqrt((a - c) ** 2 + 4 * b**2)))
    values = np.linalg.eigvalsh(inner / np.outer(norms, norms))
    rounding = 2 * len(values) * np.finfo(float).eps * values[-1] / values[0]
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-12 + rounding)
    assert found <= rho(inner, np.arange(problem.n)) * (1 + 1e-9)


def test_rho_of_atoms_that_repeat_is_infinite():
    inner = np.ones((3, 3)) + np.diag([0.0, 0.0, 1.0])
    assert rho(inner, [0]) == np.inf
    assert rho(np.zeros((2, 2)), [0]) == np.inf


# ---- Natarajan


def order_recursive_matching_pursuit(K, y, tolerance):
    atoms = []
    while np.linalg.norm(least_squares(K, y, atoms)) > tolerance:
        left = [j for j in range(K.shape[1]) if j not in atoms]
        atoms.append(min(left, key=lambda j: np.linalg.norm(least_squares(K, y, [*atoms, j]))))
    return atoms


def least_squares(K, y, atoms):
    return y - K[:, atoms] @ np.linalg.lstsq(K[:, atoms], y, rcond=None)[0] if len(atoms) else y


def fewest(K, y, tolerance):
    for size in range(K.shape[1] + 1):
        for atoms in combinations(range(K.shape[1]), size):
            if np.linalg.norm(least_squares(K, y, list(atoms))) <= tolerance:
                return size
    raise AssertionError("K is not invertible")


@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.3]))
def test_natarajan_theorem_1(seed, relative):
    rng = np.random.default_rng(seed)
    # Near-orthogonal columns, since otherwise the bound is above the size of K and tests nothing.
    K = np.eye(7) + 0.05 * rng.normal(size=(7, 7))
    y = K @ (rng.normal(size=7) * (rng.random(7) < 0.4)) + 1e-3 * rng.normal(size=7)
    tolerance = relative * np.linalg.norm(y)
    unit = K / np.linalg.norm(K, axis=0)
    bound = natarajan_theorem_1(
        fewest(K, y, tolerance / 2), np.linalg.norm(np.linalg.inv(unit), 2), np.linalg.norm(y), tolerance
    )
    assert len(order_recursive_matching_pursuit(K, y, tolerance)) <= bound
    model = plain_regressor(
        kernel="precomputed", penalty=None, fit_intercept=False, stop="max", max_atoms=7, candidates="all"
    ).fit(K, y)
    assert np.argmax(model.path_.residual_norm <= tolerance) <= bound


def test_natarajan_theorem_1_needs_normalised_columns():
    """As Nair et al. quote it, with the inverse of K as it is, the theorem fails for K times 1,000."""
    K, y = 1000 * np.eye(4), np.ones(4)
    tolerance = 0.5
    opt, needed = fewest(K, y, tolerance / 2), len(order_recursive_matching_pursuit(K, y, tolerance))
    assert natarajan_theorem_1(opt, np.linalg.norm(np.linalg.inv(K), 2), 2.0, tolerance) < needed
    assert natarajan_theorem_1(opt, 1.0, 2.0, tolerance) >= needed
    assert natarajan_theorem_1(0, 1.0, 0.4, tolerance) == 0


# ---- Orthogonal greedy rates


@given(st.integers(0, 10**6), st.sampled_from([None, "ridge", "rkhs"]), st.sampled_from(["gain", "correlation"]))
def test_orthogonal_greedy_rate_on_fits(seed, penalty, selection):
    rng = np.random.default_rng(seed)
    X, alpha = rng.uniform(-2, 2, size=(25, 2)), 0.01
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=25)
    settings = {
        "gamma": 4.0,
        "penalty": penalty,
        "alpha": alpha,
        "fit_intercept": False,
        "stop": "max",
        "max_atoms": 12,
    }
    path = plain_regressor(selection=selection, candidates="all", **settings).fit(X, y).path_
    D = as_dictionary("rbf").resolve(X, 4.0).block(as_dictionary("rbf").resolve(X, 4.0).rows(X), np.arange(25))
    L = {None: 0 * D, "ridge": alpha * np.eye(25), "rkhs": 25 * alpha * D}[penalty]
    exact = np.linalg.solve(D.T @ D + L + 1e-9 * np.eye(25), D.T @ y)
    sparse = np.where(rng.random(25) < 0.2, rng.normal(size=25), 0.0)
    k = np.arange(1, len(path) + 1)
    for h in (exact, 0.3 * exact, sparse, 0 * sparse):
        cost = np.square(y - D @ h).sum() + h @ L @ h
        l1 = np.abs(h) @ np.sqrt((D.T @ D + L).diagonal())
        at_most(path.cost[1:], orthogonal_greedy_rate(k, cost, l1), y @ y)


def test_orthogonal_greedy_gap_cannot_have_a_better_constant():
    """Orthonormal atoms with equal weights: the bound and the truth agree to first order in k / n."""
    n = 100
    problem = Zhang(np.eye(n), np.ones(n), 0.01)
    norm = np.abs(problem.alpha_hat).sum() * np.sqrt(problem.G[0, 0])
    gaps = np.array([problem.dR(problem.best_of_atoms(range(k))) for k in range(3)])
    bound = orthogonal_greedy_gap(np.arange(3), gaps[0], norm)
    at_most(gaps, bound, gaps[0])
    assert bound[1] - gaps[1] < 0.02 * (gaps[0] - gaps[1])


@given(ridges())
def test_orthogonal_greedy_gap(drawn):
    problem, _ = drawn
    norms = np.sqrt(np.einsum("ui,ij,uj->u", problem.X, problem.G, problem.X))
    start, k = problem.dR(np.zeros(problem.d)), np.arange(5)
    bound = orthogonal_greedy_gap(k, start, np.abs(problem.alpha_hat) @ norms)
    at_most([problem.dR(w) for w in problem.algorithm_4(4)], bound, start)
    at_most(bound, problem.theorem_5_1(k), start)


def test_xu_rate_is_least_where_eq_2_4_says():
    n, T = 50_000, 3.0
    k = np.arange(1, 2000)
    best = k[np.argmin(xu_rate(k, n, T, 1.0, 0.0))]
    assert best == pytest.approx(T * np.sqrt(n / np.log(n)), abs=1)
    by_hand = 0.5 + np.log(2 / 0.1) * (T**2 / 4 + (2.0**2 + 4 * np.log(n)) / n)
    assert xu_rate(4, n, T, 2.0, 0.5, delta=0.1) == pytest.approx(by_hand)


# ---- Fitted models

RKHS = {"penalty": "rkhs", "fit_intercept": False, "stop": "max"}


def fitted(X, y, sample_weight=None, **settings):
    chosen = {**RKHS, "gamma": 3.0, "alpha": 0.01, "max_atoms": 25, "random_state": 0, **settings}
    return plain_regressor(**chosen).fit(X, y, sample_weight)


def kernel_matrix(model, X, rows=None, sample_weight=None):
    atoms = as_dictionary(model.kernel).resolve(X, model.gamma, sample_weight)
    return atoms.block(atoms.rows(X if rows is None else rows), np.arange(len(X)))


def dense_gaps(model, X, y, s=None):
    """Gaps of every model on the path by dense algebra, and the exact weights."""
    s, K, Y = np.ones(len(X)) if s is None else s, kernel_matrix(model, X), y.reshape(len(y), -1)
    n, alpha = s.sum(), model.alpha
    exact = np.linalg.solve(s[:, None] * K + n * alpha * np.eye(len(X)), s[:, None] * Y)

    def risk(w):
        return (s @ np.square(Y - K @ w)).sum() / (2 * n) + alpha / 2 * np.trace(w.T @ K @ w)

    gaps = []
    for k in range(len(model.path_) + 1):
        w = np.zeros_like(exact)
        w[model.at(k).center_indices_] = np.atleast_2d(model.at(k).coef_).T
        gaps.append(risk(w) - risk(exact))
    return np.array(gaps), exact


def two_targets(X, y):
    return np.stack([y, np.cos(X[:, 0])], axis=1)


@pytest.mark.parametrize("alpha", [1.0, 0.01, 1e-4])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"selection": "correlation"},
        {"kernel": "matern32", "gamma": 1.0},
        {"kernel": "polynomial", "gamma": 0.1},
        {"kernel": "laplacian"},
    ],
)
@pytest.mark.parametrize("kind", ["plain", "targets", "weights"])
def test_no_gap_on_a_path_exceeds_its_bounds(alpha, settings, kind):
    X, y = make_chirp(80)
    y = two_targets(X, y) if kind == "targets" else y
    s = np.random.default_rng(1).integers(0, 4, 80).astype(float) if kind == "weights" else None
    model = fitted(X, y, s, alpha=alpha, **settings)
    report = gap_report(model, X, y, sample_weight=s)
    gaps, _ = dense_gaps(model, X, y, s)
    certain = report.rounding < 1e-9 * report.risk[0]
    assert certain[:3].all()
    np.testing.assert_allclose(report.actual[certain], gaps[certain], atol=1e-8 * report.risk[0])
    assert report.guarantee == "every run"
    bounds = [report.certificate, report.greedy, report.theorem_5_1, report.corollary_5_1, report.theorem_6_1]
    for bound in bounds:
        at_most(report.actual[certain], bound[certain], report.risk[0])
    at_most(report.actual, report.certificate, report.risk[0])
    at_most(report.greedy, report.theorem_5_1, report.risk[0])


@pytest.mark.parametrize("settings", [{"selection": "random"}, {"candidates": 5}])
def test_random_algorithms_are_bounded_on_average(settings):
    X, y = make_chirp(60)
    reports = [
        gap_report(fitted(X, y, alpha=0.3, max_atoms=8, **settings | {"random_state": seed}), X, y) for seed in range(8)
    ]
    assert {report.guarantee for report in reports} == {"on average"}
    assert all(report.greedy is None and report.theorem_6_1 is None for report in reports)
    at_most(np.mean([r.actual for r in reports], axis=0), reports[0].theorem_5_1, 1.0)


@pytest.mark.parametrize(
    ("settings", "weights", "word"),
    [
        ({"selection": "residual"}, None, "selection"),
        ({"candidates": [0, 5, 9, 30]}, None, "candidates"),
        ({"shortlist": 4}, None, "shortlist"),
        ({"candidates": 5}, np.arange(1.0, 61.0), "sample_weight"),
    ],
)
def test_models_beyond_the_theorems_are_certified_but_promised_nothing(settings, weights, word):
    X, y = make_chirp(60)
    model = fitted(X, y, weights, max_atoms=4, **settings)
    report = gap_report(model, X, y, sample_weight=weights)
    assert report.guarantee.startswith("none, since")
    assert word in report.guarantee
    assert report.theorem_5_1 is report.corollary_5_1 is report.greedy is report.theorem_6_1 is None
    at_most(report.actual, report.certificate, report.risk[0])
    assert "theorem_5_1" not in report.columns()


def test_theorem_6_1_takes_reference_atoms():
    X = np.linspace(0, 60, 40)[:, None]
    y = np.sin(X[:, 0])
    model = fitted(X, y, alpha=0.05, gamma=1.0, max_atoms=20)
    own, given_rows = gap_report(model, X, y), gap_report(model, X, y, reference=[3, 9, 20])
    assert 1 <= given_rows.rho < np.inf
    assert given_rows.rho <= gap_report(model, X, y, reference=np.arange(40)).rho
    # Atoms nearly orthogonal: here the theorem says something.
    assert own.theorem_6_1[-1] < 0.95 * own.actual[0]
    for report in (own, given_rows):
        at_most(report.actual, report.theorem_6_1, report.risk[0])


def test_without_the_exact_solution_bounds_stay_bounds():
    X, y = make_friedman(150)
    model = fitted(X, y, gamma=0.5, alpha=0.1)
    exact, cheap = gap_report(model, X, y), gap_report(model, X, y, exact=False)
    assert cheap.actual is None
    assert cheap.exact_risk is None
    assert cheap.greedy is None
    at_most(exact.theorem_5_1, cheap.theorem_5_1, exact.risk[0])
    np.testing.assert_allclose(cheap.theorem_5_1, exact.theorem_5_1, rtol=0.05)
    assert cheap.dual <= exact.exact_risk <= cheap.risk[-1]


def test_a_report_shows_itself():
    X, y = make_chirp(60)
    shown = repr(gap_report(fitted(X, y, max_atoms=12), X, y)).splitlines()
    assert "every run" in shown[0]
    assert shown[1].split()[:2] == ["k", "risk"]
    assert [int(line.split()[0]) for line in shown[2:]] == [0, 2, 3, 4, 6, 8, 9, 10, 12]


# ---- Certificates


@pytest.mark.parametrize("selection", ["gain", "correlation", "residual", "random"])
@pytest.mark.parametrize("alpha", [1.0, 0.01, 1e-5])
def test_certificate_holds_for_any_model_and_tightens(selection, alpha):
    X, y = make_friedman(150)
    whole = fitted(X, y, gamma=0.3, alpha=alpha, selection=selection)
    gaps, exact = dense_gaps(whole, X, y)
    K, new = kernel_matrix(whole, X), np.random.default_rng(5).uniform(0, 1, size=(50, X.shape[1]))
    for k in (0, 1, 5, 25):
        model = whole.at(k)
        found = [certificate(model, X, y, n_iterations=i) for i in (0, 1, 3, 10, 200)]
        for one in found:
            at_most(gaps[k], one.gap, 1.0)
            assert one.risk - one.dual <= one.gap
            difference = model.predict(X) - K.T @ exact[:, 0]
            at_most(np.sqrt(np.mean(difference**2)), one.mean_difference, 1.0)
            away = model.predict(new) - kernel_matrix(whole, X, new).T @ exact[:, 0]
            at_most(np.abs(away).max(), one.distance, 1.0)
        duals = [one.dual for one in found]
        assert np.all(np.diff(duals) >= -1e-9 * np.abs(duals[0]))
        assert found[-1].gap == pytest.approx(gaps[k], rel=1e-6, abs=1e-8)


def test_certificate_says_where_rounding_hides_the_norm():
    """Atoms beyond numerical rank: weights of 1e8, a norm that is noise, and a certificate that owns up to it."""
    X, y = make_chirp(60)
    model = fitted(X, y, gamma=1.0, alpha=1e-3)
    sound = certificate(model.at(5), X, y)

    class Broken(KernelPursuitRegressor):
        center_indices_, centers_ = np.arange(6), X[:6]
        coef_ = 1e9 * np.array([1.0, -5.0, 10.0, -10.0, 5.0, -1.0])

    broken = Broken(**model.get_params()).fit(X, y)
    assert sound.rounding < 1e-10
    assert certificate(broken, X, y).rounding > 1.0


def test_certificate_of_a_model_without_residual_and_of_no_target():
    X = np.eye(4)
    model = fitted(X, np.zeros(4), max_atoms=2)
    assert certificate(model, X, np.zeros(4), n_iterations=2).gap == 0


FORMS = {
    "sparse": ({}, sp.csr_matrix),
    "float32": ({}, lambda X: X.astype(np.float32)),
    "integers": ({}, lambda X: (X * 10).astype(int)),
    "precomputed": ({"kernel": "precomputed", "gamma": "scale"}, lambda X: X @ X.T),
    "callable": ({"kernel": CallableKernel(lambda X, C: X @ C.T, is_mercer=True), "gamma": "scale"}, lambda X: X),
}


@pytest.mark.parametrize("form", FORMS)
def test_certificate_takes_what_fits_take(form):
    rows, y = make_friedman(90)
    settings, prepare = FORMS[form]
    X = prepare(rows)
    K = X if form == "precomputed" else (X @ X.T).toarray() if form == "sparse" else X.astype(float) @ X.T
    model = fitted(X, y, **{"kernel": "linear", "gamma": 1.0, "alpha": 0.05, "max_atoms": 5, **settings})
    w = np.zeros(90)
    w[model.center_indices_] = model.coef_
    exact = 0.05 / 2 * y @ np.linalg.solve(K + 90 * 0.05 * np.eye(90), y)
    gap = np.square(y - K @ w).sum() / 180 + 0.05 / 2 * w @ K @ w - exact
    assert certificate(model, X, y, n_iterations=30).gap == pytest.approx(gap, rel=1e-6, abs=1e-8)
    assert gap_report(model, X, y).actual[5] == pytest.approx(gap, rel=1e-6, abs=1e-8)


def test_certificate_is_the_same_for_a_row_twice_and_a_weight_of_two():
    X, y = make_chirp(50)
    s = np.where(np.arange(50) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(50), s.astype(int))
    weighted = certificate(fitted(X, y, s, max_atoms=6), X, y, sample_weight=s)
    plain = certificate(fitted(X[repeated], y[repeated], max_atoms=6), X[repeated], y[repeated])
    assert weighted.gap == pytest.approx(plain.gap, rel=1e-6)
    assert weighted.risk == pytest.approx(plain.risk, rel=1e-9)


def test_certificate_never_holds_the_kernel_matrix():
    X, y = make_friedman(6000)
    model = fitted(X, y, gamma=0.5, candidates=50, max_atoms=5)
    tracemalloc.start()
    try:
        certificate(model, X, y, n_iterations=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(X) ** 2 / 5


# ---- Refusals


@every_case("function", [certificate, gap_report])
@every_case(
    ("settings", "words"),
    [
        ({"penalty": "ridge"}, "penalty='ridge'"),
        ({"penalty": None}, "penalty=None"),
        ({"alpha": 0.0}, "alpha=0.0"),
        ({"fit_intercept": True}, "fit_intercept=True"),
        ({"kernel": ["rbf", "laplacian"]}, "one kernel at every training row"),
        ({"kernel": KernelAtoms("rbf", centers=np.zeros((1, 1)))}, "one kernel at every training row"),
    ],
)
def test_models_that_are_no_sparse_gaussian_process_are_refused(function, settings, words):
    X, y = make_chirp(40)
    model = fitted(X, y, **{"max_atoms": 3, **settings})
    with pytest.raises(ValueError, match=words) as caught:
        function(model, X, y)
    assert "\n" not in str(caught.value)


def test_a_kernel_that_is_not_mercer_is_refused():
    X, y = make_chirp(40)
    model = fitted(X, y, max_atoms=3)
    # Which no fit with this penalty would have taken.
    resolved = model._state.resolved
    resolved = replace(resolved, loop=replace(resolved.loop, dictionary=KernelAtoms("sigmoid")))
    model._state = replace(model._state, resolved=resolved)
    with pytest.raises(ValueError, match="Mercer"):
        certificate(model, X, y)


def test_what_was_set_after_the_fit_does_not_count():
    X, y = make_chirp(40)
    model = fitted(X, y, max_atoms=3)
    before = certificate(model, X, y).gap
    assert certificate(model.set_params(alpha=10.0, gamma=7.0), X, y).gap == before


def test_a_truncated_model_is_refused():
    X, y = make_chirp(40)
    with pytest.raises(ValueError, match="truncate"):
        certificate(fitted(X, y, max_atoms=3, truncate=1.0), X, y)


@pytest.mark.parametrize(
    ("name", "guarantee"),
    [
        ("sparse_gp_greedy", "every run"),
        ("sparse_gp_subspace", "every run"),
        ("sparse_gp_kappa", "on average"),
        ("sparse_gp_random", "on average"),
    ],
)
def test_zhangs_systems_have_their_guarantee(name, guarantee):
    X, y = make_chirp(80)
    model = getattr(presets, name)(gamma=3.0, max_atoms=12, alpha=0.1, random_state=0).fit(X, y)
    report = gap_report(model, X, y)
    assert report.guarantee == guarantee
    if guarantee == "every run":
        assert (report.actual <= report.theorem_5_1 + report.rounding).all()


def test_held_out_rows_void_the_guarantee():
    X, y = make_chirp(80)
    model = fitted(X, y, max_atoms=12, stop=Validation(fraction=0.5, patience=None))
    assert gap_report(model, X, y).guarantee.startswith("none, since rows were held out")


@every_case("function", [certificate, gap_report])
@every_case(
    ("spoil", "words"),
    [
        (lambda X, y: (X[::-1], y), "rows that it was fitted on"),
        (lambda X, y: (X[:2], y[:2]), "rows that it was fitted on"),
        (lambda X, y: (np.hstack([X, X]), y), "1 features"),
        (lambda X, y: (X[:, 0], y), "1 features"),
        (lambda X, y: (X, y[:-1]), r"y has shape \(39, 1\)"),
        (lambda X, y: (X, np.stack([y, y], axis=1)), r"y has shape \(40, 2\)"),
        (lambda X, y: (X, np.where(y > 0, np.nan, y)), "y holds NaN"),
        (lambda X, y: (X, ["a"] * 40), "y holds something else"),
    ],
)
def test_other_data_than_that_of_the_fit_is_refused(function, spoil, words):
    X, y = make_chirp(40)
    model = fitted(X, y, max_atoms=3)
    with pytest.raises(ValueError, match=words) as caught:
        function(model, *spoil(X, y))
    assert "\n" not in str(caught.value)


@every_case(
    ("call", "words"),
    [
        (lambda m, X, y: certificate(plain_regressor(**RKHS), X, y), "not fitted"),
        (lambda m, X, y: certificate(m, X, y, n_iterations=-1), "n_iterations=-1"),
        (lambda m, X, y: certificate(m, X, y, sample_weight=np.ones(3)), "sample_weight"),
        (lambda m, X, y: gap_report(m, X, y, exact="sometimes"), "exact='sometimes'"),
        (lambda m, X, y: gap_report(m, X, y, exact=1), "exact=1"),
        (lambda m, X, y: gap_report(m, X, y, reference=[99]), "reference"),
        (lambda m, X, y: gap_report(m, X, y, reference=[]), "reference"),
        (lambda m, X, y: rho(np.ones((2, 3)), [0]), "square"),
        (lambda m, X, y: zhang_theorem_5_1(-1, 1.0, 1.0, 1.0, 1.0), "k=-1"),
        (lambda m, X, y: zhang_theorem_5_1(1.5, 1.0, 1.0, 1.0, 1.0), "k=1.5"),
        (lambda m, X, y: zhang_corollary_5_1(1, 1.0, 1.0, 0.0), "alpha=0.0"),
        (lambda m, X, y: zhang_theorem_6_1(1, 1.0, 1.0, 2, 0.5), "rho=0.5"),
        (lambda m, X, y: orthogonal_greedy_rate(0, 1.0, 1.0), "k=0"),
        (lambda m, X, y: xu_rate(1, 100, 1.0, 1.0, 0.0, delta=1.5), "delta=1.5"),
        (lambda m, X, y: natarajan_theorem_1(1, 1.0, 1.0, 0.0), "tolerance=0.0"),
    ],
)
def test_settings_are_refused_in_a_sentence(call, words):
    X, y = make_chirp(40)
    with pytest.raises(ValueError, match=words) as caught:
        call(fitted(X, y, max_atoms=3), X, y)
    assert "\n" not in str(caught.value)
