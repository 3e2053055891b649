"""Rules that say when to stop and how many atoms to keep.

A rule is an object with two questions to answer from the path so far: `fired` (should the loop end now?) and
`choose` (how many steps to keep?). A rule that needs only the current step fires; one that needs the whole path
chooses afterwards, also on the path of a fit that was made under another rule. Two rules join with `|`: the loop
ends when either fires, and the smaller choice is kept.

base            what a rule is, and how it speaks of models
measures        what rules read off a path: residual sums, numbers of observations, the reach of noise
criteria        the least of a criterion of residuals and degrees of freedom: mdl, aic, fpe, hdaic, tr1
leave_one_out   loo, one-se, loo-error, tcr
held_out        validation, cv
thresholds      the first model that is good enough: tol, tr2, tr3, tr4; and max
prediction      ptr
joined          two rules as one, and rules by name
"""

from kernelpursuit.stopping.base import ALL_LEARNED, ALL_PICKED, NoAtoms, StoppingRule, count_atoms, tell_size
from kernelpursuit.stopping.criteria import AIC, FPE, HDAIC, MDL, TR1
from kernelpursuit.stopping.held_out import CV, Validation
from kernelpursuit.stopping.joined import BY_NAME, Either, as_rule
from kernelpursuit.stopping.leave_one_out import TCR, Loo, LooError, OneSE
from kernelpursuit.stopping.prediction import PTR
from kernelpursuit.stopping.thresholds import TR2, TR3, TR4, Max, Tol

__all__ = [
    "AIC",
    "ALL_LEARNED",
    "ALL_PICKED",
    "BY_NAME",
    "CV",
    "FPE",
    "HDAIC",
    "MDL",
    "PTR",
    "TCR",
    "TR1",
    "TR2",
    "TR3",
    "TR4",
    "Either",
    "Loo",
    "LooError",
    "Max",
    "NoAtoms",
    "OneSE",
    "StoppingRule",
    "Tol",
    "Validation",
    "as_rule",
    "count_atoms",
    "tell_size",
]
