"""Predictions of files, block by block: those of the same rows in memory, written whole or not at all."""

import io

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.estimators import blocks
from kernelpursuit.rows import open_rows

N = 300
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    return pd.DataFrame(rng.normal(size=(N, 3)), columns=NAMES)


@pytest.fixture(scope="module")
def regressor(rows):
    return KernelPursuitRegressor(kernel="rbf", gamma=0.5, max_atoms=12).fit(rows, np.sin(rows["a"]) + rows["b"])


@pytest.fixture(scope="module")
def classifier(rows):
    labels = np.array(["low", "mid", "high"])[np.digitize(rows["a"], [-0.5, 0.5])]
    return KernelPursuitClassifier(kernel="rbf", gamma=0.5, max_atoms=12, loss="squared").fit(rows, labels)


@pytest.fixture
def path(rows, tmp_path):
    """A file with more columns than the model needs, in another order."""
    table = pa.table(
        {"id": np.arange(N), "c": rows["c"], "name": [f"n{i}" for i in range(N)], "b": rows["b"], "a": rows["a"]}
    )
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=70)
    return tmp_path / "rows.parquet"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "block_size", lambda *_: 64)


def left_over(folder, *known):
    return {one.name for one in folder.iterdir()} - {"rows.parquet", *known}


class TestPredict:
    def test_files_are_predicted_like_arrays(self, regressor, classifier, rows, path):
        sources = [path, str(path), pq.read_table(path), pl.scan_parquet(path), lambda: [rows[:100], rows[100:]]]
        for source in sources:
            np.testing.assert_allclose(regressor.predict(source), regressor.predict(rows), rtol=1e-12)
            np.testing.assert_array_equal(classifier.predict(source), classifier.predict(rows))
        np.testing.assert_allclose(classifier.predict_proba(path), classifier.predict_proba(rows), rtol=1e-9)
        np.testing.assert_allclose(classifier.decision_function(path), classifier.decision_function(rows), rtol=1e-9)
        np.testing.assert_array_equal(classifier.predict_set(path), classifier.predict_set(rows))
        for found, known in zip(regressor.predict_interval(path, 0.5), regressor.predict_interval(rows, 0.5)):
            np.testing.assert_allclose(found, known, rtol=1e-12)
        for found, known in zip(regressor.predict(path, return_std=True), regressor.predict(rows, return_std=True)):
            np.testing.assert_allclose(found, known, rtol=1e-12)

    def test_a_model_without_names_takes_all_columns(self, rows, path, tmp_path):
        model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(rows.to_numpy(), rows["a"])
        np.save(tmp_path / "X.npy", rows)
        np.testing.assert_allclose(model.predict(tmp_path / "X.npy"), model.predict(rows.to_numpy()), rtol=1e-12)
        pq.write_table(pa.table({name: rows[name] for name in NAMES}), tmp_path / "three.parquet")
        np.testing.assert_allclose(
            model.predict(tmp_path / "three.parquet"), model.predict(rows.to_numpy()), rtol=1e-12
        )
        pq.write_table(pa.table({name: rows[name] for name in "ab"}), tmp_path / "two.parquet")
        with pytest.raises(ValueError, match=r"X has 2 features, but the model was fitted with 3; choose columns by"):
            model.predict(tmp_path / "two.parquet")

    def test_a_missing_column_is_named(self, regressor, rows, tmp_path):
        pq.write_table(pa.table({"a": rows["a"], "B": rows["b"], "c": rows["c"]}), tmp_path / "rows.parquet")
        with pytest.raises(ValueError, match=r"rows.parquet has no column 'b'; did you mean 'B'\?"):
            regressor.predict(tmp_path / "rows.parquet")

    def test_a_source_with_other_features_is_refused(self, regressor, path):
        with pytest.raises(ValueError, match=r"X has the features c, b, a, but the model was fitted with a, b, c"):
            regressor.predict(open_rows(path, features=["c", "b", "a"]))
        assert regressor.predict(open_rows(path, "id", features=NAMES)).shape == (N,)

    def test_a_nan_is_named_by_row_and_column(self, regressor, rows, tmp_path):
        for i, spoilt in enumerate([False, True]):
            part = rows[:150].copy()
            if spoilt:
                part.loc[77, "b"] = np.nan
            part.to_parquet(tmp_path / f"{i}.parquet")
        with pytest.raises(ValueError, match=r"row 227 \(row 77 of .*1.parquet\) holds NaN or infinity in column 'b'"):
            regressor.predict(tmp_path)
        bad = sp.csr_array(np.where(np.arange(N)[:, None] == 9, np.inf, rows))
        model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(rows.to_numpy(), rows["a"])
        with pytest.raises(ValueError, match=r"row 9 of X holds NaN or infinity in column 0 \(counted from 0\)"):
            list(model.predict_blocks(bad))


