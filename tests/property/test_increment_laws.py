"""Updates that refit little: what a step promises, it keeps; what must not matter, does not."""

from dataclasses import dataclass

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from plain import plain_regressor
from test_path_laws import problems

import kernelpursuit.engine.engine
from kernelpursuit import _native, pursuit_path
from kernelpursuit.dictionary import Constant, KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.updates import MinRes, Rescale, Stagewise

PENALTIES = (None, "ridge", "rkhs", "nugget")
UPDATES = (Stagewise(), Stagewise(shrinkage=0.3), Rescale())

settings_of_a_step = st.fixed_dictionaries(
    {
        "update": st.sampled_from(UPDATES),
        "selection": st.sampled_from(["gain", "correlation", "random"]),
        "penalty": st.sampled_from(PENALTIES),
        "alpha": st.sampled_from([1e-4, 0.03, 2.0]),
        "fit_intercept": st.booleans(),
        "gamma": st.sampled_from([0.5, 2.0]),
    }
)


@dataclass
class Dense:
    """The problem in dense matrices: columns D, penalty L, weights s; everything from scratch at given weights."""

    D: np.ndarray
    L: np.ndarray
    Y: np.ndarray
    s: np.ndarray
    intercept: bool

    @classmethod
    def of(cls, X, Y, weights, *, gamma, penalty, alpha, fit_intercept, **others):
        n, K = len(X), RBF(gamma=gamma)(X)
        s = np.ones(n) if weights is None else weights
        L = {"ridge": alpha * np.eye(n), "rkhs": s.sum() * alpha * K}.get(penalty, np.zeros((n, n)))
        nugget = alpha if penalty == "nugget" else 0.0
        return cls(K + nugget * np.eye(n), L, Y.reshape(n, -1), s, fit_intercept)

    def centred(self, A):
        return A - self.s @ A / self.s.sum() if self.intercept else A

    def weights(self, path, k):
        out = np.zeros((self.D.shape[1], self.Y.shape[1]))
        out[path.atoms(k)] = path.coef(k)
        return out

    def residual(self, path, k):
        return self.Y - self.D @ self.weights(path, k) - path.intercept(k)

    def cost(self, path, k):
        w = self.weights(path, k)
        return self.s @ np.square(self.residual(path, k)).sum(axis=1) + np.trace(w.T @ self.L @ w)

    def scores(self, path, k, rescales):
        """u, a (n_atoms, n_targets) and <j, j> of every atom at the model after k steps."""
        w, D = self.weights(path, k), self.centred(self.D)
        r = self.centred(self.Y) - D @ w
        u = (self.s[:, None] * D).T @ r - self.L @ w
        inner = self.s @ np.square(D) + np.diag(self.L)
        a = np.tile(inner[:, None], (1, u.shape[1]))
        if rescales and k:
            F = D @ w
            along = (self.s[:, None] * D).T @ F + self.L @ w
            length = self.s @ np.square(F) + np.einsum("jt,jt->t", w, self.L @ w)
            a = inner[:, None] - np.square(along) / length
        return u, a, inner

    def gains(self, path, k, rescales):
        u, a, inner = self.scores(path, k, rescales)
        usable = a > 1e3 * DEPENDENT * inner[:, None]
        return np.divide(np.square(u), a, out=np.zeros_like(u), where=usable).sum(axis=1)


@given(problems(), settings_of_a_step)
def test_the_cost_drops_by_what_was_promised(problem, settings):
    """By u²/a, and by nu (2 - nu) of it where a part nu of the step is taken."""
    X, Y, weights = problem
    path = pursuit_path(X, Y, sample_weight=weights, max_atoms=12, random_state=1, **settings)
    dense, update = Dense.of(*problem, **settings), settings["update"]
    nu = update.shrinkage if isinstance(update, Stagewise) else 1.0
    assert path.n_steps == 12
    for k, atom in enumerate(path.atom):
        promised = dense.gains(path, k, isinstance(update, Rescale))[atom]
        drop = path.cost[k] - path.cost[k + 1]
        assert drop == pytest.approx(nu * (2 - nu) * promised, rel=1e-7, abs=1e-12 * path.cost[0])


