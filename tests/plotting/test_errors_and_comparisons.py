"""Displays of errors, calibration, dependence, centres and several models: their numbers, frames and refusals."""

from __future__ import annotations

import builtins
import warnings

import numpy as np
import pandas as pd
import pytest
from plain import plain_classifier, plain_regressor
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kernelpursuit
from kernelpursuit.data import make_chirp, make_friedman
from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.plotting import (
    CentersDisplay,
    ComparisonDisplay,
    CoverageDisplay,
    DecisionDisplay,
    DependenceDisplay,
    FitDisplay,
    PathDisplay,
    ReliabilityDisplay,
    ResidualsDisplay,
    ScalesDisplay,
    SearchDisplay,
)
from kernelpursuit.plotting.fractions import by_chance
from kernelpursuit.plotting.parts import distinct_names

plt = pytest.importorskip("matplotlib.pyplot")
X, Y = make_friedman(300)
TRAIN, TEST = slice(0, 200), slice(200, 300)
# Noise that grows along a feature: intervals of a learned model differ in width.
NOISY = Y + 3 * X[:, 0] ** 2 * np.random.default_rng(0).normal(size=len(Y))
IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def model():
    return plain_regressor(max_atoms=20).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def learned():
    return kernelpursuit.KernelPursuitRegressor(kernel="rbf", random_state=0).fit(X[TRAIN], NOISY[TRAIN])


@pytest.fixture(scope="module")
def two_targets():
    return plain_regressor(max_atoms=10).fit(X[TRAIN], np.column_stack([Y, -3 * Y])[TRAIN])


@pytest.fixture(scope="module")
def classifier():
    return plain_classifier(max_atoms=10).fit(IRIS[::2], SPECIES[::2])


@pytest.fixture(scope="module")
def pair():
    moons, sides = make_moons(200, noise=0.3, random_state=0)
    return plain_classifier(max_atoms=10).fit(moons, sides), moons, sides


def labels(display) -> str:
    return " | ".join(display.ax_.get_legend_handles_labels()[1])


def test_residuals_and_predictions(model, two_targets):
    display = ResidualsDisplay.from_estimator(model, X[TEST], Y[TEST])
    frame = display.frame()
    np.testing.assert_array_equal(frame["residual"], Y[TEST] - model.predict(X[TEST]))
    assert f"100 rows, root mean squared error {np.sqrt(np.mean(frame['residual'] ** 2)):.3g}" in labels(display)
    assert "median" in labels(display)
    predicted = ResidualsDisplay.from_estimator(model, X[TEST], Y[TEST], kind="predicted")
    points = predicted.ax_.lines[0].get_xydata()
    np.testing.assert_array_equal(points, np.column_stack([Y[TEST], model.predict(X[TEST])]))
    Y2 = np.column_stack([Y, -3 * Y])
    other = ResidualsDisplay.from_estimator(two_targets, X[TEST], Y2[TEST], target=1)
    np.testing.assert_array_equal(other.prediction, two_targets.predict(X[TEST])[:, 1])
    few = ResidualsDisplay.from_estimator(model, X[:5], Y[:5])
    assert "median" not in labels(few)


def test_coverage_in_fifths(model, learned):
    display = CoverageDisplay.from_estimator(model, X[TEST], Y[TEST], coverage=0.8)
    lower, upper = model.predict_interval(X[TEST], 0.8)
    held = (Y[TEST] >= lower) & (Y[TEST] <= upper)
    assert display.observed @ display.n_rows / 100 == pytest.approx(held.mean())
    assert display.by == "prediction"  # all intervals have one width
    order = np.argsort(model.predict(X[TEST]), kind="stable")
    assert display.observed[0] == held[order[:20]].mean()
    assert "wanted: 80 %" in labels(display)
    display = CoverageDisplay.from_estimator(learned, X[TEST], NOISY[TEST])
    assert display.by == "width"
    assert (np.diff(display.frame()["width"]) > 0).all()
    assert (display.low <= display.observed).all()
    assert (display.observed <= display.high).all()