class TestPredictBlocks:
    def test_blocks_have_the_size_that_was_asked_for(self, regressor, path, rows):
        found = list(regressor.predict_blocks(path, size=130))
        assert [len(one) for one in found] == [130, 130, 40]
        np.testing.assert_allclose(np.concatenate(found), regressor.predict(rows), rtol=1e-12)

    def test_arrays_and_frames_in_memory(self, regressor, rows):
        for data in (rows, rows.to_numpy(), sp.csr_array(rows), pl.DataFrame(rows)):
            found = list(regressor.predict_blocks(data, method="predict_interval", coverage=0.5))
            assert len(found) == 5
            np.testing.assert_allclose(found[0][1], regressor.predict_interval(rows[:64], 0.5)[1], rtol=1e-12)

    def test_bad_parameters_are_refused_at_once(self, regressor, path):
        with pytest.raises(ValueError, match=r"method='predikt' is not known; did you mean 'predict'\?"):
            regressor.predict_blocks(path, method="predikt")
        with pytest.raises(ValueError, match=r"method='predict_proba' is not what a KernelPursuitRegressor has"):
            regressor.predict_blocks(path, method="predict_proba")
        with pytest.raises(ValueError, match=r"size=0 is too small"):
            regressor.predict_blocks(path, size=0)
        with pytest.raises(ValueError, match="not fitted"):
            KernelPursuitRegressor().predict_blocks(path)

    def test_one_may_stop_early(self, regressor, path):
        found = regressor.predict_blocks(path, size=10)
        assert len(next(found)) == 10
        found.close()


