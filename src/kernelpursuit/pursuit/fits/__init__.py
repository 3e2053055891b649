"""The fit so far, one class for each way in which weights follow."""

from __future__ import annotations

from kernelpursuit.pursuit.fits.base import Fit, Outcome, ResidualFit, Shortlist
from kernelpursuit.pursuit.fits.increments import IncrementFit, RescaleFit, StagewiseFit
from kernelpursuit.pursuit.fits.loss import LossFit
from kernelpursuit.pursuit.fits.minres import MinResFit
from kernelpursuit.pursuit.fits.orthogonal import OrthogonalFit
from kernelpursuit.pursuit.fits.stagewise_loss import StagewiseLossFit

__all__ = [
    "Fit",
    "IncrementFit",
    "LossFit",
    "MinResFit",
    "OrthogonalFit",
    "Outcome",
    "RescaleFit",
    "ResidualFit",
    "Shortlist",
    "StagewiseFit",
    "StagewiseLossFit",
]
