"""Every stopping rule against its formula as the paper prints it, on paths made by hand and on fits.

On fits, residuals come from the predictions and degrees of freedom from the trace of the hat matrix, not from the path.
"""

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from made_paths import make_path
from plain import plain_regressor
from scipy.stats import chi2

from kernelpursuit import pursuit_path
from kernelpursuit.data import make_chirp, make_friedman
from kernelpursuit.stopping import AIC, FPE, HDAIC, MDL, PTR, TCR, TR1, TR2, TR3, TR4, Loo, OneSE
from kernelpursuit.stopping.measures import noise_reach

ALPHA, GAMMA = 1e-2, 1.0
FITS = {
    "plain": {"penalty": None, "fit_intercept": False},
    "ridge": {"penalty": "ridge", "fit_intercept": False},
    "intercept": {"penalty": "ridge", "fit_intercept": True},
    "weights": {"penalty": "ridge", "fit_intercept": True, "weights": "counts"},
    "small-weights": {"penalty": None, "fit_intercept": True, "weights": "below one"},
    "targets": {"penalty": "ridge", "fit_intercept": True, "targets": 3},
}


class Fitted:
    """A fit, and what the papers' symbols stand for on it, worked out anew."""

    def __init__(self, penalty, fit_intercept, weights=None, targets=1):
        rng = np.random.default_rng(5)
        self.X = rng.uniform(-3, 3, (50, 2))
        Y = np.stack([np.sin((t + 1) * self.X[:, 0]) + 0.4 * self.X[:, 1] for t in range(targets)], axis=1)
        self.Y = Y + 0.3 * rng.normal(size=Y.shape)
        given = {
            None: np.ones(50),
            "counts": rng.integers(1, 4, 50).astype(float),
            "below one": rng.uniform(0.1, 1, 50),
        }
        self.w = given[weights]
        settings = {"gamma": GAMMA, "alpha": ALPHA, "max_atoms": 20, "selection": "correlation", "stop": "max"}
        self.model = plain_regressor(penalty=penalty, fit_intercept=fit_intercept, **settings)
        self.model.fit(
            self.X, self.Y if targets > 1 else self.Y[:, 0], sample_weight=None if weights is None else self.w
        )
        self.path = self.model.path_
        self.intercept, self.alpha = fit_intercept, 0.0 if penalty is None else ALPHA
        # A row of weight 2 is two rows; one of weight 1/2 is a row all the same.
        self.rows = np.maximum(self.w, 1).sum()
        self.scale = self.rows / self.w.sum()
        self.K = np.exp(-GAMMA * np.square(self.X[:, None] - self.X).sum(axis=2))
        self.n, self.n_targets = self.rows * targets, targets
        self.steps = range(self.path.n_steps + 1)

    @property
    def rss(self):
        predicted = [p.reshape(self.Y.shape) for p in self.model.staged_predict(self.X)]
        return np.array([self.scale * (self.w @ np.square(self.Y - p)).sum() for p in predicted])

    def columns(self, k):
        atoms = self.K[:, self.path.atoms(k)]
        return np.hstack([np.ones((50, 1)), atoms]) if self.intercept else atoms

    def penalties(self, k):
        return np.diag([0.0] * self.intercept + [self.alpha] * k)

    @property
    def l(self):  # noqa: E743
        traces = []
        for k in self.steps:
            A = np.sqrt(self.w)[:, None] * self.columns(k)
            traces.append(np.trace(A @ np.linalg.solve(A.T @ A + self.penalties(k), A.T)) if A.shape[1] else 0.0)
        return self.n_targets * np.array(traces)

    @property
    def costs(self):
        return np.array(
            [r + self.alpha * self.scale * np.square(self.path.coef(k)).sum() for k, r in enumerate(self.rss)]
        )

    @property
    def correlations(self):
        lengths = np.sqrt(self.w @ np.square(self.K))
        predicted = [p.reshape(self.Y.shape) for p in self.model.staged_predict(self.X)]
        left = [np.sqrt(np.square(self.K.T @ (self.w[:, None] * (self.Y - p))).sum(axis=1)) for p in predicted]
        return np.array([np.sqrt(self.scale) * (c / lengths).max() for c in left])


