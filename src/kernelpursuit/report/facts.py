"""What a model is, in words and tables that do not depend on its size."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelpursuit.model import FittedModel, OneVsRestModel

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

# Characters of a name that a user has given, and of a setting that is shown.
MOST_NAME, MOST_SETTING = 40, 160
# Numbers with more digits than anybody reads.
LONG_NUMBER = re.compile(r"\d+\.\d{6,}(e[+-]?\d+)?")
# How NumPy writes an array: its values in brackets are enough for a reader.
ARRAY = re.compile(r"array\(\[([^\]]*)\](?:, (?:shape|dtype)=[^)]*\)?)*\)")
# Features whose scales are listed.
MOST_SCALES = 60


def clipped(words: object, most: int = MOST_NAME) -> str:
    """One line of at most so many characters."""
    # Half a surrogate, which no file can hold, becomes a question mark.
    line = " ".join(str(words).split()).encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= most else line[: most - 1] + "…"


def names_of(estimator: BaseKernelPursuit) -> list[str]:
    """Names of the features; x0, x1, ... where there are none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else [clipped(name) for name in names]


def outputs_of(model: FittedModel | OneVsRestModel) -> list[str]:
    """What is predicted, by name: classes, or targets by number."""
    if model.classes is not None:
        return [clipped(label) for label in model.classes.tolist()]
    assert isinstance(model, FittedModel)
    n = model.path.n_targets
    return ["target"] if n == 1 else [f"target {i}" for i in range(n)]


def lead(estimator: BaseKernelPursuit, n_path: int) -> str:
    """The model in one sentence."""
    model = estimator.model_
    n_features, names = estimator.n_features_in_, outputs_of(model)
    kind = f"A classifier of {len(names)} classes" if model.classes is not None else "A regression"
    if model.classes is None and len(names) > 1:
        kind += f" of {len(names)} targets"
    seen = "columns of kernel values" if model.is_precomputed else "feature" if n_features == 1 else "features"
    size = "a constant, without any atom" if not model.n_atoms else f"a sum of {_count(model.n_atoms, 'atom')}"
    return f"{kind} from {n_features:,} {seen}: {size}, out of a path of {_count(n_path - 1, 'step')}."


def facts_of(estimator: BaseKernelPursuit) -> list[tuple[str, str]]:
    """What the model is made of, as terms and descriptions."""
    model, first = estimator.model_, estimator.model_.models[0]
    origin, path = model.origin, first.path
    loss = "squared" if first.measure.loss is None else first.measure.loss.name
    facts = [
        ("Kernel", clipped(_settings(getattr(first.atoms, "kernel", origin.kernel)), MOST_SETTING)),
        ("Loss", loss),
        ("Penalty", "none" if origin.penalty is None else f"{clipped(origin.penalty)}, alpha = {origin.alpha:.4g}"),
        ("Weights follow", clipped(repr(origin.update))),
        ("Picked from", f"{path.n_candidates:,} candidates, on rows of total weight {path.total_weight:,.6g}"),
        ("The path ended", clipped(path.end_reason or "at once", MOST_SETTING)),
        ("Kept", clipped(model.reason, MOST_SETTING)),
        ("Outside the training rows", _outside(first)),
    ]
    if isinstance(model, OneVsRestModel):
        facts.insert(0, ("Classes", "one model for each, told from the rest, with a path of its own"))
    if first.always is not None:
        facts.append(("Always in", clipped(repr(first.always), MOST_SETTING)))
    return facts


def settings_of(estimator: BaseKernelPursuit) -> list[tuple[str, str]]:
    """Parameters that were given, those that are not the default."""
    defaults = inspect.signature(type(estimator)).parameters
    given = estimator.get_params(deep=False)
    return [
        (name, clipped(_settings(value), MOST_SETTING))
        for name, value in given.items()
        if name not in defaults or not _same(value, defaults[name].default)
    ]


def scales_of(estimator: BaseKernelPursuit) -> tuple[list[int], list[float], int] | None:
    """Features with their scales, the largest first, and how many are left out; None where none were learned."""
    scales = estimator.model_.origin.scales
    if scales is None:
        return None
    order = np.argsort(-scales, kind="stable")
    shown = order[:MOST_SCALES]
    return [int(j) for j in shown], [float(scales[j]) for j in shown], len(order) - len(shown)


def _settings(value: Any) -> str:
    """A setting as it was written, arrays by their shape: of thousands of numbers nobody reads the first three."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"array of shape {value.shape}"
    with np.printoptions(precision=3, threshold=8):
        words = LONG_NUMBER.sub(lambda found: f"{float(found.group()):.6g}", repr(value))
    return ARRAY.sub(_values, words)


def _values(array: re.Match[str]) -> str:
    """The values of an array as NumPy has written it, in brackets."""
    values = (value.strip() for value in array.group(1).split(","))
    return "[" + ", ".join(value if value == "..." else value.rstrip(".") for value in values) + "]"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default)) if np.ndim(value) == 0 else False


def _outside(model: FittedModel) -> str:
    if model.outside is None:
        return "as the sum of atoms has it"
    return "back to the mean of the targets" if model.always is None else "back to what is always in"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
