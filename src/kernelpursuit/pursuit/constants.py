"""Empirical constants of what is recorded of classes; none of them is derived.

They were chosen by hand so that what is recorded takes no more time than the steps do (`make bench-classify` shows the
time of fits). Tolerances that follow from rounding stand beside their use.
"""

# Of more scores than this, what calibrates is looked at anew only when the model has grown by a tenth.
FEW_SCORES, CALIBRATION_GROWTH = 20_000, 1.1
# Of more than this, under the squared loss, nothing is looked at anew before the model has grown by a fiftieth.
MANY_SCORES, SCORES_GROWTH = 500_000, 1.02
