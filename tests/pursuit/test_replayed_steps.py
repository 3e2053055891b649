"""Steps that are known beforehand, taken in blocks, against the same steps one by one."""

import numpy as np

from kernelpursuit.dictionary import Precomputed
from kernelpursuit.pursuit import LoopSpec, Replay, TrainingRows, run_pursuit
from kernelpursuit.stopping import as_rule


class TestScripts:
    def run(self, columns, y, atoms, **options):
        spec = LoopSpec(Precomputed(), columns.shape[1], 0, as_rule("max"), penalty=None, fit_intercept=True, n_jobs=1)
        rows = TrainingRows(columns, y[:, None])
        return run_pursuit(rows, spec, replay=Replay.in_blocks_of(atoms), **options)

    def test_blocks_give_the_path_of_single_steps(self, rng):
        columns, y, atoms = (
            rng.normal(size=(90, 12)),
            rng.normal(size=90),
            np.array([7, 2, 9, 0, 11, 3, 5, 1, 4, 6, 8, 10]),
        )
        found = self.run(columns, y, atoms).path
        spec = LoopSpec(Precomputed(), 12, 0, as_rule("max"), penalty=None, fit_intercept=True, n_jobs=1)
        replay = Replay(atoms, np.full(12, np.nan))
        alone = run_pursuit(TrainingRows(columns, y[:, None]), spec, replay=replay).path
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
