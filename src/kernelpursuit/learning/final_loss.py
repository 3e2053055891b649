"""Coefficients of classes under another loss than the square, with which all else was learned.

Kernel, scales and atoms are learned under the squared loss, whose leave-one-out error is exact. What is left to find
is width and penalty under the final loss, and under `loss="auto"` whether that loss predicts better at all. Both are
found on validation rows, from which no atom was picked: scores of rows that atoms were picked from are far too good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import log_softmax

from kernelpursuit.learning.constants import (
    FINAL_LOSS_FOLDS,
    FINAL_LOSS_ROWS,
    FINAL_WIDTH_FACTORS,
    FIRST_FINAL_PENALTY,
    HOPELESS_LOG_LOSS,
    LOG_LOSS_STANDARD_ERRORS,
    MAX_WIDER_LOSS,
    MIN_LOG_LOSS_GAIN,
    MIN_PENALTY_GAIN,
    ONE_SPLIT_FROM,
    OTHER_FINAL_PENALTIES,
    TREND_FREEDOM,
    TRIAL_CONVERGED,
    TRIAL_ITERATIONS,
)
from kernelpursuit.learning.leave_one_out import Losses
from kernelpursuit.learning.sample import FINAL_LOSS_STREAM, drawn_from
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Objective, Watch
from kernelpursuit.pursuit.measure import classes_of, inverse_temperature, one_each, score_gaps
from kernelpursuit.pursuit.objective import Search, minimise
from kernelpursuit.pursuit.reducers import conformal_quantiles
from kernelpursuit.rows import Distinct


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

    def penalty(self, strength: float) -> np.ndarray:
        """The matrix of the penalty over all columns."""
        matrix = np.zeros((len(self.values), len(self.values)))
        matrix[self.n_fixed :, self.n_fixed :] = strength * self.gram
        return matrix

    def curvature(self, weights: np.ndarray, strength: float) -> np.ndarray:
        """R with `R'R = B M B' + L` for columns B and weights M of the rows."""
        A = (self.values * weights) @ self.values.T + self.penalty(strength)
        A[np.diag_indices_from(A)] += TREND_FREEDOM * A.diagonal().max()
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

        found = minimise(
            cost, R @ start, Search(converged=TRIAL_CONVERGED, watch=watch, max_iterations=TRIAL_ITERATIONS)
        )
        return solve_triangular(R, found, check_finite=False)


@dataclass(frozen=True)
class Split:
    """The same columns on rows to fit and on validation rows."""

    fit: Columns
    validation: Columns


@dataclass(frozen=True)
class ValidationScores:
    """Scores of all validation rows.

    scores   shape (n_targets, n_rows)
    codes    classes as -1 and +1, of the same shape
    weights  of the rows
    loss     that was minimised; None for the squared one
    """

    scores: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    loss: Loss | None

    @classmethod
    def of(cls, splits: Sequence[Split], found: Sequence[np.ndarray], loss: Loss | None) -> ValidationScores:
        """Scores by the coefficients that were found for each split."""
        validation = [split.validation for split in splits]
        return cls(
            np.hstack([w.T @ rows.values for rows, w in zip(validation, found)]),
            np.hstack([rows.codes for rows in validation]),
            np.concatenate([rows.weights for rows in validation]),
            loss,
        )

    @cached_property
    def inverse_temperature(self) -> float | None:
        """What scores are multiplied by before they become probabilities; None where these are the loss's own."""
        if self.loss is not None and self.loss.probabilities(self.scores[:, :1]) is not None:
            return None
        return inverse_temperature(self.codes, self.scores, self.weights)

    @cached_property
    def log_losses(self) -> np.ndarray:
        """The log loss of the probabilities of every row."""
        true = classes_of(self.codes), np.arange(len(self.weights))
        if self.inverse_temperature is not None:
            log_p = log_softmax(self.inverse_temperature * one_each(self.scores), axis=0)[true]
        else:
            assert self.loss is not None
            own = self.loss.probabilities(self.scores)
            assert own is not None
            log_p = np.log(np.maximum(own[true], np.finfo(float).tiny))
        return -log_p

    @property
    def log_loss(self) -> float:
        """The mean log loss of probabilities."""
        return float(self.weights @ self.log_losses) / float(self.weights.sum())

    def is_clearly_below(self, rival: ValidationScores) -> bool:
        """Whether the log loss is lower than that of other scores of the same rows: by a fraction, or by no chance."""
        shares = self.weights / self.weights.sum()
        own, others = (Losses(one.log_losses, shares) for one in (self, rival))
        return own.are_clearly_below(others, MIN_LOG_LOSS_GAIN, 0.0) or own.are_clearly_below(
            others, 0.0, LOG_LOSS_STANDARD_ERRORS
        )

    @property
    def mean_loss(self) -> float:
        """The mean of the loss itself."""
        assert self.loss is not None
        values = self.loss.value(targets_of(self.codes, self.loss), self.scores)
        return float(self.weights @ values) / float(self.weights.sum())

    @property
    def gap_quantiles(self) -> np.ndarray:
        """Quantiles of how far the score of the true class is below the largest, shape (n_levels, 1)."""
        return conformal_quantiles(score_gaps(self.codes, self.scores), self.weights)


