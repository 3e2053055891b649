"""Files that are broken, differ from the others or have changed: one sentence that names the file."""

import gzip
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from kernelpursuit.rows import open_rows


def write(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def refused(words, function, *args, kind=ValueError, **params):
    with pytest.raises(kind, match=words) as caught:
        function(*args, **params)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence[-1] in ".?"


def all_blocks(*args, **params):
    return list(open_rows(*args, **params).blocks(10))


def test_a_file_of_a_folder_without_a_column(tmp_path):
    write(tmp_path, "1.parquet", a=[1.0], y=[1.0])
    write(tmp_path, "2.parquet", b=[1.0], y=[1.0])
    refused(
        r"2.parquet has no column 'a', which .*1.parquet has; give all files the same ones", open_rows, tmp_path, "y"
    )
    dataset = pyarrow.dataset.dataset(tmp_path)
    refused(r"2.parquet has no column 'a', which .*1.parquet has", open_rows, dataset, "y")


def test_a_file_of_a_folder_with_another_type(tmp_path):
    write(tmp_path, "1.parquet", a=[1.0], y=[1.0])
    write(tmp_path, "2.parquet", a=["x"], y=[1.0])
    refused(r"'a' of .*2.parquet holds text, but that of .*1.parquet holds numbers; give", open_rows, tmp_path, "y")


def test_other_types_of_numbers_are_fine(tmp_path):
    write(tmp_path, "1.parquet", a=pa.array([1, 2], pa.int32()), y=[1, 2])
    write(tmp_path, "2.parquet", a=[1.5], y=[0.5])
    write(tmp_path, "3.parquet", a=pa.array([7.0], pa.float32()), y=pa.nulls(1))
    (block,) = all_blocks(tmp_path, "y")
    assert block.X.ravel().tolist() == [1.0, 2.0, 1.5, 7.0]
    np.testing.assert_array_equal(block.y.ravel(), [1, 2, 0.5, np.nan])


def test_no_rows_at_all(tmp_path):
    write(tmp_path, "1.parquet", a=pa.array([], pa.float64()), y=pa.array([], pa.float64()))
    refused(r"1.parquet has no rows; give at least one", open_rows, tmp_path / "1.parquet", "y")
    write(tmp_path, "2.parquet", a=pa.array([], pa.float64()), y=pa.array([], pa.float64()))
    refused(r"1.parquet has no rows nor has any of the 1 others; give at least one", open_rows, tmp_path, "y")
    refused(r"X has no rows", open_rows, np.empty((0, 2)))
    (tmp_path / "e.csv").touch()
    refused(r"e.csv has no column 'y'; it has none", open_rows, tmp_path / "e.csv", "y")


@pytest.mark.parametrize(("name", "mark"), [("e.csv", ";"), ("e.csv", "\t"), ("e.csv", "|"), ("e.tsv", ",")])
def test_files_that_are_separated_in_other_ways(tmp_path, name, mark):
    (tmp_path / name).write_text(f"a{mark}y\n1{mark}2\n")
    words = f"has no column 'y'; it has one, {f'a{mark}y'!r}, which looks separated by {mark!r}: save it with commas"
    for call in (lambda: open_rows(tmp_path / name, "y"), lambda: open_rows(tmp_path / name, features=["y"])):
        refused(re.escape(words), call)


def test_a_folder_without_files(tmp_path):
    refused(r"holds no file of rows; give one with files that end in .parquet", open_rows, tmp_path, "y")


def test_a_path_that_is_not_there(tmp_path):
    for name in ("x.parquet", "x.csv", "x.feather", "x.npy"):
        refused(rf"{name} is not there; give the path", open_rows, tmp_path / name, kind=FileNotFoundError)


def test_files_of_another_kind(tmp_path):
    refused(r"x.docx ends in '.docx'; give a file that ends in .parquet", open_rows, tmp_path / "x.docx")
    refused(r"x.h5 may hold many arrays; give one of them, as in h5py.File", open_rows, tmp_path / "x.h5")


@pytest.mark.parametrize("kept", [0, 3, 50, -10])
def test_a_truncated_parquet_file(tmp_path, kept):
    whole = write(tmp_path, "x.parquet", a=np.arange(1000.0), y=np.arange(1000.0)).read_bytes()
    (tmp_path / "x.parquet").write_bytes(whole[:kept])
    refused(r"x.parquet cannot be read: ", all_blocks, tmp_path / "x.parquet", "y")


def test_a_parquet_file_with_broken_pages(tmp_path):
    path = write(tmp_path, "x.parquet", a=np.random.default_rng(0).normal(size=9999), y=np.arange(9999.0))
    whole = bytearray(path.read_bytes())
    whole[4:2000] = bytes(1996)
    path.write_bytes(whole)
    refused(r"x.parquet cannot be read: ", all_blocks, path, "y")


def test_a_truncated_feather_file(tmp_path):
    pyarrow.feather.write_feather(pa.table({"a": np.arange(1000.0)}), tmp_path / "x.feather")
    (tmp_path / "x.feather").write_bytes((tmp_path / "x.feather").read_bytes()[:-30])
    refused(r"x.feather cannot be read: ", all_blocks, tmp_path / "x.feather", "a")


def test_a_truncated_npy_file(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 2)))
    whole = (tmp_path / "x.npy").read_bytes()
    for kept in (0, 20, 500):
        (tmp_path / "x.npy").write_bytes(whole[:kept])
        refused(r"x.npy cannot be read: ", open_rows, tmp_path / "x.npy")


