"""Pursuit under any loss, all weights refitted: minima found independently, picks by definition, laws of the path."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case
from oracles import Model
from plain import plain_classifier, plain_regressor
from scipy.optimize import minimize

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, pursuit_path
from kernelpursuit.losses import (
    DoomII,
    Exponential,
    Huber,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    SmoothHinge,
    Softmax,
    Squared,
    SquaredHinge,
    SquaredTanh,
)
from kernelpursuit.pursuit.basis import Basis
from kernelpursuit.updates import Orthogonal, Stagewise

GAMMA, ALPHA, N = 0.6, 0.05, 40
CONVEX = [
    Logistic(),
    Exponential(),
    SquaredHinge(),
    SmoothHinge(),
    Huber(delta=0.5),
    Quantile(q=0.3, width=0.6, unit=1.0),
    Poisson(),
    Softmax(),
]
ALL = [*CONVEX, SquaredTanh(), DoomII()]
# The least part of the largest curvature that a row has in the local square, as pursuit/objective.py says.
FLATTEST = 1e-2
# The local square is kept where no row's weight would change by more than 1e-3; scores are that uncertain.
LEEWAY = 1e-2


def rows(loss, seed=0, n=N, weighted=True):
    """Rows, targets of shape (n, n_targets) and weights on which the loss has a minimum."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    signal = np.sin(2 * X[:, 0]) + 0.7 * X[:, 1]
    if loss.kind == "margin":
        y = np.where(signal + rng.normal(size=n) > 0, 1.0, -1.0)[:, None]
    elif loss.kind == "classes":
        y = np.eye(3)[np.digitize(signal + 0.7 * rng.normal(size=n), [-0.5, 0.6])]
    elif loss.name == "poisson":
        y = rng.poisson(np.exp(signal + 0.5)).astype(float)[:, None]
    else:
        y = (signal + 0.3 * rng.standard_t(2, size=n))[:, None]
    return X, y, rng.uniform(0.3, 3.0, size=n) if weighted else np.ones(n)


def gram(X, gamma=GAMMA):
    return np.exp(-gamma * np.square(X[:, None] - X).sum(axis=-1))


def penalty_of(K, s, penalty):
    """The matrix L."""
    return {"ridge": ALPHA * np.eye(len(K)), "rkhs": ALPHA * s.sum() * K, None: np.zeros_like(K)}[penalty]


