"""One scale for all features, where there are too many for one each: found by the loop itself, on sparse rows or dense.

A scale for each of some thousand features costs as many derivatives, and rows are rarely enough to tell them apart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.atoms import KEEP_ALL, Task
from kernelpursuit.learning.constants import (
    FIRST_ALPHA,
    MAX_SCALES,
    MAX_WIDE_ATOMS,
    MAX_WIDE_ENTRIES,
    MAX_WIDE_ROWS,
    MIN_WIDE_ROWS,
    WIDE_PENALTY_FACTORS,
    WIDE_ROWS_AN_ATOM,
    WIDE_SCALE_FACTORS,
)
from kernelpursuit.learning.observations import DistinctRows
from kernelpursuit.learning.plan import SCALES_STAGE
from kernelpursuit.learning.sample import Standard
from kernelpursuit.pursuit import TrainingRows, run_pursuit

RANDOM_STREAM = 14


def is_wide(X: Matrix) -> bool:
    """Whether rows have more features than there can be scales."""
    return X.shape[1] > MAX_SCALES


def learn_common_scale(given: DistinctRows, kernel: Kernel, task: Task) -> tuple[Standard, np.ndarray, float] | None:
    """Learn one scale for all features, standardised or as they are, and the penalty where that is not given.

    Returns
    -------
    standard : Standard
        Centre and spread of the features.
    scales : array of shape (n_features,)
        Scales of the standardised features: all the same, or each in proportion to the spread, which leaves features
        as they are. Words of texts are better left so, measurements in several units are not.
    alpha : float
        The penalty.

    Notes
    -----
    Atoms are picked on one half of a sample for every width, and the least error on the other half decides; ties go to
    the wider kernel. Cost: 12 runs of the loop, each with a pass over half of the sample for every atom.
    """
    X, y, distinct = given.X, given.y, given.distinct
    standard = Standard.of(X, distinct.weights, distinct.first)
    shuffled = np.random.default_rng([task.seed, 0, RANDOM_STREAM]).permutation(len(distinct))
    numbers = shuffled[: int(np.clip(MAX_WIDE_ENTRIES // X.shape[1], MIN_WIDE_ROWS, MAX_WIDE_ROWS))]
    places = distinct.first[numbers]
    Z, targets, weights = standard.apply(X[places]), y[places], distinct.weights[numbers]
    if task.loss is not None:
        task = task.under(task.loss.resolve(np.ascontiguousarray(targets.T), weights))
    used = (standard.spread > 0).astype(np.float64)
    if not used.any():
        return None
    task.watch.part(SCALES_STAGE)
    raw = standard.spread / np.sqrt(np.mean(np.square(standard.spread[used > 0])))
    alpha = FIRST_ALPHA if task.alpha is None else task.alpha
    best, scales = np.inf, used
    shapes = [(shape, factor) for shape in (used, raw) for factor in WIDE_SCALE_FACTORS]
    for i, (shape, factor) in enumerate(shapes):
        tried = shape * (factor * np.sqrt(0.5 / used.sum()))
        with task.watch.within(i / len(shapes), (i + 1) / len(shapes)):
            error = _error(Z, targets, weights, scales=tried, alpha=alpha, kernel=kernel, task=task)
        if error < best:
            best, scales = error, tried
    if task.alpha is None:
        errors = [
            best
            if factor == 1.0
            else _error(Z, targets, weights, scales=scales, alpha=alpha * factor, kernel=kernel, task=task)
            for factor in WIDE_PENALTY_FACTORS
        ]
        alpha *= WIDE_PENALTY_FACTORS[int(np.argmin(errors))]
    return standard, scales, alpha


def _error(
    Z: Matrix, y: np.ndarray, weights: np.ndarray, scales: np.ndarray, alpha: float, kernel: Kernel, task: Task
) -> float:
    """The least error on the second half of the rows, along a path of atoms that are picked on the first half."""
    half = (len(y) + 1) // 2
    dictionary = KernelAtoms(kernel.with_gamma(scales ** (1.0 / kernel.gamma_power)))
    spec = replace(task.loop(dictionary, max(1, min(MAX_WIDE_ATOMS, half // WIDE_ROWS_AN_ATOM)), alpha), rule=KEEP_ALL)
    second = Z[half:], y[half:], weights[half:]
    path = run_pursuit(
        TrainingRows(Z[:half], y[:half], weights[:half], validation=second), spec, callback=task.watch
    ).path
    assert path.validation is not None
    return float(np.nanmin(path.validation))
