"""The leave-one-out error that learning lowers, against rows really left out, and its gradients against differences."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import Model as Refitted
from oracles import refit
from scipy.optimize import OptimizeResult

from kernelpursuit.kernels import RBF, Laplacian, Matern12, Matern32, Matern52, RationalQuadratic
from kernelpursuit.learning import model as model_module
from kernelpursuit.learning.constants import ALPHA_LIMITS, PRIOR_SPREAD, SCALE_LIMITS
from kernelpursuit.learning.leave_one_out import LeaveOneOut, Losses, Observed, Target
from kernelpursuit.learning.model import MinimiseSpec, Model, minimise
from kernelpursuit.losses import Huber, Logistic, Softmax
from kernelpursuit.pursuit import Objective

N, K_ATOMS = 14, 4
WEIGHTS = {
    "ones": np.ones(N),
    "whole": np.array([1, 2, 1, 3, 1, 1, 4, 1, 2, 1, 1, 1, 2, 5], dtype=float),
    "fractions": np.linspace(0.2, 2.6, N),
}
KERNELS = [RBF(), Matern12(), Matern32(), Matern52(), RationalQuadratic(), Laplacian()]

intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["constant", "no constant"])
all_weights = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


def target(y, weights, intercept, validation_weights=None, loss=None, scores=None):
    validation_weights = np.ones(y.shape[1]) if validation_weights is None else validation_weights
    scores = np.zeros_like(y) if scores is None else scores
    return Target(Observed(y, weights, loss, validation_weights, intercept), scores)


def left_out_errors(K, y, alpha, weights, intercept):
    """Squared errors, shape (n_targets, n_rows), of models refitted without one unit of each row's weight."""
    columns = np.vstack([np.ones((int(intercept), K.shape[1])), K]).T
    penalty = np.diag(np.r_[np.zeros(int(intercept)), np.full(len(K), alpha)])
    errors = np.empty_like(y)
    for i in range(K.shape[1]):
        without = weights.copy()
        without[i] -= min(1.0, weights[i])
        errors[:, i] = np.square(y[:, i] - columns[i] @ refit(columns, y.T, penalty, without))
    return errors


