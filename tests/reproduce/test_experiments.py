"""The experiments, small: cells are those of the papers, repetitions are reproducible, and draws differ."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reproduce import data
from reproduce.cells import JUDGED, published, values
from reproduce.config import function, named

# Settings that make a repetition of a configuration's first part small.
WITHOUT_DATA = {
    "nair-table-1": {"n_samples": 150, "sizes": [20, 30, 40]},
    "nair-figure-1": {},
    "nair-figure-4": {},
    "zhang-figure-1": {"n_rows": 120, "n_features": 100, "n_steps": 10, "n_runs": 2},
    "zhang-figure-3": {"n_rows": 120, "n_features": 100, "alphas": [0.1, 1.0], "n_terms": 5, "n_runs": 1},
    "xu-table-1": {"n": 200},
    "xu-table-2": {"n": 200},
}
WITH_DATA = {
    "nair-table-2": {"sizes": [50]},
    "nair-table-4": {},
    "nair-table-5": {},
    "nair-figure-3": {},
    "kmp-table-2": {"sigmas": [4.0], "costs": [10.0], "folds": 3, "max_atoms": 20},
    "kmp-table-3": {"costs": [1.0]},
    "xu-table-4": {},
}


def measured(name, repetition=0, **changes):
    config = named(name)
    return function(config.experiment, "experiments")(repetition, **{**config.parts[0].settings, **changes})


def check(name, changes):
    found = measured(name, 1, **changes)
    again = measured(name, 1, **changes)
    assert found.cells == again.cells
    assert all(np.isfinite(value) for value in found.cells.values())
    assert found.cells or found.curves
    # A smaller sample is a row that the paper does not have.
    if not changes.keys() & {"n", "sizes"}:
        rows = {row for row, _ in found.cells}
        numbers = {(one.row, one.column) for one in published().get(name, ()) if one.row in rows and one.kind in JUDGED}
        assert values(name, name, [found]).keys() == numbers
    return found


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_experiments_on_made_up_data(name):
    found = check(name, WITHOUT_DATA[name])
    other = measured(name, 2, **WITHOUT_DATA[name])
    assert found.cells != other.cells or as_text(found.curves) != as_text(other.curves)


def as_text(curves):
    return json.dumps(curves, default=np.ndarray.tolist)


@pytest.mark.parametrize("name", WITH_DATA)
def test_experiments_on_data_sets(name):
    if not data.folder().exists():
        pytest.skip("the data are not here")
    check(name, WITH_DATA[name])


def test_hagiwara_fills_both_tables():
    if not data.folder().exists():
        pytest.skip("the data are not here")
    housing = next(part for part in named("hagiwara-table-2").parts if part.settings["name"] == "housing")
    settings = {**housing.settings, "widths": [40], "penalties": [1e-6, 1e-2], "max_atoms": 20, "sweeps": 100}
    found = function("hagiwara:benchmark", "experiments")(0, **settings)
    for table in ("hagiwara-table-2", "hagiwara-table-3"):
        expected = {(one.row, one.column) for one in published()[table] if one.row == "housing"}
        assert values(table, "hagiwara-table-2", [found]).keys() == expected


def test_termination_rules_are_ordered_as_xu_has_them():
    found = measured("xu-table-1", n=500).cells
    size = {rule: found[f"n=500, {rule}", "k"] for rule in ("PTR", "TR1", "TR2", "TR3", "TR4", "SVR")}
    assert size["TR1"] == 0 < size["TR4"] < size["PTR"] < size["TR2"] < size["SVR"]
    error = {rule: found[f"n=500, {rule}", "Ts-RMSE"] for rule in size}
    assert error["PTR"] < error["TR3"] < error["TR4"] < error["TR1"]


def test_the_noise_of_nairs_function_is_a_fifth_of_its_energy():
    """With this width the kernel of ten inputs is the identity: n atoms take away the n largest targets."""
    found = measured("nair-table-1", p=10, n_samples=1000, sizes=[100, 150, 200]).cells
    left = np.array([found[f"p=10, n={n}", "QR"] for n in (100, 150, 200)]) ** 2
    np.testing.assert_allclose(left, 0.2 * np.array([0.561, 0.443, 0.350]), rtol=0.1)
