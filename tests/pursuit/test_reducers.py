"""Criteria of every size from blocks of rows, each against its formula with the hat matrix of every model."""

import functools
import operator
import pickle

import numpy as np
import pytest

from kernelpursuit.pursuit.measure import classes_of, inverse_temperature, score_gaps
from kernelpursuit.pursuit.reducers import (
    LEVELS,
    Freedom,
    LeaveOneOutError,
    LeaveOneOutQuantiles,
    LeaveOneOutWrong,
    Residuals,
    ScoreCalibration,
    Sizes,
    ValidationError,
    ValidationWrong,
    calibration_rows,
    conformal_quantiles,
    looked_at,
)
from kernelpursuit.pursuit.reducers.classes import are_wrong
from kernelpursuit.rows import ArraySource

N_ROWS, N_ATOMS, PENALTY = 60, 5, 0.3


@pytest.fixture(params=[(False, 1, 1), (True, 2, 2), (False, 0, 1), (True, 0, 3)], ids=str)
def problem(request, rng):
    """Rows as a source, directions of columns on them, coefficients, and the models written out."""
    weighted, n_fixed, n_targets = request.param
    D, y = rng.normal(size=(n_fixed + N_ATOMS, N_ROWS)), rng.normal(size=(N_ROWS, n_targets))
    w = rng.uniform(0.3, 3, size=N_ROWS) if weighted else None
    root = np.ones(N_ROWS) if w is None else np.sqrt(w)
    own = np.repeat([0.0, PENALTY], [n_fixed, N_ATOMS])
    R = np.linalg.cholesky((D * root) @ (D * root).T + np.diag(own)).T
    V = np.linalg.solve(R.T, D)
    return Written(ArraySource(D.T, y, w), V, (V * root) @ (root[:, None] * y), D * root, y, root, own, n_fixed)


class Written:
    """Models of every size by their hat matrices."""

    def __init__(self, source, V, b, D, y, root, own, n_fixed):
        self.source, self.V, self.b, self.n_fixed, self.y, self.root = source, V, b, n_fixed, y, root
        self.weights = root**2
        self.hats = [
            D[:m].T @ np.linalg.solve(D[:m] @ D[:m].T + np.diag(own[:m]), D[:m]) if m else np.zeros((N_ROWS, N_ROWS))
            for m in range(n_fixed, n_fixed + N_ATOMS + 1)
        ]
        self.residual = [(np.eye(N_ROWS) - hat) @ (root[:, None] * y) for hat in self.hats]

    def blocks(self, size):
        for block in self.source.blocks(size):
            V = self.V[:, block.numbers].copy()
            yield Sizes.of(block, V, self.b, self.n_fixed)

    def errors(self, k):
        """Leave-one-out errors, not weighted: one unit of weight is left out, or all of it where that is less."""
        left = 1 - np.diagonal(self.hats[k]) / np.maximum(self.weights, 1)
        return self.residual[k] / left[:, None] / self.root[:, None]


def results(problem, reducer):
    """What a reducer comes to by blocks of several sizes, in any order, and put together anywhere."""
    for size in (60, 13, 1):
        yield functools.reduce(
            lambda total, block: total + total.of_block(block), problem.blocks(size), reducer
        ).result()
        parts = [reducer.of_block(block) for block in problem.blocks(size)]
        yield functools.reduce(operator.add, pickle.loads(pickle.dumps(parts[::-1]))).result()


