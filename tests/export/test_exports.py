"""Every target predicts what the model predicts, in the language itself; what cannot be exported is refused."""

import sqlite3
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from export.languages import classes_by, intervals_by, numbers_by, onnx_outputs, run_c, run_onnx
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms, LinearTrend, widths
from kernelpursuit.export import register_skl2onnx
from kernelpursuit.export.describe import describe
from kernelpursuit.export.evaluate import atom_values
from kernelpursuit.kernels import (
    RBF,
    FormulaKernel,
    Laplacian,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from kernelpursuit.losses import Logistic, Poisson

TARGETS = ["onnx", "c", "javascript", "python", "duckdb", "sqlite"]
X, Y = make_friedman1(120, 4 + 1, noise=0.5, random_state=0)
DIABETES = load_diabetes(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["one's", "två", "three"])[SPECIES]
# Rows beside the data, and outside in two ways.
NEW = np.vstack([X[:12] + 0.01, 1.4 * X[:6], 5 * X[:3] - 1.0])

KERNELS = {
    "gaussians": [RBF(), Laplacian(), Matern12(), Matern32(), Matern52(), RationalQuadratic(shape=1.5)],
    "products": [Polynomial(degree=3), Linear(), Sigmoid(coef0=-0.5), Periodic(period=[1.0, 2.0, 0.7, 3.0, 1.0])],
    "composed": [2.0 * RBF() * Periodic(period=1.5) + Linear() * Matern32(gamma=[0.1, 0.0, 2.0, 0.3, 0.0])],
}
REGRESSORS = {
    "default": KernelPursuitRegressor(random_state=0, max_atoms=30),
    "trend": KernelPursuitRegressor(trend="linear", random_state=0, max_atoms=20),
    "union": KernelPursuitRegressor(
        kernel=KernelAtoms("rbf") + KernelAtoms("linear") + Constant(), gamma=0.5, max_atoms=12
    ),
    "widths": KernelPursuitRegressor(kernel=widths("matern52", [0.3, 3.0]), max_atoms=12, truncate="auto"),
    "always": KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=0.5, max_atoms=8, outside="return"),
    "poisson": KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=8, outside="return"),
    "stagewise": presets.kmp_basic(gamma=0.5, max_atoms=8),
    "constant": KernelPursuitRegressor(gamma=0.5, stop="max", max_atoms=1),
}


def size_of_sums(model, rows):
    """What rounding is relative to: the sum of absolute weights times values, at the most."""
    description = describe(model.model_, [f"x{i}" for i in range(rows.shape[1])])
    with np.errstate(all="ignore"):
        sums = [np.abs(atom_values(one, rows)) @ np.abs(one.coef) for one in description.blocks]
    return max(float(np.max(sum(sums))) if sums else 0.0, 1e-300)


def close(found, wanted, model, rows, relative=1e-12):
    """Within rounding of the sum that a prediction is; where weights do not cancel, of the prediction itself."""
    scale = max(float(np.abs(wanted).max()), size_of_sums(model, rows) * 2e-3)
    np.testing.assert_allclose(found, np.reshape(wanted, found.shape), rtol=0, atol=relative * scale)


@cache
def fitted_kernels(name):
    """A model with atoms of each of some kernels."""
    centers = [KernelAtoms(kernel, centers=X[2 * i : 2 * i + 2]) for i, kernel in enumerate(KERNELS[name])]
    model = KernelPursuitRegressor(
        kernel=centers, gamma=0.3, max_atoms=2 * len(centers), stop="max", penalty="ridge", alpha=1e-3, outside="return"
    ).fit(X, Y)
    assert len(describe(model.model_, list("abcde")).blocks) == len(centers)
    return model


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel(name, target, tmp_path):
    model = fitted_kernels(name)
    close(numbers_by(target, model, NEW, tmp_path), model.predict(NEW), model, NEW)


@cache
def fitted_regressor(name):
    model = REGRESSORS[name].fit(X, np.abs(np.round(Y)) if name == "poisson" else Y)
    return model.at(0) if name == "constant" else model


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_every_kind_of_regressor(name, target, tmp_path):
    model = fitted_regressor(name)
    close(numbers_by(target, model, NEW, tmp_path), model.predict(NEW), model, NEW)


