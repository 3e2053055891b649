"""One-sentence refusals that name the parameter, the value and the cure."""

from __future__ import annotations

import difflib
import inspect
import numbers
from collections.abc import Iterable
from functools import cache
from typing import Any, Self

import numpy as np


def check_option(name: str, value: Any, options: Iterable[str], others: str = "") -> str:
    """Return `value` if it is one of `options`, else raise a sentence that suggests the nearest one.

    `others` says what may be given beside the options, such as "a number".
    """
    options = list(options)
    if isinstance(value, str) and value in options:
        return value
    if isinstance(value, type):
        raise ValueError(f"{name}={value.__name__} is a class; call it, as in {name}={value.__name__}().")
    near = nearest(value, options)
    listed = ", ".join([*map(repr, options), *([others] if others else [])])
    hint = f"did you mean {near!r}?" if near else f"use one of {listed}."
    raise ValueError(f"{name}={value!r} is not known; {hint}")


def nearest(word: Any, options: Iterable[str], likeness: float = 0.5) -> str | None:
    """The option that a word was probably meant to be, or None."""
    words = list(options)
    near = difflib.get_close_matches(word.lower(), words, n=1, cutoff=likeness) if isinstance(word, str) else []
    return near[0] if near else None


class ByName:
    """Base of classes that refuse a misspelt parameter in a sentence with the class's name and the right spelling.

    What `__init__` takes is told by its signature, which stays as it is.
    """

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Check the names of the parameters, and make the object."""
        known, n_positional, takes_any = _parameters(cls)  # type: ignore[arg-type]
        if len(args) > n_positional:
            example = f"write {known[0]}={args[0]!r}" if known else "it has none"
            most = "its parameters by name" if n_positional == 0 else f"{n_positional} of its parameters by position"
            raise TypeError(f"{cls.__name__} takes {most}, but {len(args)} came by position; {example}.")
        for name in params:
            if name not in known and not takes_any:
                raise TypeError(unknown_parameter(cls.__name__, name, known))
        return super().__new__(cls)


def unknown_parameter(owner: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a parameter that there is not."""
    known = list(known)
    near = nearest(name, known, likeness=0.7)
    hint = f"did you mean {near!r}?" if near else f"it has {', '.join(map(repr, known)) or 'none'}."
    return f"{owner} has no parameter {name!r}; {hint}"


@cache
def _parameters(cls: type) -> tuple[list[str], int, bool]:
    """Names of the parameters of a class, how many may be given by position, and whether any others may."""
    found = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    named = [one.name for one in found if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    positional = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in found)
    if any(one.kind == one.VAR_POSITIONAL for one in found):
        positional = 10**6
    return named, positional, any(one.kind == one.VAR_KEYWORD for one in found)


def check_number(
    name: str, value: Any, *, low: float, strict: bool = False, integer: bool = False, others: str = ""
) -> Any:
    """Return `value` if it is a number of at least `low` (above `low` when `strict`).

    `others` says what else the caller takes, such as "or 'auto'".
    """
    kind = numbers.Integral if integer else numbers.Real
    bound = f"{'above' if strict else 'of at least'} {low:g}{', ' if others else ''}{others}"
    noun = "a whole number" if integer else "a number"
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    # Infinity is never a useful setting either.
    if not is_number or value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{name}={value!r} is not usable; give {noun} {bound}.")
    if value < low or (strict and value == low):
        raise ValueError(f"{name}={value!r} is too small; give {noun} {bound}.")
    return value


def check_flag(name: str, value: Any, others: str = "") -> bool:
    """Return `value` if it is true or false, and not merely true-ish; `others` says what else the caller takes."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    known = f"True, False, {others}" if others else "True or False"
    raise ValueError(f"{name}={value!r} is not usable; give {known}.")


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
