"""How much a table can tell: how wide its tolerances are, and how much was chosen with its numbers in view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reproduce.cells import FAR, JUDGED, OWN, REPRODUCED, Cell, allowed, number_of, published
from reproduce.config import chosen_for

STRONG, FAIR, WEAK = "strong", "fair", "weak"
# Limits of the rule that `index.md` states.
NARROW = 0.1
FEW_CELLS, MANY_CELLS = 5, 10
FEW_CELLS_PER_CHOICE, MANY_CELLS_PER_CHOICE = 3, 10


@dataclass(frozen=True)
class Strength:
    """What decides how much the cells of our own systems in one table can tell."""

    cells: int
    tolerances: tuple[float, ...]
    wide_and_reproduced: int
    ours: tuple[int, int]
    papers: tuple[int, int]
    chosen: int

    @property
    def median(self) -> float:
        """The median tolerance; zero where none is known."""
        return float(np.median(self.tolerances)) if self.tolerances else 0.0

    @property
    def largest(self) -> float:
        """The largest tolerance; zero where none is known."""
        return max(self.tolerances, default=0.0)

    @property
    def word(self) -> str:
        """Strong, fair or weak."""
        wide = sum(tolerance > FAR for tolerance in self.tolerances)
        few = self.cells < max(FEW_CELLS, FEW_CELLS_PER_CHOICE * self.chosen)
        if few or 2 * wide >= self.cells:
            return WEAK
        many = self.cells >= max(MANY_CELLS, MANY_CELLS_PER_CHOICE * self.chosen)
        return STRONG if many and self.median <= NARROW else FAIR


def tolerance(cell: Cell) -> float | None:
    """The difference that counts as reproduced over the printed number; None where zero is printed."""
    value = abs(number_of(cell).value)
    return allowed(cell) / value if value else None


def is_wide(cell: Cell) -> bool:
    """Whether even a number half as large, or half as large again, would count as reproduced."""
    return (tolerance(cell) or 0.0) > FAR


def is_far(cell: Cell) -> bool:
    """Whether ours differs from the printed number by more than half of it."""
    value = number_of(cell).value
    return abs(cell.ours - value) > FAR * abs(value)


def own(cells: Iterable[Cell]) -> list[Cell]:
    """The cells of our own systems."""
    return [cell for cell in cells if number_of(cell).system == OWN]


def strength(table: str, cells: Sequence[Cell]) -> Strength:
    """How much the cells of a table can tell about our own systems."""
    ours = own(cell for cell in cells if cell.table == table)
    known = [found for found in map(tolerance, ours) if found is not None]
    papers = [one.repetitions for one in published()[table] if one.kind in JUDGED and one.system == OWN]
    repetitions = [cell.repetitions for cell in ours]
    return Strength(
        cells=len(ours),
        tolerances=tuple(known),
        wide_and_reproduced=sum(is_wide(cell) and cell.verdict == REPRODUCED for cell in ours),
        ours=(min(repetitions, default=0), max(repetitions, default=0)),
        papers=(min(papers), max(papers)),
        chosen=sum(choice.values for choice in chosen_for(table) if choice.system == OWN),
    )
