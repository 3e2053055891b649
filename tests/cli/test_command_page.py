"""What docs/command-line.md shows is what commands write, but for times."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
# Fitted without settings, to show what that does; here there is no time for all of them.
NOT_RUN = ["kernelpursuit demo", "kernelpursuit --install-completion"]


def examples():
    """Commands of the page with the lines that follow them."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        for example in block.split("$ ")[1:]:
            command, _, shown = example.partition("\n")
            command = command.partition(" | ")[0].partition("#")[0].strip()
            if (
                command.startswith("kernelpursuit ")
                and "--install-completion" not in command
                and command not in NOT_RUN
            ):
                yield command, [line.rstrip() for line in shown.splitlines() if line.strip() not in ("", "...")]


def comparable(lines):
    """Lines without times, and with three digits of numbers, which other machines have too."""
    lines = [re.sub(r"[\d.]+ s\b *", "T", line.rstrip()) for line in lines]
    return [re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}", line) for line in lines]


@pytest.mark.filterwarnings("error")
def test_examples_of_the_page(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = list(examples())
    assert len(commands) > 8
    for command, shown in commands:
        ran = run(*shlex.split(command)[1:])
        written = comparable([*ran.err.splitlines(), *ran.out.splitlines()])
        missing = [line for line in comparable(shown) if line not in written]
        assert not missing, (command, missing, written)