class TestSquaredLoss:
    @intercepts
    @all_weights
    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_equals_models_refitted_without_each_row(self, rng, intercept, weights, n_targets):
        K, y, alpha = rng.normal(size=(K_ATOMS, N)), rng.normal(size=(n_targets, N)), 0.3
        found = LeaveOneOut(target(y, weights, intercept)).losses(K, alpha).mean
        oracle = Refitted(K.T, y.T, alpha * np.eye(K_ATOMS), weights, intercept)
        assert found == pytest.approx(oracle.leave_one_out(list(range(K_ATOMS)))[0], rel=1e-10)

    @intercepts
    @all_weights
    def test_several_penalties_at_once(self, rng, intercept, weights):
        K, y, alphas = rng.normal(size=(K_ATOMS, N)), rng.normal(size=(2, N)), np.array([1e-6, 0.3, 20.0])
        objective = LeaveOneOut(target(y, weights, intercept))
        alone = [objective.losses(K, alpha).mean for alpha in alphas]
        np.testing.assert_allclose(objective.errors(K, alphas), alone, rtol=1e-9)

    @intercepts
    def test_a_row_of_weight_two_is_two_rows(self, rng, intercept):
        K, y, weights = rng.normal(size=(K_ATOMS, N)), rng.normal(size=(2, N)), WEIGHTS["whole"]
        again = np.repeat(np.arange(N), weights.astype(int))
        found = LeaveOneOut(target(y, weights, intercept))
        repeated = LeaveOneOut(target(y[:, again], np.ones(len(again)), intercept))
        assert found.losses(K, 0.3).mean == pytest.approx(repeated.losses(K[:, again], 0.3).mean, rel=1e-11)
        _, G, by_alpha = found.gradient(K.copy(), 0.3)
        _, G_again, by_alpha_again = repeated.gradient(K[:, again], 0.3)
        summed = np.zeros_like(G)
        np.add.at(summed, (slice(None), again), G_again)
        np.testing.assert_allclose(G, summed, rtol=1e-9, atol=1e-12)
        assert by_alpha == pytest.approx(by_alpha_again, rel=1e-9)

    @intercepts
    @all_weights
    def test_only_validation_rows_count(self, rng, intercept, weights):
        K, y, validation_weights = (
            rng.normal(size=(K_ATOMS, N)),
            rng.normal(size=(2, N)),
            rng.integers(0, 3, N).astype(float),
        )
        each = left_out_errors(K, y, 0.3, weights, intercept).mean(axis=0)
        found = LeaveOneOut(target(y, weights, intercept, validation_weights)).losses(K, 0.3).mean
        assert found == pytest.approx(np.average(each, weights=validation_weights * weights), rel=1e-10)

    def test_a_row_that_no_other_says_anything_of_has_a_finite_error(self):
        K = np.eye(1, N)
        y = np.ones((1, N))
        objective = LeaveOneOut(target(y, np.ones(N), False))
        error, G, by_alpha = objective.gradient(K.copy(), 1e-12)
        # Predictions of all other rows are zero, where targets are one; without the first row, so is that of the first.
        assert (N - 1) / N <= error <= 1 + 1e-9
        assert np.isfinite(G).all()
        assert np.isfinite(by_alpha)

    def test_the_same_atom_twice(self, rng):
        row = rng.normal(size=N)
        objective = LeaveOneOut(target(rng.normal(size=(1, N)), np.ones(N), True))
        once, twice = objective.losses(row[None, :], 0.0).mean, objective.losses(np.vstack([row, row]), 0.0).mean
        assert twice == pytest.approx(once, rel=1e-5)

    def test_inputs_stay_as_they_are(self, rng):
        K, y, weights = rng.normal(size=(K_ATOMS, N)), rng.normal(size=(1, N)), WEIGHTS["whole"].copy()
        before = [array.copy() for array in (K, y, weights)]
        objective = LeaveOneOut(target(y, weights, True))
        objective.losses(K, 0.1)
        objective.errors(K, np.array([0.1, 1.0]))
        for array, copy in zip((K, y, weights), before):
            np.testing.assert_array_equal(array, copy)


def some_targets(loss, rng):
    """Targets as the loss takes them, and scores to expand it around."""
    if isinstance(loss, Softmax):
        y = np.eye(3)[:, rng.integers(0, 3, N)]
    elif isinstance(loss, Logistic):
        y = np.where(rng.random((1, N)) < 0.5, -1.0, 1.0)
    else:
        y = 2 * rng.normal(size=(2, N))
    return y, rng.normal(size=y.shape)


LOSSES = {"squared": None, "logistic": Logistic(), "softmax": Softmax(), "huber": Huber(delta=0.7)}


@pytest.fixture(params=LOSSES)
def loss(request):
    return LOSSES[request.param]


class TestAllLosses:
    @intercepts
    @all_weights
    def test_gradient_is_that_of_the_error(self, rng, loss, intercept, weights):
        K, alpha = rng.normal(size=(K_ATOMS, N)), 0.4
        y, scores = some_targets(loss, rng)
        validation_weights = np.where(np.arange(N) < 4, 0.0, 1.0)
        objective = LeaveOneOut(target(y, weights, intercept, validation_weights, loss, scores))
        error, G, by_alpha = objective.gradient(K.copy(), alpha)
        assert error == pytest.approx(objective.losses(K, alpha).mean, rel=1e-12)
        wanted, h = np.empty_like(K), 1e-5
        for place in np.ndindex(*K.shape):
            up, down = K.copy(), K.copy()
            up[place] += h
            down[place] -= h
            wanted[place] = (objective.losses(up, alpha).mean - objective.losses(down, alpha).mean) / (2 * h)
        np.testing.assert_allclose(G, wanted, rtol=1e-5, atol=1e-7 * np.abs(wanted).max())
        difference = objective.losses(K, alpha * np.exp(h)).mean - objective.losses(K, alpha * np.exp(-h)).mean
        assert by_alpha == pytest.approx(difference / (2 * h), rel=1e-5, abs=1e-8)

    @intercepts
    @all_weights
    def test_value_is_the_loss_one_newton_step_away(self, rng, intercept, weights):
        """At `f - (z - f) h / (1 - h)`, in the metric around the scores: what the path says of other losses."""
        for loss in (Logistic(), Softmax(), Huber(delta=0.7)):
            K, alpha = rng.normal(size=(K_ATOMS, N)), 0.4
            y, scores = some_targets(loss, rng)
            validation_weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
            square = Objective(loss, y, weights)
            metric = square.working_weights(scores)
            z = scores - square.gradient(scores) / (2 * metric)
            fit = Refitted(K.T, z.T, alpha * np.eye(K_ATOMS), metric, intercept)
            atoms = list(range(K_ATOMS))
            f = (fit.columns(atoms) @ fit.fit(atoms)).T
            h = fit.hat(atoms).diagonal() / np.maximum(weights, 1.0)
            without = f - (z - f) * h / (1 - h)
            wanted = np.average(loss.value(y, without), weights=validation_weights * weights)
            found = LeaveOneOut(target(y, weights, intercept, validation_weights, loss, scores)).losses(K, alpha).mean
            assert found == pytest.approx(wanted, rel=1e-10)