@pytest.fixture(scope="module", params=FITS)
def fitted(request):
    return Fitted(**FITS[request.param])


def nair_10(m, r, l):  # noqa: E741
    return m / 2 * np.log(r) + l / 2 * np.log(m)


def nair_11(m, r, l):  # noqa: E741
    return m / 2 * np.log(r) + l / 2 * (1 + l / m) / (1 - (l + 2) / m)


def sugiura(m, r, l):  # noqa: E741
    return m / 2 * np.log(r) + m / 2 * (1 + l / m) / (1 - (l + 2) / m)


def akaike_fpe(n, r, l):  # noqa: E741
    return r * (n + l) / (n - l)


def xu_hdaic(n, r, l):  # noqa: E741
    return n * np.log(r / n) + 2 * l * np.log(n)


FORMULAS = [
    (MDL(), nair_10),
    (AIC(), sugiura),
    (AIC(variant="nair"), nair_11),
    (FPE(), akaike_fpe),
    (HDAIC(), xu_hdaic),
    (TR1(kappa=0.01), lambda n, r, l: r + 0.01 * l * np.log(n)),  # noqa: E741
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda value: repr(value) if hasattr(value, "name") else "")
class TestCriteria:
    def test_by_hand(self, rule, formula):
        rss, dof = np.array([9.0, 4.0, 2.0, 1.9, 1.85]), np.array([1.0, 1.9, 2.7, 3.5, 4.4])
        path = make_path(rss, dof=dof, n=12.0)
        wanted = formula(12, rss, dof)
        np.testing.assert_allclose(rule.curve(path), wanted, rtol=1e-12)
        assert rule.choose(path) == int(np.argmin(wanted))

    def test_on_a_fit(self, rule, formula, fitted):
        wanted = formula(fitted.n, fitted.rss, fitted.l)
        np.testing.assert_allclose(rule.curve(fitted.path), wanted, rtol=1e-6)
        assert rule.choose(fitted.path) == int(np.argmin(wanted))

    def test_nothing_left_wins_without_a_warning(self, rule, formula):
        path = make_path([4.0, 1.0, 0.0, 0.0], n=30.0)
        assert rule.choose(path) == 2

    def test_weights_of_one_half_change_nothing(self, rule, formula):
        rss = np.array([9.0, 4.0, 2.0, 1.9])
        whole, halved = make_path(rss, n=20.0), make_path(rss / 2, n=20.0, total_weight=10.0)
        np.testing.assert_allclose(rule.curve(halved), rule.curve(whole), rtol=1e-12)


def test_few_rows():
    """AIC is infinite from l + 2 = n on, FPE from l = n on; where it is so throughout, nothing is kept, and said so."""
    path = make_path([8.0, 4.0, 2.0, 1.0, 0.5, 0.0], n=5.0)
    np.testing.assert_array_equal(np.isinf(AIC().curve(path)), [False, False, False, True, True, True])
    np.testing.assert_array_equal(np.isinf(AIC("nair").curve(path)), [False, False, False, True, True, True])
    np.testing.assert_array_equal(np.isinf(FPE().curve(path)), [False] * 5 + [True])
    tiny = make_path([1.0, 0.5], n=2.0)
    assert AIC().choose(tiny) == 0
    assert AIC().explain(tiny) == "0 atoms: AIC is infinite for every model"


def test_rounding_of_the_degrees_of_freedom_does_not_make_interpolation_best():
    path = make_path([8.0, 4.0, 1e-28], dof=[1, 2, 5 - 1e-13], n=5.0)
    assert FPE().choose(path) == 1
    assert np.isinf(AIC().curve(path)[2])


