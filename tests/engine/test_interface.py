"""What docs/architecture.md says of an engine is what the rooms above use of it."""

import re
from pathlib import Path

import numpy as np

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.engine import Engine

ROOT = Path(__file__).parents[2]


def stated():
    """Names in the row of the engine, without its folder and class."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    (row,) = re.findall(r"^\| engine \| `engine/` \|(.*)$", page, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row)) - {"Engine"}


def used():
    """Attributes of engines in the rooms above."""
    source = ROOT / "src" / "kernelpursuit"
    files = [
        path for path in source.rglob("*.py") if path.parent.name not in ("engine", "_native", "kernels", "dictionary")
    ]
    return {name for path in files for name in re.findall(r"\bengine\.(\w+)", path.read_text())} - {"engine"}


def test_the_page_names_what_is_used():
    assert stated() == used()


def test_an_engine_has_it_all():
    X = np.eye(3)
    engine = Engine(KernelAtoms("rbf").resolve(X), X, memory_budget=0)
    assert all(hasattr(engine, name) for name in stated())
