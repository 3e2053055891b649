"""Learning again from the latest rows of a stream, where the first ones told too little of what was to come."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.fitting import TrainingData, fit_model
from kernelpursuit.estimators.spec import is_word, learnable_kernels, other_system
from kernelpursuit.estimators.verdict import is_nearly_constant
from kernelpursuit.exceptions import ConstantModelWarning
from kernelpursuit.losses import Squared
from kernelpursuit.model.constants import ADMISSION_GAIN, ADMISSION_STANDARD_ERRORS
from kernelpursuit.model.latest import taken
from kernelpursuit.model.live import LiveModel
from kernelpursuit.pursuit import Watch

# Fewer rows than this are not learned from again, and so many parts of the latest rows judge what was learned.
LEAST_ROWS, PARTS = 40, 4


def learned_again(estimator: BaseKernelPursuit, live: LiveModel) -> LiveModel:
    """The live model with kernel, scales and atoms of the latest rows, where these predict clearly better.

    That is tried whenever the rows have doubled, where there is nothing to forget: as long as the latest rows are all
    rows so far, or the model is nearly a constant. The newest quarter of the latest rows is for the comparison: the
    errors of what was learned from the other three have to be lower by `ADMISSION_GAIN` and by two standard errors.
    """
    rows = live.latest
    forgets_nothing = live.has_all_rows or is_nearly_constant(live.model.path, live.model.path.n_steps)
    is_due = live.n_seen >= 2 * live.learned_at and forgets_nothing and _learns(estimator)
    if rows is None or len(rows) < LEAST_ROWS or not is_due:
        return live
    live = replace(live, learned_at=live.n_seen)
    model, n_older = live.model, len(rows) - len(rows) // PARTS
    places, weights = np.arange(len(rows)), rows.sample_weights
    older, newest = (taken(rows, some, weights[some]) for some in (places[:n_older], places[n_older:]))
    settings = clone(estimator).set_params(checkpoint=None, warm_start=False, sample_rows="auto")
    data = TrainingData(older.X, older.y, older.weights, Squared(), classes=model.classes, names=model.feature_names)
    with warnings.catch_warnings():
        # Nothing is taken over from a model that is nearly a constant.
        warnings.simplefilter("ignore", ConstantModelWarning)
        found, _ = fit_model(settings, data, Watch(), None)
    n_threads = estimator._n_threads
    before = live.squared_errors(newest, n_threads)
    unit = 1.0 if model.units is None else model.units
    after = np.square((newest.y - found.scores(newest.X, n_threads)) / unit).mean(axis=1)
    if not _is_clear(before, after, newest.sample_weights):
        return live
    # Where anything is learned, weights are in the unit of their mean.
    alpha = found.origin.alpha * float(older.sample_weights.mean())
    return live.begun_anew(found, alpha)


def _learns(estimator: BaseKernelPursuit) -> bool:
    """Whether a first call learns everything, for the default loop."""
    return (
        is_word(estimator.gamma, "learn")
        and learnable_kernels(estimator.kernel) is not None
        and other_system(estimator) is None
    )


def _is_clear(before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> bool:
    """Whether errors are lower after than before, by more than chance and too little to be worth it."""
    share = weights / weights.sum()
    gain = float(share @ (before - after))
    error = float(np.sqrt(np.square(share) @ np.square(before - after - gain)))
    return gain > max(ADMISSION_GAIN * float(share @ before), ADMISSION_STANDARD_ERRORS * error)