def chain(kernel, start, Z, objective, moves, monkeypatch):
    """The function that `minimise` hands to L-BFGS, and where it starts."""
    seen = {}

    def caught(function, x, **options):
        seen.update(function=function, x=x, bounds=options["bounds"])
        return OptimizeResult(x=x, fun=function(x)[0], nfev=1)

    monkeypatch.setattr(model_module, "minimize", caught)
    minimise(start, kernel.spec, Z, objective, spec=MinimiseSpec(3, moves_atoms=moves, n_threads=1))
    return seen


@pytest.fixture
def sample(rng):
    """Rows with a constant feature, a model with atoms between them, and what the rows say."""
    Z = rng.normal(size=(40, 4))
    Z[:, 2] = 0.0
    y = np.sin(2 * Z[:, :1]).T + 0.3 * Z[:, 1] + 0.1 * rng.normal(size=(2, 40))
    start = Model(
        scales=np.array([0.6, 0.4, 0.0, 0.2]),
        alpha=0.05,
        centers=rng.normal(size=(5, 4)) * [1, 1, 0, 1],
        width_factors=np.array([1.0, 0.5, 1.0, 2.0, 1.3]),
    )
    weights = np.where(np.arange(40) % 4 == 0, 2.0, 1.0)
    return Z, start, LeaveOneOut(target(y, weights, True, (np.arange(40) > 15).astype(float)))


