"""What the core takes for a kernel: a formula and its numbers, or several of them and how they combine."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

#: (kind, p0, p1): one formula on all columns.
Formula = tuple[str, float, float]
#: (kind, p0, p1, columns): a formula on the next columns, so many for each feature; 0 for an operation.
Step = tuple[str, float, float, int]
#: A formula, or steps in postfix order.
Kernel = Formula | tuple[Step, ...]

KINDS = (
    "rbf",
    "laplacian",
    "matern12",
    "matern32",
    "matern52",
    "rational_quadratic",
    "polynomial",
    "linear",
    "sigmoid",
)

STATIONARY = KINDS[:6]

#: How many of the values before it an operation replaces by one.
OPERATIONS = {"sum": 2, "product": 2, "multiple": 1}


class Atoms(NamedTuple):
    """A kernel at centres; C++ reads it as a tuple."""

    steps: tuple[Step, ...]
    centers: NDArray[Any]
    factors: NDArray[Any]  # of length 0 for ones


def steps_of(kernel: Any) -> tuple[Step, ...]:
    """Return the steps of a kernel, checked; one for a formula."""
    if isinstance(kernel, tuple) and kernel and isinstance(kernel[0], (tuple, list)):
        return _check_steps(kernel)
    try:
        kind, p0, p1 = kernel
        p0, p1 = float(p0), float(p1)
    except (TypeError, ValueError):
        raise ValueError(f"kernel={kernel!r} is not usable; give (kind, p0, p1).") from None
    _check_formula(kind, p0, p1)
    return ((kind, p0, p1, 1),)


def _check_formula(kind: str, p0: float, p1: float) -> None:
    if kind not in KINDS:
        raise ValueError(f"kernel kind {kind!r} is not known; use one of {', '.join(KINDS)}.")
    if kind == "rational_quadratic" and not 0 < p0 < math.inf:
        raise ValueError(f"p0={p0!r} is not usable for the rational quadratic kernel; give a number above 0.")
    if kind == "polynomial" and not (1 <= p1 < 2**31 and p1 == int(p1)):
        raise ValueError(f"p1={p1!r} is not usable for the polynomial kernel; give a positive whole number.")
    if kind in ("polynomial", "sigmoid") and not math.isfinite(p0):
        raise ValueError(f"p0={p0!r} is not usable for the {kind} kernel; give a finite number.")


def _check_steps(kernel: tuple[Any, ...]) -> tuple[Step, ...]:
    """Return the steps with numbers as floats; they must leave one value, and find those that they combine."""
    try:
        steps = tuple((str(kind), float(p0), float(p1), int(columns)) for kind, p0, p1, columns in kernel)
    except (TypeError, ValueError):
        raise ValueError(f"kernel={kernel!r} is not usable; give steps (kind, p0, p1, columns).") from None
    height = 0
    for kind, p0, p1, columns in steps:
        taken = OPERATIONS.get(kind, 0)
        if not taken:
            _check_formula(kind, p0, p1)
        if (columns < 1) != bool(taken):
            raise ValueError(f"columns={columns!r} is not usable for {kind!r}; formulas take columns, operations none.")
        if height < taken:
            raise ValueError(f"kernel={kernel!r} is not usable; {kind!r} comes before what it combines.")
        if kind == "multiple" and not math.isfinite(p0):
            raise ValueError(f"p0={p0!r} is not usable for a multiple; give a finite number.")
        height += 1 - taken
    if height != 1:
        raise ValueError(f"kernel={kernel!r} is not usable; its steps leave {height} values in place of one.")
    return steps