@given(problems(), settings_of_a_step)
def test_the_path_says_what_its_weights_say(problem, settings):
    X, Y, weights = problem
    path = pursuit_path(X, Y, sample_weight=weights, max_atoms=12, random_state=1, **settings)
    dense = Dense.of(*problem, **settings)
    assert path.loo is None
    for k in range(path.n_steps + 1):
        residual = dense.residual(path, k)
        assert path.cost[k] == pytest.approx(dense.cost(path, k), rel=1e-10)
        assert path.residual_norm[k] ** 2 == pytest.approx(dense.s @ np.square(residual).sum(axis=1), rel=1e-10)
        assert path.size[k] == len(path.atoms(k)) == len(set(path.atom[:k].tolist()))
        assert path.dof[k] == path.size[k] + settings["fit_intercept"]
        if settings["fit_intercept"]:
            np.testing.assert_allclose(dense.s @ residual, 0.0, atol=1e-11 * np.abs(Y).sum())
        if settings["penalty"] == "nugget":
            residual += settings["alpha"] * dense.weights(path, k)
        np.testing.assert_allclose(path.target_residual[k], dense.s @ np.square(residual), rtol=1e-9)


@given(problems(), settings_of_a_step.filter(lambda s: s["selection"] != "random"), st.booleans())
def test_the_best_is_picked(problem, settings, float32):
    """Of all atoms, those of the model included; from float32 scores, one that is nearly as good."""
    X, Y, weights = problem
    with pytest.MonkeyPatch.context() as patch:
        if float32:
            patch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", 0)
        path = pursuit_path(X, Y, sample_weight=weights, max_atoms=15, **settings)
    dense, rescales = Dense.of(*problem, **settings), isinstance(settings["update"], Rescale)
    for k, atom in enumerate(path.atom):
        u, _, inner = dense.scores(path, k, rescales)
        gain = dense.gains(path, k, rescales)
        score = gain if settings["selection"] == "gain" else np.square(u).sum(axis=1) / inner
        assert score[atom] >= score.max() * (1 - (1e-5 if float32 else 1e-8)) - 1e-12 * path.cost[0]


@given(problems(), settings_of_a_step.filter(lambda s: s["selection"] != "random"))
def test_of_drawn_candidates_the_best(problem, settings):
    X, Y, weights = problem
    path = pursuit_path(X, Y, sample_weight=weights, max_atoms=10, candidates=6, random_state=3, **settings)
    dense, rescales = Dense.of(*problem, **settings), isinstance(settings["update"], Rescale)
    assert path.n_steps == 10
    for k, atom in enumerate(path.atom):
        drawn = np.random.default_rng([3, k + 1, 1]).choice(len(X), size=6, replace=False)
        assert atom in drawn
        u, _, inner = dense.scores(path, k, rescales)
        gain = dense.gains(path, k, rescales)
        score = gain if settings["selection"] == "gain" else np.square(u).sum(axis=1) / inner
        assert score[atom] >= score[drawn].max() * (1 - 1e-8) - 1e-12 * path.cost[0]


@given(
    problems(),
    settings_of_a_step.filter(lambda s: s["penalty"] != "nugget" and s["selection"] != "random"),
    st.lists(st.integers(0, 11), min_size=1, max_size=5),
)
def test_a_duplicated_row_is_a_row_of_weight_two(problem, settings, again):
    X, Y, weights = problem
    weights = np.ones(len(X)) if weights is None else np.ceil(weights)
    counts = weights.copy()
    np.add.at(counts, again, weights[again])
    rows = np.concatenate([np.arange(len(X)), again])
    weighted = pursuit_path(X, Y, sample_weight=counts, max_atoms=10, **settings)
    repeated = pursuit_path(X[rows], Y[rows], sample_weight=weights[rows], max_atoms=10, **settings)
    np.testing.assert_array_equal(repeated.atom, weighted.atom)
    np.testing.assert_allclose(repeated.cost, weighted.cost, rtol=1e-9)
    np.testing.assert_allclose(repeated.weights(10), weighted.weights(10), rtol=1e-6, atol=1e-8)


