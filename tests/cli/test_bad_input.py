"""Whatever is wrong with files and options is said in one sentence, and nothing is written."""

import json
import os

import numpy as np
import pytest
from quick import QUICK

import kernelpursuit
from kernelpursuit.saved.container import TEXT, digest, pack, unpack

FIT = ("fit", "DATA", "-t", "price", "-o", "m.kp", *QUICK)
CV = ("cv", "DATA", "-t", "price", *QUICK)
PREDICT = ("predict", "price.kp", "DATA", "-o", "p.csv")
REPORT = ("report", "price.kp", "--data", "DATA", "-t", "price", "-o", "r.html")
HEAD = "area,rooms,age,price\n"
ROW = "1.0,2.0,3.0,4.0\n"


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A folder with a good table, good models, and much that is wrong."""
    monkeypatch.chdir(tmp_path)
    for name in ("homes.csv", "homes.npy", "homes.npz", "homes.svm", "price.kp", "town.kp", "towns.csv"):
        os.symlink(files / name, name)
    bad = {
        "empty.csv": b"",
        "header.csv": HEAD.encode(),
        "binary.csv": bytes(range(256)) * 40,
        "binary.parquet": bytes(range(256)) * 40,
        "binary.npy": bytes(range(256)) * 40,
        "binary.npz": bytes(range(256)) * 40,
        "binary.svm": bytes(range(256)) * 40,
        "empty.npy": b"",
        "empty.npz": b"",
        "empty.svm": b"",
        "empty.parquet": b"",
        "ragged.csv": (HEAD + ROW * 30 + "1.0,2.0\n" + ROW).encode(),
        "text.csv": (HEAD + ROW * 30 + "1.0,old,3.0,4.0\n" * 40).encode(),
        "late.csv": (HEAD + ROW * 2**17 + "1.0,old,3.0,4.0\n").encode(),
        "nan.csv": (HEAD + ROW * 30 + "1.0,,3.0,4.0\n").encode(),
        "nameless.csv": (ROW * 30).encode(),
        "notes.txt": b"nothing",
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("words", [FIT, CV, PREDICT, REPORT], ids=lambda words: words[0])
def test_bad_data(run, here, words):
    """Each kind of bad file, for each command that reads rows."""
    cases = {
        "missing.csv": "missing.csv is not there",
        "missing.npy": "missing.npy is not there",
        "missing.npz": "missing.npz is not there",
        "missing.svm": "missing.svm is not there",
        "folder": "folder holds no file of rows",
        "empty.csv": "empty.csv",
        "empty.npy": "empty.npy cannot be read",
        "empty.npz": "empty.npz",
        "empty.svm": "empty.svm has no rows",
        "empty.parquet": "empty.parquet cannot be read",
        "header.csv": "no rows",
        "binary.csv": "binary.csv",
        "binary.parquet": "binary.parquet cannot be read",
        "binary.npy": "binary.npy cannot be read: it holds no array of numbers.",
        "binary.npz": "binary.npz cannot be read: it holds no array of numbers.",
        "binary.svm": "binary.svm cannot be read",
        "ragged.csv": "Expected 4 columns, got 2",
        "text.csv": "'rooms' of text.csv holds text",
        "late.csv": "late.csv cannot be read",
        "nan.csv": "NaN",
        "nameless.csv": "nameless.csv has no column",
        "notes.txt": "'.txt'",
    }
    if words is REPORT:
        del cases["nan.csv"]  # what a report makes of such rows is its own matter
    before = set(os.listdir())
    for name, expected in cases.items():
        given = [name if word == "DATA" else word for word in words]
        if name.endswith((".npy", ".svm")) and "-t" in given:
            place = given.index("-t")
            given[place : place + 2] = ["-t", "-1"] if name.endswith(".npy") else []
        ran = run(*given)
        assert ran.code == 1, (name, ran)
        assert expected.lower() in ran.sentence.lower(), name
        assert "Traceback" not in ran.err
        assert ran.out == "", name
        assert set(os.listdir()) == before, name


def test_targets_that_are_not_there(run, here):
    cases = {
        ("homes.csv", "prise"): "homes.csv has no column 'prise'; did you mean 'price'?",
        ("homes.csv", "Price"): "did you mean 'price'?",
        ("homes.csv", "4"): "give a name, or a position from 0 to 3.",
        ("homes.npz", "prise"): "homes.npz has no array 'prise'; it has 'X', 'price'.",
        ("homes.npy", "price"): "give a position, from 0 to 3, for 'price'.",
        ("homes.npy", "4"): "give a position from 0 to 3 for 4.",
        ("homes.svm", "price"): "leave --target and --weights out.",
    }
    for (name, target), expected in cases.items():
        ran = run("fit", name, "-t", target)
        assert ran.code == 1
        assert ran.sentence.startswith("error: ")
        assert ran.sentence.endswith(expected), name
    for name in ("homes.csv", "homes.npy"):
        assert run("fit", name).sentence.startswith("error: --target is missing; ")


def test_bad_models(run, here):
    content = (here / "price.kp").read_bytes()
    text, _, arrays = unpack(content)
    later = json.dumps({**json.loads(text), "format": 99, "library": "9.9"})
    (here / "later.kp").write_bytes(pack(later, arrays))
    assert digest(later, arrays) in (here / "later.kp").read_bytes().decode("latin1")
    assert TEXT.encode() in content
    (here / "truncated.kp").write_bytes(content[: len(content) // 2])
    (here / "damaged.kp").write_bytes(content[:-8] + b"\0\0\0\0\0\0\1\0")
    (here / "empty.kp").write_bytes(b"")
    cases = {
        "later.kp": "'later.kp' is in format 99, written by kernelpursuit 9.9; this one",
        "truncated.kp": "'truncated.kp' is no saved model, or only a part of one",
        "damaged.kp": "'damaged.kp' is damaged",
        "empty.kp": "'empty.kp' is empty.",
        "homes.csv": "'homes.csv' is no saved model",
        "missing.kp": "'missing.kp' does not exist",
        "folder": "'folder' is a folder",
    }
    before = set(os.listdir())
    commands = {
        "info": ["info", "MODEL"],
        "path": ["path", "MODEL", "-o", "s.kp"],
        "predict": ["predict", "MODEL", "homes.csv", "-o", "p.csv"],
        "export": ["export", "MODEL", "-o", "m.py"],
        "report": ["report", "MODEL", "-o", "r.html"],
    }
    for name, expected in cases.items():
        for words in commands.values():
            ran = run(*[name if word == "MODEL" else word for word in words])
            assert (ran.code, ran.out) == (1, "")
            assert expected in ran.sentence
    assert set(os.listdir()) == before


def test_files_that_cannot_be_written(run, here, monkeypatch):
    commands = [
        ("fit", "homes.csv", "-t", "price", *QUICK, "-o"),
        ("predict", "price.kp", "homes.csv", "-o"),
        ("path", "price.kp", "-o"),
        ("export", "price.kp", "-o"),
        ("report", "price.kp", "-o"),
        ("demo", "--save"),
    ]
    for words in commands:
        assert run(*words, "nowhere/m.csv").sentence == (
            "error: the folder 'nowhere' does not exist; make it first, or give another one."
        )
        assert run(*words, "folder").sentence == "error: 'folder' is a folder; give the name of a file in it."
    # The superuser may write everywhere, so that a read-only folder is one that the system says to be.
    monkeypatch.setattr(os, "access", lambda _, mode, **__: mode != os.W_OK)
    for words in commands:
        assert run(*words, "folder/m.csv").sentence == (
            "error: the folder 'folder' is not yours to write to; give another one."
        )
    assert os.listdir("folder") == []


def test_wrong_calls_end_with_2(run, here):
    cases = {
        ("fit",): "kernelpursuit fit: Missing argument",
        ("fit", "homes.csv", "--tarjet", "price"): "kernelpursuit fit: No such option",
        ("fit", "homes.csv", "-t", "price", "--set", "gamma"): "write name=value",
        ("fit", "homes.csv", "-t", "price", "--task", "guess"): "use regression or classification",
        ("fit", "homes.csv", "-t", "price", "--test", "1.5"): "give a share between 0 and 1, or a file",
        ("fit", "homes.csv", "-t", "price", "--seed", "x"): "valid int",
        ("cv", "homes.csv", "-t", "price", "--folds", "1"): "invalid value for '--folds'",
        ("cv", "homes.csv", "-t", "price", "--split", "odd"): "use one of kfold, stratified, group, time",
        ("cv", "homes.csv", "-t", "price", "--split", "group"): "--groups NAME go together",
        ("cv", "homes.csv", "-t", "price", "--split", "time", "--repeats", "2"): "--repeats",
        ("path", "price.kp", "--at", "3", "--select", "loo"): "give one of them",
        ("path", "price.kp", "--small"): "give --out FILE",
        ("predict", "town.kp", "homes.csv", "--proba", "--decision"): "do not go together",
        ("predict", "price.kp", "homes.csv", "--json"): "give --out FILE",
        ("export", "price.kp"): "Missing option",
        ("guess",): "No such command",
    }
    for words, expected in cases.items():
        ran = run(*words)
        assert ran.code == 2, words
        assert ran.out == ""
        assert expected.lower() in ran.sentence.lower(), words


def test_what_the_library_refuses(run, here):
    cases = {
        ("fit", "homes.csv", "-t", "price", "--set", "gama=1"): "no parameter 'gama'",
        ("fit", "homes.csv", "-t", "price", "--set", "gamma=-1"): "gamma=-1",
        ("fit", "homes.csv", "-t", "price", "--set", "kernel=rbff"): "did you mean 'rbf'?",
        ("fit", "homes.csv", "-t", "price", "--drop", "area,rooms,age"): "no column left",
        ("fit", "towns.csv", "-t", "price"): "leave it out by --drop town.",
        (
            "fit",
            "towns.csv",
            "-t",
            "town",
            "--drop",
            "price",
            "--task",
            "regression",
        ): "y holds no numbers; --task classification is for labels.",
        ("predict", "price.kp", "homes.csv", "--proba"): "are for classes",
        ("predict", "town.kp", "homes.csv", "--interval", "0.9"): "predicts classes",
        ("predict", "price.kp", "homes.csv", "--interval", "1.9"): "interval=1.9",
        ("predict", "price.kp", "homes.csv", "--keep", "town"): "no column 'town'",
        ("predict", "price.kp", "homes.csv", "-o", "p.xlsx"): "give a path that ends in",
        ("predict", "price.kp", "homes.npy"): "leave columns out by --drop",
        ("predict", "price.kp", "homes.npz", "--keep", "a"): "no column names",
        ("predict", "price.kp", "homes.csv", "--drop", "price"): "takes its columns by their names",
        ("path", "price.kp", "--at", "99"): "k=99 is not on the path",
        ("path", "price.kp", "--select", "lou"): "did you mean 'loo'?",
        ("export", "price.kp", "-o", "m.exe"): "as in --to onnx",
        ("export", "price.kp", "-o", "m.h", "--key", "id"): "key",
    }
    for words, expected in cases.items():
        ran = run(*words)
        assert (ran.code, ran.out) == (1, ""), words
        assert expected in ran.sentence, words


def test_debug_shows_where_a_failure_comes_from(run, here):
    assert "Traceback" in run("info", "missing.kp", "--debug").err
    assert "Traceback" not in run("info", "missing.kp").err


def test_a_failed_fit_leaves_an_older_model(run, here):
    kernelpursuit.KernelPursuitRegressor(gamma=1.0, max_atoms=2).fit(np.eye(4), np.arange(4.0)).save("m.kp")
    before = (here / "m.kp").read_bytes()
    assert run("fit", "late.csv", "-t", "price", "-o", "m.kp", *QUICK).code == 1
    assert (here / "m.kp").read_bytes() == before


def test_what_is_predicted_is_no_feature(run, here):
    """By name or by position, of tables and of arrays: a model of it would be perfect, and worth nothing."""
    for words, column in [
        (("homes.csv", "-t", "price", "--features", "area,price"), "'price'"),
        (("homes.npy", "-t", "-1", "--features", "0,3"), "3"),
    ]:
        ran = run("fit", *words, *QUICK)
        assert ran.code == 1
        assert f"--features has {column}, which is that of --target; leave it out" in ran.sentence


def test_names_with_commas(run, here):
    """A name that a file has is that column, commas and all."""
    lines = [f"{i},{i % 7},{i % 3},{i * i}" for i in range(40)]
    (here / "commas.csv").write_text("\n".join(['"a,b",c,"d,""e",f', *lines]) + "\n")
    ran = run("fit", "commas.csv", "-t", "a,b", "--drop", 'd,"e', "-o", "m.kp", "--json", *QUICK)
    assert json.loads(ran.out)["feature_names"] == ["c", "f"]
    ran = run("predict", "m.kp", "commas.csv", "--keep", "a,b", "--keep", "c,f")
    assert ran.out.splitlines()[0] == '"a,b","c","f","prediction"'


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "homes.csv", "-t", "price", "-o", "homes.csv"),
        ("fit", "homes.csv", "-t", "price", "--test", "towns.csv", "-o", "towns.csv"),
        ("fit", "table", "-t", "price", "-o", "table/part.csv"),
        ("export", "price.kp", "--to", "c", "-o", "price.kp"),
        ("report", "price.kp", "-o", "price.kp"),
        ("report", "price.kp", "--data", "homes.csv", "-t", "price", "-o", "homes.csv"),
    ],
    ids=lambda words: f"{words[0]}-{words[-1]}",
)
def test_no_file_that_is_read_is_written(run, here, words):
    (here / "table").mkdir()
    (here / "table" / "part.csv").write_bytes((here / "homes.csv").read_bytes())
    before = (here / words[-1]).read_bytes()
    ran = run(*words)
    assert ran.code == 1
    assert ran.sentence.endswith("is a file that is read, and would be lost; give another name to --out.")
    assert (here / words[-1]).read_bytes() == before


def test_a_terminal_is_told_nothing_by_a_file(run, here):
    (here / "escape.csv").write_text("a,b\n1,2\n1,2,\x1b[2J\n")
    ran = run("fit", "escape.csv", "-t", "b")
    assert ran.code == 1
    assert ran.sentence.isprintable()


def test_the_demo_writes_over_nothing(run, here):
    ran = run("demo", "--save", "homes.csv")
    assert ran.code == 1
    assert "is already there; give a new name to --save." in ran.sentence
