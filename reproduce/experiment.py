"""What one repetition of an experiment hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Measured:
    """The numbers of one repetition.

    Parameters
    ----------
    cells : dict of (row, column) to float
        The cells of the table, named and in the unit they have in `published/`.
    curves : dict of str to lists or arrays
        What a figure is drawn from; arrays come back from the journal as lists.
    seconds : dict of str to float
        Times, for the page on growth; they carry no verdict.
    """

    cells: Mapping[tuple[str, str], float] = field(default_factory=dict)
    curves: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
