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


def go(one, full=False):
    return run.run(run.tasks(one, full), jobs=1, progress=False)


def cells(one, full=False):
    return [found.cells["a", "b"] for found in run.done(run.tasks(one, full))]


class TestResume:
    def test_what_is_done_is_not_done_again(self, calls):
        assert go(config()) == {}
        assert go(config()) == {}
        assert sorted(calls) == [0, 1, 2]

    def test_a_full_run_takes_over_what_a_quick_one_did(self, calls):
        go(config())
        go(config(), full=True)
        assert sorted(calls) == [0, 1, 2, 3, 4]
        assert cells(config(), full=True) == [0.0, 2.0, 4.0, 6.0, 8.0]

    def test_a_line_cut_short_is_run_again(self, calls, tmp_path):
        go(config())
        path = tmp_path / "kmp-table-9.jsonl"
        path.write_text(path.read_text()[:-20])
        assert cells(config()) == [0.0, 2.0]
        go(config())
        assert sorted(calls) == [0, 1, 2, 2]
        assert cells(config()) == [0.0, 2.0, 4.0]

    def test_other_settings_are_another_run(self, calls):
        go(config())
        go(config(settings={"scale": 3.0}))
        assert len(calls) == 6
        assert cells(config()) == [0.0, 2.0, 4.0]

    def test_another_library_is_another_run(self, calls, monkeypatch):
        go(config())
        monkeypatch.setattr(run, "_sources", lambda experiment: "v2")
        assert cells(config()) == []

    def test_other_data_are_another_run(self, calls, monkeypatch):
        monkeypatch.setattr(run, "load", lambda name: None)
        monkeypatch.setattr(run, "known", lambda: {"boston": {"sha256": "one"}})
        go(config(data=["boston"]))
        assert cells(config(data=["boston"])) == [0.0, 2.0, 4.0]
        monkeypatch.setattr(run, "known", lambda: {"boston": {"sha256": "two"}})
        assert cells(config(data=["boston"])) == []

    def test_no_more_are_run_than_asked_for(self, calls):
        run.run(run.tasks(config(), full=True, at_most=4), jobs=1, progress=False)
        assert sorted(calls) == [0, 1, 2, 3]

    def test_a_variant_has_a_journal_of_its_own(self, calls):
        one = config(variants={"wide": {"why": "", "scale": 7.0}})
        theirs, chosen = run.variant_tasks(one, "wide", at_most=2)
        run.run([*theirs, *chosen], jobs=1, progress=False)
        assert [found.cells["a", "b"] for found in run.done(theirs)] == [0.0, 7.0]
        assert [found.cells["a", "b"] for found in run.done(chosen)] == [0.0, 2.0]

    def test_a_variant_may_be_about_some_parts_only(self):
        parts = tuple(Part({"scale": scale}, (), 1, 1) for scale in (1.0, 2.0))
        given = {"wide": {"why": "", "offset": 7.0, "only": {"scale": [2.0]}}}
        one = Config("kmp-table-9", "", "", "made:up", "", "kmp-table-9", parts, given, (), ())
        theirs, chosen = run.variant_tasks(one, "wide")
        assert [task.part.settings for task in theirs] == [{"scale": 2.0, "offset": 7.0}]
        assert [task.part.settings for task in chosen] == [{"scale": 2.0}]

    def test_everything_comes_back_from_the_journal(self, calls, tmp_path):
        go(config(quick=1))
        expected = Measured({("a", "b"): 0.0}, {"curve": [0]}, {"n=1, x": 0.5})
        assert run.done(run.tasks(config(quick=1), False)) == [expected]
        line = json.loads((tmp_path / "kmp-table-9.jsonl").read_text())
        assert {"key", "repetition", "took", "cells", "curves", "seconds"} == line.keys()


def test_the_key_knows_the_experiment_the_loader_and_the_library(monkeypatch):
    """A change of any of these files is a change of the key; of another experiment it is not."""
    read = []

    class Watched(type(run.HERE)):
        def read_bytes(self):
            read.append(self.name)
            return b""

    monkeypatch.setattr(run, "HERE", Watched(run.HERE))
    monkeypatch.setattr(run, "Path", Watched)
    run._sources.__wrapped__("xu:real")
    assert {"xu.py", "data.py", "engine.py", "module.cpp"} <= set(read) | {"module.cpp"}
    assert any(name.endswith(".cpp") for name in read)
    assert "nair.py" not in read


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

    def test_splits_are_looked_at_too(self, calls, monkeypatch):
        def load_splits(name):
            raise DataMissing(f"{name}: no splits")

        monkeypatch.setattr(run, "load", lambda name: None)
        monkeypatch.setattr(run, "load_splits", load_splits)
        assert go(config(data=["ida_banana"])) == {"kmp-table-9": "ida_banana: no splits"}

    def test_a_line_of_something_else_is_passed_over(self, calls, tmp_path):
        (tmp_path / "kmp-table-9.jsonl").write_bytes(b'{"foo": 1}\n12\n\xff\n')
        go(config())
        assert cells(config()) == [0.0, 2.0, 4.0]

    def test_progress_says_what_is_done_and_left(self, calls, capsys):
        run.run(run.tasks(config(), False), jobs=1)
        said = capsys.readouterr().err
        assert "3 repetitions to run, 0 done before" in said
        assert "3/3" in said
