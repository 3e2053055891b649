"""The pages of `docs/reproduction/`, made from the result files and the configurations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from reproduce.cells import BETTER, JUDGED, NOT_REPRODUCED, REPRODUCED, Cell, number_of, published
from reproduce.config import CAUSES, PAPERS, Config, named, names
from reproduce.data import known
from reproduce.growth import series
from reproduce.results import FOLDER, PValue, Time, VariantCount, counts, read, reason_for

MARKS = {REPRODUCED: "", BETTER: " ▾", NOT_REPRODUCED: " ✗"}
LEGEND = (
    "published / ours (difference in published standard errors, where below 1,000); ▾ better, ✗ not reproduced. "
    "Verdicts go by the standard errors of both."
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
    _write(folder / "index.md", _index(cells))
    for paper in PAPERS:
        _write(folder / f"{paper}.md", _paper(paper, cells, folder))
    _write(folder / "times.md", _times(folder))
    _write(folder / "data.md", _data())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MADE + text.rstrip() + "\n")


def _index(cells: Sequence[Cell]) -> str:
    found = counts(cells)
    right = found[REPRODUCED] + found[BETTER]
    lines = [
        ["Table or figure", "what it shows", "cells", REPRODUCED, BETTER, NOT_REPRODUCED],
        *(_index_line(named(name), cells) for name in names()),
        ["**all**", "", *(f"**{n}**" for n in (len(cells), *found.values()))],
    ]
    text = (Path(__file__).parent / "index.md").read_text()
    headline = (
        f"Of {len(cells)} cells, {right} ({100 * right / max(len(cells), 1):.1f} %) are reproduced or better: "
        f"{found[REPRODUCED]} reproduced, {found[BETTER]} better, {found[NOT_REPRODUCED]} not. "
        f"{_fewer(cells)} cells are of fewer repetitions than the paper's, which widens what counts as reproduced; "
        "the pages say how many."
    )
    return text.replace("{headline}", headline).replace("{tables}", _table(lines))


def _fewer(cells: Sequence[Cell]) -> int:
    return sum(cell.repetitions < number_of(cell).repetitions for cell in cells)


def _index_line(config: Config, cells: Sequence[Cell]) -> list[str]:
    found = counts(cell for cell in cells if cell.table == config.name)
    total = sum(found.values())
    numbers = [str(n) if total else "" for n in (total, *found.values())]
    return [f"[{_called(config.name)}]({config.paper}.md#{_anchor(config.name)})", config.title, *numbers]


def _paper(paper: str, cells: Sequence[Cell], folder: Path) -> str:
    parts = [f"# {PAPERS[paper]}\n\n{LEGEND} [What that means](index.md#verdicts).\n"]
    for name in (name for name in names() if name.split("-")[0] == paper):
        config = named(name)
        own = [cell for cell in cells if cell.table == name]
        parts.append(f"## {_called(name)}\n\n{config.title}. `python -m reproduce {name}`")
        if config.protocol:
            parts.append(config.protocol)
        elif config.runs != name:
            parts.append(f"From the runs of [{_called(config.runs)}](#{_anchor(config.runs)}).")
        if config.figure:
            parts.append(f"![{config.title}.](images/{name}.svg)")
        if own:
            parts += [_cells(own), _repetitions(own), _quoted(name)]
        parts += [_p_values(name, folder), _variants(config, folder), _reasons(own)]
    return "\n\n".join(part for part in parts if part)


def _cells(cells: Sequence[Cell]) -> str:
    """A table as the paper has it, each cell beside ours."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows = list(dict.fromkeys(cell.row for cell in cells))
    by_place = {(cell.row, cell.column): cell for cell in cells}
    lines = [["", *columns]]
    for row in rows:
        lines.append([row, *(_shown(by_place[row, column]) if (row, column) in by_place else "" for column in columns)])
    return _table(lines)


def _shown(cell: Cell) -> str:
    digits = round(-math.log10(2 * number_of(cell).half_digit))
    ours = f"{cell.ours:.{max(digits, 1 if cell.ours % 1 else 0)}f}"
    return f"{cell.published} / {ours}{_distance(cell)}{MARKS[cell.verdict]}"


