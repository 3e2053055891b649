from functools import partial

import numpy as np
import pytest

from kernelpursuit.learning import plan


@pytest.fixture
def short_plan(monkeypatch):
    """Learn with fewer rounds and atoms, for tests of what goes in and comes out, and not of how good it is."""
    monkeypatch.setattr(plan, "ScalesPlan", partial(plan.ScalesPlan, n_atoms=8, n_steps=4, n_rounds=2))
    monkeypatch.setattr(plan, "RefinePlan", partial(plan.RefinePlan, n_steps=4, n_rounds=2))


@pytest.fixture(scope="session")
def some():
    """Few rows, of which all features matter; read-only, so that nothing can write to its inputs."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(90, 3))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 2] + 0.1 * rng.normal(size=90)
    X.flags.writeable = y.flags.writeable = False
    return X, y
