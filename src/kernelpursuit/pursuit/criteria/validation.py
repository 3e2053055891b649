"""The error on validation rows, step by step."""

from __future__ import annotations

import copy

import numpy as np

from kernelpursuit.pursuit.basis import grown
from kernelpursuit.pursuit.criteria.base import Criterion
from kernelpursuit.pursuit.fits import Fit
from kernelpursuit.pursuit.measure import Measure
from kernelpursuit.pursuit.path import Entry
from kernelpursuit.pursuit.problem import Problem


class Monitor(Criterion):
    """`validation` and `validation_error`: the error on validation rows, where the values of picked atoms are kept."""

    def __init__(self, problem: Problem, measure: Measure, n_threads: int | None = None):
        assert problem.held_out is not None
        X, targets, weights = problem.held_out
        self.dictionary = problem.dictionary
        self.measure = measure
        self.rows = problem.dictionary.rows(X)
        self.fixed = problem.fixed_values(X)
        self.targets = targets * problem.scale
        self.scale = problem.scale
        self.weights = weights / weights.sum()
        self.limits = None if problem.limits is None else (problem.limits * problem.scale)[:, None]
        self.values = np.empty((0, X.shape[0]))
        self.n_seen = 0
        self.n_threads = n_threads

    def again(self) -> Monitor:
        """Return one for another fit, on the same rows."""
        fresh = copy.copy(self)
        fresh.values, fresh.n_seen = self.values[:0], 0
        return fresh

    def entry(self, fit: Fit) -> Entry:
        """Return the mean loss of the fit as it is, and for classes the part of the rows in a wrong one."""
        used = fit.used
        self.values = grown(self.values, len(used))
        if len(used) > self.n_seen:
            new = self.dictionary.block(self.rows, used[self.n_seen :], n_threads=self.n_threads)
            self.values[self.n_seen : len(used)] = new
            self.n_seen = len(used)
        weights = fit.weights()
        places = [fit.places[atom] for atom in fit.atoms]
        scores = weights[: fit.n_fixed].T @ self.fixed + weights[fit.n_fixed :].T @ self.values[places]
        if self.limits is not None:
            scores = np.clip(scores, -self.limits, self.limits)
        errors: Entry = {"validation": float(self.measure.losses(self.targets, scores) @ self.weights) / self.scale**2}
        if self.measure.classes:
            errors["validation_error"] = float(self.measure.wrong(self.targets, scores) @ self.weights)
        return errors