def _distance(cell: Cell) -> str:
    """The difference in published standard errors; nothing where those are zero or next to it."""
    difference = cell.ours - float(cell.published)
    if abs(difference) >= 1000 * cell.published_se:
        return ""
    return f" ({difference / cell.published_se:+.1f})"


def _repetitions(cells: Sequence[Cell]) -> str:
    ours = sorted({cell.repetitions for cell in cells})
    printed = {cell.repetitions for cell in published()[cells[0].table] if cell.kind in JUDGED}
    return f"Repetitions: ours {' to '.join(map(str, sorted({ours[0], ours[-1]})))}, the paper's {_listed(printed)}."


def _quoted(table: str) -> str:
    quoted = [cell for cell in published()[table] if cell.kind == "quoted"]
    if not quoted:
        return ""
    lines = [["", *dict.fromkeys(cell.column for cell in quoted)]]
    for row in dict.fromkeys(cell.row for cell in quoted):
        lines.append([row, *(cell.text for cell in quoted if cell.row == row)])
    return f"Quoted from the paper, not run:\n\n{_table(lines)}"


def _p_values(table: str, folder: Path) -> str:
    found = [line for line in read(PValue, folder) if line.table == table]
    if not found:
        return ""
    lines = [["p-value of", "published", "ours"]]
    lines += [[f"{line.row}, {line.column}", line.published, f"{line.ours:.2f}"] for line in found]
    return _table(lines)


def _variants(config: Config, folder: Path) -> str:
    found = [line for line in read(VariantCount, folder) if line.table == config.name]
    if not found:
        return ""
    lines = [["other reading", "what it changes", "reproduced + better, of", "as chosen", "repetitions"]]
    for line in found:
        why = config.variants.get(line.variant, {}).get("why", "")
        theirs, ours = (f"{line.reproduced} + {line.better}", f"{line.reproduced_as_chosen} + {line.better_as_chosen}")
        lines.append([line.variant, why, f"{theirs} of {line.cells}", ours, str(line.repetitions)])
    return _table(lines)


def _reasons(cells: Sequence[Cell]) -> str:
    """Why cells are not reproduced, each reason once."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.verdict == NOT_REPRODUCED:
            reason = reason_for(cell)
            key = (CAUSES[reason.cause], reason.text.strip()) if reason else ("not yet known", "")
            by_reason.setdefault(key, []).append(f"{cell.row}, {cell.column}")
    if not by_reason:
        return ""
    return "Not reproduced:\n\n" + "\n".join(
        f"- {'; '.join(places)}. **{cause[0].upper()}{cause[1:]}.** {text}"
        for (cause, text), places in by_reason.items()
    )


def _times(folder: Path) -> str:
    found = series(read(Time, folder))
    lines = [["table", "method", "rows", "paper's seconds", "ours", "paper's power of n", "ours"]]
    for one in found:
        lines.append(
            [
                _called(one.table),
                one.method,
                _listed(one.rows),
                ", ".join(f"{value:g}" for value in one.published),
                ", ".join(f"{value:.2g}" for value in one.ours),
                _power(one.published_power),
                _power(one.our_power),
            ]
        )
    return TIMES + _table(lines)


def _power(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _data() -> str:
    lines = [["name", "what it is", "rows", "features", "on OpenML", "file", "SHA-256"]]
    for name, about in known().items():
        rows = str(about.get("rows", f"{about.get('splits')} splits"))
        features = str(about.get("features", f"{about.get('train')} + {about.get('test')}"))
        lines.append(
            [name, rows, features, about.get("openml", ""), f"`{about['file']}`", f"`{about['sha256'][:12]}…`"]
        )
    return DATA + _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *rest = lines
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
        for line in (head, ["---"] * len(head), *rest)
    )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(f"{number:,}" for number in sorted(numbers))


def _called(name: str) -> str:
    paper, kind, number = name.split("-")
    return f"{'KMP' if paper == 'kmp' else paper.capitalize()}, {kind} {number}"


def _anchor(name: str) -> str:
    return _called(name).lower().replace(",", "").replace(" ", "-")
