"""What every command shares: --json, --quiet and --debug, and one sentence for whatever goes wrong."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from kernelpursuit.cli.screen import Screen

Json = Annotated[bool, typer.Option("--json", help="Write the result to stdout as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code a failure comes from.")]
COMMON = {"as_json": Json, "quiet": Quiet, "debug": Debug}
# What the library advises in Python, and what that is here.
HERE = {
    "choose columns by rows.open_rows(X, features=[...])": "leave columns out by --drop",
    ", with sklearn.preprocessing.OneHotEncoder or OrdinalEncoder": "",
    ", or leave it out by open_rows(..., features=[...])": "",
    "use KernelPursuitClassifier for labels": "--task classification is for labels",
    "as in to='onnx'": "as in --to onnx",
    "that model.save() has written": "that fit has written",
}


def add(app: typer.Typer, function: Callable[..., None]) -> None:
    """Add a command: a function of a screen and of its own arguments and options."""
    signature = inspect.signature(function, eval_str=True)
    own = [one for one in signature.parameters.values() if one.annotation is not Screen]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in COMMON.items()
    ]

    def run(*, as_json: bool, quiet: bool, debug: bool, **given: Any) -> None:
        screen = Screen(as_json, quiet)
        with _one_sentence(screen, debug), _warnings_on(screen):
            function(screen, **given)

    by_name = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    run.__signature__ = signature.replace(parameters=[*by_name, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [*own, *shared]}
    run.__doc__ = function.__doc__
    app.command(name=function.__name__)(run)


@contextmanager
def _one_sentence(screen: Screen, debug: bool) -> Iterator[None]:
    """Turn failures into a sentence on stderr, and end with 1; with 130 after Ctrl-C."""
    from kernelpursuit.exceptions import InterruptedFitWarning

    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.BadParameter):
        raise
    except (KeyboardInterrupt, InterruptedFitWarning):
        screen.fail("interrupted; no file was written.")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # Who read stdout has had enough. What is left in its buffer must not be written at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        screen.fail(sentence_of(error))
        raise typer.Exit(1) from None


def sentence_of(error: Exception) -> str:
    """What went wrong, in one line."""
    # What a file holds may be quoted, and a terminal obeys some characters.
    words = "".join(one if one.isprintable() else "?" for one in " ".join(str(error).split()))
    for in_python, here in HERE.items():
        words = words.replace(in_python, here)
    if isinstance(error, OSError) and error.strerror and error.filename:
        words = f"{error.filename} cannot be used: {error.strerror}."
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({words}); use fewer rows, or --set max_atoms to fewer atoms."
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)) and words:
        return words
    return f"{type(error).__name__}: {words}; --debug shows where it comes from."


@contextmanager
def _warnings_on(screen: Screen) -> Iterator[None]:
    """Show warnings as lines of the log; that a fit was interrupted ends the command."""
    from kernelpursuit.exceptions import InterruptedFitWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("error", InterruptedFitWarning)
        # Columns were chosen by their names before rows became arrays.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        warnings.showwarning = lambda message, *_, **__: screen.warn(" ".join(str(message).split()))
        yield
