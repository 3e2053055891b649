"""What commands compute is what Python computes, bit for bit."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from quick import QUICK
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import KFold, cross_validate, train_test_split

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.rows import open_rows

PARAMETERS = {"gamma": 0.5, "max_atoms": 12, "random_state": 0}


def saved(model, tmp_path):
    model.save(tmp_path / "python.kp")
    return (tmp_path / "python.kp").read_bytes()


def nameless(model):
    """The model as one of arrays."""
    del model.feature_names_in_
    return model


@pytest.mark.parametrize("name", ["homes.csv", "homes.tsv.gz", "homes.parquet", "homes.feather"])
def test_fit_of_a_table(run, files, tmp_path, name):
    assert run("fit", files / name, "-t", "price", "-o", tmp_path / "m.kp", *QUICK).code == 0
    model = KernelPursuitRegressor(**PARAMETERS).fit(open_rows(files / name, "price"))
    assert (tmp_path / "m.kp").read_bytes() == saved(model, tmp_path)


def test_fit_without_settings(run, files, homes, tmp_path, short_plan):
    """Also where something is learned, with a bar that follows the fit."""
    assert run("fit", files / "homes.csv", "-t", "price", "-o", tmp_path / "m.kp").code == 0
    X, y, _ = homes
    model = KernelPursuitRegressor(random_state=0).fit(X, y)
    assert (kernelpursuit.load(tmp_path / "m.kp").predict(files / "homes.csv") == model.predict(X)).all()


@pytest.mark.parametrize(
    ("name", "target"), [("homes.npy", "-1"), ("homes.npy", "3"), ("homes.npz", "price"), ("homes.svm", None)]
)
def test_fit_of_arrays(run, files, homes, tmp_path, name, target):
    words = [] if target is None else ["--target", target]
    assert run("fit", files / name, *words, "-o", tmp_path / "m.kp", *QUICK).code == 0
    X, y = load_svmlight_file(str(files / name)) if target is None else homes[:2]
    assert (tmp_path / "m.kp").read_bytes() == saved(KernelPursuitRegressor(**PARAMETERS).fit(X, y), tmp_path)


def test_rows_held_out_are_those_of_scikit_learn(run, files, homes, tmp_path):
    ran = run(
        "fit",
        files / "homes.csv",
        "-t",
        "price",
        "--test",
        "0.25",
        "-o",
        tmp_path / "m.kp",
        *QUICK,
        "--seed",
        7,
        "--json",
    )
    X, y, _ = homes
    train, test = map(np.sort, train_test_split(np.arange(len(X)), test_size=0.25, random_state=7))
    model = KernelPursuitRegressor(**{**PARAMETERS, "random_state": 7}).fit(X[train], y[train])
    assert (kernelpursuit.load(tmp_path / "m.kp").model_.coef == model.model_.coef).all()
    assert ran.json["test"]["rmse"] == np.sqrt(np.mean(np.square(model.predict(X[test]) - y[test])))
    assert ran.json["test"]["r2"] == model.score(X[test], y[test])
    assert (ran.json["n_rows"], ran.json["n_atoms"]) == (len(train), model.n_atoms_)


def test_rows_held_out_in_another_file(run, files, homes):
    ran = run("fit", files / "homes.csv", "-t", "price", "--test", files / "homes.parquet", *QUICK, "--json")
    X, y, _ = homes
    assert ran.json["test"]["r2"] == KernelPursuitRegressor(**PARAMETERS).fit(X, y).score(X, y)


def test_classes(run, files, homes, tmp_path):
    words = ["fit", files / "towns.csv", "-t", "town", "--drop", "price", "-o", tmp_path / "m.kp", "--json"]
    ran = run(*words, *QUICK, "--test", files / "towns.csv")
    X, _, town = homes
    model = KernelPursuitClassifier(**PARAMETERS).fit(X, town)
    assert ran.json["classes"] == model.classes_.tolist() == ["dear", "fair", "low"]
    assert ran.json["test"]["accuracy"] == model.score(X, town)
    shares = kernelpursuit.load(tmp_path / "m.kp").predict_proba(files / "homes.csv")
    assert (shares == model.predict_proba(X)).all()


def test_weights_are_those_of_a_column(run, files, homes, tmp_path):
    words = [
        "fit",
        files / "homes.csv",
        "-t",
        "price",
        "--weights",
        "age",
        "--features",
        "area,rooms",
        "-o",
        tmp_path / "m.kp",
    ]
    assert run(*words, *QUICK).code == 1  # some are negative
    path = tmp_path / "weighted.csv"
    table = csv.read_csv(files / "homes.csv")
    csv.write_csv(table.set_column(2, "age", [np.abs(table["age"].to_numpy())]), path)
    assert run(words[0], path, *words[2:], *QUICK).code == 0
    model = KernelPursuitRegressor(**PARAMETERS).fit(open_rows(path, "price", "age", features=["area", "rooms"]))
    assert (tmp_path / "m.kp").read_bytes() == saved(model, tmp_path)


def test_predictions(run, files, homes, tmp_path):
    X, _, _ = homes
    price, town = (nameless(kernelpursuit.load(files / f"{name}.kp")) for name in ("price", "town"))
    cases = {
        (): [price.predict(X)],
        ("--interval", "0.8"): price.predict(X, interval=0.8),
        ("--interval", "0.8", "--std"): price.predict(X, return_std=True, interval=0.8),
        ("--proba",): town.predict_proba(X).T,
        ("--decision",): town.decision_function(X).T,
        ("--set-coverage", "0.9"): town.predict_set(X, coverage=0.9).T,
    }
    for words, expected in cases.items():
        model = "town.kp" if words and words[0] in ("--proba", "--decision", "--set-coverage") else "price.kp"
        out = tmp_path / "out.parquet"
        assert run("predict", files / model, files / "towns.csv", "-o", out, "--keep", "town", *words).code == 0, words
        kept, *found = (column.to_numpy() for column in pq.read_table(out).columns)
        assert kept.tolist() == homes[2].tolist()
        assert len(found) == len(expected), words
        assert all((one == other).all() for one, other in zip(found, expected)), words


@pytest.mark.parametrize("name", ["homes.npz", "homes.svm", "homes.npy"])
def test_predictions_of_arrays(run, files, homes, tmp_path, name):
    words = ["--drop", "3"] if name == "homes.npy" else []
    assert run("predict", files / "price.kp", files / name, *words, "-o", tmp_path / "p.npy").code == 0
    X = load_svmlight_file(str(files / name))[0] if name == "homes.svm" else homes[0]
    model = nameless(kernelpursuit.load(files / "price.kp"))
    assert (np.load(tmp_path / "p.npy") == model.predict(X)).all()


def test_predictions_on_stdout_are_those_of_a_file(run, files, tmp_path):
    words = ["predict", files / "price.kp", files / "homes.csv", "--keep", "area,price"]
    ran = run(*words)
    assert (ran.code, ran.err) == (0, "")
    run(*words, "-o", tmp_path / "p.csv")
    assert ran.out.encode() == (tmp_path / "p.csv").read_bytes()


def test_cross_validation_is_that_of_scikit_learn(run, files, homes):
    ran = run("cv", files / "homes.csv", "-t", "price", "--folds", 3, "--seed", 2, *QUICK, "--json")
    X, y, _ = homes
    model = KernelPursuitRegressor(**{**PARAMETERS, "random_state": 2})
    folds = KFold(3, shuffle=True, random_state=2)
    expected = cross_validate(model, X, y, cv=folds, scoring=("neg_root_mean_squared_error", "r2"))
    assert ran.json["folds"]["r2"] == expected["test_r2"].tolist()
    assert ran.json["folds"]["rmse"] == (-expected["test_neg_root_mean_squared_error"]).tolist()
    assert ran.json["standard_error"]["r2"] == np.std(expected["test_r2"], ddof=1) / np.sqrt(3)


def test_smaller_models(run, files, tmp_path):
    model = kernelpursuit.load(files / "price.kp")
    cases = {
        ("--at", "4"): model.at(4),
        ("--select", "one-se"): model.select("one-se"),
        ("--at", "3", "--small"): model.at(3, keep_path=False),
    }
    for words, expected in cases.items():
        assert run("path", files / "price.kp", *words, "-o", tmp_path / "s.kp").code == 0
        assert (tmp_path / "s.kp").read_bytes() == saved(expected, tmp_path), words
