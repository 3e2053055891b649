"""The classes that a model may be made of, and so the only ones that a file may name."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache

from kernelpursuit import dictionary, kernels, losses, penalties, stopping, updates
from kernelpursuit.dictionary import Dictionary, DistanceAtoms
from kernelpursuit.kernels import FormulaKernel
from kernelpursuit.losses import Loss
from kernelpursuit.model.calibration import Columns, ErrorScale
from kernelpursuit.model.fitted import FittedModel, Origin
from kernelpursuit.model.landmarks import Landmarks
from kernelpursuit.model.noise import LogScale
from kernelpursuit.model.one_vs_rest import OneVsRestModel
from kernelpursuit.model.outside import Outside
from kernelpursuit.pursuit import Measure, PursuitPath
from kernelpursuit.pursuit.models import Drop, Explicit, Factor, Factored, FixedPart, Increments

ROOMS = (dictionary, kernels, losses, penalties, stopping, updates)
PARTS: tuple[type, ...] = (
    *(FittedModel, OneVsRestModel, Origin, Outside, ErrorScale, Columns, LogScale, Landmarks, Measure),
    *(PursuitPath, Factored, Factor, Drop, FixedPart, Increments, Explicit),
)
# Bases of classes, which are nothing by themselves, and atoms with a table of distances, which no model keeps.
NOT_IN_A_MODEL = (Dictionary, DistanceAtoms, FormulaKernel, Loss)


@cache
def known_classes() -> dict[str, type]:
    """The classes by name."""
    public = [getattr(room, name) for room in ROOMS for name in room.__all__]
    found = [one for one in public if isinstance(one, type) and (is_dataclass(one) or hasattr(one, "from_state"))]
    return {one.__name__: one for one in (*PARTS, *found) if one not in NOT_IN_A_MODEL}
