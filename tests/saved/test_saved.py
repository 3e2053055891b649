"""A saved model predicts the same bits and keeps its path; what is no model is refused in one sentence."""

import io
import json
import os
import pickle
import warnings
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from fuzz_saved import run
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms, LinearTrend, widths
from kernelpursuit.exceptions import NotSavedWarning
from kernelpursuit.kernels import RBF, CallableKernel, FormulaKernel, Linear, Periodic
from kernelpursuit.losses import Loss
from kernelpursuit.saved import FORMAT, container, describe
from kernelpursuit.stopping import Max, StoppingRule, Tol, Validation
from kernelpursuit.updates import Orthogonal

X, Y = make_friedman1(150, 5, noise=0.5, random_state=0)
ROWS, LABELS = load_iris(return_X_y=True)
WORDS = np.array(["one", "two", "three"])[LABELS]
NEW = np.vstack([X[:20] + 0.01, 3 * X[:5]])
FRAME = pd.DataFrame(X, columns=list("abcde"))

REGRESSORS = {
    "default": KernelPursuitRegressor(random_state=0),
    "trend": KernelPursuitRegressor(trend="linear", random_state=0),
    "plain": KernelPursuitRegressor(gamma=0.5, max_atoms=12, stop=Tol(1e-3) | Max()),
    "union": KernelPursuitRegressor(
        kernel=KernelAtoms("rbf") + KernelAtoms("linear") + Constant(), gamma=0.5, max_atoms=12
    ),
    "composed": KernelPursuitRegressor(kernel=RBF() * Periodic(period=2.0) + 0.5 * Linear(), gamma=0.5, max_atoms=9),
    "widths": KernelPursuitRegressor(kernel=widths("matern52", [0.3, 3.0]), max_atoms=12, truncate="auto"),
    "always": KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=0.5, max_atoms=8),
    "huber": KernelPursuitRegressor(loss="huber", gamma=0.5, max_atoms=8, update=Orthogonal(refit_every=2)),
    "poisson": KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=8),
    "stagewise": presets.kmp_basic(gamma=0.5, max_atoms=8),
    "rescale": presets.sparse_gp_greedy(gamma=0.5, max_atoms=8),
    "exchange": presets.greedy_qr_exchange(gamma=0.5, max_atoms=12, stop="mdl"),
    "minres": presets.mrx(gamma=0.5, max_atoms=8),
    "validated": KernelPursuitRegressor(gamma=0.5, max_atoms=8, stop=Validation(X[:30], Y[:30])),
}
CLASSIFIERS = {
    "default": KernelPursuitClassifier(random_state=0),
    "squared": KernelPursuitClassifier(loss="squared", gamma=0.5, max_atoms=8),
    "hinge": KernelPursuitClassifier(loss="hinge", gamma=0.5, max_atoms=8, class_weight="balanced"),
    "ovr": KernelPursuitClassifier(gamma=0.5, max_atoms=5, multi_class="ovr"),
}


def saved(model, tmp_path, **given):
    """The model after it was in a file."""
    model.save(tmp_path / "m.kp")
    return kernelpursuit.load(tmp_path / "m.kp", **given)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor(name, tmp_path):
    model = REGRESSORS[name].fit(X, np.abs(np.round(Y)) if name == "poisson" else Y)
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(list(again.staged_predict(NEW)), list(model.staged_predict(NEW)))
    for size in (0, min(3, len(model.path_)), len(model.path_)):
        np.testing.assert_array_equal(again.at(size).predict(NEW), model.at(size).predict(NEW))
    if model.path_.loss == "squared" and model.path_.loo is not None:
        np.testing.assert_array_equal(again.predict_interval(NEW), model.predict_interval(NEW))
        np.testing.assert_array_equal(again.predict(NEW, return_std=True), model.predict(NEW, return_std=True))
    if model.path_.loss == "squared":
        assert again.select("mdl").n_atoms_ == model.select("mdl").n_atoms_
    assert repr(again) == repr(model)
    assert again.stop_reason_ == model.stop_reason_
    assert repr(again.kernel_) == repr(model.kernel_)
    clone(again).fit(X, Y)
    again.save(tmp_path / "again.kp")
    assert (tmp_path / "again.kp").read_bytes() == (tmp_path / "m.kp").read_bytes()


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("labels", [LABELS, WORDS, WORDS.astype(object), LABELS > 0], ids=["int", "str", "object", "2"])
def test_a_classifier(name, labels, tmp_path):
    model = CLASSIFIERS[name].fit(ROWS, labels)
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))
    assert again.predict(ROWS).dtype == model.predict(ROWS).dtype
    np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    np.testing.assert_array_equal(again.at(2).predict(ROWS), model.at(2).predict(ROWS))
    if name == "ovr" and len(model.classes_) > 2:
        for one, other in zip(again.estimators_, model.estimators_):
            np.testing.assert_array_equal(one.predict_proba(ROWS), other.predict_proba(ROWS))
    else:
        rule = Validation(ROWS[::3], labels[::3])
        assert again.select(rule).n_atoms_ == model.select(rule).n_atoms_


