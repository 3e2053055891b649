"""Criteria of every size of a path, each an object that is made of a block of rows and adds up with its like."""

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.reducers.fit import Freedom, Residuals
from kernelpursuit.pursuit.reducers.leave_one_out import LeaveOneOutError
from kernelpursuit.pursuit.reducers.quantiles import (
    LEVELS,
    LeaveOneOutQuantiles,
    calibration_rows,
    conformal_quantiles,
)
from kernelpursuit.pursuit.reducers.validation import ValidationError

__all__ = [
    "LEVELS",
    "Freedom",
    "LeaveOneOutError",
    "LeaveOneOutQuantiles",
    "Reducer",
    "Residuals",
    "Sizes",
    "ValidationError",
    "calibration_rows",
    "conformal_quantiles",
]
