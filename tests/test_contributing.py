"""What contributors are told to run is one and the same everywhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def recipe(target):
    """The commands of a target of the Makefile, without the folder of tools."""
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    return [line.strip().removeprefix("$(BIN)/") for line in lines.splitlines()]


def test_pre_commit_checks_what_lint_checks():
    hooks = re.findall(r"entry: \.venv/bin/(.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert hooks == recipe("lint")
    assert len(hooks) == 3


def test_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE).group(1).split()) <= targets
    for page in ("CONTRIBUTING.md", ".github/workflows/ci.yml", ".ci/run"):
        named = set(re.findall(r"(?:^    |`|run: |^)make ([\w-]+)", (ROOT / page).read_text(), re.MULTILINE))
        assert named, page
        assert named <= targets, page


def test_folders_of_tests_exist():
    makefile, pages = (ROOT / "Makefile").read_text(), ("CONTRIBUTING.md", "docs/architecture.md")
    listed = re.search(r"addprefix tests/, ([\w ]+)\)", makefile).group(1).split()
    named = [name for page in pages for name in re.findall(r"`tests/(\w+)/?`", (ROOT / page).read_text())]
    for name in [*listed, *named]:
        assert (ROOT / "tests" / name).is_dir(), name


def test_folders_are_named_after_rooms():
    across = {"contract", "degenerate", "papers", "property", "reproduce", "unchanged"}
    rooms = {room.name.lstrip("_") for room in (ROOT / "src" / "kernelpursuit").iterdir() if room.is_dir()}
    folders = {folder.name for folder in (ROOT / "tests").iterdir() if any(folder.glob("*.py"))}
    assert across < folders <= across | rooms


def test_extras_name_only_what_exists():
    """`all` is every extra that users have, and each of its packages is imported somewhere in the sources."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    ours = sorted(set(extras) - {"all", "bench", "dev", "docs", "test"})
    assert extras["all"] == [f"kernelpursuit[{','.join(sorted(ours, reverse=True))}]"]
    source = "".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    for extra in ours:
        packages = [one.partition(">=")[0] for one in extras[extra]]
        assert any(f"import {package}" in source for package in packages), extra


def test_types_are_published():
    assert (ROOT / "src" / "kernelpursuit" / "py.typed").exists()


def test_the_recording_of_fits_finds_a_difference(tmp_path):
    """The tool for refactoring passes on what it recorded, and fails on a changed number."""
    tool = [sys.executable, str(ROOT / "tests" / "unchanged" / "record.py")]
    file, case = tmp_path / "before.npz", "preset rfs"

    def compare():
        return subprocess.run([*tool, "--compare", file, "--only", case], capture_output=True, text=True, check=False)

    subprocess.run([*tool, file, "--only", case], check=True, capture_output=True)
    assert compare().returncode == 0, compare().stdout
    code = f"""
import numpy as np
stored = dict(np.load({str(file)!r}))
stored["preset rfs :: path.cost"][3] *= 1 + 1e-8
np.savez({str(file)!r}, **stored)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    done = compare()
    assert done.returncode == 1
    assert "preset rfs: path.cost: " in done.stdout
    assert "1 differences" in done.stdout
