"""An estimator as text and arrays, and back: parameters, what a fit sets, and the model."""

from __future__ import annotations

import json
import os
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernelpursuit._files import PathLike, read_whole, write_whole
from kernelpursuit.estimators import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.labels import ClassWeights
from kernelpursuit.exceptions import NotSavedWarning
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.model.checks import check_model
from kernelpursuit.model.trees import Reader, Tree, Writer
from kernelpursuit.saved.container import digest, pack, unpack

#: The format that is written. A change that older versions cannot read counts it up.
FORMAT = 1
ESTIMATORS: dict[str, type[BaseKernelPursuit]] = {
    one.__name__: one for one in (KernelPursuitRegressor, KernelPursuitClassifier)
}
# Characters of what is said of a file: it may hold words of any length.
MAX_WORDS = 300
# What the text holds.
FIELDS = ("format", "library", "estimator", "summary", "needs", "parameters", "fitted", "model")


def save(estimator: BaseKernelPursuit, path: PathLike) -> None:
    """Write a fitted estimator to a file; see `BaseKernelPursuit.save`."""
    text, arrays, outsiders = to_text(estimator)
    write_whole(path, pack(text, arrays))
    if outsiders:
        named = ", ".join(f"{name!r}: ..." for name in outsiders)
        is_one = len(outsiders) == 1
        warnings.warn(
            f"{', '.join(outsiders)} {'is' if is_one else 'are'} your own, and {'is' if is_one else 'are'} not in the "
            f"file; load it with kernelpursuit.load({str(path)!r}, objects={{{named}}}).",
            NotSavedWarning,
            stacklevel=3,
        )


def load(path: PathLike, *, objects: Mapping[str, Any] | None = None) -> Any:
    """Load an estimator that `save` has written; executes nothing from the file.

    Parameters
    ----------
    path : str or path
        The file.
    objects : dict, optional
        Functions and classes of your own that the model is made of, by the names that `save` has given them. What
        predictions do not need, such as a stopping rule, may be None.

    Returns
    -------
    KernelPursuitRegressor or KernelPursuitClassifier
        Fitted. It predicts the same bits on the same machine, and has its whole path: `at`, `select`, intervals. A fit
        with `warm_start=True` starts from nothing.

    Raises
    ------
    ValueError
        Where the file is no model, a part of one, damaged, or of a later version of the library; in one sentence.
    OSError
        Where the file cannot be read.

    Examples
    --------
    >>> import kernelpursuit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = kernelpursuit.KernelPursuitRegressor(gamma="scale", max_atoms=20).fit(X, y)
    >>> model.save("diabetes.kp")
    >>> again = kernelpursuit.load("diabetes.kp")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    content = read_whole(path)
    with _told_of(path):
        tree, arrays = _checked(content)
        return from_tree(tree, arrays, objects or {})


def describe(path: PathLike) -> dict[str, Any]:
    """What a saved file says of its model, without making one of it: no functions of the user's are needed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        `format`, `library`, `estimator` and `needs` of the file, and all fields of its `summary`; see
        docs/saved-models.md. The digest is checked, the summary is not.
    """
    content = read_whole(path)
    with _told_of(path):
        tree, _ = _checked(content)
        summary = tree["summary"]
        if not isinstance(summary, dict):
            raise ValueError("is damaged: its summary is none")
        return {**{name: tree[name] for name in ("format", "library", "estimator", "needs")}, **summary}


def _checked(content: bytes) -> tuple[dict[str, Tree], dict[str, np.ndarray]]:
    """Fields and arrays of a file that is as it was written."""
    text, found, arrays = unpack(content)
    tree = _tree(text)
    if digest(text, arrays) != found:
        raise ValueError("is damaged: what it holds is not what was written")
    return tree, arrays


@contextmanager
def _told_of(path: PathLike) -> Iterator[None]:
    """Tell whatever a stranger's file leads to in a sentence about the file."""
    try:
        yield
    except Exception as error:
        why = str(error) if isinstance(error, ValueError) else f"is damaged ({type(error).__name__}: {error})"
        why = why if why[:1].islower() else f"is damaged: {why}"
        why = textwrap.shorten(why, MAX_WORDS, placeholder=" ...")
        raise ValueError(f"{str(path)!r} {why.rstrip('.')}.") from error


