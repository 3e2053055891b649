"""`kernelpursuit export`: a model in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Model
from kernelpursuit.cli.screen import Screen, facts, number


def export(
    screen: Screen,
    model: Model,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", show_default=False, help="The file: .onnx, .h, .mjs, .js, .py or .sql."
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="LANGUAGE",
            show_default=False,
            help="onnx, c, javascript, python or sql; by default the ending of FILE.",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option("--dtype", show_default=False, help="Of ONNX and C: float64 or float32."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            show_default=False,
            help="The share of targets that intervals should hold, to have intervals as well.",
        ),
    ] = None,
    quantise: Annotated[bool, typer.Option("--quantise", help="Of C: centres as 16-bit integers.")] = False,
    table: Annotated[
        str | None,
        typer.Option("--table", show_default=False, help="Of SQL: the table that rows are in."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", show_default=False, help="Of SQL: a column that goes along with predictions."),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option("--dialect", show_default=False, help="Of SQL: duckdb or sqlite."),
    ] = None,
) -> None:
    """Write a model as ONNX, C, JavaScript, Python or SQL."""
    from kernelpursuit import load
    from kernelpursuit.cli.goals import check_goal

    check_goal(out, model)
    given = {"to": to, "dtype": dtype, "interval": interval, "table": table, "key": key, "dialect": dialect}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    made = load(model).export(out, **options, **({"quantise": True} if quantise else {}))
    known = {
        "model": str(model),
        "out": str(made.path),
        "language": made.target,
        "n_bytes": made.n_bytes,
        "multiply_adds": made.multiply_adds,
        "exponentials": made.exponentials,
        "microseconds": made.microseconds,
        "note": made.note,
    }
    lines = {
        "language": made.target,
        "a prediction": f"{made.multiply_adds:,} multiply-adds, {made.exponentials:,} exponentials, about "
        f"{number(made.microseconds)} us",
        "note": made.note,
        "written to": f"{made.path}, {made.n_bytes:,} bytes",
    }
    screen.show(known, lambda: [facts(f"export of {model}", lines)])


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, export)
