"""Empirical constants of intervals and of predictions outside the data; none of them is derived.

All were chosen by hand, and no comparison with other values is recorded. What shows whether they serve is the coverage
of intervals on generated functions, in tests/estimators/test_intervals.py and test_outside.py. Tolerances that follow
from rounding stand beside their use.
"""

import numpy as np

from kernelpursuit.pursuit.criteria.squares import TARGET_MARGIN as TARGET_MARGIN

# The size of errors as a function of the row.
MAX_NOISE_FEATURES = 32  # that the size of errors may depend on by themselves
MAX_SCREENED_FEATURES = 256  # that these are chosen from
KNOT_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of predictions: between them, log noise is linear in the prediction
TARGET_RANGE_QUANTILES = np.array([0.01, 0.99])  # between which the range of targets is
MIN_UNEXPLAINED = 1e-3  # below this, rows are as near to landmarks as makes no difference
NOISE_PENALTIES = 10.0 ** np.arange(-3.0, 3.0)  # for each row and column of unit variance
N_NOISE_ROUNDS = 8  # of iterated weighted least squares
MAX_NOISE_STEP = 3.0  # of a row in one round: a single large error does not decide
MIN_RELATIVE_ERROR = 1e-3  # of their mean; absolute errors below count as this, since it is chance that they are small
NOISE_STANDARD_ERRORS = 2.0  # by which the leave-one-out deviance of a size that varies has to be lower
MIN_NOISE_ROWS = 50  # fewer errors say nothing of where they are large

MAX_PROCESS_ROWS = 1000  # of more, leave-one-out errors are those of the picked atoms: they are fewer beside the rows

# Landmarks: how far a row is from the training rows.
MAX_LANDMARKS = 64
NEAR_QUANTILE = 0.99  # of the training rows that count as near ...
NEAR_UNEXPLAINED = 0.2  # ... have no more than this left unexplained, which defines the width of the kernel
FIRST_WIDTH_STEP = 8.0  # in powers of two of gamma; steps are halved
N_WIDTH_STEPS = 8

# Predictions outside the data, in units of the range of a feature or target.
FADE_FROM = 0.25  # nearer rows are frequent (the extremes of new rows), and smooth functions go on there
FADE_TO = 1.0  # here predictions are back at the base

# Rows that come by `partial_fit` (benchmarks/massive.py).
BUFFER_ROWS = 2000  # the latest, at which new atoms may be
BUFFER_CANDIDATES = 500  # of these
EARLIER_ROWS = 500  # that stand for all rows before the latest, where new atoms come
ADMISSION_GAIN = 0.05  # part of the leave-one-out error of these rows that new atoms have to take away ...
ADMISSION_STANDARD_ERRORS = 2.0  # ... and standard errors of it
