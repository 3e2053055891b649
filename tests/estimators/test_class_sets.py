"""`predict_set`: classes whose scores are within a quantile of the largest, and how many true ones they hold."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from known_classes import draw_classes
from plain import plain_classifier

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.model import from_arrays, to_arrays

COVERAGES = (0.8, 0.9, 0.95)


def classifier(**params):
    return KernelPursuitClassifier(**{"random_state": 0, "n_jobs": 1, **params})


@pytest.fixture(scope="module")
def rows():
    return draw_classes(150, 5, 4)[:2]


@pytest.fixture(scope="module")
def fitted(rows):
    return classifier().fit(*rows)


def held(model, n_classes, coverage, seed):
    """The fraction of new rows whose class is in their set."""
    X, y, _ = draw_classes(2000, 1000 + seed, n_classes)
    return model.predict_set(X, coverage)[np.arange(len(y)), y].mean()


class TestCoverage:
    """Within three standard errors of the mean over seeds: of calibration rows, of which there are 200 each."""

    def check(self, models, n_classes, n_rows=200):
        for coverage in COVERAGES:
            found = np.mean([held(model, n_classes, coverage, seed) for seed, model in enumerate(models)])
            tolerance = 3 * np.sqrt(coverage * (1 - coverage) / (n_rows * len(models)))
            # A set is never empty: where the predicted class is right more often, it holds more than was asked for.
            right = np.mean(
                [model.score(*draw_classes(2000, 1000 + seed, n_classes)[:2]) for seed, model in enumerate(models)]
            )
            assert coverage - tolerance < found < max(coverage, right) + tolerance

    @pytest.mark.parametrize("settings", [{}, {"loss": "log"}, {"loss": "hinge", "alpha": 0.01}, {"loss": "squared"}])
    @pytest.mark.parametrize("n_classes", [2, 5])
    def test_of_few_rows(self, n_classes, settings):
        few = range(5)
        models = [classifier(**settings).fit(*draw_classes(200, seed, n_classes)[:2]) for seed in few]
        self.check(models, n_classes)

    @pytest.mark.parametrize("n_classes", [2, 5])
    def test_of_many_rows(self, n_classes):
        """Of which some are kept from the search for atoms."""
        models = [classifier(max_atoms=40).fit(*draw_classes(6000, seed, n_classes)[:2]) for seed in range(2)]
        self.check(models, n_classes)

    def test_where_nothing_is_learned(self):
        models = [
            plain_classifier(gamma=0.5, max_atoms=15, loss="squared").fit(*draw_classes(300, seed, 4)[:2])
            for seed in range(5)
        ]
        self.check(models, 4)


class TestSets:
    @pytest.mark.parametrize("settings", [{}, {"loss": "squared"}, {"gamma": 0.5, "max_atoms": 10}])
    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_they_grow_with_the_coverage_and_hold_the_predicted_class(self, settings, n_classes):
        X, y, _ = draw_classes(120, 3, n_classes)
        model = classifier(**settings).fit(X, y)
        new, before = draw_classes(500, 4, n_classes)[0], False
        for coverage in (0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
            sets = model.predict_set(new, coverage)
            assert (sets.dtype, sets.shape) == (bool, (500, n_classes))
            assert sets[np.arange(500), np.searchsorted(model.classes_, model.predict(new))].all()
            assert (sets >= before).all()
            before = sets
        assert model.predict_set(new, 0.01).sum(axis=1).mean() < 1.01 < before.sum(axis=1).mean()

    def test_the_default_is_nine_tenths(self, rows, fitted):
        X, _ = rows
        np.testing.assert_array_equal(fitted.predict_set(X), fitted.predict_set(X, 0.9))
        assert (fitted.predict_set(X) != fitted.predict_set(X, 0.8)).any()

    def test_a_class_is_in_where_its_score_is_near_the_largest(self, rows, fitted):
        X, _ = rows
        scores, sets = fitted.decision_function(X), fitted.predict_set(X, 0.8)
        gaps = scores.max(axis=1, keepdims=True) - scores
        assert gaps[sets].max() <= fitted.path_.score_gap(fitted.n_atoms_, 0.8) < gaps[~sets].min()

    def test_every_model_of_the_path_has_some(self, rows, fitted):
        X, _ = rows
        new, y, _ = draw_classes(2000, 6, 4)
        for k in range(len(fitted.path_) + 1):
            sets = fitted.at(k).predict_set(new, 0.9)
            assert sets.any(axis=1).all()
            assert sets[np.arange(2000), y].mean() > 0.82
        np.testing.assert_array_equal(fitted.at(fitted.n_atoms_).predict_set(X), fitted.predict_set(X))

    @pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, pd.DataFrame, np.float32, list])
    def test_rows_of_any_kind(self, rows, fitted, kind):
        X, _ = rows
        X = np.round(X, 3)
        given = X.astype(np.float32) if kind is np.float32 else X.tolist() if kind is list else kind(X)
        assert (fitted.predict_set(given) != fitted.predict_set(X)).mean() < 0.01

    def test_rows_with_names(self, rows):
        X, y = rows
        frame = pd.DataFrame(X, columns=["a", "b"])
        model = classifier(max_atoms=5).fit(frame, y)
        np.testing.assert_array_equal(model.predict_set(frame), classifier(max_atoms=5).fit(X, y).predict_set(X))

    def test_they_survive_a_pickle_and_arrays(self, rows, fitted):
        X, _ = rows
        pickled = pickle.loads(pickle.dumps(fitted))
        read = pickle.loads(pickle.dumps(fitted))
        read.model_ = from_arrays(to_arrays(fitted.model_))
        for coverage in COVERAGES:
            np.testing.assert_array_equal(pickled.predict_set(X, coverage), fitted.predict_set(X, coverage))
            np.testing.assert_array_equal(read.predict_set(X, coverage), fitted.predict_set(X, coverage))

    def test_rows_that_are_interpolated_say_nothing(self, rows):
        X, y = rows
        model = plain_classifier(gamma=100.0, penalty=None, loss="squared", stop="max").fit(X, y)
        assert model.predict_set(X).all()


class TestRefused:
    @pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, "x", None, np.nan, True, [0.9]])
    def test_coverages(self, rows, fitted, coverage):
        with pytest.raises(ValueError, match=rf"^coverage={re.escape(repr(coverage))} is .*; give a number above 0"):
            fitted.predict_set(rows[0], coverage)

    def test_one_against_the_rest(self, rows):
        X, y = rows
        model = classifier(multi_class="ovr", max_atoms=4).fit(X, y)
        with pytest.raises(ValueError, match=r"^predict_set needs .*; use multi_class='shared'\.$"):
            model.predict_set(X)
        # Two classes have one model in any case.
        assert classifier(multi_class="ovr", max_atoms=4).fit(X, y > 1).predict_set(X).shape == (150, 2)

    def test_updates_without_leave_one_out_scores(self, rows):
        X, y = rows
        model = plain_classifier(update="stagewise", stop="max", max_atoms=4).fit(X, y)
        with pytest.raises(ValueError, match=r"^Sets of classes need .*; fit with update='orthogonal'\.$"):
            model.predict_set(X)

    def test_before_a_fit(self, rows):
        with pytest.raises(Exception, match="not fitted"):
            classifier().predict_set(rows[0])
