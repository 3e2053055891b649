"""Probabilities of the default classifier, against those that classes were drawn with."""

import numpy as np
import pytest
from known_classes import calibration_error, draw_classes, log_loss_of
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.exceptions import ConstantModelWarning


def classifier(**params):
    return KernelPursuitClassifier(**{"random_state": 0, "n_jobs": 1, **params})


class TestKnownProbabilities:
    # Twice what was found: the mean over seeds of what the log loss is above that of the true probabilities, and of
    # the calibration error, which is 0.02 for true probabilities themselves.
    @pytest.mark.parametrize(
        ("n", "n_classes", "most_above", "most_miscalibrated"),
        [(200, 2, 0.06, 0.06), (200, 4, 0.13, 0.07), (800, 2, 0.03, 0.04), (800, 4, 0.09, 0.05)],
    )
    def test_they_are_found(self, n, n_classes, most_above, most_miscalibrated):
        above, miscalibrated = [], []
        for seed in range(5 if n == 200 else 3):
            model = classifier().fit(*draw_classes(n, seed, n_classes)[:2])
            X, y, true = draw_classes(4000, 100 + seed, n_classes)
            p = model.predict_proba(X)
            above.append(log_loss_of(p, y) - log_loss_of(true, y))
            miscalibrated.append(calibration_error(p, y))
        assert np.mean(above) < most_above
        assert np.mean(miscalibrated) < most_miscalibrated

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "exponential"])
    def test_of_losses_that_have_none_of_their_own(self, loss):
        """Calibrated on rows that no atom was picked from, also with an alpha of one's own."""
        for settings in ({}, {"alpha": 0.01}):
            above, miscalibrated = [], []
            for seed in range(4):
                model = classifier(loss=loss, **settings).fit(*draw_classes(200, seed, 2)[:2])
                X, y, true = draw_classes(4000, 100 + seed, 2)
                p = model.predict_proba(X)
                above.append(log_loss_of(p, y) - log_loss_of(true, y))
                miscalibrated.append(calibration_error(p, y))
            assert np.mean(above) < 0.07
            assert np.mean(miscalibrated) < 0.06


class TestWithScikitLearn:
    def test_a_calibration_display(self):
        X, y, _ = draw_classes(300, 0)
        display = CalibrationDisplay.from_estimator(classifier(max_atoms=10).fit(X[:150], y[:150]), X, y, n_bins=5)
        assert np.abs(display.prob_true - display.prob_pred).max() < 0.3

    @pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
    def test_a_classifier_around_it_that_calibrates(self, method):
        X, y, _ = draw_classes(150, 0, 4)
        model = CalibratedClassifierCV(classifier(max_atoms=10), method=method, cv=2).fit(X, y)
        new, y_new, true = draw_classes(2000, 1, 4)
        p = model.predict_proba(new)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert model.score(new, y_new) > 0.8 * (true.argmax(axis=1) == y_new).mean()


@pytest.fixture(scope="module")
def rare():
    """One row of a thousand, mostly where the first feature is large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    y = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(9.2 - 2.2 * X[:, 0] - np.sin(2 * X[:, 1])))).astype(int)
    return X[:20_000], y[:20_000], X[20_000:], y[20_000:]


class TestRareClass:
    @pytest.mark.parametrize("loss", ["auto", "squared"])
    @pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")
    def test_probabilities_add_up_to_about_its_share(self, rare, loss):
        X, y, new, y_new = rare
        assert 0.0005 < y.mean() < 0.002
        model = classifier(loss=loss).fit(X, y)
        p = model.predict_proba(new)[:, 1]
        assert y.mean() / 4 < p.mean() < 4 * y.mean()
        assert log_loss_of(np.column_stack([1 - p, p]), y_new) < 0.015

    def test_balanced_weights_find_it(self, rare):
        X, y, new, y_new = rare
        model = classifier(class_weight="balanced").fit(X, y)
        recall = model.predict(new)[y_new == 1].mean()
        assert recall > 0.6
        # No more by chance than by what is known: of the other rows far fewer are taken for it.
        assert model.predict(new)[y_new == 0].mean() < recall / 2


def test_labels_by_chance_are_a_constant(rng):
    X, y = rng.normal(size=(150, 3)), rng.integers(2, size=150)
    with pytest.warns(ConstantModelWarning):
        p = classifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, np.tile([1 - y.mean(), y.mean()], (150, 1)), rtol=1e-5)
