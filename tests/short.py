"""Estimators that learn, from one kernel and with few atoms, so that a fit is short."""

from kernelpursuit import KernelPursuitRegressor

SHORT = {"kernel": "rbf", "max_atoms": 12, "random_state": 0, "n_jobs": 1}


def short_regressor(**params):
    return KernelPursuitRegressor(**{**SHORT, **params})
