"""How times grow with the number of rows: ours beside the papers', as powers of n."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reproduce.config import named
from reproduce.data import known
from reproduce.results import Time

SIZE = re.compile(r"\b[nm]=([\d,]+),?\s*")


@dataclass(frozen=True)
class Series:
    """Times of one method against the number of rows."""

    table: str
    method: str
    rows: tuple[int, ...]
    published: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def published_power(self) -> float | None:
        """The power of n by which the paper's times grow."""
        return _power(self.rows, self.published) if self.published else None

    @property
    def our_power(self) -> float | None:
        """The power of n by which ours grow."""
        return _power(self.rows, self.ours)


def series(times: Iterable[Time]) -> list[Series]:
    """The times sorted into series, one a table and method, by number of rows."""
    found: dict[tuple[str, str], list[tuple[int, Time]]] = defaultdict(list)
    for time in times:
        rows, method = _rows_and_method(time)
        found[time.table, method].append((rows, time))
    made = []
    for (table, method), points in found.items():
        points.sort(key=lambda point: point[0])
        printed = tuple(float(time.published) for _, time in points if time.published)
        made.append(
            Series(
                table,
                method,
                tuple(rows for rows, _ in points),
                printed if len(printed) == len(points) else (),
                tuple(time.ours for _, time in points),
            )
        )
    return made


def _rows_and_method(time: Time) -> tuple[int, str]:
    """What a name such as "n=1,000, PTR | TIME" or "Boston h. | PTR TIME" stands for."""
    row, _, column = time.name.partition(" | ")
    size = SIZE.search(row)
    if size:
        method = f"{SIZE.sub('', row)} {column}"
        return int(size[1].replace(",", "")), _without_time(method)
    part = next(part for part in named(time.table).parts if part.settings.get("row") == row)
    return 4 * known()[part.data[0]]["rows"] // 5, _without_time(column)


def _without_time(text: str) -> str:
    return " ".join(word for word in text.split() if word != "TIME").strip(" |,")


def _power(rows: tuple[int, ...], seconds: tuple[float, ...]) -> float | None:
    if len(rows) < 2:
        return None
    slope, _ = np.polyfit(np.log(rows), np.log(np.maximum(seconds, 1e-6)), 1)
    return float(slope)
