"""`kernelpursuit fit`: a model from a file of rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Data, Drop, Features, Seed, Settings, Target, TaskName, Weights
from kernelpursuit.cli.screen import Screen, facts


def fit(
    screen: Screen,
    data: Data,
    target: Target = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Where the model goes, such as m.kp."),
    ] = None,
    task: TaskName = None,
    features: Features = None,
    drop: Drop = None,
    weights: Weights = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test", metavar="SHARE|FILE", show_default=False, help="Rows to test on: 0.25 of them, or a file."
        ),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            show_default=False,
            help="End after about so long, with the best model so far.",
        ),
    ] = None,
) -> None:
    """Fit a model to rows, say how good it is, and write it to a file."""
    from kernelpursuit.cli.columns import Columns
    from kernelpursuit.cli.data import about_n_rows, open_training, targets_of
    from kernelpursuit.cli.described import described
    from kernelpursuit.cli.fitting import CountedRows, callbacks, decided_task, split
    from kernelpursuit.cli.goals import check_goal
    from kernelpursuit.cli.scores import scores
    from kernelpursuit.cli.settings import estimator_for, parsed

    check_goal(out, data, None if test is None else Path(test))
    given = parsed(settings)
    columns = Columns.of(target, features, drop, weights)
    rows = open_training(data, columns)
    training, testing = split(rows, test, seed, columns)
    decided = decided_task(screen, rows, task)
    model = estimator_for(decided.is_classification, seed, given)
    started = time.perf_counter()
    with screen.progress("reading rows") as bar:
        source = CountedRows(training, bar, about_n_rows(data))
        model.fit(source, callback=callbacks(bar, time_limit))
    seconds = time.perf_counter() - started
    found = None if testing is None else scores(model, testing, targets_of(testing))
    if out is not None:
        model.save(out)
    known = {
        "data": str(data),
        "target": rows.name,
        "n_rows": source.n_seen,
        **described(model),
        "test": found,
        "seconds": seconds,
        "model": None if out is None else str(out),
    }
    screen.show(known, lambda: [_table(known, out)])


def _table(known: dict[str, Any], out: Path | None) -> Any:
    from kernelpursuit.cli.described import in_words
    from kernelpursuit.cli.goals import size_of
    from kernelpursuit.cli.scores import in_line

    words = in_words(known)
    return facts(
        f"{known['task']} of {known['target']}",
        {
            "rows": f"{known['n_rows']:,}, {known['n_features']} features",
            "test error": None if known["test"] is None else in_line(known["test"]),
            **{name: words[name] for name in ("leave-one-out", "atoms", "why", "kernel", "penalty", "irrelevant")},
            "time": f"{known['seconds']:.1f} s",
            "model": "not written; give --out FILE" if out is None else f"{out}, {size_of(out)}",
        },
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, fit)
