"""Starts of scales: by the leave-one-out error with an atom at every row, and by periodograms along features."""

from dataclasses import replace

import numpy as np
import pytest

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF, Matern52
from kernelpursuit.learning.atoms import Task, features_of_a_line
from kernelpursuit.learning.rivals import is_worth_its_atoms, losses_without_atoms
from kernelpursuit.learning.sample import Rows
from kernelpursuit.learning.scales import first_model
from kernelpursuit.learning.starts import _Search, choose_starts, fast_frequencies
from kernelpursuit.pursuit import LoopSpec

TASK = Task(LoopSpec(KernelAtoms(RBF()), 1, 0, fit_intercept=True, n_jobs=1, intervals=False))


def rows_of(Z, y, weights=None):
    """Rows with one target, standardised features."""
    return Rows(Z, y[None], np.ones(len(Z)) if weights is None else weights)


def task_for(rows):
    return replace(TASK, line=features_of_a_line(rows.Z))


class TestClosedForm:
    @pytest.mark.parametrize("trend", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_errors_are_those_of_fits_without_the_row(self, rng, trend, weighted):
        """Kernel ridge regression with a constant, and a line, refitted without each row in turn."""
        n = 25
        Z = rng.normal(size=(n, 2))
        y = np.sin(Z[:, 0]) + 0.3 * Z[:, 1] + 0.1 * rng.normal(size=n)
        weights = rng.uniform(0.5, 2.0, size=n) if weighted else np.ones(n)
        rows = rows_of(Z, y, weights)
        task = replace(task_for(rows), trend=trend)
        search = _Search(Matern52(), first_model(Z), rows, task, may_add_trend=False)
        found = next(search._tried(np.array([0.8, 0.4])))
        K = Matern52(gamma=1.0)(Z * [0.8, 0.4], Z * [0.8, 0.4])
        F = np.column_stack([np.ones(n), Z]) if trend else np.ones((n, 1))
        A = K + 1e-3 * np.diag(weights.mean() / weights)
        for i in (0, 7, 24):
            others = np.delete(np.arange(n), i)
            inverse = np.linalg.inv(A[np.ix_(others, others)])
            beta = np.linalg.solve(F[others].T @ inverse @ F[others], F[others].T @ inverse @ y[others])
            predicted = F[i] @ beta + K[i, others] @ inverse @ (y[others] - F[others] @ beta)
            assert found.errors[0, i] == pytest.approx(y[i] - predicted, rel=1e-8)

    def test_without_atoms_too(self, rng):
        Z = rng.normal(size=(30, 2))
        y = Z @ [1.0, -2.0] + 0.1 * rng.normal(size=30)
        rows = rows_of(Z, y)
        losses = losses_without_atoms(rows, np.ones(30), replace(task_for(rows), trend=True))
        others = np.arange(1, 30)
        F = np.column_stack([np.ones(30), Z])
        beta = np.linalg.lstsq(F[others], y[others], rcond=None)[0]
        assert losses.values[0] == pytest.approx((y[0] - F[0] @ beta) ** 2, rel=1e-8)


class TestPeriodogram:
    def test_a_wave_is_found_with_its_frequency(self, rng):
        Z = rng.normal(size=(400, 4))
        y = np.cos(9.0 * Z[:, 2] + 1.0) + rng.normal(size=400)
        found = fast_frequencies(Z, y[None], used=np.ones(4, dtype=bool))
        assert found[[0, 1, 3]].tolist() == [0, 0, 0]
        assert found[2] == pytest.approx(9.0, rel=0.15)

    def test_noise_has_no_peaks(self):
        """One in a thousand draws may have one."""
        found = 0
        for seed in range(100):
            rng = np.random.default_rng(seed)
            errors = rng.normal(size=(1, 300)) * rng.lognormal(size=300)
            found += fast_frequencies(rng.lognormal(size=(300, 5)), errors, np.ones(5, dtype=bool)).any()
        assert found <= 2

    def test_coarse_values_are_not_taken_for_fast_ones(self, rng):
        """A step between two values is a wave of any frequency; the slowest is taken."""
        Z = rng.integers(0, 2, size=(300, 1)).astype(float)
        y = Z[:, 0] + 0.1 * rng.normal(size=300)
        assert fast_frequencies(Z, (y - y.mean())[None], np.ones(1, dtype=bool))[0] < 2 * np.pi

    @pytest.mark.parametrize("errors", [np.zeros((1, 50)), np.zeros((0, 50))])
    def test_nothing_left_has_no_frequency(self, rng, errors):
        assert not fast_frequencies(rng.normal(size=(50, 2)), errors, np.ones(2, dtype=bool)).any()


class TestChoice:
    def test_one_fast_feature_among_ten_has_a_scale_of_its_own(self, rng):
        Z = rng.normal(size=(600, 10))
        y = np.sin(10 * Z[:, 4]) + 0.5 * Z[:, 0] + 0.1 * rng.normal(size=600)
        rows = rows_of(Z, y)
        starts = choose_starts(Matern52(), first_model(Z), rows, task_for(rows), may_add_trend=True)
        assert starts.fast is not None
        assert starts.fast.model.scales[4] > 5 * np.delete(starts.fast.model.scales, 4).max()

    @pytest.mark.parametrize("kernel", [Matern52(), RBF()])
    def test_a_fast_wave_of_one_feature(self, rng, kernel):
        z = rng.uniform(-1.7, 1.7, size=(300, 1))
        y = np.sin(40 * z[:, 0]) + 0.1 * rng.normal(size=300)
        starts = choose_starts(kernel, first_model(z), rows_of(z, y), task_for(rows_of(z, y)), may_add_trend=False)
        assert starts.models[0].scales[0] > 5
        assert starts.dof > 30

    def test_the_first_stays_where_others_are_no_better(self, rng):
        Z = rng.normal(size=(200, 3))
        rows = rows_of(Z, rng.normal(size=200))
        first = first_model(Z)
        starts = choose_starts(Matern52(), first, rows, task_for(rows), may_add_trend=True)
        assert starts.fast is None
        assert not starts.trend
        assert starts.dof == 0 or (starts.common.model.scales <= first.scales).all()

    def test_one_fast_feature_in_a_product_is_found(self, rng):
        Z = rng.uniform(-1.7, 1.7, size=(1000, 4))
        rows = rows_of(Z, np.sin(7 * Z[:, 0]) * Z[:, 1])
        starts = choose_starts(Matern52(), first_model(Z), rows, task_for(rows), may_add_trend=False)
        assert starts.fast is not None
        assert starts.fast.model.scales.argmax() == 0

    def test_a_line_is_asked_for_by_a_wave_on_a_trend(self, rng):
        z = rng.uniform(-1.7, 1.7, size=(300, 1))
        y = 10 * z[:, 0] + np.sin(60 * z[:, 0]) + 0.1 * rng.normal(size=300)
        rows = rows_of(z, y)
        assert choose_starts(Matern52(), first_model(z), rows, task_for(rows), may_add_trend=True).trend


class TestLine:
    def test_sums_and_rare_features_are_left_out(self, rng):
        Z = rng.normal(size=(100, 3))
        rare = np.where(np.arange(100) == 4, 1.0, 0.0)
        assert features_of_a_line(np.column_stack([Z, Z[:, 0] + Z[:, 1], rare, np.zeros(100)])).size == 3

    def test_what_was_tuned_on_few_rows_has_to_be_much_better(self, rng):
        rows = rows_of(rng.normal(size=(100, 2)), rng.normal(size=100))
        simple = losses_without_atoms(rows, np.ones(100), TASK)
        learned = replace(simple, values=0.85 * simple.values)
        assert is_worth_its_atoms(learned, simple)
        assert not is_worth_its_atoms(learned, simple, n_tuned=20)
