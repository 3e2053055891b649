"""Pictures of a fitted model: what it predicts or decides, and the path that led to it.

Displays work as in scikit-learn: `from_estimator` computes what is shown and draws it; the object that it
returns holds the numbers, so that `plot` can draw them again elsewhere. In place of an estimator, a pipeline or
a search around it will do.
"""

from kernelpursuit.plotting.decision import DecisionDisplay
from kernelpursuit.plotting.fit import FitDisplay
from kernelpursuit.plotting.path import PathDisplay
from kernelpursuit.plotting.scales import ScalesDisplay
from kernelpursuit.plotting.search import SearchDisplay

__all__ = ["DecisionDisplay", "FitDisplay", "PathDisplay", "ScalesDisplay", "SearchDisplay"]
