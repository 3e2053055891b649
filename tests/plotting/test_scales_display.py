"""The picture of learned scales: sorted, named, and honest about what has no say."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FunctionTransformer, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.plotting import ScalesDisplay
from kernelpursuit.plotting.parts import BLUE, GREY

plt = pytest.importorskip("matplotlib.pyplot")

NAMES = ["irrelevant", "fast", "slow"]


@pytest.fixture(scope="module")
def rows():
    """One constant feature, one that matters much, one that matters less; each in a unit of its own."""
    generator = np.random.default_rng(0)
    X = generator.uniform(0, 1, (150, 3)) * [0.0, 1e3, 1e-3]
    return X, np.sin(6e-3 * X[:, 1]) + 1e3 * X[:, 2]


def regressor(**params) -> KernelPursuitRegressor:
    return KernelPursuitRegressor(**{"kernel": "rbf", "max_atoms": 30, "random_state": 0, **params})


@pytest.fixture(scope="module")
def model(rows):
    X, y = rows
    return regressor().fit(pd.DataFrame(X, columns=NAMES), y)


def ticks(display) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_are_sorted_and_named(model):
    display = ScalesDisplay.from_estimator(model)
    assert display.names == ["fast", "slow", "irrelevant"] == ticks(display)
    np.testing.assert_array_equal(display.scales, model.feature_scales_[[1, 2, 0]])
    assert [bar.get_width() for bar in display.ax_.patches] == display.scales.tolist()
    low, high = display.ax_.get_ylim()
    assert low > high  # the largest is at the top
    assert display.ax_.get_xlim()[0] == 0
    display.figure_.canvas.draw()


def test_irrelevant_features_are_grey_and_said_to_be(model):
    display = ScalesDisplay.from_estimator(model)
    assert display.scales[-1] == 0
    assert [label.get_color() for label in display.ax_.get_yticklabels()] == ["black", "black", GREY]
    assert [text.get_color() for text in display.ax_.texts] == ["black", "black", GREY]
    assert display.ax_.texts[-1].get_text() == "irrelevant"
    assert plt.matplotlib.colors.to_hex(display.ax_.patches[0].get_facecolor()).upper() == BLUE


def test_the_largest_are_shown_and_the_others_counted(model):
    display = ScalesDisplay.from_estimator(model, max_features=1)
    assert ticks(display) == ["fast"]
    assert len(display.scales) == 3  # what is not drawn is held
    assert display.ax_.get_title(loc="left") == "and 2 more, 1 of them irrelevant"
    shorter = ScalesDisplay.from_estimator(model, max_features=2)
    assert shorter.ax_.get_title(loc="left") == "and 1 more, 1 of them irrelevant"
    none_irrelevant = ScalesDisplay(scales=np.array([2.0, 1.0]), names=["a", "b"], max_features=1).plot()
    assert none_irrelevant.ax_.get_title(loc="left") == "and 1 more"
    assert ScalesDisplay.from_estimator(model).ax_.get_title(loc="left") == ""


def test_axes_of_ones_own_and_plotting_again(model):
    _, (first, second) = plt.subplots(1, 2)
    display = ScalesDisplay.from_estimator(model, ax=first)
    assert display.ax_ is first
    assert display.plot(ax=second).ax_ is second
    assert len(second.patches) == 3


def test_rows_without_names(rows):
    display = ScalesDisplay.from_estimator(regressor().fit(*rows))
    assert display.names == ["x2", "x3", "x1"]


def test_ties_stay_in_the_order_of_the_features():
    display = ScalesDisplay(scales=np.zeros(3), names=["a", "b", "c"]).plot()
    assert ticks(display) == ["a", "b", "c"]
    display.figure_.canvas.draw()


def test_names_come_through_a_pipeline(rows):
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), regressor())
    assert ScalesDisplay.from_estimator(pipeline.fit(pd.DataFrame(X, columns=NAMES), y)).names[:2] == ["fast", "slow"]
    assert sorted(ScalesDisplay.from_estimator(pipeline.fit(X, y)).names) == ["x0", "x1", "x2"]  # as scikit-learn says


def test_a_step_that_tells_no_names(rows):
    X, y = rows
    pipeline = make_pipeline(FunctionTransformer(lambda X: 2 * X), regressor()).fit(X, y)
    assert ScalesDisplay.from_estimator(pipeline).names == ["x2", "x3", "x1"]


def test_searches_are_looked_into(rows):
    search = GridSearchCV(regressor(), {"max_atoms": [5]}, cv=2).fit(*rows)
    assert ScalesDisplay.from_estimator(search).names[0] == "x2"


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_classifiers(rows, multi_class):
    X, y = rows
    model = KernelPursuitClassifier(kernel="rbf", max_atoms=10, multi_class=multi_class, random_state=0)
    display = ScalesDisplay.from_estimator(model.fit(X, np.digitize(y, np.quantile(y, [0.3, 0.6]))))
    assert display.names[-1] == "x1"


def test_refuses_what_has_learned_no_scales(rows, model):
    with pytest.raises(ValueError, match="KernelPursuitRegressor has learned no scales; fit it with gamma='learn'"):
        ScalesDisplay.from_estimator(regressor(gamma=1.0).fit(*rows))
    with pytest.raises(ValueError, match="SVR has no path to draw"):
        ScalesDisplay.from_estimator(SVR())
    with pytest.raises(ValueError, match="max_features=0 is too small"):
        ScalesDisplay.from_estimator(model, max_features=0)


def test_says_what_to_install(model, monkeypatch):
    real_import = builtins.__import__

    def without_matplotlib(name, *rest, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"plotting needs matplotlib: pip install 'kernelpursuit\[plot\]'"):
        ScalesDisplay.from_estimator(model)
