import numpy as np
import pytest

from kernelpursuit import _native
from kernelpursuit._native import backend


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def core():
    """Return the compiled module."""
    if _native.BACKEND != "native":
        pytest.skip("the native core is not in use here")
    from kernelpursuit._native import _core

    return _core


def instruction_sets():
    return backend.implementation.isas() if _native.BACKEND == "native" else ["native"]


@pytest.fixture(params=instruction_sets())
def isa(request, core):
    """Run on each instruction set of this machine in turn."""
    core.use_isa(request.param)
    yield request.param
    core.use_isa(_native.ISA)
