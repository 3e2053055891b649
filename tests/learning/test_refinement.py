"""Atoms moved to where they serve best: better with few of them, and never worse on validation rows."""

from dataclasses import replace

import numpy as np
import pytest
from plain import plain_classifier, plain_regressor

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF, Matern52
from kernelpursuit.learning import Task
from kernelpursuit.learning import plan as plan_module
from kernelpursuit.learning import refine as refine_module
from kernelpursuit.learning.atoms import PickSpec, pick
from kernelpursuit.learning.constants import SETTLE_FROM
from kernelpursuit.learning.plan import LearningSpec, RefinePlan, make_plan
from kernelpursuit.learning.refine import Validator, refine
from kernelpursuit.learning.sample import Rows
from kernelpursuit.learning.scales import first_model
from kernelpursuit.losses import Logistic, Softmax
from kernelpursuit.pursuit import LoopSpec


def smooth(n, seed, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(1.5 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * X[:, 1] + noise * rng.normal(size=n)


def task(loss=None):
    classes = loss is not None
    return Task(
        LoopSpec(KernelAtoms(RBF()), 1, 3, fit_intercept=True, n_jobs=1, loss=loss, classes=classes, intervals=False)
    )


class TestWithFewAtoms:
    @pytest.mark.parametrize(("gamma", "n"), [(0.7, 2000), ("scale", 2000)])
    def test_refined_atoms_are_better(self, gamma, n):
        X, y = smooth(n, 0)
        fresh, wanted = smooth(3000, 1, noise=0.0)
        settings = {"kernel": "rbf", "gamma": gamma, "max_atoms": 10, "stop": "max", "random_state": 0}
        errors = []
        for refined in (False, True):
            model = KernelPursuitRegressor(refine=refined, **settings).fit(X, y)
            assert model.n_atoms_ == 10
            errors.append(np.mean(np.square(model.predict(fresh) - wanted)))
        assert errors[1] < 0.7 * errors[0]

    def test_a_number_for_gamma_moves_centres_and_keeps_their_number(self):
        X, y = smooth(2000, 0)
        settings = {"gamma": 0.7, "max_atoms": 8, "stop": "max", "random_state": 0}
        still = plain_regressor(refine=False, **settings).fit(X, y)
        moved = plain_regressor(refine=True, **settings).fit(X, y)
        assert still.n_atoms_ == moved.n_atoms_ == 8
        np.testing.assert_array_equal(still.centers_, X[still.center_indices_])
        assert moved.centers_.shape == (8, 2)
        assert not np.isclose(moved.centers_[:, None], X[None], rtol=1e-12, atol=1e-12).all(axis=2).any()
        assert ((moved.center_indices_ >= 0) & (moved.center_indices_ < len(X))).all()

    def test_of_classes_too(self):
        X, y = smooth(400, 0)
        labels = np.digitize(y, [-0.3, 0.4])
        model = plain_classifier(gamma=0.4, max_atoms=8, stop="max", refine=True, random_state=0).fit(X, labels)
        assert model.n_atoms_ == 8
        assert model.score(X, labels) > 0.7

    @pytest.mark.usefixtures("short_plan")
    def test_auto_refines_many_rows(self, monkeypatch):
        monkeypatch.setattr(plan_module, "REFINE_FROM", 1000)
        X, y = smooth(1000, 0)
        model = KernelPursuitRegressor(kernel="rbf", max_atoms=8, random_state=0).fit(X, y)
        assert not np.isclose(model.centers_, X[model.center_indices_], rtol=1e-12, atol=1e-12).all(axis=1).any()
        for part in (model, model.at(2)):
            assert not model._state.resolved.learned.is_validation[part.center_indices_].any()

    def test_auto_does_not_refine_few_rows(self, some):
        X, y = some
        auto, still = (
            KernelPursuitRegressor(kernel="rbf", max_atoms=6, refine=refined, random_state=0).fit(X, y)
            for refined in ("auto", False)
        )
        np.testing.assert_array_equal(auto.predict(X), still.predict(X))
        np.testing.assert_allclose(auto.centers_, X[auto.center_indices_], rtol=1e-12, atol=1e-14)

    def test_auto_leaves_a_given_gamma_alone(self, some):
        X, y = some
        model = plain_regressor(gamma=0.4, max_atoms=6, random_state=0).fit(X, y)
        assert model.feature_scales_ is None
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize("alpha", [0, 0.0, 1e-9, 0.5, 1e6])
    def test_a_given_penalty_is_kept(self, some, alpha):
        X, y = some
        model = plain_regressor(gamma=0.4, max_atoms=6, alpha=alpha, refine=True, random_state=0).fit(X, y)
        assert model.alpha_ == alpha
        assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-6)
        score = model.score(X, y)
        assert score > 0.7 if alpha < 1 else 0 <= score < 1e-3

    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    @pytest.mark.parametrize("gamma", [1e-8, 1e6, "scale", [0.3, 0.0, 0.5]])
    def test_any_given_gamma(self, some, gamma):
        X, y = some
        model = plain_regressor(gamma=gamma, max_atoms=6, refine=True, random_state=0).fit(X, y)
        assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-6)
        assert model.score(X, y) > (0.5 if gamma == "scale" else -1e-9)

    def test_a_feature_of_scale_zero_is_irrelevant(self, some):
        X, y = some
        model = plain_regressor(gamma=[0.3, 0.0, 0.5], max_atoms=6, refine=True, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict(X * [1, 0, 1]), model.predict(X))

    def test_the_same_seed_gives_the_same_bits(self, some):
        X, y = some
        one, other = (plain_regressor(max_atoms=6, refine=True, random_state=5).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(one.centers_, other.centers_)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


def picked_on(kernel, loss, n=300, n_atoms=8, weights=None):
    X, y = smooth(n, 7)
    if isinstance(loss, Softmax):
        targets = np.eye(3)[:, np.digitize(y, [-0.3, 0.4])]
    else:
        targets = y[None] if loss is None else np.where(y > 0, 1.0, -1.0)[None]
    rows = Rows(X / X.std(axis=0), targets, np.ones(n) if weights is None else weights)
    validation, rest = rows.take(slice(60)), rows.take(slice(60, None))
    model = replace(first_model(rows.Z), alpha=1e-3)
    picked = pick(kernel, model, rest, task(loss), spec=PickSpec(n_atoms, 200))
    return picked, rest, Validator(kernel, validation, task(loss))


class TestValidation:
    @pytest.mark.parametrize("loss", [None, Logistic(), Softmax()], ids=["squared", "logistic", "softmax"])
    @pytest.mark.parametrize("kernel", [RBF(), Matern52()], ids=["rbf", "matern52"])
    def test_validation_rows_never_lose(self, kernel, loss):
        picked, rest, validator = picked_on(kernel, loss)
        plan = RefinePlan(n_rows=len(rest), n_steps=5, n_rounds=3)
        moved = refine(kernel, picked, rest, validator, plan, np.random.default_rng(0))
        assert validator.losses(moved, rest).mean <= validator.losses(picked, rest).mean * (1 + 1e-9)
        assert moved.model.centers.shape == picked.model.centers.shape
        np.testing.assert_array_equal(moved.rows, picked.rows)

    @pytest.mark.parametrize("loss", [Logistic(), Softmax()], ids=["logistic", "softmax"])
    def test_weights_follow_a_move(self, loss):
        """A model is validated with weights that fit it, and not with those that fitted where atoms were before."""
        picked, rest, validator = picked_on(RBF(), loss, n=1000)
        elsewhere = replace(picked.model, centers=picked.model.centers + 0.3)
        before, stale = (
            validator.losses(picked, rest).mean,
            validator.losses(replace(picked, model=elsewhere), rest).mean,
        )
        after = validator.losses(picked.moved(RBF(), elsewhere, rest, validator.task), rest).mean
        assert after < 1.2 * before < stale

    def test_a_move_that_makes_them_lose_is_undone(self, monkeypatch):
        picked, rest, validator = picked_on(RBF(), None)

        def astray(start, *others, **options):
            found = minimise(start, *others, **options)
            return replace(found, model=replace(found.model, centers=found.model.centers + 50.0))

        minimise = refine_module.minimise
        monkeypatch.setattr(refine_module, "minimise", astray)
        moved = refine(RBF(), picked, rest, validator, RefinePlan(n_steps=2), np.random.default_rng(0))
        assert moved is picked

    @pytest.mark.parametrize("seed", range(3))
    def test_scales_that_are_too_small_for_what_two_features_do_together(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2500, 3))
        y = np.sin(2 * X[:, 0]) + 0.5 * np.cos(1.5 * X[:, 1] * X[:, 2]) + 0.02 * rng.normal(size=2500)
        rows = Rows(X, (y - y.mean())[None], np.ones(2500))
        validation, rest = rows.take(slice(500)), rows.take(slice(500, None))
        model = replace(first_model(rows.Z), scales=np.array([0.2, 0.02, 0.02]), alpha=1e-6)
        picked = pick(Matern52(), model, rest, task(), spec=PickSpec(80, 400))
        validator = Validator(Matern52(), validation, task())
        usual = RefinePlan(n_rows=1500, least_rows=1500, n_rounds=2)
        settling = replace(usual, n_settling_rounds=3, tries_finer=True)
        stays, settled = (
            refine(Matern52(), picked, rest, validator, plan, np.random.default_rng(0)) for plan in (usual, settling)
        )
        # Errors are 0.56 to 0.87 times as large, and the scales 0.22 to 0.32.
        assert validator.losses(settled, rest).mean < 0.92 * validator.losses(stays, rest).mean
        assert stays.model.scales[1:].min() < 0.1
        assert settled.model.scales[1:].min() > 0.15

    def test_scales_settle_where_rows_are_many(self):
        few, many = (make_plan(LearningSpec(n_rows, 5, 3)).refine for n_rows in (SETTLE_FROM - 1, SETTLE_FROM))
        assert few == RefinePlan()
        assert many.tries_finer
        assert many.n_settling_rounds > 0
        assert make_plan(LearningSpec(SETTLE_FROM, 5, 3, has_loss=True)).refine == RefinePlan()

    def test_only_validation_rows_count(self):
        picked, rest, validator = picked_on(RBF(), None)
        before = validator.losses(picked, rest).mean
        spoiled = Rows(rest.Z, rest.y, np.full(len(rest), 1e-12))
        assert validator.losses(picked, spoiled).mean != pytest.approx(before)
        validation = validator.validation
        scaled = Validator(RBF(), Rows(validation.Z, validation.y, 0.5 * validation.weights), task())
        assert scaled.losses(picked, rest).mean == pytest.approx(before, rel=0.1)

    def test_weights_of_rows(self):
        weights = np.random.default_rng(2).integers(1, 4, 300).astype(float)
        picked, rest, validator = picked_on(RBF(), None, weights=weights)
        moved = refine(RBF(), picked, rest, validator, RefinePlan(n_steps=4), np.random.default_rng(0))
        assert validator.losses(moved, rest).mean <= validator.losses(picked, rest).mean * (1 + 1e-9)

    def test_picked_scores_are_those_of_the_loop(self):
        """Weights that the loop found, on atoms in standardised features, fit what they were picked for."""
        picked, rest, _ = picked_on(RBF(), None)
        residual = rest.y - picked.scores(RBF(), rest.Z, task())
        assert np.square(residual).mean() < 0.3 * rest.y.var()
        assert residual.mean() == pytest.approx(0, abs=1e-8)
        np.testing.assert_array_equal(picked.model.centers, rest.Z[picked.rows])

    def test_atoms_in_several_widths(self):
        _, rest, _ = picked_on(RBF(), None)
        model = first_model(rest.Z)
        found = pick(RBF(), model, rest, task(), spec=PickSpec(12, 50, width_factors=(1.0, 0.25, 4.0)))
        assert set(found.model.width_factors) <= {1.0, 0.25, 4.0}
        assert (found.rows < 50).all()
        np.testing.assert_array_equal(found.model.centers, rest.Z[found.rows])