def test_a_truncated_compressed_file(tmp_path):
    lines = "a,y\n" + "".join(f"{value},1\n" for value in np.random.default_rng(0).normal(size=200_000))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(lines.encode())[:-1000])
    refused(r"x.csv.gz cannot be read: ", all_blocks, tmp_path / "x.csv.gz", "y")


def test_lines_of_a_csv_file_that_do_not_fit(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,2\n3\n")
    refused(r"x.csv cannot be read: .*Expected 2 columns, got 1", all_blocks, path, "y")
    path.write_text("a,y\n" + "1,2\n" * 400_000 + "x,2\n")
    refused(r"x.csv cannot be read: .*invalid value 'x'", all_blocks, path, "y")


def test_a_file_that_changes_between_passes(tmp_path):
    path = write(tmp_path, "x.parquet", a=[1.0, 2.0], y=[1.0, 2.0])
    source = open_rows(path, "y")
    assert len(list(source.blocks(1))) == 2
    write(tmp_path, "x.parquet", a=[1.0, 3.0, 4.0], y=[1.0, 2.0, 4.0])
    refused(r"x.parquet has changed since it was opened; let no one write", list, source.blocks(1))
    os.remove(path)
    refused(r"x.parquet is not there", list, source.blocks(1), kind=FileNotFoundError)


def test_text_that_is_not_in_utf_8(tmp_path):
    (tmp_path / "names.csv").write_bytes("größe,y\n1,2\n".encode("latin-1"))
    refused(r"names.csv cannot be read: it is not in UTF-8; save it so", open_rows, tmp_path / "names.csv", "y")
    (tmp_path / "text.csv").write_bytes("a,y\n1,größe\n".encode("latin-1"))
    words = r"the target 'y' of .*text.csv holds bytes; save the file in UTF-8, if this is text"
    refused(words, open_rows, tmp_path / "text.csv", "y")


def test_places_that_nobody_can_read():
    refused(
        r"https://x.org/a.parquet cannot be read: Unrecognized filesystem", open_rows, "https://x.org/a.parquet", "y"
    )


def test_a_query_of_polars_that_fails(tmp_path):
    pl.DataFrame({"a": ["x"], "y": [1.0]}).write_parquet(tmp_path / "x.parquet")
    frame = pl.scan_parquet(tmp_path / "x.parquet").with_columns(pl.col("a").cast(pl.Float64))
    refused(r"the lazy frame cannot be read: ", all_blocks, frame, "y")


def test_columns_that_cannot_be_told_apart():
    table = pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "a", "y"])
    refused(r"the table has 2 columns named 'a'; give each its own name", open_rows, table, "y")
    refused(r"features names 'y', which is the target", open_rows, table.select([0, 2]), "y", features=["a", "y"])


