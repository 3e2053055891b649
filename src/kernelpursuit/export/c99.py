"""A model as one C99 header: static const arrays, a loop over atoms, no memory from the heap."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from kernelpursuit.export.description import EXCESS, LEFT, WAY, Affine, Block, Box, Description, Interval, Line
from kernelpursuit.export.expressions import evaluate
from kernelpursuit.export.half_widths import half_width_layers, sums_over_landmarks
from kernelpursuit.export.quantised import Quantised

# Numbers in a line of an array.
PER_LINE = 8


class CWriter:
    """Writes numbers, expressions and arrays in double or in float."""

    def __init__(self, dtype: str, prefix: str):
        self.is_float = dtype == "float32"
        self.type = "float" if self.is_float else "double"
        self.suffix = "f" if self.is_float else ""
        self.prefix = prefix
        self.operations = _operations(self.number, self.suffix)

    def number(self, value: float) -> str:
        """A literal; a sign is in brackets, so that it can stand anywhere."""
        word = repr(float(value)) if not self.is_float else _shortest_float(value)
        word = word if "." in word or "e" in word else f"{word}.0"
        return f"({word}{self.suffix})" if word.startswith("-") else f"{word}{self.suffix}"

    def array(self, words: str, values: np.ndarray, kind: str | None = None) -> str:
        """The definition of an array of one or two dimensions."""
        kind = self.type if kind is None else kind
        write = self.number if kind == self.type else lambda value: str(int(value))
        shape = "".join(f"[{n}]" for n in values.shape)
        head = f"static const {kind} {self.prefix}_{words}{shape} = "
        if values.ndim == 1:
            return f"{head}{{{_wrapped([write(one) for one in values])}}};\n"
        rows = ",\n".join("  {" + _wrapped([write(one) for one in row]) + "}" for row in values)
        return f"{head}{{\n{rows}\n}};\n"


def write_c(description: Description, prefix: str, dtype: str, quantised: Quantised | None) -> str:
    """The header."""
    w = CWriter(dtype, prefix)
    parts = [_introduction(description, w), _data(description, w, quantised), _scores(description, w, quantised)]
    parts.append(_classifier(description, w) if description.classes is not None else _regressor(description, w))
    if description.interval is not None:
        parts.append(_intervals(description, description.interval, w))
    return "\n".join([*parts, f"#endif /* {prefix.upper()}_H */\n"])


def c_name(stem: str) -> str:
    """A file's name as a name in C."""
    word = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return word if word and not word[0].isdigit() else f"model_{word}"


def _introduction(description: Description, w: CWriter) -> str:
    guard = f"{w.prefix.upper()}_H"
    features = ", ".join(re.sub(r"[^\w .-]", "_", one, flags=re.ASCII) for one in description.names)
    usage = f"int {w.prefix}_predict(const {w.type} *x, {w.type} *probability): a place in {w.prefix}_labels"
    if description.classes is None and description.is_flat:
        usage = f"{w.type} {w.prefix}_predict(const {w.type} *x)"
    elif description.classes is None:
        usage = f"void {w.prefix}_predict(const {w.type} *x, {w.type} *y)"
    if description.interval is not None:
        usage += f"\n   void {w.prefix}_predict_interval(const {w.type} *x, {w.type} *lower, {w.type} *upper)"
    return (
        f"/* A model of kernelpursuit: {description.n_atoms} atoms, {description.n_features} features.\n\n"
        f"   {usage}\n\n   Features: {features}\n*/\n"
        f"#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n#include <stdint.h>\n\n"
        f"#define {guard[:-2]}_FEATURES {description.n_features}\n"
        f"#define {guard[:-2]}_SCORES {description.n_scores}\n"
    )


