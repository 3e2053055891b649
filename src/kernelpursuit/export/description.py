"""What a prediction computes, as plain arrays and formulas: the one thing that all targets are written from.

z       = the row, shifted and scaled, or on circles (`Affine`, `Circle`), once for each `Block`
v_i     = value of atom i: sums over columns of z and its centre, then formulas
scores  = intercept + sum over blocks of coef' v + line
base    = the same without atoms
scores  = clipped, faded towards the base outside the data, and truncated (`Box`)
output  = mean of the scores, or classes and probabilities
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from kernelpursuit.export.expressions import Expr, largest, least, name, sqrt, substituted
from kernelpursuit.export.formulas import Mean, Probabilities
from kernelpursuit.model.constants import FADE_FROM, FADE_TO

#: How far a feature "x" is outside its range from "low" to "high", in units of it.
EXCESS = least(
    largest(largest(name("low") - name("x"), name("x") - name("high")), 0.0) / (name("high") - name("low")), FADE_TO
)
#: How far a row is on the way out, from 0 to 1, by the sum "e" of squares of these.
WAY = least(largest((sqrt(name("e")) - FADE_FROM) / (FADE_TO - FADE_FROM), 0.0), 1.0)
#: What is left of the model there, by that way "t".
LEFT = 1.0 - name("t") * name("t") * (3.0 - 2.0 * name("t"))


@dataclass(frozen=True)
class Affine:
    """Columns `(x[features] - shift) * scale`."""

    features: np.ndarray
    shift: np.ndarray
    scale: np.ndarray

    @property
    def n_columns(self) -> int:
        """Columns that it makes."""
        return len(self.features)


@dataclass(frozen=True)
class Circle:
    """Points on circles: columns `-2 radius sin²(h)`, then `radius sin(2 h)`, `h = pi fmod(x, period) / period`."""

    features: np.ndarray
    period: np.ndarray
    radius: np.ndarray

    @property
    def n_columns(self) -> int:
        """Columns that it makes."""
        return 2 * len(self.features)


Embedding: TypeAlias = tuple[Affine | Circle, ...]


@dataclass(frozen=True)
class Sum:
    """A sum over the columns from `start` to `stop`, and an expression of it, "s"; a block calls that "a0", "a1", ...

    kind     "squares" or "absolutes" of differences of row and centre, or "products"
    """

    kind: str
    start: int
    stop: int
    expr: Expr


@dataclass(frozen=True)
class Block:
    """Atoms of one kernel.

    embedding  how a row becomes columns
    centers    of shape (n_atoms, n_columns), embedded
    sums       what the value is made of
    value      of an atom, an expression of "a0", "a1", ...
    factors    that the sums are multiplied with, one for each atom, or None
    coef       weights of shape (n_atoms, n_scores)
    """

    embedding: Embedding
    centers: np.ndarray
    sums: tuple[Sum, ...]
    value: Expr
    factors: np.ndarray | None
    coef: np.ndarray


@dataclass(frozen=True)
class Line:
    """A line, `constant + coef' ((x[features] - center) / spread)`, coef of shape (n_features, n_scores)."""

    features: np.ndarray
    center: np.ndarray
    spread: np.ndarray
    coef: np.ndarray
    constant: np.ndarray


@dataclass(frozen=True)
class Box:
    """Predictions outside the data; see `model.outside.Outside`.

    features, low, high   the box of the training rows
    base            what predictions return to
    floor, ceiling  of the distance to the base, and `limits` of the prediction; None where scores are in other units
    """

    features: np.ndarray
    low: np.ndarray
    high: np.ndarray
    base: Line
    floor: np.ndarray | None
    ceiling: np.ndarray | None
    limits: np.ndarray | None


@dataclass(frozen=True)
class Noise:
    """The logarithm of the size of errors of one target: a line in `columns`, within what was seen."""

    constant: float
    coef: np.ndarray
    center: np.ndarray
    low: float
    high: float


@dataclass(frozen=True)
class Interval:
    """Half the width of intervals: `quantile` alone, or in units of an error scale; see `model.calibration`.

    quantile     of shape (n_targets,)
    base         what the model is without atoms
    landmarks    the kernel at landmarks, without weights; None where all intervals have one width
    solve        inverse of the Cholesky factor of the landmarks
    """

    quantile: np.ndarray
    base: Line
    landmarks: Block | None = None
    solve: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    near: float = 0.0
    features: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    center: np.ndarray = field(default_factory=lambda: np.zeros(0))
    spread: np.ndarray = field(default_factory=lambda: np.zeros(0))
    low: np.ndarray = field(default_factory=lambda: np.zeros(0))
    high: np.ndarray = field(default_factory=lambda: np.zeros(0))
    knots: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    unit: np.ndarray = field(default_factory=lambda: np.zeros(0))
    noise: tuple[Noise, ...] = ()
    target_spread: np.ndarray = field(default_factory=lambda: np.zeros(0))
    more: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Description:
    """A prediction, from a row to its outputs.

    names      of the features
    blocks     atoms
    line       what is beside them: at least a constant
    box        what happens outside the data, or None
    truncate   the largest absolute score, or None
    mean       of a regressor: the prediction of a score, and `most`, above which none is
    classes    labels of a classifier, with `probabilities`
    is_flat    whether there is one target that has no dimension of its own
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    line: Line
    box: Box | None
    truncate: np.ndarray | None
    mean: Mean | None = None
    most: np.ndarray | None = None
    classes: np.ndarray | None = None
    probabilities: Probabilities | None = None
    interval: Interval | None = None
    is_flat: bool = True

    @property
    def n_features(self) -> int:
        """Features of a row."""
        return len(self.names)

    @property
    def n_scores(self) -> int:
        """Scores that are computed."""
        return len(self.line.constant)

    @property
    def n_atoms(self) -> int:
        """Atoms of all blocks."""
        return sum(len(block.centers) for block in self.blocks)

    def score(self, k: int) -> Expr:
        """Score k as it is used, from the sum "f", the base "b" and what is left of the model, "g"."""
        f, box = name("f"), self.box
        if box is not None:
            beside = f - name("b")
            if box.floor is not None and box.ceiling is not None:
                beside = least(largest(beside, box.floor[k]), box.ceiling[k])
            f = name("b") + name("g") * beside
            f = f if box.limits is None else least(largest(f, box.limits[0, k]), box.limits[1, k])
        return f if self.truncate is None else least(largest(f, -self.truncate[k]), self.truncate[k])

    def prediction(self, k: int) -> Expr:
        """The prediction of target k from its score "f"."""
        assert self.mean is not None, "a classifier has probabilities"
        return self.mean.expr if self.most is None else least(self.mean.expr, self.most[k])

    def logits(self) -> list[Expr]:
        """What the probabilities are the softmax of, from the scores "f0", "f1", ..."""
        assert self.probabilities is not None, "a regressor has means"
        first = name("f0")
        scores = [-first, first] if self.probabilities.in_pairs else [name(f"f{k}") for k in range(self.n_scores)]
        return [substituted(self.probabilities.expr, {"f": one}) for one in scores]

    @property
    def multiply_adds(self) -> int:
        """Multiplications with an addition, or a subtraction before it, of one prediction; exponentials beside."""
        return sum(block.centers.size + block.coef.size for block in self.blocks) + self.line.coef.size

    @property
    def exponentials(self) -> int:
        """Exponentials and the like of one prediction."""
        return sum(len(block.centers) * len(block.sums) for block in self.blocks)
