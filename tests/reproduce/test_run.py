"""Runs go on where they stopped, and what goes wrong in one table leaves the others alone."""

from __future__ import annotations

import json

import pytest

from reproduce import run
from reproduce.config import Config, Part
from reproduce.data import DataMissing
from reproduce.experiment import Measured


def config(name="kmp-table-9", settings=None, quick=3, full=5, data=(), variants=None):
    part = Part(settings or {"scale": 2.0}, tuple(data), quick, full)
    return Config(name, "", "", "made:up", "", name, (part,), variants or {}, (), ())


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The calls of an experiment that is run in this process, with journals in a folder of its own."""
    made = []

    def experiment(repetition, *, scale, fail_at=None):
        if repetition == fail_at:
            raise ValueError("that one does not work")
        made.append(repetition)
        return Measured({("a", "b"): scale * repetition}, {"curve": [repetition]}, {"n=1, x": 0.5})

    monkeypatch.setattr(run, "JOURNALS", tmp_path)
    monkeypatch.setattr(run, "function", lambda reference, package: experiment)
    monkeypatch.setattr(run, "_sources", lambda experiment: "v1")
    return made


def go(one, full=False, variant=""):
    return run.run(run.tasks(one, full, variant), jobs=1, progress=False)


class TestResume:
    def test_what_is_done_is_not_done_again(self, calls):
        assert go(config()) == {}
        assert go(config()) == {}
        assert sorted(calls) == [0, 1, 2]

    def test_a_full_run_takes_over_what_a_quick_one_did(self, calls):
        go(config())
        go(config(), full=True)
        assert sorted(calls) == [0, 1, 2, 3, 4]
        assert len(run.outcome(config(), full=False).measured) == 5

    def test_a_line_cut_short_is_run_again(self, calls, tmp_path):
        go(config())
        path = tmp_path / "kmp-table-9.jsonl"
        path.write_text(path.read_text()[:-20])
        assert run.outcome(config(), full=False).missing == 1
        go(config())
        assert sorted(calls) == [0, 1, 2, 2]
        assert [one.cells["a", "b"] for one in run.outcome(config(), full=False).measured] == [0.0, 2.0, 4.0]

    def test_other_settings_are_another_run(self, calls):
        go(config())
        go(config(settings={"scale": 3.0}))
        assert len(calls) == 6
        assert [one.cells["a", "b"] for one in run.outcome(config(), full=False).measured] == [0.0, 2.0, 4.0]

    def test_another_library_is_another_run(self, calls, monkeypatch):
        go(config())
        monkeypatch.setattr(run, "_sources", lambda experiment: "v2")
        assert run.outcome(config(), full=False).missing == 3

    def test_a_variant_has_a_journal_of_its_own(self, calls):
        one = config(variants={"wide": {"why": "", "scale": 7.0}})
        go(one)
        go(one, variant="wide")
        assert [found.cells["a", "b"] for found in run.outcome(one, False, "wide").measured] == [0.0, 7.0, 14.0]
        assert [found.cells["a", "b"] for found in run.outcome(one, False).measured] == [0.0, 2.0, 4.0]

    def test_everything_comes_back_from_the_journal(self, calls, tmp_path):
        go(config(quick=1))
        assert run.outcome(config(quick=1), full=False).measured == [
            Measured({("a", "b"): 0.0}, {"curve": [0]}, {"n=1, x": 0.5})
        ]
        line = json.loads((tmp_path / "kmp-table-9.jsonl").read_text())
        assert {"key", "repetition", "took", "cells", "curves", "seconds"} == line.keys()


class TestProblems:
    def test_a_repetition_that_fails_is_named_and_the_others_run(self, calls):
        bad = config(settings={"scale": 1.0, "fail_at": 1})
        problems = run.run(run.tasks(bad, False) + run.tasks(config("kmp-table-8"), False), jobs=1, progress=False)
        assert problems.keys() == {"kmp-table-9"}
        assert "repetition 1" in problems["kmp-table-9"]
        assert "ValueError: that one does not work" in problems["kmp-table-9"]
        assert sorted(calls) == [0, 0, 1, 2, 2]

    def test_missing_data_are_found_before_anything_of_the_table_runs(self, calls, monkeypatch):
        def load(name):
            raise DataMissing(f"{name}: there is no file")

        monkeypatch.setattr(run, "load", load)
        without = config(data=["boston"])
        problems = run.run(run.tasks(without, False) + run.tasks(config("kmp-table-8"), False), jobs=1, progress=False)
        assert problems == {"kmp-table-9": "boston: there is no file"}
        assert sorted(calls) == [0, 1, 2]

    def test_progress_says_what_is_done_and_left(self, calls, capsys):
        run.run(run.tasks(config(), False), jobs=1)
        said = capsys.readouterr().err
        assert "3 repetitions to run, 0 done before" in said
        assert "3/3" in said