@given(problems(), settings_of_a_step)
def test_zero_weight_is_removal(problem, settings):
    X, Y, weights = problem
    zeroed = np.ones(len(X)) if weights is None else weights.copy()
    zeroed[[0, 3, 4]] = 0.0
    kept = np.flatnonzero(zeroed)
    settings |= {"selection": "gain"}
    first = pursuit_path(X, Y, sample_weight=zeroed, max_atoms=10, **settings)
    second = pursuit_path(X[kept], Y[kept], sample_weight=zeroed[kept], max_atoms=10, **settings)
    np.testing.assert_array_equal(first.atom, kept[second.atom])
    np.testing.assert_allclose(first.cost, second.cost, rtol=1e-10)


@given(problems(), settings_of_a_step, st.integers(-300, 300))
def test_target_scaling_by_a_power_of_two_is_exact(problem, settings, exponent):
    X, Y, weights = problem
    path, scaled = (
        pursuit_path(X, np.ldexp(Y, e), sample_weight=weights, max_atoms=10, random_state=0, **settings)
        for e in (0, exponent)
    )
    np.testing.assert_array_equal(scaled.atom, path.atom)
    np.testing.assert_array_equal(scaled.cost, np.ldexp(path.cost, 2 * exponent))
    for k in range(11):
        np.testing.assert_array_equal(scaled.weights(k), np.ldexp(path.weights(k), exponent))


@given(problems(), settings_of_a_step, st.integers(1, 11))
def test_prefix(problem, settings, k):
    X, Y, weights = problem
    longer, shorter = (
        pursuit_path(X, Y, sample_weight=weights, max_atoms=m, random_state=4, **settings) for m in (12, k)
    )
    np.testing.assert_array_equal(shorter.atom, longer.atom[:k])
    np.testing.assert_array_equal(shorter.cost, longer.cost[: k + 1])
    np.testing.assert_allclose(shorter.weights(k), longer.weights(k), rtol=1e-12, atol=1e-14)


