"""`kernelpursuit cv`: how good a fit is on rows that it has not seen, by cross-validation."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Data, Drop, Features, Seed, Settings, Target, TaskName
from kernelpursuit.cli.screen import Screen, grid

SPLITS = ("kfold", "stratified", "group", "time")


def cv(
    screen: Screen,
    data: Data,
    target: Target = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Rounds, each with other folds.")] = 1,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="KIND",
            show_default=False,
            help="kfold, stratified, group or time; by default stratified for classes, else kfold.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups", metavar="NAME", show_default=False, help="Column of groups, which are not divided; no feature."
        ),
    ] = None,
    task: TaskName = None,
    features: Features = None,
    drop: Drop = None,
    seed: Seed = 0,
    settings: Settings = None,
) -> None:
    """Cross-validate a fit: scores of every fold, with their mean and its standard error."""
    import numpy as np
    from sklearn.base import clone

    from kernelpursuit.cli.columns import Columns
    from kernelpursuit.cli.data import column_of, in_memory, open_training
    from kernelpursuit.cli.fitting import decided_task
    from kernelpursuit.cli.progress import FitProgress
    from kernelpursuit.cli.scores import scores
    from kernelpursuit.cli.settings import estimator_for, parsed

    kind = _kind(split, groups, repeats)
    given = parsed(settings)
    left_out = [*(drop or []), *([] if groups is None else [groups])]
    rows = open_training(data, Columns.of(target, features, left_out, None))
    decided = decided_task(screen, rows, task)
    estimator = estimator_for(decided.is_classification, seed, given)
    kind = kind or ("stratified" if decided.is_classification else "kfold")
    labels = None if groups is None else column_of(data, groups)
    X, y, _ = in_memory(rows.source)
    started, total = time.perf_counter(), folds * repeats
    table: dict[str, list[float]] = {"n_atoms": []}
    with screen.progress("fitting") as bar:
        for i, (train, test) in enumerate(_splitter(kind, folds, repeats, seed).split(X, y, labels)):
            follow = FitProgress(bar, start=i / total, share=1 / total, words=f"fold {i + 1} of {total}: ")
            fitted = clone(estimator).fit(X[train], y[train], callback=follow)
            table["n_atoms"].append(int(fitted.n_atoms_))
            for name, value in scores(fitted, X[test], y[test]).items():
                table.setdefault(name, []).append(value)
    # A fold without rows of some class has no score that needs them, and so there is no mean of it.
    table = {name: values for name, values in table.items() if len(values) == len(table["n_atoms"])}
    known = {
        "data": str(data),
        "target": rows.name,
        "task": decided.name,
        "split": kind,
        "n_rows": int(X.shape[0]),
        "folds": table,
        "mean": {name: float(np.mean(values)) for name, values in table.items()},
        "standard_error": {name: float(np.std(values, ddof=1) / len(values) ** 0.5) for name, values in table.items()},
        "seconds": time.perf_counter() - started,
    }
    screen.show(known, lambda: [_table(known)])


def _kind(split: str | None, groups: str | None, repeats: int) -> str | None:
    """The kind of split, where the user has said one."""
    if split is not None and split not in SPLITS:
        raise typer.BadParameter(f"--split {split!r} is not known; use one of {', '.join(SPLITS)}.")
    if (split == "group") != (groups is not None) and not (split is None and groups is not None):
        raise typer.BadParameter("--split group and --groups NAME go together; give both.")
    kind = "group" if groups is not None else split
    if repeats > 1 and kind in ("group", "time"):
        raise typer.BadParameter(f"--repeats is for folds that are drawn, and those of --split {kind} are not.")
    return kind


def _splitter(kind: str, folds: int, repeats: int, seed: int) -> Any:
    """Scikit-learn's splitter."""
    from sklearn import model_selection as splits

    if kind == "group":
        return splits.GroupKFold(folds)
    if kind == "time":
        return splits.TimeSeriesSplit(folds)
    if repeats > 1:
        repeated = splits.RepeatedStratifiedKFold if kind == "stratified" else splits.RepeatedKFold
        return repeated(n_splits=folds, n_repeats=repeats, random_state=seed)
    return (splits.StratifiedKFold if kind == "stratified" else splits.KFold)(folds, shuffle=True, random_state=seed)


def _table(known: dict[str, Any]) -> Any:
    from kernelpursuit.cli.scores import TITLES

    table, names = known["folds"], list(known["folds"])
    rows: list[list[object]] = [[str(i + 1), *one] for i, one in enumerate(zip(*table.values()))]
    rows.append(["mean", *(known["mean"][name] for name in names)])
    rows.append(["standard error", *(known["standard_error"][name] for name in names)])
    title = f"{known['task']} of {known['target']}, {known['n_rows']:,} rows, {known['seconds']:.1f} s"
    return grid(title, ["fold", *({"n_atoms": "atoms", **TITLES}[name] for name in names)], rows, marked=len(rows) - 2)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, cv)
