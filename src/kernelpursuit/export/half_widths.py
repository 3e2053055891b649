"""Half the widths of intervals as formulas, for targets that write one row after the other.

e      how much of the row the landmarks explain: a sum of squares, of `sums_over_landmarks`
m0     what kernel values at landmarks add to the log noise of target 0, the last of these sums
g      what is left of the model outside the data
y0, b0 prediction and base of target 0
x0     feature 0
h0     half the width for target 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernelpursuit.export.description import Block, Interval
from kernelpursuit.export.expressions import Expr, Like, absolute, as_expr, exp, largest, least, log, name, sqrt
from kernelpursuit.model.calibration import NORMAL_QUANTILE
from kernelpursuit.model.constants import MIN_UNEXPLAINED
from kernelpursuit.model.landmarks import JITTER


def sums_over_landmarks(interval: Interval) -> Block | None:
    """The landmarks as atoms, whose sums are the parts that `e` has the squares of, then m0, m1, ..."""
    if interval.landmarks is None:
        return None
    n = len(interval.solve)
    noise = [one.coef[len(one.coef) - n :] for one in interval.noise]
    return replace(interval.landmarks, coef=np.column_stack([interval.solve.T, *noise]))


def half_width_layers(interval: Interval) -> list[dict[str, Expr]]:
    """Named formulas in layers, each of names that are given or in a layer before; the last has h0, h1, ..."""
    quantiles = interval.quantile.tolist()
    if interval.landmarks is None:
        return [{f"h{k}": as_expr(quantile) for k, quantile in enumerate(quantiles)}]
    v = least(largest(1.0 - name("e"), 0.0), 1.0)
    varying = [k for k, one in enumerate(interval.noise) if one.coef.any()]
    first = {"v": v, **{f"z{j}": one for j, one in enumerate(_features(interval) if varying else [])}}
    beyond = largest(name("v") - interval.near, 0.0) / max(1.0 - interval.near, JITTER)
    far = sqrt(largest(beyond * beyond, 1.0 - name("g") * name("g")))
    second = {"r": far, **{f"u{k}": name(f"y{k}") / float(interval.unit[k]) for k in varying}}
    if varying:
        second["w"] = log(name("v") + MIN_UNEXPLAINED)
    third = {f"n{k}": _noise(interval, k) for k in range(len(quantiles))}
    for k, spread in enumerate(interval.target_spread.tolist()):
        third[f"d{k}"] = name("r") * (spread + absolute(name(f"y{k}") - name(f"b{k}")) / NORMAL_QUANTILE)
    last = {}
    for k, (quantile, more) in enumerate(zip(quantiles, interval.more.tolist())):
        n, d = name(f"n{k}"), name(f"d{k}")
        last[f"h{k}"] = quantile * sqrt(n * n + d * d + more * more)
    return [first, second, third, last]


def _features(interval: Interval) -> list[Expr]:
    """Features as the noise depends on them: within the range of the training rows, standardised."""
    out = []
    for i, j in enumerate(interval.features.tolist()):
        low, high, center, spread = (
            float(one[i]) for one in (interval.low, interval.high, interval.center, interval.spread)
        )
        out.append((least(largest(name(f"x{j}"), low), high) - center) / spread)
    return out


def _noise(interval: Interval, k: int) -> Expr:
    """The size of errors of target k."""
    noise, unit, n = interval.noise[k], float(interval.unit[k]), len(interval.solve)
    if not noise.coef.any():
        return as_expr(unit * float(np.exp(noise.constant)))
    z, u = [name(f"z{j}") for j in range(len(interval.features))], name(f"u{k}")
    hinges = [largest(u - knot, 0.0) for knot in interval.knots[k].tolist()]
    columns = [*z, *map(absolute, z), u, *hinges, name("w")]
    terms = [(column - center) * c for column, center, c in zip(columns, noise.center.tolist(), noise.coef.tolist())]
    of_landmarks = name(f"m{k}") - float(noise.coef[-n:] @ noise.center[-n:])
    logs = _sum([as_expr(noise.constant), of_landmarks, *terms])
    return unit * exp(least(largest(logs, noise.low), noise.high))


def _sum(terms: Sequence[Like]) -> Expr:
    """A sum as a balanced tree: brackets of many terms in a row would be too deep for some parsers."""
    if len(terms) == 1:
        return as_expr(terms[0])
    middle = len(terms) // 2
    return _sum(terms[:middle]) + _sum(terms[middle:])
