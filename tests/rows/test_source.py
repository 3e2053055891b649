"""Sources of rows: blocks in order, as often as asked, whatever holds the rows."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit.rows import ArraySource, RowBlock, block_size, slices


def holders(X, folder):
    np.save(folder / "X.npy", X)
    return {
        "array": X,
        "by column": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "csr": sp.csr_array(X),
        "csc": sp.csc_array(X),
        "memory map": np.load(folder / "X.npy", mmap_mode="r"),
    }


def dense(X):
    return X.toarray() if sp.issparse(X) else X


class TestArraySource:
    @pytest.mark.parametrize("size", [1, 7, 100])
    def test_blocks_are_all_rows_in_order(self, rng, tmp_path, size):
        X, y, w = np.round(rng.normal(size=(23, 3)), 1), rng.normal(size=(23, 2)), rng.uniform(size=23)
        for name, held in holders(X, tmp_path).items():
            source = ArraySource(held, y, w)
            for _ in range(2):
                blocks = list(source.blocks(size))
                assert [block.start for block in blocks] == list(range(0, 23, size)), name
                assert blocks[-1].numbers[-1] + 1 == source.n_rows == 23
                np.testing.assert_allclose(np.vstack([dense(b.X) for b in blocks]), X, rtol=1e-6)
                np.testing.assert_array_equal(np.vstack([b.y for b in blocks]), y)
                np.testing.assert_array_equal(np.concatenate([b.weights for b in blocks]), w)

    def test_takes_rows_by_number(self, rng, tmp_path):
        X, y, numbers = np.round(rng.normal(size=(9, 2)), 1), np.arange(9.0), np.array([8, 0, 3])
        for held in holders(X, tmp_path).values():
            taken = ArraySource(held, y, counts=y + 1).take(numbers)
            np.testing.assert_allclose(dense(taken.X), X[numbers], rtol=1e-6)
            np.testing.assert_array_equal(taken.y[:, 0], numbers)
            np.testing.assert_array_equal(taken.counts, numbers + 1)
            assert taken.weights is None
            assert taken.total_weight == 3.0

    def test_is_pickled(self, rng):
        source = pickle.loads(pickle.dumps(ArraySource(rng.normal(size=(5, 2)), np.arange(5.0))))
        assert sum(len(block) for block in source.blocks(2)) == 5

    def test_refuses_other_numbers_of_rows(self):
        with pytest.raises(ValueError, match=r"y has 4 rows, but X has 5"):
            ArraySource(np.zeros((5, 2)), np.zeros(4))
        with pytest.raises(ValueError, match=r"weights has 6 rows, but X has 5"):
            ArraySource(np.zeros((5, 2)), np.zeros(5), np.ones(6))


class TestReduce:
    def test_adds_up_what_is_made_of_blocks_in_their_order(self):
        source = ArraySource(np.arange(50.0)[:, None], np.zeros(50))
        for n_threads in (1, 2, 5):
            assert source.reduce(lambda block: [block.start], 3, n_threads=n_threads) == list(range(0, 50, 3))

    def test_goes_on_where_another_pass_was(self):
        source, told = ArraySource(np.arange(50.0)[:, None], np.zeros(50)), []
        whole = source.reduce(lambda block: [block.start], 3, told=lambda *state: told.append(state))
        assert told[0] == (24, list(range(0, 24, 3)))
        assert len(told) == 3
        assert source.reduce(lambda block: [block.start], 3, before=told[0]) == whole

    def test_blocks_may_be_changed_and_rows_left_out(self):
        source = ArraySource(np.arange(9.0)[:, None], np.zeros(9)).map(without_the_first_four)
        assert source.reduce(lambda block: block.numbers.tolist(), 2) == [4, 5, 6, 7, 8]
        assert source.n_rows == 9

    def test_no_rows_are_refused(self):
        with pytest.raises(ValueError, match="the source has no rows; give at least one"):
            ArraySource(np.empty((0, 1)), np.empty(0)).reduce(len, 2)


def without_the_first_four(block):
    kept = np.flatnonzero(block.numbers >= 4)
    return RowBlock(block.start, block.X[kept], block.y[kept], kept=block.numbers[kept])


def test_slices_and_sizes_of_blocks():
    assert list(slices(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(slices(0, 2)) == []
    assert block_size(10**9) < block_size(500) < block_size(1)


MAPPED = """
import sys
import numpy as np
from kernelpursuit.pursuit.moments import MomentsOf, ModelColumns
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.rows import ArraySource, Distinct

def own():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) / 1024

X = np.load(sys.argv[1], mmap_mode="r")
y = np.arange(float(len(X)))
atoms = KernelAtoms(RBF(gamma=0.1), centers=np.array(X[:20])).resolve(X)
columns = ModelColumns(atoms, np.arange(20), None, True)
source = ArraySource(X, y)
ArraySource(X[:2000], y[:2000]).reduce(MomentsOf(columns), 1000)
Distinct.of(X[:2000], y[:2000, None], None)
before = own()
moments = source.reduce(MomentsOf(columns), 4096)
assert moments.n_rows == len(X)
distinct = Distinct.of(X, y[:, None], None)
assert len(distinct) == len(X)
print(own() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_memory_map_is_not_loaded(tmp_path):
    """A file of 128 MB is passed over twice, and 32 MB of arrays with a number for each row stay at most."""
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float64, shape=(2**18, 64))
    X[:] = np.arange(64.0)
    X[:, 0] = np.arange(len(X))
    X.flush()
    done = subprocess.run(
        [sys.executable, "-c", MAPPED, str(tmp_path / "X.npy")], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 32
