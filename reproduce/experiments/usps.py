"""Experiments on the digits of the US postal service: Vincent and Bengio table 1, Nair, Choudhury and Keane table 6.

Each digit is told from all others. The support vector machine of both tables is that of Schölkopf et al. (1997), who
smoothed the images first; so all machines here see smoothed images.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from kernelpursuit import presets
from kernelpursuit.kernels import RBF
from kernelpursuit.stopping import AIC, MDL
from reproduce.data import load
from reproduce.experiment import Measured

SIDE = 16  # pixels
BACKGROUND = -1.0


def greedy_qr(
    repetition: int, *, digit: int, smoothing: float, width: float, cost: float, max_atoms: int, aic: str
) -> Measured:
    """Nair's table 6, one row: greedy thin QR with AIC and with MDL, of one path.

    Parameters
    ----------
    repetition : int
        Of no consequence: nothing is drawn.
    digit : int
        The digit that is told from the others.
    smoothing : float
        Deviation, in pixels, of the Gaussian that the images are smoothed with; 0 leaves them as they are.
    width : float
        c of the kernel `exp(-d^2 / c)`.
    cost : float
        C of the support vector machine.
    max_atoms : int
        The most atoms.
    aic : {"corrected", "nair"}
        Variant of the AIC.
    """
    X, y, X_test, y_test = _one_against_rest(digit, smoothing)
    machine = SVC(C=cost, gamma=1 / width).fit(X, y)
    path = presets.greedy_qr.classifier(gamma=1 / width, max_atoms=max_atoms).fit(X, y)
    models = {"QR + AIC": path.select(AIC(variant=aic)), "QR + MDL": path.select(MDL())}
    row = f"digit {digit}"
    cells = {
        (row, "SVM errors"): _errors(machine, X_test, y_test),
        (row, "SVM n"): float(len(machine.support_)),
    }
    for name, model in models.items():
        cells[row, f"{name} errors"] = _errors(model, X_test, y_test)
        cells[row, f"{name} n"] = float(model.n_atoms_)
    return Measured(cells)


def matching_pursuit(
    repetition: int,
    *,
    digit: int,
    n_support: int,
    smoothing: float,
    width: float,
    cost: float,
    output: str,
    preset: str = "kmp_prefit",
) -> Measured:
    """Vincent and Bengio's table 1, one column: all sizes of matching pursuit from one path.

    Parameters
    ----------
    repetition : int
        Seed of k-means; nothing else is drawn.
    digit : int
        The digit that is told from the others.
    n_support : int
        Support vectors in the paper, which give the number of atoms and of centres.
    smoothing : float
        Deviation, in pixels, of the Gaussian that the images are smoothed with; 0 leaves them as they are.
    width : float
        sigma^2 of the kernel `exp(-d^2 / sigma^2)`.
    cost : float
        C of the support vector machine.
    output : {"squared", "logistic"}
        Loss under which the weights of the k-means centres are fitted.
    preset : str
        The system that picks the atoms.
    """
    X, y, X_test, y_test = _one_against_rest(digit, smoothing)
    machine = SVC(C=cost, gamma=1 / width).fit(X, y)
    path = getattr(presets, preset).classifier(gamma=1 / width, max_atoms=n_support).fit(X, y)
    centers = KMeans(n_support, random_state=repetition).fit(X).cluster_centers_
    kernel = RBF(gamma=1 / width)
    network = {"squared": LinearRegression, "logistic": LogisticRegression}[output]().fit(kernel(X, centers), y)
    column = f"digit {digit}"
    return Measured(
        {
            ("SVM #sv", column): float(len(machine.support_)),
            ("SVM", column): _errors(machine, X_test, y_test),
            ("k-means RBF", column): _errors(network, kernel(X_test, centers), y_test),
            ("KMP (same #sv)", column): _errors(path, X_test, y_test),
            ("KMP (half #sv)", column): _errors(path.at(n_support // 2), X_test, y_test),
        }
    )


def _one_against_rest(digit: int, smoothing: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and targets, 1 for the digit and -1 for others, for training and for testing."""
    (X, y), (X_test, y_test) = load("usps_train"), load("usps_test")
    targets = (np.where(labels == digit, 1.0, -1.0) for labels in (y, y_test))
    return _smoothed(X, smoothing), next(targets), _smoothed(X_test, smoothing), next(targets)


def _smoothed(X: np.ndarray, deviation: float) -> np.ndarray:
    """Images blurred by a Gaussian, background all around them."""
    if not deviation:
        return X
    images = X.reshape(-1, SIDE, SIDE)
    return gaussian_filter(images, (0, deviation, deviation), mode="constant", cval=BACKGROUND).reshape(X.shape)


def _errors(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """How many rows are on the wrong side of zero."""
    return float(np.sum((model.predict(X) >= 0) != (y > 0)))
