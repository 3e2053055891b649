"""A model as one Python file that needs NumPy alone: `predict(X)` of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kernelpursuit.export.description import EXCESS, LEFT, WAY, Affine, Block, Description, Interval, Line
from kernelpursuit.export.expressions import evaluate
from kernelpursuit.model.calibration import NORMAL_QUANTILE
from kernelpursuit.model.constants import MIN_UNEXPLAINED
from kernelpursuit.model.landmarks import JITTER

HEAD = '''"""A model of kernelpursuit: {atoms} atoms, {features} features ({names}).

{usage}
"""

import numpy as np

n, inf, nan = np.array, np.inf, np.nan

'''
SOFTMAX = '''
def predict_proba(X):
    """Probabilities of rows, shape (n_rows, n_classes), in the order of `classes`."""
    f = scores(X)
    u = {logits}
    grown = np.exp(u - u.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)
'''


def _call(word: str) -> Callable[..., str]:
    return lambda *args: f"np.{word}({', '.join(args)})"


SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "power": "**"}
NAMES = {"exp": "exp", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "tanh": "tanh", "sin": "sin"}
NAMES |= {"abs": "abs", "fmod": "fmod", "min": "minimum", "max": "maximum"}
OPERATIONS: Mapping[str, Callable[..., str]] = {
    "number": repr,
    "neg": lambda a: f"(-{a})",
    **{op: (lambda a, b, sign=sign: f"({a} {sign} {b})") for op, sign in SIGNS.items()},
    **{op: _call(word) for op, word in NAMES.items()},
}


def write_python(description: Description) -> str:
    """The file."""
    usage = (
        "predict(X) gives labels, predict_proba(X) probabilities." if description.classes is not None else "predict(X)"
    )
    usage = usage if description.interval is None else "predict(X), and predict_interval(X) gives (lower, upper)."
    names = ", ".join(description.names).replace("\\", " ").replace('"', " ")
    lines = [HEAD.format(atoms=description.n_atoms, features=description.n_features, names=names, usage=usage)]
    for number, block in enumerate(description.blocks):
        lines += [f"CENTERS_{number} = {_array(block.centers)}\n", f"COEF_{number} = {_array(block.coef)}\n"]
    lines += ["\n\ndef scores(X):\n", '    """Scores of rows, shape (n_rows, n_scores)."""\n']
    lines.append("    X = np.asarray(X, dtype=float)\n")
    lines.append(f"    f = {_line(description.line)}\n")
    for number, block in enumerate(description.blocks):
        lines += [f"    {one}\n" for one in _values(block, f"CENTERS_{number}")]
        lines.append(f"    f = f + v @ COEF_{number}\n")
    lines += [f"    {one}\n" for one in _outside(description)]
    lines.append("    return f\n\n")
    lines.append(_classifier(description) if description.classes is not None else _regressor(description))
    if description.interval is not None:
        lines.append(_intervals(description, description.interval))
    return "".join(lines)


def _array(values: np.ndarray) -> str:
    return (
        f"n({np.asarray(values).tolist()!r}).reshape({tuple(values.shape)!r})"
        if values.size == 0
        else f"n({values.tolist()!r})"
    )


def _line(line: Line) -> str:
    constant = f"np.tile(n({line.constant.tolist()!r}), (len(X), 1))"
    if not len(line.features):
        return constant
    z = f"(X[:, {line.features.tolist()!r}] - n({line.center.tolist()!r})) / n({line.spread.tolist()!r})"
    return f"{constant} + ({z}) @ {_array(line.coef)}"


def _values(block: Block, centers: str) -> list[str]:
    """Lines that set v to the values of atoms, shape (n_rows, n_atoms)."""
    columns = []
    lines = []
    for i, part in enumerate(block.embedding):
        x = f"X[:, {part.features.tolist()!r}]"
        if isinstance(part, Affine):
            columns.append(f"({x} - n({part.shift.tolist()!r})) * n({part.scale.tolist()!r})")
        else:
            lines.append(f"p{i}, r{i} = n({part.period.tolist()!r}), n({part.radius.tolist()!r})")
            lines.append(f"h{i} = np.pi * (np.fmod({x}, p{i}) / p{i})")
            columns += [f"-2 * r{i} * np.sin(h{i}) ** 2", f"r{i} * np.sin(2 * h{i})"]
    lines.append(f"z = np.hstack([{', '.join(columns)}])")
    for i, one in enumerate(block.sums):
        if one.kind == "products":
            lines.append(f"s = z[:, {one.start}:{one.stop}] @ {centers}[:, {one.start}:{one.stop}].T")
        else:
            apart = f"(z[:, j, None] - {centers}[:, j])"
            lines.append(f"s = np.zeros((len(X), len({centers})))")
            lines.append(f"for j in range({one.start}, {one.stop}):")
            lines.append(f"    s += {apart} ** 2" if one.kind == "squares" else f"    s += np.abs{apart}")
        if block.factors is not None:
            lines.append(f"s = s * n({block.factors.tolist()!r})")
        lines.append(f"a{i} = {evaluate(one.expr, {'s': 's'}, OPERATIONS)}")
    known = {f"a{i}": f"a{i}" for i in range(len(block.sums))}
    return [*lines, f"v = {evaluate(block.value, known, OPERATIONS)}"]


def _outside(description: Description) -> list[str]:
    box, n = description.box, description.n_scores
    known, lines = {"f": "f[:, {k}]"}, []
    if box is not None:
        lines = [*_fade(description), f"b = {_line(box.base)}"]
        known |= {"b": "b[:, {k}]", "g": "g"}
    columns = [
        evaluate(description.score(k), {key: one.format(k=k) for key, one in known.items()}, OPERATIONS)
        for k in range(n)
    ]
    changed = any(description.score(k).op != "name" for k in range(n))
    return [*lines, *([f"f = np.column_stack([{', '.join(columns)}])"] if changed else [])]


def _fade(description: Description) -> list[str]:
    """Lines that set g to what is left of the model."""
    box = description.box
    if box is None:
        return ["g = np.ones(len(X))"]
    names = {"x": f"X[:, {box.features.tolist()!r}]", "low": "low", "high": "high"}
    return [
        f"low, high = n({box.low.tolist()!r}), n({box.high.tolist()!r})",
        f"e = ({evaluate(EXCESS, names, OPERATIONS)} ** 2).sum(axis=1)",
        f"t = {evaluate(WAY, {'e': 'e'}, OPERATIONS)}",
        f"g = {evaluate(LEFT, {'t': 't'}, OPERATIONS)}",
    ]


def _regressor(description: Description) -> str:
    means = [evaluate(description.prediction(k), {"f": f"f[:, {k}]"}, OPERATIONS) for k in range(description.n_scores)]
    result = means[0] if description.is_flat else f"np.column_stack([{', '.join(means)}])"
    return f'\ndef predict(X):\n    """Predictions of rows."""\n    f = scores(X)\n    return {result}\n'


def _classifier(description: Description) -> str:
    assert description.classes is not None
    known = {f"f{k}": f"f[:, {k}]" for k in range(description.n_scores)}
    logits = f"np.column_stack([{', '.join(evaluate(one, known, OPERATIONS) for one in description.logits())}])"
    best = "(f[:, 0] > 0).astype(int)" if description.n_scores == 1 else "f.argmax(axis=1)"
    return (
        f"\nclasses = n({description.classes.tolist()!r})\n\n"
        f'\ndef predict(X):\n    """Labels of rows."""\n    f = scores(X)\n    return classes[{best}]\n\n'
        + SOFTMAX.format(logits=logits)
    )


def _intervals(description: Description, interval: Interval) -> str:
    """The function that gives intervals."""
    shape = "[:, 0]" if description.is_flat else ""
    lines = ["", "", "def predict_interval(X):", '    """Lower and upper ends of intervals."""']
    lines += ["    X = np.asarray(X, dtype=float)", "    y = predict(X).reshape(len(X), -1)"]
    if interval.landmarks is None:
        lines.append(f"    half = np.tile(n({interval.quantile.tolist()!r}), (len(X), 1))")
    else:
        lines.append(f"    landmarks = {_array(interval.landmarks.centers)}")
        lines += [f"    {one}" for one in _values(interval.landmarks, "landmarks")]
        lines += [f"    {one}" for one in _fade(description)]
        lines += [f"    {one}" for one in _error_scale(interval, _line(interval.base))]
    return "\n".join([*lines, f"    return (y - half){shape}, (y + half){shape}", ""])


def _error_scale(interval: Interval, base: str) -> list[str]:
    """Lines that set half to half the widths."""
    features = interval.features.tolist()
    low, high, center, spread = (
        f"n({one.tolist()!r})" for one in (interval.low, interval.high, interval.center, interval.spread)
    )
    lines = [
        f"parts = v @ {_array(interval.solve.T)}",
        "far = np.clip(1.0 - (parts * parts).sum(axis=1), 0.0, 1.0)",
        f"zz = (np.clip(X[:, {features!r}], {low}, {high}) - {center}) / {spread}",
        f"log_far = np.log(far + {MIN_UNEXPLAINED!r})[:, None]",
        f"far = (np.maximum(far - {interval.near!r}, 0.0) / {max(1.0 - interval.near, JITTER)!r}) ** 2",
        "far = np.sqrt(np.maximum(far, 1.0 - g * g))[:, None]",
        "noise = []",
    ]
    for k, (noise, knots, unit) in enumerate(zip(interval.noise, interval.knots, interval.unit.tolist())):
        if not noise.coef.any():
            lines.append(f"noise.append(np.full(len(X), {unit * float(np.exp(noise.constant))!r}))")
            continue
        lines += [
            f"u = y[:, {k}:{k + 1}] / {unit!r}",
            f"c = np.hstack([zz, np.abs(zz), u, np.maximum(u - n({knots.tolist()!r}), 0.0), log_far, v])",
            f"q = {noise.constant!r} + (c - n({noise.center.tolist()!r})) @ n({noise.coef.tolist()!r})",
            f"noise.append({unit!r} * np.exp(np.clip(q, {noise.low!r}, {noise.high!r})))",
        ]
    return [
        *lines,
        f"base = {base}",
        f"wide = far * (n({interval.target_spread.tolist()!r}) + np.abs(y - base) / {NORMAL_QUANTILE!r})",
        f"scale = np.hypot(np.hypot(np.column_stack(noise), wide), n({interval.more.tolist()!r}))",
        f"half = n({interval.quantile.tolist()!r}) * scale",
    ]
