"""All commands, and what becomes of a call that cannot be understood."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kernelpursuit.cli import cv, demo, export, fit, info, path, predict, report

# The base of all that is wrong with a call, wherever the version of typer at hand has it.
WRONG_CALL: Any = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")


class Commands(TyperGroup):
    """The group of all commands, which says in one sentence what is wrong with a call, and ends with 2."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and end with its code."""
        extra.update(complete_var=complete_var, windows_expand_args=windows_expand_args)
        try:
            found = super().main(args, prog_name, standalone_mode=False, **extra)
            code = found if isinstance(found, int) else 0
        except WRONG_CALL as error:
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