@cache
def fitted_to_two_targets():
    rows, y = DIABETES
    model = KernelPursuitRegressor(gamma="scale", max_atoms=30, stop="max", outside="return")
    return model.fit(rows, np.column_stack([y, -2 * y + rows[:, 0]]))


@pytest.mark.parametrize("target", TARGETS)
def test_several_targets_and_real_rows(target, tmp_path):
    model, rows = fitted_to_two_targets(), DIABETES[0]
    few = np.vstack([rows[::15], 2 * rows[:5]])
    close(numbers_by(target, model, few, tmp_path), model.predict(few), model, few)


WITH_INTERVALS = {
    "learned": {"random_state": 0},
    "plain": {"gamma": 0.5, "max_atoms": 8},
    "free": {"random_state": 0, "max_atoms": 20, "trend": "linear", "outside": "free"},
}


@cache
def fitted_with_intervals(name, several):
    noisy = Y + np.random.default_rng(0).normal(size=len(Y)) * (0.1 + 3 * X[:, 0])
    return KernelPursuitRegressor(**WITH_INTERVALS[name]).fit(X, np.column_stack([noisy, -Y]) if several else noisy)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_intervals(name, several, target, tmp_path):
    model = fitted_with_intervals(name, several)
    wanted = np.reshape(model.predict_interval(NEW, 0.8), (2, len(NEW), -1))
    np.testing.assert_allclose(intervals_by(target, model, NEW, tmp_path, 0.8), wanted, rtol=1e-8)
    if name == "learned":
        smaller = model.at(3)
        wanted = np.reshape(smaller.predict_interval(NEW, 0.5), (2, len(NEW), -1))
        np.testing.assert_allclose(intervals_by(target, smaller, NEW, tmp_path, 0.5), wanted, rtol=1e-8)


CLASSIFIERS = {
    "default": KernelPursuitClassifier(random_state=0),
    "softmax": KernelPursuitClassifier(loss="softmax", gamma=0.5, max_atoms=8),
    "margins": KernelPursuitClassifier(loss=Logistic(), gamma=0.5, max_atoms=8),
    "squared": KernelPursuitClassifier(loss="squared", gamma=0.5, max_atoms=8),
    "ovr": KernelPursuitClassifier(gamma=0.5, max_atoms=5, multi_class="ovr"),
}


@cache
def fitted_classifier(name, n_classes):
    return clone(CLASSIFIERS[name]).fit(IRIS, WORDS if n_classes == 3 else SPECIES > 0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kind_of_classifier(name, n_classes, target, tmp_path):
    model = fitted_classifier(name, n_classes)
    rows = np.vstack([IRIS[::10], 1.5 * IRIS[::30]])
    found, chances = classes_by(target, model, rows, tmp_path)
    np.testing.assert_array_equal(np.asarray(found).astype(model.classes_.dtype), model.predict(rows))
    np.testing.assert_allclose(chances, model.predict_proba(rows), rtol=1e-9, atol=1e-11)


# -- ONNX -----------------------------------------------------------------------------------------------------------


def test_onnx_on_real_data(tmp_path):
    rows, y = DIABETES
    chosen, _, wanted, _ = train_test_split(rows, y, random_state=0)
    model = KernelPursuitRegressor(random_state=0).fit(chosen, wanted)
    assert model.n_atoms_ > 10
    np.testing.assert_allclose(run_onnx(model, rows, tmp_path)["prediction"], model.predict(rows), rtol=1e-12)
    few = rows.astype(np.float32)
    found = run_onnx(model, few, tmp_path, dtype="float32")["prediction"]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, model.predict(few), rtol=1e-6)
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = rows[:, :6]
    model = KernelPursuitClassifier(random_state=0, max_atoms=20).fit(rows[:300], labels[:300])
    few = rows.astype(np.float32)
    found = run_onnx(model, few, tmp_path, dtype="float32")
    np.testing.assert_array_equal(found["label"], model.predict(few))
    np.testing.assert_allclose(found["probability"], model.predict_proba(few), rtol=1e-5, atol=1e-7)


