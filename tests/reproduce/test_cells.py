"""Verdicts: what counts as the same number, as better, and as neither."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reproduce import cells
from reproduce.cells import BETTER, NOT_REPRODUCED, OWN, REPRODUCED, Published, judge, reproduced_blocks
from reproduce.experiment import Measured


def number(
    row="a", column="M error", kind="error", text="1.0", deviation=None, repetitions=4, total=None, unit="", half=0.05
):
    return Published("kmp-table-9", row, column, kind, text, deviation, repetitions, total, unit, half, OWN)


@pytest.fixture
def table(monkeypatch):
    """Put numbers in place of the published ones and judge them."""

    def judged(numbers, found):
        monkeypatch.setattr(cells, "published", lambda: {"kmp-table-9": tuple(numbers)})
        return judge({"kmp-table-9": found})

    return judged


def one(table, published, measured):
    return table([published], {(published.row, published.column): measured})[0]


class TestStandardErrors:
    def test_the_printed_deviation_is_over_their_repetitions_and_ours_over_ours(self, table):
        cell = one(table, number(deviation=0.2, repetitions=4), [0.9, 1.1, 1.0])
        assert cell.published_se == pytest.approx(0.1)
        assert cell.ours_se == pytest.approx(0.1 / np.sqrt(3))
        assert cell.repetitions == 3

    def test_ours_serves_for_both_where_none_is_printed(self, table):
        cell = one(table, number(repetitions=16), [0.9, 1.1, 1.0])
        assert cell.published_se == pytest.approx(0.1 / 4)

    def test_theirs_serves_for_both_where_we_have_one_repetition(self, table):
        cell = one(table, number(deviation=0.2, repetitions=4), [1.1])
        assert (cell.published_se, cell.ours_se) == (pytest.approx(0.1), pytest.approx(0.2))

    def test_a_count_has_a_binomial_error(self, table):
        cell = one(table, number(text="16", total=2007, half=0.5), [20])
        assert cell.published_se == pytest.approx(np.sqrt(16 * (1 - 16 / 2007)))
        assert cell.ours_se == pytest.approx(np.sqrt(20 * (1 - 20 / 2007)))

    def test_a_share_in_per_cent_has_a_binomial_error_in_per_cent(self, table):
        cell = one(table, number(text="8.8", total=1000, unit="%"), [9.0])
        assert cell.published_se == pytest.approx(100 * np.sqrt(0.088 * 0.912 / 1000))


class TestVerdict:
    # Two combined standard errors are 2 sqrt(0.1² + 0.1²/3) = 0.2309, and half a digit is 0.05.
    @pytest.mark.parametrize(
        ("shift", "verdict"),
        [(0.0, REPRODUCED), (0.28, REPRODUCED), (0.282, NOT_REPRODUCED), (-0.28, REPRODUCED), (-0.282, BETTER)],
    )
    def test_two_standard_errors_and_half_a_digit_are_allowed(self, table, shift, verdict):
        measured = np.array([0.9, 1.1, 1.0]) + shift
        assert one(table, number(deviation=0.2), measured).verdict == verdict

    def test_a_value_is_never_better(self, table):
        assert one(table, number(kind="value", deviation=0.0), [0.1, 0.1]).verdict == NOT_REPRODUCED

    @pytest.mark.parametrize(("error", "verdict"), [(1.0, BETTER), (0.6, BETTER), (9.0, NOT_REPRODUCED)])
    def test_a_smaller_size_is_better_only_where_the_error_is_no_worse(self, table, error, verdict):
        numbers = [number(), number(column="M n", kind="size", text="50")]
        found = table(numbers, {("a", "M error"): [error] * 2, ("a", "M n"): [30, 30]})
        assert found[1].verdict == verdict

    def test_the_error_of_another_method_does_not_count(self, table):
        numbers = [number(column="other error"), number(column="M n", kind="size", text="50")]
        found = table(numbers, {("a", "other error"): [9.0] * 2, ("a", "M n"): [30, 30]})
        assert found[1].verdict == BETTER

    @pytest.mark.parametrize(("size", "verdict"), [(26, BETTER), (25, BETTER), (24.9, NOT_REPRODUCED)])
    def test_what_is_smaller_by_more_than_half_is_not_better(self, table, size, verdict):
        assert one(table, number(column="M n", kind="size", text="50"), [size] * 2).verdict == verdict
        assert one(table, number(text="0.50", half=0.005), [size / 100] * 2).verdict == verdict

    def test_a_wide_tolerance_reproduces_what_is_far(self, table):
        """Half of the printed number bounds what is better, not what is within the standard errors."""
        assert one(table, number(deviation=2.0), [0.2, 0.2, 0.2]).verdict == REPRODUCED

    @pytest.mark.parametrize(
        ("size", "verdict"), [(50, BETTER), (30, BETTER), (60, NOT_REPRODUCED), (10, NOT_REPRODUCED)]
    )
    def test_a_lower_error_is_better_only_beside_a_size_that_is_reproduced_or_better(self, table, size, verdict):
        numbers = [number(), number(column="M n", kind="size", text="50")]
        found = table(numbers, {("a", "M error"): [0.6, 0.6], ("a", "M n"): [size, size]})
        assert found[0].verdict == verdict

    def test_errors_and_sizes_may_stand_in_two_tables_of_a_run(self, monkeypatch):
        error, size = number(column="M"), number(column="M", kind="size", text="50")
        both = {"kmp-table-9": (error,), "kmp-table-8": (replace(size, table="kmp-table-8"),)}
        monkeypatch.setattr(cells, "published", lambda: both)
        found = judge({"kmp-table-9": {("a", "M"): [9.0] * 2}, "kmp-table-8": {("a", "M"): [30, 30]}})
        assert [cell.verdict for cell in found] == [NOT_REPRODUCED, NOT_REPRODUCED]

    def test_a_larger_size_is_not_reproduced(self, table):
        assert one(table, number(column="M n", kind="size", text="50"), [60, 60]).verdict == NOT_REPRODUCED

    def test_what_was_not_measured_has_no_cell(self, table):
        assert table([number()], {}) == []

    def test_times_are_not_judged(self, table):
        assert table([number(kind="time")], {("a", "M error"): [1.0]}) == []


class TestBlocks:
    def test_each_block_of_the_papers_repetitions_is_judged_alone(self, monkeypatch):
        printed = number(deviation=0.1, repetitions=2)
        monkeypatch.setattr(cells, "published", lambda: {"kmp-table-9": (printed,)})
        # Three blocks of two: at the printed number, far above it, at it again. The last value fills no block.
        assert reproduced_blocks(printed, [0.9, 1.1, 8.9, 9.1, 1.0, 1.0, 9.0]) == (2, 3)


class TestValues:
    def test_a_row_may_name_another_table(self):
        measured = [Measured({("ailerons", "TCR"): 0.2, ("hagiwara-table-3:ailerons", "TCR"): 20.0})] * 2
        assert cells.values("hagiwara-table-2", "hagiwara-table-2", measured) == {("ailerons", "TCR"): [0.2, 0.2]}
        assert cells.values("hagiwara-table-3", "hagiwara-table-2", measured) == {("ailerons", "TCR"): [20.0, 20.0]}

    def test_a_colon_in_a_row_is_no_table(self):
        measured = [Measured({("note: a", "b"): 1.0})]
        assert cells.values("xu-table-1", "xu-table-1", measured) == {("note: a", "b"): [1.0]}
