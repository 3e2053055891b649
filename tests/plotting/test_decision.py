"""The display of classifiers: the numbers it holds, the artists it draws, and what it says where it cannot."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from plain import plain_classifier, plain_regressor
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.plotting import DecisionDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(80, noise=0.2, random_state=0)
    return plain_classifier(gamma=1.0, max_atoms=8, stop="max").fit(X, y), X, y


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=3, random_state=0)
    return plain_classifier(max_atoms=6, stop="max").fit(X, y), X, y


def labels(display) -> list[str]:
    return display.ax_.get_legend_handles_labels()[1]


def drawn(display) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_xydata() for line in display.ax_.get_lines()}


def at(display, i: int, j: int) -> list[list[float]]:
    """The point of the plane to which `values[i, j]` belongs, as a row."""
    return [[display.axes[0][j], display.axes[1][i]]]


class TestTwoClasses:
    def test_holds_scores_of_the_second_class(self, moons):
        model, X, y = moons
        display = DecisionDisplay.from_estimator(model, X, y)
        assert display.values.shape == (len(display.axes[1]), len(display.axes[0]))
        assert display.values[17, 90] == pytest.approx(model.decision_function(at(display, 17, 90))[0])
        np.testing.assert_array_equal(np.sort(display.centers, axis=0), np.sort(model.centers_, axis=0))

    def test_holds_probabilities_of_the_second_class(self, moons):
        model, X, y = moons
        display = DecisionDisplay.from_estimator(model, X, y, response="probability")
        assert display.values[3, 120] == pytest.approx(model.predict_proba(at(display, 3, 120))[0, 1])
        assert "probability of class 1" in [ax.get_ylabel() for ax in display.figure_.axes]

    def test_marks_rows_by_class_and_circles_centres(self, moons):
        model, X, y = moons
        display = DecisionDisplay.from_estimator(model, X, y)
        assert labels(display) == ["class 0", "class 1", "8 centres"]
        np.testing.assert_array_equal(drawn(display)["class 0"], X[y == 0])
        np.testing.assert_array_equal(drawn(display)["class 1"], X[y == 1])
        markers = {line.get_label(): line.get_marker() for line in display.ax_.get_lines()}
        assert (markers["class 0"], markers["class 1"], markers["8 centres"]) == ("x", "+", "o")

    def test_legend_and_colour_bar_lie_outside_and_may_be_left_out(self, moons):
        model, X, y = moons
        display = DecisionDisplay.from_estimator(model, X, y)
        display.figure_.canvas.draw()
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.y0 >= display.ax_.get_window_extent().y1 - 1
        assert len(display.figure_.axes) == 2
        bare = DecisionDisplay.from_estimator(model, X, y, colorbar=False, legend=False)
        assert bare.ax_.get_legend() is None
        assert len(bare.figure_.axes) == 1

    def test_the_line_is_where_decisions_turn(self, moons):
        model, X, y = moons
        ax = DecisionDisplay.from_estimator(model, X, y, colorbar=False).ax_
        *_, border = ax.collections
        points = np.vstack([path.vertices for path in border.get_paths()])
        size = np.abs(model.decision_function(X)).mean()
        assert np.abs(model.decision_function(points)).max() < 0.02 * size

    def test_one_class_everywhere_has_no_line(self, moons):
        _, X, y = moons
        weights = np.where(y == 0, 1e-9, 1.0)
        model = plain_classifier(loss="squared", max_atoms=1, stop="max").fit(X, y, sample_weight=weights)
        DecisionDisplay.from_estimator(model.at(0), X, y).figure_.canvas.draw()
        assert model.at(0).predict(X).min() == 1


class TestSeveralClasses:
    @pytest.mark.parametrize("response", ["score", "probability"])
    def test_holds_a_value_for_each(self, blobs, response):
        model, X, y = blobs
        display = DecisionDisplay.from_estimator(model, X, y, response=response)
        assert display.values.shape[2] == 3
        assert model.predict(at(display, 30, 100))[0] == display.values[30, 100].argmax()
        assert labels(display) == ["class 0", "class 1", "class 2", "6 centres"]
        display.figure_.canvas.draw()

    def test_atoms_of_their_own(self, blobs):
        _, X, y = blobs
        model = plain_classifier(max_atoms=4, stop="max", multi_class="ovr").fit(X, y)
        display = DecisionDisplay.from_estimator(model, X, y)
        assert len(display.centers) == len(np.unique(model.center_indices_))

    def test_labels_may_be_words(self, blobs):
        _, X, y = blobs
        words = np.array(["hill", "lake", "wood"])[y]
        model = plain_classifier(max_atoms=4, stop="max").fit(X, words)
        assert labels(DecisionDisplay.from_estimator(model, X, words))[:3] == ["class hill", "class lake", "class wood"]

    def test_more_classes_than_colours(self):
        X, y = make_blobs(100, centers=10, random_state=1)
        model = plain_classifier(loss="squared", max_atoms=12, stop="max").fit(X, y)
        DecisionDisplay.from_estimator(model, X, y).figure_.canvas.draw()


class TestOtherEstimators:
    def test_support_vectors_are_circled(self, moons):
        _, X, y = moons
        svm = SVC(gamma=1.0).fit(X, y)
        display = DecisionDisplay.from_estimator(svm, X, y)
        np.testing.assert_array_equal(display.centers, svm.support_vectors_)
        assert f"{len(svm.support_)} support vectors" in labels(display)
        assert display.values[5, 5] == pytest.approx(svm.decision_function(at(display, 5, 5))[0])

    def test_support_vectors_of_several_classes(self, blobs):
        _, X, y = blobs
        display = DecisionDisplay.from_estimator(SVC().fit(X, y), X, y)
        assert display.values.shape[2] == 3

    @pytest.mark.parametrize("last", [plain_classifier(max_atoms=5, stop="max"), SVC()])
    def test_pipelines_in_the_unit_of_their_input(self, moons, last):
        _, X, y = moons
        X = X * [1.0, 1000.0] + [0.0, 50.0]
        pipeline = make_pipeline(StandardScaler(), last).fit(X, y)
        display = DecisionDisplay.from_estimator(pipeline, X, y)
        numbers = pipeline[-1].center_indices_ if hasattr(pipeline[-1], "path_") else pipeline[-1].support_
        np.testing.assert_allclose(np.sort(display.centers, axis=0), np.sort(X[numbers], axis=0))

    def test_pipelines_that_do_not_lead_back_show_no_centres(self, moons):
        _, X, y = moons
        pipeline = make_pipeline(PolynomialFeatures(2), plain_classifier(max_atoms=5)).fit(X, y)
        assert DecisionDisplay.from_estimator(pipeline, X, y).centers is None

    def test_searches(self, moons):
        _, X, y = moons
        search = GridSearchCV(plain_classifier(max_atoms=5), {"gamma": [0.5, 1.0]}, cv=2).fit(X, y)
        display = DecisionDisplay.from_estimator(search, X, y)
        assert len(display.centers) == search.best_estimator_.n_atoms_

    def test_frames_keep_their_names(self, moons):
        _, X, y = moons
        frame = pd.DataFrame(X, columns=["east", "north"])
        display = DecisionDisplay.from_estimator(plain_classifier(max_atoms=5).fit(frame, y), frame, y)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("east", "north")

    def test_sparse_rows(self, moons):
        _, X, y = moons
        rows = sp.csr_array(np.where(np.abs(X) < 0.3, 0, X))
        display = DecisionDisplay.from_estimator(plain_classifier(max_atoms=5).fit(rows, y), rows, y)
        assert display.X.shape == (80, 2)

    def test_atoms_without_centres_are_not_circled(self, moons):
        _, X, y = moons
        line = Functions(lambda X: X[:, 0])
        both = plain_classifier(kernel=line + KernelAtoms("rbf"), max_atoms=80, stop="max", loss="squared")
        display = DecisionDisplay.from_estimator(both.fit(X, y), X, y)
        assert len(display.centers) == np.isfinite(both.centers_).all(axis=1).sum() < both.n_atoms_
        alone = plain_classifier(kernel=line, loss="squared").fit(X, y)
        assert DecisionDisplay.from_estimator(alone, X, y).centers is None

    def test_two_atoms_at_one_centre_are_one_circle(self, moons):
        _, X, y = moons
        twice = KernelAtoms("rbf", centers=X[:2]) + KernelAtoms("laplacian", centers=X[:2])
        model = plain_classifier(kernel=twice, loss="squared", stop="max").fit(X, y)
        assert model.n_atoms_ == 4
        assert "2 centres" in labels(DecisionDisplay.from_estimator(model, X, y))

    def test_any_classifier(self, moons):
        _, X, y = moons
        display = DecisionDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, response="probability")
        assert display.centers is None
        assert labels(display) == ["class 0", "class 1"]


def test_plot_draws_again_on_other_axes(moons, blobs):
    for model, X, y in (moons, blobs):
        display = DecisionDisplay.from_estimator(model, X, y)
        first = display.ax_
        _, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax is not first
        assert len(ax.get_lines()) == len(first.get_lines())


class TestRefusals:
    def test_other_than_two_features(self, moons):
        _, X, y = moons
        wide = np.hstack([X, X])
        model = plain_classifier(max_atoms=3).fit(wide, y)
        with pytest.raises(ValueError, match=r"^DecisionDisplay draws the plane of two features, but X has 4; .*\.$"):
            DecisionDisplay.from_estimator(model, wide, y)

    def test_a_regressor(self, moons):
        _, X, y = moons
        with pytest.raises(ValueError, match=r"KernelPursuitRegressor has no classes to draw; .* use FitDisplay"):
            DecisionDisplay.from_estimator(plain_regressor(max_atoms=3).fit(X, y), X, y)

    def test_a_classifier_before_fit(self, moons):
        _, X, y = moons
        with pytest.raises(ValueError, match="give a fitted classifier"):
            DecisionDisplay.from_estimator(plain_classifier(), X, y)

    def test_an_unknown_response(self, moons):
        model, X, y = moons
        with pytest.raises(ValueError, match="response='proba'"):
            DecisionDisplay.from_estimator(model, X, y, response="proba")

    def test_a_response_that_is_not_there(self, moons):
        _, X, y = moons
        with pytest.raises(ValueError, match="LinearSVC has no predict_proba; use response='score'"):
            DecisionDisplay.from_estimator(LinearSVC().fit(X, y), X, y, response="probability")

    def test_precomputed_columns_are_no_features(self, moons):
        _, X, y = moons
        for model in (plain_classifier(kernel="precomputed", max_atoms=2), SVC(kernel="precomputed")):
            square = (X[:2] @ X[:2].T, [0, 1])
            model.fit(*(square if isinstance(model, SVC) else (X, y)))
            with pytest.raises(ValueError, match="kernel='precomputed' has none"):
                DecisionDisplay.from_estimator(model, X, y)

    def test_scores_of_pairs(self, blobs):
        _, X, y = blobs
        with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
            DecisionDisplay.from_estimator(SVC(decision_function_shape="ovo").fit(X, y), X, y)

    def test_a_class_that_was_not_fitted(self, moons):
        model, X, y = moons
        with pytest.raises(ValueError, match="y holds the label 2, which the classifier has not been fitted on"):
            DecisionDisplay.from_estimator(model, X, y + 1)


def test_says_what_to_install(monkeypatch, moons):
    model, X, y = moons
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"^plotting needs matplotlib: pip install 'kernelpursuit\[plot\]'$"):
        DecisionDisplay.from_estimator(model, X, y)
