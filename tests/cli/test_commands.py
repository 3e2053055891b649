"""What commands show and write, beside what they compute."""

import json

import numpy as np
import pytest
from quick import NAMES, QUICK

import kernelpursuit
from kernelpursuit.cli import settings
from kernelpursuit.cli.task import decide


def test_fit_shows_a_table(run, files, tmp_path):
    ran = run("fit", files / "homes.csv", "-t", "price", "--test", "0.2", "-o", tmp_path / "m.kp", *QUICK)
    assert ran.err.startswith("regression, since 'price' holds numbers that are not whole; for the other: --task")
    for word in ("128, 3 features", "RMSE", "12 of a path of 12", "m.kp, ", "RBF(), gamma=0.5"):
        assert word in ran.out, word
    assert run("fit", files / "homes.csv", "-t", "price", "-q", *QUICK).err == ""
    assert "not written; give --out FILE" in run("fit", files / "homes.csv", "-t", "-1", *QUICK).out


def test_task_is_decided_by_the_target():
    generator = np.random.default_rng(0)
    cases = {
        "regression": [
            generator.normal(size=100),
            np.arange(100.0),
            generator.integers(0, 5, 12),
            np.zeros(50),
            generator.normal(size=(40, 2)),
            np.full(20, np.nan),
        ],
        "classification": [
            np.array(["a", "b"] * 10, dtype=object),
            np.array([True, False] * 10),
            generator.integers(0, 5, 100),
            np.array([-1.0, 1.0, np.nan] * 10),
        ],
    }
    for task, targets in cases.items():
        for y in targets:
            assert decide(y[:, None] if y.ndim == 1 else y, "y").name == task, y


def test_task_can_be_said(run, files, tmp_path):
    table = "x,y\n" + "".join(f"{i / 7},{i % 3}\n" for i in range(60))
    (tmp_path / "counts.csv").write_text(table)
    words = ["fit", tmp_path / "counts.csv", "-t", "y", "--json", *QUICK]
    decided, said = run(*words), run(*words, "--task", "regression")
    assert decided.json["classes"] == [0, 1, 2]
    assert decided.err.startswith("classification, since 'y' holds 3 different whole numbers")
    assert (said.json["classes"], said.err) == (None, "")


def test_warnings_and_a_time_limit(run, files):
    """What the library warns of is a line of the log; a fit that was cut short says so."""
    ran = run("fit", files / "homes.csv", "-t", "price", "--time-limit", "1e-9", *QUICK, "--json")
    assert "TimeLimit" in ran.json["stop_reason"]
    ran = run("fit", files / "homes.csv", "-t", "price", "--time-limit", "0", *QUICK)
    assert (ran.code, ran.sentence) == (1, "error: seconds=0.0 is too small; give a number above 0.")


def test_settings_are_literals_or_words(run, files, tmp_path):
    words = ["--set", "gamma=[0.5, 1, 0.25]", "--set", "stop=one-se", "--set", "max_atoms = 9", "--set", "penalty=None"]
    assert run("fit", files / "homes.csv", "-t", "price", *words, "-o", tmp_path / "m.kp").code == 0
    known = run("info", tmp_path / "m.kp", "--json").json["parameters"]
    assert known == {"gamma": [0.5, 1, 0.25], "stop": "one-se", "max_atoms": 9, "penalty": None, "random_state": 0}


def test_path_shows_sizes(run, files):
    ran = run("path", files / "price.kp")
    assert "leave-one-out RMSE" in ran.out
    model = kernelpursuit.load(files / "price.kp")
    assert model.stop_reason_ in ran.out
    known = run("path", files / "price.kp", "--select", "one-se", "--json").json
    assert known["kept"] == model.select("one-se").n_atoms_
    assert known["path"]["loo"] == model.path_.loo.tolist()
    assert known["path"]["rcond"][0] is None
    classes = run("path", files / "town.kp", "--all").out
    assert "leave-one-out wrong classes" in classes
    assert all(f"│    {k:>2} │" in classes or f" {k} │" in classes for k in range(13))


def test_path_of_many_sizes_shows_some(run, files, homes, tmp_path):
    model = kernelpursuit.KernelPursuitRegressor(gamma=0.5, max_atoms=80, stop="max").fit(*homes[:2])
    model.at(33).save(tmp_path / "m.kp")
    few, every = (run("path", tmp_path / "m.kp", *words).out.splitlines() for words in ([], ["--all"]))
    assert len(few) < 30 < 80 < len(every)
    assert any(line.startswith("│    33 ") for line in few)


