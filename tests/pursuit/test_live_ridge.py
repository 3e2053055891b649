"""A live fit whose rows no longer tell of some atoms goes on, with a ridge that it reports."""

from dataclasses import replace

import numpy as np

from kernelpursuit import KernelPursuitRegressor


def live_fit():
    X = np.linspace(0, 6, 120)[:, None]
    model = KernelPursuitRegressor(gamma=1.0, max_atoms=12, stop="max").fit(X[:60], np.sin(X[:60, 0]))
    return model.partial_fit(X[60:], np.sin(X[60:, 0]))._live


def test_products_that_rounding_made_indefinite_are_factorised_with_a_ridge():
    fit = live_fit().fit
    assert fit.solved()[0].ridge == 0
    values, turn = np.linalg.eigh(fit.moments.gram)
    values[0] = -1e-9 * values[-1]
    broken = replace(fit, alpha=1e-300, moments=replace(fit.moments, gram=(turn * values) @ turn.T))
    solution, _ = broken.solved()
    assert 0 < solution.ridge <= 1e-6
    assert np.isfinite(solution.b).all()


def test_a_ridge_is_reported(monkeypatch):
    live = live_fit()
    solve = type(live.fit).solved
    monkeypatch.setattr(type(live.fit), "solved", lambda fit: (replace(solve(fit)[0], ridge=1e-8), solve(fit)[1]))
    X = np.linspace(0, 6, 50)[:, None]
    assert "a ridge of 1e-08" in live._solved(replace(live.latest, X=X, y=np.sin(X), weights=None)).model.reason
