"""kernelpursuit: greedy sparse kernel learning.

Small nonlinear models, a weighted sum of a few dozen functions picked one at a time, in the scikit-learn world.
"""

from importlib.metadata import version

from kernelpursuit.estimators import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.pursuit import PursuitPath, pursuit_path
from kernelpursuit.saved import load
from kernelpursuit.search import LengthScaleSearch

__version__ = version("kernelpursuit")

__all__ = [
    "KernelPursuitClassifier",
    "KernelPursuitRegressor",
    "LengthScaleSearch",
    "PursuitPath",
    "__version__",
    "load",
    "pursuit_path",
]
