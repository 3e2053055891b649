"""The pages of `docs/reproduction/`, made from the result files and the configurations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from reproduce.cells import BETTER, JUDGED, NOT_REPRODUCED, OWN, REPRODUCED, Cell, number_of, published
from reproduce.config import CAUSES, PAPERS, Choice, Config, chosen_for, named, names
from reproduce.data import known
from reproduce.front import front
from reproduce.growth import series
from reproduce.markdown import anchor, called, listed, span, table
from reproduce.results import FOLDER, Blocks, PValue, Time, VariantCount, read, reason_for
from reproduce.strength import is_wide, own, strength

MARKS = {REPRODUCED: "", BETTER: " ▾", NOT_REPRODUCED: " ✗"}
WIDE = " ≈"
LEGEND = (
    "published / ours (difference in published standard errors, where below 1,000); ▾ better, ✗ not reproduced, "
    "≈ reproduced with a tolerance of more than half of the printed number. Verdicts go by the standard errors of both."
)
MADE = "<!-- Made by `python -m reproduce`; change `reproduce/` and not this page. -->\n\n"

TIMES = """# Times

Machines twenty years apart do not compare in seconds, but the power of n by which a time grows does. Ours are the
least of all repetitions, each on one thread, beside another repetition.

![Times against the number of rows, the papers' and ours.](images/times.svg)

"""
DATA = """# Data

Files are looked for in the folder that `KERNELPURSUIT_DATA` names, and in `../shared/data` where it is not set. Each
is a gzipped CSV with one line of names and the target last, `target`; splits are NumPy archives with `train` and
`test`, one line of row numbers a split. A file must have the SHA-256 of `reproduce/datasets.toml`. What is missing is
fetched from OpenML where that has it, and must then hold the same values.

"""


def write(folder: Path = FOLDER) -> None:
    """Write all pages."""
    cells = read(Cell, folder)
    _write(folder / "index.md", front(cells))
    for paper in PAPERS:
        _write(folder / f"{paper}.md", _paper(paper, cells, folder))
    _write(folder / "times.md", _times(folder))
    _write(folder / "data.md", _data())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MADE + text.rstrip() + "\n")


def _paper(paper: str, cells: Sequence[Cell], folder: Path) -> str:
    parts = [f"# {PAPERS[paper]}\n\n{LEGEND} [What that means](index.md#verdicts).\n"]
    for name in (name for name in names() if name.split("-")[0] == paper):
        config = named(name)
        shown = [cell for cell in cells if cell.table == name]
        parts.append(f"## {called(name)}\n\n{config.title}. `python -m reproduce {name}`")
        if config.protocol:
            parts.append(config.protocol)
        elif config.runs != name:
            parts.append(f"From the runs of [{called(config.runs)}](#{anchor(config.runs)}).")
        if config.figure:
            parts.append(f"![{config.title}.](images/{name}.svg)")
        if shown:
            parts += [_cells(shown), _repetitions(shown), _strength(name, shown), _blocks(name, folder), _quoted(name)]
        parts += [_p_values(name, folder), _variants(config, folder), _reasons(shown)]
    return "\n\n".join(part for part in parts if part)


def _cells(cells: Sequence[Cell]) -> str:
    """A table as the paper has it, each cell beside ours."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows = list(dict.fromkeys(cell.row for cell in cells))
    by_place = {(cell.row, cell.column): cell for cell in cells}
    lines = [["", *columns]]
    for row in rows:
        lines.append([row, *(_shown(by_place[row, column]) if (row, column) in by_place else "" for column in columns)])
    return table(lines)


def _shown(cell: Cell) -> str:
    digits = round(-math.log10(2 * number_of(cell).half_digit))
    ours = f"{cell.ours:.{max(digits, 1 if cell.ours % 1 else 0)}f}"
    return f"{cell.published} / {ours}{_distance(cell)}{_mark(cell)}"


def _mark(cell: Cell) -> str:
    return WIDE if cell.verdict == REPRODUCED and is_wide(cell) else MARKS[cell.verdict]


def _distance(cell: Cell) -> str:
    """The difference in published standard errors; nothing where those are zero or next to it."""
    difference = cell.ours - float(cell.published)
    if abs(difference) >= 1000 * cell.published_se:
        return ""
    return f" ({difference / cell.published_se:+.1f})"


def _repetitions(cells: Sequence[Cell]) -> str:
    ours = [cell.repetitions for cell in cells]
    printed = {cell.repetitions for cell in published()[cells[0].table] if cell.kind in JUDGED}
    return f"Repetitions: ours {span((min(ours), max(ours)))}, the paper's {listed(printed)}."


def _strength(name: str, cells: Sequence[Cell]) -> str:
    """What the table can tell of our own systems, and what was chosen with its numbers in view."""
    found = strength(name, cells)
    reproduced = sum(cell.verdict == REPRODUCED for cell in own(cells))
    chosen = "; ".join(map(_choice, chosen_for(name)))
    return (
        f"[Strength](index.md#how-strong-each-table-is): **{found.word}**. Tolerance of our own cells, "
        f"relative to the printed number: median {100 * found.median:.0f} %, largest {100 * found.largest:.0f} %. "
        f"{found.wide_and_reproduced or 'None'} of the {reproduced} that are reproduced have more than 50 %.\n\n"
        f"Chosen with the published numbers in view: {chosen or 'nothing'}."
    )


def _choice(choice: Choice) -> str:
    of = "" if choice.system == OWN else " of the comparator"
    count = f"{choice.values} settings" if choice.values > 1 else "1 setting" if of else ""
    return choice.what + (f" ({count}{of})" if count else "")


def _blocks(name: str, folder: Path) -> str:
    found = [line for line in read(Blocks, folder) if line.table == name]
    if not found:
        return ""
    shown = "; ".join(f"{line.row}, {line.column} in {line.reproduced} of {line.blocks}" for line in found)
    return f"In blocks of as many repetitions as the paper's, reproduced: {shown}."


def _quoted(name: str) -> str:
    quoted = [cell for cell in published()[name] if cell.kind == "quoted"]
    if not quoted:
        return ""
    lines = [["", *dict.fromkeys(cell.column for cell in quoted)]]
    for row in dict.fromkeys(cell.row for cell in quoted):
        lines.append([row, *(cell.text for cell in quoted if cell.row == row)])
    return f"Quoted from the paper, not run:\n\n{table(lines)}"


def _p_values(name: str, folder: Path) -> str:
    found = [line for line in read(PValue, folder) if line.table == name]
    if not found:
        return ""
    lines = [["p-value of", "published", "ours"]]
    lines += [[f"{line.row}, {line.column}", line.published, f"{line.ours:.2f}"] for line in found]
    return table(lines)


def _variants(config: Config, folder: Path) -> str:
    found = [line for line in read(VariantCount, folder) if line.table == config.name]
    if not found:
        return ""
    lines = [["other reading", "what it changes", "cells", "reproduced", "as chosen", "repetitions"]]
    for line in found:
        why = config.variants.get(line.variant, {}).get("why", "")
        numbers = (line.cells, line.reproduced, line.reproduced_as_chosen, line.repetitions)
        lines.append([line.variant, why, *map(str, numbers)])
    return table(lines)


def _reasons(cells: Sequence[Cell]) -> str:
    """Why cells are better or not reproduced, each reason once."""
    found = {"Better": BETTER, "Not reproduced": NOT_REPRODUCED}
    lists = [(title, _listed_reasons([cell for cell in cells if cell.verdict == of])) for title, of in found.items()]
    return "\n\n".join(f"{title}:\n\n{text}" for title, text in lists if text)


def _listed_reasons(cells: Sequence[Cell]) -> str:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        reason = reason_for(cell)
        key = (CAUSES[reason.cause], reason.text.strip()) if reason else ("why is not known", "")
        by_reason.setdefault(key, []).append(f"{cell.row}, {cell.column}")
    return "\n".join(
        f"- {'; '.join(places)}. **{cause[0].upper()}{cause[1:]}.** {text}".rstrip()
        for (cause, text), places in by_reason.items()
    )


def _times(folder: Path) -> str:
    found = series(read(Time, folder))
    lines = [["table", "method", "rows", "paper's seconds", "ours", "paper's power of n", "ours"]]
    for one in found:
        lines.append(
            [
                called(one.table),
                one.method,
                listed(one.rows),
                ", ".join(f"{value:g}" for value in one.published),
                ", ".join(f"{value:.2g}" for value in one.ours),
                _power(one.published_power),
                _power(one.our_power),
            ]
        )
    return TIMES + table(lines)


def _power(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _data() -> str:
    lines = [["name", "what it is", "rows", "features", "on OpenML", "file", "SHA-256"]]
    for name, about in known().items():
        rows = str(about.get("rows", f"{about.get('splits')} splits"))
        features = str(about.get("features", f"{about.get('train')} + {about.get('test')}"))
        where = [about.get("openml", ""), f"`{about['file']}`", f"`{about['sha256'][:12]}…`"]
        lines.append([name, about["source"], rows, features, *where])
    return DATA + table(lines)
