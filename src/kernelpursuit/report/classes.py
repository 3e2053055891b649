"""Errors, probabilities and sets of a classifier at every size, on the rows given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.model import FittedModel
from kernelpursuit.model.probabilities import agreeing
from kernelpursuit.model.sizes import ManySizes, outputs
from kernelpursuit.pursuit.measure import classes_of
from kernelpursuit.report.rows import GivenRows
from kernelpursuit.rows import slices

# Bins of probabilities, of equal width; fractions of rows whose class sets are asked to hold.
BINS = 10
COVERAGES = (0.8, 0.9, 0.95, 0.99)
# Probabilities count as at least this in the log loss, as in scikit-learn.
LEAST = np.finfo(np.float64).eps
# Classes that have a curve of their own beside that of the named class, and a place in the table of confusions.
MOST_CURVES, MOST_CONFUSED = 6, 12


@dataclass(frozen=True)
class ClassErrors:
    """What comes of predicting the rows given at every size.

    wrong        fraction of the rows in a wrong class, shape (n_sizes,)
    log_loss     mean negative logarithm of the probability of the true class
    brier        mean sum of squared differences between probabilities and the class
    reliability  of each curve and bin the rows, their mean probability and the fraction that are of the class, shape
                 (n_sizes, n_curves, BINS, 3); the first curve is of the named class, or of two classes the second
    confusion    rows of each class that each class was named for, shape (n_sizes, n_classes, n_classes), or None
    held, sizes  fraction of rows whose set holds the true class, and mean size of the sets, shape (n_sizes,
                 n_coverages); None where there are no sets
    shown        places of the rows whose predictions are kept
    named        the classes that are named for them, shape (n_sizes, n_shown)
    of_true      the probabilities of their true classes
    n_classes    how many classes there are
    """

    wrong: np.ndarray
    log_loss: np.ndarray
    brier: np.ndarray
    reliability: np.ndarray
    confusion: np.ndarray | None
    held: np.ndarray | None
    sizes: np.ndarray | None
    shown: np.ndarray
    named: np.ndarray
    of_true: np.ndarray
    n_classes: int


def curves_of(n_classes: int) -> list[int]:
    """Which classes have a reliability curve; -1 is the named class, whichever that is."""
    if n_classes == 2:
        return [1]
    return [-1, *range(n_classes)] if n_classes <= MOST_CURVES else [-1]


def class_errors(many: ManySizes, rows: GivenRows, n_shown: int, n_threads: int | None) -> ClassErrors:
    """Predict the rows at every size, a block at a time."""
    n_sizes, n_classes, shown = len(many.models), many.n_outputs, rows.some(n_shown)
    first = many.models[0]
    curves, has_sets = curves_of(n_classes), isinstance(first, FittedModel) and first.path.loo_quantiles is not None
    wrong, log_loss, brier = np.zeros(n_sizes), np.zeros(n_sizes), np.zeros(n_sizes)
    sums = np.zeros((n_sizes, len(curves), BINS, 3))
    confusion = np.zeros((n_sizes, n_classes, n_classes)) if n_classes <= MOST_CONFUSED else None
    held, sizes = np.zeros((n_sizes, len(COVERAGES))), np.zeros((n_sizes, len(COVERAGES)))
    named_shown, of_true_shown = np.empty((n_sizes, len(shown)), dtype=int), np.empty((n_sizes, len(shown)))
    for block in slices(len(rows), many.rows_at_once):
        true, every = rows.y[block], np.arange(block.stop - block.start)
        (here,) = np.nonzero((shown >= block.start) & (shown < block.stop))
        for i, (one, scores) in enumerate(zip(many.models, many.scores(rows.X[block], n_threads))):
            named = classes_of(scores.T)
            p = agreeing(outputs(one, scores), named)
            of_true = p[every, true]
            wrong[i] += (named != true).sum()
            log_loss[i] -= np.log(np.clip(of_true, LEAST, 1.0)).sum()
            brier[i] += (np.square(p).sum(axis=1) - 2.0 * of_true + 1.0).sum()
            for curve, which in zip(sums[i], curves):
                column = named if which < 0 else np.full(len(true), which)
                curve += _binned(p[every, column], true == column)
            if confusion is not None:
                np.add.at(confusion[i], (true, named), 1.0)
            if has_sets:
                assert isinstance(one, FittedModel)
                for j, coverage in enumerate(COVERAGES):
                    sets = one.class_sets(scores, coverage)
                    held[i, j] += sets[every, true].sum()
                    sizes[i, j] += sets.sum()
            places = shown[here] - block.start
            named_shown[i, here], of_true_shown[i, here] = named[places], of_true[places]
    n = len(rows)
    with np.errstate(invalid="ignore"):
        sums[..., 1:] /= sums[..., :1]
    return ClassErrors(
        wrong / n,
        log_loss / n,
        brier / n,
        reliability=sums,
        confusion=confusion,
        held=held / n if has_sets else None,
        sizes=sizes / n if has_sets else None,
        shown=shown,
        named=named_shown,
        of_true=of_true_shown,
        n_classes=n_classes,
    )


def calibration_error(reliability: np.ndarray) -> np.ndarray:
    """Mean absolute difference between probability and fraction over rows, bin by bin, of the first curve."""
    counts, mean, fraction = np.moveaxis(np.nan_to_num(reliability[:, 0]), -1, 0)
    return (counts * np.abs(mean - fraction)).sum(axis=1) / counts.sum(axis=1)


def _binned(p: np.ndarray, is_true: np.ndarray) -> np.ndarray:
    """Of each bin the rows, and the sums of their probabilities and of those that are true, shape (BINS, 3)."""
    which = np.minimum((p * BINS).astype(int), BINS - 1)
    weights = (None, p, is_true.astype(np.float64))
    return np.column_stack([np.bincount(which, weights=one, minlength=BINS) for one in weights])