def to_text(estimator: BaseKernelPursuit) -> tuple[str, dict[str, np.ndarray], dict[str, object]]:
    """The JSON text, the arrays, and the user's own objects by name."""
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise ValueError(f"{name} is a class of your own, which cannot be saved; save an estimator of kernelpursuit.")
    if not hasattr(estimator, "model_"):
        raise ValueError(f"{name} is not fitted, so that there is nothing to save; call fit(X, y) first.")
    writer = Writer(outsiders={})
    tree = {
        "format": FORMAT,
        "library": _version(),
        "estimator": name,
        "summary": _summary(estimator),
        "parameters": writer.write(_parameters(estimator), "parameters"),
        "fitted": writer.write(_fitted(estimator), "fitted"),
        "model": writer.write(estimator.model_, ""),
    }
    assert writer.outsiders is not None
    tree["needs"] = {key: _kind(value) for key, value in writer.outsiders.items()}
    return json.dumps(tree, allow_nan=False, ensure_ascii=False), writer.arrays, writer.outsiders


def from_tree(tree: Mapping[str, Tree], arrays: Mapping[str, np.ndarray], objects: Mapping[str, Any]) -> Any:
    """The estimator that a checked text describes."""
    missing = [name for name in tree["needs"] if name not in objects]
    if missing:
        what = ", ".join(f"{name!r} (a {tree['needs'][name]})" for name in missing)
        given = ", ".join(f"{name!r}: ..." for name in missing)
        raise ValueError(f"needs {what}, which is in no file; pass it to load(..., objects={{{given}}})")
    known = ESTIMATORS.get(tree["estimator"])
    if known is None:
        raise ValueError(f"holds a {tree['estimator']!r}, which this version of kernelpursuit does not know")
    reader = Reader(arrays, {name: objects[name] for name in tree["needs"]})
    model = reader.read(tree["model"])
    is_whole = reader.is_whole
    if not isinstance(model, (FittedModel, OneVsRestModel)):
        raise ValueError("is damaged: it holds no model")
    parameters, fitted = reader.read(tree["parameters"]), reader.read(tree["fitted"])
    _check(known, model, fitted)
    if not isinstance(parameters, dict) or type(parameters.get("n_jobs")) not in (int, type(None)):
        raise ValueError("is damaged: its parameters are none of an estimator")
    for one in model.models:
        check_model(one, fitted["n_features_in_"], is_whole=is_whole)
    if "_class_weights" in fitted:
        fitted["_class_weights"] = ClassWeights(None, None, fitted["_class_weights"])
    return known._already_fitted(
        parameters, **fitted, model_=model, _state=None, _named_columns=_named_columns(tree["summary"])
    )


def _tree(text: str) -> dict[str, Tree]:
    """The text, with the fields of the format, of a version that is known."""
    try:
        tree = json.loads(text)
    except RecursionError:
        raise ValueError("is damaged: its text is nested without end") from None
    if not isinstance(tree, dict) or type(tree.get("format")) is not int:
        raise ValueError("is damaged: its text says no format")
    if tree["format"] != FORMAT:
        raise ValueError(
            f"is in format {tree['format']}, written by kernelpursuit {str(tree.get('library'))[:20]}; this one, "
            f"{_version()}, reads format {FORMAT}: update kernelpursuit to load it"
        )
    if tree.keys() != set(FIELDS) or not isinstance(tree["needs"], dict) or not isinstance(tree["estimator"], str):
        raise ValueError(f"is damaged: its text does not have the fields {', '.join(FIELDS)}")
    return tree


