"""A path from blocks of rows, against that of the loop over all rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback
from kernelpursuit.dictionary import Always, KernelAtoms, LinearTrend
from kernelpursuit.kernels import Matern32
from kernelpursuit.pursuit import LoopSpec, TrainingRows, by_moments, problem, run_pursuit, stream, streamed
from kernelpursuit.pursuit.criteria import scores
from kernelpursuit.pursuit.reducers import Sizes, calibration, schedule
from kernelpursuit.rows import source
from kernelpursuit.stopping import Loo, LooError, as_rule

CRITERIA = (
    *("cost", "residual_norm", "dof", "loo", "loo_se", "rcond", "target_residual", "loo_quantiles"),
    *("loo_error", "inverse_temperature", "validation", "validation_error", "cv", "cv_error"),
)
N_ROWS, N_ATOMS = 900, 24


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of few rows, and a stream whatever the number of rows."""
    monkeypatch.setattr(source, "LEAST_ROWS", 64)
    monkeypatch.setattr(source, "MOST_ROWS", 100)
    monkeypatch.setattr(stream, "ROWS_A_COLUMN", 1)


@pytest.fixture
def count_streams(monkeypatch):
    found = []

    def spy(*args, **options):
        found.append(streamed.streamed_path(*args, **options))
        return found[-1]

    monkeypatch.setattr(by_moments, "streamed_path", spy)
    return found


def both_ways(
    X, y, rule="max", *, gamma=1.0, alpha=1e-3, centers=None, factors=None, line=False, weights=None, **settings
):
    """The path by moments, and that of the loop."""
    centers = X[:N_ATOMS] if centers is None else centers
    factors = np.linspace(0.5, 2.0, len(centers)) if factors is None else factors
    atoms = KernelAtoms(Matern32(gamma=gamma), centers=centers, factors=factors)
    dictionary = atoms + Always(LinearTrend()) if line else atoms
    callback = settings.pop("callback", None)
    options = {name: settings.pop(name) for name in ("counts", "calibrates", "validation") if name in settings}
    given = {"fit_intercept": True, "n_jobs": 1, "alpha": alpha, **settings}
    return [
        run_pursuit(
            TrainingRows(X, y, weights, **options),
            LoopSpec(dictionary, len(centers), 0, as_rule(rule), by_moments=moments, **given),
            callback=callback,
        )
        for moments in (True, False)
    ]


def assert_same(found, loop, rtol=1e-8):
    np.testing.assert_array_equal(found.path.atom, loop.path.atom)
    for name in CRITERIA:
        a, b = getattr(found.path, name), getattr(loop.path, name)
        assert (a is None) == (b is None), name
        if a is not None:
            # Of what is new in an atom, `rcond` has the root of the distance from one: eps there is 1e-8 here.
            near = max(rtol, 1e-7) if name == "rcond" else rtol
            largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=near, atol=near * largest, err_msg=name)
    for k in range(found.path.n_steps + 1):
        a, b = found.path.weights(k), loop.path.weights(k)
        np.testing.assert_allclose(a, b, atol=rtol * np.abs(b).max(initial=1e-300))
        np.testing.assert_array_equal(found.path.atoms(k), loop.path.atoms(k))
    assert (found.n_kept, found.reason, found.path.end_reason) == (loop.n_kept, loop.reason, loop.path.end_reason)
    for name in ("n_fixed", "n_targets", "n_candidates", "n_features", "intercept_is_fitted", "loss"):
        assert getattr(found.path, name) == getattr(loop.path, name), name
    for name in ("total_weight", "n_units", "largest_target"):
        assert getattr(found.path, name) == pytest.approx(getattr(loop.path, name)), name


def rows(rng, n_targets=1, n_rows=N_ROWS):
    X = rng.normal(size=(n_rows, 3))
    y = np.sin(2 * X[:, :1] + np.arange(n_targets)) + X[:, 1:2] * X[:, 2:] + 0.1 * rng.normal(size=(n_rows, n_targets))
    return X, 30.0 * y + 500.0


