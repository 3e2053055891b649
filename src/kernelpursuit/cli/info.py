"""`kernelpursuit info`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Model
from kernelpursuit.cli.screen import Screen, facts


def info(screen: Screen, model: Model) -> None:
    """Say what a model file holds, after a check that it is whole."""
    from kernelpursuit import load
    from kernelpursuit.cli.described import described
    from kernelpursuit.saved import describe

    known: dict[str, Any] = {"file": str(model), **describe(model), "n_bytes": model.stat().st_size}
    if not known["needs"]:
        # Reading the model checks all that is in it.
        fitted = load(model)
        known = {**known, **described(fitted), "parameters": _changed(fitted)}
    screen.show(known, lambda: [_table(known, model)])


def _changed(fitted: Any) -> dict[str, Any]:
    """Parameters that are not the defaults."""
    usual = type(fitted)().get_params(deep=False)
    return {name: value for name, value in fitted.get_params(deep=False).items() if repr(value) != repr(usual[name])}


def _table(known: dict[str, Any], model: Path) -> Any:
    from kernelpursuit.cli.described import in_words, short
    from kernelpursuit.cli.goals import size_of

    names = known["feature_names"]
    lines = {
        "holds": f"{known['estimator']}, written by kernelpursuit {known['library']}, format {known['format']}",
        "features": f"{known['n_features']}" + (f": {short(', '.join(names))}" if names else ", without names"),
        "size": size_of(model),
    }
    if "task" not in known:
        needs = ", ".join(f"{name!r} (a {kind})" for name, kind in known["needs"].items())
        more = {"atoms": known["n_atoms"], "why": known["reason"], "kernel": short(known["kernel"])}
        return facts(str(model), {**lines, **more, "needs": f"{needs}, to be loaded in Python"})
    parameters = ", ".join(f"{name}={value!r}" for name, value in known["parameters"].items())
    return facts(str(model), {**lines, **in_words(known), "parameters": short(parameters)})


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, info)