def _parameters(estimator: BaseKernelPursuit) -> dict[str, Any]:
    """The parameters; a path is written as its words, and so is the same in every system."""
    found = estimator.get_params(deep=False)
    return {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in found.items()}


def _fitted(estimator: BaseKernelPursuit) -> dict[str, Any]:
    """What a fit has set beside the model."""
    kept = ["n_features_in_", "feature_names_in_", "_y_ndim", "classes_"]
    kept += ["_class_params"] if isinstance(estimator.model_, OneVsRestModel) else []
    found = {name: getattr(estimator, name) for name in kept if hasattr(estimator, name)}
    if isinstance(estimator, KernelPursuitClassifier):
        found["_class_weights"] = estimator._class_weights.by_label
    return found


def _check(known: type[BaseKernelPursuit], model: FittedModel | OneVsRestModel, fitted: Any) -> None:
    """Refuse attributes that are not those of a fit, or do not go with the model."""
    is_classifier = known is KernelPursuitClassifier
    is_ovr = isinstance(model, OneVsRestModel)
    names = {"n_features_in_", *(("classes_", "_class_weights") if is_classifier else ("_y_ndim",))}
    names |= {"_class_params"} if is_ovr else set()
    if not isinstance(fitted, dict) or fitted.keys() - {"feature_names_in_"} != names:
        raise ValueError("is damaged: what a fit has set is not all there")
    n_features, labels = fitted["n_features_in_"], fitted.get("feature_names_in_")
    right = type(n_features) is int and (labels is None or np.shape(labels) == (n_features,))
    if is_classifier:
        right &= isinstance(fitted["_class_weights"], (dict, type(None)))
        right &= isinstance(fitted["classes_"], np.ndarray) and fitted["classes_"].ndim == 1
        right &= np.array_equal(model.classes if model.classes is not None else [], fitted["classes_"])
    else:
        right &= not is_ovr and fitted["_y_ndim"] in (1, 2) and model.classes is None
    if isinstance(model, OneVsRestModel):
        right &= isinstance(fitted["_class_params"], dict) and known(**fitted["_class_params"]) is not None
        right &= len(model.models) == len(model.classes) > 0 and model.n_features == n_features
        right &= all(one.path.n_targets == 1 for one in model.models)
    if not right:
        raise ValueError("is damaged: what a fit has set does not go with the model")


def _summary(estimator: BaseKernelPursuit) -> dict[str, Any]:
    """What a reader of the file may want to know.

    `load` takes nothing of it but the names of columns that were targets or weights, which earlier versions, that do
    not know of them, pass over here and nowhere else.
    """
    model = estimator.model_
    first = model.models[0]
    names, classes = getattr(estimator, "feature_names_in_", None), getattr(estimator, "classes_", None)
    return {
        "kernel": repr(estimator.kernel_),
        "loss": "squared" if first.measure.loss is None else first.measure.loss.name,
        "link": _link(first),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": None if classes is None else [str(label) for label in classes.tolist()],
        "n_targets": len(model.models) if isinstance(model, OneVsRestModel) else first.path.n_targets,
        "n_atoms": int(model.n_atoms),
        "path_lengths": [len(one.path) for one in model.models],
        "named_columns": list(estimator._named_columns),
        "reason": model.reason,
    }


def _named_columns(summary: Tree) -> tuple[str, ...]:
    """Columns that were targets or weights; a file of an earlier version names none."""
    found = summary.get("named_columns", []) if isinstance(summary, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("is damaged: its summary is none")
    return tuple(found)


def _link(model: FittedModel) -> str:
    """From scores to predictions, in a word."""
    if model.measure.classes:
        own = model.measure.needs_inverse_temperature
        return f"softmax of scores times {model.link.inverse_temperature:.6g}" if own else "probabilities of the loss"
    return "identity" if model.link.is_identity else "exp"


def _kind(value: object) -> str:
    return "class" if isinstance(value, type) else "function" if callable(value) else type(value).__name__


def _version() -> str:
    from kernelpursuit import __version__

    return __version__