def test_what_fractions_may_be_by_chance():
    low, high = by_chance(np.array([0.0, 0.5, 1.0, np.nan]), np.array([10, 400, 10, 0]))
    np.testing.assert_allclose(low[:3], [0.0, 0.459, 0.787], atol=1e-3)
    np.testing.assert_allclose(high[:3], [0.213, 0.541, 1.0], atol=1e-3)
    assert np.isnan(low[3])


def test_reliability_of_two_classes_and_of_many(pair, classifier):
    model, moons, sides = pair
    display = ReliabilityDisplay.from_estimator(model, moons, sides, n_bins=5)
    chances = model.predict_proba(moons)[:, 1]
    mine = (chances >= 0.2) & (chances < 0.4)
    assert display.probability[1] == pytest.approx(chances[mine].mean())
    assert display.frequency[1] == pytest.approx(sides[mine].mean())
    assert display.n_rows.sum() == len(sides)
    bins = np.minimum((chances * 5).astype(int), 4)
    gaps = [np.abs(chances[bins == b].sum() - sides[bins == b].sum()) for b in range(5)]
    assert display.error == pytest.approx(sum(gaps) / len(sides))
    display = ReliabilityDisplay.from_estimator(classifier, IRIS, SPECIES)
    right = classifier.predict(IRIS) == SPECIES
    assert np.nansum(display.frequency * display.n_rows) == pytest.approx(right.sum())
    assert "predicted class" in display.ax_.get_xlabel()
    display = ReliabilityDisplay.from_estimator(classifier, IRIS, SPECIES, label=2)
    assert np.nansum(display.frequency * display.n_rows) == pytest.approx((SPECIES == 2).sum())
    CalibrationDisplay.from_estimator(model, moons, sides)


def test_dependence_is_an_average_over_rows(model, two_targets, classifier):
    display = DependenceDisplay.from_estimator(model, 3, X[:30], n_points=5)
    changed = X[:30].copy()
    changed[:, 3] = display.points[2]
    assert display.average[2] == pytest.approx(model.predict(changed).mean())
    lower, upper = model.predict_interval(changed, 0.9)
    assert display.lower[2] == pytest.approx(lower.mean())
    assert display.upper[2] == pytest.approx(upper.mean())
    np.testing.assert_allclose(display.each[2], model.predict(changed))
    assert list(display.frame()) == ["x4", "average", "lower", "upper"]
    centers = DependenceDisplay.from_estimator(model, 3)
    assert centers.each.shape[1] == model.n_atoms_
    target = DependenceDisplay.from_estimator(two_targets, 3, X[:30], n_points=5, target=1, coverage=None)
    assert target.average[2] == pytest.approx(two_targets.predict(changed)[:, 1].mean())
    assert target.lower is None
    iris = DependenceDisplay.from_estimator(classifier, 2, IRIS, target=1)
    changed = IRIS.copy()
    changed[:, 2] = iris.points[-1]
    assert iris.average[-1] == pytest.approx(classifier.predict_proba(changed)[:, 1].mean())
    assert iris.output == "probability of class 1"


def test_dependence_of_a_loaded_model_and_of_a_pipeline(learned, tmp_path):
    learned.save(tmp_path / "m.kp")
    loaded = kernelpursuit.load(tmp_path / "m.kp")
    display = DependenceDisplay.from_estimator(loaded, 0)
    assert np.isfinite(display.lower).all()
    frame = pd.DataFrame(X, columns=list("abcdefghij")[: X.shape[1]])
    pipeline = make_pipeline(StandardScaler(), plain_regressor(max_atoms=5)).fit(frame, Y)
    display = DependenceDisplay.from_estimator(pipeline, "d", frame)
    np.testing.assert_allclose(display.values.mean(), 0, atol=0.3)
    assert display.ax_.get_xlabel() == "d"


