"""Settings that every test shares: the same hypothesis examples on every run, no deadlines on slow machines."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

COMMON = settings(
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("stable", COMMON, derandomize=True, max_examples=15)
# New examples on every run: pytest --hypothesis-profile=search
settings.register_profile("search", COMMON, derandomize=False, max_examples=200)
settings.load_profile("stable")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def pytest_make_parametrize_id(config, val):
    """Settings and functions as they are written, without addresses, which differ between worker processes."""
    if isinstance(val, (dict, list)) or callable(val):
        return re.sub(r"<function (\S+) at 0x\w+>", r"\1", str(val))
    return None