@given(problems(), settings_of_a_step)
def test_models_along_the_path(problem, settings):
    X, Y, weights = problem
    model = plain_regressor(max_atoms=10, stop="max", random_state=0, **settings)
    model.fit(X, Y, sample_weight=weights)
    staged, path = list(model.staged_predict(X)), model.path_
    assert len(staged) == path.n_steps + 1
    for k, prediction in enumerate(staged):
        here = model.at(k)
        np.testing.assert_array_equal(here.center_indices_, path.atoms(k))
        np.testing.assert_allclose(prediction, here.predict(X), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(here.predict(X), RBF(gamma=settings["gamma"])(X, X[path.atoms(k)]) @ path.coef(k)
                                   + path.intercept(k), rtol=1e-9, atol=1e-10)  # fmt: skip
    with pytest.raises(ValueError, match=r"update='orthogonal'\.$"):
        model.predict(X, return_std=True)


def test_more_steps_than_rows_and_atoms_picked_again():
    """They add up: in the end to the least-squares fit."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    fits = {}
    for update in ("stagewise", "rescale"):
        path = pursuit_path(X, y, gamma=0.5, update=update, penalty="ridge", alpha=0.5, max_atoms=400)
        assert path.n_steps > 8 >= path.size[-1]
        assert (np.diff(path.cost) <= 1e-14 * path.cost[0]).all()
        fits[update] = Dense.of(X, y, None, gamma=0.5, penalty="ridge", alpha=0.5, fit_intercept=False)
        K = fits[update].D
        best = np.linalg.solve(K.T @ K + 0.5 * np.eye(8), K.T @ y)
        np.testing.assert_allclose(fits[update].weights(path, path.n_steps)[:, 0], best, atol=1e-6)


@every_case(
    ("update", "selection", "candidates"),
    [
        *((update, "gain", "all") for update in UPDATES),
        ("minres", "residual", "all"),
        # With exchange, by both criteria of Nair section 3.1.
        *((u, s, c) for u in ("minres", "orthogonal") for s, c in (("correlation", "all"), ("correlation", 59))),
        *((u, "residual", 59) for u in ("minres", "orthogonal")),
    ],
)
@every_case("float64_up_to", [10**9, 0], ids=["float64", "float32"])
@every_case("penalty", [None, "nugget"])
def test_memory_and_threads_change_nothing(monkeypatch, update, selection, candidates, float64_up_to, penalty):
    monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", float64_up_to)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    Y = np.stack([np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], X[:, 2]], axis=1) + 0.1 * rng.normal(size=(400, 2))
    settings = {
        "gamma": 1.0,
        "selection": selection,
        "candidates": candidates,
        "random_state": 3,
        "exchange": selection != "gain",
        "sample_weight": rng.uniform(0.5, 2.0, size=400),
        "fit_intercept": True,
        "update": update,
        "penalty": penalty,
        "alpha": 0.1,
        "max_atoms": 20,
    }
    paths = [
        pursuit_path(X, Y, memory_budget=budget, n_jobs=jobs, **settings)
        for budget, jobs in ((2**30, 1), (0, 1), (300_000, 2), (2**30, 3))
    ]
    for other in paths[1:]:
        np.testing.assert_array_equal(other.atom, paths[0].atom)
        np.testing.assert_allclose(other.cost, paths[0].cost, rtol=1e-12)
        if _native.BACKEND == "native":
            np.testing.assert_array_equal(other.cost, paths[0].cost)
            np.testing.assert_array_equal(other.weights(20), paths[0].weights(20))


@pytest.mark.parametrize("selection", ["residual", "correlation"])
@pytest.mark.parametrize("settings", [{"update": "minres"}, {"exchange": True}, {"update": "minres", "exchange": True}])
def test_a_seed_is_a_path(selection, settings):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    given = {"gamma": 2.0, "penalty": None, "selection": selection, "candidates": 20, "max_atoms": 15, **settings}
    paths = [pursuit_path(X, y, random_state=seed, n_jobs=jobs, **given) for seed, jobs in ((0, 1), (0, 2), (1, 1))]
    np.testing.assert_array_equal(paths[0].atom, paths[1].atom)
    np.testing.assert_array_equal(paths[0].weights(15), paths[1].weights(15))
    assert paths[0].swaps == paths[1].swaps
    assert paths[0].atom.tolist() != paths[2].atom.tolist()


settings_of_minres = st.fixed_dictionaries(
    {
        "penalty": st.sampled_from([None, "nugget"]),
        "alpha": st.sampled_from([1e-3, 0.3]),
        "fit_intercept": st.booleans(),
        "gamma": st.sampled_from([0.5, 2.0]),
        "exchange": st.booleans(),
    }
)


def minres(problem, settings, n_steps=12, refit=False):
    X, Y, weights = problem
    update = MinRes(refit=refit)
    return pursuit_path(X, Y, sample_weight=weights, selection="residual", update=update, max_atoms=n_steps, **settings)


REFITTED = ("mdl", "aic", "fpe", "hdaic", "ptr", "tr1", "tr2", "tr3", "tol", "max")


class TestMinRes:
    @given(problems(), settings_of_minres)
    def test_residuals_never_grow_and_are_those_of_the_weights(self, problem, settings):
        path, dense = minres(problem, settings), Dense.of(*problem, **settings)
        assert (np.diff(path.residual_norm) <= 0).all()
        for k in range(path.n_steps + 1):
            assert path.size[k] == len(set(path.atoms(k).tolist())) == k
            assert path.cost[k] == pytest.approx(dense.cost(path, k), rel=1e-10)
            residual = dense.residual(path, k)
            if settings["fit_intercept"]:
                np.testing.assert_allclose(dense.s @ residual, 0.0, atol=1e-11 * np.abs(problem[1]).sum())
            if settings["penalty"] == "nugget":
                residual += settings["alpha"] * dense.weights(path, k)
            np.testing.assert_allclose(path.target_residual[k], dense.s @ np.square(residual), rtol=1e-9)

    @given(problems(), settings_of_minres)
    def test_a_step_is_the_best_along_the_residual(self, problem, settings):
        """Without exchanges: w moves by r at the rows of its atoms, times the length that leaves least."""
        settings |= {"exchange": False}
        path, dense = minres(problem, settings), Dense.of(*problem, **settings)
        root = np.sqrt(dense.s)[:, None]
        for k in range(path.n_steps):
            before, after = dense.weights(path, k), dense.weights(path, k + 1)
            r = dense.residual(path, k)
            assert path.atom[k] not in path.atoms(k)
            assert np.square(r[path.atom[k]]).sum() >= np.square(np.delete(r, path.atoms(k), axis=0)).sum(1).max() * (
                1 - 1e-9
            )
            direction = np.zeros_like(before)
            direction[path.atoms(k + 1)] = r[path.atoms(k + 1)]
            step = root * dense.centred(dense.D @ direction)
            length = (root * r * step).sum(axis=0) / np.square(step).sum(axis=0)
            np.testing.assert_allclose(after - before, length * direction, rtol=1e-7, atol=1e-10)

    @given(problems(), settings_of_minres, st.sampled_from([6, "all"]))
    def test_of_the_atoms_looked_at_the_best_alone(self, problem, settings, candidates):
        """Nair section 3.1: no other drawn atom, with the intercept refitted, would leave a smaller residual."""
        X, Y, weights = problem
        path = pursuit_path(
            X, Y, sample_weight=weights, selection="correlation", update=MinRes(refit=False), max_atoms=8,
            candidates=candidates, random_state=3, **settings,
        )  # fmt: skip
        dense = Dense.of(*problem, **settings)
        root = np.sqrt(dense.s)[:, None]
        columns = root * dense.centred(dense.D)
        for k in range(path.n_steps):
            left = np.setdiff1d(np.arange(len(X)), path.atoms(k))
            if candidates != "all":
                left = np.random.default_rng([3, k + 1, 1]).choice(left, size=min(6, len(left)), replace=False)
            r = root * dense.residual(path, k)
            drops = np.square(columns[:, left].T @ r).sum(axis=1) / np.square(columns[:, left]).sum(axis=0)
            assert path.atom[k] in left
            assert drops[left == path.atom[k]] >= drops.max() * (1 - 1e-9)

    @given(problems(), settings_of_minres, st.integers(3, 12))
    def test_the_kept_model_alone_is_refitted(self, problem, settings, n_steps):
        plain, refitted = (minres(problem, settings, n_steps, refit) for refit in (False, True))
        dense, last = Dense.of(*problem, **settings), plain.n_steps
        np.testing.assert_array_equal(refitted.atom, plain.atom)
        assert refitted.swaps == plain.swaps
        for name in ("cost", "residual_norm", "dof", "target_residual", "size"):
            np.testing.assert_array_equal(getattr(refitted, name), getattr(plain, name), err_msg=name)
        assert list(refitted.refits) == [last]
        assert not plain.refits
        refit = refitted.refits[last]
        for k in range(last):
            np.testing.assert_array_equal(refitted.weights(k), plain.weights(k))
        # Least squares: what is left is orthogonal to every column of the model.
        atoms, residual = refitted.atoms(last), dense.residual(refitted, last)
        np.testing.assert_array_equal(np.sort(atoms), np.sort(plain.atoms(last)))
        size = np.abs(dense.D).sum() * np.abs(problem[1]).max()
        np.testing.assert_allclose((dense.s[:, None] * dense.D[:, atoms]).T @ residual, 0.0, atol=1e-11 * size)
        if settings["fit_intercept"]:
            np.testing.assert_allclose(dense.s @ residual, 0.0, atol=1e-11 * size)
        assert refit["cost"] == pytest.approx(dense.cost(refitted, last), rel=1e-9)
        assert refit["residual_norm"] <= plain.residual_norm[last] * (1 + 1e-12)
        assert refit["residual_norm"] ** 2 == pytest.approx(refit["cost"], rel=1e-12)
        assert refit["dof"] == pytest.approx(len(atoms) + settings["fit_intercept"], rel=1e-9)
        if settings["penalty"] == "nugget":
            residual = residual + settings["alpha"] * dense.weights(refitted, last)
        np.testing.assert_allclose(refit["target_residual"], dense.s @ np.square(residual), rtol=1e-8)

    @pytest.mark.parametrize("fit_intercept", [False, True])
    def test_dependent_atoms_leave_the_refitted_model(self, rng, fit_intercept):
        """A linear kernel in two features: minimal residual iterations take rows as they come, least squares two."""
        X = rng.normal(size=(25, 2))
        Y = np.stack([X[:, 0], X.sum(axis=1)], axis=1) + rng.normal(size=(25, 2))
        model = plain_regressor(
            kernel="linear", gamma=1.0, selection="residual", update="minres", penalty=None, stop="max", max_atoms=10,
            fit_intercept=fit_intercept,
        ).fit(X, Y)  # fmt: skip
        path = model.path_
        assert path.n_steps == 10
        assert path.size.tolist() == [*range(10), 2]
        assert len(path.atoms(10)) == model.n_atoms_ == 2
        assert model.stop_reason_.startswith("2 atoms, and 8 dependent ones that the refit left out: ")
        assert {atom for k, atom in path.skipped if k == 10} == set(path.used) - set(path.atoms(10))
        A = np.column_stack([X, np.ones(25)]) if fit_intercept else X
        np.testing.assert_allclose(model.predict(X), A @ np.linalg.lstsq(A, Y, rcond=None)[0], atol=1e-10)
        assert (model.predict(X, return_std=True)[1] > 0).all()
        assert model.at(9).n_atoms_ == 9

    @pytest.mark.parametrize("exchange", [False, True])
    def test_a_rule_that_keeps_fewer_has_its_own_choice_refitted(self, exchange):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(60, 2))
        y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=60)
        settings = {"gamma": 2.0, "selection": "residual", "update": "minres", "penalty": None, "exchange": exchange}
        model = plain_regressor(stop="mdl", max_atoms=40, **settings).fit(X, y)
        k = model.model_.n_steps
        assert 0 < k < model.path_.n_steps
        A = np.column_stack([np.ones(60), RBF(gamma=2.0)(X, model.centers_)])
        np.testing.assert_allclose(model.predict(X), A @ np.linalg.lstsq(A, y, rcond=None)[0], atol=1e-9)
        # The choice was made of what the iterations left, and stands.
        plain = plain_regressor(stop="mdl", max_atoms=40, **settings | {"update": MinRes(refit=False)}).fit(X, y)
        assert plain.model_.n_steps == k
        np.testing.assert_array_equal(plain.center_indices_, model.center_indices_)

    @pytest.mark.parametrize("exchange", [False, True])
    @pytest.mark.parametrize("stop", [*REFITTED, "validation", "cv", "cv | mdl", "mdl | tol"])
    def test_whatever_the_rule_what_is_kept_is_refitted(self, stop, exchange):
        """The refit changes what the path says of that model, and must not change the choice."""
        settings = {"gamma": 2.0, "selection": "residual", "update": "minres", "penalty": None, "exchange": exchange}
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(60, 2))
            y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=60)
            model = plain_regressor(stop=stop, max_atoms=30, random_state=0, **settings).fit(X, y)
            factor = model.path_.factor(model.model_.n_steps)
            assert len(factor.members) == model.n_atoms_
            np.testing.assert_allclose(factor.weights()[1:, 0], model.coef_)


@every_case("update", ["stagewise", "rescale"])
@every_case("selection", ["gain", "correlation", "random"])
@every_case("gamma", [1e-7, 1e-9, 1e-11])
def test_atoms_that_are_nearly_the_intercept(update, selection, gamma, rng):
    """Of a kernel as wide as that, next to nothing is left beside the intercept; the cost still never rises."""
    X, y = rng.uniform(-3, 3, size=(60, 2)), rng.normal(size=60)
    settings = {"gamma": gamma, "update": update, "selection": selection, "penalty": None, "fit_intercept": True}
    path = pursuit_path(X, y, **settings, max_atoms=30, candidates="all", random_state=0)
    assert np.isfinite(path.cost).all()
    # Of an atom's squared length 1e-12 is new here, of which rounding leaves three or four digits.
    assert (np.diff(path.cost) <= 1e-7 * path.cost[0]).all()


@pytest.mark.parametrize("update", ["stagewise", "rescale"])
def test_the_constant_is_no_atom_beside_an_intercept(update, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    kernel = Constant() + KernelAtoms(RBF(gamma=1.0))
    path = pursuit_path(X, y, kernel=kernel, update=update, penalty=None, fit_intercept=True, max_atoms=20)
    assert 0 not in path.used
