"""Data sets with numbers and with classes, and their splits: what benchmarks of several kinds of models share.

Data are those of the papers, loaded by `reproduce.data` (the root of the repository must be in `PYTHONPATH`), and small
ones that come with scikit-learn. Sets that repeat the rows of another are left out: `bank8FM_4499` is the first part of
`bank8FM_8192`, `ida_diabetis` has the rows of `pima`, `autompg_398` and `wbc_original_699` are their shorter namesakes
with rows that have gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from reproduce.data import known, load

NUMBERS = (
    *("autompg_392", "diabetes", "boston", "enb2012_heating", "enb2012_cooling", "abalone", "delta_ailerons"),
    *("bank8FM_8192", "delta_elevators", "ailerons", "elevators", "house_8L", "house_16H", "casp"),
)
CLASSES = (
    *("iris", "wine", "sonar", "ida_breast_cancer", "ionosphere", "breast_cancer", "wbc_original_683", "pima"),
    *("ida_german", "ripley", "digits", "ida_image", "ida_waveform", "ida_banana", "mushrooms", "usps"),
)
SETS = (*NUMBERS, *CLASSES)
BUNDLED: dict[str, Callable[..., Any]] = {
    "diabetes": datasets.load_diabetes,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
OWN_SPLIT = {"ripley": ("ripley_train", "ripley_test"), "usps": ("usps_train", "usps_test")}

WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # gamma times the number of features: "scale" is 1


@dataclass
class Split:
    """Four fifths of the rows for training, standardised, and the rest for testing."""

    train: np.ndarray
    y: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    is_classes: bool
    seed: int

    @property
    def gammas(self) -> np.ndarray:
        """The widths to choose from."""
        return np.array(WIDTHS) / self.train.shape[1]

    def drawn(self, most: int) -> np.ndarray:
        """At most so many training rows, drawn at random."""
        return np.random.default_rng(self.seed).permutation(len(self.train))[:most]

    def error(self, predicted: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the error, and what each test row adds to it, to first order.

        It is the fraction of rows in a wrong class, or the root mean squared error (training targets have variance 1).
        """
        if self.is_classes:
            wrong = (predicted != self.y_test).astype(float)
            return float(wrong.mean()), wrong
        squares = (predicted - self.y_test) ** 2
        error = float(np.sqrt(squares.mean()))
        return error, squares / (2 * max(error, np.finfo(float).tiny))


def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets; text becomes columns of 0 and 1."""
    X, y = BUNDLED[name](return_X_y=True) if name in BUNDLED else load(name)
    if X.dtype == object:
        X, y = OneHotEncoder(sparse_output=False).fit_transform(X), y.astype(str)
    return X, y


def split_of(name: str, seed: int) -> Split:
    """Return a split of a data set; inputs and numbers get mean 0 and variance 1 by the training rows."""
    is_classes = name in CLASSES
    if name in OWN_SPLIT:
        (train, y_train), (test, y_test) = (load(part) for part in OWN_SPLIT[name])
    else:
        X, y = load_set(name)
        stratify = y if is_classes else None
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    if not is_classes:
        mean, spread = y_train.mean(), y_train.std()
        y_train, y_test = (y_train - mean) / spread, (y_test - mean) / spread
    return Split(train, y_train, test, y_test, is_classes, seed)


@cache
def n_rows_of(name: str) -> int:
    """Return how many rows a data set has, for training and testing."""
    return sum(known()[part]["rows"] for part in OWN_SPLIT[name]) if name in OWN_SPLIT else len(load_set(name)[1])
