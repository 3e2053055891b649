"""A model as an ONNX graph: float32 or float64 in and out, float64 in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit.export.description import EXCESS, LEFT, WAY, Affine, Block, Description, Interval, Line
from kernelpursuit.export.onnx_graph import Graph
from kernelpursuit.model.calibration import NORMAL_QUANTILE
from kernelpursuit.model.constants import MIN_UNEXPLAINED
from kernelpursuit.model.landmarks import JITTER

#: Version of the operators, which onnxruntime has from 1.14 on, and of the file.
OPSET, IR_VERSION = 18, 8
# Differences of a row and all centres are taken at once up to so many, and column by column above: that takes memory
# for n_rows x n_atoms numbers, and not n_columns times as much.
AT_ONCE = 4096


def build(description: Description, graph: Graph, X: str) -> dict[str, str]:
    """Add the nodes of a prediction of the rows X, in float64; return the names of the outputs."""
    left = None if description.box is None else _left(description, graph, X)
    scores = _scores(description, graph, X, left)
    if description.classes is not None:
        return _classes(description, graph, scores)
    means = [description.prediction(k) for k in range(description.n_scores)]
    y = graph.each(means, {"f": scores}, {})
    outputs = {"prediction": y}
    if description.interval is not None:
        half = _half_widths(description.interval, graph, X, y=y, left=left, n_features=description.n_features)
        outputs |= {"lower": graph.op("Sub", y, half), "upper": graph.op("Add", y, half)}
    return outputs


def write_onnx(description: Description, dtype: str) -> bytes:
    """The bytes of the file."""
    onnx = import_onnx()
    helper, types = onnx.helper, onnx.TensorProto
    kind = types.FLOAT if dtype == "float32" else types.DOUBLE
    graph = Graph()
    X = graph.op("Cast", "X", to=types.DOUBLE) if dtype == "float32" else "X"
    outputs, shown = build(description, graph, X), []
    n_targets = len(description.classes) if description.classes is not None else description.n_scores
    for word, one in outputs.items():
        if word == "label":
            graph.op("Identity", one)
            label_type = types.STRING if labels_of(description).dtype == object else types.INT64
            shown.append(helper.make_tensor_value_info(word, label_type, ["n"]))
        else:
            is_flat = description.is_flat and description.classes is None
            one = graph.op("Squeeze", one, graph.integers(1)) if is_flat else one
            one = graph.op("Cast", one, to=kind)
            shown.append(helper.make_tensor_value_info(word, kind, ["n"] if is_flat else ["n", n_targets]))
        graph.call_last(word)
    nodes = [helper.make_node(one.kind, one.inputs, [one.output], **one.attributes) for one in graph.nodes]
    constants = [onnx.numpy_helper.from_array(array, word) for word, array in graph.constants.items()]
    rows = helper.make_tensor_value_info("X", kind, ["n", description.n_features])
    made = helper.make_graph(nodes, "kernelpursuit", [rows], shown, initializer=constants)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(made, opset_imports=opset, ir_version=IR_VERSION, producer_name="kernelpursuit")
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def import_onnx() -> Any:
    """The package, or a sentence that says how to get it."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError:
        raise ImportError("Exports to ONNX need onnx: pip install 'kernelpursuit[onnx]'.") from None
    return onnx


def labels_of(description: Description) -> np.ndarray:
    """Labels as ONNX has them: whole numbers, or strings."""
    assert description.classes is not None
    labels = description.classes.tolist()
    if all(isinstance(one, (bool, int)) or (isinstance(one, float) and one.is_integer()) for one in labels):
        return np.array([int(one) for one in labels], dtype=np.int64)
    return np.array([str(one) for one in labels], dtype=object)