class Problem:
    """The penalised loss over given atoms, written out."""

    def __init__(self, loss, X, y, s, penalty=None, intercept=False):
        self.loss, self.y, self.s, self.intercept = loss, y, s, intercept
        self.K = gram(X)
        self.L = penalty_of(self.K, s, penalty)

    def columns(self, atoms):
        return np.hstack([np.ones((len(self.K), int(self.intercept))), self.K[:, atoms]])

    def L_of(self, atoms):
        return np.pad(self.L[np.ix_(atoms, atoms)], (int(self.intercept), 0))

    def cost(self, atoms, w):
        f = self.columns(atoms) @ w
        return self.s @ self.loss.value(self.y.T, f.T) + np.trace(w.T @ self.L_of(atoms) @ w)

    def slope(self, atoms, w):
        A = self.columns(atoms)
        return A.T @ (self.s * self.loss.gradient(self.y.T, (A @ w).T)).T + 2 * self.L_of(atoms) @ w

    def whitened(self, atoms):
        """R such that |R w| is the length of the model in rows and penalty."""
        A = np.sqrt(self.s)[:, None] * self.columns(atoms)
        values, vectors = np.linalg.eigh(self.L_of(atoms))
        return np.linalg.qr(np.vstack([A, np.sqrt(np.maximum(values, 0))[:, None] * vectors.T]), mode="r")

    def steepness(self, atoms, w):
        """Length of the gradient in whitened coordinates, as a part of the root of the cost."""
        R = self.whitened(atoms)
        return np.linalg.norm(np.linalg.solve(R.T, self.slope(atoms, w))) / np.sqrt(self.cost(atoms, w))

    def minimum(self, atoms, start=None):
        """Weights that minimise the cost, by scipy in whitened coordinates, to tight tolerance."""
        R, shape = self.whitened(atoms), (len(atoms) + int(self.intercept), self.y.shape[1])

        def function(c):
            w = np.linalg.solve(R, c.reshape(shape))
            return self.cost(atoms, w), np.linalg.solve(R.T, self.slope(atoms, w)).ravel()

        c = np.zeros(shape) if start is None else R @ start
        found = minimize(function, c.ravel(), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
        return np.linalg.solve(R, found.x.reshape(shape))

    def working_weights(self, f):
        c = self.loss.curvature(self.y.T, f.T)
        return self.s * np.maximum(c, FLATTEST * c.max()) / 2

    def scores(self, atoms, w, metric=None):
        """Squares of u, and a and <j, j> of all atoms in the weighted square with this metric, by definition."""
        B, K = self.columns(atoms), self.K
        M = np.diag(self.working_weights(B @ w) if metric is None else metric)
        L_B = np.pad(self.L[:, atoms], ((0, 0), (int(self.intercept), 0)))
        u = -K.T @ (self.s * self.loss.gradient(self.y.T, (B @ w).T)).T / 2 - L_B @ w
        inner = np.diagonal(K.T @ M @ K + self.L)
        across = K.T @ M @ B + L_B
        own = B.T @ M @ B + self.L_of(atoms)
        taken = np.einsum("ij,ji->i", across, np.linalg.solve(own, across.T)) if B.shape[1] else 0.0
        return np.square(u).sum(axis=1), inner - taken, inner


def run(loss, X, y, s, n_atoms=6, every=1, **settings):
    given = {"gamma": GAMMA, "alpha": ALPHA, "sample_weight": s, "max_atoms": n_atoms, "loss": loss}
    return pursuit_path(X, y, **{"update": Orthogonal(refit_every=every), **given, **settings})


SETTINGS = [("ridge", True), ("rkhs", True), (None, True), ("ridge", False), ("rkhs", False), (None, False)]


@pytest.mark.parametrize(("penalty", "intercept"), SETTINGS)
@pytest.mark.parametrize("loss", CONVEX, ids=repr)
def test_weights_after_every_step_are_the_minimum(loss, penalty, intercept):
    X, y, s = rows(loss)
    n_atoms = 6 if penalty else 3
    path = run(loss, X, y, s, n_atoms, penalty=penalty, fit_intercept=intercept)
    problem = Problem(loss, X, y, s, penalty, intercept)
    assert path.n_steps == n_atoms
    for k in range(n_atoms + 1):
        atoms, w = path.atoms(k), path.weights(k)
        assert path.cost[k] == pytest.approx(problem.cost(atoms, w), rel=1e-9)
        if len(w):
            assert problem.steepness(atoms, w) <= 2e-5
    wanted = problem.minimum(atoms)
    assert problem.cost(atoms, w) <= problem.cost(atoms, wanted) * (1 + 1e-9)
    f = problem.columns(atoms) @ wanted
    np.testing.assert_allclose(problem.columns(atoms) @ w, f, atol=2e-4 * (1 + np.abs(f).max()))
    assert path.residual_norm[k] ** 2 == pytest.approx(s @ loss.value(y.T, f.T), rel=1e-5)


@pytest.mark.parametrize("loss", [SquaredTanh(), DoomII()], ids=repr)
def test_weights_are_a_minimum_where_the_loss_is_not_convex(loss):
    X, y, s = rows(loss)
    path = run(loss, X, y, s)
    problem = Problem(loss, X, y, s, "ridge")
    for k in range(1, 7):
        atoms, w = path.atoms(k), path.weights(k)
        assert problem.steepness(atoms, w) <= 2e-5
        near = problem.minimum(atoms, start=w)
        assert problem.cost(atoms, w) <= problem.cost(atoms, near) * (1 + 1e-9)


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Softmax()], ids=repr)
def test_conjugate_gradients_find_the_same(loss):
    X, y, s = rows(loss)
    one, other = (
        run(loss, X, y, s, update=Orthogonal(refit_every=1, solver=name), fit_intercept=True)
        for name in ("newton", "cg")
    )
    np.testing.assert_array_equal(one.atom, other.atom)
    np.testing.assert_allclose(one.cost, other.cost, rtol=1e-9)


