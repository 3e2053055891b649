"""Files that are written as a whole or not at all, and read with one sentence where that is not possible."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

PathLike = str | os.PathLike[str]

REASONS = {
    errno.ENOENT: (FileNotFoundError, "does not exist"),
    errno.ENOTDIR: (NotADirectoryError, "is inside a file, which is no folder"),
    errno.EACCES: (PermissionError, "is not yours to {verb}"),
    errno.EPERM: (PermissionError, "is not yours to {verb}"),
    errno.EROFS: (PermissionError, "is on a read-only disk"),
    errno.ENOSPC: (OSError, "does not fit on the disk"),
}


def as_path(path: PathLike) -> Path:
    """The path, or a sentence for what is none."""
    if not isinstance(path, (str, os.PathLike)) or not str(path) or "\0" in str(path):
        raise ValueError(f"path={path!r} is not usable; give the name of a file, such as 'model.kp'.")
    return Path(path)


def write_whole(path: PathLike, content: bytes) -> None:
    """Write a file under another name beside it, and give it its own at the end: nobody ever sees half of it."""
    goal = as_path(path)
    if goal.is_dir():
        raise IsADirectoryError(f"{str(goal)!r} is a folder; give the name of a file in it.")
    if not goal.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(goal.parent)!r} does not exist; make it first, or give another one.")
    if goal.exists() and not goal.is_file():
        raise ValueError(f"{str(goal)!r} is no ordinary file; give another path.")
    goal = goal.resolve()  # what a link leads to is written, and the link stays
    beside = goal.parent / f".{goal.name}.{secrets.token_hex(6)}"
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, goal)
    except OSError as error:
        raise _sentence(error, goal, "write") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def read_whole(path: PathLike) -> bytes:
    """The content of a file that is one: no folder, no pipe, no device."""
    source = as_path(path)
    try:
        with open(source, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{str(source)!r} is no ordinary file; give one that model.save() has written.")
            return file.read()
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{str(source)!r} is a folder; give a file that model.save() has written.") from error
    except OSError as error:
        raise _sentence(error, source, "read") from error


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe that nobody writes to without waiting for someone, so that it can be refused."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _sentence(error: OSError, path: Path, verb: str) -> OSError:
    kind, why = REASONS.get(error.errno or 0, (OSError, f"leaves nothing to {verb} ({error.strerror})"))
    return kind(f"{str(path)!r} {why.format(verb=verb)}; give another path.")