class TestReducers:
    def test_residuals(self, problem):
        for found in results(problem, Residuals()):
            squares = [(residual**2).sum(axis=0) for residual in problem.residual]
            np.testing.assert_allclose(found["target_residual"], squares, rtol=1e-10)
            np.testing.assert_allclose(
                found["residual_norm"], [np.linalg.norm(r) for r in problem.residual], rtol=1e-10
            )

    def test_degrees_of_freedom(self, problem):
        for found in results(problem, Freedom()):
            np.testing.assert_allclose(found["dof"], [np.trace(hat) for hat in problem.hats], rtol=1e-10, atol=1e-12)

    def test_leave_one_out(self, problem):
        total, n_units = problem.weights.sum(), np.maximum(problem.weights, 1).sum()
        for found in results(problem, LeaveOneOutError()):
            for k in range(N_ATOMS + 1):
                losses = (problem.errors(k) ** 2).mean(axis=1)
                mean = problem.weights @ losses / total
                assert found["loo"][k] == pytest.approx(mean, rel=1e-10)
                error = np.sqrt(problem.weights @ (losses - mean) ** 2 / total / (n_units - 1))
                assert found["loo_se"][k] == pytest.approx(error, rel=1e-9)

    def test_quantiles(self, problem):
        rows = np.array([0, 3, 12, 13, 40, 59])
        for found in results(problem, LeaveOneOutQuantiles(rows)):
            for k in range(N_ATOMS + 1):
                direct = conformal_quantiles(np.abs(problem.errors(k)[rows].T), problem.weights[rows])
                np.testing.assert_allclose(found["loo_quantiles"][k], direct, rtol=1e-9)

    @pytest.mark.parametrize("limit", [None, 0.2])
    def test_validation(self, problem, limit):
        limits = None if limit is None else np.full(problem.y.shape[1], limit)
        for found in results(problem, ValidationError(limits)):
            for k in range(N_ATOMS + 1):
                f = problem.y - problem.residual[k] / problem.root[:, None]
                f = f if limit is None else np.clip(f, -limit, limit)
                direct = problem.weights @ ((problem.y - f) ** 2).mean(axis=1) / problem.weights.sum()
                assert found["validation"][k] == pytest.approx(direct, rel=1e-10)

    def test_wrong_classes(self, problem):
        """Targets are any numbers here: their largest, or the sign of one, is the class."""
        places = np.array([0, 1, 1, 3, 3, 5])
        for found in results(problem, LeaveOneOutWrong(places)):
            for k in range(N_ATOMS + 1):
                # Scores of no columns at all are zero, but for rounding here.
                scores = (problem.y - problem.errors(places[k])).T.round(12)
                wrong = classes_of(scores) != classes_of(problem.y.T)
                assert found["loo_error"][k] == pytest.approx(problem.weights @ wrong / problem.weights.sum())

    def test_calibration_of_scores(self, problem):
        rows, places = np.array([0, 3, 12, 13, 40, 59]), np.array([0, 1, 1, 3, 4, 5])
        y, weights = 4.0 * problem.y[rows].T, problem.weights[rows]
        for found in results(problem, ScoreCalibration(rows, problem.b, 0.25, places)):
            for k in range(N_ATOMS + 1):
                scores = (y - 4.0 * problem.errors(places[k])[rows].T).round(12)
                gaps = conformal_quantiles(score_gaps(y, scores), weights)
                np.testing.assert_allclose(found["loo_quantiles"][k], gaps, rtol=1e-9, atol=1e-12)
                t = inverse_temperature(y, scores, weights)
                assert found["inverse_temperature"][k] == pytest.approx(t, rel=1e-8, abs=1e-5)

    @pytest.mark.parametrize("limit", [None, 0.2])
    def test_wrong_classes_of_validation_rows(self, problem, limit):
        limits = None if limit is None else np.full(problem.y.shape[1], limit)
        for found in results(problem, ValidationWrong(limits)):
            for k in range(N_ATOMS + 1):
                f = problem.y - problem.residual[k] / problem.root[:, None]
                f = (f if limit is None else np.clip(f, -limit, limit)).round(12)
                wrong = classes_of(f.T) != classes_of(problem.y.T)
                direct = problem.weights @ wrong / problem.weights.sum()
                assert found["validation_error"][k] == pytest.approx(direct, rel=1e-10)


@pytest.mark.parametrize("n_targets", [1, 2, 5])
def test_a_class_is_wrong_as_it_is_named_ties_too(rng, n_targets):
    scores = rng.integers(-1, 2, size=(n_targets, 7, 200)).astype(float)
    true = rng.integers(0, max(n_targets, 2), size=200)
    named = np.array([classes_of(scores[:, k]) for k in range(7)])
    np.testing.assert_array_equal(are_wrong(scores, true), named != true)


def test_of_very_many_scores_some_sizes_stand_for_others():
    np.testing.assert_array_equal(looked_at(300, 500_000, False), np.arange(300))
    np.testing.assert_array_equal(looked_at(300, 10**6, True), np.arange(300))
    places = looked_at(300, 10**6, False)
    assert (places[:52] == np.arange(52)).all()
    assert (np.arange(300) < 1.02 * np.maximum(places, 1) + 1e-9).all()
    assert len(np.unique(places)) < 160


def test_counts_say_how_much_is_left_out(rng):
    """A row of weight 6 that was seen three times is left out by a third."""
    D, y = rng.normal(size=(2, 20)), rng.normal(size=(20, 1))
    w, counts = np.full(20, 6.0), np.full(20, 3.0)
    R = np.linalg.cholesky(6.0 * D @ D.T).T
    V = np.linalg.solve(R.T, D)
    b = V @ (6.0 * y)
    (block,) = ArraySource(D.T, y, w, counts).blocks(20)
    sizes = Sizes.of(block, V.copy(), b, 0)
    np.testing.assert_allclose(sizes.one_minus_leverage[-1], 1 - 6.0 * (V**2).sum(axis=0) / 3.0)


def test_an_interpolated_row_has_an_infinite_error():
    V, y = np.eye(3), np.array([[1.0], [2.0], [3.0]])
    (block,) = ArraySource(V.T, y).blocks(3)
    found = LeaveOneOutError().of_block(Sizes.of(block, V.copy(), y.copy(), 0)).result()
    assert np.isfinite(found["loo"][0])
    assert np.isinf(found["loo"][1:]).all()
    assert np.isinf(found["loo_se"][1:]).all()


def test_calibration_rows_are_spread_over_those_that_are_marked():
    np.testing.assert_array_equal(calibration_rows(5, None), np.arange(5))
    assert len(calibration_rows(10_000, None)) == 2000
    np.testing.assert_array_equal(calibration_rows(5, np.array([0, 1, 0, 0, 1], dtype=bool)), [1, 4])


def test_quantiles_count_one_row_more():
    errors = np.arange(1.0, 10.0)[None]
    found = conformal_quantiles(errors, np.ones(9))[:, 0]
    assert found[0] == 1.0
    assert found[np.flatnonzero(LEVELS >= 0.5)[0]] == 5.0  # of ten rows, one unseen, five are at most so far off
    assert found[-1] == 9.0