def test_many_columns_are_taken_one_by_one(tmp_path, monkeypatch):
    model = KernelPursuitRegressor(kernel=RBF() + Laplacian(), gamma=0.3, max_atoms=6).fit(X, Y)
    monkeypatch.setattr("kernelpursuit.export.onnx_model.AT_ONCE", 3)
    close(numbers_by("onnx", model, NEW, tmp_path), model.predict(NEW), model, NEW)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pipelines_by_skl2onnx(dtype):
    skl2onnx = pytest.importorskip("skl2onnx")
    register_skl2onnx()
    rows, y = (DIABETES[0] * 50 + 3).astype(dtype), DIABETES[1]
    regressor = KernelPursuitRegressor(gamma="scale", max_atoms=20, outside="return")
    pipeline = make_pipeline(StandardScaler(), regressor).fit(rows, y)
    content = skl2onnx.to_onnx(pipeline, rows[:1]).SerializeToString()
    (found,) = onnx_outputs(content, rows, dtype).values()
    # A scaler in float32 rounds in another way than scikit-learn does.
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found[:, 0], pipeline.predict(rows), rtol=rtol)
    classifier = KernelPursuitClassifier(gamma="scale", max_atoms=10)
    pipeline = make_pipeline(StandardScaler(), classifier).fit(IRIS.astype(dtype), WORDS)
    content = skl2onnx.to_onnx(pipeline, IRIS[:1].astype(dtype), options={"zipmap": False}).SerializeToString()
    label, chances = onnx_outputs(content, IRIS, dtype).values()
    assert (label == pipeline.predict(IRIS.astype(dtype))).mean() > 0.99
    np.testing.assert_allclose(
        chances, pipeline.predict_proba(IRIS.astype(dtype)), atol=1e-3 if dtype == np.float32 else 1e-9
    )


# -- C --------------------------------------------------------------------------------------------------------------


def test_c_in_float_and_with_quantised_centres(tmp_path):
    rows, y = DIABETES
    model = KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(rows, y)
    wanted = model.predict(rows)
    found = run_c(model, rows, tmp_path, dtype="float32")[:, 0]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    plain = model.export(tmp_path / "plain.h", dtype="float32")
    found = run_c(model, rows, tmp_path, dtype="float32", quantise=True)[:, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-3 * np.ptp(wanted))
    small = model.export(tmp_path / "small.h", dtype="float32", quantise=True)
    assert small.n_bytes < 0.85 * plain.n_bytes
    assert "int16 centres change predictions by up to" in repr(small)
    ends = run_c(model, rows, tmp_path, dtype="float32", quantise=True, interval=0.9)
    np.testing.assert_allclose(ends.T, model.predict_interval(rows, 0.9), atol=1e-3 * np.ptp(wanted))
    assert "malloc" not in (tmp_path / "small.h").read_text()


