"""The picture of a search holds its results and marks the best."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpursuit import KernelPursuitRegressor, LengthScaleSearch
from kernelpursuit.plotting import SearchDisplay

MODEL = KernelPursuitRegressor(alpha=1e-3, max_atoms=8, stop="loo")


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    X = np.linspace(0, 6, 60)[:, None]
    return X, np.sin(2 * X[:, 0])


def test_one_line_for_each_alpha(rows):
    search = LengthScaleSearch(MODEL, gammas=[3.0, 0.1, 1.0], alphas=[1e-3, 1e-1]).fit(*rows)
    display = SearchDisplay.from_search(search)
    first, second, best, bound = display.ax_.lines
    np.testing.assert_array_equal(first.get_xdata(), [0.1, 1.0, 3.0])
    np.testing.assert_array_equal(second.get_ydata(), search.results_["score"][[3, 5, 1]])
    assert best.get_xdata() == [search.best_params_["gamma"]]
    assert best.get_ydata() == [search.best_score_]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:2] == ["alpha = 0.001", "alpha = 0.1"]
    assert labels[2].startswith("best: gamma = ")
    error = search.results_["standard_error"][search.best_index_]
    assert bound.get_ydata()[0] == search.best_score_ + error
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0.1", "1", "3"]


def test_pipelines_and_axes_of_ones_own(rows):
    pipeline = make_pipeline(StandardScaler(), LengthScaleSearch(MODEL, gammas=[0.3, 3.0], by="cv", cv=3)).fit(*rows)
    _, ax = plt.subplots()
    display = SearchDisplay.from_search(pipeline, ax=ax)
    assert display.ax_ is ax
    assert ax.get_ylabel() == "criterion: cv"
    assert len(ax.lines) == 2  # no standard error is known
    display.figure_.canvas.draw()


def test_needs_a_fitted_search():
    with pytest.raises(ValueError, match="give a fitted LengthScaleSearch"):
        SearchDisplay.from_search(MODEL)
