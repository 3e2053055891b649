"""What is recorded of a fit after each step of the loop over all rows, one idea a file.

The same of every size at once, from blocks of rows, is in `reducers`.

squares     residuals, degrees of freedom and leave-one-out errors of least squares
scores      what leave-one-out scores say under other losses, and of classes
validation  the error on validation rows
"""

from kernelpursuit.pursuit.criteria.base import Criterion, RowFacts
from kernelpursuit.pursuit.criteria.scores import LeaveOneOutScores
from kernelpursuit.pursuit.criteria.squares import LeastSquares, PlainResiduals
from kernelpursuit.pursuit.criteria.validation import Monitor

__all__ = ["Criterion", "LeastSquares", "LeaveOneOutScores", "Monitor", "PlainResiduals", "RowFacts"]
