"""Long fits survive: what a fit has found so far, in a file that is whole or not there.

That is what was learned, sums of passes over rows, and steps of loops, each under a key of all that it depends on.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import time
import warnings
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from kernelpursuit._files import PathLike, write_whole

# What a checkpoint starts with, so that no other file is taken for one, and overwritten.
MAGIC = b"kernelpursuit checkpoint 1\n"
# Seconds between two writes.
EVERY = 30.0
NO_KEY = ""
# What a checkpoint may name beside our own classes of plain data: containers, and what NumPy makes arrays and numbers
# with, in the modules of its versions.
NAMES = {
    "builtins": {"set", "frozenset", "slice", "complex", "bytearray"},
    "numpy": {"dtype", "ndarray"},
    **{f"numpy.{core}.multiarray": {"_reconstruct", "scalar"} for core in ("_core", "core")},
    **{f"numpy.{core}.numeric": {"_frombuffer"} for core in ("_core", "core")},
}


class Checkpoint:
    """What was found, by keys; written every so often, and removed at the end.

    Parameters
    ----------
    path : str or Path
        The file. One that is there must be a checkpoint.
    every : float
        Seconds between two writes.
    """

    def __init__(self, path: PathLike, every: float = EVERY):
        self.path = Path(path)
        self.every = every
        self._found: dict[str, Any] = self._read()
        self._written = time.monotonic()
        self._has_failed = False

    def get(self, key: str) -> Any:
        """What was found under a key, or None."""
        return self._found.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep what was found, and write all of it if that is due; under no key, nothing is kept."""
        if key == NO_KEY:
            self._warn("keeps no sums of this fit, which depend on a function without a name; define it in a module.")
            return
        self._found[key] = value
        if time.monotonic() - self._written >= self.every:
            self.write()

    def put_where_plain(self, key: str, value: Any) -> None:
        """The same, but for a value with an object of the caller's, with which no checkpoint could be read."""
        try:
            _KnownClasses(io.BytesIO(pickle.dumps(value))).load()
        except (pickle.PickleError, AttributeError, TypeError):
            return
        self.put(key, value)

    def write(self) -> None:
        """Replace the file by one with what is known now; where that fails, the old one stays, and so does the fit."""
        self._written = time.monotonic()
        try:
            write_whole(self.path, MAGIC + pickle.dumps(self._found, protocol=pickle.HIGHEST_PROTOCOL))
        except OSError as error:
            self._warn(f"could not be written, and the fit goes on with what was saved before: {error}")

    def remove(self) -> None:
        """The fit is done; a file that cannot be removed stays, and is of no use."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _warn(self, words: str) -> None:
        """Warn of the file, once a fit."""
        if not self._has_failed:
            warnings.warn(f"checkpoint={str(self.path)!r} {words}", UserWarning, stacklevel=3)
        self._has_failed = True

    def _read(self) -> dict[str, Any]:
        if self.path.is_dir():
            raise ValueError(f"checkpoint={str(self.path)!r} is a folder; name a file.")
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint={str(self.path)!r} is in a folder that does not exist; make it first.")
        if not os.access(self.path.parent, os.W_OK):
            raise ValueError(f"checkpoint={str(self.path)!r} is in a folder that cannot be written; name another one.")
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ValueError(f"checkpoint={str(self.path)!r} cannot be read ({error.strerror}).") from None
        if not content.startswith(MAGIC):
            raise ValueError(f"checkpoint={str(self.path)!r} is no checkpoint of a fit; name another file.")
        try:
            found = _KnownClasses(io.BytesIO(content[len(MAGIC) :])).load()
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is damaged, or of another version; remove it to start anew."
            ) from None
        return found if isinstance(found, dict) else {}


class _KnownClasses(pickle.Unpickler):
    """Loads arrays and our own classes of plain data, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The class, where it is one of those; a name with a dot may lead anywhere."""
        if name in NAMES.get(module, ()):
            return super().find_class(module, name)
        if module.startswith("kernelpursuit.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and is_dataclass(found) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"a checkpoint has no {module}.{name}")


def key_of(*parts: object) -> str:
    """A key for what depends on these objects, by all that they hold, whichever of these are one and the same object.

    `NO_KEY` where one of them is a function that has no name in a module, such as a lambda, or holds itself.
    """
    content = io.BytesIO()
    pickler = pickle.Pickler(content)
    pickler.fast = True  # writes an object in full wherever it is held: one that was read again is held elsewhere
    try:
        pickler.dump(parts)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError):
        return NO_KEY
    return hashlib.blake2b(content.getbuffer(), digest_size=16).hexdigest()
