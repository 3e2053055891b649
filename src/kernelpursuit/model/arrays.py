"""A model as a dictionary of plain arrays and JSON-able values, and back.

Every array has a name that says where it belongs, such as "path.cost" or "atoms.centers". The entry `STRUCTURE` holds
the rest, as `trees` describes it. Only classes of this library are made from it, each by its own constructor, so that
nothing is executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.model.one_vs_rest import OneVsRestModel
from kernelpursuit.model.trees import Reader, Writer

STRUCTURE = "structure"
VERSION = 1


def to_arrays(model: FittedModel | OneVsRestModel) -> dict[str, Any]:
    """Return a model as named arrays and a description.

    Returns
    -------
    dict
        Arrays by name, and under "structure" a tree of numbers, words, lists and dicts that `json` can write.

    Raises
    ------
    ValueError
        Where the model holds functions of the user's: callable kernels, `dictionary.Functions`, losses or penalties
        that this library does not know.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.model import to_arrays
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=20).fit(*make_chirp(100)).model_
    >>> arrays = to_arrays(model)
    >>> type(arrays.pop("structure")), {type(value) for value in arrays.values()}
    (<class 'dict'>, {<class 'numpy.ndarray'>})
    """
    writer = Writer()
    tree = {"version": VERSION, "model": writer.write(model, "")}
    return {STRUCTURE: tree, **writer.arrays}


def from_arrays(arrays: Mapping[str, Any]) -> FittedModel | OneVsRestModel:
    """Return the model that `to_arrays` has described.

    Raises
    ------
    ValueError
        Where something is missing, or is not what `to_arrays` would have written.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.model import from_arrays, to_arrays
    >>> X, y = make_chirp(100)
    >>> estimator = KernelPursuitRegressor(gamma=3.0, max_atoms=20).fit(X, y)
    >>> again = from_arrays(to_arrays(estimator.model_))
    >>> again.reason == estimator.stop_reason_
    True
    """
    tree = arrays.get(STRUCTURE)
    if not isinstance(tree, Mapping) or tree.get("version") != VERSION:
        raise ValueError(f"These arrays hold no model of version {VERSION}; write them with to_arrays().")
    model = Reader(arrays).read(tree.get("model"))
    if not isinstance(model, (FittedModel, OneVsRestModel)):
        raise ValueError("These arrays hold no model; write them with to_arrays().")
    return model
