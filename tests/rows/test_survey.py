"""The first pass over rows: the sample does not depend on blocks, and every unusable row is named."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from kernelpursuit.rows import ArraySource, Prepared, RowBlock, SurveyedSource, sample_numbers, survey
from kernelpursuit.rows.sample import RowSample, bound_of_keys, keys_of, sampled_places
from kernelpursuit.rows.survey import Extremes


class InBlocksOf(ArraySource):
    """Blocks of its own sizes, whatever is asked for."""

    def __init__(self, sizes, *arrays):
        super().__init__(*arrays)
        self.sizes = sizes

    def blocks(self, size, start=0):
        ends = np.cumsum(self.sizes)
        for first, last in zip([0, *ends[:-1]], ends):
            yield self._at(slice(first, last), first)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(1000, 3)), rng.normal(size=1000), rng.uniform(0.5, 2, size=1000)


class TestSample:
    def test_is_the_same_whatever_the_blocks(self, rows):
        expected = sample_numbers(np.arange(1000), 100, seed=3)
        for sizes in ([1000], [500, 500], [999, 1], [0, 250, 0, 750], [1] * 1000):
            found = survey(InBlocksOf(sizes, *rows), 100, 3)
            np.testing.assert_array_equal(found.sample.rows.numbers, expected)
            np.testing.assert_array_equal(found.sample.rows.X, rows[0][expected])
            np.testing.assert_array_equal(found.sample.rows.y[:, 0], rows[1][expected])
            np.testing.assert_array_equal(found.sample.rows.weights, rows[2][expected])

    def test_is_all_rows_in_their_order_where_they_are_few(self, rows):
        found = survey(InBlocksOf([300, 700], *rows), 5000, 3)
        np.testing.assert_array_equal(found.sample.rows.X, rows[0])
        np.testing.assert_array_equal(sample_numbers(np.arange(1000), 5000, 3), np.arange(1000))

    def test_every_row_is_as_likely_as_any_other(self):
        counts = sum(np.bincount(sample_numbers(np.arange(50), 10, seed), minlength=50) for seed in range(2000))
        # Binomial with mean 400 and standard deviation 18.
        assert np.abs(counts - 400).max() < 5 * 18

    def test_smaller_samples_are_parts_of_larger_ones(self):
        numbers = np.arange(10_000)
        assert np.isin(sample_numbers(numbers, 50, 1), sample_numbers(numbers, 500, 1)).all()
        assert not np.array_equal(sample_numbers(numbers, 50, 1), sample_numbers(numbers, 50, 2))

    def test_a_bound_from_the_number_of_rows_leaves_enough(self):
        for n_rows, most in ((10, 10), (1000, 10), (10**6, 2000)):
            keys = keys_of(np.arange(n_rows), 5)
            assert (keys <= bound_of_keys(most, n_rows)).sum() >= most
        assert (keys_of(np.arange(10**6), 5) <= bound_of_keys(2000, 10**6)).sum() < 4000

    def test_parts_do_not_pile_up(self, rng):
        block = ArraySource(rng.normal(size=(100, 2)), np.zeros(100))
        total = None
        for start in range(0, 100_000, 100):
            (one,) = block.blocks(100)
            one = RowBlock(start, one.X, one.y)
            part = RowSample.of_block(one, 50, 0, bound_of_keys(50, None))
            total = part if total is None else total + part
            assert sum(map(len, total.parts)) <= 100
        assert len(total.rows) == 50

    @pytest.mark.parametrize("sizes", [[10_000], [400] * 25])
    def test_has_no_row_of_weight_zero_and_as_many_others_as_are_wanted(self, rng, sizes):
        X, y, w = rng.normal(size=(10_000, 2)), rng.normal(size=10_000), np.zeros(10_000)
        counted = np.sort(rng.choice(10_000, 300, replace=False))
        w[counted] = 2.0
        y[np.flatnonzero(w == 0)[0]] = 1e6
        found = survey(InBlocksOf(sizes, X, y, w), 100, 3)
        np.testing.assert_array_equal(found.sample.rows.numbers, sample_numbers(counted, 100, 3))
        assert (found.n_rows, found.n_counted, found.mean_weight) == (10_000, 300, 2.0)
        assert found.extremes.largest[0] == np.abs(y[counted]).max()


def by_ranks(keys, groups, most, of_each):
    """The definition, literally: rows by how many of their class are before them, up to a number, and then by keys."""
    ranks = np.array([min(np.sum(keys[groups == g] < k), of_each) for k, g in zip(keys, groups)])
    return np.sort(np.lexsort((keys, ranks))[:most])


class TestRareClasses:
    def test_places_are_those_of_the_definition(self, rng):
        for seed in range(60):
            n, most, of_each = rng.integers(10, 300), int(rng.integers(5, 150)), int(rng.integers(0, 40))
            groups = rng.integers(rng.integers(1, 30), size=n)
            keys = keys_of(np.arange(n), seed)
            expected = np.arange(n) if n <= most else by_ranks(keys, groups, most, of_each)
            np.testing.assert_array_equal(sampled_places(keys, most, groups, of_each), expected)

    def test_the_sample_is_the_same_whatever_the_blocks(self, rng):
        X, weights = rng.normal(size=(1000, 3)), rng.uniform(0.5, 2, size=1000)
        labels = np.array(["a", "b", "c"])[
            np.where(np.arange(1000) % 100 == 7, 1, np.where(np.arange(1000) > 994, 2, 0))
        ]
        weights[[7, 999]] = 0.0
        counted = np.flatnonzero(weights)
        groups = np.unique(labels[counted], return_inverse=True)[1]
        for most, of_each in ((100, 20), (100, 4), (12, 6), (5, 5)):
            expected = counted[by_ranks(keys_of(counted, 3), groups, most, of_each)]
            for sizes in ([1000], [999, 1], [0, 250, 0, 750], [10] * 100):
                for kind in (labels.dtype, object):
                    source = InBlocksOf(sizes, X, labels.astype(kind), weights)
                    found = survey(source, most, 3, of_each=of_each).sample.rows
                    np.testing.assert_array_equal(found.numbers, expected, f"{most}, {of_each}, {sizes}")
                    np.testing.assert_array_equal(found.X, X[expected])
                    assert (found.y[:, 0] == labels[expected]).all()

    def test_smaller_samples_are_parts_of_larger_ones(self, rng):
        keys = keys_of(np.arange(5000), 1)
        for n_groups in (2, 10, 200):
            groups = np.minimum(rng.geometric(0.3, size=5000), n_groups) - 1
            few, more = (sampled_places(keys, most, groups, most // 50) for most in (500, 2000))
            assert np.isin(few, more).all()

    def test_parts_do_not_pile_up(self, rng):
        total = None
        for start in range(0, 50_000, 100):
            labels = np.where(np.arange(start, start + 100) % 5000 == 0, "rare", "common")[:, None]
            part = RowSample.of_block(
                RowBlock(start, np.zeros((100, 2)), labels), 50, 0, bound_of_keys(50, None), of_each=10
            )
            total = part if total is None else total + part
            assert sum(map(len, total.parts)) <= 100
        assert len(total.rows) == 50
        assert (total.rows.y == "rare").sum() == 10


class TestSurvey:
    @pytest.mark.parametrize("kind", [np.uint8, np.int8, bool])
    def test_extremes_of_small_whole_numbers_are_those_of_floats(self, kind):
        y = (np.arange(1000) % 100 == 0).astype(kind) * kind(100)
        found = survey(ArraySource(np.zeros((1000, 1)), y), 20, 0)
        expected = survey(ArraySource(np.zeros((1000, 1)), y.astype(float)), 20, 0)
        assert found.extremes.largest == expected.extremes.largest

    def test_counts_sums_and_extremes_are_those_of_all_rows(self, rows):
        found = survey(InBlocksOf([10, 990], *rows), 20, 0)
        assert found.n_rows == 1000
        assert found.weight == pytest.approx(rows[2].sum())
        ordered = np.sort(rows[1])
        np.testing.assert_array_equal(np.sort(found.extremes.low[:, 0]), ordered[:16])
        np.testing.assert_array_equal(np.sort(found.extremes.high[:, 0]), ordered[-16:])
        assert found.extremes.largest[0] == np.abs(rows[1]).max()

    def test_labels_are_found_with_their_weights(self, rows):
        X, _, w = rows
        for labels in (np.array(["a", "b", "c"])[np.arange(1000) % 3], np.arange(1000) % 3):
            for kind in (labels.dtype, object):
                found = survey(InBlocksOf([400, 600], X, labels.astype(kind), w), 20, 0, of_each=0)
                assert set(found.labels) == set(labels.tolist())
                assert found.labels[labels[0]] == pytest.approx(w[::3].sum())

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_a_bad_value_is_named_by_its_row(self, rows, value):
        X, y, w = (array.copy() for array in rows)
        X[700, 1] = value
        with pytest.raises(ValueError, match=rf"X holds {value:g} in row 700, feature 1; drop or fill such rows first"):
            survey(ArraySource(X, y, w), 20, 0)
        y[650] = value
        with pytest.raises(ValueError, match=rf"y holds {value:g} in row 650; drop or fill"):
            survey(ArraySource(rows[0], y, w), 20, 0)
        w[3] = value
        with pytest.raises(ValueError, match=rf"sample_weight is {value:g} in row 3; give weights of at least 0"):
            survey(ArraySource(rows[0], rows[1], w), 20, 0)

    def test_large_values_missing_labels_and_numbers_for_labels_are_refused(self, rows):
        X, y, _ = rows
        with pytest.raises(ValueError, match=r"X holds 1e\+301 in row 0, feature 0; multiply X by a constant first"):
            survey(ArraySource(np.full((2, 1), 1e301), np.zeros(2)), 2, 0)
        with pytest.raises(ValueError, match="y holds no label in row 1; drop or fill such rows first"):
            survey(ArraySource(X[:2], np.array(["a", None], dtype=object)), 2, 0, of_each=0)
        with pytest.raises(ValueError, match="y holds no numbers; use KernelPursuitClassifier for labels"):
            survey(ArraySource(X[:2], np.array(["a", "b"])), 2, 0)
        many = np.arange(20_000)
        with pytest.raises(ValueError, match="y holds more than 10000 different labels; use KernelPursuitRegressor"):
            survey(ArraySource(np.zeros((20_000, 1)), many), 2, 0, of_each=0)
        with pytest.raises(ValueError, match="sample_weight is zero for every row"):
            survey(ArraySource(X, y, np.zeros(1000)), 2, 0)


class Changing(ArraySource):
    """Rows that `change` has changed in every pass but the first."""

    n_passes = 0

    def blocks(self, size, start=0):
        self.n_passes += 1
        for block in super().blocks(size, start):
            yield block if self.n_passes == 1 else self.change(block)

    def change(self, block):
        return replace(block, y=block.y + 1)


def with_one_nan(block):
    X = block.X.copy()
    X[0, 0] = np.nan
    return replace(block, X=X)


OTHERS = {
    "one NaN": with_one_nan,
    "another unit": lambda block: replace(block, X=1.01 * block.X),
    "columns in another order": lambda block: replace(block, X=np.ascontiguousarray(block.X[:, ::-1])),
    "rows in another order": lambda block: replace(block, X=block.X[::-1], y=block.y[::-1]),
    "other weights": lambda block: replace(block, weights=2 * block.sample_weights),
}


class TestLaterPasses:
    @pytest.mark.parametrize("name", OTHERS)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_with_other_features_are_refused(self, rows, name, dtype):
        source = Changing(np.asarray(rows[0], dtype=dtype), rows[1])
        source.change = lambda block: block
        known = SurveyedSource(source, survey(source, 20, 0))
        for size in (7, 100, 1000):  # sums are rounded in other places
            assert known.reduce(lambda block: len(block), size, n_threads=2) == 1000
        source.change = OTHERS[name]
        with pytest.raises(ValueError, match="other features or weights in a later pass than in the first"):
            known.reduce(lambda block: len(block), 100)

    def test_are_over_the_same_rows_or_refused(self, rows):
        for source, words in (
            (Changing(rows[0], rows[1]), "gave other targets in a later pass than in the first"),
            (InBlocksOf([500, 500], *rows), "gave 1000 rows in the first pass and 500 in a later one"),
        ):
            known = SurveyedSource(source, survey(source, 20, 0))
            if isinstance(source, InBlocksOf):
                source.sizes = [500]
            with pytest.raises(ValueError, match=words):
                known.reduce(lambda block: [len(block)], 100)

    def test_say_what_the_first_has_said(self, rows):
        source = ArraySource(*rows)
        known = SurveyedSource(source, survey(source, 20, 0))
        told = []
        found = known.reduce(lambda block: [block.start], 100, told=lambda *state: told.append(state))
        assert found == list(range(0, 1000, 100))
        assert known.reduce(lambda block: [block.start], 100, before=told[0]) == found
        with pytest.raises(ValueError, match="no row of the source is left"):
            known.reduce(lambda block: None, 100)


class TestPrepared:
    def test_rows_beyond_or_without_weight_are_left_out(self):
        y = np.array([[1.0], [1e9], [2.0], [3.0], [-1e9]])
        block = RowBlock(10, np.arange(10.0).reshape(5, 2), y, weights=np.array([1.0, 1, 0, 4, 1]))
        change = Prepared(targets=np.array([[-10.0], [10.0]]), weight_unit=2.0, unit=0.5)
        found = pickle.loads(pickle.dumps(change))(block)
        np.testing.assert_array_equal(found.numbers, [10, 13])
        np.testing.assert_array_equal(found.y[:, 0], [2.0, 6.0])
        np.testing.assert_array_equal(found.weights, [0.5, 2.0])
        np.testing.assert_array_equal(found.X, [[0, 1], [6, 7]])

    def test_features_stay_in_range_and_given_arrays_as_they_are(self):
        X = np.array([[0.0, 5.0], [1e9, 6.0]])
        block = RowBlock(0, X, np.zeros((2, 1)))
        found = Prepared(features=np.array([[0.0, 0.0], [10.0, 10.0]]))(block)
        np.testing.assert_array_equal(found.X, [[0, 5], [10, 6]])
        assert X[1, 0] == 1e9
        assert Prepared(features=np.array([[0.0, 0.0], [1e10, 10.0]]))(block).X is X

    def test_named_rows_are_left_out(self):
        block = RowBlock(4, np.zeros((3, 1)), np.zeros((3, 1)))
        np.testing.assert_array_equal(Prepared(left_out=np.array([2, 5, 9]))(block).numbers, [4, 6])


def test_extremes_of_few_rows_are_all_of_them():
    found = Extremes.of(np.array([[3.0], [1.0]])) + Extremes.of(np.array([[2.0]]))
    np.testing.assert_array_equal(np.sort(found.low[:, 0]), [1, 2, 3])
    assert found.largest[0] == 3
