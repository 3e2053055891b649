"""Targets and weights that are columns of the rows, by their names."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.saved.container import pack, unpack


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    found = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.sin(X[:, 0]), z=X[:, 1], w=rng.uniform(size=200))
    return found.assign(label=np.where(found["y"] > 0, "up", "down"))


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas])
def test_of_frames_are_as_if_they_were_given_apart(frame, kind):
    numbers, labels = frame[["a", "b", "y", "z", "w"]], frame[["a", "label", "b", "w"]]
    X, w = frame[["a", "b"]], frame["w"]
    model = KernelPursuitRegressor(gamma=0.3, max_atoms=20)
    for y in ("y", ["y", "z"]):
        given = kind(numbers.drop(columns=["z"] if y == "y" else []))
        found = model.fit(given, y, sample_weight="w")
        assert found.feature_names_in_.tolist() == ["a", "b"]
        predictions, score = found.predict(X), found.score(given, y, sample_weight="w")
        expected = model.fit(X, frame[y], w)
        np.testing.assert_array_equal(predictions, expected.predict(X))
        assert score == expected.score(X, frame[y], w)
    classifier = KernelPursuitClassifier(gamma=0.3, max_atoms=20, loss="squared")
    found = classifier.fit(kind(labels), "label", "w")
    assert found.score(kind(labels), "label", "w") == found.score(X, frame["label"], w) > 0.9
    streamed = (
        KernelPursuitRegressor(gamma=0.3, max_atoms=20).partial_fit(kind(numbers), "y").partial_fit(kind(numbers), "y")
    )
    assert streamed.n_features_in_ == 4
    stream = KernelPursuitClassifier(gamma=0.3, loss="squared").partial_fit(kind(labels), "label", sample_weight="w")
    assert stream.classes_.tolist() == ["down", "up"]
    with pytest.raises(ValueError, match="X has no column 'labl'; did you mean 'label'"):
        classifier.fit(kind(labels), "labl")


def test_of_files_can_be_scored(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    X = frame[["a", "b"]]
    model = KernelPursuitRegressor(gamma=0.3, max_atoms=20).fit(X, frame["y"])
    assert model.score(path, "y", "w") == pytest.approx(model.score(X, frame["y"], frame["w"]))
    both = KernelPursuitRegressor(gamma=0.3, max_atoms=20).fit(X, frame[["y", "z"]])
    assert both.score(path, ["y", "z"]) == pytest.approx(both.score(X, frame[["y", "z"]]))
    labels = KernelPursuitClassifier(gamma=0.3, max_atoms=20).fit(X, frame["label"])
    assert labels.score(path, "label") == labels.score(X, frame["label"])


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas])
def test_rows_to_predict_may_have_the_columns_that_were_targets_and_weights(frame, kind, tmp_path):
    path = tmp_path / "rows.csv"
    frame[["a", "b", "label", "w"]].to_csv(path, index=False)
    rows, X = kind(frame[["a", "b", "label", "w"]]), frame[["a", "b"]]
    for given in (rows, path):
        model = KernelPursuitClassifier(gamma=0.3, max_atoms=5).fit(given, "label", "w")
        model.save(tmp_path / "m.kp")
        expected = model.predict(X)
        for one in (model, model.at(3), pickle.loads(pickle.dumps(model)), kernelpursuit.load(tmp_path / "m.kp")):
            assert one.predict_proba(rows).tolist() == one.predict_proba(X).tolist()
        assert model.predict(rows).tolist() == model.predict(path).tolist() == expected.tolist()
    several = KernelPursuitRegressor(gamma=0.3, max_atoms=5).fit(kind(frame[["a", "b", "y", "z"]]), ["y", "z"])
    assert several.predict(kind(frame[["a", "b", "z", "y"]])).tolist() == several.predict(X).tolist()
    with pytest.raises(ValueError, match="Feature names unseen at fit time: - w"):
        several.predict(kind(frame[["a", "b", "y", "w"]]))
    with pytest.raises(ValueError, match="Feature names unseen at fit time: - y"):
        several.fit(X, frame["y"]).predict(kind(frame[["a", "b", "y"]]))


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas, pd.DataFrame.to_numpy])
def test_a_list_of_text_for_each_row_is_no_list_of_columns(frame, kind):
    rows = kind(frame[["a", "b"]])
    model = KernelPursuitRegressor(gamma=0.3, max_atoms=5).fit(rows, frame["y"])
    words = r"^y is not usable: it holds text, such as '1\.5'; give numbers, or use KernelPursuitClassifier for labels"
    for call in (model.fit, model.score, model.partial_fit):
        with pytest.raises(ValueError, match=words):
            call(rows, ["1.5"] * 200)


def test_columns_of_one_name(frame):
    twice = frame[["a", "b"]].set_axis(["a", "a"], axis=1)
    with pytest.raises(ValueError, match="got: - 'a' 2 times; give each column its own name"):
        KernelPursuitRegressor().fit(twice, frame["y"])


def test_a_file_with_other_names_of_columns_than_words_is_damaged(frame, tmp_path):
    KernelPursuitRegressor(gamma=0.3, max_atoms=3).fit(frame[["a", "b", "y"]], "y").save(tmp_path / "m.kp")
    text, _, arrays = unpack((tmp_path / "m.kp").read_bytes())
    for summary in ([], {"named_columns": "y"}, {"named_columns": [1]}):
        forged = json.dumps({**json.loads(text), "summary": summary})
        (tmp_path / "forged.kp").write_bytes(pack(forged, arrays))
        with pytest.raises(ValueError, match="is damaged: its summary is none"):
            kernelpursuit.load(tmp_path / "forged.kp")