def _data(description: Description, w: CWriter, quantised: Quantised | None) -> str:
    """All arrays."""
    out = []
    for number, block in enumerate(description.blocks):
        if quantised is None:
            out.append(w.array(f"centers_{number}", block.centers))
        else:
            levels, step, offset = quantised.blocks[number]
            out.append(w.array(f"centers_{number}", levels, "int16_t"))
            out += [w.array(f"step_{number}", step), w.array(f"offset_{number}", offset)]
        out += _weights(block, str(number), w)
    landmarks = None if description.interval is None else sums_over_landmarks(description.interval)
    if landmarks is not None:
        out += [w.array("centers_landmarks", landmarks.centers), *_weights(landmarks, "landmarks", w)]
    if description.box is not None and len(description.box.features):
        box = description.box
        out.append(w.array("box", np.column_stack([box.low, box.high])))
        out.append(w.array("box_features", box.features, "int"))
    if description.classes is not None:
        words = ", ".join(c_string(str(label)) for label in description.classes.tolist())
        out.append(f"static const char *const {w.prefix}_labels[{len(description.classes)}] = {{{words}}};\n")
    return "".join(out)


def _weights(block: Block, words: str, w: CWriter) -> list[str]:
    factors = [] if block.factors is None else [w.array(f"factors_{words}", block.factors)]
    return [w.array(f"coef_{words}", block.coef), *factors]


def c_string(word: str) -> str:
    """A literal of UTF-8 bytes."""
    return (
        '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in word.encode()) + '"'
    )


def _scores(description: Description, w: CWriter, quantised: Quantised | None) -> str:
    lines = [f"static inline void {w.prefix}_scores(const {w.type} *x, {w.type} *f) {{"]
    lines += [f"  {one}" for one in _line(description.line, w, "f")]
    for number, block in enumerate(description.blocks):
        lines += [f"  {one}" for one in _block(block, str(number), w, is_quantised=quantised is not None)]
    lines += [f"  {one}" for one in _outside(description, w)]
    uses_row = description.blocks or description.box is not None or len(description.line.features)
    scores = "\n".join([*lines, *([] if uses_row else ["  (void)x;"]), "}\n"])
    return scores if description.box is None else f"{_left(description.box, w)}\n{scores}"


def _line(line: Line, w: CWriter, out: str) -> list[str]:
    lines = []
    for k, constant in enumerate(line.constant):
        terms = [
            f" + {w.number(c / spread)} * (x[{feature}] - {w.number(center)})"
            for feature, center, spread, c in zip(line.features, line.center, line.spread, line.coef[:, k])
            if c != 0
        ]
        lines.append(f"{out}[{k}] = {w.number(constant)}{''.join(terms)};")
    return lines


def _block(block: Block, words: str, w: CWriter, *, is_quantised: bool = False) -> list[str]:
    """Add the sums over the atoms of a kernel to f."""
    n_atoms, n_columns = block.centers.shape
    t, p = w.type, w.prefix
    lines = [f"{{ /* kernel {words}: {n_atoms} atoms */", "  int i, j, k;", f"  {t} z[{max(n_columns, 1)}];"]
    lines += [f"  {one}" for one in _embedding(block, w)]
    lines.append(f"  for (i = 0; i < {n_atoms}; ++i) {{")
    names = ", ".join(f"a{i}" for i in range(len(block.sums)))
    lines.append(f"    {t} s, v, {names};")
    center = f"{p}_centers_{words}[i][j]"
    if is_quantised:
        center = f"({p}_offset_{words}[j] + {p}_step_{words}[j] * ({t}){center})"
    for i, one in enumerate(block.sums):
        add = {
            "squares": f"{t} d = z[j] - {center}; s += d * d;",
            "absolutes": f"s += fabs{w.suffix}(z[j] - {center});",
            "products": f"s += z[j] * {center};",
        }[one.kind]
        lines += [f"    s = {w.number(0)};", f"    for (j = {one.start}; j < {one.stop}; ++j) {{ {add} }}"]
        if block.factors is not None:
            lines.append(f"    s *= {p}_factors_{words}[i];")
        lines.append(f"    a{i} = {evaluate(one.expr, {'s': 's'}, w.operations)};")
    known = {f"a{i}": f"a{i}" for i in range(len(block.sums))}
    lines.append(f"    v = {evaluate(block.value, known, w.operations)};")
    lines.append(f"    for (k = 0; k < {block.coef.shape[1]}; ++k) f[k] += {p}_coef_{words}[i][k] * v;")
    return [*lines, "  }", "}"]


