"""The degenerate zoo: odd data sets, and models that must bear each of them.

To extend it, add a line to `DATA` (a function that returns X and y) or to `MODELS` (a function that returns an
estimator); `test_zoo.py` runs every pair. For classifiers, numbers become the labels below and above their median;
labels that are strings stay as they are, and models for numbers must refuse them.
"""

from collections.abc import Callable

import numpy as np
from plain import plain_classifier, plain_regressor

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch, presets


def plain(n=30, d=3):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X.sum(axis=1) + 0.1 * rng.normal(size=n)


def with_X(change, **size):
    X, y = plain(**size)
    return change(X), y


def with_y(change, **size):
    X, y = plain(**size)
    return X, change(y)


def duplicated_rows():
    X, y = plain()
    return np.vstack([X, X, X[:5]]), np.concatenate([y, y + 1, y[:5]])


def fortran():
    X, y = plain()
    return np.asfortranarray(X), y


def strided():
    X, y = plain(n=60, d=6)
    return X[::2, ::-2], y[::-2]


def narrow():
    """Neighbours that only rounding tells apart: a Gram matrix of rank one, numerically."""
    X, y = plain()
    return 1.0 + 1e-9 * X, y


def nearly_copies():
    """Every row twice, but for rounding: half of the atoms are dependent on the other half."""
    X, y = plain(n=20)
    return np.vstack([X, X * (1 + 1e-15)]), np.concatenate([y, -y])


def opposite_copies():
    """Every row twice, with targets that cancel: the best fit is zero."""
    X, y = plain(n=15)
    return np.vstack([X, X]), np.concatenate([y, -y])


def two_points():
    """Twenty copies of each of two rows."""
    return np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0), np.repeat([1.0, 3.0], 20)


# Those on which every system for numbers keeps more promises: see test_answered.py.
ANSWERED = {
    "one row": lambda: plain(n=1),
    "two rows": lambda: plain(n=2),
    "three rows": lambda: plain(n=3),
    "one feature": lambda: plain(d=1),
    "more features than rows": lambda: plain(n=12, d=200),
    "constant y": lambda: with_y(lambda y: np.full_like(y, 7.0)),
    "zero y": lambda: with_y(np.zeros_like),
    "y far from zero": lambda: with_y(lambda y: y + 1e9),
    "y with one outlier": lambda: with_y(lambda y: np.where(np.arange(len(y)) == 4, 1e12, y)),
    "constant column": lambda: with_X(lambda X: np.column_stack([X, np.full(len(X), 5.0)])),
    "duplicated columns": lambda: with_X(lambda X: np.hstack([X, X, X])),
    "zero X": lambda: with_X(np.zeros_like),
    "all rows equal": lambda: with_X(lambda X: np.tile(X[:1], (len(X), 1))),
    "duplicated rows": duplicated_rows,
    "X far from zero": lambda: with_X(lambda X: X + 1e8),
    "numerical rank one": narrow,
    "one huge row": lambda: with_X(lambda X: np.where(np.arange(len(X))[:, None] == 3, 1e100, X)),
    "integers": lambda: with_X(lambda X: np.round(3 * X).astype(int)),
    "unsigned integers": lambda: with_X(lambda X: np.round(9 * np.abs(X)).astype(np.uint8)),
    "booleans": lambda: with_X(lambda X: X > 0),
    "boolean y": lambda: with_y(lambda y: y > 0),
    "integer y": lambda: with_y(lambda y: np.round(y).astype(int)),
    "float16": lambda: with_X(lambda X: X.astype(np.float16)),
    "float32": lambda: with_X(lambda X: X.astype(np.float32)),
    "longdouble": lambda: with_X(lambda X: X.astype(np.longdouble)),
    "big endian": lambda: with_X(lambda X: X.astype(">f8")),
    "Fortran order": fortran,
    "strided": strided,
    "object of numbers": lambda: with_X(lambda X: X.astype(object)),
    "lists": lambda: tuple(a.tolist() for a in plain()),
    "negative zeros": lambda: with_X(lambda X: np.where(X > 0, X, -0.0)),
    **{f"X times {s:g}": (lambda s=s: with_X(lambda X: s * X)) for s in (1e-150, 1e150)},
    **{f"y times {s:g}": (lambda s=s: with_y(lambda y: s * y)) for s in (1e-150, 1e150)},
}