class TestWhatFPECounts:
    def test_by_hand(self):
        """Akaike's l is the number of weights: here of one fixed column and of 0, 1, 1, 2, 3 atoms, of two targets."""
        rss, size, dof = np.array([[9.0, 1], [4, 1], [3, 1], [2, 1], [1.9, 1]]), [0, 1, 1, 2, 3], [1, 1.2, 1.3, 1.7, 2]
        path = make_path(rss, n=12.0, size=size, dof=dof, n_fixed=1)
        for counts, n_weights in (("atoms", 2 * (1 + np.array(size))), ("dof", 2 * np.array(dof))):
            wanted = akaike_fpe(24, rss.sum(axis=1), n_weights)
            np.testing.assert_allclose(FPE(counts=counts).curve(path), wanted, rtol=1e-12)

    def test_on_a_fit(self, fitted):
        n_weights = fitted.n_targets * np.array([fitted.columns(k).shape[1] for k in fitted.steps])
        wanted = akaike_fpe(fitted.n, fitted.rss, n_weights)
        np.testing.assert_allclose(FPE(counts="atoms").curve(fitted.path), wanted, rtol=1e-6)
        assert FPE(counts="atoms").choose(fitted.path) == int(np.argmin(wanted))

    def test_a_penalty_tells_them_apart(self):
        """Atoms that are held back take less than a degree of freedom each, so that counting them keeps fewer."""
        X, y = make_chirp(200)
        settings = {"gamma": 10.0, "max_atoms": 100}
        plain, held = (pursuit_path(X, y, alpha=alpha, **settings) for alpha in (0.0, 1.0))
        np.testing.assert_allclose(FPE(counts="atoms").curve(plain), FPE().curve(plain), rtol=1e-9)
        assert FPE(counts="atoms").choose(held) < 0.6 * FPE().choose(held)


class TestTR1:
    @pytest.mark.parametrize(
        ("n", "atoms", "M", "a"), [(1000.0, 1000, 1.0, 1), (100.0, 10_000, 2.0, 2), (50.0, 7, 1.5, 1)]
    )
    def test_kappa(self, n, atoms, M, a):
        """Xu sec. 3.1: 2,568 M⁴ (a + 5), with n^a atoms and a of at least 1."""
        path = make_path([5.0, 1.0], n=n, n_candidates=atoms, largest_target=M)
        assert TR1().weight(path) == pytest.approx(2568 * M**4 * (a + 5))
        assert TR1(bound=3.0).weight(path) == pytest.approx(2568 * 3.0**4 * (a + 5))

    def test_needs_140_000_rows_for_three_atoms(self):
        """Xu sec. 3.2, eq. 3.4: with M = a = 1, three atoms need n / log n above 642 * 6 * 3."""

        def kept(n):
            # A residual that falls from the largest there can be, 4 M² n, to nothing at the third atom.
            path = make_path([4 * n, 4 * n, 4 * n, 0.0], n=float(n), n_candidates=n, largest_target=1.0)
            return TR1().choose(path)

        assert (kept(130_000), kept(150_000)) == (0, 3)


