"""What was learned, in the units of the caller."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.model import Model
from kernelpursuit.learning.sample import Standard


@dataclass(frozen=True)
class Learned:
    """What was learned, in the units of the caller.

    kernel     with one gamma for each feature
    alpha      the penalty
    scales     of the standardised features: how fast models vary with each, 0 for an irrelevant one
    atoms      the atoms, or None where only the scales were asked for
    rows       the training row at which each atom is centred, or was before it moved
    is_validation  marks the validation rows, which no atom was picked from, or None
    refined    whether atoms were moved
    trend      centre and spread of the features of a straight line that is in every model, or None
    simple     why a simple model is kept, in words, or None
    penalty    the penalty that alpha is of
    is_process whether kernel, scales and noise are those of a Gaussian process
    candidates numbers of the rows at which atoms may be, where they are not learned and not at all rows
    patience   steps in vain after which the loop over rows may end, or None
    optimism   how many times larger errors are of rows that scales were not tuned on
    """

    kernel: Kernel
    alpha: float
    scales: np.ndarray
    atoms: KernelAtoms | None
    rows: np.ndarray
    is_validation: np.ndarray | None
    refined: bool
    trend: Standard | None = None
    simple: str | None = None
    penalty: str = "ridge"
    candidates: np.ndarray | None = None
    patience: int | None = None
    is_process: bool = False
    optimism: float = 1.0

    @property
    def says_all(self) -> bool:
        """Whether nothing is left for the loop but to pick and order atoms: all else was learned for it."""
        return self.atoms is not None or self.is_process

    def __getstate__(self) -> dict[str, Any]:
        """Plain data alone, so that a checkpoint may have it: in place of the atoms, their centres and factors."""
        atoms = None if self.atoms is None else (self.atoms.centers, self.atoms.factors)
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, "atoms": atoms}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the atoms again."""
        if state["atoms"] is not None:
            centers, factors = state["atoms"]
            state = {**state, "atoms": KernelAtoms(state["kernel"], centers, factors=factors)}
        for name, value in state.items():
            object.__setattr__(self, name, value)


def to_original_units(
    kernel: Kernel,
    model: Model,
    standard: Standard,
    places: np.ndarray,
    is_validation: np.ndarray | None,
    *,
    refined: bool,
    atoms: bool,
) -> Learned:
    """What was learned of standardised features, said of those that the caller has."""
    spread = np.where(standard.spread > 0, standard.spread, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        gamma = (model.scales / spread) ** (1.0 / kernel.gamma_power)
    if not (np.isfinite(gamma).all() and gamma.any()):
        raise ValueError("X is so large, or varies by so little, that its squares leave the range; scale X first.")
    resolved = kernel.with_gamma(gamma)
    centers = KernelAtoms(resolved, standard.undo(model.centers), factors=model.width_factors) if atoms else None
    return Learned(
        resolved, model.alpha, model.scales, atoms=centers, rows=places, is_validation=is_validation, refined=refined
    )
