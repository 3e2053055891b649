"""A model as one ES module: `predict(row)` and, of a classifier, `predictProba(row)`; nothing is imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np

from kernelpursuit.export.description import EXCESS, LEFT, WAY, Affine, Block, Box, Description, Interval, Line
from kernelpursuit.export.expressions import evaluate
from kernelpursuit.export.half_widths import half_width_layers, sums_over_landmarks


def _call(word: str) -> Callable[..., str]:
    return lambda *args: f"Math.{word}({', '.join(args)})"


OPERATIONS: Mapping[str, Callable[..., str]] = {
    "number": lambda value: f"({value!r})" if value < 0 else repr(value),
    "neg": lambda a: f"(-{a})",
    **{
        op: (lambda a, b, sign=sign: f"({a} {sign} {b})")
        for op, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/", "fmod": "%"}.items()
    },
    **{
        op: _call(word)
        for op, word in {
            "exp": "exp",
            "log": "log",
            "log1p": "log1p",
            "sqrt": "sqrt",
            "tanh": "tanh",
            "sin": "sin",
            "abs": "abs",
            "min": "min",
            "max": "max",
            "power": "pow",
        }.items()
    },
}


def write_javascript(description: Description) -> str:
    """The module."""
    lines = [
        f"// A model of kernelpursuit: {description.n_atoms} atoms, {description.n_features} features.",
        f"export const features = {json.dumps(list(description.names))};",
    ]
    for number, block in enumerate(description.blocks):
        lines += _data(block, str(number))
    if description.box is not None:
        lines += ["", *_left(description.box)]
    lines += ["", "export function scores(x) {"]
    lines.append(f"  const f = [{', '.join(_line(description.line))}];")
    for number, block in enumerate(description.blocks):
        lines += [f"  {one}" for one in _block(block, str(number))]
    lines += [f"  {one}" for one in _outside(description)]
    lines += ["  return f;", "}", ""]
    lines += _classifier(description) if description.classes is not None else _regressor(description)
    if description.interval is not None:
        lines += ["", *_intervals(description, description.interval)]
    return "\n".join([*lines, ""])


def _data(block: Block, words: str) -> list[str]:
    lines = [f"const centers{words} = {_numbers(block.centers)};", f"const coef{words} = {_numbers(block.coef)};"]
    return lines if block.factors is None else [*lines, f"const factors{words} = {_numbers(block.factors)};"]


def _numbers(values: np.ndarray) -> str:
    return json.dumps(np.asarray(values, dtype=np.float64).tolist(), separators=(",", ":"))


def _line(line: Line) -> list[str]:
    number, out = OPERATIONS["number"], []
    for k, constant in enumerate(line.constant.tolist()):
        terms = [
            f" + {number(float(c / spread))} * (x[{feature}] - {number(float(center))})"
            for feature, center, spread, c in zip(line.features, line.center, line.spread, line.coef[:, k])
            if c != 0
        ]
        out.append(number(constant) + "".join(terms))
    return out


def _block(block: Block, words: str) -> list[str]:
    """Add the sums over the atoms of a kernel to f."""
    n_atoms, n_columns = block.centers.shape
    lines = ["{", f"  const z = new Float64Array({n_columns});", *(f"  {one}" for one in _embedding(block))]
    lines += [f"  for (let i = 0; i < {n_atoms}; ++i) {{", f"    const c = centers{words}[i], w = coef{words}[i];"]
    lines.append("    let s;")
    for i, one in enumerate(block.sums):
        add = {
            "squares": "const d = z[j] - c[j]; s += d * d;",
            "absolutes": "s += Math.abs(z[j] - c[j]);",
            "products": "s += z[j] * c[j];",
        }[one.kind]
        lines += ["    s = 0;", f"    for (let j = {one.start}; j < {one.stop}; ++j) {{ {add} }}"]
        if block.factors is not None:
            lines.append(f"    s *= factors{words}[i];")
        lines.append(f"    const a{i} = {evaluate(one.expr, {'s': 's'}, OPERATIONS)};")
    known = {f"a{i}": f"a{i}" for i in range(len(block.sums))}
    lines.append(f"    const v = {evaluate(block.value, known, OPERATIONS)};")
    lines.append(f"    for (let k = 0; k < {block.coef.shape[1]}; ++k) f[k] += w[k] * v;")
    return [*lines, "  }", "}"]


def _embedding(block: Block) -> list[str]:
    number, lines, column = OPERATIONS["number"], [], 0
    for part in block.embedding:
        n = len(part.features)
        for i, feature in enumerate(part.features):
            if isinstance(part, Affine):
                shift, scale = number(float(part.shift[i])), number(float(part.scale[i]))
                lines.append(f"z[{column + i}] = (x[{feature}] - {shift}) * {scale};")
                continue
            period, radius = number(float(part.period[i])), number(float(part.radius[i]))
            lines.append(
                f"{{ const h = Math.PI * ((x[{feature}] % {period}) / {period}), sh = Math.sin(h); "
                f"z[{column + i}] = -2 * {radius} * sh * sh; z[{column + n + i}] = {radius} * Math.sin(2 * h); }}"
            )
        column += part.n_columns
    return lines


def _outside(description: Description) -> list[str]:
    box, scores = description.box, [description.score(k) for k in range(description.n_scores)]
    if box is None:
        changed = [one for one in enumerate(scores) if one[1].op != "name"]
        return [f"f[{k}] = {evaluate(one, {'f': f'f[{k}]'}, OPERATIONS)};" for k, one in changed]
    lines = [f"const g = left(x), b = [{', '.join(_line(box.base))}];"]
    for k, one in enumerate(scores):
        known = {"f": f"f[{k}]", "b": f"b[{k}]", "g": "g"}
        lines.append(f"f[{k}] = {evaluate(one, known, OPERATIONS)};")
    return lines


def _left(box: Box) -> list[str]:
    """A function that says what is left of the model at a row."""
    ranges = [[int(j), float(low), float(high)] for j, low, high in zip(box.features, box.low, box.high)]
    names = {"x": "x[j]", "low": "low", "high": "high"}
    lines = ["function left(x) {", "  let e = 0;", f"  for (const [j, low, high] of {json.dumps(ranges)}) {{"]
    lines += [f"    const d = {evaluate(EXCESS, names, OPERATIONS)};", "    e += d * d;", "  }"]
    lines.append(f"  const t = {evaluate(WAY, {'e': 'e'}, OPERATIONS)};")
    return [*lines, f"  return {evaluate(LEFT, {'t': 't'}, OPERATIONS)};", "}"]


def _regressor(description: Description) -> list[str]:
    n = description.n_scores
    means = [evaluate(description.prediction(k), {"f": f"f[{k}]"}, OPERATIONS) for k in range(n)]
    result = means[0] if description.is_flat else f"[{', '.join(means)}]"
    return ["export function predict(x) {", "  const f = scores(x);", f"  return {result};", "}"]


def _intervals(description: Description, interval: Interval) -> list[str]:
    """The function that gives both ends of intervals."""
    n, landmarks = description.n_scores, sums_over_landmarks(interval)
    lines = [] if landmarks is None else _data(landmarks, "Landmarks")
    y = "[predict(x)]" if description.is_flat else "predict(x)"
    lines += ["export function predictInterval(x) {", f"  const y = {y};"]
    known = {f"x{j}": f"x[{j}]" for j in range(description.n_features)}
    known |= {f"{one}{k}": f"{one}[{k}]" for one in "yb" for k in range(n)}
    if landmarks is not None:
        n_parts = len(interval.solve)
        lines.append(f"  const g = {'1' if description.box is None else 'left(x)'};")
        lines.append(f"  const b = [{', '.join(_line(interval.base))}];")
        lines.append(f"  const f = new Float64Array({n_parts + n});")
        lines += [f"  {one}" for one in _block(landmarks, "Landmarks")]
        lines.append(f"  const e = f.subarray(0, {n_parts}).reduce((sum, one) => sum + one * one, 0);")
        known |= {"e": "e", "g": "g", **{f"m{k}": f"f[{n_parts + k}]" for k in range(n)}}
    for layer in half_width_layers(interval):
        for word, expr in layer.items():
            lines.append(f"  const {word} = {evaluate(expr, known, OPERATIONS)};")
        known |= {word: word for word in layer}
    ends = [[f"y[{k}] {sign} h{k}" for k in range(n)] for sign in "-+"]
    lower, upper = (one[0] if description.is_flat else f"[{', '.join(one)}]" for one in ends)
    return [*lines, f"  return [{lower}, {upper}];", "}"]


def _classifier(description: Description) -> list[str]:
    assert description.classes is not None
    labels = json.dumps(description.classes.tolist(), default=str)
    known = {f"f{k}": f"f[{k}]" for k in range(description.n_scores)}
    logits = ", ".join(evaluate(one, known, OPERATIONS) for one in description.logits())
    best = "f[0] > 0 ? 1 : 0" if description.n_scores == 1 else "f.indexOf(Math.max(...f))"
    return [
        f"export const classes = {labels};",
        "",
        "export function predict(x) {",
        "  const f = scores(x);",
        f"  return classes[{best}];",
        "}",
        "",
        "export function predictProba(x) {",
        "  const f = scores(x);",
        f"  const u = [{logits}];",
        "  const most = Math.max(...u), grown = u.map((one) => Math.exp(one - most));",
        "  const total = grown.reduce((sum, one) => sum + one, 0);",
        "  return grown.map((one) => one / total);",
        "}",
    ]