def _scores(description: Description, graph: Graph, X: str, left: str | None) -> str:
    n = description.n_features
    f = _line(description.line, graph, X, n)
    if not description.blocks and not len(description.line.features):
        # As many rows as X has: a constant says nothing of their number.
        first = graph.op("Gather", X, graph.integers(0), axis=1)
        f = graph.op("Add", graph.op("Mul", first, graph.constant(0.0)), f)
    for block in description.blocks:
        values = atom_values(block, graph, X, n)
        f = graph.op("Add", f, graph.op("MatMul", values, graph.constant(block.coef)))
    known, shared = {"f": f}, {}
    if description.box is not None:
        assert left is not None
        known, shared = {"f": f, "b": _line(description.box.base, graph, X, n)}, {"g": left}
    exprs = [description.score(k) for k in range(description.n_scores)]
    return graph.each(exprs, known, shared)


def _line(line: Line, graph: Graph, X: str, n_features: int) -> str:
    """A line at rows; where it is a constant, of shape (1, n_scores)."""
    if not len(line.features):
        return graph.constant(line.constant[None])
    z = graph.op("Sub", graph.columns(X, line.features, n_features), graph.constant(line.center))
    z = graph.op("Div", z, graph.constant(line.spread))
    return graph.op("Add", graph.op("MatMul", z, graph.constant(line.coef)), graph.constant(line.constant))


def atom_values(block: Block, graph: Graph, X: str, n_features: int) -> str:
    """Values of atoms, shape (n_rows, n_atoms)."""
    z, known = _embedded(block, graph, X, n_features), {}
    n_columns = block.centers.shape[1]
    for i, one in enumerate(block.sums):
        centers, which = block.centers[:, one.start : one.stop], np.arange(one.start, one.stop)
        if one.kind == "products":
            s = graph.op("MatMul", graph.columns(z, which, n_columns), graph.constant(centers.T))
        elif centers.size <= AT_ONCE:
            rows = graph.op("Unsqueeze", graph.columns(z, which, n_columns), graph.integers(1))
            size = _size(graph, one.kind, graph.op("Sub", rows, graph.constant(centers)))
            s = graph.op("ReduceSum", size, graph.integers(2), keepdims=0)
        else:
            columns = [graph.op("Gather", z, graph.integers(int(j)), axis=1) for j in which]
            apart = [graph.op("Sub", column, graph.constant(c)) for column, c in zip(columns, centers.T)]
            s = _size(graph, one.kind, apart[0])
            for difference in apart[1:]:
                s = graph.op("Add", s, _size(graph, one.kind, difference))
        s = s if block.factors is None else graph.op("Mul", s, graph.constant(block.factors))
        known[f"a{i}"] = graph.expression(one.expr, {"s": s})
    return graph.expression(block.value, known)


def _size(graph: Graph, kind: str, difference: str) -> str:
    return graph.op("Mul", difference, difference) if kind == "squares" else graph.op("Abs", difference)


def _embedded(block: Block, graph: Graph, X: str, n_features: int) -> str:
    columns = []
    for part in block.embedding:
        x = graph.columns(X, part.features, n_features)
        if isinstance(part, Affine):
            columns.append(graph.op("Mul", graph.op("Sub", x, graph.constant(part.shift)), graph.constant(part.scale)))
            continue
        period, radius = graph.constant(part.period), graph.constant(part.radius)
        turn = graph.op("Div", graph.op("Mod", x, period, fmod=1), period)
        half = graph.op("Mul", turn, graph.constant(np.pi))
        sine = graph.op("Sin", half)
        twice = graph.op("Sin", graph.op("Mul", half, graph.constant(2.0)))
        columns.append(graph.op("Mul", graph.op("Mul", sine, sine), graph.constant(-2 * part.radius)))
        columns.append(graph.op("Mul", twice, radius))
    return columns[0] if len(columns) == 1 else graph.op("Concat", *columns, axis=1)


def _left(description: Description, graph: Graph, X: str) -> str:
    """What is left of the model, shape (n_rows, 1)."""
    box = description.box
    assert box is not None
    if not len(box.features):
        return graph.constant([[1.0]])
    x = graph.columns(X, box.features, description.n_features)
    known = {"x": x, "low": graph.constant(box.low), "high": graph.constant(box.high)}
    d = graph.expression(EXCESS, known)
    e = graph.op("ReduceSum", graph.op("Mul", d, d), graph.integers(1), keepdims=1)
    return graph.expression(LEFT, {"t": graph.expression(WAY, {"e": e})})


