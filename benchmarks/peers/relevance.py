"""Relevance vector machines of fastrvm."""

from __future__ import annotations

from fastrvm import RVC, RVR
from sets import Split

from .fitted import Fitted, fit_best, n_outputs


def relevance_vectors(split: Split, tuned: bool) -> Fitted:
    """Fit a relevance vector machine; tuned, at the best of 5 widths, all else being learned by evidence."""
    model, chosen = fit_best(RVC() if split.is_classes else RVR(), {"gamma": split.gammas} if tuned else {}, split)
    size = len(model.relevance_vectors_)
    return Fitted(model.predict, size, size * (split.train.shape[1] + n_outputs(split)), chosen)
