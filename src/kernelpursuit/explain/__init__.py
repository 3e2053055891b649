"""Why a model predicts what it predicts: contributions of atoms, of training rows and of features.

explaining    `model.explain(X)`, from a fitted estimator to an `Explanation`
explanation   what comes of it: numbers, a frame, a picture
attribution   Shapley values of a model: which way it allows, row by row
games         its kernels as games over features, in closed form or as functions
shapley       Shapley values of games: in closed form, over all coalitions, or of sampled orders
"""

from kernelpursuit.explain.explaining import explain
from kernelpursuit.explain.explanation import Explanation, Mix

__all__ = ["Explanation", "Mix", "explain"]
