"""Formulas as small trees, which every target writes in its own words.

    e = exp(-s) * 2.0        s = name("s")

A target has a function for each operation in `OPERATIONS`; `evaluate` is that of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np


@dataclass(frozen=True)
class Expr:
    """A number, a name, or an operation on other expressions."""

    op: str
    args: tuple[Expr, ...] = ()
    value: float | str = 0.0

    def __add__(self, other: Like) -> Expr:
        """Return the sum."""
        return Expr("add", (self, as_expr(other)))

    def __radd__(self, other: Like) -> Expr:
        """Return the sum."""
        return as_expr(other) + self

    def __sub__(self, other: Like) -> Expr:
        """Return the difference."""
        return Expr("sub", (self, as_expr(other)))

    def __rsub__(self, other: Like) -> Expr:
        """Return the difference."""
        return as_expr(other) - self

    def __mul__(self, other: Like) -> Expr:
        """Return the product."""
        return Expr("mul", (self, as_expr(other)))

    def __rmul__(self, other: Like) -> Expr:
        """Return the product."""
        return as_expr(other) * self

    def __truediv__(self, other: Like) -> Expr:
        """Return the quotient."""
        return Expr("div", (self, as_expr(other)))

    def __neg__(self) -> Expr:
        """Return the number with the other sign."""
        return Expr("neg", (self,))


Like: TypeAlias = Expr | float


def as_expr(value: Like) -> Expr:
    """A number as an expression."""
    return value if isinstance(value, Expr) else Expr("number", value=float(value))


def name(word: str) -> Expr:
    """What is computed elsewhere under this name."""
    return Expr("name", value=word)


def _operation(op: str) -> Callable[..., Expr]:
    def make(*args: Like) -> Expr:
        return Expr(op, tuple(map(as_expr, args)))

    return make


exp, log, log1p, sqrt, tanh, sin, absolute = map(_operation, ("exp", "log", "log1p", "sqrt", "tanh", "sin", "abs"))
least, largest, power, remainder = map(_operation, ("min", "max", "power", "fmod"))

NUMPY: dict[str, Callable[..., Any]] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative},
    **{"exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt},
    **{"tanh": np.tanh, "sin": np.sin, "abs": np.abs},
    **{"min": np.minimum, "max": np.maximum, "power": np.power, "fmod": np.fmod},
}
OPERATIONS = tuple(NUMPY)


def evaluate(expr: Expr, known: Mapping[str, Any], operations: Mapping[str, Callable[..., Any]] = NUMPY) -> Any:
    """The value of an expression, names and operations being looked up: arrays, words or nodes of a graph."""
    if expr.op == "name":
        return known[str(expr.value)]
    if expr.op == "number":
        make = operations.get("number")
        return expr.value if make is None else make(expr.value)
    return operations[expr.op](*(evaluate(one, known, operations) for one in expr.args))


def substituted(expr: Expr, known: Mapping[str, Expr]) -> Expr:
    """The expression with others in place of names."""
    if expr.op == "name":
        return known.get(str(expr.value), expr)
    return Expr(expr.op, tuple(substituted(one, known) for one in expr.args), expr.value)
