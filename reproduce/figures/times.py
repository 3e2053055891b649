"""Times against the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from kernelpursuit.plotting.parts import BLUE, GREEN, ORANGE
from reproduce.growth import Series

COLOURS = {"PTR": BLUE, "TR2": ORANGE, "SVR": GREEN}


def against_rows(found: Sequence[Series]) -> Figure:
    """One panel a table: the paper's times dashed, ours solid, with the powers of n."""
    tables = list(dict.fromkeys(one.table for one in found))
    figure = Figure(figsize=(3.4 * len(tables), 4.6), layout="constrained")
    for place, table in enumerate(tables):
        axes = figure.add_subplot(1, len(tables), place + 1)
        for one in (one for one in found if one.table == table):
            colour = COLOURS[one.method.split()[0]]
            axes.loglog(
                one.rows, one.published, "--o", color=colour, mfc="white", ms=4,
                label=f"{one.method}, paper: n^{one.published_power:.1f}",
            )  # fmt: skip
            axes.loglog(
                one.rows, one.ours, "-o", color=colour, ms=4, label=f"{one.method}, ours: n^{one.our_power:.1f}"
            )
        axes.set(title=table.replace("-", " ").replace("xu", "Xu"), xlabel="rows")
        axes.set_ylabel("seconds" if place == 0 else "")
        axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    return figure
