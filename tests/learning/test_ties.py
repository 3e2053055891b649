"""Scales that are drawn towards a common one, where they are many for the rows."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.learning import choose_kernel

N_ROWS, N_FEATURES = 150, 60


def rows_of(seed, n, n_relevant=N_FEATURES, classes=False):
    """Targets that depend on some features, on all of these alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    y = X[:, :n_relevant].sum(axis=1) / np.sqrt(n_relevant) + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


@pytest.fixture
def ties(monkeypatch):
    """What `tie_scales` was given, and gave back, by exponent."""
    seen, tie = [], choose_kernel.tie_scales

    def watched(kernel, scales, exponent, *args, **params):
        found = tie(kernel, scales, exponent, *args, **params)
        seen.append((exponent, scales, found))
        return found

    monkeypatch.setattr(choose_kernel, "tie_scales", watched)
    return seen


def test_powers_of_the_scales(ties):
    KernelPursuitRegressor(kernel="rbf", random_state=0, n_jobs=1).fit(*rows_of(0, N_ROWS))
    assert {exponent for exponent, *_ in ties} == set(choose_kernel.TIE_EXPONENTS) == {1.0, 0.5, 0.0}
    for exponent, before, after in ties:
        used = before.model.scales > 0
        if exponent == 1.0:
            assert after is before
            continue
        scales = after.model.scales
        np.testing.assert_array_equal(scales > 0, used)
        powers = before.model.scales[used] ** exponent
        np.testing.assert_allclose(scales[used] / powers, (scales[used] / powers)[0])
        assert after.n_tied == (used.sum() - 1 if exponent == 0.0 else 0)
        if exponent == 0.0:
            np.testing.assert_allclose(scales[used], scales[used][0])


def test_few_features_are_never_tied(ties):
    X, y = rows_of(0, N_ROWS, n_relevant=3)
    KernelPursuitRegressor(kernel="rbf", random_state=0, n_jobs=1).fit(X[:, :3], y)
    assert not ties


@pytest.mark.parametrize("classes", [False, True])
def test_features_that_matter_alike_are_not_much_worse_than_with_one_scale(monkeypatch, classes):
    """In the mean over seeds; one scale for all is the truth here."""
    kind = KernelPursuitClassifier if classes else KernelPursuitRegressor
    found, common = [], []
    for seed in range(3):
        X, y = rows_of(seed, N_ROWS, classes=classes)
        new, y_new = rows_of(100 + seed, 1000, classes=classes)
        found.append(kind(kernel="rbf", random_state=0, n_jobs=1).fit(X, y).score(new, y_new))
        with monkeypatch.context() as patch:
            patch.setattr(choose_kernel, "TIE_EXPONENTS", (0.0,))
            model = kind(kernel="rbf", random_state=0, n_jobs=1).fit(X, y)
            scales = model.feature_scales_[model.feature_scales_ > 0]
            np.testing.assert_allclose(scales, scales[0])
            common.append(model.score(new, y_new))
    assert np.mean(found) > np.mean(common) - 0.03


@pytest.mark.parametrize("classes", [False, True])
def test_one_feature_of_many_is_still_found(classes):
    X, y = rows_of(0, N_ROWS, n_relevant=1, classes=classes)
    kind = KernelPursuitClassifier if classes else KernelPursuitRegressor
    scales = kind(kernel="rbf", random_state=0, n_jobs=1).fit(X, y).feature_scales_
    assert scales[0] > 3 * scales[1:].max()
