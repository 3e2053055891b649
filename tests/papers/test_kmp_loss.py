"""Pursuit under a loss against section 3 of the paper, atom by atom and weight by weight."""

import numpy as np
import pytest
from papers import kmp, kmp_loss
from papers.trace import norm
from plain import plain_classifier

from kernelpursuit import pursuit_path
from kernelpursuit.updates import Stagewise

GAMMA, N_STEPS = 0.7, 10
CASES = [(loss, p) for loss in kmp_loss.LOSSES for p in (1, 3, None)]


def problem(seed, weighted, n=50):
    """Two classes with one label in five wrong, so that no few atoms tell them apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0) * np.where(rng.random(n) < 0.2, -1, 1)
    s = rng.uniform(0.3, 3.0, size=n) if weighted else None
    return X, y, np.exp(-GAMMA * np.square(X[:, None] - X).sum(axis=-1)), s


def library(X, y, s, loss, update, n_steps=N_STEPS):
    return pursuit_path(
        X,
        y,
        gamma=GAMMA,
        loss=loss,
        selection="correlation",
        update=update,
        penalty=None,
        sample_weight=s,
        max_atoms=n_steps,
    )


def assert_same_path(path, trace, D, n_least):
    """Atoms and weights of every step whose choices were clear, up to what a solver leaves."""
    k_last = trace.n_clear
    assert k_last >= n_least
    assert list(path.atom[:k_last]) == trace.picks[:k_last]
    for k in range(1, k_last + 1):
        atoms = sorted(set(trace.picks[:k]))
        weights = np.zeros(D.shape[1])
        weights[path.atoms(k)] = path.coef(k)[:, 0]
        assert set(np.flatnonzero(weights)) <= set(atoms)
        wanted, f = trace.weights[k][:, 0], trace.residuals[k][:, 0]
        np.testing.assert_allclose(D @ weights, f, atol=1e-4 * (1 + np.abs(f).max()), err_msg=f"scores after {k}")
        loosest = np.linalg.svd(D[:, atoms], compute_uv=False)[-1]
        np.testing.assert_allclose(weights, wanted, atol=1e-4 * (1 + norm(f) / loosest), err_msg=f"weights after {k}")


@pytest.mark.parametrize(("seed", "weighted"), [(0, False), (4, False), (2, True)])
@pytest.mark.parametrize(("loss", "p"), CASES)
def test_figure_4(loss, p, seed, weighted):
    X, y, D, s = problem(seed, weighted)
    trace = kmp_loss.figure_4(D, y, kmp_loss.LOSSES[loss], N_STEPS, p, s)
    path = library(X, y, s, loss, Stagewise(refit_every=p))
    assert_same_path(path, trace, D, n_least=8)


@pytest.mark.parametrize(("loss", "p"), [case for case in CASES if case[1] != 1])
def test_figure_4_by_conjugate_gradients(loss, p):
    X, y, D, s = problem(2, True)
    trace = kmp_loss.figure_4(D, y, kmp_loss.LOSSES[loss], N_STEPS, p, s)
    path = library(X, y, s, loss, Stagewise(refit_every=p, solver="cg"))
    assert_same_path(path, trace, D, n_least=8)
    other = library(X, y, s, loss, Stagewise(refit_every=p, solver="newton"))
    np.testing.assert_allclose(path.cost, other.cost, rtol=1e-6)


@pytest.mark.parametrize("loss", kmp_loss.LOSSES)
def test_the_kept_model_is_refitted(loss):
    """Ten steps in threes: the last one is refitted, and the one before is not."""
    X, y, D, s = problem(0, False)
    path = library(X, y, s, loss, Stagewise(refit_every=3))
    value = kmp_loss.LOSSES[loss]

    def cost_and_slope(k):
        A = D[:, path.atoms(k)]
        values, slopes = value(y, A @ path.coef(k)[:, 0])
        return values.sum(), norm(np.linalg.qr(A)[0].T @ slopes)

    assert cost_and_slope(10)[1] <= 1e-5 * path.residual_norm[0]
    assert cost_and_slope(9)[1] <= 1e-5 * path.residual_norm[0]
    assert cost_and_slope(8)[1] > 1e-3
    assert path.refits[10]["cost"] == pytest.approx(cost_and_slope(10)[0], rel=1e-10)
    assert path.refits[10]["cost"] < path.cost[10]
    assert path.refits[10]["residual_norm"] == pytest.approx(np.sqrt(path.refits[10]["cost"]), rel=1e-10)
    assert path.cost[9] == pytest.approx(cost_and_slope(9)[0], rel=1e-10)
    assert list(path.refits) == [10]
    assert (np.diff(path.cost) <= 1e-12 * path.cost[0]).all()


def test_the_classifier_keeps_the_refitted_model():
    X, y, D, _ = problem(1, False)
    update = Stagewise(refit_every=5)
    given = {"gamma": GAMMA, "penalty": None, "selection": "correlation", "stop": "max", "max_atoms": 8}
    model = plain_classifier(update=update, loss="tanh", fit_intercept=False, **given).fit(X, y)
    wanted = kmp_loss.figure_4(D, y, kmp_loss.tanh_065, 8, 5)
    assert wanted.n_clear == 8
    np.testing.assert_allclose(model.decision_function(X), wanted.residuals[8][:, 0], atol=1e-4)


def test_squared_loss_without_refits_is_basic_matching_pursuit():
    """Equations (9) and (10) are those of figure 1 where the loss is squared: closed form and search agree."""
    X, y, D, s = problem(4, True)
    paper = kmp.basic(np.sqrt(s)[:, None] * D, np.sqrt(s) * y, N_STEPS)
    trace = kmp_loss.figure_4(D, y, kmp_loss.squared, N_STEPS, None, s)
    assert trace.n_clear == paper.n_clear == N_STEPS
    assert trace.picks == paper.picks
    np.testing.assert_allclose(trace.weights[-1], paper.weights[-1], atol=1e-10)
    for update in (Stagewise(), Stagewise(refit_every=1000)):
        path = library(X, y, s, "squared", update)
        assert list(path.atom) == paper.picks
        np.testing.assert_allclose(path.coef(9)[:, 0], paper.weights[9][path.atoms(9), 0], atol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "tanh"])
def test_shrunken_steps(loss):
    X, y, D, s = problem(5, True)
    trace = kmp_loss.figure_4(D, y, kmp_loss.LOSSES[loss], 30, None, s, shrinkage=0.3)
    path = library(X, y, s, loss, Stagewise(shrinkage=0.3), 30)
    assert_same_path(path, trace, D, n_least=20)
    assert path.size[-1] < 30  # atoms came again


def test_first_step_of_exponential_loss_is_half_log_odds():
    """By hand: one atom that is 1 on all rows, 3 of 4 targets +1; half the log-odds is log(3) / 2."""
    path = pursuit_path(
        np.ones((4, 1)),
        [1.0, 1.0, 1.0, -1.0],
        kernel="precomputed",
        loss="exponential",
        penalty=None,
        update=Stagewise(refit_every=2),
        selection="correlation",
        max_atoms=1,
    )
    assert path.coef(1)[0, 0] == pytest.approx(np.log(3) / 2, rel=1e-6)
    assert path.cost[1] == pytest.approx(2 * np.sqrt(3), rel=1e-10)