@pytest.mark.parametrize("selection", ["gain", "correlation"])
@pytest.mark.parametrize(("penalty", "intercept"), [("ridge", True), ("rkhs", False), (None, False)])
@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_picks_by_definition(loss, penalty, intercept, selection):
    """The atom of the largest u²/a, or u²/<j, j>, of the weighted square around a minimum.

    Gradient and metric are those of the last refit; where that costs much, the metric may be older.
    """
    X, y, s = rows(loss, seed=1)
    intercept = intercept and loss.name != "doom2"
    # Without a penalty, the loss that falls forever is soon flat.
    n_atoms = 7 if penalty else 2 if loss.name == "doom2" else 4
    path = run(loss, X, y, s, n_atoms, penalty=penalty, fit_intercept=intercept, selection=selection)
    problem = Problem(loss, X, y, s, penalty, intercept)
    n_exact, metric = 0, None
    for k in range(n_atoms):
        atoms = path.atoms(k)
        here = problem.working_weights(problem.columns(atoms) @ path.weights(k))
        if metric is None or not np.allclose(here, metric, rtol=1e-3, atol=0):
            metric = here
        squares, a, inner = problem.scores(atoms, path.weights(k), metric)
        left = np.setdiff1d(np.arange(len(X)), atoms)
        scores = np.zeros(len(X))
        scores[left] = squares[left] / (a if selection == "gain" else inner)[left]
        assert scores[path.atom[k]] >= (1 - LEEWAY) * scores.max(), f"step {k}"
        n_exact += int(np.argmax(scores)) == path.atom[k]
    assert n_exact >= n_atoms - 1


def test_gain_is_not_correlation():
    """So that the test above can tell them apart."""
    loss = Logistic()
    X, y, s = rows(loss, seed=1)
    paths = [run(loss, X, y, s, 7, selection=selection) for selection in ("gain", "correlation")]
    assert list(paths[0].atom) != list(paths[1].atom)


@pytest.mark.parametrize("every", [5, "auto"])
@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_refits_every_few_steps(loss, every):
    """The cost never rises; where a refit is due, it is the minimum; the kept model is refitted wherever it is."""
    X, y, s = rows(loss, n=60)
    n_atoms = 23
    intercept = loss.name != "doom2"  # it has no best constant, and so no refit without atoms
    path = run(loss, X, y, s, n_atoms, every, fit_intercept=intercept)
    problem = Problem(loss, X, y, s, "ridge", intercept)
    assert path.n_steps == n_atoms
    assert (np.diff(path.cost) <= 1e-10 * path.cost[0]).all()
    steep = [problem.steepness(path.atoms(k), path.weights(k)) if k + intercept else 0.0 for k in range(n_atoms + 1)]
    steep = np.array(steep)
    if every == 5:
        assert steep[0] <= 2e-5 or not intercept
        assert steep[n_atoms] <= 2e-5
        assert (steep[1:n_atoms] > 1e-4).any()
    else:
        # Every step up to 16 atoms, then every second one.
        assert (steep[1:17] <= 2e-5).all()
        assert steep[17] > 1e-5 or loss.name in ("doom2", "huber")
        assert steep[n_atoms] <= 2e-5
    for k in range(n_atoms + 1):
        recorded = path.refits.get(k, {}).get("cost", path.cost[k])
        assert recorded == pytest.approx(problem.cost(path.atoms(k), path.weights(k)), rel=1e-9)
    if loss in CONVEX:
        atoms = path.atoms(n_atoms)
        least = problem.cost(atoms, problem.minimum(atoms, start=path.weights(n_atoms)))
        assert problem.cost(atoms, path.weights(n_atoms)) <= least * (1 + 1e-8)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_cost_never_rises_however_rarely_refitted(loss, seed):
    """Also where the local square misleads between refits, and where the loss is not convex."""
    X, y, s = rows(loss, seed=seed, n=30)
    path = run(loss, X, y, s, 20, 1000, penalty="ridge", alpha=1e-3)
    assert (np.diff(path.cost) <= 1e-10 * path.cost[0]).all()


@pytest.mark.parametrize(("seed", "every"), [(19, 1000), (32, "auto")])
def test_cost_never_rises_where_a_refit_does_not_converge(seed, every):
    """A refit starts from no worse a model than that before the step, and so ends with none."""
    X, y, s = rows(SmoothHinge(), seed=seed, n=30)
    path = run(SmoothHinge(), X, y, s, 20, every, penalty="rkhs", alpha=1e-6)
    assert (np.diff(path.cost) <= 1e-10 * path.cost[0]).all()