def test_targets_of_another_number(tmp_path):
    path = write(tmp_path, "x.parquet", a=np.arange(9.0))
    refused(r"y has 8 rows, but X has 9; give one for each row", open_rows, path, np.zeros(8))
    refused(r"sample_weight has 2 columns; give one weight for each row", open_rows, path, None, np.zeros((9, 2)))
    (tmp_path / "y.csv").write_text("y\n" + "1\n" * 7)
    refused(r"y ends after 7 rows, but X goes on; give one for each row", all_blocks, path, tmp_path / "y.csv")
    (tmp_path / "y.csv").write_text("y\n" + "1\n" * 11)
    refused(r"X ends after 9 rows, but y goes on; give one for each row", all_blocks, path, tmp_path / "y.csv")
    for words in (lambda: [np.zeros(9)], open_rows(np.zeros((9, 1)))):
        refused(r"y is a .*; give a path, a table or an array", open_rows, path, words)


def test_names_where_there_are_none():
    refused(r"y='price' names a column, but X has no column names", open_rows, np.zeros((2, 2)), "price")
    refused(r"features names columns, but X has no column names", open_rows, np.zeros((2, 2)), features=["a"])
    refused(r"X is a int; give a path, a table, an array", open_rows, 3, kind=TypeError)


class TestWhere:
    def test_a_row_is_named_with_its_file(self, tmp_path):
        for i in range(3):
            write(tmp_path, f"{i}.parquet", a=np.arange(4.0))
            (tmp_path / f"{i}.csv").write_text("a\n" + "1\n" * 4)
        parquet = open_rows([tmp_path / f"{i}.parquet" for i in range(3)])
        assert parquet.where(9) == f"row 9 (row 1 of {tmp_path / '2.parquet'})"
        assert parquet.map(lambda block: block).where(9) == parquet.where(9)
        assert open_rows(parquet, np.zeros(12)).where(9) == parquet.where(9)
        csv = open_rows([tmp_path / f"{i}.csv" for i in range(3)])
        assert csv.where(5) == f"row 5 (row 1 of {tmp_path / '1.csv'})"
        assert open_rows(tmp_path / "1.csv").where(3) == f"row 3 of {tmp_path / '1.csv'}"

    def test_a_row_of_something_else(self):
        assert open_rows(np.zeros((9, 1))).where(7) == "row 7 of X"
        assert open_rows(pa.table({"a": [1.0]})).where(0) == "row 0 of the table"


def test_a_missing_package_is_named():
    """The sentence that comes where pyarrow is not installed."""
    code = "import sys; sys.modules['pyarrow'] = None; from kernelpursuit.rows import open_rows; open_rows('x.parquet')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: reading x.parquet needs pyarrow: pip install 'kernelpursuit[io]'." in done.stderr


def test_a_filtered_dataset_cannot_be_pickled(tmp_path):
    path = write(tmp_path, "x.parquet", a=[1.0], y=[1.0])
    source = open_rows(pyarrow.dataset.dataset(path).filter(pyarrow.dataset.field("a") > 0), "y")
    refused(r"a dataset with a filter cannot be pickled; give a function", pickle.dumps, source, kind=TypeError)


def test_a_dataset_without_files(tmp_path):
    dataset = pyarrow.dataset.dataset([], schema=pa.schema([("a", pa.float64())]), format="parquet")
    refused(r"the dataset has no files; give at least one", open_rows, dataset)