class TestPlan:
    def test_refines_where_it_is_told_to_or_rows_are_many(self):
        for n, refined, wanted in (
            (100, "auto", False),
            (plan_module.REFINE_FROM, "auto", True),
            (100, True, True),
            (5000, False, False),
        ):
            plan = make_plan(LearningSpec(n, 3, 1, max_atoms=50, picks_atoms=True, refine=refined))
            assert (plan.refine is not None) == wanted
        assert make_plan(LearningSpec(5000, 3, 1, max_atoms=50, picks_atoms=False, refine="auto")).refine is None

    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 20, 100, 1000, 50_000])
    def test_always_leaves_rows_to_pick_from(self, n):
        plan = make_plan(LearningSpec(n, 2, 3, max_atoms=512, picks_atoms=True, refine="auto"))
        assert 0 <= plan.n_validation <= min(0.2 * n, 2000)
        assert 1 <= plan.atoms.n_atoms <= min(512, max(1, n - plan.n_validation))
        assert plan.seconds() > 0

    def test_says_what_it_will_do(self):
        words = str(make_plan(LearningSpec(60_000, 4, 3, max_atoms=100, picks_atoms=True, refine="auto")))
        for part in ("4 features", "60000 rows", "100 atoms", "refining", "about ", " s"):
            assert part in words
        assert "\n" not in words
        words = str(make_plan(LearningSpec(300, 4, 1, max_atoms=100, picks_atoms=False, refine="auto")))
        assert "atoms" not in words