@pytest.mark.parametrize("k", [3, 7, 10])
def test_the_estimator_keeps_the_minimum_between_refits(k):
    loss = Logistic()
    X, y, s = rows(loss)
    labels = np.where(y[:, 0] > 0, "b", "a")

    model = plain_classifier(gamma=GAMMA, alpha=ALPHA, max_atoms=k, stop="max", update=Orthogonal(refit_every=5)).fit(
        X, labels, s
    )
    problem = Problem(loss, X, y, s, "ridge", True)
    wanted = problem.minimum(model.center_indices_)
    np.testing.assert_allclose(model.intercept_, wanted[0], atol=1e-4)
    np.testing.assert_allclose(model.coef_, wanted[1:].T, atol=1e-3 * np.abs(wanted).max())
    assert list(model.path_.refits) == [k]


@pytest.mark.parametrize("update", ["orthogonal", Stagewise(refit_every=4)], ids=repr)
def test_a_loss_without_a_best_constant_is_fitted_without_an_intercept(update):
    """1 - tanh(m) falls forever towards the larger class; an intercept would run away from the atoms."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(60, 2))
    y = np.where(np.sin(2 * X[:, 0]) + 0.7 * X[:, 1] + 0.3 * rng.normal(size=60) > 0.3, 1.0, -1.0)
    path = run(DoomII(), X, y, None, 12, update=update, fit_intercept=True, alpha=1e-3)
    assert path.n_steps == 12
    assert path.n_fixed == 0
    right = np.sign(gram(X)[:, path.atoms(12)] @ path.coef(12))[:, 0] == y
    assert right.mean() > 0.8 > max((y > 0).mean(), (y < 0).mean()) + 0.1


class OwnSquared(Loss):
    """The squared loss as a user would write it."""

    def value(self, y, f):
        return np.square(y - f).sum(axis=0)

    def gradient(self, y, f):
        return 2 * (f - y)

    def curvature(self, y, f):
        return np.full(f.shape[1], 2.0)


@pytest.mark.parametrize("every", [1, 7, "auto"])
@pytest.mark.parametrize(
    "settings", [{"penalty": "ridge"}, {"penalty": "rkhs"}, {"penalty": None}, {"memory_budget": 0}]
)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_own_squared_loss_is_the_closed_form(every, settings, weighted):
    X, y, s = rows(Huber(), n=60, weighted=weighted)
    given = {"fit_intercept": True, "n_atoms": 15, "every": every, **settings}
    own, closed = (run(loss, X, y, s, **given) for loss in (OwnSquared(), Squared()))
    np.testing.assert_array_equal(own.atom, closed.atom)
    for name in ("cost", "loo", "loo_se", "dof", "residual_norm"):
        np.testing.assert_allclose(getattr(own, name), getattr(closed, name), rtol=1e-7, err_msg=name)
    for k in (0, 1, 8, 15):
        np.testing.assert_allclose(own.weights(k), closed.weights(k), rtol=1e-6, atol=1e-8)
    assert own.loss == "custom"


def test_own_squared_loss_of_several_targets():
    """The same atoms; a loss is the sum over outputs, where the closed form has their mean."""
    X, y, s = rows(Huber())
    Y = np.hstack([y, np.cos(3 * y)])
    own, closed = (run(loss, X, Y, s, 8, fit_intercept=True) for loss in (OwnSquared(), Squared()))
    np.testing.assert_array_equal(own.atom, closed.atom)
    np.testing.assert_allclose(own.weights(8), closed.weights(8), rtol=1e-6)
    np.testing.assert_allclose(own.loo, 2 * closed.loo, rtol=1e-7)


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), OwnSquared()], ids=repr)
def test_leave_one_out_is_that_of_refits_without_the_row(loss):
    X, y, _ = rows(Huber() if loss.name == "custom" else loss, seed=3, n=60, weighted=False)
    path = run(loss, X, y, None, 5, fit_intercept=True)
    problem = Problem(loss, X, y, np.ones(60), "ridge", True)
    for k in (0, 4):
        atoms, w, left = path.atoms(k), path.weights(k), np.empty(60)
        for i in range(60):
            without = np.ones(60)
            without[i] = 0
            part = Problem(loss, X, y, np.ones(60), "ridge", True)
            part.s = without
            f = problem.columns(atoms)[[i]] @ part.minimum(atoms, start=w)
            left[i] = loss.value(y[[i]].T, f.T)[0]
        exact = loss.name == "custom"
        assert path.loo[k] == pytest.approx(left.mean(), rel=1e-6 if exact else 0.05)
        assert path.loo_se[k] == pytest.approx(left.std() / np.sqrt(59), rel=1e-6 if exact else 0.1)
        fitted = loss.value(y.T, (problem.columns(atoms) @ w).T).mean()
        assert abs(path.loo[k] - left.mean()) < 0.2 * (left.mean() - fitted)


@every_case("penalised", [False, True])
@every_case("size", [0, 1, 12])
def test_reweighted_basis(penalised, size):
    """Orthonormal to a few eps; R leads to the reweighted atoms; S turns old coordinates into new ones."""
    rng = np.random.default_rng(size)
    n, eps = 50, np.finfo(float).eps
    atoms = rng.normal(size=(size, n)) @ np.diag(np.geomspace(1, 1e-3, n))
    L = 0.1 * np.eye(size) + 0.05 if penalised else np.zeros((size, size))
    C = np.linalg.cholesky(L).T if penalised else np.zeros((0, size))
    basis = Basis(n, size, penalised)
    for t, values in enumerate(atoms):
        coordinates = C[: t + 1, t].copy() if penalised else np.zeros(0)
        p = basis.project(values[None], coordinates[None] if penalised else None)[:, 0]
        direction = basis.orthogonalise(values, coordinates, p, values @ values + coordinates @ coordinates)
        if penalised:
            basis.add_coordinate(coordinates)
        basis.append(direction)
    old_R, old_V, old_T = basis.R.copy(), basis.V.copy(), basis.T.copy()
    handed_out = basis.R
    factor = 10 ** rng.uniform(-2, 0, size=n)
    S = basis.reweight(factor)
    V, T = basis.V, basis.T
    np.testing.assert_allclose(V @ V.T + T @ T.T, np.eye(size), atol=20 * eps)
    np.testing.assert_array_equal(basis.R, np.triu(basis.R))
    np.testing.assert_allclose(basis.R.T @ V, atoms * factor, atol=200 * eps * np.abs(atoms).max(initial=1))
    np.testing.assert_allclose(basis.R.T @ T, C.T, atol=200 * eps)
    np.testing.assert_allclose(basis.R, S @ old_R, atol=200 * eps * np.abs(old_R).max(initial=1))
    b = rng.normal(size=size)
    np.testing.assert_allclose((S @ b) @ V, (b @ old_V) * factor, atol=500 * eps)
    np.testing.assert_allclose((S @ b) @ T, b @ old_T, atol=500 * eps)
    np.testing.assert_array_equal(handed_out, old_R)  # what was given away stays as it was


UPDATES = [Orthogonal(), Orthogonal(refit_every=4), Stagewise(refit_every=4), Stagewise()]


@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", [Quantile(), Softmax()], ids=repr)
def test_same_bits_twice_and_same_atoms_whatever_the_machine(loss, update):
    X, y, s = rows(loss, n=60)
    given = {"update": update, "fit_intercept": True, "penalty": "rkhs"}
    first, again = (run(loss, X, y, s, 10, **given) for _ in range(2))
    np.testing.assert_array_equal(first.atom, again.atom)
    for k in (3, 10):
        np.testing.assert_array_equal(first.weights(k), again.weights(k))
    np.testing.assert_array_equal(first.cost, again.cost)
    for other in ({"memory_budget": 20_000}, {"n_jobs": 1}, {"memory_budget": 0, "n_jobs": 2}):
        path = run(loss, X, y, s, 10, **given, **other)
        np.testing.assert_array_equal(first.atom, path.atom, err_msg=str(other))
        np.testing.assert_allclose(first.cost, path.cost, rtol=1e-9)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", [Huber(), Poisson(), SquaredTanh()], ids=repr)
def test_a_longer_path_starts_with_the_shorter(loss, update):
    X, y, s = rows(loss)
    short, long = (run(loss, X, y, s, n, update=update, fit_intercept=True) for n in (6, 11))
    np.testing.assert_array_equal(short.atom, long.atom[:6])
    np.testing.assert_array_equal(short.cost, long.cost[:7])


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_warm_start_extends(update):
    X, y, s = rows(Logistic())
    given = {"gamma": GAMMA, "alpha": ALPHA, "update": update, "stop": "max", "random_state": 0}
    whole = plain_classifier(max_atoms=11, **given).fit(X, y[:, 0], s)
    model = plain_classifier(max_atoms=5, warm_start=True, **given).fit(X, y[:, 0], s)
    model.set_params(max_atoms=11).fit(X, y[:, 0], s)
    np.testing.assert_array_equal(model.path_.atom, whole.path_.atom)
    np.testing.assert_allclose(model.path_.cost, whole.path_.cost, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


def test_warm_start_with_another_loss_starts_anew():
    X, y, _ = rows(Huber())
    model = plain_regressor(loss=Huber(delta=0.5), max_atoms=3, warm_start=True, stop="max", gamma=GAMMA)
    before = model.fit(X, y[:, 0]).path_
    other = plain_regressor(loss=Huber(delta=0.1), max_atoms=3, stop="max", gamma=GAMMA).fit(X, y[:, 0])
    model.set_params(loss=Huber(delta=0.1)).fit(X, y[:, 0])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert not np.allclose(before.coef(3), model.path_.coef(3))


@pytest.mark.parametrize("loss", [*ALL, Huber(), Quantile()], ids=repr)
@pytest.mark.parametrize("update", [Orthogonal(refit_every=3), Stagewise(refit_every=3)], ids=repr)
def test_weight_two_is_a_row_given_twice(loss, update):
    X, y, _ = rows(loss)
    times = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(N), times.astype(int))
    given = {"update": update, "fit_intercept": loss.name != "doom2"}
    one, other = run(loss, X, y, times, **given), run(loss, X[twice], y[twice], None, **given)
    np.testing.assert_array_equal(one.atom, twice[other.atom])
    np.testing.assert_allclose(one.cost, other.cost, rtol=1e-8)
    np.testing.assert_allclose(one.weights(6), other.weights(6), rtol=1e-3, atol=1e-4)
    if one.loo is not None:
        np.testing.assert_allclose(one.loo, other.loo, rtol=1e-4)


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Huber(), Softmax()], ids=repr)
@pytest.mark.parametrize("update", [Orthogonal(), Stagewise(refit_every=3)], ids=repr)
def test_rows_of_weight_zero_are_left_out(loss, update):
    X, y, s = rows(loss)
    s[::4] = 0.0
    kept = np.flatnonzero(s)
    spoiled = y.copy()
    spoiled[::4] = y[(np.arange(N) + 1) % N][::4]
    given = {"update": update, "fit_intercept": True}
    one, other = run(loss, X, spoiled, s, **given), run(loss, X[kept], y[kept], s[kept], **given)
    np.testing.assert_array_equal(one.atom, kept[other.atom])
    np.testing.assert_allclose(one.cost, other.cost, rtol=1e-10)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(), Poisson()], ids=repr)
def test_sparse_and_single_precision_rows(loss):
    X, y, s = rows(loss)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    paths = [run(loss, rows, y, s, fit_intercept=True) for rows in (X.astype(float), X, sp.csr_matrix(X))]
    for path in paths[1:]:
        np.testing.assert_array_equal(path.atom, paths[0].atom)
        np.testing.assert_allclose(path.cost, paths[0].cost, rtol=1e-5)
    labels = y.argmax(axis=1) if y.shape[1] > 1 else y[:, 0]
    estimator = KernelPursuitRegressor if loss.name == "poisson" else KernelPursuitClassifier
    model = estimator(loss=loss, max_atoms=4, stop="max").fit(X, labels)
    assert model.predict(sp.csr_matrix(X)).shape == (N,)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Exponential()], ids=repr)
@pytest.mark.parametrize("update", [Orthogonal(refit_every=1), Stagewise(refit_every=2)], ids=repr)
def test_several_targets_share_atoms(loss, update):
    """Each has the weights that it would have alone with these atoms."""
    X, y, s = rows(loss)
    Y = np.hstack([y, rows(loss, seed=9)[1]])
    path = run(loss, X, Y, s, update=update)
    assert path.coef(6).shape == (path.size[6], 2)
    for t in range(2):
        alone = Problem(loss, X, Y[:, [t]], s, "ridge")
        wanted = alone.minimum(path.atoms(6))
        np.testing.assert_allclose(path.coef(6)[:, [t]], wanted, atol=1e-3 * np.abs(wanted).max())
    single = [run(loss, X, Y[:, [t]], s, update=update).atom[0] for t in range(2)]
    assert path.cost[0] == pytest.approx(2 * s.sum() * loss.value(np.ones((1, 1)), np.zeros((1, 1)))[0])
    assert single[0] != single[1]


class LogCosh(Loss):
    """A user's loss, log cosh of the error."""

    def value(self, y, f):
        return (np.logaddexp(f - y, y - f) - np.log(2)).sum(axis=0)

    def gradient(self, y, f):
        return np.tanh(f - y)

    def curvature(self, y, f):
        r = np.maximum(np.abs(f - y), 1e-8)
        return (np.tanh(r) / r).max(axis=0)


