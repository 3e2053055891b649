"""One-sentence refusals that name the parameter, the value and the cure."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_option(name: str, value: Any, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`, else raise a sentence that suggests the nearest one."""
    options = list(options)
    if isinstance(value, str) and value in options:
        return value
    if isinstance(value, type):
        raise ValueError(f"{name}={value.__name__} is a class; call it, as in {name}={value.__name__}().")
    near = difflib.get_close_matches(value.lower(), options, n=1, cutoff=0.5) if isinstance(value, str) else []
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(map(repr, options))}."
    raise ValueError(f"{name}={value!r} is not known; {hint}")


def check_number(name: str, value: Any, *, low: float, strict: bool = False, integer: bool = False) -> Any:
    """Return `value` if it is a number of at least `low` (above `low` when `strict`)."""
    kind = numbers.Integral if integer else numbers.Real
    bound = f"{'above' if strict else 'of at least'} {low:g}"
    noun = "a whole number" if integer else "a number"
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    # Infinity is never a useful setting either.
    if not is_number or value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{name}={value!r} is not usable; give {noun} {bound}.")
    if value < low or (strict and value == low):
        raise ValueError(f"{name}={value!r} is too small; give {noun} {bound}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return `value` if it is true or false, and not merely true-ish."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name}={value!r} is not usable; give True or False.")


def check_verbose(verbose: Any) -> bool:
    """Return whether to show progress: True, False, or a level as scikit-learn has them."""
    if isinstance(verbose, (bool, np.bool_)):
        return bool(verbose)
    return check_number("verbose", verbose, low=0, integer=True) > 0


def as_floats(name: str, value: Any) -> np.ndarray:
    """Return an array of real floats (float32 stays), or refuse in a sentence."""
    try:
        array = np.asarray(value)
        if array.dtype in (np.float32, np.float64):
            return array
        if array.dtype.kind == "c":
            raise ValueError(f"{name} holds complex numbers; give real numbers.")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        raise ValueError(f"{name} holds something else than numbers; give real numbers.") from None


def check_finite(name: str, array: Any) -> None:
    """Refuse NaN and infinity, in an array or in the entries of a sparse matrix."""
    if not np.isfinite(array.data if hasattr(array, "indptr") else array).all():
        raise ValueError(f"{name} holds NaN or infinity; drop or fill those rows first.")
