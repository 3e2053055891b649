"""A dictionary of one's own in a few lines: the example of docs/dictionaries.md."""

import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Dictionary, KernelAtoms
from kernelpursuit.engine import Engine


class Steps(Dictionary):
    """One atom for each threshold of each feature: 1 where x_f is above it, else 0."""

    def __init__(self, features, thresholds):
        self.features, self.thresholds = np.asarray(features), np.asarray(thresholds)

    @property
    def n_atoms(self):
        """Number of thresholds."""
        return len(self.thresholds)

    def take(self, atoms):
        """Just these thresholds."""
        return Steps(self.features[atoms], self.thresholds[atoms])

    def block(self, rows, atoms, dtype=np.float64, n_threads=None):
        """Values of shape (len(atoms), n_rows)."""
        above = rows[:, self.features[atoms]] > self.thresholds[atoms]
        return np.ascontiguousarray(above.T, dtype=dtype)


def steps():
    return Steps(np.repeat([0, 1], 9), np.tile(np.linspace(-0.8, 0.8, 9), 2))


def test_finds_the_steps(rng):
    X = rng.uniform(-1, 1, size=(300, 2))
    y = 2.0 * (X[:, 0] > 0.2) - 1.0 * (X[:, 1] > -0.6) + 0.5
    model = KernelPursuitRegressor(kernel=steps(), max_atoms=2, alpha=1e-9, stop="max").fit(X, y)
    assert sorted(model.center_indices_) == [5, 10]
    np.testing.assert_allclose(np.sort(model.coef_), [-1.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_is_part_of_a_union(rng):
    X = rng.uniform(-1, 1, size=(300, 2))
    y = 2.0 * (X[:, 0] > 0.2) + np.sin(3 * X[:, 1])
    model = KernelPursuitRegressor(kernel=steps() + KernelAtoms("rbf"), gamma=1.0, max_atoms=20).fit(X, y)
    assert 5 in model.center_indices_
    assert model.score(X, y) > 0.99


def test_products_come_of_blocks(rng):
    """All that the engine asks of a dictionary follows from `block`."""
    X, V = rng.uniform(-1, 1, size=(300, 2)), rng.normal(size=(3, 300))
    D = steps().block(X, np.arange(18))
    for budget in (0, 10**9):
        engine = Engine(steps(), X, memory_budget=budget)
        np.testing.assert_allclose(engine.correlate(V), V @ D.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(engine.sqnorms(), D.sum(axis=1), rtol=1e-12)
        np.testing.assert_array_equal(engine.columns(np.array([4])), D[[4]])
    np.testing.assert_allclose(steps().matvec(X, D[:, :2]), D.T @ D[:, :2], rtol=1e-12)
