"""`kernelpursuit report`: a model as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Drop, Model, Target
from kernelpursuit.cli.screen import Screen, facts


def report(
    screen: Screen,
    model: Model,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", show_default=False, help="The page, such as r.html.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DATA", show_default=False, help="Rows to show the model on; they need --target."
        ),
    ] = None,
    target: Target = None,
    drop: Drop = None,
    title: Annotated[
        str | None,
        typer.Option("--title", show_default=False, help="Of the page."),
    ] = None,
) -> None:
    """Write a page about a model, on rows of its own or of a file."""
    from kernelpursuit import load
    from kernelpursuit.cli.columns import Columns
    from kernelpursuit.cli.data import in_memory, open_training
    from kernelpursuit.cli.goals import check_goal, size_of

    check_goal(out, model, data)
    fitted = load(model)
    X, y = None, None
    if data is not None:
        names = getattr(fitted, "feature_names_in_", None)
        columns = Columns.of(target, None if names is None else [str(name) for name in names], drop, None)
        rows = open_training(data, columns)
        X, y, _ = in_memory(rows.source)
    elif target is not None:
        raise typer.BadParameter("--target is a column of rows; give them by --data FILE.")
    fitted.report(out, X, y, title=title)
    known = {"model": str(model), "out": str(out), "n_rows": None if y is None else len(y)}
    lines = {"rows": None if y is None else f"{len(y):,} of {data}", "written to": f"{out}, {size_of(out)}"}
    screen.show(known, lambda: [facts(f"report of {model}", lines)])


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, report)
