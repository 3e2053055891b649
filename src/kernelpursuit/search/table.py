"""The results of a search: one row for each fit."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from kernelpursuit._types import ValidationSet
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.search.criterion import SearchRule, criterion_at


class Table:
    """The results of a search; each score is the criterion of a path, read at `score_at`."""

    def __init__(self, grid: list[tuple[float, float]], score_at: str = "kept"):
        self.score_at = score_at
        n, nothing = len(grid), np.full(len(grid), np.nan)
        self.columns: dict[str, np.ndarray] = {
            "gamma": np.array([gamma for gamma, _ in grid]),
            "alpha": np.array([alpha if isinstance(alpha, (int, float)) else np.nan for _, alpha in grid], dtype=float),
            "n_atoms": np.zeros(n, dtype=np.intp),
            **{name: nothing.copy() for name in ("score", "standard_error", "rank", "seconds")},
        }
        self.failures: dict[int, Exception] = {}
        self.best = -1

    def add(self, i: int, model: BaseKernelPursuit, rule: SearchRule, data: ValidationSet) -> bool:
        """Fit a model and write its row; return whether it is the best so far."""
        started = time.perf_counter()
        X, y, sample_weight = data
        row: dict[str, Any] = {}
        try:
            model.fit(X, y, sample_weight=sample_weight)
            each = model.model_.models
            scores = np.array([criterion_at(rule.by, one.path, one.n_steps, self.score_at) for one in each])
            row = {"n_atoms": model.n_atoms_, "score": scores[:, 0].mean()}
            if len(each) == 1:
                row["standard_error"] = scores[0, 1]
            found = getattr(model, "alpha_", None)
            if isinstance(found, (int, float)):
                row["alpha"] = found
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.failures[i] = error
        row["seconds"] = time.perf_counter() - started
        for name, value in row.items():
            self.columns[name][i] = value
        score = self.columns["score"]
        better = not np.isnan(score[i]) and (self.best < 0 or score[i] < score[self.best])
        self.best = i if better else self.best
        return better

    def finish(self, rule: SearchRule) -> None:
        """Rank the rows and warn of fits that failed; raise the first error if all failed."""
        score = self.columns["score"]
        if self.best < 0:
            if not self.failures:
                raise ValueError(f"by={rule.by.name!r} is not known for any combination; use by='loo' or 'cv'.")
            error = next(iter(self.failures.values()))
            if rule.by.name != rule.stop.name and str(error).startswith(f"stop={rule.by.name!r}"):
                raise type(error)(str(error).replace("stop=", "by=", 1)) from None
            raise error
        known = ~np.isnan(score)
        ranks = np.searchsorted(np.sort(score[known]), score[known]) + 1
        self.columns["rank"] = np.full(len(score), len(score), dtype=np.intp)
        self.columns["rank"][known] = ranks
        if self.failures:
            i, error = next(iter(self.failures.items()))
            warnings.warn(
                f"{len(self.failures)} of {len(score)} combinations failed and have no score, the first at "
                f"gamma={self.columns['gamma'][i]:g}: {error}",
                FitFailedWarning,
                stacklevel=6,
            )
