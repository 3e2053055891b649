"""Figures of the report, as SVG that is the same for the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduce import results, run
from reproduce.config import Config, function, named
from reproduce.growth import series


def draw(config: Config, folder: Path) -> None:
    """Draw the figure of a configuration, if it has one and the repetitions of a quick pass are done."""
    source = named(config.runs)
    quick = run.tasks(source, full=False)
    if config.figure and len(run.done(quick)) == len(quick):
        settings = dict(source.parts[0].settings) if source.parts else {}
        measured = run.done(run.tasks(source, full=True))
        _save(function(config.figure, "figures")(measured, **settings), folder / "images", config.name)


def draw_times(folder: Path) -> None:
    """Draw the times of the report beside those that papers print."""
    found = [one for one in results.read(results.Time, folder) if one.published]
    if found:
        _save(function("times:against_rows", "figures")(series(found)), folder / "images", "times")


def _save(figure: Any, folder: Path, name: str) -> None:
    from matplotlib import rc_context
    from matplotlib.contour import QuadContourSet

    # The shades of a plane are a hundred times larger as curves than as a picture.
    for shades in figure.findobj(lambda artist: isinstance(artist, QuadContourSet) and artist.filled):
        shades.set_rasterized(True)
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight", dpi=100)
