"""How strong a table is, and what the first page says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproduce import results
from reproduce.cells import BETTER, COMPARATOR, REPRODUCED, Cell, number_of
from reproduce.front import front
from reproduce.strength import FAIR, STRONG, WEAK, Strength, is_wide, own, strength, tolerance

CELLS = results.read(Cell)


def cell(table, row, column, published, error=0.0):
    return Cell(table.split("-")[0], table, row, column, published, error, float(published), 0.0, 1, REPRODUCED)


def found(tolerances, chosen=0):
    return Strength(len(tolerances), tuple(tolerances), 0, (1, 1), (1, 1), chosen)


class TestTolerance:
    def test_it_is_relative_to_the_printed_number(self):
        # Two standard errors of 1 and half a unit are 2.5, of 168 atoms.
        assert tolerance(cell("xu-table-4", "CASP", "PTR k", "168", error=1.0)) == pytest.approx(2.5 / 168)

    def test_where_zero_is_printed_there_is_none(self):
        none = cell("xu-table-1", "n=1,000, TR1", "k", "0")
        assert tolerance(none) is None
        assert not is_wide(none)

    @pytest.mark.parametrize(("error", "wide"), [(41.7, False), (41.8, True)])
    def test_more_than_half_of_the_printed_number_is_wide(self, error, wide):
        # Half of 168 is 84 = 2 * 41.75 + 0.5.
        assert is_wide(cell("xu-table-4", "CASP", "PTR k", "168", error)) == wide


class TestWord:
    @pytest.mark.parametrize(
        ("tolerances", "chosen", "word"),
        [
            ([0.1] * 10, 0, STRONG),
            ([0.1] * 10, 1, STRONG),
            ([0.1] * 9, 0, FAIR),
            ([0.1] * 19, 2, FAIR),
            ([0.11] * 10, 0, FAIR),
            ([0.1] * 9, 3, FAIR),
            ([0.1] * 8, 3, WEAK),
            ([0.1] * 5, 0, FAIR),
            ([0.1] * 4, 0, WEAK),
            ([0.1] * 6 + [0.6] * 5, 0, STRONG),
            ([0.1] * 6 + [0.6] * 6, 0, WEAK),
        ],
    )
    def test_the_rule_of_the_first_page(self, tolerances, chosen, word):
        assert found(tolerances, chosen).word == word


class TestTable:
    def test_comparators_do_not_count(self):
        ours, theirs = cell("xu-table-4", "CASP", "PTR k", "168"), cell("xu-table-4", "CASP", "SVR k", "1276")
        assert number_of(theirs).system == COMPARATOR
        assert own([ours, theirs]) == [ours]
        assert strength("xu-table-4", [ours, theirs]).cells == 1

    def test_choices_for_comparators_do_not_count(self):
        assert strength("xu-table-4", CELLS).chosen == 7 + 1 + 1 + 1

    def test_only_what_is_reproduced_is_counted_as_wide(self):
        wide = cell("xu-table-4", "CASP", "PTR k", "168", error=100.0)
        assert strength("xu-table-4", [wide]).wide_and_reproduced == 1
        assert strength("xu-table-4", [replace(wide, verdict=BETTER)]).wide_and_reproduced == 0

    def test_repetitions_are_ours_and_the_papers(self):
        some = [replace(cell("nair-table-2", "n=50", "QR", "13.68"), repetitions=n) for n in (200, 500)]
        assert (strength("nair-table-2", some).ours, strength("nair-table-2", some).papers) == ((200, 500), (100, 100))


class TestFirstPage:
    def test_our_own_cells_are_counted_apart_and_better_is_not_reproduced(self):
        ours = [cell("xu-table-4", row, "PTR k", "168") for row in ("CASP", "Bank", "House8L")]
        ours[0] = replace(ours[0], verdict=BETTER)
        text = front([*ours, cell("xu-table-4", "CASP", "SVR k", "1276")])
        assert "**Of 3 cells of our own systems, 2 (66.7 %) are reproduced, strictly.** 1 are better, 0 are not" in text
        assert "we are below it" in text
        assert "1 cells of comparators" in text
        assert "| **all** |  | **3** | **2** | **1** | **0** | **1** | **1** | **0** | **0** |" in text

    def test_cells_that_could_hardly_fail_are_counted_and_those_that_are_far(self):
        rows = ("CASP", "Bank", "House8L")
        near, far, narrow = (cell("xu-table-4", row, "PTR k", "168", error) for row, error in zip(rows, (99, 99, 1)))
        text = front([near, replace(far, ours=1.6 * number_of(far).value), narrow])
        assert "2 of the 3 allow a difference of more than half" in text
        assert "1 of these do differ by more than half" in text

    def test_at_nine_of_ten_the_aim_is_met(self):
        assert "we are there" in front([cell("xu-table-4", "CASP", "PTR k", "168")])

    def test_no_place_is_left_unfilled(self):
        assert "{" not in front(CELLS)
