"""Models that pages are about, each with the rows that it was fitted to, and what a page holds read back."""

import base64
import json
import re
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, make_friedman1

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, Functions, LinearTrend

X, Y = make_friedman1(110, 5, noise=0.5, random_state=0)
TWO = np.column_stack([Y, 1000 * X[:, 0] - Y])
IRIS = load_iris(return_X_y=True)
NAMES = [
    "</script><script>document.title = 'gone'</script>",
    "<b>&amp;</b>",
    "\u202eback",
    'say "x"',
    "a  b\n" + 60 * "c",
]
LABELS = np.array(["<i>one</i>", "</script>", "{{ 3 * 3 }}"])[IRIS[1]]
FUNCTIONS = Functions(lambda X: X[:, 0], lambda X: X[:, 3] ** 2, lambda X: np.sin(X[:, 1]))
MODELS = {
    "regressor": lambda: (KernelPursuitRegressor(gamma=0.5, max_atoms=12), X, Y),
    "learned": lambda: (KernelPursuitRegressor(kernel="rbf", random_state=0, max_atoms=20), X, Y),
    "two targets": lambda: (KernelPursuitRegressor(gamma=0.5, max_atoms=8), X, TWO),
    "counts": lambda: (KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=6), X, np.round(Y)),
    "huber": lambda: (KernelPursuitRegressor(loss="huber", gamma=0.5, max_atoms=6), X, Y),
    "always": lambda: (KernelPursuitRegressor(kernel=Always(LinearTrend()) + "rbf", gamma=0.5, max_atoms=6), X, Y),
    "functions": lambda: (KernelPursuitRegressor(kernel=FUNCTIONS, max_atoms=3), X, Y),
    "stagewise": lambda: (presets.kmp_basic(gamma=0.5, max_atoms=8), X, Y),
    "exchange": lambda: (presets.greedy_qr_exchange(gamma=0.5, max_atoms=10), X, Y),
    "minres": lambda: (presets.mrx(gamma=0.5, max_atoms=8), X, Y),
    "precomputed": lambda: (KernelPursuitRegressor(kernel="precomputed", max_atoms=5), X @ X.T, Y),
    "constant": lambda: (KernelPursuitRegressor(gamma=0.5), X, np.ones(len(X))),
    "one step": lambda: (KernelPursuitRegressor(gamma=0.5, max_atoms=1, stop="max"), X, Y),
    "two classes": lambda: (KernelPursuitClassifier(gamma=0.5, max_atoms=8), X, Y > 14),
    "squared": lambda: (KernelPursuitClassifier(gamma=0.5, max_atoms=8, loss="squared"), *IRIS),
    "classes": lambda: (KernelPursuitClassifier(gamma=0.5, max_atoms=8), *IRIS),
    "ovr": lambda: (KernelPursuitClassifier(gamma=0.5, max_atoms=9, multi_class="ovr"), *IRIS),
    "hostile": lambda: (KernelPursuitRegressor(gamma=0.5, max_atoms=6), pd.DataFrame(X, columns=NAMES), Y),
    "hostile labels": lambda: (KernelPursuitClassifier(gamma=0.5, max_atoms=6), IRIS[0], LABELS),
}


@cache
def fitted(name):
    """An estimator, its rows and its targets."""
    estimator, X, y = MODELS[name]()
    return estimator.fit(X, y), X, y


def content_in(page):
    """What a page holds as JSON."""
    (text,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page)
    return json.loads(text)


def unpacked(array):
    """A packed array as the page reads it."""
    raw = np.frombuffer(base64.b64decode(array["data"]), np.uint8).reshape(-1, array["bytes"]).astype(np.float64)
    codes = raw @ 256.0 ** np.arange(array["bytes"] - 1, -1, -1)
    values = np.where(codes == 256.0 ** array["bytes"] - 1, np.nan, array["low"] + array["step"] * codes)
    return values.reshape(array["shape"])


def numbers(values):
    """A list with None for what is not known, as an array."""
    return np.array(values, dtype=np.float64)
