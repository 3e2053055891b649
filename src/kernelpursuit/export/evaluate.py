"""A description evaluated by NumPy: what every target computes, in its plainest form."""

from __future__ import annotations

import numpy as np

from kernelpursuit.export.describe import embedded
from kernelpursuit.export.description import EXCESS, LEFT, WAY, Block, Description, Line
from kernelpursuit.export.expressions import evaluate

# Rows at a time: differences of rows and centres are kept for all columns.
CHUNK_ROWS = 256


def scores(description: Description, X: np.ndarray) -> np.ndarray:
    """Scores of rows, shape (n_rows, n_scores)."""
    return np.vstack([_scores(description, X[i : i + CHUNK_ROWS]) for i in range(0, len(X), CHUNK_ROWS)])


def _scores(description: Description, X: np.ndarray) -> np.ndarray:
    f = line_values(description.line, X)
    for block in description.blocks:
        f = f + atom_values(block, X) @ block.coef
    known: dict[str, np.ndarray] = {"f": f}
    box = description.box
    if box is not None:
        x = X[:, box.features]
        e = np.square(evaluate(EXCESS, {"x": x, "low": box.low, "high": box.high})).sum(axis=1)
        known |= {"g": evaluate(LEFT, {"t": evaluate(WAY, {"e": e})}), "b": line_values(box.base, X)}
    columns = ({key: one if one.ndim == 1 else one[:, k] for key, one in known.items()} for k in range(f.shape[1]))
    return np.column_stack([evaluate(description.score(k), column) for k, column in enumerate(columns)])


def line_values(line: Line, X: np.ndarray) -> np.ndarray:
    """Values of a line, shape (n_rows, n_scores)."""
    return ((X[:, line.features] - line.center) / line.spread) @ line.coef + line.constant


def atom_values(block: Block, X: np.ndarray) -> np.ndarray:
    """Values of atoms, shape (n_rows, n_atoms)."""
    z, known = embedded(X, block.embedding), {}
    for number, one in enumerate(block.sums):
        part, centers = z[:, one.start : one.stop], block.centers[:, one.start : one.stop]
        if one.kind == "products":
            s = part @ centers.T
        else:
            apart = part[:, None] - centers
            s = (np.square(apart) if one.kind == "squares" else np.abs(apart)).sum(axis=2)
        known[f"a{number}"] = evaluate(one.expr, {"s": s if block.factors is None else s * block.factors})
    values: np.ndarray = evaluate(block.value, known)
    return values
