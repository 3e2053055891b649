"""The order in which a model's own atoms are picked, from their inner products, against the loop over all rows."""

import numpy as np
import pytest

from kernelpursuit.dictionary import KernelAtoms, Precomputed
from kernelpursuit.kernels import RBF
from kernelpursuit.learning import order
from kernelpursuit.learning.atoms import Task
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.order import pick_in_order
from kernelpursuit.learning.sample import Rows
from kernelpursuit.pursuit import Script, Settings, run_pursuit
from kernelpursuit.stopping import as_rule

N_ATOMS = 20


@pytest.fixture
def model(rng):
    scales, factors = np.array([1.0, 0.4, 0.0]), rng.uniform(0.3, 3.0, size=N_ATOMS)
    return Model(scales, 0.05, rng.normal(size=(N_ATOMS, 3)), factors)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_is_that_of_the_loop(rng, model, intercept, weighted, n_targets, monkeypatch):
    monkeypatch.setattr(order, "VALUES_AT_A_TIME", 70 * N_ATOMS)
    Z = rng.normal(size=(300, 3))
    Y = np.sin(2 * Z[:, :1] + np.arange(n_targets)) + 0.1 * rng.normal(size=(300, n_targets)) + 5.0
    weights = rng.uniform(0.2, 3.0, size=300) if weighted else np.ones(300)
    task = Task(None, False, intercept, 0, 1, None)
    found = pick_in_order(RBF(), model, Rows(Z, Y.T, weights), task)
    atoms = KernelAtoms(RBF(gamma=1.0), model.centers * model.scales, factors=model.factors)
    settings = Settings(atoms, N_ATOMS, 0, alpha=model.alpha, fit_intercept=intercept, n_jobs=1)
    path = run_pursuit(Z * model.scales, Y, settings, as_rule("max"), weights).path
    np.testing.assert_array_equal(found.atom, path.atom)
    assert found.in_blocks


def test_of_atoms_that_are_one_and_the_same(model):
    """Rounding decides whether their matrix can be factored; where it can, one of them is picked and no other."""
    same = Model(model.scales, 0.0, np.repeat(model.centers[:1], 3, axis=0), np.ones(3))
    task, found = Task(None, False, True, 0, 1, None), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = Rows(rng.normal(size=(50, 3)), rng.normal(size=(1, 50)), np.ones(50))
        found.append(pick_in_order(RBF(), same, rows, task))
    assert all(script is None or script.n_steps == 1 for script in found)
    assert None in found


class TestScripts:
    def run(self, columns, y, atoms, **options):
        settings = Settings(Precomputed(), columns.shape[1], 0, penalty=None, fit_intercept=True, n_jobs=1)
        return run_pursuit(columns, y[:, None], settings, as_rule("max"), extend=Script.in_blocks_of(atoms), **options)

    def test_blocks_give_the_path_of_single_steps(self, rng):
        columns, y, atoms = (
            rng.normal(size=(90, 12)),
            rng.normal(size=90),
            np.array([7, 2, 9, 0, 11, 3, 5, 1, 4, 6, 8, 10]),
        )
        found = self.run(columns, y, atoms).path
        settings = Settings(Precomputed(), 12, 0, penalty=None, fit_intercept=True, n_jobs=1)
        script = Script(atoms, np.full(12, np.nan))
        alone = run_pursuit(columns, y[:, None], settings, as_rule("max"), extend=script).path
        np.testing.assert_array_equal(found.atom, atoms)
        for name in ("cost", "residual_norm", "dof", "loo", "loo_se"):
            np.testing.assert_allclose(getattr(found, name), getattr(alone, name), rtol=1e-10, atol=1e-12)
        for k in (0, 3, 12):
            np.testing.assert_allclose(found.weights(k), alone.weights(k), atol=1e-12)

    def test_an_atom_that_is_dependent_is_skipped_once(self, rng):
        columns, y = rng.normal(size=(60, 6)), rng.normal(size=60)
        columns[:, 1] = 2.0 * columns[:, 0]
        path = self.run(columns, y, np.arange(6)).path
        assert sorted(path.atom) == [0, 2, 3, 4, 5]
        assert [atom for _, atom in path.skipped] == [1]

    def test_a_callback_may_end_it(self, rng):
        columns, y = rng.normal(size=(60, 6)), rng.normal(size=60)
        path = self.run(columns, y, np.array([4, 1, 0, 2, 3, 5]), callback=lambda path: path.n_steps == 2).path
        np.testing.assert_array_equal(path.atom, [4, 1])
        assert path.end_reason == "the callback asked to stop"
