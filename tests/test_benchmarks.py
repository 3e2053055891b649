"""Benchmarks run on a tiny case, and the page of the five papers has the figures of its results."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MARKS = ("numbers", "classes", "sets")


@pytest.fixture
def five_papers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("five_papers")


@pytest.fixture
def page(five_papers):
    return importlib.import_module("five_papers_page")


def test_a_run_of_two_small_sets_fills_the_page(five_papers, page, tmp_path, monkeypatch):
    monkeypatch.setattr(five_papers, "n_splits", lambda name: 2 if name == "diabetes" else 1)
    monkeypatch.setattr(five_papers, "MOST_ATOMS", 10)
    monkeypatch.setattr(five_papers, "GRID_ROWS", 60)
    results = tmp_path / "results.csv"
    systems = ["default", "greedy_qr", "tcr", "kernel ridge", "SVM"]
    assert five_papers.run(["diabetes", "iris"], systems, learned=False, again=[], path=results)
    five_papers.write_results(results)
    found = five_papers.read_results(results)
    # tcr and kernel ridge are for numbers only.
    assert len(found) == 2 * len(systems) + len(systems) - 2
    assert all(0 <= float(one["error"]) < 1.5 and float(one["cpu_seconds"]) > 0 for one in found.values())

    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "PICTURE", tmp_path / "picture.png")
    page.PAGE.write_text("\n".join(f"<!-- {mark}: begin -->\n<!-- {mark}: end -->" for mark in MARKS))
    page.write_page(found)
    text = page.PAGE.read_text()
    assert "| `tcr` | Hagiwara |" in text
    assert page.PICTURE.stat().st_size > 0


def test_a_run_does_what_is_not_there(five_papers, tmp_path, monkeypatch):
    monkeypatch.setattr(five_papers, "n_splits", lambda name: 1)
    results = tmp_path / "results.csv"
    for again, n_lines in (([], 2), ([], 2), (["SVM"], 3)):
        assert five_papers.run(["iris"], ["SVM"], learned=False, again=again, path=results)
        assert len(results.read_text().splitlines()) == n_lines
    five_papers.write_results(results)
    assert len(results.read_text().splitlines()) == 2


def test_the_second_variant_asks_for_learned_scales(five_papers):
    fits = five_papers.fits_for("diabetes", learned=True)
    assert {variant for _, variant in fits} == {"learned"}
    split = five_papers.split_of("diabetes", 0)
    assert five_papers.unfitted("rfs", split, gamma="learn").gamma == "learn"


def test_the_page_has_the_figures_of_its_results(five_papers, page):
    results = page.Results(five_papers.read_results())
    text = page.PAGE.read_text()
    for kind in page.KINDS:
        assert page.summary(results, kind) in text
    assert page.whole_tables(results) in text
