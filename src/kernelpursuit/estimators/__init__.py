"""Estimators: the scikit-learn surface."""

from kernelpursuit.estimators.regressor import KernelPursuitRegressor

__all__ = ["KernelPursuitRegressor"]