class TestTCR:
    def literal(self, fitted, epsilon, sigma=None):
        """Section 3.3, with LCVE / n for sigma², and n_k atoms to choose from."""
        lcve = fitted.path.loo
        k_lcv = int(np.argmin(lcve))
        sigma = np.sqrt(lcve[k_lcv]) if sigma is None else sigma
        c = np.sqrt(fitted.costs[:-1] - fitted.costs[1:])
        K = []
        for k in range(1, k_lcv + 1):
            t, T = (2 + epsilon) / 2 * np.log(50 - (k - 1)), fitted.n_targets
            if c[k - 1] ** 2 >= sigma**2 * (2 * t if T == 1 else 2 * t + 2 * np.sqrt((T - 1) * t) + T - 1):
                K.append(k)
        return max(K, default=0)

    @every_case("epsilon", [0.0, 0.5, 3.0])
    @every_case("sigma", [None, 0.05, 1.0])
    def test_on_a_fit(self, fitted, epsilon, sigma):
        assert TCR(epsilon, sigma).choose(fitted.path) == self.literal(fitted, epsilon, sigma)

    def test_reductions_are_those_of_the_cost(self, fitted):
        np.testing.assert_allclose(
            np.square(TCR().reductions(fitted.path)), -np.diff(fitted.costs), rtol=1e-5, atol=1e-9
        )

    def test_by_hand(self):
        """Steps lower the cost by 10, 0.1, 10, 0.1 and 10; noise reaches 1.0 * 2 log n_k, about 9."""
        cost = [31.0, 21.0, 20.9, 10.9, 10.8, 0.8]
        path = make_path(cost, cost=cost, loo=[9, 5, 4, 3, 1, 2], n_candidates=100)
        assert TCR().choose(path) == 3
        assert TCR(epsilon=1.0).choose(path) == 0
        assert TCR(sigma=0.01).choose(path) == 4
        assert TCR().explain(path).startswith("3 atoms: no later step stands out of noise of level 1 (estimated)")

    @every_case("n_targets", [1, 2, 5, 40])
    @every_case("n_atoms", [2, 30, 10_000])
    def test_several_targets_are_as_safe_as_one(self, n_targets, n_atoms):
        """The sum of T squares of noise passes its threshold no more often than one square passes 2 log n."""
        one, several = (chi2.sf(noise_reach(np.log(n_atoms), t), t) for t in (1, n_targets))
        assert several <= one * (1 + 1e-12)
        # Nor is it much larger than it must be: at two thirds of it, this would not hold.
        assert chi2.sf(2 / 3 * noise_reach(np.log(n_atoms), n_targets), n_targets) > one

    def test_pure_noise_in_several_targets(self):
        """Nothing is kept of noise, and one target with a signal among four is found."""
        rng = np.random.default_rng(0)
        X = np.linspace(0, 6, 150)[:, None]
        noise = rng.normal(size=(150, 4))
        settings = {"gamma": 2.0, "max_atoms": 20, "stop": TCR(sigma=1.0)}
        assert plain_regressor(**settings).fit(X, noise).n_atoms_ == 0
        noise[:, 2] += 3 * np.sin(X[:, 0])
        assert plain_regressor(**settings).fit(X, noise).n_atoms_ >= 3


class TestPTR:
    @every_case("n", [20.0, 1000.0, 10_000.0])
    @every_case("T", [0.05, 0.5, 1.0, 2.3])
    def test_largest_integer_below(self, n, T):
        k = max(k for k in range(1000) if k < T * np.sqrt(n / np.log(n)) or k == 0)
        path = make_path(np.linspace(2, 1, 121), n=n)
        assert PTR(T).choose(path) == k
        assert PTR(T).fired(path)
        assert k == 0 or not PTR(T).fired(make_path(np.linspace(2, 1, k), n=n))
        assert f"T={T:g}" in PTR(T).explain(path)

    def test_strictly_below(self):
        n = 100.0
        assert PTR(T=5 / np.sqrt(n / np.log(n))).choose(make_path(np.linspace(2, 1, 31), n=n)) == 4

    @pytest.mark.parametrize("features", [1, 8])
    def test_chosen_by_hdaic(self, features):
        """Section 3.1, read literally, on residuals that fall fast and then hardly."""
        n, rss = 1000.0, 100 * np.exp(-np.arange(60) / 2) + 10 - np.arange(60) * 1e-3
        path = make_path(rss, n=n, n_features=features)
        grid = [m * (1 + np.log(features)) / 20 for m in range(1, 21)]
        sizes = [int(np.ceil(T * np.sqrt(n / np.log(n)))) - 1 for T in grid]
        hdaic = [n * np.log(rss[k] / n) + 2 * k * np.log(n) for k in sizes]
        best = int(np.argmin(hdaic))
        assert PTR().choose(path) == sizes[best] > 0
        assert f"T={grid[best]:.3g}, which has the least HDAIC" in PTR().explain(path)
        assert PTR().fired(make_path(rss[: sizes[-1] + 1], n=n, n_features=features))
        assert not PTR().fired(make_path(rss[: sizes[-1]], n=n, n_features=features))

    def test_a_path_that_is_too_short(self):
        path = make_path([4.0, 2.0, 1.0], n=1000.0)
        assert PTR(T=1.0).choose(path) == 2
        assert PTR(T=1.0).explain(path) == "2 atoms: max_atoms=9 reached, where PTR with T=1 asks for 12"
        assert PTR().choose(path) == 2

    def test_on_a_fit(self, fitted):
        n = fitted.rows
        sizes = [int(np.ceil(m / 20 * (1 + np.log(2)) * np.sqrt(n / np.log(n)))) - 1 for m in range(1, 21)]
        hdaic = xu_hdaic(fitted.n, fitted.rss, fitted.l)
        assert PTR().choose(fitted.path) == min(sizes, key=lambda k: hdaic[k])


