"""The published numbers are those of the papers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from reproduce.cells import COMPARATOR, JUDGED, OWN, published

PAPERS = Path(__file__).parents[3] / "shared" / "papers"
FILES = {"nair": "000", "kmp": "001", "hagiwara": "002", "zhang": "003", "xu": "004"}
# Rows times columns of each table as the papers print them.
SIZES = {
    "nair-table-1": 6 * 3, "nair-table-2": 4 * 3, "nair-table-3": 7 * 3, "nair-table-4": 2 * 4, "nair-table-5": 6 * 8,
    "nair-table-6": 10 * 6, "nair-figure-3": 1, "nair-figure-4": 2, "kmp-table-1": 5 * 10, "kmp-table-2": 5 * 5,
    "kmp-table-3": 4 * 8, "hagiwara-table-2": 6 * 5, "hagiwara-table-3": 6 * 5, "zhang-figure-1": 2,
    "xu-table-1": 18 * 4, "xu-table-2": 18 * 4, "xu-table-4": 7 * 8, "xu-figure-1": 1,
}  # fmt: skip


def test_every_table_has_all_its_cells_once():
    assert {table: len(numbers) for table, numbers in published().items()} == SIZES
    places = Counter((one.table, one.row, one.column) for numbers in published().values() for one in numbers)
    assert set(places.values()) == {1}


def test_kinds_and_units_are_known():
    numbers = [one for table in published().values() for one in table]
    assert {one.kind for one in numbers} == {"error", "size", "value", "time", "p-value", "quoted"}
    assert {one.unit for one in numbers} == {"", "%"}


def test_every_number_is_of_our_own_systems_or_of_a_comparator():
    """Counted in the papers: support vector machines, the lasso and k-means networks are not ours."""
    judged = [one for table in published().values() for one in table if one.kind in JUDGED]
    assert {one.system for one in judged} == {OWN, COMPARATOR}
    assert Counter(one.table for one in judged if one.system == COMPARATOR) == {
        "nair-table-5": 6 * 2, "nair-table-6": 10 * 2, "kmp-table-1": 10 * 3, "kmp-table-2": 5 * 2,
        "kmp-table-3": 4 * 2, "hagiwara-table-2": 6, "hagiwara-table-3": 6, "xu-table-1": 3 * 3,
        "xu-table-2": 3 * 3, "xu-table-4": 7 * 3,
    }  # fmt: skip


def test_a_row_and_column_of_one_method_are_of_one_system():
    """A slip in one line of a comparator would otherwise stay unseen."""
    for one in (one for table in published().values() for one in table if one.kind in JUDGED):
        words = set(re.split(r"[ ,]+", f"{one.row} {one.column}"))
        assert (one.system == COMPARATOR) == bool(words & {"SVM", "SVR", "LASSO", "k-means"}), one


def test_errors_without_an_atom_are_values():
    """Xu's TR1 keeps no atom, so that its errors measure the data and cannot be better."""
    kinds = {one.kind for table in ("xu-table-1", "xu-table-2") for one in published()[table] if "TR1" in one.row}
    assert kinds == {"value", "size", "time"}


def test_trailing_zeros_that_a_paper_drops_do_not_widen_a_cell():
    half = {one.half_digit for one in published()["hagiwara-table-2"]}
    assert half == {0.0005}
    assert any(one.text == "0.2" for one in published()["hagiwara-table-2"])


def test_each_number_has_the_digits_that_it_is_printed_with():
    half = {(one.row, one.column): one.half_digit for one in published()["kmp-table-3"]}
    assert half["Sonar", "SVM error"] == 0.05
    assert half["Ionosphere", "SVM error"] == 0.005


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers are not here")
@pytest.mark.parametrize("paper", FILES)
def test_every_number_stands_in_the_paper(paper):
    text = next(PAPERS.glob(f"{FILES[paper]}_*.txt")).read_text().replace(",", "")
    words = set(re.findall(r"\d+(?:\.\d+)?", text))
    values = {float(word) for word in words}
    numbers = [one for table, found in published().items() if table.split("-")[0] == paper for one in found]
    assert not [one for one in numbers if one.text not in words]
    assert not [one for one in numbers if one.deviation is not None and one.deviation not in values]


# A second reading by eye: corners of every table, typed again from the page.
@pytest.mark.parametrize(
    ("table", "row", "column", "text", "deviation"),
    [
        ("nair-table-1", "p=5, n=200", "MRX", "0.532", 0.094),
        ("nair-table-1", "p=10, n=400", "ORMP", "0.265", 0.005),
        ("nair-table-2", "n=50", "MRX", "14.13", 8.07),
        ("nair-table-2", "n=200", "ORMP", "10.13", 7.02),
        ("nair-table-3", "n=200", "QR", "4.51", 0.27),
        ("nair-table-3", "n=350", "ORMP", "4.64", 0.31),
        ("nair-table-4", "Abalone", "QR + AIC n", "164", None),
        ("nair-table-5", "Waveform", "QR + AIC error", "12.6", None),
        ("nair-table-5", "Image", "QR + MDL n", "175", None),
        ("nair-table-6", "digit 9", "QR + MDL n", "700", None),
        ("kmp-table-1", "KMP (half #sv)", "digit 9", "18", None),
        ("kmp-table-2", "train 1024", "SVM #s.v.", "483", None),
        ("kmp-table-3", "Sonar", "KMP-TANH error", "26.6", None),
        ("hagiwara-table-2", "auto", "LASSO", "0.143", 0.018),
        ("hagiwara-table-3", "elevators", "LASSO", "809.2", 297.3),
        ("xu-table-1", "n=10,000, TR2", "Tr-RMSE", "0.010", 0.001),
        ("xu-table-2", "n=5,000, TR4", "Ts-RMSE", "0.049", 0.008),
        ("xu-table-4", "CASP", "SVR k", "1276", None),
    ],
)
def test_corners_of_tables(table, row, column, text, deviation):
    found = next(one for one in published()[table] if (one.row, one.column) == (row, column))
    assert (found.text, found.deviation) == (text, deviation)