class TestDescent:
    @pytest.mark.parametrize("moves", [False, True], ids=["scales", "atoms"])
    @pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
    def test_gradient_by_all_that_moves(self, sample, kernel, moves, monkeypatch):
        Z, start, objective = sample
        seen = chain(kernel, start, Z, objective, moves, monkeypatch)
        x, function = seen["x"], seen["function"]
        assert len(x) == len(seen["bounds"]) == (3 + 1 + 5 * 3 + 5 if moves else 3 + 1)
        value, slope = function(x)
        K = start.values(kernel.spec, Z)
        logs = np.log(start.scales[start.scales > 0])
        prior = 0.0 if moves else np.square((logs - logs.mean()) / PRIOR_SPREAD).sum()
        n_validation = 1 / np.square(objective.target.validation_share).sum()
        assert value == pytest.approx(np.log(objective.losses(K, start.alpha).mean) + prior / n_validation, rel=1e-12)
        wanted, h = np.empty_like(x), 1e-6
        for i in range(len(x)):
            step = np.zeros_like(x)
            step[i] = h
            wanted[i] = (function(x + step)[0] - function(x - step)[0]) / (2 * h)
        np.testing.assert_allclose(slope, wanted, rtol=2e-5, atol=1e-7)

    @pytest.mark.parametrize("moves", [False, True], ids=["scales", "atoms"])
    @pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
    def test_error_falls_and_constant_features_stay_out(self, sample, kernel, moves):
        Z, start, objective = sample
        # Of unlike scales the prior would have its say beside the error; here they start alike.
        start = replace(start, scales=np.where(start.scales > 0, 0.5, 0.0))
        found = minimise(start, kernel.spec, Z, objective, spec=MinimiseSpec(8, moves_atoms=moves, n_threads=1))
        model = found.model
        before = objective.losses(start.values(kernel.spec, Z), start.alpha).mean
        assert found.error < before
        assert objective.losses(model.values(kernel.spec, Z), model.alpha).mean == pytest.approx(found.error, rel=1e-9)
        assert model.scales[2] == 0
        assert (model.scales[[0, 1, 3]] > 0).all()
        assert model.alpha > 0
        assert (model.width_factors > 0).all()
        np.testing.assert_array_equal(model.centers[:, 2], start.centers[:, 2])
        assert (model.centers == start.centers).all() == (not moves)
        assert (model.width_factors == start.width_factors).all() == (not moves)

    def test_start_stays_as_it_is_and_the_search_repeats_itself(self, sample):
        Z, start, objective = sample
        before = [np.array(part) for part in (start.scales, start.centers, start.width_factors, Z)]
        one, other = (
            minimise(start, RBF().spec, Z, objective, spec=MinimiseSpec(5, moves_atoms=True, n_threads=1))
            for _ in range(2)
        )
        for part, copy in zip((start.scales, start.centers, start.width_factors, Z), before):
            np.testing.assert_array_equal(part, copy)
        np.testing.assert_array_equal(one.model.centers, other.model.centers)
        np.testing.assert_array_equal(one.model.scales, other.model.scales)
        assert one.error == other.error

    def test_units_of_targets_do_not_matter(self, sample):
        Z, start, objective = sample
        y = objective.target.y
        found = []
        for unit in (1.0, 2.0**-30, 2.0**30):
            scaled = LeaveOneOut(target(unit * y, objective.target.weights, True))
            found.append(minimise(start, RBF().spec, Z, scaled, spec=MinimiseSpec(5, moves_atoms=True, n_threads=1)))
        for other, unit in zip(found[1:], (2.0**-30, 2.0**30)):
            np.testing.assert_allclose(other.model.scales, found[0].model.scales, rtol=1e-6)
            assert other.error == pytest.approx(found[0].error * unit**2, rel=1e-6)

    def test_a_start_outside_of_the_limits_is_brought_inside(self, sample):
        Z, start, objective = sample
        far = Model(start.scales * [1e6, 1e-6, 1, 1], 1e-9, start.centers, start.width_factors)
        found = minimise(far, RBF().spec, Z, objective, spec=MinimiseSpec(3, moves_atoms=False, n_threads=1)).model
        used = found.scales[[0, 1, 3]]
        assert (used >= SCALE_LIMITS[0] * (1 - 1e-12)).all()
        assert (used <= SCALE_LIMITS[1] * (1 + 1e-12)).all()
        assert ALPHA_LIMITS[0] * (1 - 1e-12) <= found.alpha <= ALPHA_LIMITS[1]


class TestLosses:
    def test_are_clearly_below_where_rows_agree(self):
        shares = np.full(100, 0.01)
        one = Losses(np.ones(100), shares)
        assert Losses(np.full(100, 0.98), shares).are_clearly_below(one, 0.01)
        assert not Losses(np.full(100, 0.995), shares).are_clearly_below(one, 0.01)
        assert not one.are_clearly_below(one, 0.0)

    def test_an_outlier_decides_nothing(self):
        shares = np.full(100, 0.01)
        before, after = np.ones(100), np.ones(100)
        before[3], after[3] = 400.0, 1.0
        assert not Losses(after, shares).are_clearly_below(Losses(before, shares), 0.01)

    def test_other_than_validation_rows_do_not_count(self):
        shares = np.r_[np.full(50, 0.02), np.zeros(50)]
        before, after = np.ones(100), np.r_[np.full(50, 0.9), np.full(50, 77.0)]
        assert Losses(after, shares).mean == pytest.approx(0.9)
        assert Losses(after, shares).are_clearly_below(Losses(before, shares), 0.01)
