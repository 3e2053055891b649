"""Learning again in the midst of a stream, where its first rows told too little of what was to come."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.fitting import TrainingData, fit_model
from kernelpursuit.estimators.spec import chosen_rule, is_word, learnable_kernels, other_system
from kernelpursuit.estimators.verdict import is_nearly_constant
from kernelpursuit.exceptions import ConstantModelWarning
from kernelpursuit.learning import Losses, gross_errors
from kernelpursuit.losses import Squared
from kernelpursuit.model.constants import ADMISSION_GAIN, ADMISSION_STANDARD_ERRORS, BUFFER_ROWS
from kernelpursuit.model.latest import taken
from kernelpursuit.model.live import LiveModel
from kernelpursuit.pursuit import Watch
from kernelpursuit.rows import RowBlock

# Fewer rows than this, by their weight beside the largest, are not learned from again. One part in so many of the
# latest rows is for the comparison.
LEAST_ROWS, PARTS = 40, 4
# Rows whose weight is a smaller fraction than this of the largest are not learned from: forgetting has taken the rest.
LEAST_WEIGHT = 0.01
# More atoms than this, and than half as many as were learned, say that scales do not suit what they are for.
MANY_ATOMS, MANY_BESIDE = 10, 0.5


def learned_again(estimator: BaseKernelPursuit, live: LiveModel) -> LiveModel:
    """The live model with kernel, scales and atoms of the latest rows, where these predict clearly better.

    That is tried whenever the rows have doubled, if something asks for it (`_asks_for_it`). The newest quarter of the
    latest rows is for the comparison with what is learned from the others: errors have to be lower there by
    `ADMISSION_GAIN` and by two standard errors. And nothing is to be forgotten: of the rows that stand for those before
    the latest, at least half have to be predicted better as well, or the mean error of all rows has to be lower.
    """
    if live.latest is None or live.n_seen < 2 * live.tried_at or not (_learns(estimator) and _asks_for_it(live)):
        return live
    rows, earlier = _counting(live.latest), live.earlier
    if not live.model.measure.classes:
        rows = usual_rows(rows)
    if rows.total_weight < LEAST_ROWS * rows.sample_weights.max():
        return live
    live = replace(live, tried_at=live.n_seen)
    model, n_known = live.model, len(rows) - len(rows) // PARTS
    places, weights = np.arange(len(rows)), rows.sample_weights
    known, newest = (taken(rows, some, weights[some]) for some in (places[:n_known], places[n_known:]))
    settings = clone(estimator).set_params(checkpoint=None, warm_start=False, sample_rows="auto")
    data = TrainingData(
        known.X,
        known.y,
        known.weights,
        Squared(),
        classes=model.classes,
        held_out=estimator._validation_rows(chosen_rule(estimator.stop)),
        names=model.feature_names,
    )
    with warnings.catch_warnings():
        # Nothing is taken over from a model that is nearly a constant.
        warnings.simplefilter("ignore", ConstantModelWarning)
        found, _ = fit_model(settings, data, Watch(), None)
    n_threads = estimator._n_threads

    def errors_of(others: RowBlock) -> tuple[np.ndarray, np.ndarray]:
        """Squared errors of rows before and after, in the units that the path has."""
        unit = 1.0 if model.units is None else model.units
        after = np.square((others.y - found.scores(others.X, n_threads)) / unit).mean(axis=1)
        return live.squared_errors(others, n_threads), after

    of_earlier, of_newest = errors_of(earlier), errors_of(newest)
    shares = newest.sample_weights / newest.total_weight
    first, second = (Losses(errors, shares) for errors in of_newest)
    # The newest rows stand for all of the latest.
    share = np.concatenate([earlier.sample_weights, newest.sample_weights * (len(rows) / len(newest))])
    before, after = (np.concatenate(pair) for pair in zip(of_earlier, of_newest))
    is_better = (share @ after < share @ before) or not len(earlier) or np.mean(of_earlier[1] <= of_earlier[0]) >= 0.5
    if not (is_better and second.are_clearly_below(first, ADMISSION_GAIN, ADMISSION_STANDARD_ERRORS)):
        return live
    # Where anything is learned, weights are in the unit of their mean.
    alpha = found.origin.alpha * float(known.sample_weights.mean())
    return live.begun_anew(replace(found, numbers=known.numbers[found.numbers]), alpha, rows=rows, n_learned=len(known))


def usual_rows(rows: RowBlock) -> RowBlock:
    """Rows without gross errors of targets, which a fit leaves out too."""
    is_gross = np.zeros(len(rows), dtype=bool)
    for column in rows.y.T:
        is_gross |= gross_errors(column)
    places = np.flatnonzero(~is_gross)
    return taken(rows, places, rows.sample_weights[places]) if is_gross.any() else rows


def _counting(rows: RowBlock) -> RowBlock:
    """The rows that forgetting has left a weight worth the name."""
    weights = rows.sample_weights
    places = np.flatnonzero(weights >= LEAST_WEIGHT * weights.max())
    return taken(rows, places, weights[places])


def _learns(estimator: BaseKernelPursuit) -> bool:
    """Whether a first call learns everything, for the default loop."""
    return (
        is_word(estimator.gamma, "learn")
        and learnable_kernels(estimator.kernel) is not None
        and other_system(estimator) is None
    )


def _asks_for_it(live: LiveModel) -> bool:
    """Whether what was learned may not be what rows ask for by now.

    It was learned from fewer rows than are kept, the model is nearly a constant, errors are larger than they were once,
    or many atoms had to be added.
    """
    model, learning = live.model, live.learning
    loo = model.path.loo
    n_added = model.n_steps - learning.n_atoms
    return (
        learning.n_rows < BUFFER_ROWS // PARTS * (PARTS - 1)
        or is_nearly_constant(model.path, model.n_steps)
        or (loo is not None and bool(loo[-1] > (1 + ADMISSION_GAIN) * learning.loo))
        or n_added > max(MANY_ATOMS, MANY_BESIDE * learning.n_atoms)
    )