@dataclass(frozen=True)
class FinalLoss:
    """What validation rows say of a final loss.

    width_factor  what the widths of the atoms are multiplied by
    strength      what the matrix of the penalty is multiplied by
    scores        of the validation rows
    """

    width_factor: float
    strength: float
    scores: ValidationScores


def square_scores(splits: Sequence[Split], strength: float) -> ValidationScores:
    """Scores of validation rows under the squared loss with a penalty of this strength."""
    return ValidationScores.of(splits, [split.fit.squares(strength) for split in splits], None)


def scores_under(splits: Sequence[Split], loss: Loss, strength: float, watch: Watch) -> ValidationScores:
    """Scores of validation rows under a loss with a penalty of this strength."""
    found = [split.fit.under(loss, strength, split.fit.start(loss), watch) for split in splits]
    return ValidationScores.of(splits, found, loss)


def choose_final_loss(
    splits_of: Callable[[float], Sequence[Split]], loss: Loss, watch: Watch, rival: ValidationScores | None = None
) -> FinalLoss | None:
    """Choose width and penalty of a loss by what it comes to on validation rows.

    Scores of the square jump from -1 to 1 between the classes. Those of a likelihood go on growing, and are smoother:
    wider atoms are tried as long as they are as good, which makes up for scales that were tuned on these rows.

    Parameters
    ----------
    splits_of : callable
        Gives the splits for a factor of all widths.
    loss : Loss
        The final loss.
    watch : Watch
        Asked whether to end.
    rival : ValidationScores, optional
        Scores of the square, where the loss is to have better probabilities than those; None is returned where it has
        not.
    """
    best = _best_penalty(splits_of(1.0), loss, watch, rival)
    if best is None:
        return None
    least = best.scores.mean_loss
    for factor in FINAL_WIDTH_FACTORS:
        tried = None if watch.has_ended else _best_penalty(splits_of(factor), loss, watch)
        if tried is None or tried.scores.mean_loss > (1 + MAX_WIDER_LOSS) * least:
            break
        best, least = replace(tried, width_factor=factor), min(least, tried.scores.mean_loss)
    if rival is not None and not best.scores.is_clearly_below(rival):
        return None
    return best


def _best_penalty(
    splits: Sequence[Split], loss: Loss, watch: Watch, rival: ValidationScores | None = None
) -> FinalLoss | None:
    """The best of some penalties, from the middle one on to either side; None where a rival is out of reach."""

    def tried(strength: float, start: Sequence[np.ndarray]) -> tuple[FinalLoss, list[np.ndarray]]:
        found = [split.fit.under(loss, strength, w, watch) for split, w in zip(splits, start)]
        return FinalLoss(1.0, strength, ValidationScores.of(splits, found, loss)), found

    best, first = tried(FIRST_FINAL_PENALTY, [split.fit.start(loss) for split in splits])
    if rival is not None and best.scores.log_loss > HOPELESS_LOG_LOSS * rival.log_loss:
        return None
    for side in OTHER_FINAL_PENALTIES:
        found, before = first, best
        for strength in side:
            if watch.has_ended:
                return best
            other, found = tried(strength, found)
            if not other.scores.mean_loss < (1 - MIN_PENALTY_GAIN) * best.scores.mean_loss:
                break
            best = other
        if best is not before:
            break
    return best


def deal_folds(codes: np.ndarray, distinct: Distinct, seed: int) -> Iterator[np.ndarray]:
    """Marks of validation rows, with every class in about its share: of few rows those of each fold, of many one.

    `codes` have the shape (n_targets, n_rows). Rows of weight 0 are in no fold, and copies of a row in the same one.
    """
    places = drawn_from(seed, FINAL_LOSS_STREAM).permutation(len(distinct))
    places = places[np.argsort(classes_of(codes[:, distinct.first[places]]), kind="stable")]
    fold = np.empty(len(distinct), dtype=int)
    fold[places] = np.arange(len(distinct)) % FINAL_LOSS_FOLDS
    for i in range(FINAL_LOSS_FOLDS if len(distinct) < ONE_SPLIT_FROM else 1):
        yield (fold == i)[distinct.which] & (distinct.which >= 0)


def sample_of(marks: np.ndarray, distinct: Distinct, seed: int) -> np.ndarray:
    """Numbers, ascending, of the marked rows, or of so many of them as are looked at."""
    # What is drawn is no matter of the order in which rows were given.
    order = np.argsort(distinct.which, kind="stable")
    rows = order[marks[order]]
    return np.sort(drawn_from(seed, FINAL_LOSS_STREAM).permutation(rows)[:FINAL_LOSS_ROWS])


def targets_of(codes: np.ndarray, loss: Loss) -> np.ndarray:
    """Codes of -1 and +1 as a loss takes them: 0 and 1 where it has all classes at once."""
    return (codes + 1) / 2 if loss.kind == "classes" else codes
