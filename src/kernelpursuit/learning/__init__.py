"""Everything that a fit learns before the loop runs over all rows: kernel, feature scales, penalty and atoms.

gross_errors   values that are taken for errors
observations   copies of rows joined, and weights of mean one
sample         rows, standardised
leave_one_out  the error that is lowered, and its derivative by every kernel value
evidence       how well a Gaussian process explains rows, and the derivative of that
starts         scales to start from
model          what is learned, and its minimisation by L-BFGS
atoms          atoms picked by the greedy loop on a sample
scales         one scale a feature, and the penalty, by leave-one-out errors
process        kernel, scales and noise of few rows, by evidence
rivals         the simple models that have to be beaten
refine         refined atoms
choose_kernel  one kernel of several, with its scales
choose_atoms   atoms in one width or several, refined, with a penalty
learned        what was learned, in the units of the caller
constants      sample sizes, thresholds and other numbers that were chosen by measurement or by hand
plan, cost     how much each stage looks at, and about how long it takes
wide           one scale for all of many features
final_loss     penalty of classes under another loss than the square, and which of both
width_search   width and penalty for another loop than the default one
stages         all of it in turn
"""

from kernelpursuit.learning.atoms import Task
from kernelpursuit.learning.final_loss import (
    Columns,
    Split,
    ValidationScores,
    choose_final_loss,
    deal_folds,
    sample_of,
    scores_under,
    square_scores,
    targets_of,
)
from kernelpursuit.learning.gross_errors import gross_errors, range_of_features, usual_targets
from kernelpursuit.learning.learned import Learned
from kernelpursuit.learning.leave_one_out import Losses
from kernelpursuit.learning.observations import DistinctRows, Observations, observe
from kernelpursuit.learning.plan import LearningSpec, Plan, make_plan
from kernelpursuit.learning.sample import with_fewer_common_rows, with_unseen_rows
from kernelpursuit.learning.stages import learn, learn_wide
from kernelpursuit.learning.wide import is_wide
from kernelpursuit.learning.width_search import LoopValidation, common_scale, search_width
from kernelpursuit.rows import Distinct

__all__ = [
    "Columns",
    "Distinct",
    "DistinctRows",
    "Learned",
    "LearningSpec",
    "LoopValidation",
    "Losses",
    "Observations",
    "Plan",
    "Split",
    "Task",
    "ValidationScores",
    "choose_final_loss",
    "common_scale",
    "deal_folds",
    "gross_errors",
    "is_wide",
    "learn",
    "learn_wide",
    "make_plan",
    "observe",
    "range_of_features",
    "sample_of",
    "scores_under",
    "search_width",
    "square_scores",
    "targets_of",
    "usual_targets",
    "with_fewer_common_rows",
    "with_unseen_rows",
]