def _embedding(block: Block, w: CWriter) -> list[str]:
    lines, column = [], 0
    for part in block.embedding:
        n = len(part.features)
        for i, feature in enumerate(part.features):
            x = f"x[{feature}]"
            if isinstance(part, Affine):
                lines.append(f"z[{column + i}] = ({x} - {w.number(part.shift[i])}) * {w.number(part.scale[i])};")
                continue
            period, radius = w.number(part.period[i]), w.number(part.radius[i])
            half = f"{w.number(np.pi)} * (fmod{w.suffix}({x}, {period}) / {period})"
            first = f"z[{column + i}] = {w.number(-2)} * {radius} * v * v;"
            second = f"z[{column + n + i}] = {radius} * sin{w.suffix}({w.number(2)} * h);"
            lines.append(f"{{ {w.type} h = {half}, v = sin{w.suffix}(h); {first} {second} }}")
        column += part.n_columns
    return lines


def _outside(description: Description, w: CWriter) -> list[str]:
    """Scores as they are used: clipped, and faded towards the base."""
    box = description.box
    scores = [description.score(k) for k in range(description.n_scores)]
    if box is None:
        changed = [one for one in enumerate(scores) if one[1].op != "name"]
        return [f"f[{k}] = {evaluate(one, {'f': f'f[{k}]'}, w.operations)};" for k, one in changed]
    lines = ["{ /* outside the data, back to the base */"]
    lines.append(f"  {w.type} b[{len(scores)}], g = {w.prefix}_left(x);")
    lines += [f"  {line}" for line in _line(box.base, w, "b")]
    for k, one in enumerate(scores):
        known = {"f": f"f[{k}]", "b": f"b[{k}]", "g": "g"}
        lines.append(f"  f[{k}] = {evaluate(one, known, w.operations)};")
    return [*lines, "}"]


def _left(box: Box, w: CWriter) -> str:
    """A function that says what is left of the model at a row."""
    t, p = w.type, w.prefix
    lines = [f"static inline {t} {p}_left(const {t} *x) {{", f"  {t} e = {w.number(0)}, t;"]
    if len(box.features):
        names = {"x": "v", "low": "low", "high": "high"}
        lines += [
            "  int j;",
            f"  for (j = 0; j < {len(box.features)}; ++j) {{",
            f"    {t} v = x[{p}_box_features[j]], low = {p}_box[j][0], high = {p}_box[j][1];",
            f"    {t} d = {evaluate(EXCESS, names, w.operations)};",
            "    e += d * d;",
            "  }",
        ]
    lines.append(f"  t = {evaluate(WAY, {'e': 'e'}, w.operations)};")
    lines.append(f"  return {evaluate(LEFT, {'t': 't'}, w.operations)};")
    return "\n".join([*lines, *([] if len(box.features) else ["  (void)x;"]), "}\n"])


def _regressor(description: Description, w: CWriter) -> str:
    t, p, n = w.type, w.prefix, description.n_scores
    means = [evaluate(description.prediction(k), {"f": f"f[{k}]"}, w.operations) for k in range(n)]
    scores = f"  {t} f[{n}];\n  {p}_scores(x, f);\n"
    if description.is_flat:
        return f"static inline {t} {p}_predict(const {t} *x) {{\n{scores}  return {means[0]};\n}}\n"
    lines = "".join(f"  y[{k}] = {mean};\n" for k, mean in enumerate(means))
    return f"static inline void {p}_predict(const {t} *x, {t} *y) {{\n{scores}{lines}}}\n"