def test_sparse_rows_precomputed_columns_and_float32(tmp_path):
    wide = sp.random_array((60, 300), density=0.05, format="csr", random_state=0)
    model = KernelPursuitRegressor(gamma=0.1, max_atoms=5).fit(wide, wide.sum(axis=1))
    np.testing.assert_array_equal(saved(model, tmp_path).predict(wide), model.predict(wide))
    K = X @ X.T
    model = KernelPursuitRegressor(kernel="precomputed", max_atoms=4).fit(K, Y)
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.predict(K[:, again.center_indices_]), model.predict(K))
    few = X.astype(np.float32)
    model = KernelPursuitRegressor(random_state=0, max_atoms=10).fit(few, np.column_stack([Y, -Y]))
    np.testing.assert_array_equal(saved(model, tmp_path).predict(few), model.predict(few))


def test_names_of_features_and_a_constant_model(tmp_path):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(FRAME, Y)
    again = saved(model, tmp_path)
    assert again.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME.rename(columns={"a": "z"}))
    constant = KernelPursuitRegressor(gamma=0.5).fit(X, np.ones(len(X)))
    np.testing.assert_array_equal(saved(constant, tmp_path).predict(NEW), constant.predict(NEW))


def test_the_metadata_tells_what_is_in_the_file(tmp_path):
    model = KernelPursuitClassifier(gamma=0.5, max_atoms=4).fit(ROWS, WORDS)
    model.save(tmp_path / "m.kp")
    with safe_open(tmp_path / "m.kp", framework="numpy") as file:
        text = json.loads(file.metadata()["kernelpursuit"])
        np.testing.assert_array_equal(file.get_tensor("path.cost"), model.path_.cost)
    assert (text["format"], text["estimator"]) == (FORMAT, "KernelPursuitClassifier")
    assert text["library"] == kernelpursuit.__version__
    assert text["summary"]["classes"] == ["one", "three", "two"]
    assert text["summary"]["n_atoms"] == model.n_atoms_
    assert describe(tmp_path / "m.kp") == {
        **{name: text[name] for name in ("format", "library", "estimator", "needs")},
        **text["summary"],
    }


# -- What is the user's own -----------------------------------------------------------------------------------------


def product(X, C):
    return X @ C.T


def first(X):
    return X[:, 0]


class Wide(FormulaKernel):
    kind = "rbf"


@dataclass(frozen=True, repr=False)
class Steeper(Loss):
    steep: float = 1.0

    def value(self, y, f):
        return (self.steep * (y - f) ** 2).sum(axis=0)

    def gradient(self, y, f):
        return -2 * self.steep * (y - f)

    def curvature(self, y, f):
        return np.full(y.shape[1], 2 * self.steep)


class EveryOther(StoppingRule):
    def __init__(self, k=3):
        self.k = k

    def choose(self, path):
        return min(self.k, path.n_steps)


