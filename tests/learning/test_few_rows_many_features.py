"""Few rows of many features: scales that are tuned on their validation rows promise what they do not keep."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import TimeLimit
from kernelpursuit.exceptions import ConstantModelWarning


def fitted(X, y, seed=0):
    return KernelPursuitRegressor(random_state=seed, n_jobs=1).fit(X, y)


@pytest.mark.parametrize(("n", "d", "noise"), [(100, 20, 15.0), (210, 20, 15.0), (30, 20, 3.0)])
@pytest.mark.parametrize("draw", range(3))
def test_a_line_is_found_in_noise(n, d, noise, draw):
    """Without rows that scales were not tuned on, most of these draws were interpolated: three times ridge's error."""
    rng = np.random.default_rng(draw)
    X, X_new, weights = rng.normal(size=(n, d)), rng.normal(size=(1000, d)), np.arange(float(d))
    y = X @ weights + noise * rng.normal(size=n)
    errors = [
        np.sqrt(np.mean(np.square(model.predict(X_new) - X_new @ weights)))
        for model in (fitted(X, y), RidgeCV(np.logspace(-3, 3, 13)).fit(X, y))
    ]
    assert errors[0] < 1.5 * errors[1]


@pytest.mark.parametrize("draw", range(4))
def test_noise_of_many_features(draw):
    rng = np.random.default_rng(draw)
    X, y = rng.normal(size=(100, 15)), rng.normal(size=100)
    with pytest.warns(ConstantModelWarning, match="is a constant"):
        model = fitted(X, y)
    assert model.n_atoms_ == 0
    assert model.select("auto").n_atoms_ == 0, "the same rule"
    assert model.select("loo").n_atoms_ >= 0


@pytest.mark.parametrize("draw", range(3))
def test_labels_that_a_line_nearly_tells_apart_have_fair_probabilities(draw):
    rng = np.random.default_rng(draw)
    X, X_new = rng.normal(size=(80, 10)), rng.normal(size=(1000, 10))
    y = X.sum(axis=1) + 0.3 * rng.normal(size=80) > 0
    model = KernelPursuitClassifier(random_state=0, n_jobs=1).fit(X, y)
    p = model.predict_proba(X_new)[:, 1]
    right = np.where(X_new.sum(axis=1) > 0, p, 1 - p)
    assert -np.log(right).mean() < 0.6, "with a line, and no penalty, it was above 3"


def test_what_was_cut_short_is_nothing_to_go_on_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=300)
    model = KernelPursuitRegressor(random_state=0, n_jobs=1, warm_start=True)
    ticks = iter(range(10**6))
    model.fit(X, y, callback=TimeLimit(3, clock=lambda: next(ticks)))
    whole = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), whole.predict(X))


def test_a_fit_that_was_asked_to_end_is_not_called_a_constant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=300)
    fitted_once = KernelPursuitRegressor(random_state=0, n_jobs=1).fit(X, y, callback=lambda path: True)
    assert len(fitted_once.path_) == 1


def test_callbacks_see_the_path_of_all_rows_and_no_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    seen = []
    model = KernelPursuitRegressor(gamma=0.5, stop="cv", max_atoms=5)
    model.fit(X, X[:, 0], callback=lambda path: seen.append(path.n_steps))
    assert seen == [1, 2, 3, 4, 5]


def test_one_against_the_rest_does_not_return_along_irrelevant_features():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.digitize(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1], [-0.4, 0.4])
    model = KernelPursuitClassifier(multi_class="ovr", random_state=0, n_jobs=1).fit(X, y)
    assert model.feature_scales_[2] == 0
    far = X.copy()
    far[:, 2] += 1e3
    np.testing.assert_array_equal(model.decision_function(far), model.decision_function(X))


@pytest.mark.parametrize("n", [600, 1200])
def test_a_long_line_hides_nothing(n):
    """Of 100 features six matter: beside a line along all of them, scales found none, and 500 rows did better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 2000, 100))
    y = np.tanh(X[:, :5].sum(axis=1)) + 0.3 * np.square(X[:, 7]) + 0.3 * rng.normal(size=n + 2000)
    model = fitted(X[:n], y[:n])
    assert np.sqrt(np.mean(np.square(model.predict(X[n:]) - y[n:]))) < 0.5 * y[n:].std(), "it was 0.69"
    assert np.count_nonzero(model.feature_scales_) < 30


def test_noise_is_hardly_ever_taken_for_more():
    """The best of several starts has some evidence by chance."""
    kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantModelWarning)
            kept += fitted(rng.normal(size=(50, 3)), rng.normal(size=50)).n_atoms_ > 0
    assert kept <= 1


@pytest.mark.parametrize("seed", range(3))
def test_a_target_without_noise_does_not_decide_for_one_with_noise(seed):
    """They share a penalty: by the evidence of the first alone, the noise of the other was fitted, and R² was 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 4))
    noisy = np.sin(2 * X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=1200)
    Y = np.column_stack([noisy, X[:, 2] ** 2])
    model = fitted(X[:200], Y[:200])
    left = np.var(model.predict(X[200:]) - Y[200:], axis=0) / np.var(Y[200:], axis=0)
    assert left[0] < 0.25
    assert left[1] < 0.1
