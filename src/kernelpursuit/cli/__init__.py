"""The command line: `kernelpursuit fit`, `predict`, `path`, `cv`, `info`, `export`, `report` and `demo`.

app        all commands, and what becomes of a wrong call
command    what every command shares: --json, --quiet, --debug, failures in one sentence
screen     stdout for results, as tables or JSON, and stderr for the rest; `progress` draws its bars
data       rows, targets and weights from files; `arrays` opens those without columns, `split` holds rows out
task       regression or classification
settings   estimators from `--set name=value`; `scores` says how good they are

Nothing that takes long to import is imported before a command runs.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from kernelpursuit.cli.app import app

        app()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write(f"The command line needs {error.name}: pip install 'kernelpursuit[cli]'.\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