@pytest.mark.parametrize(
    ("settings", "objects"),
    [
        ({"kernel": product}, {"product": product}),
        ({"kernel": CallableKernel(product, is_mercer=True)}, {"product": product}),
        ({"kernel": Functions(first) + KernelAtoms("rbf"), "gamma": 0.5}, {"first": first}),
        ({"kernel": Wide(gamma=0.5)}, {"Wide": Wide}),
        ({"loss": Steeper(2.0), "gamma": 0.5}, {"Steeper": Steeper}),
        ({"stop": EveryOther(4), "gamma": 0.5}, {"EveryOther": EveryOther(4)}),
        ({"stop": EveryOther(4), "gamma": 0.5}, {"EveryOther": None}),
        ({"random_state": np.random.RandomState(3), "gamma": 0.5}, {"RandomState": np.random.RandomState(3)}),
    ],
    ids=lambda one: "-".join(one),
)
def test_functions_and_classes_of_the_user(settings, objects, tmp_path):
    model = KernelPursuitRegressor(max_atoms=6, **settings).fit(X, Y)
    (name,) = objects
    with pytest.warns(NotSavedWarning, match=rf"{name} is your own, .* objects=\{{'{name}': ...\}}"):
        model.save(tmp_path / "m.kp")
    with pytest.raises(ValueError, match=rf"needs '{name}' \(a \w+\), .* objects=\{{'{name}': ...\}}"):
        kernelpursuit.load(tmp_path / "m.kp")
    again = kernelpursuit.load(tmp_path / "m.kp", objects=objects)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_two_functions_of_one_name(tmp_path):
    kernel = Functions(lambda X: X[:, 0], lambda X: X[:, 1]) + KernelAtoms("rbf")
    model = KernelPursuitRegressor(kernel=kernel, gamma=0.5, max_atoms=20).fit(X, Y)
    with pytest.warns(NotSavedWarning, match="<lambda>, <lambda>-2 are your own"):
        model.save(tmp_path / "m.kp")
    one, two = kernel.parts[0].functions
    again = kernelpursuit.load(tmp_path / "m.kp", objects={"<lambda>": one, "<lambda>-2": two})
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_a_path_among_the_parameters_is_words(tmp_path):
    X = np.arange(20.0)[:, None]
    model = KernelPursuitRegressor(gamma=0.5, checkpoint=tmp_path / "fit").fit(X, np.sin(X[:, 0]))
    model.save(tmp_path / "model.kp")
    assert kernelpursuit.load(tmp_path / "model.kp").checkpoint == str(tmp_path / "fit")


def test_an_estimator_of_the_user_is_refused():
    class Mine(KernelPursuitRegressor):
        pass

    with pytest.raises(ValueError, match="Mine is a class of your own, which cannot be saved"):
        Mine(gamma=0.5, max_atoms=3).fit(X, Y).save("nowhere.kp")
    with pytest.raises(Exception, match="not fitted"):
        KernelPursuitRegressor().save("nowhere.kp")


# -- Files that are none --------------------------------------------------------------------------------------------


@pytest.fixture
def content(tmp_path):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(X, Y)
    model.save(tmp_path / "right.kp")
    return (tmp_path / "right.kp").read_bytes()


def refused(path, match, kind=ValueError):
    """Loading is refused in one sentence that names the file."""
    with pytest.raises(kind, match=match) as caught:
        kernelpursuit.load(path)
    message = str(caught.value)
    assert message.startswith(repr(str(path)))
    assert message.endswith(".")
    assert "\n" not in message