class TestPath:
    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("line", [True, False])
    @pytest.mark.parametrize("weighted", [True, False])
    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_is_that_of_the_loop(self, rng, count_streams, intercept, line, weighted, n_targets):
        X, y = rows(rng, n_targets)
        weights = rng.uniform(0.2, 3.0, size=N_ROWS) if weighted else None
        assert_same(*both_ways(X, y, fit_intercept=intercept, line=line, weights=weights), rtol=1e-9)
        assert len(count_streams) == 1

    def test_with_weights_of_many_sizes(self, rng, count_streams):
        X, y = rows(rng)
        assert_same(*both_ways(X, y, weights=10.0 ** rng.uniform(-4, 2, size=N_ROWS)))
        assert len(count_streams) == 1

    def test_with_counts_and_rows_that_calibrate(self, rng, count_streams):
        X, y = rows(rng)
        counts = rng.integers(1, 4, size=N_ROWS).astype(float)
        weights, judged = counts * rng.uniform(0.5, 2.0, size=N_ROWS), rng.uniform(size=N_ROWS) < 0.2
        assert_same(*both_ways(X, y, weights=weights, counts=counts, calibrates=judged))
        assert len(count_streams) == 1

    @pytest.mark.parametrize("truncate", [None, 20.0])
    def test_with_rows_held_out(self, rng, count_streams, truncate):
        X, y = rows(rng)
        weights = rng.uniform(0.2, 3.0, size=N_ROWS)
        weights[::7] = 0.0
        found, loop = both_ways(X, y, "validation", weights=weights, truncate=truncate)
        assert_same(found, loop)
        assert found.path.validation is not None
        assert len(count_streams) == 1

    @pytest.mark.parametrize(("gamma", "alpha"), [(1e-2, 1e-6), (1e-3, 1e-8), (1e-3, 0.0)])
    def test_with_atoms_that_are_nearly_dependent(self, rng, count_streams, gamma, alpha):
        X, y = rows(rng)
        found, loop = both_ways(X, y, gamma=gamma, alpha=alpha)
        assert count_streams[0] is not None
        assert found.path.rcond[1:].min() < 1e-2
        assert_same(found, loop)

    def test_of_atoms_that_are_dependent_is_left_to_the_loop(self, rng, count_streams):
        X, y = rows(rng)
        found, loop = both_ways(X, y, centers=X[[0, 1, 2, 1, 3]], factors=np.ones(5), alpha=0.0)
        assert all(path is None for path in count_streams)
        assert found.path.n_steps == 4
        assert_same(found, loop)

    @pytest.mark.parametrize("kind", ["csr", "float32", "by column"])
    def test_of_rows_that_lie_otherwise(self, rng, count_streams, kind, monkeypatch):
        X, y = rows(rng)
        X = np.where(rng.uniform(size=X.shape) < 0.5, 0.0, X).astype(np.float32 if kind == "float32" else np.float64)
        held = {"csr": sp.csr_array, "float32": np.asarray, "by column": np.asfortranarray}[kind](X)
        monkeypatch.setattr(problem, "DENSE_UP_TO", 0)  # sparse rows stay sparse
        assert_same(*both_ways(held, y, centers=X[:N_ATOMS]))
        assert len(count_streams) == 1

    def test_of_targets_in_units(self, rng, count_streams):
        X, y = rows(rng, 2)
        y *= [1.0, 1e6]
        assert_same(*both_ways(X, y, units=np.array([20.0, 2e7])))
        assert len(count_streams) == 1

    def test_ends_where_the_loop_does(self, rng, count_streams):
        X, y = rows(rng)
        for rule in ("loo", "one-se", "mdl", "tol", Loo(patience=3)):
            assert_same(*both_ways(X, y, rule))
        assert len(count_streams) == 5

    def test_shows_callbacks_the_path(self, rng, count_streams):
        X, y = rows(rng)
        seen = []

        def five_steps(path):
            seen.append((path.n_steps, path.loo[-1], path.coef(path.n_steps).shape))
            return path.n_steps == 5

        found, loop = both_ways(X, y, callback=five_steps)
        assert_same(found, loop)
        assert found.path.n_steps == 5
        assert [step[0] for step in seen] == [1, 2, 3, 4, 5] * 2
        assert len(count_streams) == 1

    def test_a_callback_that_watches_changes_nothing(self, rng, count_streams):
        X, y = rows(rng)
        stages = []

        class Watches(Callback):
            def on_stage(self, stage):
                stages.append(stage)

        watched, alone = both_ways(X, y, callback=Watches())[0], both_ways(X, y)[0]
        np.testing.assert_array_equal(watched.path.loo, alone.path.loo)
        assert stages
        assert len(count_streams) == 2

    def test_a_callback_that_looks_at_the_time_loses_no_atoms(self, rng, count_streams):
        X, y = rows(rng)

        class Ends(Callback):
            def on_stage(self, stage):
                return True

        found, alone = both_ways(X, y, callback=Ends())[0], both_ways(X, y)[0]
        np.testing.assert_array_equal(found.path.loo, alone.path.loo)
        assert len(count_streams) == 2

    def test_does_not_depend_on_blocks(self, rng, monkeypatch):
        X, y = rows(rng)
        first = both_ways(X, y)[0]
        for size in (64, 7, 5000):
            monkeypatch.setattr(source, "LEAST_ROWS", size)
            monkeypatch.setattr(source, "MOST_ROWS", size)
            assert_same(both_ways(X, y)[0], first, rtol=1e-9)

    def test_threads_do_not_change_a_bit(self, rng):
        X, y = rows(rng)
        one, two = (both_ways(X, y, n_jobs=n)[0].path for n in (1, 2))
        for name in ("atom", *CRITERIA):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def classes(rng, n_classes, n_rows=N_ROWS):
    """Rows, and codes of classes that overlap: one score for two of them, else one for each."""
    X = rng.normal(size=(n_rows, 3))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n_rows)
    labels = np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1] ** 1.3), score)
    codes = np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
    return X, codes[:, 1:] if n_classes == 2 else codes