def test_info(run, files, homes):
    ran = run("info", files / "town.kp")
    for word in ("KernelPursuitClassifier", "3: area, rooms, age", "3 classes: dear, fair, low", "RBF(), gamma=0.5"):
        assert word in ran.out, word
    known = run("info", files / "town.kp", "--json").json
    assert (known["feature_names"], known["classes"]) == (NAMES, ["dear", "fair", "low"])
    assert known["format"] == 1


def test_info_of_a_model_with_functions_of_its_own(run, homes, tmp_path):
    def product(X, C):
        return X @ C.T

    model = kernelpursuit.KernelPursuitRegressor(kernel=product, max_atoms=3).fit(*homes[:2])
    with pytest.warns(UserWarning, match="your own"):
        model.save(tmp_path / "own.kp")
    ran = run("info", tmp_path / "own.kp")
    assert ran.code == 0
    assert "'product' (a function), to be loaded in Python" in ran.out
    assert "needs 'product'" in run("predict", tmp_path / "own.kp", tmp_path / "x.csv").sentence


def test_predictions_are_counted(run, files, tmp_path):
    ran = run("predict", files / "price.kp", files / "homes.csv", "-o", tmp_path / "p.csv", "--json")
    assert (ran.json["n_rows"], ran.json["out"]) == (160, str(tmp_path / "p.csv"))
    assert "160" in run("predict", files / "price.kp", files / "homes.csv", "-o", tmp_path / "p.csv").out


def test_exports(run, files, homes, tmp_path):
    model = kernelpursuit.load(files / "price.kp")
    cases = {
        ("m.h", "--dtype", "float32", "--quantise"): {"dtype": "float32", "quantise": True},
        ("m.py", "--interval", "0.9"): {"interval": 0.9},
        ("m.sql", "--table", "homes", "--key", "id", "--dialect", "sqlite"): {
            "table": "homes",
            "key": "id",
            "dialect": "sqlite",
        },
        ("m.txt", "--to", "javascript"): {"to": "javascript"},
    }
    (tmp_path / "python").mkdir()
    for (name, *words), options in cases.items():
        ran = run("export", files / "price.kp", "-o", tmp_path / name, *words, "--json")
        made = model.export(tmp_path / "python" / name, **options)
        assert (tmp_path / name).read_bytes() == made.path.read_bytes(), name
        assert ran.json["n_bytes"] == made.n_bytes
    assert "multiply-adds" in run("export", files / "price.kp", "-o", tmp_path / "m.js").out


def test_report(run, files, tmp_path):
    words = ["report", files / "price.kp", "-o", tmp_path / "r.html", "--title", "Homes"]
    assert run(*words).code == 0
    assert "Homes" in (tmp_path / "r.html").read_text()
    ran = run(*words, "--data", files / "homes.csv", "-t", "price", "--json")
    assert (ran.code, ran.json["n_rows"]) == (0, 160)
    assert run(*words, "-t", "price").code == 2


def test_cross_validation(run, files):
    ran = run("cv", files / "towns.csv", "-t", "town", "--drop", "price", "--folds", 2, "--repeats", 2, *QUICK)
    for word in ("classification of town, 160 rows", "accuracy", "log loss", "standard error"):
        assert word in ran.out
    words = ["cv", files / "towns.csv", "-t", "price", *QUICK, "--json", "--folds", 2]
    by_group = run(*words, "--groups", "town").json
    assert by_group["split"] == "group"
    assert run(*words, "--drop", "town", "--split", "time").json["split"] == "time"


def test_demo_writes_rows_to_try_commands_on(run, tmp_path):
    ran = run("demo", "--save", tmp_path / "waves.csv")
    command = f"kernelpursuit fit {tmp_path / 'waves.csv'} --target y --test 0.25 -o m.kp"
    assert command in ran.out.replace("\n", " ").replace("  ", " "), "lines are folded at the width of the screen"
    from kernelpursuit.data import make_waves

    written = np.loadtxt(tmp_path / "waves.csv", delimiter=",", skiprows=1)
    assert (written == np.column_stack(make_waves())).all()


def test_demo(run, monkeypatch):
    """Its settings are the defaults, for which the test has no time."""
    whole = settings.estimator_for
    monkeypatch.setattr(settings, "estimator_for", lambda *given: whole(*given[:2], {"gamma": "scale", "max_atoms": 9}))
    fits = json.loads(run("demo", "--json").out)["fits"]
    assert [one["data"] for one in fits] == ["chirp", "waves", "breast cancer, two classes"]
    assert all(one["atoms"] <= 9 and one["error"] < 2 for one in fits)