class TestThresholds:
    def test_tr2_literally(self, fitted):
        """Xu eq. 1.4, with what no atoms leave for the sum of y²."""
        rss = fitted.rss
        left = [r + fitted.rows * np.abs(fitted.path.coef(k)).sum() for k, r in enumerate(rss)]
        passed = [k for k in range(1, len(rss)) if left[k] <= rss[0]]
        assert TR2().choose(fitted.path) == (passed[0] if passed else fitted.path.n_steps)

    def test_tr2_of_large_targets_and_of_small(self):
        """Xu sec. 3.2: for y = theta K(x, c) the sides are n |theta| and about n theta²."""
        X = np.linspace(0, 1, 40)[:, None]
        bump = np.exp(-np.square(X[:, 0] - X[20, 0]))
        settings = {"gamma": 1.0, "penalty": None, "selection": "correlation", "stop": "tr2", "max_atoms": 3}
        large, small = (pursuit_path(X, theta * bump, **settings) for theta in (5.0, 0.5))
        assert TR2().choose(large) == 1
        assert large.n_steps == 1
        assert TR2().choose(small) == small.n_steps
        assert "before RSS + n sum |weights|" in TR2().explain(small)

    @every_case("sigma", [None, 0.2, 0.4])
    def test_tr3_literally(self, fitted, sigma):
        """Cai and Wang 2011, theorem 7."""
        n = fitted.n
        level = np.sqrt(fitted.path.loo.min()) if sigma is None else sigma
        passed = np.flatnonzero(np.sqrt(fitted.rss) <= level * np.sqrt(n + 2 * np.sqrt(n * np.log(n))))
        assert TR3(sigma).choose(fitted.path) == (passed[0] if len(passed) else fitted.path.n_steps)

    @pytest.mark.parametrize("sigma", [0.2, 0.4])
    def test_tr4_literally(self, sigma):
        """Zhang 2009, theorem 4, for columns of norm sqrt(n)."""
        fitted = Fitted(**FITS["plain"])
        n, eta = 50, 0.1
        D = fitted.K * np.sqrt(n) / np.sqrt(np.square(fitted.K).sum(axis=0))
        stops = []
        for k, predicted in enumerate(fitted.model.staged_predict(fitted.X)):
            r = fitted.Y[:, 0] - predicted
            if np.abs(D.T @ r).max() / n <= sigma * np.sqrt(2 * np.log(2 * 50 / eta) / n):
                stops.append(k)
        assert 0 < stops[0] < 20
        assert TR4(sigma, eta=eta).choose(fitted.path) == stops[0]

    @pytest.mark.parametrize("mu", [0.5, "auto"])
    def test_tr4_literally_with_its_factor(self, mu):
        """The same with the theorem's 1 / (1 - mu), and mu of the whole Gram matrix of the columns."""
        X, y = make_chirp(60, seed=3)
        settings = {"gamma": 3.0, "penalty": None, "selection": "correlation", "max_atoms": 30}
        path = pursuit_path(X[::4], y[::4], stop=TR4(sigma=0.03, mu=mu), **settings)
        K = np.exp(-3.0 * np.square(X[::4] - X[::4].T))
        D = K / np.sqrt(np.square(K).sum(axis=0))
        coherence = np.abs(D.T @ D - np.eye(15)).max()
        assert 0.1 < coherence < 0.99
        bound = 0.03 * np.sqrt(2 * np.log(2 * 15 / 0.05)) / (1 - (coherence if mu == "auto" else mu))
        left = []
        for k in range(path.n_steps + 1):
            A = K[:, path.atoms(k)]
            r = y[::4] - A @ np.linalg.lstsq(A, y[::4], rcond=None)[0]
            left.append(np.abs(D.T @ r).max())
        assert TR4(sigma=0.03, mu=mu).bound(path) == pytest.approx(bound, rel=1e-9)
        assert left[-1] <= bound < min(left[:-1])
        assert path.end_reason == "stop='tr4' fired"
        words = TR4(sigma=0.03, mu=mu).explain(path)
        assert f"times 1 / (1 - mu) = {bound / TR4(sigma=0.03).bound(path):.3g} (" in words

    def test_the_factor_is_that_of_sigma(self, fitted):
        """Before mu was a parameter, the factor could only be given through sigma."""
        for mu in (0.0, 0.5, 0.75):
            assert TR4(0.2, mu=mu).choose(fitted.path) == TR4(0.2 / (1 - mu)).choose(fitted.path)

    @pytest.mark.parametrize("eta", [0.05, 0.9])
    def test_tr4_at_its_bound(self, eta):
        bound = 0.3 * np.sqrt(2 * np.log(2 * 70 / eta))
        for factor, kept in ((1 + 1e-9, 1), (1 - 1e-9, 0)):
            path = make_path([4.0, 2.0], n_candidates=70, correlation=[factor * bound, 0.0])
            assert TR4(sigma=0.3, eta=eta).choose(path) == kept

    def test_correlations_are_those_of_the_residual(self):
        fitted = Fitted(**FITS["plain"])
        np.testing.assert_allclose(fitted.path.correlation[:15], fitted.correlations[:15], rtol=1e-6)

    def test_unknown_correlations_do_not_fire(self):
        path = make_path([4.0, 2.0, 1.0], correlation=[3.0, 2.0, np.nan])
        assert TR4(sigma=1e-6).choose(path) == 2
        assert not TR4(sigma=1e6).fired(path)
        assert TR4(sigma=1e6).choose(path) == 0

    def test_without_an_estimate_of_the_noise_everything_is_kept(self):
        path = make_path([4.0, 2.0, 1.0], loo=[np.inf] * 3, correlation=[3.0, 2.0, 1.0])
        for rule in (TR3(), TR4()):
            assert rule.choose(path) == 2
            assert "could not be estimated" in rule.explain(path)
        assert TCR().choose(path) == 0

    def test_noise_passes_as_seldom_as_the_theorems_say(self):
        """Of pure noise, TR3 takes at most 1/n for signal and TR4 at most eta."""
        rng = np.random.default_rng(1)
        X = np.linspace(0, 10, 80)[:, None]
        K = np.exp(-np.square(X - X.T))
        kept3 = kept4 = 0
        for _ in range(400):
            y = rng.normal(size=80)
            corr = (np.abs(K @ y) / np.sqrt(np.square(K).sum(axis=0))).max()
            path = make_path([y @ y, 0.0], n=80.0, n_candidates=80, correlation=[corr, 0.0])
            kept3 += TR3(sigma=1.0).choose(path)
            kept4 += TR4(sigma=1.0, eta=0.2).choose(path)
        assert kept3 <= 400 / 80 + 5
        assert kept4 <= 0.2 * 400