def test_what_float_costs_is_said_of_a_file(tmp_path):
    """Coefficients of both signs that nearly cancel, as without noise and nearly without a penalty."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(150, 3))
    model = KernelPursuitRegressor(gamma=0.5, alpha=1e-10, max_atoms=25, stop="max").fit(
        rows, np.sin(3 * rows).sum(axis=1)
    )
    said = model.export(tmp_path / "m.h", dtype="float32").note
    told = float(said.removeprefix("float changes predictions by up to ").split(" ")[0])
    change = np.abs(run_c(model, rows, tmp_path, dtype="float32")[:, 0] - model.predict(rows)).max()
    assert told > 1e-4
    assert 0.1 < told * np.ptp(model.predict(rows)) / change < 10
    assert not model.export(tmp_path / "double.h").note


# -- What is said and what is refused -------------------------------------------------------------------------------


def test_what_is_said_of_a_file(tmp_path):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=7, stop="max").fit(X, Y)
    said = model.export(tmp_path / "m.onnx")
    assert said.n_bytes == (tmp_path / "m.onnx").stat().st_size
    assert said.multiply_adds == 7 * 5 + 7
    assert repr(said).startswith(str(tmp_path / "m.onnx"))
    assert "ONNX opset 18, float64" in repr(said)
    assert "42 multiply-adds and 7 exponentials, about" in repr(said)
    assert model.export(tmp_path / "m.txt", to="sql").target == "SQL for duckdb"
    for value, word in ((0.0123, "0.012"), (3.46, "3.5"), (34.6, "35"), (8123.0, "8,100")):
        assert f"about {word} µs a prediction" in repr(replace(said, microseconds=value))


def test_labels_that_are_scalars_of_numpy(tmp_path):
    labels = np.array([np.str_("lo"), np.str_("hi")], dtype=object)[(np.median(Y) < Y).astype(int)]
    model = KernelPursuitClassifier(gamma=0.5, max_atoms=3).fit(X, labels)
    model.export(tmp_path / "m.py")
    assert "classes = n(['hi', 'lo'])" in (tmp_path / "m.py").read_text()


class Stretched(FormulaKernel):
    kind = "rbf"

    def embed(self, X, origin):
        return super().embed(X**2, origin)


class Odd(Poisson):
    def mean(self, f):
        return f**2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"kernel": lambda X, C: X @ C.T}, "is a Python function, which cannot be exported; use model.save"),
        ({"kernel": Functions(lambda X: X[:, 0]) + KernelAtoms("rbf"), "gamma": 0.5}, "made of Python functions"),
        ({"kernel": Stretched(gamma=0.5)}, "sees rows in a way of its own"),
        ({"loss": Odd(), "gamma": 0.5}, "has a mean of its own"),
        ({"kernel": Always(KernelAtoms("rbf", centers=X[:2])) + "rbf", "gamma": 0.5}, "Kernels that are always in"),
    ],
)
def test_what_cannot_be_exported(settings, match, tmp_path):
    model = KernelPursuitRegressor(max_atoms=30, stop="max", **settings).fit(X, np.abs(Y))
    for ending in ("onnx", "h", "mjs", "py", "sql"):
        with pytest.raises(ValueError, match=match):
            model.export(tmp_path / f"m.{ending}")
    assert not list(tmp_path.iterdir())


def test_bad_requests(tmp_path):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=3).fit(X, Y)
    K = KernelPursuitRegressor(kernel="precomputed", max_atoms=3).fit(X @ X.T, Y)
    classifier = KernelPursuitClassifier(gamma=0.5, max_atoms=3).fit(IRIS, SPECIES)
    exact = KernelPursuitRegressor(kernel="rbf", gamma=9.0, penalty=None, stop="max", max_atoms=10).fit(X[:10], Y[:10])
    for call, match in [
        (lambda: K.export(tmp_path / "m.onnx"), "nothing to export; multiply them with coef_"),
        (lambda: model.export(tmp_path / "m.exe"), r"ends in none of .onnx, .*; say what it is"),
        (lambda: model.export(tmp_path / "m.x", to="onx"), "did you mean 'onnx'"),
        (lambda: model.export(tmp_path / "m.onnx", dtype="float16"), "dtype='float16'"),
        (lambda: model.export(tmp_path / "m.mjs", dtype="float32"), "dtype='float32' is for exports to onnx and c"),
        (lambda: model.export(tmp_path / "m.onnx", quantise=True), "quantise=True is for exports to c"),
        (lambda: exact.export(tmp_path / "m.sql", interval=0.9), "interval=0.9 has no bound for this model"),
        (lambda: model.export(tmp_path / "m.onnx", interval=2), "interval"),
        (lambda: model.export(tmp_path / "m.sql", dialect="mysql"), "dialect='mysql' is not known"),
        (lambda: model.export(tmp_path / "m.sql", table=3), "give names of a table"),
        (lambda: classifier.export(tmp_path / "m.onnx", interval=0.9), "interval is for regressors"),
        (lambda: model.at(0).export(tmp_path / "m.h", quantise=True), "this model has none"),
    ]:
        with pytest.raises(ValueError, match=match) as caught:
            call()
        assert str(caught.value).endswith((".", "?"))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.export(tmp_path, to="onnx")
    assert not list(tmp_path.iterdir())


def test_names_with_quotes(tmp_path):
    import pandas as pd

    names = ['a "quoted" one', "b'c", "d*/e", "f\\n", "select"]
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(pd.DataFrame(X, columns=names), Y)
    for target in TARGETS:
        rows = pd.DataFrame(NEW, columns=names)
        np.testing.assert_allclose(numbers_by(target, model, NEW, tmp_path)[:, 0], model.predict(rows), rtol=1e-10)


def test_sqlite_has_the_functions():
    connection = sqlite3.connect(":memory:")
    assert connection.execute("SELECT exp(0e0)").fetchone() == (1.0,)
