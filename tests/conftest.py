"""What every test shares: which examples hypothesis takes, how cases are named, and fixtures of several folders."""

import os
import re
import secrets
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from kernelpursuit.learning import plan

COMMON = settings(
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# The same examples on every run, so that a failure is that of the change.
settings.register_profile("stable", COMMON, derandomize=True, max_examples=15)
# New examples on every run, as many as in "stable", so that they take no longer: HYPOTHESIS_PROFILE=fresh, as in CI.
settings.register_profile("fresh", COMMON, derandomize=False, max_examples=15)
# Many new ones, for a night: HYPOTHESIS_PROFILE=search.
settings.register_profile("search", COMMON, derandomize=False, max_examples=200)
# Here and not later, since modules make settings of their own from these.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "stable"))


def pytest_configure(config):
    """Draw a seed for new examples where none is given; workers take the one that the first process drew."""
    if not settings.default.derandomize and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config):
    """Show how to draw the same examples again."""
    if settings.default.derandomize:
        return None
    profile = settings.get_current_profile_name()
    return f"hypothesis: HYPOTHESIS_PROFILE={profile}, --hypothesis-seed={config.option.hypothesis_seed}"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


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


def pytest_make_parametrize_id(config, val):
    """Settings and functions as they are written, without addresses, which differ between worker processes."""
    if isinstance(val, (dict, list)) or callable(val):
        return re.sub(r"<function (\S+) at 0x\w+>", r"\1", str(val))
    return None
