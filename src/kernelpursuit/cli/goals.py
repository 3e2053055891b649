"""Files to be written, looked at before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path


def check_goal(path: Path | None, *read: Path | None) -> None:
    """Refuse a file that cannot be written, or is read, so that nobody waits for a result that goes nowhere."""
    if path is None:
        return
    for one in read:
        if one is not None and path.is_file() and path.resolve().is_relative_to(one.resolve()):
            raise ValueError(f"{str(path)!r} is a file that is read, and would be lost; give another name to --out.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist; make it first, or give another one.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {str(path.parent)!r} is not yours to write to; give another one.")


def size_of(path: Path) -> str:
    """The size of a file in words."""
    n_bytes = path.stat().st_size
    return f"{n_bytes:,} bytes" if n_bytes < 10_000 else f"{n_bytes / 1000:,.0f} kB"
