"""A model as a dictionary of plain arrays and JSON-able values, and back.

Every array has a name that says where it belongs, such as "path.cost" or "atoms.centers". The entry `STRUCTURE` holds
the rest: numbers and words as they are, `{"array": name}` where an array belongs, and `{"type": ..., "fields": ...}`
for an object. Only the classes listed here are made from it, each by its own constructor, so that nothing is executed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelpursuit import dictionary, kernels, losses, penalties, stopping, updates
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.model.calibration import Columns, ErrorScale
from kernelpursuit.model.fitted import FittedModel, Origin
from kernelpursuit.model.landmarks import Landmarks
from kernelpursuit.model.noise import LogScale
from kernelpursuit.model.one_vs_rest import OneVsRestModel
from kernelpursuit.model.outside import Outside
from kernelpursuit.pursuit import Measure, PursuitPath
from kernelpursuit.pursuit.models import Drop, Explicit, Factor, Factored, FixedPart, Increments

STRUCTURE = "structure"
VERSION = 1

ROOMS = (dictionary, kernels, losses, penalties, stopping, updates)
PARTS: tuple[type, ...] = (
    *(FittedModel, OneVsRestModel, Origin, Outside, ErrorScale, Columns, LogScale, Landmarks, Measure),
    *(PursuitPath, Factored, Factor, Drop, FixedPart, Increments, Explicit),
)


def to_arrays(model: FittedModel | OneVsRestModel) -> dict[str, Any]:
    """Write a model down.

    Returns
    -------
    dict
        Arrays by name, and under "structure" a tree of numbers, words, lists and dicts that `json` can write.

    Raises
    ------
    ValueError
        Where the model holds functions of the user's: callable kernels, `dictionary.Functions`, losses or penalties
        that this library does not know.
    """
    arrays: dict[str, Any] = {}
    tree = {"version": VERSION, "model": _written(model, "", arrays)}
    return {STRUCTURE: tree, **arrays}


def from_arrays(arrays: Mapping[str, Any]) -> FittedModel | OneVsRestModel:
    """Return the model that `to_arrays` wrote down.

    Raises
    ------
    ValueError
        Where something is missing, or is not what `to_arrays` would have written.
    """
    tree = arrays.get(STRUCTURE)
    if not isinstance(tree, Mapping) or tree.get("version") != VERSION:
        raise ValueError(f"These arrays hold no model of version {VERSION}; write them with to_arrays().")
    model = _read(tree.get("model"), arrays)
    if not isinstance(model, (FittedModel, OneVsRestModel)):
        raise ValueError("These arrays hold no model; write them with to_arrays().")
    return model


@cache
def known_classes() -> dict[str, type]:
    """The classes that a model may be made of, by name."""
    public = [getattr(room, name) for room in ROOMS for name in room.__all__]
    found = [one for one in public if isinstance(one, type) and (is_dataclass(one) or issubclass(one, Dictionary))]
    return {one.__name__: one for one in (*PARTS, *found)}


def _written(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    """A value as JSON; arrays in it go into `arrays`, under names that begin with `name`."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, bool, str)):
        return value
    if isinstance(value, float):
        # JSON has no word for these.
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        arrays[name] = np.ascontiguousarray(value) if value.ndim else value
        return {"array": name}
    if isinstance(value, np.ndarray):
        return {"objects": [_written(one, name, arrays) for one in value.tolist()]}
    if sp.issparse(value):
        csr = sp.csr_array(value)
        parts = {part: _written(getattr(csr, part), f"{name}.{part}", arrays) for part in ("data", "indices", "indptr")}
        return {"csr": parts, "shape": list(csr.shape)}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_written(one, f"{name}.{i}", arrays) for i, one in enumerate(value)]}
    if isinstance(value, Mapping):
        pairs = [[_written(key, name, arrays), _written(one, f"{name}.{key}", arrays)] for key, one in value.items()]
        return {"dict": pairs}
    kind = type(value).__name__
    if isinstance(value, type) or known_classes().get(kind) is not type(value):
        raise ValueError(f"{value!r} is no part of the library, so that the model cannot be written down as arrays.")
    names = [] if isinstance(value, Dictionary) else [field.name for field in fields(value)]  # type: ignore[arg-type]
    inside = value.state() if isinstance(value, Dictionary) else {name: getattr(value, name) for name in names}
    prefix = f"{name}." if name else ""
    return {"type": kind, "fields": {key: _written(one, f"{prefix}{key}", arrays) for key, one in inside.items()}}


def _read(tree: Any, arrays: Mapping[str, Any]) -> Any:
    """The value that `_written` wrote."""
    if not isinstance(tree, Mapping):
        return tree
    for key, read in READERS.items():
        if key in tree:
            try:
                return read(tree, arrays)
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                raise ValueError(f"The structure of the model is damaged: {type(error).__name__}, {error}.") from error
    raise ValueError(f"The structure of the model is damaged: {', '.join(map(str, tree))} is not known.")


def _read_object(tree: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    found = known_classes().get(tree["type"])
    if found is None:
        raise ValueError(f"The model holds {tree['type']!r}, which this version of the library does not know.")
    inside = {name: _read(one, arrays) for name, one in tree["fields"].items()}
    return found.from_state(inside) if issubclass(found, Dictionary) else found(**inside)


def _read_csr(tree: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    parts = [_read(tree["csr"][part], arrays) for part in ("data", "indices", "indptr")]
    return sp.csr_array(tuple(parts), shape=tuple(tree["shape"]))


READERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Any]] = {
    "array": lambda tree, arrays: arrays[tree["array"]],
    "number": lambda tree, arrays: float(tree["number"]),
    "objects": lambda tree, arrays: np.array([_read(one, arrays) for one in tree["objects"]], dtype=object),
    "csr": _read_csr,
    "list": lambda tree, arrays: [_read(one, arrays) for one in tree["list"]],
    "tuple": lambda tree, arrays: tuple(_read(one, arrays) for one in tree["tuple"]),
    "dict": lambda tree, arrays: {_read(key, arrays): _read(one, arrays) for key, one in tree["dict"]},
    "type": _read_object,
}
