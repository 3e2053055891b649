"""Data sets come checked or not at all."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pandas as pd
import pytest

from reproduce import data
from reproduce.data import DataMissing, digest, load, load_splits


def write(path, text):
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with one small data set, and what is known of it."""
    about = {"file": "small.csv.gz", "rows": 2, "features": 2}
    about["sha256"] = write(tmp_path / "small.csv.gz", "a,b,target\n1,,3\n4,5,6\n")
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    monkeypatch.setattr(data, "known", lambda: {"small": about, "small_splits": splits})
    splits = {"file": "small_splits.npz", "splits": 1, "train": 2, "test": 1, "sha256": ""}
    np.savez(tmp_path / "small_splits.npz", train=[[0, 1]], test=[[2]])
    splits["sha256"] = hashlib.sha256((tmp_path / "small_splits.npz").read_bytes()).hexdigest()
    data._checked_table.cache_clear()
    yield tmp_path, about
    data._checked_table.cache_clear()


class TestFolder:
    def test_rows_and_targets_are_read_and_gaps_are_nan(self, room):
        X, y = load("small")
        np.testing.assert_array_equal(X, [[1, np.nan], [4, 5]])
        np.testing.assert_array_equal(y, [3, 6])

    def test_what_is_read_once_cannot_be_changed(self, room):
        X, _ = load("small")
        with pytest.raises(ValueError, match="read-only"):
            X[0, 0] = 7

    def test_strings_stay_strings(self, room):
        folder, about = room
        about["sha256"] = write(folder / "small.csv.gz", "a,b,target\nx,?,e\ny,z,p\n")
        X, y = load("small")
        assert X.tolist() == [["x", "?"], ["y", "z"]]
        assert y.tolist() == ["e", "p"]

    def test_another_file_is_refused(self, room):
        folder, _ = room
        write(folder / "small.csv.gz", "a,b,target\n1,2,3\n4,5,7\n")
        with pytest.raises(DataMissing, match=r"small\.csv\.gz is not the file .* SHA-256 .* replace it"):
            load("small")

    def test_another_shape_is_refused(self, room):
        _, about = room
        about["rows"] = 3
        with pytest.raises(DataMissing, match=r"small has \(2, 3\) rows and columns, where \(3, 3\)"):
            load("small")

    def test_a_missing_file_names_itself_the_folder_and_the_cure(self, room):
        folder, _ = room
        (folder / "small.csv.gz").unlink()
        with pytest.raises(DataMissing, match=rf"no small\.csv\.gz in {folder}; put it there, .* KERNELPURSUIT_DATA"):
            load("small")

    def test_an_unknown_name_lists_the_known_ones(self, room):
        with pytest.raises(DataMissing, match=r"No data set is called 'smal'; .* small, small_splits"):
            load("smal")

    def test_splits_are_read_and_checked(self, room):
        folder, _ = room
        train, test = load_splits("small")
        assert (train.tolist(), test.tolist()) == ([[0, 1]], [[2]])
        np.savez(folder / "small_splits.npz", train=[[0]], test=[[2]])
        with pytest.raises(DataMissing, match="SHA-256"):
            load_splits("small")
        (folder / "small_splits.npz").unlink()
        with pytest.raises(DataMissing, match=r"no small_splits\.npz"):
            load_splits("small")


class TestOpenML:
    @pytest.fixture
    def fetched(self, room, monkeypatch):
        folder, about = room
        (folder / "small.csv.gz").unlink()
        about.update(
            openml="tiny", digest=digest(np.array([[1.0, 2, 0], [4, 5, 1]])), codes={"target": {"no": 0, "yes": 1}}
        )

        def answer(frame):
            bunch = type("Bunch", (), {"frame": frame})
            monkeypatch.setattr(data, "fetch_openml", lambda name, **_: bunch)

        return answer

    def test_the_same_values_are_taken_whatever_their_order(self, fetched):
        fetched(pd.DataFrame({"a": [4, 1], "b": [5.0, 2.0], "class": pd.Categorical(["yes", "no"])}))
        X, y = load("small")
        assert (X.tolist(), y.tolist()) == ([[4, 5], [1, 2]], [1, 0])

    def test_other_values_are_refused(self, fetched):
        fetched(pd.DataFrame({"a": [4, 1], "b": [5.0, 2.5], "class": ["yes", "no"]}))
        with pytest.raises(DataMissing, match="OpenML's 'tiny' holds other values"):
            load("small")

    def test_without_a_network_the_message_is_that_of_a_missing_file(self, fetched, monkeypatch):
        def fail(*_, **__):
            raise OSError("no route")

        monkeypatch.setattr(data, "fetch_openml", fail)
        with pytest.raises(DataMissing, match=r"no small\.csv\.gz .*OpenML's 'tiny' could not be fetched; put"):
            load("small")


def test_a_digest_knows_values_and_not_their_order():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert digest(table) == digest(table[::-1]) == digest(table.astype(object)) != digest(table + 1)


def test_all_that_is_known_loads_where_the_folder_is():
    if not data.folder().exists():
        pytest.skip("the data are not here")
    for name, about in data.known().items():
        if "rows" in about:
            assert load(name)[0].shape == (about["rows"], about["features"])
        else:
            load_splits(name.removesuffix("_splits"))
