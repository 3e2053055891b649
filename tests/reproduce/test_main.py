"""The command line, from a name to a report."""

from __future__ import annotations

import pytest

from reproduce import data, results, run
from reproduce.__main__ import main
from reproduce.cells import Cell


@pytest.fixture(autouse=True)
def _small(tmp_path, monkeypatch):
    """Journals in a folder of their own, and three repetitions of anything."""
    all_tasks = run._tasks
    monkeypatch.setattr(run, "_tasks", lambda *arguments: all_tasks(*arguments)[:3])
    monkeypatch.setattr(run, "JOURNALS", tmp_path / "journals")


def test_one_figure_makes_its_cells_its_picture_and_the_pages(tmp_path, capsys):
    before = results.read(Cell)
    assert main(["nair-figure-4", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert [(cell.table, cell.column) for cell in results.read(Cell, tmp_path)] == [
        ("nair-figure-4", "RMSE"),
        ("nair-figure-4", "n"),
    ]
    assert (tmp_path / "images" / "nair-figure-4.svg").read_text().startswith("<?xml")
    assert "0.0315 / " in (tmp_path / "nair.md").read_text()
    assert "nair-figure-4" in capsys.readouterr().out
    assert results.read(Cell) == before


def test_variants_are_counted_beside_what_was_chosen(tmp_path):
    main(["nair-figure-4", "--jobs", "1", "--out", str(tmp_path)])
    assert main(["nair-figure-4", "--variants", "--jobs", "1", "--out", str(tmp_path)]) == 0
    found = results.read(results.VariantCount, tmp_path)
    assert found
    assert all(line.cells == 2 for line in found)
    assert "other reading" in (tmp_path / "nair.md").read_text()


def test_tables_whose_data_are_missing_say_so_and_the_others_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(data.VARIABLE, str(tmp_path / "nowhere"))
    monkeypatch.setattr(data, "fetch_openml", _no_network)
    data._checked_table.cache_clear()
    assert main(["nair-figure-3", "nair-figure-4", "--jobs", "1", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "nair-figure-3: ripley_t" in said
    assert "3 repetitions to run, 0 done before" in said
    assert str(tmp_path / "nowhere") in said
    assert {cell.table for cell in results.read(Cell, tmp_path)} == {"nair-figure-4"}
    data._checked_table.cache_clear()


def _no_network(*_, **__):
    raise OSError("no network")


def test_an_unfinished_run_leaves_the_report_as_it_was(tmp_path, capsys):
    main(["nair-figure-4", "--jobs", "1", "--out", str(tmp_path)])
    before = (tmp_path / "cells.csv").read_text()
    journal = tmp_path / "journals" / "nair-figure-4.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:1]))
    assert main(["nair-figure-4", "--report", "--out", str(tmp_path)]) == 1
    assert "nair-figure-4: 2 of 3 repetitions are not done" in capsys.readouterr().err
    assert (tmp_path / "cells.csv").read_text() == before


def test_an_interrupted_run_says_what_becomes_of_it(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    assert main(["nair-figure-4"]) == 130
    assert "What was done is kept; run again to go on." in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--jobs", "--at-most"])
@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_a_wrong_number_is_refused(option, number, capsys):
    with pytest.raises(SystemExit):
        main([option, number])
    assert f"'{number}' is not a number of repetitions" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--full", "--variants"], ["--full", "--report"], ["--at-most", "3", "--report"]])
def test_options_that_would_do_nothing_are_refused(options, capsys):
    with pytest.raises(SystemExit):
        main(options)
    assert "is about a run" in capsys.readouterr().err


def test_an_unknown_name_is_refused(capsys):
    assert main(["nair-table-99"]) == 2
    assert "No table or figure is called 'nair-table-99'" in capsys.readouterr().err


def test_names_can_be_listed(capsys):
    assert main(["--list"]) == 0
    assert "xu-table-4" in capsys.readouterr().out
