import numpy as np
import pytest


@pytest.fixture(scope="session")
def toy():
    """Eighty rows of three features, one target; read-only, so that nothing can write to its inputs."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.1 * rng.normal(size=80) + 3
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def toy_outputs(toy):
    """The same rows with three targets."""
    X, y = toy
    Y = np.column_stack([y, np.cos(X[:, 0]), X[:, 1] - 5])
    Y.flags.writeable = False
    return X, Y
