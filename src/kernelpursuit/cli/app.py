"""All commands, and what becomes of a call that cannot be understood."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kernelpursuit.cli import cv, demo, export, fit, info, path, predict, report

# The base of all that is wrong with a call, wherever the version of typer at hand has it.
WrongCall = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")


class Commands(TyperGroup):
    """The group of all commands, which says in one sentence what is wrong with a call, and ends with 2."""

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command and end with its code."""
        try:
            found = super().main(*args, standalone_mode=False, **options)
            code = found if isinstance(found, int) else 0
        except WrongCall as error:
            code = _explain(error)
        except typer.Abort:
            code = 130
        if standalone_mode:
            sys.exit(code)
        return code


def _explain(error: Any) -> int:
    context = getattr(error, "ctx", None)
    where = "kernelpursuit" if context is None else context.command_path
    words = " ".join(error.format_message().split()).removeprefix("Invalid value: ")
    if type(error).__name__ == "NoArgsIsHelpError":
        # Its message is the help itself.
        sys.stderr.write(f"{error.format_message()}\n")
        return 2
    sys.stderr.write(f"{where}: {words.rstrip('.')}; see '{where} --help'.\n")
    return 2


def _version(wanted: bool) -> None:
    if wanted:
        from kernelpursuit import __version__

        typer.echo(f"kernelpursuit {__version__}")
        raise typer.Exit()


app = typer.Typer(name="kernelpursuit", cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version, and nothing else.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Small nonlinear regression and classification models, from files of rows to files of predictions."""


for _room in (fit, predict, path, cv, info, export, report, demo):
    _room.add_to(app)
