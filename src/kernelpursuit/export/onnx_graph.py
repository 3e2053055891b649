"""Nodes and constants of an ONNX graph, and expressions as nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelpursuit.export.expressions import Expr, evaluate

SAME = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "exp": "Exp", "log": "Log"}
SAME |= {"sqrt": "Sqrt", "tanh": "Tanh", "sin": "Sin", "abs": "Abs", "min": "Min", "max": "Max", "power": "Pow"}


@dataclass(frozen=True)
class Node:
    """An operation of the default domain."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any]


@dataclass
class Graph:
    """Nodes in order, and constants by name; all arithmetic is in float64.

    prefix   of all names, so that a graph may be a part of another
    """

    prefix: str = "kp"
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    _known: dict[tuple[str, tuple[int, ...], bytes], str] = field(default_factory=dict)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        output = f"{self.prefix}_{len(self.nodes)}"
        self.nodes.append(Node(kind, inputs, output, attributes))
        return output

    def call_last(self, name: str) -> None:
        """Give the output of the last node another name."""
        self.nodes[-1] = replace(self.nodes[-1], output=name)

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """The name of a constant; equal ones are kept once."""
        array = np.ascontiguousarray(values, dtype=dtype) if np.ndim(values) else np.array(values, dtype=dtype)
        key = (
            str(array.dtype),
            array.shape,
            array.tobytes() if array.dtype != object else repr(array.tolist()).encode(),
        )
        if key not in self._known:
            self._known[key] = f"{self.prefix}_c{len(self._known)}"
            self.constants[self._known[key]] = array
        return self._known[key]

    def integers(self, *values: int) -> str:
        """A constant of indices or axes."""
        return self.constant(list(values), np.int64)

    def expression(self, expr: Expr, known: Mapping[str, str]) -> str:
        """The name of an expression's value."""
        return str(evaluate(expr, known, self.operations))

    @property
    def operations(self) -> Mapping[str, Callable[..., str]]:
        """Operations as nodes."""
        return {
            **{op: (lambda *args, kind=kind: self.op(kind, *args)) for op, kind in SAME.items()},
            "number": self.constant,
            "fmod": lambda a, b: self.op("Mod", a, b, fmod=1),
            "log1p": self._log1p,
        }

    def _log1p(self, u: str) -> str:
        """log(1 + u), corrected by what 1 + u has rounded off."""
        one = self.constant(1.0)
        grown = self.op("Add", u, one)
        is_one = self.op("Equal", grown, one)
        rounded = self.op("Where", is_one, one, self.op("Sub", grown, one))
        return self.op("Where", is_one, u, self.op("Mul", self.op("Log", grown), self.op("Div", u, rounded)))

    def columns(self, matrix: str, which: np.ndarray, n_columns: int) -> str:
        """Some columns of a matrix of shape (n_rows, n_columns)."""
        if np.array_equal(which, np.arange(n_columns)):
            return matrix
        return self.op("Gather", matrix, self.constant(which, np.int64), axis=1)

    def each(self, exprs: list[Expr], known: Mapping[str, str], shared: Mapping[str, str]) -> str:
        """Expressions of one column of each matrix, side by side; at once where they are all the same."""
        if all(one == exprs[0] for one in exprs):
            return self.expression(exprs[0], {**known, **shared})
        parts = []
        for k, one in enumerate(exprs):
            column = {key: self.op("Gather", matrix, self.integers(k), axis=1) for key, matrix in known.items()}
            parts.append(self.expression(one, {**column, **shared}))
        return self.op("Concat", *parts, axis=1)