def test_tr3_gives_the_training_errors_of_the_papers_table():
    """Xu table 1, TR3: training RMSE 0.106 at n = 1,000: just within 0.1 sqrt(1 + 2 sqrt(log n / n)) = 0.108."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=1000)
    y = np.sinc((20 * x - 10) / np.pi) + 0.1 * rng.normal(size=1000)
    settings = {"gamma": 100.0, "penalty": None, "selection": "correlation", "max_atoms": 40}
    path = pursuit_path(x[:, None], y, stop=TR3(sigma=0.1), **settings)
    assert path.end_reason == "stop='tr3' fired"
    errors = path.residual_norm / np.sqrt(1000)
    assert errors[-1] <= 0.1 * np.sqrt(1 + 2 * np.sqrt(np.log(1000) / 1000)) < errors[-2]
    assert abs(errors[-1] - 0.106) < 0.003


@pytest.fixture(scope="module")
def paths():
    made = {}
    for name, (X, y), gamma in [("chirp", make_chirp(), 3.0), ("friedman", make_friedman(400), 0.5)]:
        made[name] = pursuit_path(X, y, gamma=gamma, max_atoms=150, fit_intercept=True, alpha=1e-3)
    return made


class TestWhatIsKnownOfRules:
    @pytest.mark.parametrize("name", ["chirp", "friedman"])
    def test_heavier_penalties_keep_fewer_atoms(self, paths, name):
        """log n / 2 > 1 an atom for n > 7, and HDAIC weighs four times as much as MDL (per n/2 log RSS)."""
        sizes = [rule.choose(paths[name]) for rule in (TR1(), HDAIC(), MDL(), AIC("nair"))]
        assert sizes == sorted(sizes)
        assert TCR().choose(paths[name]) <= Loo().choose(paths[name])
        assert OneSE().choose(paths[name]) <= Loo().choose(paths[name])
        assert 0 < HDAIC().choose(paths[name]) < AIC().choose(paths[name])

    @pytest.mark.parametrize(
        "rule", [MDL(), AIC(), AIC("nair"), FPE(), HDAIC(), Loo(), OneSE(), TCR(), PTR(), TR3()], ids=repr
    )
    def test_units_do_not_matter(self, rule):
        X, y = make_chirp(120)
        settings = {"gamma": 3.0, "max_atoms": 40, "fit_intercept": True}
        sizes = {rule.choose(pursuit_path(X, scale * y, **settings)) for scale in (1.0, 1e-6, 1e5)}
        assert len(sizes) == 1

    @pytest.mark.parametrize("rule", [MDL(), AIC(), FPE(), HDAIC(), TCR(), PTR(), TR2(), TR3(), TR4()], ids=repr)
    def test_a_row_twice_is_a_row_of_weight_two(self, rule):
        X, y = make_chirp(60)
        again = np.r_[0:60, 0:20]
        weights = np.r_[np.full(20, 2.0), np.ones(40)]
        settings = {"gamma": 3.0, "max_atoms": 15, "fit_intercept": True, "candidates": np.arange(60)}
        twice, weighted = (
            pursuit_path(X[again], y[again], **settings),
            pursuit_path(X, y, sample_weight=weights, **settings),
        )
        assert rule.choose(twice) == rule.choose(weighted)

    @every_case("rule", [MDL(), AIC(), FPE(), HDAIC(), TR1(), TCR(), PTR(), TR3(), TR4()], ids=repr)
    def test_constant_targets_need_no_atoms(self, rule):
        X, _ = make_chirp(40)
        for y in (np.zeros(40), np.full(40, 3.7)):
            model = plain_regressor(stop=rule, gamma=3.0, max_atoms=5).fit(X, y)
            assert model.n_atoms_ == 0


@given(
    st.lists(st.floats(1e-3, 10.0), min_size=1, max_size=12),
    st.floats(20.0, 500.0),
    st.floats(1e-3, 1e3),
)
def test_choices_of_criteria_do_not_depend_on_units(falls, n, scale):
    """MDL, AIC, FPE and HDAIC add a constant, or multiply, when all residuals are scaled."""
    rss = 20.0 + np.cumsum(falls)[::-1]
    for rule in (MDL(), AIC(), AIC("nair"), FPE(), HDAIC()):
        curve, scaled = (rule.curve(make_path(s * rss, n=n)) for s in (1.0, scale))
        k = rule.choose(make_path(rss, n=n))
        # Up to rounding, the model chosen is as good as the best of the scaled path.
        if isinstance(rule, FPE):
            np.testing.assert_allclose(scaled, scale * curve, rtol=1e-9)
        else:
            shift = scaled[0] - curve[0]
            np.testing.assert_allclose(scaled - shift, curve, atol=1e-7 * n)
        assert curve[k] == curve.min()
