"""More atoms than the automatic number begins with: only where validation rows gain by them."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback
from kernelpursuit.estimators import resolve as resolve_module
from kernelpursuit.learning import LearningSpec, make_plan
from kernelpursuit.learning import choose_atoms as choose_module
from kernelpursuit.learning import plan as plan_module
from kernelpursuit.learning.constants import GROW_FROM, GROW_UP_TO, GROWN_ATOMS

FEW, MORE = 24, 96


def planned(n_rows=20_000, **settings):
    return make_plan(LearningSpec(n_rows, 8, 3, **{"may_grow": True, **settings}))


class TestPlan:
    @pytest.mark.parametrize("classes", [False, True])
    def test_many_rows_may_have_more(self, classes):
        for n_rows in (GROW_FROM, GROW_UP_TO):
            plan = planned(n_rows, classes=classes)
            assert plan.atoms.n_atoms == 512
            assert plan.more.n_atoms == GROWN_ATOMS
            assert plan.more.n_candidates > plan.more.n_atoms
            assert f"512 atoms ({GROWN_ATOMS} where that pays)" in str(plan)

    @pytest.mark.parametrize(
        "settings",
        [
            {"n_rows": GROW_FROM - 1},
            {"n_rows": GROW_UP_TO + 1},
            {"may_grow": False},
            {"all_atoms": True},
            {"has_loss": True},
            {"refine": False},
            {"picks_atoms": False},
        ],
        ids=str,
    )
    def test_others_have_not(self, settings):
        plan = planned(**settings)
        assert plan.more is None
        assert "where that pays)" not in str(plan)

    def test_patience_is_that_of_the_first_atoms(self):
        plan = planned().with_atoms_for(400.0)
        assert plan.more.patience == plan.atoms.patience == 200
        assert plan.more.n_atoms == GROWN_ATOMS


@pytest.fixture
def small(monkeypatch):
    """Few atoms to begin with, of few rows, so that fits are short."""
    monkeypatch.setattr(resolve_module, "MOST_LEARNED", FEW)
    for name in ("REFINE_FROM", "REFINE_CLASSES_FROM", "GROW_FROM"):
        monkeypatch.setattr(plan_module, name, 1000)
    monkeypatch.setattr(plan_module, "GROWN_ATOMS", MORE)
    monkeypatch.setattr(choose_module, "MIN_GROWING_ATOMS", FEW)


def wavy(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, np.sin(4 * X[:, 0]) * np.cos(3 * X[:, 1]) + np.sin(3 * X[:, 2] * X[:, 0]) + noise * rng.normal(size=n)


def fitted(X, y, estimator=KernelPursuitRegressor, callback=None, **settings):
    return estimator(kernel="rbf", random_state=0, n_jobs=1, **settings).fit(X, y, callback=callback)


@pytest.mark.usefixtures("small")
class TestFit:
    def test_numbers_get_more_where_that_pays(self):
        X, y = wavy(1600, noise=0.02)
        fresh, wanted = wavy(2000, noise=0.0, seed=1)
        few, grown = fitted(X, y, max_atoms=FEW), fitted(X, y)
        assert few.n_atoms_ <= FEW < grown.n_atoms_ <= MORE
        errors = [np.mean(np.square(model.predict(fresh) - wanted)) for model in (few, grown)]
        assert errors[1] < 0.7 * errors[0]
        assert not grown._state.resolved.learned.is_validation[grown.center_indices_].any()

    def test_classes_get_more_where_that_pays(self):
        X, y = wavy(1600, noise=0.0)
        fresh, wanted = wavy(2000, noise=0.0, seed=1)
        few, grown = (
            fitted(X, np.digitize(y, [-0.5, 0.5]), KernelPursuitClassifier, **settings)
            for settings in ({"max_atoms": FEW}, {})
        )
        assert few.n_atoms_ <= FEW < grown.n_atoms_ <= MORE
        labels = np.digitize(wanted, [-0.5, 0.5])
        assert grown.score(fresh, labels) > few.score(fresh, labels)

    def test_noise_leaves_the_fit_as_it_was(self):
        X, y = wavy(1600, noise=2.0)
        np.testing.assert_array_equal(fitted(X, y).predict(X), fitted(X, y, max_atoms=FEW).predict(X))

    def test_more_have_to_be_clearly_better(self, monkeypatch):
        X, y = wavy(1600, noise=0.02)
        monkeypatch.setattr(choose_module, "MIN_GROWTH_GAIN", 1.0)
        np.testing.assert_array_equal(fitted(X, y).predict(X), fitted(X, y, max_atoms=FEW).predict(X))

    @pytest.mark.parametrize("settings", [{"max_atoms": FEW}, {"stop": "loo"}, {"refine": False}, {"loss": "huber"}])
    def test_other_settings_have_no_more(self, settings):
        X, y = wavy(1200, noise=0.02)
        assert fitted(X, y, **settings).n_atoms_ <= FEW

    def test_a_callback_ends_it(self):
        class NoMore(Callback):
            def on_stage(self, stage):
                return stage.name == "more atoms"

        X, y = wavy(1600, noise=0.02)
        model, few = fitted(X, y, callback=NoMore()), fitted(X, y, max_atoms=FEW)
        assert "cut short: more atoms" in model.stop_reason_
        np.testing.assert_array_equal(model.predict(X), few.predict(X))

    def test_is_not_tried_after_a_callback_has_ended_something(self):
        seen = []

        class NoRefining(Callback):
            def on_stage(self, stage):
                seen.append(stage.name)
                return stage.name.startswith("refining")

        X, y = wavy(1600, noise=0.02)
        assert fitted(X, y, callback=NoRefining()).n_atoms_ <= FEW
        assert "more atoms" not in seen
