"""The fit so far, one class for each way in which weights follow."""

from __future__ import annotations

from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Fit, Outcome, ResidualFit, SquaredFit
from kernelpursuit.pursuit.fits.increments import IncrementFit
from kernelpursuit.pursuit.fits.loss import LossFit
from kernelpursuit.pursuit.fits.minres import MinResFit
from kernelpursuit.pursuit.fits.orthogonal import OrthogonalFit
from kernelpursuit.pursuit.fits.stagewise_loss import StagewiseLossFit

__all__ = [
    "Design",
    "ExaminedAtoms",
    "Fit",
    "IncrementFit",
    "LossFit",
    "MinResFit",
    "OrthogonalFit",
    "Outcome",
    "ResidualFit",
    "SquaredFit",
    "StagewiseLossFit",
]
