"""Displays: the numbers they hold, the artists they draw, and what they say where they cannot."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from plain import plain_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelpursuit import pursuit_path
from kernelpursuit.data import make_chirp, make_friedman, make_peaks
from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.plotting import FitDisplay, PathDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def chirp():
    X, y = make_chirp(150)
    return plain_regressor(gamma=3.0, max_atoms=40).fit(X, y), X, y


def lines(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def labels(display) -> str:
    return " | ".join(display.ax_.get_legend_handles_labels()[1])


class TestPath:
    def test_holds_errors_in_the_unit_of_the_target(self, chirp):
        model, X, y = chirp
        display = PathDisplay.from_estimator(model)
        path = model.path_
        np.testing.assert_array_equal(display.k, np.arange(path.n_steps + 1))
        np.testing.assert_allclose(display.loo, np.sqrt(path.loo))
        np.testing.assert_allclose(display.loo_high**2 - display.loo**2, path.loo_se)
        k = model.n_atoms_
        assert display.training[k] == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
        assert display.validation is None
        assert display.kept == k
        assert display.one_se == model.select("one-se").n_atoms_

    def test_draws_and_labels_the_choice(self, chirp):
        model, _, _ = chirp
        display = PathDisplay.from_estimator(model)
        assert f"kept: {model.n_atoms_} atoms" in labels(display)
        assert f"within one s.e.: {display.one_se} atoms" in labels(display)
        drawn = lines(display.ax_)
        np.testing.assert_allclose(drawn["leave-one-out error ± 1 s.e."][:, 1], display.loo)
        [kept] = drawn[f"kept: {model.n_atoms_} atoms"]
        np.testing.assert_allclose(kept, [model.n_atoms_, display.loo[model.n_atoms_]])
        assert display.ax_.get_yscale() == "log"
        assert len(display.ax_.collections) == 1

    def test_one_mark_where_both_rules_agree(self, chirp):
        display = PathDisplay.from_estimator(chirp[0].select("one-se"))
        assert f"kept: {display.one_se} atoms, as by one s.e." in labels(display)
        assert "within" not in labels(display)

    def test_shows_held_out_errors(self):
        X, y = make_chirp(150)
        model = plain_regressor(gamma=3.0, max_atoms=30, stop="validation", random_state=0).fit(X, y)
        display = PathDisplay.from_estimator(model)
        np.testing.assert_allclose(display.validation, np.sqrt(model.path_.validation))
        assert "held-out error" in labels(display)

    def test_training_error_of_several_weighted_targets(self):
        X, y = make_chirp(80)
        Y, weights = np.column_stack([y, -2 * y]), np.linspace(0.5, 2, 80)
        model = plain_regressor(gamma=3.0, max_atoms=10).fit(X, Y, sample_weight=weights)
        squares = np.square(model.predict(X) - Y).mean(axis=1)
        training = PathDisplay.from_estimator(model).training[model.n_atoms_]
        assert training == pytest.approx(np.sqrt(np.average(squares, weights=weights)))

    def test_draws_a_bare_path(self):
        X, y = make_chirp(80)
        path = pursuit_path(X, y, gamma=3.0, max_atoms=12)
        assert PathDisplay.from_path(path).kept == np.argmin(path.loo)
        assert PathDisplay.from_path(path, kept=5).kept == 5

    def test_copes_with_interpolation_and_with_a_zero_residual(self):
        X = np.linspace(0, 1, 6)[:, None]
        exact = plain_regressor(gamma=40.0, penalty=None, stop="max").fit(X, np.sin(9 * X[:, 0]))
        display = PathDisplay.from_estimator(exact)
        assert np.isnan(display.loo[-1])
        display.figure_.canvas.draw()
        constant = plain_regressor().fit(X, np.ones(6))
        PathDisplay.from_estimator(constant).figure_.canvas.draw()

    def test_refuses_a_model_without_a_path(self):
        with pytest.raises(ValueError, match="SVR has no path to draw"):
            PathDisplay.from_estimator(SVR())
        with pytest.raises(ValueError, match="give a fitted"):
            PathDisplay.from_estimator(plain_regressor())


class TestFit:
    def test_one_feature_is_a_curve(self, chirp):
        model, X, y = chirp
        display = FitDisplay.from_estimator(model, X, y)
        mean, std = model.predict(display.axes[0][:, None], return_std=True)
        np.testing.assert_array_equal(display.values, mean)
        np.testing.assert_array_equal(display.std, std)
        np.testing.assert_array_equal(display.centers, model.centers_)
        np.testing.assert_array_equal(display.center_values, model.predict(model.centers_))
        drawn = lines(display.ax_)
        np.testing.assert_array_equal(drawn["data"], np.column_stack([X, y]))
        assert len(drawn[f"{model.n_atoms_} centres"]) == model.n_atoms_
        assert len(display.ax_.collections) == 1

    def test_two_features_are_a_surface(self):
        X, y = make_peaks(150)
        model = plain_regressor(gamma=1.0, max_atoms=20).fit(X, y)
        display = FitDisplay.from_estimator(model, X, y)
        first, second = display.axes
        i, j = 17, 90
        assert display.values[i, j] == pytest.approx(model.predict([[first[j], second[i]]])[0])
        assert len(display.figure_.axes) == 2  # with the colour bar
        assert any(len(xy) == model.n_atoms_ for xy in lines(display.ax_).values())

    def test_more_features_are_predicted_against_actual(self):
        X, y = make_friedman(100)
        model = plain_regressor(max_atoms=20).fit(X, y)
        display = FitDisplay.from_estimator(model, X, y)
        assert display.values is None
        [xy] = [xy for label, xy in lines(display.ax_).items() if "root mean squared error" in label]
        np.testing.assert_array_equal(xy, np.column_stack([y, model.predict(X)]))

    def test_precomputed_columns_are_no_features(self):
        X, y = make_chirp(40)
        model = plain_regressor(kernel="precomputed").fit(X, y)
        assert FitDisplay.from_estimator(model, X, y).values is None

    def test_one_of_several_targets(self, chirp):
        _, X, y = chirp
        model = plain_regressor(gamma=3.0, max_atoms=15).fit(X, np.column_stack([y, y**2]))
        display = FitDisplay.from_estimator(model, X, np.column_stack([y, y**2]), target=1)
        np.testing.assert_array_equal(display.prediction, model.predict(X)[:, 1])
        np.testing.assert_array_equal(display.y, y**2)

    def test_pipeline_and_search_in_the_unit_of_their_input(self):
        X, y = make_peaks(120)
        pipeline = make_pipeline(StandardScaler(), plain_regressor(max_atoms=15))
        search = GridSearchCV(pipeline, {"kernelpursuitregressor__gamma": [1.0, 3.0]}, cv=2).fit(X, y)
        display = FitDisplay.from_estimator(search, X, y)
        model = search.best_estimator_[-1]
        np.testing.assert_allclose(display.centers, X[model.center_indices_])
        assert PathDisplay.from_estimator(search).kept == model.n_atoms_

    def test_frames_keep_their_names(self):
        X, y = make_peaks(100)
        frame = pd.DataFrame(X, columns=["east", "north"])
        display = FitDisplay.from_estimator(plain_regressor(max_atoms=8).fit(frame, y), frame, y)
        assert display.ax_.get_xlabel() == "east"
        assert display.ax_.get_ylabel() == "north"

    def test_sparse_rows(self):
        X, y = make_peaks(60)
        rows = sp.csr_array(np.where(np.abs(X) < 1, 0, X))
        display = FitDisplay.from_estimator(plain_regressor(max_atoms=8).fit(rows, y), rows, y)
        assert display.X.shape == (60, 2)

    def test_atoms_without_centres_are_left_out(self, chirp):
        _, X, y = chirp
        trend = Functions(lambda X: X[:, 0])
        model = plain_regressor(kernel=KernelAtoms("rbf") + trend, gamma=3.0, max_atoms=151, stop="max")
        display = FitDisplay.from_estimator(model.fit(X, y), X, y)
        assert len(display.centers) == np.isfinite(model.centers_).all(axis=1).sum()
        only = plain_regressor(kernel=trend).fit(X, y)
        assert FitDisplay.from_estimator(only, X, y).centers is None

    def test_a_model_without_atoms(self, chirp):
        model, X, y = chirp
        display = FitDisplay.from_estimator(model.at(0), X, y)
        assert display.center_values is None
        np.testing.assert_allclose(display.values, y.mean())


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_plot_draws_again_on_other_axes(n_features):
    X, y = make_friedman(60)
    model = plain_regressor(max_atoms=6).fit(X[:, :n_features], y)
    for display in (
        PathDisplay.from_estimator(model),
        FitDisplay.from_estimator(model, X[:, :n_features], y),
    ):
        first = display.ax_
        _, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax is not first
        assert len(ax.get_lines()) == len(first.get_lines())
        display.figure_.canvas.draw()


def test_says_what_to_install(monkeypatch, chirp):
    model, X, y = chirp
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    sentence = r"^plotting needs matplotlib: pip install 'kernelpursuit\[plot\]'$"
    with pytest.raises(ImportError, match=sentence):
        PathDisplay.from_estimator(model)
    with pytest.raises(ImportError, match=sentence):
        FitDisplay.from_estimator(model, X, y)
