"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="Rows: CSV or TSV (also .gz), Parquet, Arrow or Feather, a folder of these, .npy, .npz, or svmlight.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", show_default=False, help="A model that fit has written.")]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        show_default=False,
        help="Column to predict, by name or by position from 0, or from -1 at the end; of .npz an array.",
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features", metavar="NAMES", show_default=False, help="Columns to predict from; by default all others."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="NAMES", show_default=False, help="Columns to leave out."),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="NAME", show_default=False, help="Column of sample weights."),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TASK",
        show_default=False,
        help="regression or classification; by default the target decides.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        show_default=False,
        help="A parameter of the estimator, such as --set max_atoms=50; as often as needed.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of splits, and random_state of the estimator.")]
