"""Estimators that learn nothing beforehand: the loop over the training rows with a Gaussian kernel of a given width.

Tests of the loop, of rules, losses and dictionaries take these; tests of the defaults are in learning and estimators.
"""

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor

NOTHING_LEARNED = {"kernel": "rbf", "gamma": "scale"}


def plain_regressor(**params):
    return KernelPursuitRegressor(**{**NOTHING_LEARNED, **params})


def plain_classifier(**params):
    return KernelPursuitClassifier(**{**NOTHING_LEARNED, **params})
