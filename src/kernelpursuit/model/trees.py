"""Objects of the library as trees of JSON values beside named arrays, and back.

Numbers and words stand for themselves. Everything else is a dict with one of these keys:

    array     name of an array, with "order": "F" where it lies column by column in memory
    number    NaN or an infinity, in words
    strings   an array of strings, with the "width" of its type
    objects   an array of Python objects, such as names
    csr       the three arrays of a sparse matrix, with its "shape"
    list, tuple, dict   containers; a dict as pairs
    type      an object of this library, with its "fields"
    own       an object of a class of the user's, with its "fields"; the class is given to the reader by name
    object    anything else that is the user's, such as a function; it is given to the reader by name

Only classes of this library and what the caller hands in are made from a tree, so that nothing else is executed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from kernelpursuit.dictionary import Dictionary
from kernelpursuit.model.checks import check_fields
from kernelpursuit.model.known import known_classes

#: A value that `json` writes.
Tree: TypeAlias = Any
# Array types that every reader has.
KINDS = "biuf"
MAX_ITEM_BYTES = 8
# A type of strings may be wider than the longest of them, up to this: a width costs memory, and comes with the file.
MAX_SPARE_WIDTH = 64
# Whole numbers beyond these are in no model.
LEAST_INTEGER, LARGEST_INTEGER = -(2**63), 2**64 - 1
NOT_OURS = "{!r} is no part of the library, so that the model cannot be written down as arrays."
CSR_PARTS = ("data", "indices", "indptr")


@dataclass
class Writer:
    """Writes values down; arrays are collected by name, equal ones once.

    arrays     by name
    outsiders  what the reader must be given, by name; None refuses such objects
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    outsiders: dict[str, object] | None = None
    _names: dict[tuple[str, tuple[int, ...], bytes], str] = field(default_factory=dict)

    def write(self, value: Any, name: str) -> Tree:
        """A value as a tree, its arrays under names that begin with `name`."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int) and LEAST_INTEGER <= value <= LARGEST_INTEGER:
            return value
        if isinstance(value, float):
            # JSON has no word for these.
            return value if math.isfinite(value) else {"number": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if sp.issparse(value):
            csr = sp.csr_array(value)
            parts = {part: self.write(getattr(csr, part), f"{name}.{part}") for part in CSR_PARTS}
            return {"csr": parts, "shape": list(csr.shape)}
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.write(one, f"{name}.{i}") for i, one in enumerate(value)]}
        if isinstance(value, Mapping):
            pairs = value.items()
            return {"dict": [[self.write(key, name), self.write(one, f"{name}.{key}")] for key, one in pairs]}
        return self._object(value, name)

    def _array(self, value: np.ndarray, name: str) -> Tree:
        if value.dtype.kind == "U" and value.ndim == 1:
            longest = max(map(len, value.tolist()), default=0)
            width = min(value.dtype.itemsize // 4, max(longest, MAX_SPARE_WIDTH))
            return {"strings": value.tolist(), "width": width}
        if value.dtype.kind == "O" and value.ndim == 1:
            return {"objects": [self.write(one, name) for one in value.tolist()]}
        if value.dtype.kind not in KINDS or value.dtype.itemsize > MAX_ITEM_BYTES:
            raise ValueError(
                f"{name} is an array of {value.dtype}, which cannot be written down as arrays; give numbers or words."
            )
        # The order in memory decides in which order sums are taken, so it decides the last bits of predictions.
        by_column = value.flags.f_contiguous and not value.flags.c_contiguous
        plain = np.array(value.T if by_column else value, dtype=value.dtype.newbyteorder("="), order="C")
        key = (plain.dtype.str, plain.shape, blake2b(plain.tobytes(), digest_size=16).digest())
        name = self._names.setdefault(key, name)
        self.arrays[name] = plain
        return {"array": name, "order": "F"} if by_column else {"array": name}

    def _object(self, value: Any, name: str) -> Tree:
        kind, is_known = type(value).__name__, known_classes().get(type(value).__name__) is type(value)
        if self.outsiders is None and not is_known:
            raise ValueError(NOT_OURS.format(value))
        state = state_of(value)
        if state is None:
            return {"object": self._outside(value, getattr(value, "__name__", kind))}
        if not is_known:
            kind = self._outside(type(value), kind)
        prefix = f"{name}." if name else ""
        inside = {key: self.write(one, f"{prefix}{key}") for key, one in state.items()}
        return {"type" if is_known else "own": kind, "fields": inside}

    def _outside(self, value: object, name: str) -> str:
        """The name under which the reader must be given an object: its own, with a number if another has it."""
        if self.outsiders is None:
            raise ValueError(NOT_OURS.format(value))
        free, number = name, 1
        while free in self.outsiders and self.outsiders[free] is not value:
            number += 1
            free = f"{name}-{number}"
        self.outsiders[free] = value
        return free


def state_of(value: Any) -> dict[str, Any] | None:
    """What an object is made of again: its state, or its fields; None where these are not all of it."""
    if isinstance(value, type) or not (hasattr(type(value), "from_state") or is_dataclass(value)):
        return None
    if hasattr(type(value), "from_state"):
        overridden = not isinstance(value, Dictionary) or type(value).state is not Dictionary.state
        return value.state() if overridden else None
    names = [one.name for one in fields(value)]
    is_known = known_classes().get(type(value).__name__) is type(value)
    return {name: getattr(value, name) for name in names} if is_known or vars(value).keys() <= set(names) else None


@dataclass
class Reader:
    """Reads what `Writer` wrote.

    arrays    by name
    objects   the user's classes and functions, by name
    is_whole  whether all that was read is of this library
    """

    arrays: Mapping[str, Any]
    objects: Mapping[str, Any] = field(default_factory=dict)
    is_whole: bool = True

    def read(self, tree: Tree) -> Any:
        """The value of a tree; a ValueError where it is none."""
        if tree is None or isinstance(tree, (bool, str, float)):
            return tree
        if isinstance(tree, int) and LEAST_INTEGER <= tree <= LARGEST_INTEGER:
            return tree
        if isinstance(tree, Mapping):
            for key, (others, read) in READERS.items():
                if key in tree:
                    if tree.keys() - {key, *others}:
                        break
                    try:
                        return read(self, tree)
                    except (LookupError, TypeError, AttributeError, ArithmeticError, AssertionError) as error:
                        raise ValueError(_damaged(f"{type(error).__name__}, {error}")) from error
        shown = ", ".join(map(str, tree)) if isinstance(tree, Mapping) else repr(tree)
        raise ValueError(_damaged(f"{shown[:80]} is not known"))

    def _array(self, tree: Mapping[str, Any]) -> np.ndarray:
        array = self.arrays[tree["array"]]
        if not isinstance(array, np.ndarray):
            raise ValueError(_damaged(f"{tree['array']!r} is no array"))
        return array.T if tree.get("order") == "F" else array

    def _strings(self, tree: Mapping[str, Any]) -> np.ndarray:
        words, width = tree["strings"], tree["width"]
        longest = max([len(word) for word in words if isinstance(word, str)], default=0)
        if len(words) and not 0 < width <= max(longest, MAX_SPARE_WIDTH):
            raise ValueError(_damaged(f"no string is {width!r} wide"))
        if not all(isinstance(word, str) for word in words):
            raise ValueError(_damaged("a string is none"))
        return np.array(words, dtype=f"U{width}")

    def _objects(self, tree: Mapping[str, Any]) -> np.ndarray:
        out = np.empty(len(tree["objects"]), dtype=object)
        for place, one in enumerate(tree["objects"]):
            if isinstance(one, (Mapping, list)):
                raise ValueError(_damaged("an array of names holds something else"))
            out[place] = self.read(one)
        return out

    def _csr(self, tree: Mapping[str, Any]) -> Any:
        data, indices, indptr = (self.read(tree["csr"][part]) for part in CSR_PARTS)
        n_rows, n_columns = tree["shape"]
        if type(n_rows) is not int or type(n_columns) is not int or n_rows != len(indptr) - 1 or n_columns < 0:
            raise ValueError(_damaged("a sparse matrix does not have the shape that it says"))
        matrix = sp.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
        return matrix

    def _dict(self, tree: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.read(key): self.read(one) for key, one in tree["dict"]}

    def _known(self, tree: Mapping[str, Any]) -> Any:
        found = known_classes().get(tree["type"])
        if found is None:
            raise ValueError(f"The model holds {tree['type']!r}, which this version of the library does not know.")
        return self._made(found, tree["fields"])

    def _own(self, tree: Mapping[str, Any]) -> Any:
        self.is_whole = False
        return self._made(self.objects[tree["own"]], tree["fields"])

    def _object(self, tree: Mapping[str, Any]) -> Any:
        self.is_whole = False
        return self.objects[tree["object"]]

    def _made(self, found: Any, inside: Mapping[str, Tree]) -> Any:
        state = {name: self.read(one) for name, one in inside.items()}
        made = found.from_state(state) if hasattr(found, "from_state") else found(**state)
        check_fields(made)
        return made


def _damaged(what: str) -> str:
    return f"The structure of the model is damaged: {what}."


# By key: what else may stand beside it, and what reads it.
READERS: dict[str, tuple[tuple[str, ...], Callable[[Reader, Mapping[str, Any]], Any]]] = {
    "array": (("order",), Reader._array),
    "number": ((), lambda reader, tree: float(tree["number"])),
    "strings": (("width",), Reader._strings),
    "objects": ((), Reader._objects),
    "csr": (("shape",), Reader._csr),
    "list": ((), lambda reader, tree: [reader.read(one) for one in tree["list"]]),
    "tuple": ((), lambda reader, tree: tuple(reader.read(one) for one in tree["tuple"])),
    "dict": ((), Reader._dict),
    "type": (("fields",), Reader._known),
    "own": (("fields",), Reader._own),
    "object": ((), Reader._object),
}
