"""The kernels and links that exports know, each once: a new one is an entry here, and every target has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernelpursuit.export.expressions import Expr, absolute, exp, largest, least, log1p, name, power, sqrt, tanh
from kernelpursuit.losses import Logistic, Loss, Poisson, Softmax
from kernelpursuit.losses.real import LARGEST_SCORE

# Beyond this root distance every kernel is 0 in any float type; the limit keeps infinity times 0 out.
FAR = 1e4


@dataclass(frozen=True)
class Formula:
    """A kernel of one formula, `outer(a)` with `a = inner(s)`: what occurs more than once is computed once.

    sums    what s is: "squares" or "absolutes" of differences, or "products"
    """

    sums: str
    inner: Expr
    outer: Expr


_s, _a = name("s"), name("a")


def _gaussian(sums: str) -> Callable[[float, float], Formula]:
    return lambda p0, p1: Formula(sums, _s, exp(-_a))


def _root(factor: float) -> Expr:
    return least(sqrt(factor * _s), FAR)


#: By the name of the native core's formula, and its two numbers.
KERNELS: dict[str, Callable[[float, float], Formula]] = {
    "rbf": _gaussian("squares"),
    "laplacian": _gaussian("absolutes"),
    "matern12": lambda p0, p1: Formula("squares", _root(2.0), exp(-_a)),
    "matern32": lambda p0, p1: Formula("squares", _root(6.0), (1.0 + _a) * exp(-_a)),
    "matern52": lambda p0, p1: Formula("squares", _root(10.0), (1.0 + _a * (1.0 + _a / 3.0)) * exp(-_a)),
    "rational_quadratic": lambda p0, p1: Formula("squares", _s / p0, exp(-p0 * log1p(_a))),
    "linear": lambda p0, p1: Formula("products", _s, _a),
    "polynomial": lambda p0, p1: Formula("products", _s + p0, power(_a, p1)),
    "sigmoid": lambda p0, p1: Formula("products", _s + p0, tanh(_a)),
}


@dataclass(frozen=True)
class Mean:
    """What a score f predicts, as an expression in "f"."""

    expr: Expr


@dataclass(frozen=True)
class Probabilities:
    """Probabilities are the softmax of an expression in the score "f" of each class.

    in_pairs   whether there is one score, and the classes have -f and f
    """

    expr: Expr
    in_pairs: bool


_f = name("f")


def mean_of(loss: Loss | None) -> Mean | None:
    """What scores predict under a loss; None where that is not known."""
    if type(loss) is Poisson:
        return Mean(exp(least(_f, LARGEST_SCORE)) * (1.0 + largest(_f - LARGEST_SCORE, 0.0)))
    return Mean(_f) if loss is None or type(loss).mean is Loss.mean else None


def probabilities_of(loss: Loss | None, inverse_temperature: float, n_scores: int) -> Probabilities | None:
    """How scores become probabilities; None where that is not known."""
    is_own = loss is not None and type(loss).probabilities is not Loss.probabilities
    if is_own and type(loss) is not Softmax and type(loss) is not Logistic:
        return None
    if type(loss) is Logistic and n_scores > 1:
        return Probabilities(log_expit(2.0 * _f), in_pairs=False)
    return Probabilities(_f if is_own else inverse_temperature * _f, in_pairs=n_scores == 1)


def one_vs_rest_probabilities(inverse_temperature: float) -> Probabilities:
    """Those of models of single classes."""
    return Probabilities(log_expit(2.0 * inverse_temperature * _f), in_pairs=False)


def log_expit(x: Expr) -> Expr:
    """`log(1 / (1 + exp(-x)))`, without overflow."""
    return least(x, 0.0) - log1p(exp(-absolute(x)))
