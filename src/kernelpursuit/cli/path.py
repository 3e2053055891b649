"""`kernelpursuit path`: the models of every size that a fit has left behind, and smaller ones of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Model
from kernelpursuit.cli.screen import Screen, facts, grid

# Sizes that a table shows, when not all are asked for.
SHOWN = 20


def path(
    screen: Screen,
    model: Model,
    select: Annotated[
        str | None,
        typer.Option(
            "--select",
            metavar="RULE",
            show_default=False,
            help="Take the size that this stopping rule keeps, such as one-se.",
        ),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="K", show_default=False, help="Take this size."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Write the model of that size."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all sizes.")] = False,
    small: Annotated[bool, typer.Option("--small", help="Write the model without the sizes above its own.")] = False,
) -> None:
    """Show the errors of all sizes on the path, or take a model of another size; nothing is fitted."""
    from kernelpursuit import load
    from kernelpursuit.cli.goals import check_goal, size_of

    if select is not None and at is not None:
        raise typer.BadParameter("--select and --at both choose a size; give one of them.")
    if out is None and small:
        raise typer.BadParameter("--small is for a model that is written; give --out FILE.")
    check_goal(out)
    fitted = load(model)
    chosen = fitted.select(select) if select is not None else fitted.at(at) if at is not None else fitted
    columns, kept = _columns(chosen)
    if out is not None:
        written = chosen.at(chosen.model_.n_steps, keep_path=False) if small else chosen
        written.save(out)
        known = {"n_atoms": int(chosen.n_atoms_), "stop_reason": chosen.stop_reason_, "model": str(out)}
        lines = {"atoms": known["n_atoms"], "why": known["stop_reason"], "model": f"{out}, {size_of(out)}"}
        screen.show(known, lambda: [facts(f"from {model}", lines)])
        return
    known = {"model": str(model), "kept": kept, "stop_reason": chosen.stop_reason_, "path": columns}
    screen.show(known, lambda: [_table(f"path of {model}", _errors(chosen), kept, every), chosen.stop_reason_])


def _columns(fitted: Any) -> tuple[dict[str, Any], int]:
    """The path as columns, and the number of steps that are kept."""
    from kernelpursuit.model import OneVsRestModel

    if isinstance(fitted.model_, OneVsRestModel):
        raise ValueError("this model has a path for each class (multi_class='ovr'); fit with multi_class='shared'.")
    return fitted.path_.columns(), int(fitted.model_.n_steps)


def _table(title: str, columns: dict[str, Any], kept: int, every: bool) -> Any:
    """All sizes, or some of them, more of the small ones, with the one that is kept."""
    import numpy as np

    n_rows = len(columns["atoms"])
    some = np.arange(n_rows)
    if not every and n_rows > SHOWN:
        some = np.unique([0, kept, *np.geomspace(1, n_rows - 1, SHOWN).round().astype(int)])
    rows = [[values[k].item() for values in columns.values()] for k in some]
    return grid(title, list(columns), rows, marked=int(np.searchsorted(some, kept)))


def _errors(fitted: Any) -> dict[str, Any]:
    """What a reader wants to see of a path: sizes, and errors in the unit of the target where they have one."""
    import numpy as np

    path, is_classifier = fitted.path_, hasattr(fitted, "classes_")
    shown: dict[str, Any] = {"atoms": path.size}
    if path.n_steps and path.size[-1] != path.n_steps:
        shown = {"steps": np.arange(path.n_steps + 1), **shown}
    in_units = path.loss == "squared" and not is_classifier and path.n_targets == 1
    name, root = ("RMSE", np.sqrt) if in_units else (f"{path.loss} loss", np.asarray)
    if in_units:
        shown["training RMSE"] = np.sqrt(np.square(path.residual_norm) / path.total_weight)
    criteria = {"leave-one-out": path.loo, "validation": path.validation, "folds": path.cv}
    wrong = {"leave-one-out": path.loo_error, "validation": path.validation_error, "folds": path.cv_error}
    for where, values in criteria.items():
        if wrong[where] is not None:
            shown[f"{where} wrong classes"] = wrong[where]
        if values is not None:
            shown[f"{where} {name}"] = root(values)
        if values is path.loo is not None and path.loo_se is not None:
            # To first order, the root of a mean has its standard error over twice the root.
            shown["standard error"] = path.loo_se / (2 * np.sqrt(np.maximum(path.loo, 1e-300)) if in_units else 1)
    return {**shown, "degrees of freedom": path.dof}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, path)