class TestClasses:
    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("weighted", [True, False])
    @pytest.mark.parametrize("n_classes", [2, 3, 11])
    def test_path_is_that_of_the_loop(self, rng, count_streams, intercept, weighted, n_classes):
        X, y = classes(rng, n_classes)
        weights = rng.uniform(0.2, 3.0, size=N_ROWS) if weighted else None
        found, loop = both_ways(X, y, classes=True, fit_intercept=intercept, weights=weights)
        assert_same(found, loop, rtol=1e-9)
        assert found.path.loo_quantiles.shape[2] == 1
        assert found.path.loo_error is not None
        assert found.path.inverse_temperature is not None
        assert len(count_streams) == 1

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_with_counts_and_rows_that_calibrate(self, rng, count_streams, n_classes):
        X, y = classes(rng, n_classes)
        counts = rng.integers(1, 4, size=N_ROWS).astype(float)
        weights, judged = counts * rng.uniform(0.5, 2.0, size=N_ROWS), rng.uniform(size=N_ROWS) < 0.2
        assert_same(*both_ways(X, y, classes=True, weights=weights, counts=counts, calibrates=judged))
        assert len(count_streams) == 1

    @pytest.mark.parametrize("n_classes", [2, 4])
    @pytest.mark.parametrize("truncate", [None, 0.4])
    def test_with_validation_rows(self, rng, count_streams, n_classes, truncate):
        X, y = classes(rng, n_classes)
        weights = rng.uniform(0.2, 3.0, size=N_ROWS)
        weights[::7] = 0.0
        found, loop = both_ways(X, y, "validation", classes=True, weights=weights, truncate=truncate)
        assert_same(found, loop)
        assert found.path.validation_error is not None
        assert len(count_streams) == 1

    def test_with_folds(self, rng, count_streams):
        X, y = classes(rng, 3)
        found, loop = both_ways(X, y, "cv", classes=True)
        assert_same(found, loop)
        assert found.path.cv_error is not None
        assert len(count_streams) == 6

    def test_ends_where_the_loop_does(self, rng, count_streams):
        X, y = classes(rng, 3)
        for rule in (Loo(patience=3), LooError(patience=3), "one-se"):
            assert_same(*both_ways(X, y, rule, classes=True))
        assert len(count_streams) == 3

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_where_rows_are_interpolated(self, rng, count_streams, n_classes):
        """Nothing is left of a row that has an atom of its own; probabilities go by the scores that rows have."""
        X, y = classes(rng, n_classes)
        centers = np.vstack([X[:12], X[:4] + 1e4 * np.arange(1, 5)[:, None]])
        X[100:104] = centers[12:]
        found, loop = both_ways(X, y, classes=True, centers=centers, alpha=0.0, fit_intercept=False)
        assert_same(found, loop)
        assert np.isinf(found.path.loo_error).any()
        assert np.isfinite(found.path.loo_error).any()
        assert np.isfinite(found.path.inverse_temperature).all()
        assert len(count_streams) == 1

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_of_many_scores_is_looked_at_as_often(self, rng, count_streams, monkeypatch, n_classes):
        for module, name in ((schedule, "MANY_SCORES"), (scores, "MANY_SCORES"), (calibration, "FEW_SCORES")):
            monkeypatch.setattr(module, name, 100)
        monkeypatch.setattr(schedule, "SCORES_GROWTH", 1.2)
        monkeypatch.setattr(scores, "SCORES_GROWTH", 1.2)
        monkeypatch.setattr(calibration, "CALIBRATION_GROWTH", 1.5)
        X, y = classes(rng, n_classes)
        found, loop = both_ways(X, y, classes=True)
        assert_same(found, loop)
        n_errors, n_temperatures = (
            len(np.unique(getattr(found.path, name))) for name in ("loo_error", "inverse_temperature")
        )
        assert n_temperatures < n_errors < N_ATOMS
        assert len(count_streams) == 1

    def test_without_intervals(self, rng, count_streams):
        X, y = classes(rng, 3)
        found, loop = both_ways(X, y, classes=True, intervals=False)
        assert_same(found, loop)
        assert found.path.loo_quantiles is None
        assert len(count_streams) == 1

    @pytest.mark.parametrize("n_classes", [2, 5])
    def test_does_not_depend_on_blocks(self, rng, monkeypatch, n_classes):
        X, y = classes(rng, n_classes)
        first = both_ways(X, y, classes=True)[0]
        for size in (64, 7, 5000):
            monkeypatch.setattr(source, "LEAST_ROWS", size)
            monkeypatch.setattr(source, "MOST_ROWS", size)
            assert_same(both_ways(X, y, classes=True)[0], first, rtol=1e-9)

    def test_residuals_of_many_classes_are_of_few_rows(self, rng, monkeypatch):
        seen = []
        whole = Sizes.of

        def spy(*args):
            seen.append(whole(*args))
            return seen[-1]

        monkeypatch.setattr(Sizes, "of", spy)
        monkeypatch.setattr(streamed, "RESIDUAL_BYTES", 2**16)
        X, y = classes(rng, 30)
        assert_same(*both_ways(X, y, classes=True))
        assert len(seen) > 1
        assert all(sizes.residual.nbytes <= 2**16 for sizes in seen)


def test_a_default_fit_takes_it(rng, count_streams):
    X, y = rows(rng, n_rows=5200)
    model = KernelPursuitRegressor(random_state=0, max_atoms=40).fit(X, y[:, 0])
    assert len(count_streams) == 1
    np.testing.assert_array_equal(model.path_.atom, count_streams[0].atom)
    lower, upper = model.predict_interval(X, 0.9)
    assert 0.87 < np.mean((lower <= y[:, 0]) & (y[:, 0] <= upper)) < 0.93


def test_a_default_fit_of_classes_takes_it(rng, count_streams):
    X, y = classes(rng, 3, n_rows=5200)
    model = KernelPursuitClassifier(random_state=0, max_atoms=40, loss="squared").fit(X, y.argmax(axis=1))
    assert len(count_streams) == 1
    np.testing.assert_array_equal(model.path_.atom, count_streams[0].atom)
    assert model.path_.loo_error[-1] < 0.3