class TestPredictTo:
    def test_sets_of_classes_to_a_stream(self, classifier, rows, path):
        stream, told = io.BytesIO(), []
        classifier.predict_to(path, stream, method="predict_set", coverage=0.8, told=told.append)
        found = pd.read_csv(io.BytesIO(stream.getvalue()))
        assert found.columns.tolist() == ["in_set_high", "in_set_low", "in_set_mid"]
        assert (found.to_numpy() == classifier.predict_set(path, coverage=0.8)).all()
        assert told[-1] == N

    def test_parquet_with_columns_that_are_kept(self, regressor, path, rows, tmp_path):
        out = tmp_path / "out.parquet"
        assert regressor.predict_to(path, out, keep=["name", "id"]) == N
        table = pq.read_table(out)
        assert table.column_names == ["name", "id", "prediction"]
        assert table.schema.field("id").type == pa.int64()
        assert table["name"].to_pylist()[-1] == f"n{N - 1}"
        np.testing.assert_allclose(table["prediction"].to_numpy(), regressor.predict(rows), rtol=1e-12)
        assert not left_over(tmp_path, "out.parquet")

    def test_csv(self, classifier, path, rows, tmp_path):
        out = tmp_path / "out.csv"
        classifier.predict_to(path, str(out), method="predict_proba", keep="id")
        frame = pd.read_csv(out)
        assert list(frame) == ["id", "proba_high", "proba_low", "proba_mid"]
        np.testing.assert_allclose(frame.iloc[:, 1:], classifier.predict_proba(rows), rtol=1e-9)

    def test_npy(self, regressor, classifier, path, rows, tmp_path):
        out = tmp_path / "out.npy"
        regressor.predict_to(path, out)
        np.testing.assert_allclose(np.load(out, mmap_mode="r"), regressor.predict(rows), rtol=1e-12)
        regressor.predict_to(path, out, method="predict_interval", coverage=0.5)
        np.testing.assert_allclose(np.load(out).T, regressor.predict_interval(rows, 0.5), rtol=1e-12)
        classifier.predict_to(path, out)
        np.testing.assert_array_equal(np.load(out), classifier.predict(rows))

    def test_arrays(self, classifier, regressor, path, rows, tmp_path):
        expected = classifier.predict_proba(rows)
        mapped = np.lib.format.open_memmap(tmp_path / "out.npy", mode="w+", dtype=np.float32, shape=(N, 3))
        stored = zarr.open(str(tmp_path / "out.zarr"), mode="w", shape=(N, 3), dtype="f8")
        with h5py.File(tmp_path / "out.h5", "w") as file:
            for out in (np.empty((N, 3)), mapped, stored, file.create_dataset("p", (N, 3), dtype="f4")):
                assert classifier.predict_to(path, out, method="predict_proba") == N
                np.testing.assert_allclose(out[:], expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("method", "options", "names"),
        [
            ("predict", {}, ["prediction"]),
            ("predict", {"return_std": True, "interval": 0.5}, ["prediction", "std", "lower", "upper"]),
            ("predict_interval", {}, ["lower", "upper"]),
        ],
    )
    def test_columns_are_named(self, regressor, path, tmp_path, method, options, names):
        regressor.predict_to(path, tmp_path / "out.parquet", method=method, **options)
        assert pq.read_schema(tmp_path / "out.parquet").names == names

    def test_columns_of_several_targets_and_of_scores(self, classifier, rows, path, tmp_path):
        out = tmp_path / "out.parquet"
        model = KernelPursuitRegressor(gamma=0.5, max_atoms=5).fit(rows, rows[["a", "b"]])
        model.predict_to(path, out)
        assert pq.read_schema(out).names == ["prediction_0", "prediction_1"]
        model.predict_to(path, out, method="predict_interval")
        assert pq.read_schema(out).names == ["lower_0", "lower_1", "upper_0", "upper_1"]
        classifier.predict_to(path, out, method="decision_function")
        assert pq.read_schema(out).names == ["decision_high", "decision_low", "decision_mid"]
        classifier.predict_to(path, out)
        assert pq.read_table(out)["prediction"].to_pylist() == classifier.predict(rows).tolist()

    def test_a_file_may_be_replaced_by_what_is_made_of_it(self, regressor, path, rows):
        before = path.read_bytes()
        for keep in ((), NAMES):
            with pytest.raises(ValueError, match=r"rows.parquet' is a file that is read, and would lose column 'id'"):
                regressor.predict_to(path, str(path), keep=keep)
        path.with_name("other.parquet").write_bytes(before)
        with pytest.raises(ValueError, match=r"other.parquet' is a file that is read, and would lose column 'id'"):
            regressor.predict_to(path.parent, path.with_name("other.parquet"), keep=["id", "name", *NAMES])
        assert path.read_bytes() == before
        path.with_name("other.parquet").unlink()
        regressor.predict_to(path, path, keep=["id", "name", *NAMES])
        assert pq.read_schema(path).names == ["id", "name", *NAMES, "prediction"]

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy"])
    def test_nothing_is_left_where_something_fails(self, regressor, rows, tmp_path, suffix, monkeypatch):
        def spoilt():
            yield rows.to_numpy()
            yield np.full((100, 3), np.nan)

        monkeypatch.setattr("kernelpursuit.rows.writing.GROUP_ROWS", 64)
        out = tmp_path / f"out{suffix}"
        for before in (None, b"what was there"):
            if before is not None:
                out.write_bytes(before)
            with pytest.raises(ValueError, match=r"row 300 of what spoilt\(\) yields holds NaN"):
                regressor.predict_to(spoilt, out)
            assert (out.read_bytes() if out.exists() else None) == before
            assert not left_over(tmp_path, out.name)

    def test_what_cannot_be_written_to_is_refused_first(self, regressor, path, tmp_path, monkeypatch):
        monkeypatch.setattr(blocks, "read_ahead", lambda *_: pytest.fail("nothing is read"))
        frozen = np.empty(N)
        frozen.flags.writeable = False
        refusals = [
            (
                tmp_path / "out.xlsx",
                {},
                ValueError,
                r"ends in '.xlsx'; give a path that ends in .parquet, .csv or .npy",
            ),
            (tmp_path / "no" / "out.csv", {}, FileNotFoundError, r"the folder .*no of out is not there; make it first"),
            (3, {}, TypeError, r"out is a int; give a path"),
            (frozen, {}, ValueError, r"out cannot be written to"),
            (np.empty(N), {"keep": ["id"]}, ValueError, r"keep needs named columns; write to a .parquet"),
            (tmp_path / "out.npy", {"keep": ["id"]}, ValueError, r"keep needs named columns"),
            (tmp_path / "out.csv", {"keep": ["Name"]}, ValueError, r"no column 'Name'; did you mean 'name'\?"),
        ]
        for out, params, kind, words in refusals:
            with pytest.raises(kind, match=words):
                regressor.predict_to(path, out, **params)
        assert not left_over(tmp_path)

    def test_names_that_clash_and_arrays_that_do_not_fit(self, regressor, path, rows, tmp_path):
        table = pq.read_table(path).append_column("prediction", pa.nulls(N))
        with pytest.raises(ValueError, match=r"keep names 'prediction', which is what predictions are called"):
            regressor.predict_to(table, tmp_path / "out.csv", keep=["prediction"])
        with pytest.raises(ValueError, match=r"keep names columns, but X has no column names"):
            regressor.predict_to(rows.to_numpy(), tmp_path / "out.csv", keep=["a"])
        with pytest.raises(ValueError, match=r"out has the shape \(299,\), but there are more or other values"):
            regressor.predict_to(path, np.empty(N - 1))
        with pytest.raises(ValueError, match=r"out has 301 rows, but there are 300; give as many"):
            regressor.predict_to(path, np.empty(N + 1))

    def test_no_rows(self, regressor, tmp_path):
        (tmp_path / "x.csv").write_text("a,b,c\n")
        for call in (regressor.predict, lambda source: regressor.predict_to(source, tmp_path / "out.csv")):
            with pytest.raises(ValueError, match=r"X has no rows; give at least one"):
                call(tmp_path / "x.csv")
