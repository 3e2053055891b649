"""The report that is shipped: complete, consistent, and made from its own files."""

from __future__ import annotations

import math

import pytest

from reproduce import growth, pages, results
from reproduce.cells import BETTER, JUDGED, NOT_REPRODUCED, REPRODUCED, Cell, published, with_verdicts
from reproduce.config import Config, Part, named
from reproduce.experiment import Measured
from reproduce.results import PValue, Time, VariantCount

CELLS = results.read(Cell)
KEYS = {PValue: ("row", "column"), VariantCount: ("variant",), Time: ("name",)}
NUMBERS = {(one.table, one.row, one.column): one for table in published().values() for one in table}


def test_every_published_error_and_size_has_one_line():
    expected = [place for place, one in NUMBERS.items() if one.kind in JUDGED]
    assert sorted((cell.table, cell.row, cell.column) for cell in CELLS) == sorted(expected)


def test_the_columns_are_those_that_are_promised():
    header = (results.FOLDER / "cells.csv").read_text().splitlines()[0]
    assert header == "paper,table,row,column,published,published_se,ours,ours_se,repetitions,verdict"


def test_lines_say_what_was_published():
    for cell in CELLS:
        number = NUMBERS[cell.table, cell.row, cell.column]
        assert cell.published == number.text
        assert cell.paper == cell.table.split("-")[0]
        if number.deviation is not None:
            assert cell.published_se == pytest.approx(number.deviation / math.sqrt(number.repetitions), rel=1e-4)


@pytest.mark.parametrize("run", sorted({named(cell.table).runs for cell in CELLS}))
def test_every_verdict_follows_from_the_lines_of_its_run(run):
    lines = [cell for cell in CELLS if named(cell.table).runs == run]
    assert with_verdicts(lines) == lines


@pytest.mark.parametrize("kind", [PValue, VariantCount, Time])
def test_every_line_stands_once(kind):
    lines = [tuple(getattr(one, field) for field in ("table", *KEYS[kind])) for one in results.read(kind)]
    assert len(set(lines)) == len(lines) > 0


def test_every_cell_that_is_not_reproduced_has_a_reason():
    assert not [cell for cell in CELLS if cell.verdict == NOT_REPRODUCED and results.reason_for(cell) is None]


def test_nine_cells_of_ten_are_reproduced_or_better():
    found = results.counts(CELLS)
    assert found[NOT_REPRODUCED] <= 0.1 * len(CELLS)


def test_the_pages_are_made_from_the_files(tmp_path):
    for name in results.FILES.values():
        if (results.FOLDER / name).exists():
            (tmp_path / name).write_text((results.FOLDER / name).read_text())
    pages.write(tmp_path)
    for page in tmp_path.glob("*.md"):
        assert page.read_text() == (results.FOLDER / page.name).read_text(), page.name


def test_every_picture_that_a_page_shows_is_there():
    for page in results.FOLDER.glob("*.md"):
        for part in page.read_text().split("](images/")[1:]:
            assert (results.FOLDER / "images" / part.split(")")[0]).exists(), part


class TestFiles:
    def cell(self, table, verdict=REPRODUCED):
        return Cell("xu", table, "a", "b", "1.0", 0.1, 1.05, 0.2, 3, verdict)

    def test_what_is_written_is_read_again(self, tmp_path):
        lines = [self.cell("xu-table-1"), self.cell("xu-table-4", BETTER)]
        results.update(Cell, ["xu-table-1", "xu-table-4"], lines, tmp_path)
        assert results.read(Cell, tmp_path) == lines

    def test_other_tables_are_kept_and_the_order_is_that_of_the_papers(self, tmp_path):
        results.update(Cell, ["xu-table-4"], [self.cell("xu-table-4")], tmp_path)
        results.update(Cell, ["nair-table-1"], [self.cell("nair-table-1")], tmp_path)
        results.update(Cell, ["xu-table-4"], [self.cell("xu-table-4", BETTER)], tmp_path)
        assert [(one.table, one.verdict) for one in results.read(Cell, tmp_path)] == [
            ("nair-table-1", REPRODUCED),
            ("xu-table-4", BETTER),
        ]

    def test_no_file_is_no_lines(self, tmp_path):
        assert results.read(VariantCount, tmp_path) == []


class TestPValues:
    def config(self, test, **more):
        given = {"column": "p-value (t-test)", "first": "KMP error", "second": "SVM error", "test": test, **more}
        return Config("kmp-table-2", "", "", "", "", "kmp-table-2", (Part({}, (), 1, 1),), {}, (), (given,))

    def measured(self, differences):
        return [Measured({("train 64", "KMP error"): 1 + d, ("train 64", "SVM error"): 1.0}) for d in differences]

    def test_the_paired_test_is_that_of_scipy(self):
        from scipy.stats import ttest_1samp

        differences = [0.1, -0.2, 0.4, 0.3]
        found = results.p_values_of(self.config("paired"), self.measured(differences))
        assert found == [PValue("kmp-table-2", "train 64", "p-value (t-test)", "0.24", found[0].ours, 4)]
        assert found[0].ours == pytest.approx(ttest_1samp(differences, 0).pvalue)

    def test_the_resampled_test_counts_what_splits_share(self):
        # Nadeau and Bengio: the variance of the mean is (1/J + n_test/n_train) s², here (1/4 + 1) in place of 1/4.
        from scipy.stats import t, ttest_1samp

        differences = [0.1, -0.2, 0.4, 0.3]
        found = results.p_values_of(self.config("resampled", test_share=1.0), self.measured(differences))
        statistic = ttest_1samp(differences, 0).statistic * math.sqrt(0.25 / 1.25)
        assert found[0].ours == pytest.approx(2 * t.sf(abs(statistic), 3))

    @pytest.mark.parametrize(("difference", "p"), [(0.0, 1.0), (0.5, 0.0)])
    def test_differences_that_are_all_the_same(self, difference, p):
        found = results.p_values_of(self.config("paired"), self.measured([difference] * 3))
        assert found[0].ours == p

    def test_one_repetition_has_no_p_value(self):
        assert results.p_values_of(self.config("paired"), self.measured([0.5])) == []

    def test_one_side_is_half_of_two(self):
        measured = self.measured([0.1, -0.2, 0.4, 0.3])
        two, one = (results.p_values_of(self.config("paired", **more), measured)[0] for more in ({}, {"sides": 1}))
        assert two.ours == pytest.approx(2 * one.ours)


class TestGrowth:
    def test_times_are_sorted_into_series_with_their_powers(self):
        times = [
            Time("xu-table-1", "n=1,000, PTR | TIME", "0.2", 0.01),
            Time("xu-table-1", "n=10,000, PTR | TIME", "20.0", 0.1),
            Time("nair-figure-7", "QR m=500", "", 0.5),
        ]
        ptr, qr = growth.series(times)
        assert (ptr.method, ptr.rows, ptr.published) == ("PTR", (1000, 10000), (0.2, 20.0))
        assert ptr.published_power == pytest.approx(2.0)
        assert ptr.our_power == pytest.approx(1.0)
        assert (qr.method, qr.rows, qr.published, qr.our_power) == ("QR", (500,), (), None)

    def test_a_data_set_stands_for_four_fifths_of_its_rows(self):
        (one,) = growth.series([Time("xu-table-4", "Boston h. | PTR TIME", "0.5", 0.1)])
        assert (one.method, one.rows) == ("PTR", (404,))
