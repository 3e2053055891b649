"""Criteria of every size of a path, each an object that is made of a block of rows and adds up with its like."""

from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.reducers.calibration import Calibrator, ScoreCalibration
from kernelpursuit.pursuit.reducers.classes import LeaveOneOutWrong, ValidationWrong
from kernelpursuit.pursuit.reducers.fit import Freedom, Residuals
from kernelpursuit.pursuit.reducers.leave_one_out import LeaveOneOutError
from kernelpursuit.pursuit.reducers.quantiles import (
    LEVELS,
    LeaveOneOutQuantiles,
    calibration_rows,
    conformal_quantiles,
)
from kernelpursuit.pursuit.reducers.schedule import is_due, looked_at
from kernelpursuit.pursuit.reducers.validation import ValidationError

__all__ = [
    "LEVELS",
    "Calibrator",
    "Freedom",
    "LeaveOneOutError",
    "LeaveOneOutQuantiles",
    "LeaveOneOutWrong",
    "Reducer",
    "Residuals",
    "ScoreCalibration",
    "Sizes",
    "ValidationError",
    "ValidationWrong",
    "calibration_rows",
    "conformal_quantiles",
    "is_due",
    "looked_at",
]