# Those that presets keep more promises on: see test_presets_answer.py.
FOR_PRESETS = {
    "nearly copies": nearly_copies,
    "opposite copies": opposite_copies,
    "two equal rows": lambda: (np.ones((2, 2)), np.array([1.0, 2.0])),
    "one row, y zero": lambda: (np.ones((1, 2)), np.zeros(1)),
    "two rows, one y zero": lambda: (np.eye(2), np.array([0.0, 1.0])),
    "several targets, one zero": lambda: (plain()[0], np.stack([plain()[1], np.zeros(30)], axis=1)),
    "several targets, one tiny": lambda: (plain()[0], np.stack([plain()[1], 1e-150 * plain()[1]], axis=1)),
    "several targets, all equal": lambda: (plain()[0], np.tile(plain()[1][:, None], (1, 3))),
    "one target in a column": lambda: (plain()[0], plain()[1][:, None]),
}

DATA: dict[str, Callable] = {
    **ANSWERED,
    **FOR_PRESETS,
    "twenty rows": lambda: plain(n=20),
    "two points": two_points,
    "a line": lambda: (np.linspace(0, 1, 25)[:, None], np.linspace(0, 1, 25)),
    "collinear columns": lambda: with_X(lambda X: X @ np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0])),
    "columns of many units": lambda: with_X(lambda X: X * [1e-100, 1.0, 1e100]),
    "one value that differs": lambda: with_X(lambda X: np.where(np.arange(X.size).reshape(X.shape) == 7, 1.0, 0.0)),
    "rows in pairs next to each other": lambda: with_X(lambda X: np.repeat(X[:15], 2, axis=0) + 1e-300),
    "nearly constant y": lambda: with_y(lambda y: 1.0 + 1e-15 * y),
    "y of one spike": lambda: with_y(lambda y: (np.arange(len(y)) == 11).astype(float)),
    "y of two values": lambda: with_y(lambda y: np.sign(y)),
    "y from tiny to huge": lambda: with_y(lambda y: 10.0 ** np.linspace(-140, 140, len(y))),
    "X from tiny to huge": lambda: with_X(lambda X: X * 10.0 ** np.linspace(-140, 140, len(X))[:, None]),
    "y of counts": lambda: with_y(lambda y: np.round(np.exp(np.clip(y, -3, 3)))),
    "X near the largest float": lambda: with_X(lambda X: X / np.abs(X).max() * 1.7e308),
    "y near the largest float": lambda: with_y(lambda y: y / np.abs(y).max() * 1.7e308),
    "X of the least floats": lambda: with_X(lambda X: 5e-324 * np.round(5 * X)),
    "y of the least floats": lambda: with_y(lambda y: 5e-324 * np.round(5 * y)),
    "float32 near its largest": lambda: with_X(lambda X: (1e38 * X / np.abs(X).max()).astype(np.float32)),
    "strings for labels": lambda: with_y(lambda y: np.where(y > 0, "above", "below")),
    "a label that one row has": lambda: with_y(lambda y: np.where(np.arange(len(y)) == 2, "rare", "common")),
    "a label for each row": lambda: with_y(lambda y: np.array([f"label {i}" for i in range(len(y))])),
    **{f"X times {s:g}": (lambda s=s: with_X(lambda X: s * X)) for s in (1e-300, 1e-50, 1e50, 1e300)},
    **{f"y times {s:g}": (lambda s=s: with_y(lambda y: s * y)) for s in (1e-300, 1e-50, 1e50, 1e300)},
}

NUMBER_LOSSES = ("huber", "quantile", "poisson")
CLASS_LOSSES = ("log", "squared", "squared_hinge", "hinge", "exponential", "tanh", "doom2")
SMALL = {"max_atoms": 6, "random_state": 0}

MODELS: dict[str, Callable] = {
    "regressor": lambda: KernelPursuitRegressor(random_state=0),
    "classifier": lambda: KernelPursuitClassifier(random_state=0),
    "classifier, one against the rest": lambda: plain_classifier(multi_class="ovr", **SMALL),
    "search, numbers": lambda: LengthScaleSearch(KernelPursuitRegressor(**SMALL)),
    "search, classes": lambda: LengthScaleSearch(KernelPursuitClassifier(**SMALL), gammas=[0.01, 1.0]),
    **{preset.name: (lambda preset=preset: preset(**SMALL)) for preset in presets.ALL},
    **{f"numbers, {loss}": (lambda loss=loss: plain_regressor(loss=loss, **SMALL)) for loss in NUMBER_LOSSES},
    **{f"classes, {loss}": (lambda loss=loss: plain_classifier(loss=loss, **SMALL)) for loss in CLASS_LOSSES},
}

# Warnings that a pair may give, by how they begin; all others are errors.
NAMED_WARNINGS = (
    "kernelpursuit runs on NumPy",
    r"\d+ of \d+ combinations failed",
    "KernelPursuit(Regressor|Classifier) is (nearly )?a constant",
    "[Xy] holds .* far from all others",
    "The number of unique classes is greater than 50%",  # scikit-learn's own
)