def _intervals(description: Description, interval: Interval, w: CWriter) -> str:
    """The function that gives both ends of intervals."""
    t, p, n = w.type, w.prefix, description.n_scores
    landmarks, layers = sums_over_landmarks(interval), half_width_layers(interval)
    lines = [f"static inline void {p}_predict_interval(const {t} *x, {t} *lower, {t} *upper) {{"]
    lines += [f"  {t} y[{n}];", f"  y[0] = {p}_predict(x);" if description.is_flat else f"  {p}_predict(x, y);"]
    known = {f"x{j}": f"x[{j}]" for j in range(description.n_features)}
    known |= {f"{one}{k}": f"{one}[{k}]" for one in "yb" for k in range(n)}
    if landmarks is not None:
        n_parts = len(interval.solve)
        lines += ["  {", f"  {t} b[{n}], f[{n_parts + n}], e = {w.number(0)};"]
        known |= {"e": "e", **{f"m{k}": f"f[{n_parts + k}]" for k in range(n)}}
        left = w.number(1) if description.box is None else f"{p}_left(x)"
        lines += [f"  {t} g = {left};", "  int m;"]
        lines.append(f"  for (m = 0; m < {n_parts + n}; ++m) f[m] = {w.number(0)};")
        lines += [f"  {one}" for one in [*_block(landmarks, "landmarks", w), *_line(interval.base, w, "b")]]
        lines.append(f"  for (m = 0; m < {n_parts}; ++m) e += f[m] * f[m];")
        known["g"] = "g"
    for layer in layers:
        for word, expr in layer.items():
            lines.append(f"  {t} {word} = {evaluate(expr, known, w.operations)};")
        known |= {word: word for word in layer}
    lines += [f"  lower[{k}] = y[{k}] - h{k};\n  upper[{k}] = y[{k}] + h{k};" for k in range(n)]
    return "\n".join([*lines, *([] if landmarks is None else ["  }"]), "}\n"])


def _classifier(description: Description, w: CWriter) -> str:
    t, p = w.type, w.prefix
    logits, n_scores = description.logits(), description.n_scores
    n, known = len(logits), {f"f{k}": f"f[{k}]" for k in range(n_scores)}
    is_pair = n_scores == 1
    lines = [
        f"static inline int {p}_predict(const {t} *x, {t} *probability) {{",
        f"  {t} f[{n_scores}], total = {w.number(0)}, most;",
        "  int k, best = 0;",
        f"  {p}_scores(x, f);",
        f"  best = f[0] > {w.number(0)};" if is_pair else f"  for (k = 1; k < {n}; ++k) if (f[k] > f[best]) best = k;",
        "  if (probability) {",
        *(f"    probability[{k}] = {evaluate(one, known, w.operations)};" for k, one in enumerate(logits)),
        "    most = probability[0];",
        f"    for (k = 1; k < {n}; ++k) if (probability[k] > most) most = probability[k];",
        f"    for (k = 0; k < {n}; ++k) total += probability[k] = exp{w.suffix}(probability[k] - most);",
        f"    for (k = 0; k < {n}; ++k) probability[k] /= total;",
        "  }",
        "  return best;",
        "}\n",
    ]
    return "\n".join(lines)


def _operations(number: Callable[[float], str], suffix: str) -> Mapping[str, Callable[..., str]]:
    """Operations of C."""

    def call(word: str) -> Callable[..., str]:
        return lambda *args: f"{word}{suffix}({', '.join(args)})"

    functions = {one: one for one in ("exp", "log", "log1p", "sqrt", "tanh", "sin", "fmod")}
    functions |= {"abs": "fabs", "power": "pow", "min": "fmin", "max": "fmax"}
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
    return {
        "number": number,
        "neg": lambda a: f"(-{a})",
        **{op: (lambda a, b, sign=sign: f"({a} {sign} {b})") for op, sign in signs.items()},
        **{op: call(word) for op, word in functions.items()},
    }


def _shortest_float(value: float) -> str:
    return str(np.float32(value))


def _wrapped(words: list[str]) -> str:
    lines = [", ".join(words[i : i + PER_LINE]) for i in range(0, len(words), PER_LINE)]
    return ",\n    ".join(lines)
