"""One table in every form that rows come in: the same blocks, however it is held."""

import gzip
import pickle

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

from kernelpursuit.rows import ArraySource, is_source, open_rows

N = 57


@pytest.fixture
def table(rng):
    return pa.table(
        {
            "a": np.round(rng.normal(size=N), 3),
            "b": rng.integers(0, 9, size=N),
            "c": rng.integers(0, 2, size=N).astype(bool),
            "y": np.round(rng.normal(size=N), 3),
            "label": rng.choice(["one", "two"], size=N),
            "w": rng.uniform(size=N),
        }
    )


def parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=10)
    return folder / "rows.parquet"


def parquet_folder(table, folder):
    for i, (first, n) in enumerate([(0, 20), (20, 0), (20, 30), (50, 7)]):
        pq.write_table(table.slice(first, n), folder / f"part-{i}.parquet")
    (folder / "_SUCCESS").touch()
    return str(folder)


def parquet_list(table, folder):
    parquet_folder(table, folder)
    return [str(folder / f"part-{i}.parquet") for i in range(4)]


def csv_file(table, folder):
    pyarrow.csv.write_csv(table, folder / "rows.csv")
    return folder / "rows.csv"


def csv_compressed(table, folder):
    csv_file(table, folder)
    with gzip.open(folder / "rows.csv.gz", "wb") as file:
        file.write((folder / "rows.csv").read_bytes())
    return folder / "rows.csv.gz"


def csv_folder(table, folder):
    for i, first in enumerate([0, 20, 40]):
        pyarrow.csv.write_csv(table.slice(first, 20), folder / f"{i}.csv")
    pyarrow.csv.write_csv(table.slice(0, 0), folder / "header.csv")
    (folder / "empty.csv").touch()
    return folder


def tsv(table, folder):
    options = pyarrow.csv.WriteOptions(delimiter="\t")
    pyarrow.csv.write_csv(table, folder / "rows.tsv", options)
    return folder / "rows.tsv"


def feather(table, folder):
    pyarrow.feather.write_feather(table, folder / "rows.feather", chunksize=10)
    return folder / "rows.feather"