def test_no_model(content, tmp_path):
    path = tmp_path / "m.kp"
    for data, match in [
        (b"", "is empty"),
        (content[:-1], "only a part of one"),
        (content[: len(content) // 2], "only a part of one"),
        (content[:7], "only a part of one"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "is no saved model"),
        (pickle.dumps([1, 2, 3]), "is no saved model"),
        (content.replace(b"sha256", b"sha512"), "it has no digest"),
        (content[:-3] + b"abc", "what it holds is not what was written"),
        (content + b"x", "only a part of one"),
    ]:
        path.write_bytes(data)
        refused(path, match)
    save_file({"a": np.ones(3)}, path)
    refused(path, "no model of kernelpursuit")
    refused(tmp_path, "is a folder", IsADirectoryError)
    refused(tmp_path / "none.kp", "does not exist", FileNotFoundError)
    refused(path / "inside.kp", "is no folder", NotADirectoryError)
    with pytest.raises(ValueError, match="give the name of a file"):
        kernelpursuit.load(None)


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.kp")
    refused(tmp_path / "pipe.kp", "no ordinary file")


def test_a_model_of_the_future(content, tmp_path):
    text, _, arrays = container.unpack(content)
    tree = json.loads(text)
    tree["format"], tree["library"], tree["news"] = FORMAT + 1, "9.9", "unheard of"
    (tmp_path / "m.kp").write_bytes(container.pack(json.dumps(tree), arrays))
    refused(tmp_path / "m.kp", f"format {FORMAT + 1}, written by kernelpursuit 9.9; .* update kernelpursuit")


def test_nesting_without_end(content, tmp_path):
    text, _, arrays = container.unpack(content)
    deep = '{"list": [' * 30_000 + "]}" * 30_000
    start = text.index('"model"')
    (tmp_path / "m.kp").write_bytes(container.pack(f'{text[:start]}"model": {deep}, {text[start:]}', arrays))
    refused(tmp_path / "m.kp", "is damaged")


def test_nothing_is_written_half(content, tmp_path, monkeypatch):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(X, Y)
    path = tmp_path / "right.kp"

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"right.kp' does not fit on the disk; give another path\."):
        model.save(path)
    monkeypatch.undo()
    monkeypatch.setattr("builtins.open", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(PermissionError, match="is not yours to write"):
        model.save(path)
    monkeypatch.undo()
    assert [one.name for one in tmp_path.iterdir()] == ["right.kp"]
    assert path.read_bytes() == content
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        model.save(tmp_path / "none" / "m.kp")
    with pytest.raises((NotADirectoryError, FileNotFoundError)):
        model.save(path / "m.kp")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_no_ordinary_file_stays_and_a_link_leads_to_the_file(tmp_path):
    X = np.arange(20.0)[:, None]
    model = KernelPursuitRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    for name in ("pipe.kp", "pipe.csv"):
        os.mkfifo(tmp_path / name)
    os.symlink(tmp_path / "model.kp", tmp_path / "link.kp")
    for call in (
        lambda: model.save(tmp_path / "pipe.kp"),
        lambda: model.export(tmp_path / "pipe.kp", to="c"),
        lambda: model.predict_to(lambda: iter([X]), tmp_path / "pipe.csv"),
    ):
        with pytest.raises(ValueError, match="is no ordinary file; give another path"):
            call()
    model.save(tmp_path / "link.kp")
    assert (tmp_path / "link.kp").is_symlink()
    assert (tmp_path / "model.kp").is_file()
    np.testing.assert_array_equal(kernelpursuit.load(tmp_path / "link.kp").predict(X), model.predict(X))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is root's to write")
def test_a_read_only_folder(tmp_path):
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(X, Y)
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="is not yours to write"):
        model.save(tmp_path / "m.kp")
    assert list(tmp_path.iterdir()) == []


def test_mutations_are_refused_or_predict():
    """A short run of `python tests/fuzz_saved.py`."""
    with warnings.catch_warnings(), np.errstate():
        found = run(600, seed=1)
    assert found["bytes, refused"] > 200
    assert found["stranger, refused"] > 100


# -- Other ways to keep a model -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "plain", "ovr"])
def test_pickle_joblib_and_skops(name, tmp_path):
    if name == "ovr":
        model, rows = CLASSIFIERS["ovr"].fit(ROWS, WORDS), ROWS
    else:
        model, rows = REGRESSORS[name].fit(X, Y), NEW
    model.save(tmp_path / "m.kp")
    assert len(pickle.dumps(model)) < 2 * (tmp_path / "m.kp").stat().st_size
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(io.BytesIO(buffer.getvalue()))):
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