def test_centers_are_where_components_say(model, two_targets, classifier):
    display = CentersDisplay.from_estimator(model, X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    assert display.rows.var(axis=0)[0] == pytest.approx(np.linalg.eigvalsh(np.cov(standard.T, ddof=0))[-1])
    place = int(model.center_indices_[4])
    np.testing.assert_allclose(display.points[4], display.rows[place])
    np.testing.assert_array_equal(display.weights, model.coef_)
    assert "positive weight" in labels(display)
    both = CentersDisplay.from_estimator(two_targets)
    np.testing.assert_allclose(both.frame()["weight"], np.linalg.norm(two_targets.coef_, axis=0))
    one = CentersDisplay.from_estimator(two_targets, target=1)
    np.testing.assert_array_equal(one.weights, two_targets.coef_[1])
    assert len(CentersDisplay.from_estimator(classifier, IRIS).points) == classifier.n_atoms_
    curve = plain_regressor(gamma=3.0, max_atoms=5, stop="max").fit(*make_chirp(40))
    assert CentersDisplay.from_estimator(curve).ax_.get_ylabel() == "weight"
    single = CentersDisplay.from_estimator(model.at(1), X)
    assert single.points.shape == (1, 2)


def test_several_models_beside_each_other(model, learned, classifier):
    models = {"plain": model, "learned": learned}
    display = ComparisonDisplay.from_estimators(models, X[TEST], Y[TEST])
    k = model.n_atoms_
    assert display.errors["plain"][k] == pytest.approx(np.sqrt(np.mean((model.predict(X[TEST]) - Y[TEST]) ** 2)))
    assert f"plain: {k} atoms" in labels(display)
    frame = display.frame()
    assert frame[frame["is_kept"]]["atoms"].tolist() == [model.n_atoms_, learned.n_atoms_]
    display = ComparisonDisplay.from_estimators(models)
    np.testing.assert_allclose(display.errors["plain"], np.sqrt(model.path_.loo))
    display = ComparisonDisplay.from_estimators({"iris": classifier}, IRIS, SPECIES)
    assert display.errors["iris"][classifier.n_atoms_] == np.mean(classifier.predict(IRIS) != SPECIES)


def test_long_names_stay_different():
    long = [f"a rather long name of feature number {j} in some unit" for j in range(3)]
    assert distinct_names(long) == [
        "…name of feature number 0…",
        "…name of feature number 1…",
        "…name of feature number 2…",
    ]
    assert distinct_names(["short", "names"]) == ["short", "names"]
    alike = ["x" * 30 + middle + "y" * 30 for middle in "ab"]
    assert len(set(distinct_names(alike))) == 2


def test_every_display_draws_again_and_gives_a_frame(model, learned, pair, monkeypatch):
    classes, moons, sides = pair
    search = kernelpursuit.LengthScaleSearch(plain_regressor(max_atoms=5), gammas=[0.1, 1.0]).fit(X, Y)
    displays = [
        ResidualsDisplay.from_estimator(model, X, Y),
        CoverageDisplay.from_estimator(model, X, Y),
        ReliabilityDisplay.from_estimator(classes, moons, sides),
        DependenceDisplay.from_estimator(model, 0, X[:20], n_points=4),
        CentersDisplay.from_estimator(model, X),
        ComparisonDisplay.from_estimators({"a": model}),
        DecisionDisplay.from_estimator(classes, moons, sides),
        FitDisplay.from_estimator(model, X, Y),
        PathDisplay.from_estimator(model),
        ScalesDisplay.from_estimator(learned),
        SearchDisplay.from_search(search),
    ]
    for display in displays:
        _, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax
        display.figure_.canvas.draw()
        frame = display.frame()
        assert isinstance(frame, pd.DataFrame), type(display).__name__
        assert len(frame), type(display).__name__
        plt.close("all")
    real_import = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    for display in displays:
        with pytest.raises(ImportError, match=r"^frame\(\) needs pandas: pip install 'kernelpursuit\[io\]'\.$"):
            display.frame()


def test_what_is_refused(model, classifier, pair):
    _, moons, sides = pair
    K = plain_regressor(kernel="precomputed", max_atoms=3).fit(X[:30] @ X[:30].T, Y[:30])
    functions = plain_regressor(kernel=Functions(lambda X: X[:, 0])).fit(X, Y)
    ovr = plain_classifier(max_atoms=3, multi_class="ovr").fit(IRIS, SPECIES)
    poisson = plain_regressor(loss="poisson", max_atoms=3).fit(X, np.abs(np.round(Y)))
    for call, match in [
        (lambda: ResidualsDisplay.from_estimator(model, X, Y, kind="residuals"), "did you mean 'residual'"),
        (lambda: ResidualsDisplay.from_estimator(classifier, IRIS, SPECIES), "use ReliabilityDisplay for a classifier"),
        (lambda: ResidualsDisplay.from_estimator(model, X, np.column_stack([Y, Y]), target=2), "target=2 is not there"),
        (lambda: CoverageDisplay.from_estimator(model, X[:3], Y[:3]), "give at least 5"),
        (lambda: CoverageDisplay.from_estimator(SVR(), X, Y), "SVR has no path"),
        (lambda: ReliabilityDisplay.from_estimator(SVC().fit(moons, sides), moons, sides), "has no predict_proba"),
        (lambda: ReliabilityDisplay.from_estimator(classifier, IRIS, SPECIES, label=7), "label=7 is none of"),
        (lambda: DependenceDisplay.from_estimator(model, "age"), "feature='age' is not known"),
        (lambda: DependenceDisplay.from_estimator(model, 99), "feature=99 is not there"),
        (lambda: DependenceDisplay.from_estimator(classifier, 0, target=7), "target=7 is none of"),
        (lambda: DependenceDisplay.from_estimator(model, 0, target=1), "target=1 is not there"),
        (lambda: DependenceDisplay.from_estimator(K, 0), "kernel='precomputed' has no features"),
        (lambda: DependenceDisplay.from_estimator(functions, 0), "no centres that could stand for rows; give X"),
        (lambda: CentersDisplay.from_estimator(functions), "no centres to draw"),
        (lambda: CentersDisplay.from_estimator(K), "no centres to draw"),
        (lambda: ComparisonDisplay.from_estimators([model]), "must be a dict"),
        (lambda: ComparisonDisplay.from_estimators({"a": model}, X), "X and y go together"),
        (lambda: ComparisonDisplay.from_estimators({"a": model, "b": classifier}), "compare one kind"),
        (lambda: ComparisonDisplay.from_estimators({"a": ovr}, IRIS, SPECIES), "has a path for each class"),
        (lambda: ComparisonDisplay.from_estimators({"a": poisson}), "no leave-one-out error under the squared loss"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()


def test_atoms_without_centres_are_left_out():
    mixed = plain_regressor(
        kernel=KernelAtoms("rbf") + Functions(lambda X: X[:, 0]), gamma=0.5, max_atoms=8, stop="max"
    )
    mixed.fit(X, Y)
    display = CentersDisplay.from_estimator(mixed, X)
    known = np.isfinite(mixed.centers_).all(axis=1)
    np.testing.assert_array_equal(display.weights, mixed.coef_[known])


def test_one_column_of_targets_is_a_vector(model, classifier, pair):
    flat, column = (ComparisonDisplay.from_estimators({"a": model}, X, y).errors["a"] for y in (Y, Y[:, None]))
    np.testing.assert_array_equal(flat, column)
    for y in (SPECIES[:, None], pd.Series(SPECIES)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's word on a column
            found = ComparisonDisplay.from_estimators({"a": classifier}, IRIS, y).errors["a"]
        assert found[-1] == pytest.approx(1 - classifier.at(len(found) - 1).score(IRIS, SPECIES))
    classes, moons, sides = pair
    two = np.column_stack([Y, Y])
    for call, match in [
        (lambda: ResidualsDisplay.from_estimator(model, X, Y[:1]), "y has shape"),
        (lambda: CoverageDisplay.from_estimator(model, X, Y[:9]), "y has shape"),
        (lambda: ComparisonDisplay.from_estimators({"a": model}, X, Y[:1]), "y has shape"),
        (lambda: ComparisonDisplay.from_estimators({"a": model}, X, two), "y has 2 targets, but a model predicts 1"),
        (lambda: ComparisonDisplay.from_estimators({"a": classes}, moons, sides.astype(str)), "y holds '"),
        (lambda: ReliabilityDisplay.from_estimator(classes, moons, sides.astype(str)), "but a class of the model is 0"),
        (lambda: ReliabilityDisplay.from_estimator(classes, moons, sides[:9]), "y has 9 labels"),
        (lambda: CentersDisplay.from_estimator(model, target=1), "target=1 is not there"),
        (lambda: CentersDisplay.from_estimator(classifier, target=-1), "target=-1 is too small"),
        (lambda: DependenceDisplay.from_estimator(model, 0, coverage=1.5), "coverage=1.5 is not usable"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()


def test_models_without_intervals_and_with_unbounded_ones():
    poisson = plain_regressor(loss="poisson", max_atoms=3).fit(X, np.abs(np.round(Y)))
    display = DependenceDisplay.from_estimator(poisson, 0, X)
    assert display.lower is None
    assert display.coverage is None
    through = plain_regressor(gamma=50.0, alpha=0.0, stop="max", max_atoms=40).fit(X[:40], Y[:40])
    assert CoverageDisplay.from_estimator(through, X[TEST], Y[TEST]).by == "prediction"


def test_features_that_are_called_like_columns_of_a_frame():
    rows = pd.DataFrame(X[:60, :2], columns=["average", "weight"])
    model = plain_regressor(max_atoms=5).fit(rows, Y[:60])
    assert DependenceDisplay.from_estimator(model, 0, rows, coverage=None).frame().columns.tolist() == ["average"] * 2
    frame = CentersDisplay.from_estimator(model).frame()
    np.testing.assert_array_equal(frame.iloc[:, 1], model.centers_[:, 1])
    named = pd.DataFrame(X[:60, :2], columns=["score", "average"])
    explained = plain_regressor(max_atoms=5).fit(named, Y[:60]).explain(named[:3]).frame()
    np.testing.assert_allclose(explained.iloc[:, :-1].sum(axis=1), explained.iloc[:, -1])


def test_dollars_in_names_are_no_mathematics():
    names, labels_ = ["cost_$_in_$", "$x^$"], np.where(Y[:60] > Y[:60].mean(), "$^$", "no")
    rows = pd.DataFrame(X[:60, :2], columns=names)
    model = plain_regressor(max_atoms=5).fit(rows, Y[:60])
    classifier = plain_classifier(max_atoms=5).fit(rows, labels_)
    learned = kernelpursuit.KernelPursuitRegressor(max_atoms=5, random_state=0).fit(rows, rows.iloc[:, 0] ** 2)
    explained = model.explain(rows[:3])
    for draw in (
        lambda: DependenceDisplay.from_estimator(model, names[0], rows).ax_,
        lambda: CentersDisplay.from_estimator(model, rows).ax_,
        lambda: FitDisplay.from_estimator(model, rows, Y[:60]).ax_,
        lambda: ScalesDisplay.from_estimator(learned).ax_,
        lambda: ComparisonDisplay.from_estimators({"$^$": model}).ax_,
        lambda: DecisionDisplay.from_estimator(classifier, rows, labels_).ax_,
        lambda: ReliabilityDisplay.from_estimator(classifier, rows, labels_, label="$^$").ax_,
        lambda: explained.plot(0),
        lambda: classifier.explain(rows[:3], target="$^$").plot(0),
    ):
        draw().figure.canvas.draw()
    assert DependenceDisplay.from_estimator(model, 1, rows).frame().columns[0] == "$x^$"
