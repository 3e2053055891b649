"""Paths made by hand, for rules to look at."""

import numpy as np

from kernelpursuit import PursuitPath
from kernelpursuit.pursuit.models import Explicit, FixedPart


def make_path(
    rss,
    *,
    n=100.0,
    dof=None,
    size=None,
    cost=None,
    loo=None,
    loo_error=None,
    se=0.0,
    validation=None,
    cv=None,
    correlation=None,
    coef=None,
    column_residual=None,
    coherence=None,
    n_fixed=0,
    total_weight=None,
    n_candidates=100,
    n_features=1,
    largest_target=1.0,
    end_reason="max_atoms=9 reached",
):
    """A path with the residual sums `rss`, of shape (n_steps + 1,) or (n_steps + 1, n_targets)."""
    rss = np.asarray(rss, dtype=float)
    rss = rss[:, None] if rss.ndim == 1 else rss
    k, n_targets = len(rss) - 1, rss.shape[1]
    size = np.arange(k + 1) if size is None else np.asarray(size)
    weights = (
        [np.zeros((s, n_targets)) for s in size] if coef is None else [np.reshape(c, (-1, n_targets)) for c in coef]
    )
    none = FixedPart(np.empty((0, 0)), np.empty((0, n_targets)), np.empty((0, k)))

    def floats(values):
        return None if values is None else np.asarray(values, dtype=float)

    return PursuitPath(
        atom=np.arange(k),
        size=size,
        cost=rss.sum(axis=1) if cost is None else floats(cost),
        residual_norm=np.sqrt(rss.sum(axis=1)),
        dof=size.astype(float) if dof is None else floats(dof),
        loo=floats(loo),
        loo_se=None if loo is None else np.broadcast_to(floats(se), len(rss)).copy(),
        rcond=np.full(k + 1, np.nan),
        correlation=np.full(k + 1, np.nan) if correlation is None else floats(correlation),
        used=np.arange(k),
        models=Explicit([np.arange(s) for s in size], weights, none),
        n_fixed=n_fixed,
        n_targets=n_targets,
        n_candidates=n_candidates,
        n_features=n_features,
        largest_target=largest_target,
        total_weight=n if total_weight is None else total_weight,
        n_units=n,
        target_residual=rss,
        column_residual=None if column_residual is None else np.reshape(floats(column_residual), rss.shape),
        coherence=coherence,
        loo_error=None if loo_error is None else np.asarray(loo_error, dtype=float),
        validation=floats(validation),
        cv=floats(cv),
        end_reason=end_reason,
    )
