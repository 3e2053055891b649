"""A line along a feature that one row of a sample has to itself."""

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Matern52
from kernelpursuit.learning.atoms import EnoughFor, PickSpec, Task, _without_lone_rows, pick
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.sample import Rows
from kernelpursuit.pursuit import LoopSpec


def drawn():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(120, 3))
    Z[:, 2] = 0.0
    Z[7, 2] = 11.0
    return Z, np.sin(2 * Z[:, 0]) + Z[:, 1] + 0.05 * rng.normal(size=120)


def test_the_feature_is_left_out_of_the_line():
    Z, _ = drawn()
    np.testing.assert_array_equal(_without_lone_rows(Z, np.arange(3)), [0, 1])
    np.testing.assert_array_equal(_without_lone_rows(Z[:, :2], np.arange(2)), [0, 1])


def test_atoms_are_picked_all_the_same():
    """Before, the leave-one-out error was infinite for every number of atoms, and one was kept."""
    Z, y = drawn()
    rows = Rows(Z, y[None], np.ones(120))
    loop = LoopSpec(KernelAtoms(Matern52()), 1, 0, fit_intercept=True, n_jobs=1, intervals=False)
    task = Task(loop, trend=True, line=np.arange(3))
    model = Model(np.array([0.7, 0.2, 0.1]), 1e-3, np.zeros((0, 3)), np.zeros(0))
    picked = pick(Matern52(), model, rows, task, spec=PickSpec(60, 120, rule=EnoughFor(patience=20)))
    assert len(picked.rows) > 4
    assert len(picked.weights) == 1 + 3 + len(picked.rows)
    assert picked.weights[3] == 0.0