def _classes(description: Description, graph: Graph, scores: str) -> dict[str, str]:
    assert description.probabilities is not None
    both = scores
    if description.n_scores == 1:
        both = graph.op("Concat", graph.op("Neg", scores), scores, axis=1)
    best = graph.op("ArgMax", both, axis=1, keepdims=0)
    labels = labels_of(description)
    label = graph.op("Gather", graph.constant(labels, labels.dtype), best, axis=0)
    logits = graph.expression(description.probabilities.expr, {"f": both})
    return {"label": label, "probability": graph.op("Softmax", logits, axis=1)}


def _half_widths(interval: Interval, graph: Graph, X: str, y: str, left: str | None, n_features: int) -> str:
    """Half the widths of intervals, shape (n_rows, n_targets)."""
    quantile = graph.constant(interval.quantile)
    if interval.landmarks is None:
        return graph.op("Add", graph.op("Mul", y, graph.constant(0.0)), quantile)
    one, zero, axis = graph.constant(1.0), graph.constant(0.0), graph.integers(1)
    values = atom_values(interval.landmarks, graph, X, n_features)
    parts = graph.op("MatMul", values, graph.constant(interval.solve.T))
    explained = graph.op("ReduceSum", graph.op("Mul", parts, parts), axis, keepdims=1)
    v = graph.op("Min", graph.op("Max", graph.op("Sub", one, explained), zero), one)
    root = graph.op("Max", graph.op("Sub", v, graph.constant(interval.near)), zero)
    root = graph.op("Div", root, graph.constant(max(1.0 - interval.near, JITTER)))
    if left is not None:
        outside = graph.op("Sub", one, graph.op("Mul", left, left))
        root = graph.op("Sqrt", graph.op("Max", graph.op("Mul", root, root), outside))
    noise = _noise(interval, graph, X, y=y, v=v, values=values, n_features=n_features)
    base = _line(interval.base, graph, X, n_features)
    beside = graph.op("Div", graph.op("Abs", graph.op("Sub", y, base)), graph.constant(NORMAL_QUANTILE))
    wide = graph.op("Mul", root, graph.op("Add", graph.constant(interval.target_spread), beside))
    squares = [graph.op("Mul", term, term) for term in (noise, wide, graph.constant(interval.more))]
    return graph.op("Mul", quantile, graph.op("Sqrt", graph.op("Sum", *squares)))


def _noise(interval: Interval, graph: Graph, X: str, *, y: str, v: str, values: str, n_features: int) -> str:
    """The size of errors, shape (n_rows, n_targets)."""
    z = graph.columns(X, interval.features, n_features)
    z = graph.op("Min", graph.op("Max", z, graph.constant(interval.low)), graph.constant(interval.high))
    z = graph.op("Div", graph.op("Sub", z, graph.constant(interval.center)), graph.constant(interval.spread))
    log_v = graph.op("Log", graph.op("Add", v, graph.constant(MIN_UNEXPLAINED)))
    found = []
    for k, (noise, knots, unit) in enumerate(zip(interval.noise, interval.knots, interval.unit)):
        u = graph.op("Div", graph.op("Gather", y, graph.integers(k), axis=1), graph.constant(unit))
        if not noise.coef.any():
            zero = graph.op("Mul", u, graph.constant(0.0))
            found.append(graph.op("Add", zero, graph.constant(unit * np.exp(noise.constant))))
            continue
        hinges = graph.op("Max", graph.op("Sub", u, graph.constant(knots)), graph.constant(0.0))
        columns = graph.op("Concat", *(z, graph.op("Abs", z), u, hinges, log_v, values), axis=1)
        centred = graph.op("Sub", columns, graph.constant(noise.center))
        logs = graph.op(
            "Add", graph.op("MatMul", centred, graph.constant(noise.coef[:, None])), graph.constant(noise.constant)
        )
        logs = graph.op("Min", graph.op("Max", logs, graph.constant(noise.low)), graph.constant(noise.high))
        found.append(graph.op("Mul", graph.op("Exp", logs), graph.constant(unit)))
    return found[0] if len(found) == 1 else graph.op("Concat", *found, axis=1)
