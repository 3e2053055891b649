"""Estimators: the scikit-learn surface."""

from kernelpursuit.estimators.classifier import KernelPursuitClassifier
from kernelpursuit.estimators.regressor import KernelPursuitRegressor

__all__ = ["KernelPursuitClassifier", "KernelPursuitRegressor"]