def ipc_stream(table, folder):
    with pa.ipc.new_stream(folder / "rows.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    return folder / "rows.arrow"


def dataset(table, folder):
    return ds.dataset(parquet_folder(table, folder))


def filtered_dataset(table, folder):
    return dataset(table, folder).filter(ds.field("a") > -100)


def csv_dataset(table, folder):
    return ds.dataset(csv_file(table, folder), format="csv")


def uri(table, folder):
    return parquet(table, folder).as_uri()


def in_memory(table, folder):
    return table


def lazy_frame(table, folder):
    return pl.scan_parquet(parquet(table, folder))


def lazy_in_memory(table, folder):
    return pl.from_arrow(table).lazy().filter(pl.col("a") > -100)


def polars_frame(table, folder):
    return pl.from_arrow(table)


def pandas_frame(table, folder):
    return table.to_pandas()


class Yields:
    """A function that can be pickled."""

    def __init__(self, made):
        self.made = made

    def __call__(self):
        return iter(self.made)


def yields_tables(table, folder):
    return Yields([table.slice(0, 20), table.slice(0, 0), table.slice(20)])


def yields_frames(table, folder):
    return Yields([table.slice(0, 20).to_pandas(), table.slice(20).to_pandas()])


class Reads:
    """A function that makes a reader of record batches."""

    def __init__(self, table):
        self.table = table

    def __call__(self):
        return self.table.to_reader(max_chunksize=10)


def reader(table, folder):
    return Reads(table)


FORMS = [
    parquet,
    parquet_folder,
    parquet_list,
    csv_file,
    csv_compressed,
    csv_folder,
    tsv,
    feather,
    ipc_stream,
    dataset,
    filtered_dataset,
    csv_dataset,
    uri,
    in_memory,
    lazy_frame,
    lazy_in_memory,
    polars_frame,
    pandas_frame,
    yields_tables,
    yields_frames,
    reader,
]


def again(source):
    """The source after it was pickled, where it can be."""
    try:
        return pickle.loads(pickle.dumps(source))
    except TypeError:
        return source


def check_blocks(source, X, y, weights=None):
    """All sizes and starts yield the same rows, also from a source that was pickled, and two passes at once."""
    n = len(X)
    assert source.n_rows in (None, n)
    assert (source.n_features, source.n_targets) == (X.shape[1], y.shape[1])
    for size, start, one in [
        (7, 0, source),
        (100, 0, source),
        (7, 25, again(source)),
        (9, n, source),
    ]:
        blocks = list(one.blocks(size, start))
        assert [block.start for block in blocks] == list(range(start, n, size))
        assert [len(block) for block in blocks] == [min(size, n - first) for first in range(start, n, size)]
        for block in blocks:
            rows = slice(block.start, block.start + len(block))
            found = block.X.toarray() if sp.issparse(block.X) else block.X
            np.testing.assert_array_equal(found, X[rows])
            np.testing.assert_array_equal(block.y, y[rows])
            if weights is not None:
                np.testing.assert_array_equal(block.weights, weights[rows])
    for first, second in zip(source.blocks(7), source.blocks(7)):
        np.testing.assert_array_equal(first.y, second.y)


@pytest.mark.parametrize("form", FORMS)
class TestTables:
    def test_a_target_and_weights_by_name(self, form, table, tmp_path):
        source = open_rows(form(table, tmp_path), "y", "w", features=["c", "a", "b"])
        X = np.column_stack([table[name].to_numpy() for name in "cab"])
        assert source.feature_names == ["c", "a", "b"]
        check_blocks(source, X, table["y"].to_numpy()[:, None], table["w"].to_numpy())
        assert next(source.blocks(3)).X.dtype == np.float64

    def test_labels_may_be_text(self, form, table, tmp_path):
        source = open_rows(form(table, tmp_path), "label", features=["a"])
        y = table["label"].to_numpy().astype(object)[:, None]
        check_blocks(source, table["a"].to_numpy()[:, None], y)
        assert next(source.blocks(3)).y.dtype == object

    def test_whole_numbers_and_flags_stay_labels(self, form, table, tmp_path):
        for name, kind in {"b": "i", "c": "b"}.items():
            block = next(open_rows(form(table, tmp_path), name, features=["a"]).blocks(100))
            assert block.y.dtype.kind == kind
            np.testing.assert_array_equal(block.y[:, 0], table[name].to_numpy())

    def test_a_target_from_elsewhere(self, form, table, tmp_path):
        y, beside, folder = table["y"].to_numpy(), tmp_path / "y.npy", tmp_path / "rows"
        np.save(beside, y)
        folder.mkdir()
        held = form(table, folder)
        for given in (y, beside, str(beside), pl.Series(y), pa.table({"y": y})):
            source = open_rows(held, given, features=["a", "b"])
            X = np.column_stack([table["a"].to_numpy(), table["b"].to_numpy()])
            check_blocks(source, X, y[:, None])

    def test_all_others_are_features(self, form, table, tmp_path):
        source = open_rows(form(table.drop_columns(["label"]), tmp_path), ["y", "b"])
        assert source.feature_names == ["a", "c", "w"]
        assert source.n_targets == 2

    def test_a_column_that_is_not_there(self, form, table, tmp_path):
        with pytest.raises(ValueError, match=r"has no column 'labl'; did you mean 'label'\?"):
            open_rows(form(table, tmp_path), "labl")

    def test_text_is_no_feature(self, form, table, tmp_path):
        with pytest.raises(ValueError, match=r"column 'label' of .* holds text; encode it as numbers first"):
            open_rows(form(table, tmp_path), "y")

    def test_is_a_source(self, form, table, tmp_path):
        assert is_source(form(table, tmp_path)) == (form not in (polars_frame, pandas_frame))


def memory_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def view_of_a_map(X, folder):
    held = np.lib.format.open_memmap(folder / "V.npy", mode="w+", dtype=X.dtype, shape=(len(X) + 2, X.shape[1] + 1))
    held[2:, 1:] = X
    held.flush()
    return np.load(folder / "V.npy", mmap_mode="r")[2:, 1:]


def npy_path(X, folder):
    np.save(folder / "X.npy", np.asfortranarray(X))
    return folder / "X.npy"


def zarr_array(X, folder):
    held = zarr.open(str(folder / "X.zarr"), mode="w", shape=X.shape, dtype=X.dtype, chunks=(10, 2))
    held[:] = X
    return held


def zarr_path(X, folder):
    zarr_array(X, folder)
    return str(folder / "X.zarr")


def hdf_dataset(X, folder):
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("group/X", data=X, chunks=(10, X.shape[1]))
    return h5py.File(folder / "X.h5", "r")["group/X"]


def csr(X, folder):
    return sp.csr_array(X)


def plain(X, folder):
    return X


@pytest.mark.parametrize("form", [memory_map, view_of_a_map, npy_path, zarr_array, zarr_path, hdf_dataset, csr, plain])
class TestArrays:
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
    def test_slices(self, form, dtype, rng, tmp_path):
        X, y, w = rng.integers(0, 9, size=(N, 3)).astype(dtype), rng.normal(size=(N, 2)), rng.uniform(size=N)
        held = form(X, tmp_path)
        source = open_rows(held, y, w)
        check_blocks(source, X.astype(float), y, w)
        assert next(source.blocks(3)).X.dtype == (np.float32 if dtype == "float32" else np.float64)
        assert is_source(held) == (form in (npy_path, zarr_array, zarr_path, hdf_dataset))

    def test_targets_of_the_same_kind(self, form, rng, tmp_path):
        y = rng.normal(size=(N, 2))
        if form is csr:
            with pytest.raises(ValueError, match=r"y is a sparse matrix; give a dense array"):
                open_rows(np.zeros((N, 3)), form(y, tmp_path))
            return
        check_blocks(open_rows(np.zeros((N, 3)), form(y, tmp_path)), np.zeros((N, 3)), y)


def test_a_map_is_pickled_by_its_path(rng, tmp_path):
    X = rng.normal(size=(5000, 4))
    for form in (memory_map, view_of_a_map, npy_path, hdf_dataset):
        once = pickle.dumps(open_rows(form(X, tmp_path)))
        assert len(once) < 2000
        assert len(pickle.dumps(pickle.loads(once))) < 2000


class TestFunctions:
    @pytest.mark.parametrize("change", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_tuples(self, change, rng):
        X, y, w = rng.normal(size=(N, 3)), rng.normal(size=N), rng.uniform(size=N)
        cuts = [slice(0, 10), slice(10, 10), slice(10, 45), slice(45, N)]
        check_blocks(open_rows(Yields([(change(X[i]), y[i], w[i]) for i in cuts])), X, y[:, None], w)
        check_blocks(open_rows(Yields([(change(X[i]), y[i]) for i in cuts])), X, y[:, None])
        check_blocks(open_rows(Yields([change(X[i]) for i in cuts])), X, np.empty((N, 0)))
        check_blocks(open_rows(Yields([change(X[i]) for i in cuts]), y), X, y[:, None])

    def test_an_iterator_that_cannot_start_again_is_refused(self):
        once = iter([(np.zeros((2, 2)), np.zeros(2))])
        with pytest.raises(ValueError, match=r"returned the same iterator twice; let it make a new one"):
            open_rows(lambda: once)
        with pytest.raises(TypeError, match=r"yields its rows once.*give a function that makes a new one"):
            open_rows(once)
        with pytest.raises(TypeError, match=r"RecordBatchReader yields its rows once"):
            open_rows(pa.table({"a": [1.0]}).to_reader(), "a")

    @pytest.mark.parametrize(
        ("found", "words"),
        [
            ([], r"yields no rows"),
            ([(np.zeros((2, 2)), np.zeros(2)), (np.zeros((2, 3)), np.zeros(2))], r"block 1 .* has 3 features and 1 "),
            ([(np.zeros((2, 2)), np.zeros(3))], r"y of block 0 .* has the shape \(3, 1\), but X has 2 rows"),
            ([(np.zeros((2, 2)), np.zeros(2)), np.zeros((2, 2))], r"block 1 .* is a tuple of 1; yield"),
            ([np.zeros(3)], r"X of block 0 .* has the shape \(3,\)"),
            ([np.array([["a"]])], r"X of block 0 .* holds values of the type <U1; give numbers"),
            (
                [pa.table({"a": [1.0]}), pa.table({"b": [1.0]})],
                r"table 1 .* has the columns b, but the first one has a",
            ),
        ],
    )
    def test_blocks_that_do_not_fit(self, found, words):
        with pytest.raises(ValueError, match=words):
            list(open_rows(Yields(found)).blocks(3))

    def test_something_else_than_an_iterator(self):
        with pytest.raises(TypeError, match=r"<lambda>\(\) returned a int; let it return an iterator"):
            open_rows(lambda: 3)


def test_partitions_of_a_folder_are_columns(table, tmp_path):
    ds.write_dataset(
        table.append_column("year", pa.array(np.arange(N) // 20 + 2020)).append_column("town", [["A"] * N]),
        tmp_path / "parts",
        format="parquet",
        partitioning=["year", "town"],
        partitioning_flavor="hive",
    )
    for given in (tmp_path / "parts", ds.dataset(tmp_path / "parts", partitioning="hive")):
        source = open_rows(given, "town", features=["year", "a"])
        X = np.column_stack([np.arange(N) // 20 + 2020, table["a"].to_numpy()])
        check_blocks(source, X, np.full((N, 1), "A", dtype=object))
        assert source.n_rows == N


class TestIndexOfPandas:
    def test_is_no_feature_unless_it_is_named(self, tmp_path):
        frame = pd.DataFrame({"a": np.arange(6.0), "y": np.arange(6.0) ** 2})
        path = tmp_path / "rows.parquet"
        for kept, name in ((frame[frame["a"] != 2], "__index_level_0__"), (frame.set_index("a", drop=False), "a_")):
            kept.rename_axis(index=None if name.startswith("__") else name).to_parquet(path)
            columns = pq.read_schema(path).names
            assert columns == ["a", "y", name]
            for data in (path, pq.read_table(path), ds.dataset(path)):
                assert open_rows(data, "y").feature_names == ["a"]
            assert open_rows(path, "y", features=["a", name]).feature_names == ["a", name]
        frame[frame["a"] != 2].to_parquet(path)
        assert open_rows(pl.scan_parquet(path), "y").feature_names == ["a"]
        frame[["y"]][frame["a"] != 2].to_parquet(path)
        assert open_rows(np.zeros((5, 1)), path).n_targets == 1

    def test_without_a_name_is_refused(self, tmp_path):
        pd.DataFrame({"a": [1.0], "y": [2.0]}).to_csv(tmp_path / "rows.csv")
        with pytest.raises(ValueError, match=r"rows.csv has a column without a name.*write it with index=False"):
            open_rows(tmp_path / "rows.csv", "y")
        assert open_rows(tmp_path / "rows.csv", "y", features=["a"]).n_features == 1


def test_float32_stays_where_all_features_are(tmp_path):
    pq.write_table(pa.table({"a": np.zeros(3, np.float32), "b": np.zeros(3), "y": np.zeros(3)}), tmp_path / "x.parquet")
    for features, dtype in [(["a"], np.float32), (["a", "b"], np.float64)]:
        assert next(open_rows(tmp_path / "x.parquet", "y", features=features).blocks(2)).X.dtype == dtype


def test_nulls_are_nan(tmp_path):
    table = pa.table({"a": [1, None], "b": [True, None], "c": pa.nulls(2), "d": [1.5, None], "y": [None, 2]})
    pq.write_table(table, tmp_path / "x.parquet")
    block = next(open_rows(tmp_path / "x.parquet", "y").blocks(2))
    np.testing.assert_array_equal(block.X, [[1, 1, np.nan, 1.5], [np.nan] * 4])
    np.testing.assert_array_equal(block.y, [[np.nan], [2]])


def test_only_needed_columns_are_converted(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "when": [pd.Timestamp("2020-01-01")], "y": [1.0]}), tmp_path / "x.parquet")
    assert next(open_rows(tmp_path / "x.parquet", "y", features=["a"]).blocks(2)).X.shape == (1, 1)
    with pytest.raises(ValueError, match=r"column 'when' of .*x.parquet holds dates or times; convert it to numbers"):
        open_rows(tmp_path / "x.parquet", "y")
    with pytest.raises(ValueError, match=r"the target 'when' of .*x.parquet holds dates or times"):
        open_rows(tmp_path / "x.parquet", "when")


def test_categories_are_labels_and_no_features():
    frame = pd.DataFrame({"a": [1.0, 2.0], "c": pd.Categorical(["u", "v"])})
    assert next(open_rows(frame, "c").blocks(2)).y.tolist() == [["u"], ["v"]]
    with pytest.raises(ValueError, match=r"column 'c' of the table holds categories; encode it as numbers"):
        open_rows(frame, "a")


def test_whole_numbers_at_the_top_of_a_csv_file_say_nothing_of_the_rest(tmp_path):
    n = 300_000  # more than Arrow looks at for types
    with open(tmp_path / "x.csv", "w") as file:
        file.write("a,y\n" + "1,1\n" * n + "2.5,0.5\n")
    *_, last = open_rows(tmp_path / "x.csv", "y").blocks(2**14)
    assert (last.X[-1, 0], last.y[-1, 0]) == (2.5, 0.5)


def test_a_source_stays_one():
    source = ArraySource(np.zeros((3, 2)), np.zeros(3))
    assert open_rows(source) is source
    assert is_source(source)
    block = next(open_rows(source, sample_weight=[1, 2, 3]).blocks(5))
    assert block.weights.tolist() == [1, 2, 3]


class OnADevice:
    """An array of another library, as far as one can see from outside."""

    shape, dtype = (2, 2), "float32 of that library"

    def __dlpack__(self):
        raise NotImplementedError

    def __getitem__(self, which):
        raise NotImplementedError


def test_data_in_memory_are_no_source():
    assert not is_source(OnADevice())
    for data in (
        np.zeros((2, 2)),
        [[1.0]],
        [],
        ["some", "words"],
        sp.csr_array((2, 2)),
        pd.DataFrame({"a": [1]}),
        3,
        None,
    ):
        assert not is_source(data)