@pytest.mark.parametrize("update", ["orthogonal", Stagewise(refit_every=3)], ids=repr)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_users_own_loss(update, n_targets):
    loss = LogCosh()
    X, y, s = rows(Huber())
    Y = np.hstack([y, np.sin(y)])[:, :n_targets]
    model = plain_regressor(loss=loss, gamma=GAMMA, alpha=ALPHA, max_atoms=8, stop="max", update=update)
    model.fit(X, Y[:, 0] if n_targets == 1 else Y, s)
    problem = Problem(loss, X, Y, s, "ridge", True)
    wanted = problem.minimum(model.center_indices_)
    got = np.vstack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_).T])
    np.testing.assert_allclose(got, wanted, atol=1e-3 * np.abs(wanted).max())
    fitted = problem.columns(model.center_indices_) @ got
    np.testing.assert_allclose(model.predict(X).reshape(fitted.shape), fitted, atol=1e-10)
    assert len(list(model.staged_predict(X))) == len(model.path_) + 1
    assert model.path_.loss == "custom"


def test_predictions_are_means():
    """Poisson regression predicts counts, not their logarithms."""
    X, y, s = rows(Poisson())
    model = plain_regressor(loss="poisson", gamma=GAMMA, alpha=ALPHA, max_atoms=6, stop="max").fit(X, y[:, 0], s)
    scores = gram(X)[:, model.center_indices_] @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), np.exp(scores), rtol=1e-9)
    # The intercept is not penalised, so that counts and predictions have the same sum.
    assert s @ model.predict(X) == pytest.approx(s @ y[:, 0], rel=1e-5)
    with pytest.raises(ValueError, match=r"Standard deviations need the squared loss"):
        model.predict(X, return_std=True)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_robust_against_outliers(loss):
    """Rows that are off by 1e8 hardly move a Huber fit; the squared one they throw off, so that the test can fail."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(100, 1))
    truth = np.sin(2 * X[:, 0])
    y = truth + 0.05 * rng.normal(size=100)
    y[::17] += 1e8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = plain_regressor(loss=loss, gamma=1.0, max_atoms=12, stop="max").fit(X, y)
    worst = np.median(np.abs(model.predict(X) - truth))
    assert (worst < 0.3) == (loss == "huber")


def test_the_closed_form_agrees_with_an_oracle():
    """The oracle of least squares and the problem above are the same, so that neither is off on its own."""
    X, y, s = rows(Huber())
    atoms = [3, 7, 20]
    model = Model(gram(X), y, L=penalty_of(gram(X), s, "rkhs"), weights=s, intercept=True)
    problem = Problem(OwnSquared(), X, y, s, "rkhs", True)
    np.testing.assert_allclose(problem.minimum(atoms), model.fit(atoms), atol=1e-6)
    squares, a, _ = problem.scores(atoms, model.fit(atoms))
    assert squares[11] / a[11] == pytest.approx(model.gain(atoms, 11), rel=1e-6)
