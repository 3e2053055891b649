"""The first page of the report: where we stand, and how much each table can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reproduce.cells import BETTER, NOT_REPRODUCED, REPRODUCED, Cell, number_of
from reproduce.config import CAUSES, named, names
from reproduce.markdown import called, linked, span, table
from reproduce.results import counts, reason_for
from reproduce.strength import Strength, is_far, is_wide, own, strength

TEXT = Path(__file__).parent / "index.md"
AIM = 0.9


def front(cells: Sequence[Cell]) -> str:
    """The text of the page, with its numbers filled in."""
    text = TEXT.read_text()
    filled = {"{headline}": _headline(cells), "{tables}": _counted(cells), "{strength}": _strengths(cells)}
    for place, what in filled.items():
        text = text.replace(place, what)
    return text


def _headline(cells: Sequence[Cell]) -> str:
    ours = own(cells)
    others = [cell for cell in cells if cell not in ours]
    found, theirs = counts(ours), counts(others)
    strict = found[REPRODUCED] / max(len(ours), 1)
    wide = [cell for cell in ours if is_wide(cell) and cell.verdict == REPRODUCED]
    far = sum(is_far(cell) for cell in wide)
    fewer = sum(cell.repetitions < number_of(cell).repetitions for cell in ours)
    return (
        f"**Of {len(ours)} cells of our own systems, {found[REPRODUCED]} ({100 * strict:.1f} %) are reproduced, "
        f"strictly.** {found[BETTER]} are better, {found[NOT_REPRODUCED]} are not reproduced. "
        f"The aim is {100 * AIM:.0f} % reproduced, and we are {'there' if strict >= AIM else 'below it'}. "
        f"Each cell that is not reproduced has its reason under its table: {_causes(ours)}.\n\n"
        f"{len(wide)} of the {found[REPRODUCED]} allow a difference of more than half of the printed number, so they "
        f"could hardly have failed; {far} of these do differ by more than half. {fewer} cells have fewer repetitions "
        "than the paper's, which widens what counts as reproduced. "
        "[How strong each table is](#how-strong-each-table-is) has the details.\n\n"
        f"The papers also print {len(others)} cells of comparators: support vector machines, the lasso and k-means "
        f"networks, which are not ours. Of these, {theirs[REPRODUCED]} are reproduced, {theirs[BETTER]} better, "
        f"{theirs[NOT_REPRODUCED]} not."
    )


def _causes(cells: Sequence[Cell]) -> str:
    reasons = [reason_for(cell) for cell in cells if cell.verdict == NOT_REPRODUCED]
    found = Counter(CAUSES[reason.cause] if reason else "not yet known" for reason in reasons)
    return "; ".join(f"{cause} ({n})" for cause, n in found.most_common()) or "there are none"


def _counted(cells: Sequence[Cell]) -> str:
    """Verdicts by table, our own systems apart from comparators."""
    verdicts = [REPRODUCED, BETTER, "not"]
    shown = [name for name in names() if any(cell.table == name for cell in cells)]
    lines = [
        ["Table or figure", "what it shows", "own cells", *verdicts, "comparators' cells", *verdicts],
        *([linked(name), named(name).title, *_numbers([c for c in cells if c.table == name])] for name in shown),
        ["**all**", "", *(f"**{number}**" for number in _numbers(cells))],
    ]
    bare = [linked(name) for name in names() if name not in shown]
    return f"{table(lines)}\n\nFigures without printed numbers: {'; '.join(bare)}."


def _numbers(cells: Sequence[Cell]) -> list[str]:
    ours = own(cells)
    sides = (ours, [cell for cell in cells if cell not in ours])
    return [str(n) if side else "" for side in sides for n in (len(side), *counts(side).values())]


def _strengths(cells: Sequence[Cell]) -> str:
    head = [
        "Table or figure", "own cells", "tolerance, median", "largest", "reproduced with more than 50 %",
        "repetitions, ours", "the paper's", "settings chosen", "strength",
    ]  # fmt: skip
    shown = [name for name in names() if any(cell.table == name for cell in cells)]
    return table([head, *([called(name), *_shown(strength(name, cells))] for name in shown)])


def _shown(found: Strength) -> list[str]:
    return [
        str(found.cells),
        f"{100 * found.median:.0f} %",
        f"{100 * found.largest:.0f} %",
        str(found.wide_and_reproduced),
        span(found.ours),
        span(found.papers),
        str(found.chosen),
        found.word,
    ]
