"""Pictures of a fitted model: what it predicts or decides, how far it is off, and the path that led to it.

Displays work as in scikit-learn: `from_estimator` computes what is shown and draws it; the object that it
returns holds the numbers, so that `plot` can draw them again elsewhere, and `frame` gives them as a pandas frame. In
place of an estimator, a pipeline or a search around it will do.
"""

from kernelpursuit.plotting.centers import CentersDisplay
from kernelpursuit.plotting.comparison import ComparisonDisplay
from kernelpursuit.plotting.coverage import CoverageDisplay
from kernelpursuit.plotting.decision import DecisionDisplay
from kernelpursuit.plotting.dependence import DependenceDisplay
from kernelpursuit.plotting.fit import FitDisplay
from kernelpursuit.plotting.path import PathDisplay
from kernelpursuit.plotting.reliability import ReliabilityDisplay
from kernelpursuit.plotting.residuals import ResidualsDisplay
from kernelpursuit.plotting.scales import ScalesDisplay
from kernelpursuit.plotting.search import SearchDisplay

__all__ = [
    "CentersDisplay",
    "ComparisonDisplay",
    "CoverageDisplay",
    "DecisionDisplay",
    "DependenceDisplay",
    "FitDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "ResidualsDisplay",
    "ScalesDisplay",
    "SearchDisplay",
]
