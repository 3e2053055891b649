"""Rows given twice, where nothing penalises a second copy of an atom."""

import numpy as np
import pytest
from plain import plain_regressor

from kernelpursuit import presets
from kernelpursuit.data import make_friedman

SYSTEMS = (presets.greedy_qr, presets.greedy_qr_exchange, presets.mrx, presets.ormp, presets.kmp_backfit)


@pytest.mark.parametrize("preset", SYSTEMS, ids=lambda preset: preset.name)
def test_copies_of_all_rows_change_no_model(preset):
    X, y = make_friedman(200)
    once = preset(gamma=0.5, max_atoms=30).fit(X, y)
    twice = preset(gamma=0.5, max_atoms=30).fit(np.vstack([X, X]), np.r_[y, y])
    assert twice.n_atoms_ == once.n_atoms_ == 30
    np.testing.assert_array_equal(twice.path_.atom % 200, once.path_.atom)
    np.testing.assert_allclose(twice.predict(X), once.predict(X), atol=1e-8)


def test_a_watched_condition_number_still_ends_the_fit():
    """An atom that is dependent without being a copy ends it, as the paper has it."""
    X = np.linspace(0, 1, 60)[:, None]
    X = np.vstack([X, X[:5]])
    model = presets.greedy_qr(gamma=0.1, max_atoms=60).fit(X, np.sin(5 * X[:, 0]))
    assert "reciprocal condition number" in model.stop_reason_
    assert model.n_atoms_ < 30


@pytest.mark.parametrize(
    "settings",
    [
        {"penalty": "ols", "selection": "random", "alpha": 5e-9, "fit_intercept": False, "random_state": 2},
        {"penalty": "ols", "selection": "gain", "alpha": 5e-9},
        {"penalty": None, "selection": "residual", "exchange": True},
        {"penalty": "rkhs", "selection": "residual", "exchange": True},
    ],
)
def test_an_atom_that_is_zero_everywhere(settings):
    X = np.arange(-3.0, 4.0).repeat(3)[:, None]
    y = np.random.default_rng(0).normal(size=21)
    model = plain_regressor(kernel="linear", gamma=1.0, stop="max", **settings).fit(X, y)
    # A straight line by least squares, with n alpha slope² added where the penalty is the norm of the function.
    x, mean = X[:, 0], y.mean() if model.fit_intercept else 0.0
    slope = x @ (y - mean) / (x @ x + (21 * model.alpha_ if settings["penalty"] == "rkhs" else 0.0))
    np.testing.assert_allclose(model.predict(X), mean + slope * x, atol=1e-8)
    assert settings["selection"] == "random" or (X[model.center_indices_] != 0).all()
