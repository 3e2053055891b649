"""Intervals and standard deviations that follow the noise, and widen away from the data."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.kernels import RBF
from kernelpursuit.model.calibration import choose_rows, loo_errors, quantiles
from kernelpursuit.model.constants import NEAR_QUANTILE
from kernelpursuit.model.landmarks import Landmarks
from kernelpursuit.model.noise import fit_log_scale


def held(model, X, y, coverage=0.9):
    lower, upper = model.predict_interval(X, coverage)
    return (lower <= y) & (y <= upper), upper - lower


def growing(rng, n):
    X = rng.uniform(0, 10, size=(n, 1))
    return X, np.sin(X[:, 0]) + (0.05 + 0.1 * X[:, 0]) * rng.normal(size=n)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(3)
    X, y = growing(rng, 1000)
    return KernelPursuitRegressor(kernel="rbf", random_state=0).fit(X, y), X, y, *growing(rng, 5000)


def with_hole(f, rng, n=300):
    x = rng.uniform(0, 6, size=n)
    x = np.where(x > 3, x + 4, x)
    return x[:, None], f(x) + 0.1 * rng.normal(size=n)


class TestLogScale:
    def columns(self, rng, n):
        C = rng.normal(size=(n, 4))
        return C, np.exp(0.7 * C[:, 0]) * rng.normal(size=n)

    def test_finds_what_the_size_depends_on(self, rng):
        C, errors = self.columns(rng, 1500)
        errors /= np.abs(errors).mean()
        fit, loo = fit_log_scale(C, errors, np.ones(1500), [2, 2])
        np.testing.assert_allclose(fit.coef, [0.7, 0, 0, 0], atol=0.1)
        assert np.corrcoef(loo, fit(C))[0, 1] > 0.99
        assert loo.min() >= fit.low

    def test_leave_one_out_values_are_those_of_a_fit_without_the_row(self, rng):
        C, errors = self.columns(rng, 60)
        fit, loo = fit_log_scale(C, errors, np.ones(60), [2, 2])
        assert fit.coef.any()
        for row in (3, 17, 41):
            rest = np.delete(np.arange(60), row)
            without, _ = fit_log_scale(C[rest], errors[rest], np.ones(59), [2, 2])
            assert loo[row] == pytest.approx(without(C[[row]])[0], abs=0.15)

    def test_one_size_where_nothing_is_known_of_it(self, rng):
        errors = rng.normal(size=400)
        fit, _ = fit_log_scale(rng.normal(size=(400, 5)), errors, np.ones(400), [5])
        assert not fit.coef.any()
        assert np.exp(fit(np.zeros((1, 5)))) == pytest.approx(np.abs(errors).mean(), rel=1e-2)

    def test_a_weight_is_a_count(self, rng):
        C, errors = self.columns(rng, 200)
        weights = 1.0 + (np.arange(200) % 2)
        one, _ = fit_log_scale(C, errors, weights / weights.mean(), [4])
        repeats = weights.astype(int)
        two, _ = fit_log_scale(np.repeat(C, repeats, 0), np.repeat(errors, repeats), np.ones(repeats.sum()), [4])
        np.testing.assert_allclose(one.coef, two.coef, atol=0.1)

    def test_times(self, rng):
        C, errors = self.columns(rng, 200)
        fit, _ = fit_log_scale(C, errors, np.ones(200), [4])
        np.testing.assert_allclose(np.exp(fit.times(3.0)(C)), 3 * np.exp(fit(C)))


class TestLandmarks:
    def test_power_function(self, rng):
        X = rng.uniform(size=(300, 2))
        found, v = Landmarks.of(RBF(gamma=np.ones(2)), X, 1)
        fresh = rng.uniform(-1, 2, size=(20, 2))
        kernel, P = found.atoms.kernel, found.atoms.centers
        K = kernel(P) + 1e-6 * np.eye(len(P))
        k = kernel(np.vstack([P, fresh]), P)[len(P) :]
        wanted = 1 - np.einsum("ij,ij->i", k, np.linalg.solve(K, k.T).T)
        np.testing.assert_allclose(found.unexplained(found.values(fresh, 1)), wanted, atol=1e-6)
        assert np.mean(v <= found.near) == pytest.approx(NEAR_QUANTILE, abs=0.01)

    def test_far_in_holes_and_outside(self, rng):
        X, _ = with_hole(np.sin, rng)
        found, v = Landmarks.of(RBF(gamma=np.array([1e-3])), X, 1)
        assert found.far(v).mean() < 0.01
        far = found.far(found.unexplained(found.values(np.array([[5.0], [4.0], [15.0], [-1e6]]), 1)))
        assert (far > 0.9).all()

    def test_in_many_dimensions_fresh_rows_are_near(self, rng):
        X = rng.normal(size=(700, 20))
        found, _ = Landmarks.of(RBF(gamma=np.full(20, 5.0)), X[:500], 1)
        assert found.far(found.unexplained(found.values(X[500:], 1))).mean() < 0.05
        assert found.far(found.unexplained(found.values(X[500:] + 20, 1))).min() > 0.9


class TestErrors:
    def test_of_one_observation_of_a_row_left_out(self, rng):
        X, y = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
        weights, counts = rng.uniform(0.5, 2, size=12), np.array([1.0, 2.0, 3.0] * 4)
        columns = np.column_stack([np.ones(12), X])
        L = np.diag([0.0, 0.3, 0.3])

        def fit(w):
            return np.linalg.solve(columns.T * w @ columns + L, columns.T * w @ y)

        R = np.linalg.cholesky(columns.T * weights @ columns + L).T
        errors = loo_errors(y, weights, counts, np.arange(12), columns @ fit(weights), R, columns.T)
        for i in range(12):
            without = weights - np.where(np.arange(12) == i, weights / counts, 0.0)
            np.testing.assert_allclose(errors[i], y[i] - columns[i] @ fit(without), rtol=1e-9)

    def test_of_a_row_that_is_interpolated(self):
        y = np.array([[1.0], [3.0]])
        errors = loo_errors(y, np.ones(2), np.ones(2), np.arange(2), y, np.eye(2), np.eye(2))
        np.testing.assert_allclose(errors, [[-1.0], [1.0]])

    def test_rows_that_no_atom_was_picked_from_come_first(self):
        mask = np.arange(5000) % 5 == 0
        rows, n_unseen = choose_rows(5000, mask)
        assert (len(rows), n_unseen) == (2000, 1000)
        assert mask[rows[:1000]].all()
        assert not mask[rows[1000:]].any()
        assert choose_rows(30, None)[0].tolist() == list(range(30))

    def test_quantiles(self):
        scores = np.arange(9.0)[::-1]
        assert quantiles(scores, np.ones(9), np.array([0.1, 0.5, 0.9, 0.999])).tolist() == [0.0, 4.0, 8.0, 8.0]


class TestCoverage:
    def test_in_fifths_by_width(self, noisy):
        model, _, _, fresh, wanted = noisy
        inside, width = held(model, fresh, wanted)
        assert inside.mean() == pytest.approx(0.9, abs=0.03)
        for fifth in np.array_split(np.argsort(width, kind="stable"), 5):
            assert inside[fifth].mean() == pytest.approx(0.9, abs=0.06)
        assert np.corrcoef(width, 0.05 + 0.1 * fresh[:, 0])[0, 1] > 0.9

    def test_deviations_follow_the_noise(self, noisy):
        model, _, _, fresh, _ = noisy
        std = model.predict(fresh, return_std=True)[1]
        assert np.corrcoef(std, 0.05 + 0.1 * fresh[:, 0])[0, 1] > 0.9
        assert np.median(std / (0.05 + 0.1 * fresh[:, 0])) == pytest.approx(1.0, abs=0.1)

    @pytest.mark.parametrize(
        "f", [np.sin, lambda x: np.sin(2 * x), lambda x: np.tanh(x - 5), lambda x: 1.0 * (x > 5)], ids=range(4)
    )
    def test_in_a_hole_and_far_outside(self, f):
        rng = np.random.default_rng(1)
        X, y = with_hole(f, rng)
        model = KernelPursuitRegressor(kernel="matern52", random_state=0).fit(X, y)
        for low, high in ((3, 7), (10, 20), (20, 60), (-20, 0)):
            x = rng.uniform(low, high, size=500)
            inside, _ = held(model, x[:, None], f(x) + 0.1 * rng.normal(size=500))
            assert inside.mean() >= 0.9

    def test_far_away_they_are_the_spread_of_the_targets(self, noisy):
        model, _, y, _, _ = noisy
        _, std, lower, upper = model.predict([[1e4], [-1e9]], return_std=True, interval=0.9)
        # The mean, and to either side of it at least the range of nearly all targets.
        np.testing.assert_allclose((lower + upper) / 2, y.mean(), rtol=1e-9)
        assert ((upper - lower) / 2 >= 0.9 * np.ptp(np.quantile(y, [0.01, 0.99]))).all()
        assert (std >= y.std()).all()
        assert (std <= 1.5 * y.std()).all()

    def test_one_width_where_the_noise_is_the_same_everywhere(self, rng, short_plan):
        X = rng.uniform(-1, 1, size=(300, 2))
        model = KernelPursuitRegressor(kernel="rbf", random_state=0).fit(X, X[:, 0] + 0.3 * rng.normal(size=300))
        lower, upper = model.predict_interval(X)
        width = upper - lower
        assert np.quantile(width, 0.95) < 1.05 * np.quantile(width, 0.05)


class TestAnswers:
    def test_interval_of_predict(self, noisy):
        model, _, _, fresh, _ = noisy
        mean, lower, upper = model.predict(fresh[:9], interval=0.8)
        np.testing.assert_array_equal(mean, model.predict(fresh[:9]))
        np.testing.assert_array_equal([lower, upper], model.predict_interval(fresh[:9], 0.8))
        both = model.predict(fresh[:9], return_std=True, interval=0.8)
        np.testing.assert_array_equal(both[1], model.predict(fresh[:9], return_std=True)[1])
        np.testing.assert_array_equal(both[2:], [lower, upper])

    def test_through_a_pipeline(self, rng, short_plan):
        X = rng.normal(size=(60, 2))
        y = X[:, 0] + 0.1 * rng.normal(size=60)
        pipe = make_pipeline(StandardScaler(), KernelPursuitRegressor(kernel="rbf", random_state=0)).fit(X, y)
        mean, lower, upper = pipe.predict(X, interval=0.9)
        assert ((lower < mean) & (mean < upper)).all()
        with pytest.raises(ValueError, match=r"^interval=1.5 [^\n]*above 0 and below 1\.$"):
            pipe.predict(X, interval=1.5)

    def test_wider_for_more(self, noisy):
        model, _, _, fresh, _ = noisy
        widths = np.array([held(model, fresh[:50], 0.0, c)[1] for c in (0.1, 0.5, 0.8, 0.9, 0.99)])
        assert (np.diff(widths, axis=0) > 0).all()

    def test_other_sizes_are_no_narrower(self, noisy):
        model, _, _, fresh, wanted = noisy
        width = held(model, fresh, wanted)[1]
        covered = []
        for k in (0, 1, model.n_atoms_ // 2):
            inside, other = held(model.at(k), fresh, wanted)
            covered.append(inside.mean())
            assert other.mean() >= width.mean()
        assert np.mean(covered) > 0.85
        assert min(covered) > 0.8
        np.testing.assert_array_equal(held(model.at(model.n_atoms_), fresh, wanted)[1], width)

    def test_units_of_the_targets(self, noisy, short_plan):
        _, X, y, fresh, _ = noisy
        models = [
            KernelPursuitRegressor(kernel="rbf", random_state=0).fit(X[:300], c * y[:300]) for c in (1, 2.0**-300)
        ]
        ends = [model.predict([*fresh[:20], [1e6]], return_std=True, interval=0.9) for model in models]
        np.testing.assert_allclose(np.array(ends[1]) * 2.0**300, ends[0], rtol=1e-6)

    def test_a_scale_for_each_target(self, rng, short_plan):
        X = rng.uniform(0, 1, size=(400, 1))
        noise = rng.normal(size=(400, 2)) * np.column_stack([0.1 + X, 100 * (1.1 - X)])
        model = KernelPursuitRegressor(kernel="rbf", random_state=0).fit(X, np.sin(5 * X) + noise)
        lower, upper = model.predict_interval([[0.05], [0.95]])
        width = upper - lower
        assert width[1, 0] > 3 * width[0, 0]
        assert width[0, 1] > 3 * width[1, 1]
        assert width[0, 1] > 100 * width[0, 0]

    def test_finite_where_rows_are_interpolated(self, rng, short_plan):
        X = rng.normal(size=(30, 1))
        model = KernelPursuitRegressor(alpha=0.0, stop="max", max_atoms=29, random_state=0).fit(X, rng.normal(size=30))
        assert np.isfinite(model.predict_interval([[0.0], [50.0]])).all()

    def test_targets_without_noise_or_spread(self):
        X = np.linspace(0, 1, 40)[:, None]
        constant = KernelPursuitRegressor(random_state=0).fit(X, np.full(40, 3.0))
        np.testing.assert_allclose(constant.predict([[0.5], [9.0]], interval=0.9), 3.0)

    def test_same_bits_again(self, noisy, short_plan):
        _, X, y, fresh, _ = noisy
        one, other = (
            KernelPursuitRegressor(kernel="rbf", random_state=0, n_jobs=n_jobs).fit(X[:200], y[:200])
            for n_jobs in (1, 2)
        )
        np.testing.assert_array_equal(one.predict_interval(fresh), other.predict_interval(fresh))
