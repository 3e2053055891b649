"""The data sets of `benchmarks/classify.py` and their splits.

IDA sets have their own splits, of which the first five are taken; `usps_own` is USPS with its own test rows. All others
have a fifth of their rows for testing, stratified and drawn by the number of the split; Ripley's training and test rows
are one set here, and `usps` is the training rows of USPS. A folder may add sets, as files `<name>.npz` with arrays X
and y. Data are loaded by `reproduce.data`, so the root of the repository must be in `PYTHONPATH`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from sets import WIDTHS, load_set
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from reproduce.data import load, load_splits

USPS_OWN = "usps_own"
SETS = (
    *("iris", "wine", "sonar", "ida_breast_cancer", "ionosphere", "ida_waveform", "ida_banana", "ida_diabetis"),
    *("breast_cancer", "wbc_original_683", "pima", "ida_german", "ripley", "ida_image", "digits", "mushrooms", "usps"),
    USPS_OWN,
)
N_SPLITS = 5
TRAINING_ROWS = 16_000  # most rows that anything is fitted to
LARGE = 5_000  # training rows above which a grid is searched on a sample, and times have a target
GRID_ROWS = 3_000  # rows of that sample


@dataclass
class Split:
    """Training and test rows, standardised by the training rows, with classes 0, 1, 2, ..."""

    train: np.ndarray
    y: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    number: int

    @property
    def n_classes(self) -> int:
        """How many classes the training rows have."""
        return int(self.y.max()) + 1

    @property
    def gammas(self) -> np.ndarray:
        """Inverse widths to choose from."""
        return np.array(WIDTHS) / self.train.shape[1]

    @cached_property
    def for_grid(self) -> np.ndarray:
        """The training rows that a grid is searched on: all, or a stratified sample of many."""
        return stratified_sample(self.y, GRID_ROWS if len(self.y) > LARGE else len(self.y), self.number)


def stratified_sample(y: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Return the positions of at most so many rows, with all classes in their shares."""
    rows = np.arange(len(y))
    return rows if len(y) <= most else train_test_split(rows, train_size=most, stratify=y, random_state=seed)[0]


def files_in(folder: Path | None) -> dict[str, Path]:
    """Return the sets of a folder by name; one that is called like a set of `SETS` is passed over."""
    files = sorted(folder.glob("*.npz")) if folder else []
    return {path.stem: path for path in files if path.stem not in SETS}


@lru_cache(maxsize=1)
def rows_of(name: str, path: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a set and their classes 0, 1, 2, ...; for sets in two files, those of both in turn."""
    if path:
        with np.load(path) as arrays:
            X, y = arrays["X"], arrays["y"]
    elif name in ("ripley", USPS_OWN):
        parts = [load(f"{name.removesuffix('_own')}_{part}") for part in ("train", "test")]
        X, y = (np.concatenate(arrays) for arrays in zip(*parts))
    else:
        X, y = load("usps_train") if name == "usps" else load_set(name)
    return X.astype(np.float64), np.unique(y, return_inverse=True)[1]


def n_splits(name: str) -> int:
    """Return how many splits a set has at most."""
    return 1 if name == USPS_OWN else N_SPLITS


def split_of(name: str, number: int, path: Path | None = None) -> Split:
    """Return a split of a set, with at most `TRAINING_ROWS` rows for training."""
    X, y = rows_of(name, path)
    rows = np.arange(len(y))
    if name == USPS_OWN:
        train, test = np.split(rows, [len(load("usps_train")[1])])
    elif name.startswith("ida_") and not path:
        train, test = (part[number] for part in load_splits(name))
    else:
        train, test = train_test_split(rows, test_size=0.2, stratify=y, random_state=number)
    train = train[stratified_sample(y[train], TRAINING_ROWS, number)]
    scaler = StandardScaler().fit(X[train])
    return Split(scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test], number)
