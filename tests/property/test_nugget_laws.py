"""What a nugget hides where several atoms have their centre at one row."""

import numpy as np
import pytest

from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import widths

ALPHA, WIDTHS, N = 0.3, (0.3, 3.0), 25


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_two_atoms_at_one_row(selection, weighted):
    """Residuals and leave-one-out errors are those of the function that predicts, which has no nugget.

    The residuals of the columns that have one are beside them.
    """
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(N, 2)), rng.normal(size=N)
    weights = rng.choice([0.5, 1.0, 3.0], size=N) if weighted else np.ones(N)
    settings = {"penalty": "nugget", "alpha": ALPHA, "selection": selection, "candidates": "all", "max_atoms": 18}
    path = pursuit_path(X, y, kernel=widths("rbf", WIDTHS), sample_weight=weights, **settings)
    k = path.n_steps
    atoms = path.atoms(k)
    rows = atoms % N  # atoms are numbered width by width
    assert len(set(rows)) < len(atoms), "some row must have two atoms for this to test anything"
    distances = np.square(X[:, None] - X).sum(axis=-1)
    function = np.hstack([np.exp(-gamma * distances) for gamma in WIDTHS])[:, atoms]
    fitted = function.copy()
    fitted[rows, np.arange(len(atoms))] += ALPHA

    def solve(s):
        return np.linalg.lstsq(np.sqrt(s)[:, None] * fitted, np.sqrt(s) * y, rcond=None)[0]

    residual = y - function @ solve(weights)
    assert path.target_residual[k, 0] == pytest.approx(weights @ residual**2, rel=1e-8)
    assert path.column_residual[k, 0] == pytest.approx(weights @ (y - fitted @ solve(weights)) ** 2, rel=1e-8)
    errors = np.empty(N)
    for i in range(N):
        without = weights.copy()
        without[i] -= min(1.0, weights[i])
        errors[i] = (y[i] - function[i] @ solve(without)) ** 2
    assert path.loo[k] == pytest.approx(np.average(errors, weights=weights), rel=1e-6)
