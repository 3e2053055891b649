"""A model as one SELECT: atoms are a table of values, and a score is a sum over rows times atoms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kernelpursuit.export.description import EXCESS, LEFT, WAY, Affine, Block, Description, Interval, Line
from kernelpursuit.export.expressions import evaluate
from kernelpursuit.export.half_widths import half_width_layers, sums_over_landmarks

Operations = Mapping[str, Callable[..., str]]


def _number(value: float) -> str:
    # A number with an exponent is a double in every dialect; one without may be a decimal.
    word = repr(float(value))
    word = word if "e" in word else f"{word}e0"
    return f"({word})" if word.startswith("-") else word


def _call(word: str) -> Callable[..., str]:
    return lambda *args: f"{word}({', '.join(args)})"


def operations(dialect: str) -> Operations:
    """Operations of a dialect, "duckdb" or "sqlite"."""
    least, largest, remainder = ("min", "max", "mod") if dialect == "sqlite" else ("least", "greatest", "fmod")
    names = {"exp": "exp", "log": "ln", "sqrt": "sqrt", "tanh": "tanh", "sin": "sin", "abs": "abs", "power": "pow"}
    names |= {"min": least, "max": largest, "fmod": remainder}
    return {
        "number": _number,
        "neg": lambda a: f"(-{a})",
        **{op: (lambda a, b, sign=sign: f"({a} {sign} {b})") for op, sign in SIGNS.items()},
        **{op: _call(word) for op, word in names.items()},
        # There is no log1p: log(1 + u), corrected by what 1 + u has rounded off.
        "log1p": lambda a: f"(CASE WHEN 1e0 + {a} = 1e0 THEN {a} ELSE ln(1e0 + {a}) * ({a} / ((1e0 + {a}) - 1e0)) END)",
    }


SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def write_sql(description: Description, table: str, dialect: str, key: str | None) -> str:
    """The statement: features, and `key` before them if there is one, with predictions, of every row of a table."""
    ops, n_scores, box = operations(dialect), description.n_scores, description.box
    interval = description.interval
    landmarks = None if interval is None else sums_over_landmarks(interval)
    blocks = [*description.blocks, *([] if landmarks is None else [landmarks])]
    features = "".join(f", CAST({quoted(one)} AS DOUBLE) AS x{i}" for i, one in enumerate(description.names))
    kept = "" if key is None else f", {quoted(key)} AS kp_key"
    steps = [_step("kp_rows", f"SELECT row_number() OVER () AS kp_row{kept}{features} FROM {quoted(table)}")]
    columns = [f"{one} AS l{k}" for k, one in enumerate(_line(description.line))]
    for number, block in enumerate(blocks):
        columns += [f"{one} AS z{number}_{i}" for i, one in enumerate(_embedding(block, ops))]
    if box is not None:
        squares = [_excess(*one, ops) for one in zip(box.features, box.low, box.high)]
        columns += [
            f"{' + '.join(squares) or '0e0'} AS e",
            *(f"{one} AS b{k}" for k, one in enumerate(_line(box.base))),
        ]
    elif interval is not None:
        columns += [f"{one} AS b{k}" for k, one in enumerate(_line(interval.base))]
    steps.append(_step("kp_columns", f"SELECT *, {', '.join(columns)} FROM kp_rows"))
    for number, block in enumerate(blocks):
        steps += [_values(block, number), _sums(block, number, ops)]
    sums = [
        " + ".join([f"l{k}", *(f"kp_sums_{i}.s{k}" for i in range(len(description.blocks)))]) for k in range(n_scores)
    ]
    source = "kp_columns" + "".join(f" JOIN kp_sums_{i} USING (kp_row)" for i in range(len(description.blocks)))
    way = "" if box is None else f", {evaluate(WAY, {'e': 'e'}, ops)} AS t"
    listed = ", ".join(f"{one} AS f{k}" for k, one in enumerate(sums))
    steps.append(_step("kp_scores", f"SELECT kp_columns.*, {listed}{way} FROM {source}"))
    left = f"({evaluate(LEFT, {'t': 't'}, ops)})"
    held = [evaluate(description.score(k), {"f": f"f{k}", "b": f"b{k}", "g": left}, ops) for k in range(n_scores)]
    listed = ", ".join(f"{one} AS h{k}" for k, one in enumerate(held))
    steps.append(_step("kp_held", f"SELECT *, {listed} FROM kp_scores"))
    last, outputs = (
        _classifier(description, ops, steps) if description.classes is not None else _regressor(description, ops)
    )
    if interval is not None:
        last, ends = _intervals(description, interval, ops, steps)
        outputs += ends
    shown = [f"x{i} AS {quoted(one)}" for i, one in enumerate(description.names)]
    shown = shown if key is None else [f"kp_key AS {quoted(key)}", *shown]
    body = ",\n".join(steps)
    return f"WITH {body}\nSELECT {', '.join([*shown, *outputs])}\nFROM {last}\n"


def quoted(word: str) -> str:
    """A name as it is written in a statement."""
    return '"' + word.replace('"', '""') + '"'


def text(value: object) -> str:
    """A label as it is written in a statement."""
    if isinstance(value, (bool, int, float)):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def _step(name: str, select: str) -> str:
    # Computed once: rows are numbered in no certain order.
    return f"{name} AS MATERIALIZED ({select})"


def _line(line: Line) -> list[str]:
    out = []
    for k, constant in enumerate(line.constant):
        terms = [
            f" + {_number(c / spread)} * (x{feature} - {_number(center)})"
            for feature, center, spread, c in zip(line.features, line.center, line.spread, line.coef[:, k])
            if c != 0
        ]
        out.append(_number(constant) + "".join(terms))
    return out


def _excess(feature: int, low: float, high: float, ops: Operations) -> str:
    return f"pow({evaluate(EXCESS, {'x': f'x{feature}', 'low': _number(low), 'high': _number(high)}, ops)}, 2e0)"


def _embedding(block: Block, ops: Operations) -> list[str]:
    out: list[str] = []
    for part in block.embedding:
        if isinstance(part, Affine):
            numbers = zip(part.features, part.shift, part.scale)
            out += [f"(x{j} - {_number(shift)}) * {_number(scale)}" for j, shift, scale in numbers]
            continue
        halves = [
            f"({_number(np.pi)} * ({ops['fmod'](f'x{j}', _number(period))} / {_number(period)}))"
            for j, period in zip(part.features, part.period)
        ]
        out += [f"{_number(-2 * r)} * pow(sin({h}), 2e0)" for h, r in zip(halves, part.radius)]
        out += [f"{_number(r)} * sin(2e0 * {h})" for h, r in zip(halves, part.radius)]
    return out


def _values(block: Block, number: int) -> str:
    """The atoms as a table."""
    n_columns, n_scores = block.centers.shape[1], block.coef.shape[1]
    parts = [block.centers, block.coef, *([] if block.factors is None else [block.factors[:, None]])]
    rows = ",\n".join(f"({', '.join(map(_number, row))})" for row in np.hstack(parts).tolist())
    names = [*(f"c{i}" for i in range(n_columns)), *(f"w{k}" for k in range(n_scores))]
    names += [] if block.factors is None else ["factor"]
    return f"kp_atoms_{number}({', '.join(names)}) AS MATERIALIZED (VALUES\n{rows})"


def _sums(block: Block, number: int, ops: Operations) -> str:
    """Sums over the atoms of a kernel, row by row: sums over columns, what becomes of these, and the value."""
    weights = [f"w{k}" for k in range(block.coef.shape[1])]
    passed, distances = ", ".join(["kp_row", *weights]), []
    for i, one in enumerate(block.sums):
        pairs = [(f"z{number}_{j}", f"c{j}") for j in range(one.start, one.stop)]
        if one.kind == "products":
            terms = [f"{z} * {c}" for z, c in pairs]
        else:
            terms = [f"({z} - {c}) * ({z} - {c})" if one.kind == "squares" else f"abs({z} - {c})" for z, c in pairs]
        total = " + ".join(terms) or "0e0"
        distances.append(f"{total if block.factors is None else f'({total}) * factor'} AS d{i}")
    inner = [f"{evaluate(one.expr, {'s': f'd{i}'}, ops)} AS a{i}" for i, one in enumerate(block.sums)]
    value = evaluate(block.value, {f"a{i}": f"a{i}" for i in range(len(block.sums))}, ops)
    first = f"SELECT {passed}, {', '.join(distances)} FROM kp_columns CROSS JOIN kp_atoms_{number}"
    second = f"SELECT {passed}, {', '.join(inner)} FROM ({first}) AS kp_first"
    third = f"SELECT {passed}, {value} AS v FROM ({second}) AS kp_second"
    totals = ", ".join(f"sum({w} * v) AS s{k}" for k, w in enumerate(weights))
    return _step(f"kp_sums_{number}", f"SELECT kp_row, {totals} FROM ({third}) AS kp_third GROUP BY kp_row")


def _regressor(description: Description, ops: Operations) -> tuple[str, list[str]]:
    n = description.n_scores
    means = [evaluate(description.prediction(k), {"f": f"h{k}"}, ops) for k in range(n)]
    names = ["prediction"] if description.is_flat else [f"prediction_{k}" for k in range(n)]
    return "kp_held", [f"{mean} AS {name}" for mean, name in zip(means, names)]


def _intervals(
    description: Description, interval: Interval, ops: Operations, steps: list[str]
) -> tuple[str, list[str]]:
    """Add the steps that lead to both ends of intervals."""
    n, n_parts, sums = description.n_scores, len(interval.solve), f"kp_sums_{len(description.blocks)}"
    known = {f"x{j}": f"x{j}" for j in range(description.n_features)}
    known |= {f"y{k}": f"kp_y{k}" for k in range(n)} | {f"b{k}": f"b{k}" for k in range(n)}
    known["g"] = "1e0" if description.box is None else f"({evaluate(LEFT, {'t': 't'}, ops)})"
    columns = [f"{evaluate(description.prediction(k), {'f': f'h{k}'}, ops)} AS kp_y{k}" for k in range(n)]
    source = "kp_held"
    if interval.landmarks is not None:
        explained = " + ".join(f"{sums}.s{i} * {sums}.s{i}" for i in range(n_parts))
        columns += [f"{explained} AS kp_e", *(f"{sums}.s{n_parts + k} AS kp_m{k}" for k in range(n))]
        known |= {"e": "kp_e", **{f"m{k}": f"kp_m{k}" for k in range(n)}}
        source += f" JOIN {sums} USING (kp_row)"
    steps.append(_step("kp_layer_0", f"SELECT kp_held.*, {', '.join(columns)} FROM {source}"))
    layers = half_width_layers(interval)
    for number, layer in enumerate(layers):
        listed = ", ".join(f"{evaluate(one, known, ops)} AS kp_{word}" for word, one in layer.items())
        steps.append(_step(f"kp_layer_{number + 1}", f"SELECT *, {listed} FROM kp_layer_{number}"))
        known |= {word: f"kp_{word}" for word in layer}
    ends = [""] if description.is_flat else [f"_{k}" for k in range(n)]
    return f"kp_layer_{len(layers)}", [
        f"kp_y{k} {sign} kp_h{k} AS {word}{end}"
        for word, sign in (("lower", "-"), ("upper", "+"))
        for k, end in enumerate(ends)
    ]


def _classifier(description: Description, ops: Operations, steps: list[str]) -> tuple[str, list[str]]:
    assert description.classes is not None
    n_scores, labels = description.n_scores, [text(one) for one in description.classes.tolist()]
    known = {f"f{k}": f"h{k}" for k in range(n_scores)}
    logits = [evaluate(one, known, ops) for one in description.logits()]
    names = [f"u{k}" for k in range(len(logits))]
    steps.append(
        _step("kp_logits", f"SELECT *, {', '.join(f'{u} AS {n}' for u, n in zip(logits, names))} FROM kp_held")
    )
    most = ops["max"](*names)
    grown = [f"{ops['exp'](f'u{k} - {most}')} AS p{k}" for k in range(len(names))]
    steps.append(_step("kp_grown", f"SELECT *, {', '.join(grown)} FROM kp_logits"))
    if n_scores == 1:
        label = f"CASE WHEN h0 > 0e0 THEN {labels[1]} ELSE {labels[0]} END"
    else:
        most = ops["max"](*(f"h{k}" for k in range(n_scores)))
        cases = " ".join(f"WHEN h{k} = {most} THEN {one}" for k, one in enumerate(labels))
        label = f"CASE {cases} END"
    total = " + ".join(f"p{k}" for k in range(len(names)))
    shares = [f"p{k} / ({total}) AS probability_{k}" for k in range(len(names))]
    return "kp_grown", [f"{label} AS label", *shares]
