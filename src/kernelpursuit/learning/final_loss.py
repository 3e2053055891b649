"""Coefficients of classes under another loss than the square, with which all else was learned.

Kernel, scales and atoms are learned under the squared loss, whose leave-one-out error is exact. What is left to find
is the penalty under the final loss, and under `loss="auto"` whether that loss predicts better at all. Both are found
on validation rows, with the atoms as they are: by folds of few rows, and by one split of many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import log_softmax

from kernelpursuit.learning.constants import (
    FINAL_LOSS_FOLDS,
    FINAL_LOSS_ROWS,
    FINAL_PENALTIES,
    FINAL_WIDTH_FACTORS,
    MAX_WIDER_LOSS,
    MIN_LOG_LOSS_GAIN,
    ONE_SPLIT_FROM,
)
from kernelpursuit.learning.sample import FINAL_LOSS_STREAM, drawn_from
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Objective, Watch
from kernelpursuit.pursuit.measure import classes_of, inverse_temperature, one_each
from kernelpursuit.pursuit.objective import Search, minimise

# A trial compares losses to three digits: its gradient need not be smaller than the square of that.
TRIAL_CONVERGED = 1e-4
# The constant, and a line, are free but for rounding.
FREE = 1e-10


@dataclass(frozen=True)
class Columns:
    """What models are made of, on some rows.

    values   of what is always in, then of the atoms, shape (n_columns, n_rows)
    n_fixed  how many columns are always in
    gram     the matrix of the penalty over atoms, shape (n_atoms, n_atoms)
    codes    classes as -1 and +1, shape (n_targets, n_rows)
    weights  of the rows
    """

    values: np.ndarray
    n_fixed: int
    gram: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def take(self, rows: np.ndarray) -> Columns:
        """The same of some rows."""
        return Columns(self.values[:, rows], self.n_fixed, self.gram, self.codes[:, rows], self.weights[rows])

    def penalty(self, strength: float) -> np.ndarray:
        """The matrix of the penalty over all columns."""
        matrix = np.zeros((len(self.values), len(self.values)))
        matrix[self.n_fixed :, self.n_fixed :] = strength * self.gram
        return matrix

    def curvature(self, weights: np.ndarray, strength: float) -> np.ndarray:
        """R with `R'R = B M B' + L` for columns B and weights M of the rows."""
        A = (self.values * weights) @ self.values.T + self.penalty(strength)
        A[np.diag_indices_from(A)] += FREE * A.diagonal().max()
        return cholesky(A, overwrite_a=True, check_finite=False)

    def squares(self, strength: float) -> np.ndarray:
        """Coefficients of penalised least squares, shape (n_columns, n_targets)."""
        R = self.curvature(self.weights, strength)
        return cho_solve((R, False), self.values @ (self.codes * self.weights).T, check_finite=False)

    def start(self, loss: Loss) -> np.ndarray:
        """Coefficients of the best constant, where there is one."""
        w = np.zeros((len(self.values), len(self.codes)))
        if self.n_fixed:
            w[0] = loss.start(targets_of(self.codes, loss), self.weights)
        return w

    def under(self, loss: Loss, strength: float, start: np.ndarray, watch: Watch) -> np.ndarray:
        """Coefficients that minimise a penalised loss, from a start that is close."""
        objective = Objective(loss, targets_of(self.codes, loss), self.weights, watch)
        penalty = self.penalty(strength)
        # In these coordinates the curvature at the start is about one.
        R = self.curvature(objective.working_weights(start.T @ self.values), strength)

        def cost(b: np.ndarray) -> tuple[float, np.ndarray]:
            w = solve_triangular(R, b, check_finite=False)
            scores, penalised = w.T @ self.values, penalty @ w
            gradient = self.values @ objective.gradient(scores).T + 2 * penalised
            value = objective.value(scores) + float((w * penalised).sum())
            return value, solve_triangular(R, gradient, trans=1, check_finite=False)

        found = minimise(cost, R @ start, Search(converged=TRIAL_CONVERGED, watch=watch))
        return solve_triangular(R, found, check_finite=False)


@dataclass(frozen=True)
class FinalLoss:
    """What validation rows say.

    width_factor  what the widths of the atoms are multiplied by under the loss
    strength      what the matrix of the penalty is multiplied by
    is_better     whether probabilities are better under the loss than under the square
    """

    width_factor: float
    strength: float
    is_better: bool


@dataclass(frozen=True)
class _Trial:
    """The best penalty for some columns, by the mean loss of the validation rows, and the log loss it has there."""

    strength: float
    mean: float
    log_loss: float


def choose_final_loss(
    columns_of: Callable[[float], Columns], loss: Loss, square_strength: float, seed: int, watch: Watch
) -> FinalLoss:
    """Choose width and penalty of a loss by its validation loss, and compare it with the square by their log losses.

    Scores of the square jump from -1 to 1 between the classes. Those of a likelihood go on growing, and are smoother:
    wider atoms are tried as long as they are as good, which makes up for scales that were tuned on these rows.

    Parameters
    ----------
    columns_of : callable
        Gives the columns for a factor of all widths.
    loss : Loss
        The final loss.
    square_strength : float
        Strength of the penalty that was learned for the square.
    seed : int
        Of the folds.
    watch : Watch
        Asked whether to end.
    """
    columns = columns_of(1.0)
    by_square = _square_log_loss(columns, square_strength, seed)
    best = least = _best_penalty(columns, loss, seed, watch)
    width_factor = 1.0
    for factor in FINAL_WIDTH_FACTORS:
        if watch.has_ended:
            break
        tried = _best_penalty(columns_of(factor), loss, seed, watch)
        if tried.mean > (1 + MAX_WIDER_LOSS) * least.mean:
            break
        best, width_factor = tried, factor
        least = tried if tried.mean < least.mean else least
    return FinalLoss(width_factor, best.strength, best.log_loss < (1 - MIN_LOG_LOSS_GAIN) * by_square)


def _square_log_loss(columns: Columns, strength: float, seed: int) -> float:
    splits = list(_splits(columns, seed))
    return _log_loss([rows for _, rows in splits], [fit.squares(strength) for fit, _ in splits], None)


def _best_penalty(columns: Columns, loss: Loss, seed: int, watch: Watch) -> _Trial:
    splits = list(_splits(columns, seed))
    validation = [rows for _, rows in splits]
    found, best = [fit.start(loss) for fit, _ in splits], _Trial(FINAL_PENALTIES[0], np.inf, np.inf)
    for strength in FINAL_PENALTIES:
        found = [fit.under(loss, strength, w, watch) for (fit, _), w in zip(splits, found)]
        mean = _mean_loss(validation, found, loss)
        if watch.has_ended or not mean < best.mean:
            break
        best = _Trial(strength, mean, _log_loss(validation, found, loss))
    return best


def sample_of(weights: np.ndarray, seed: int) -> np.ndarray:
    """Numbers of the rows that are looked at."""
    rows = np.flatnonzero(weights > 0)
    return np.sort(drawn_from(seed, FINAL_LOSS_STREAM).permutation(rows)[:FINAL_LOSS_ROWS])


def targets_of(codes: np.ndarray, loss: Loss) -> np.ndarray:
    """Codes of -1 and +1 as a loss takes them: 0 and 1 where it has all classes at once."""
    return (codes + 1) / 2 if loss.kind == "classes" else codes


def _splits(columns: Columns, seed: int) -> Iterator[tuple[Columns, Columns]]:
    """Rows to fit and rows to validate, with every class in the same shares as far as that goes."""
    n = len(columns.weights)
    order = drawn_from(seed, FINAL_LOSS_STREAM).permutation(n)
    order = order[np.argsort(classes_of(columns.codes)[order], kind="stable")]
    fold = np.empty(n, dtype=int)
    fold[order] = np.arange(n) % FINAL_LOSS_FOLDS
    for i in range(FINAL_LOSS_FOLDS if n < ONE_SPLIT_FROM else 1):
        yield columns.take(np.flatnonzero(fold != i)), columns.take(np.flatnonzero(fold == i))


def _mean_loss(validation: list[Columns], found: list[np.ndarray], loss: Loss) -> float:
    sums = [
        float(rows.weights @ loss.value(targets_of(rows.codes, loss), w.T @ rows.values))
        for rows, w in zip(validation, found)
    ]
    return sum(sums) / sum(float(rows.weights.sum()) for rows in validation)


def _log_loss(validation: list[Columns], found: list[np.ndarray], loss: Loss | None) -> float:
    """The mean log loss of probabilities, those of the loss or by an inverse temperature."""
    scores = np.hstack([w.T @ rows.values for rows, w in zip(validation, found)])
    codes = np.hstack([rows.codes for rows in validation])
    weights = np.concatenate([rows.weights for rows in validation])
    true = classes_of(codes), np.arange(len(weights))
    own = None if loss is None else loss.probabilities(scores)
    if own is None:
        t = inverse_temperature(codes, scores, weights)
        log_p = log_softmax(t * one_each(scores), axis=0)[true]
    else:
        log_p = np.log(np.maximum(own[true], np.finfo(float).tiny))
    return -float(weights @ log_p) / float(weights.sum())
