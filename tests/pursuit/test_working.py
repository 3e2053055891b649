"""Working weights and response, leave-one-out in closed form, and fits that own the weights of their rows."""

import numpy as np
import pytest

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.engine import Engine
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Huber, Logistic, Poisson, Softmax
from kernelpursuit.penalties import Atoms
from kernelpursuit.pursuit import Objective
from kernelpursuit.pursuit.fits import Design, LossFit, StagewiseLossFit
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.scores import running_scores
from kernelpursuit.pursuit.working import (
    LEAST_CURVATURE,
    loo_error,
    loo_prediction,
    one_minus_leverage,
    working_weights,
)
from kernelpursuit.updates import Orthogonal, Stagewise

N = 30


def targets_for(loss, rng):
    if isinstance(loss, Softmax):
        return np.eye(3)[:, rng.integers(3, size=N)]
    if isinstance(loss, Logistic):
        return np.where(rng.normal(size=(1, N)) > 0, 1.0, -1.0)
    return rng.poisson(2.0, size=(1, N)).astype(float)


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Softmax(), Huber(delta=1.0)], ids=repr)
def test_the_quadratic_has_the_gradient_of_the_loss(loss, rng):
    y, s = targets_for(loss, rng), rng.uniform(0.3, 2.0, size=N)
    f = 0.5 * rng.normal(size=y.shape)
    local = Objective(loss, y, s).around(f)
    np.testing.assert_allclose(2 * local.weights * (f - local.response), local.gradient, rtol=1e-12, atol=1e-14)
    root = np.sqrt(local.weights)
    np.testing.assert_allclose(local.targets, root * local.response, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(local.residual, local.targets - root * f, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=repr)
def test_the_quadratic_equals_the_loss_to_second_order(loss, rng):
    """Near the targets, where the curvature is the second derivative: half the distance leaves an eighth."""
    y, s = np.clip(targets_for(loss, rng), -1, 3), rng.uniform(0.3, 2.0, size=N)
    f, direction = np.full((1, N), 0.7), rng.uniform(0.5, 1.0, size=(1, N))
    objective = Objective(loss, y, s)
    local = objective.around(f)

    def left(t):
        squares = local.weights * (np.square(local.response - f - t * direction) - np.square(local.response - f))
        return objective.value(f + t * direction) - objective.value(f) - squares.sum()

    assert left(0.05) / left(0.1) == pytest.approx(1 / 8, rel=0.1)


def test_next_to_no_curvature_is_rounded_up():
    weights = np.array([1.0, 2.0, 1.0])
    np.testing.assert_array_equal(working_weights(np.array([4.0, 1e-9, 1.0]), weights), [2.0, 4 * LEAST_CURVATURE, 0.5])
    np.testing.assert_array_equal(working_weights(np.zeros(3), weights), LEAST_CURVATURE / 2 * weights)


def test_leave_one_out_is_that_of_refits(rng):
    """One of the observations of each row goes, of weighted ridge regression; by definition."""
    D, z, counts = rng.normal(size=(N, 5)), rng.normal(size=N), rng.integers(1, 4, size=N).astype(float)

    def fitted(weights):
        return np.linalg.solve(D.T @ (weights[:, None] * D) + 0.3 * np.eye(5), D.T @ (weights * z))

    f = D @ fitted(counts)
    without = np.array([D[i] @ fitted(counts - np.eye(N)[i]) for i in range(N)])
    G = np.linalg.inv(D.T @ (counts[:, None] * D) + 0.3 * np.eye(5))
    h = counts * np.einsum("ij,jk,ik->i", D, G, D)
    left = one_minus_leverage(h, counts)
    np.testing.assert_allclose(loo_prediction(z, z - f, left), without, rtol=1e-10)
    np.testing.assert_allclose(loo_error(z - f, left), z - without, rtol=1e-10)
    share = h / counts
    np.testing.assert_allclose(f - (z - f) * share / (1 - share), without, rtol=1e-10)
    root = np.sqrt(counts)
    np.testing.assert_allclose(loo_prediction(z, root * (z - f), left, root), without, rtol=1e-10)
    assert one_minus_leverage(np.array([1.0]), at_least=1e-6)[0] == 1e-6


class TestWeightsOfAFit:
    """Two fits over one engine know nothing of each other."""

    @pytest.fixture
    def engine(self, rng):
        X = rng.normal(size=(N, 2))
        return Engine(KernelAtoms(RBF(gamma=0.5)).resolve(X), X, memory_budget=10**6, n_threads=1)

    @staticmethod
    def started(engine, kind):
        rng = np.random.default_rng(1)
        objective = Objective(Logistic(), targets_for(Logistic(), rng), np.ones(N))
        penalty, _ = resolve_penalty("rkhs", 0.01, Atoms.of(engine.dictionary, float(N)))
        design = Design(engine, np.ones((1, N)), penalty, capacity=10)
        update = Orthogonal() if kind is LossFit else Stagewise(refit_every=2)
        return kind(design, objective, np.zeros(1), update)

    @staticmethod
    def step(fit, atom):
        fit.add(fit.examine(np.array([atom])), 0)

    @pytest.mark.parametrize("kind", [LossFit, StagewiseLossFit])
    def test_the_engine_stays_as_it_was(self, engine, kind):
        before, norms = engine.weights.copy(), engine.sqnorms().copy()
        fit = self.started(engine, kind)
        scores = running_scores(fit)
        for atom in range(4):
            self.step(fit, atom)
            scores.added()
            scores.update()
        assert not np.allclose(fit.engine.weights, before)
        np.testing.assert_array_equal(engine.weights, before)
        np.testing.assert_array_equal(engine.sqnorms(), norms)
        assert fit.engine.n_kept == engine.n_kept == N, "stored values are shared"

    @pytest.mark.parametrize("kind", [LossFit, StagewiseLossFit])
    def test_fits_side_by_side_are_fits_alone(self, engine, kind):
        alone, one, other = (self.started(engine, kind) for _ in range(3))
        for atom in range(4):
            self.step(alone, atom)
        for atom in range(4):
            self.step(one, atom)
            self.step(other, atom + 10)
        np.testing.assert_array_equal(one.weights(), alone.weights())
        np.testing.assert_array_equal(one.engine.weights, alone.engine.weights)
        assert one.cost() == alone.cost() != other.cost()
