"""Nair's experiments on regression: residuals and test errors by subset size, stopping rules, and training times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from kernelpursuit import KernelPursuitRegressor, presets
from kernelpursuit.stopping import AIC, MDL
from kernelpursuit.updates import Orthogonal
from reproduce.data import load
from reproduce.experiment import Measured

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
METHODS = {"MRX": presets.mrx, "QR": presets.greedy_qr, "ORMP": presets.ormp}
SCALERS = {"range": MinMaxScaler, "unit": StandardScaler}


def friedman(
    repetition: int,
    *,
    p: int,
    spd: str,
    shared: bool,
    inputs: str,
    factor: float,
    noise: float,
    n_samples: int,
    width: float,
    nugget: float,
    sizes: Sequence[int],
) -> Measured:
    """Normalised residuals on one realisation of the random function.

    Parameters
    ----------
    repetition : int
        Seed of the function and of the data.
    p : int
        Number of inputs.
    spd : {"uniform", "normal", "rotated"}
        How the matrix Sigma is made: `A A'` over its largest eigenvalue, with uniform or normal entries of A; or, as in
        Friedman (2001), the inverse of a matrix with random axes and the roots of its eigenvalues uniform in [0.1, 2].
    shared : bool
        Whether all twenty terms have the same matrix.
    inputs : {"uniform", "normal"}
        Distribution of the inputs; the centres of the terms are always uniform.
    factor : float
        What stands before the quadratic form in the exponent.
    noise : float
        Deviation of the noise over that of the function without noise.
    n_samples : int
        Training points.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    nugget : float
        What is added to the diagonal of the kernel matrix.
    sizes : sequence of int
        Subset sizes n.
    """
    rng = np.random.default_rng(repetition)
    X = rng.random((n_samples, p)) if inputs == "uniform" else rng.standard_normal((n_samples, p))
    y = _random_function(rng, X, spd, shared, factor)
    y += noise * y.std() * rng.standard_normal(n_samples)
    cells: dict[tuple[str, str], float] = {}
    for name, preset in METHODS.items():
        model = preset(gamma=1 / width, max_atoms=max(sizes), penalty="nugget", alpha=nugget).fit(X, y)
        residual = _normalised_residual(model)
        cells |= {(f"p={p}, n={size}", name): residual[min(size, len(residual) - 1)] for size in sizes}
    return Measured(cells)


def _random_function(rng: np.random.Generator, X: np.ndarray, spd: str, shared: bool, factor: float) -> np.ndarray:
    """Sum of twenty Gaussian terms with random heights, centres and shapes."""
    p = X.shape[1]
    inverse = _random_inverse(rng, p, spd)
    values = np.zeros(len(X))
    for _ in range(20):
        if not shared:
            inverse = _random_inverse(rng, p, spd)
        away = X - rng.random(p)
        values += rng.random() * np.exp(-factor * np.sum((away @ inverse) * away, axis=1))
    return values


def _random_inverse(rng: np.random.Generator, p: int, spd: str) -> np.ndarray:
    """The inverse of a random matrix Sigma."""
    if spd == "rotated":
        axes, _ = np.linalg.qr(rng.standard_normal((p, p)))
        return (axes * rng.uniform(0.1, 2.0, p) ** 2) @ axes.T
    root = rng.random((p, p)) if spd == "uniform" else rng.standard_normal((p, p))
    return np.linalg.norm(root, 2) ** 2 * np.linalg.inv(root @ root.T)


def subset_sizes(
    repetition: int,
    *,
    source: str,
    n_train: int,
    width: float,
    nugget: float,
    sizes: Sequence[int],
    scaling: str,
    one_hot: Sequence[int] = (),
    centred: bool = False,
    refitted: bool = True,
) -> Measured:
    """Test errors of the three methods by subset size, on one random split of a data set.

    Parameters
    ----------
    repetition : int
        Seed of the split.
    source : str
        Data set.
    n_train : int
        Rows to train with; the others are the test.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    nugget : float
        What is added to the diagonal of the kernel matrix.
    sizes : sequence of int
        Subset sizes n.
    scaling : {"range", "unit"}
        Whether each input is brought to [0, 1] or to mean 0 and variance 1, over the training rows.
    one_hot : sequence of int
        Inputs that are categories.
    centred : bool
        Whether the mean of the training targets is taken off.
    refitted : bool
        Whether the weights of MRX are recomputed by least squares at the end.
    """
    X, y, X_test, y_test = _split(repetition, source, n_train, scaling, one_hot)
    mean = float(y.mean()) if centred else 0.0
    settings: dict[str, Any] = {"gamma": 1 / width, "penalty": "nugget", "alpha": nugget}
    cells: dict[tuple[str, str], float] = {}
    curves: dict[str, Sequence[float]] = {}
    for name, preset in METHODS.items():
        whole = preset(max_atoms=max(sizes), **settings).fit(X, y - mean)
        curves[name] = _normalised_residual(whole)
        models = {size: whole.at(min(size, whole.path_.n_steps)) for size in sizes}
        if name == "MRX" and refitted:  # only the model that a fit keeps is refitted, so each size takes a fit
            models = {size: preset(max_atoms=size, **settings).fit(X, y - mean) for size in sizes}
            curves["MRX refitted"] = [_refitted_residual(model) for model in models.values()]
        for size, model in models.items():
            cells[f"n={size}", name] = _squared_error(model, X_test, y_test - mean)
    return Measured(cells, curves)


def stopping(
    repetition: int,
    *,
    name: str,
    source: str,
    n_train: int,
    width: float,
    scaling: str,
    max_atoms: int,
    patience: int,
    variant: str,
    nugget: float = 0.0,
    one_hot: Sequence[int] = (),
) -> Measured:
    """Test error and size of the models that MDL and AIC stop at, on one random split of a data set.

    Parameters
    ----------
    repetition : int
        Seed of the split.
    name : str
        Row of the table.
    source : str
        Data set.
    n_train : int
        Rows to train with; the others are the test.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    scaling : {"range", "unit"}
        Whether each input is brought to [0, 1] or to mean 0 and variance 1, over the training rows.
    max_atoms : int
        Largest subset.
    patience : int
        Steps without a new least of the criterion after which the iterations end; 0 takes the least of the whole path.
    variant : {"nair", "corrected"}
        The AIC as the paper prints it, or as Sugiura has it.
    nugget : float
        What is added to the diagonal of the kernel matrix.
    one_hot : sequence of int
        Inputs that are categories.
    """
    X, y, X_test, y_test = _split(repetition, source, n_train, scaling, one_hot)
    penalty: dict[str, Any] = {"penalty": "nugget", "alpha": nugget} if nugget else {"penalty": None}
    rules = {"QR + MDL": MDL(patience=patience or None), "QR + AIC": AIC(variant, patience=patience or None)}
    cells: dict[tuple[str, str], float] = {}
    for rule_name, rule in rules.items():
        # Without a nugget, the preset's own threshold would end some paths before AIC does.
        model = presets.greedy_qr(
            gamma=1 / width, max_atoms=max_atoms, stop=rule, update=Orthogonal(rcond=1e-12), **penalty
        ).fit(X, y)
        cells[name, f"{rule_name} error"] = _squared_error(model, X_test, y_test)
        cells[name, f"{rule_name} n"] = model.n_atoms_
    return Measured(cells)


def overfitting(
    repetition: int, *, n_samples: int, deviation: float, width: float, half_range: float, max_atoms: int
) -> Measured:
    """Training error and distance to the function along a path without regularisation, on one draw of noisy samples.

    Parameters
    ----------
    repetition : int
        Seed of the noise.
    n_samples : int
        Equally spaced training points.
    deviation : float
        Standard deviation of the noise.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    half_range : float
        Inputs lie in [-half_range, half_range].
    max_atoms : int
        Length of the path.
    """
    X, y, X_test, truth = _noisy_sinc(repetition, n_samples, deviation, half_range)
    model = presets.greedy_qr(gamma=1 / width, max_atoms=max_atoms).fit(X, y)
    return Measured(
        curves={
            "training": model.path_.residual_norm / np.sqrt(n_samples),
            "test": [_rms(values - truth) for values in model.staged_predict(X_test)],
        }
    )


def ripley(repetition: int, *, width: float, max_atoms: int) -> Measured:
    """MDL and AIC along the path on Ripley's two classes, and the error of the model that MDL keeps.

    Parameters
    ----------
    repetition : int
        Not used: the data come with their split.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    max_atoms : int
        Length of the path.
    """
    X, labels = load("ripley_train")
    X_test, test_labels = load("ripley_test")
    model = presets.greedy_qr.classifier(gamma=1 / width, max_atoms=max_atoms).fit(X, labels)
    kept = model.select(MDL())
    horizontal, vertical = (np.linspace(low, high, 80) for low, high in ((-1.4, 1.1), (-0.4, 1.3)))
    grid = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    return Measured(
        {("greedy QR", "error"): 100 * _wrong(kept.decision_function(X_test), test_labels)},
        {
            "MDL": MDL().curve(model.path_),
            "AIC": AIC().curve(model.path_),
            "AIC as printed": AIC("nair").curve(model.path_),
            "test error": [100 * _wrong(scores, test_labels) for scores in model.staged_decision_function(X_test)],
            "rows": X,
            "labels": labels,
            "centres": kept.centers_,
            "horizontal": horizontal,
            "vertical": vertical,
            "scores": kept.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2]).round(5),
        },
    )


def sinc(
    repetition: int,
    *,
    n_samples: int,
    deviation: float,
    width: float,
    half_range: float,
    max_atoms: int,
    variant: str,
    patience: int,
) -> Measured:
    """The model that AIC keeps on one draw of noisy sinc values, and its distance from the function.

    Parameters
    ----------
    repetition : int
        Seed of the noise.
    n_samples : int
        Equally spaced training points.
    deviation : float
        Standard deviation of the noise.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    half_range : float
        Inputs lie in [-half_range, half_range].
    max_atoms : int
        Largest subset.
    variant : {"nair", "corrected"}
        The AIC as the paper prints it, or as Sugiura has it.
    patience : int
        Steps without a new least of the criterion after which the iterations end; 0 takes the least of the whole path.
    """
    X, y, X_test, truth = _noisy_sinc(repetition, n_samples, deviation, half_range)
    rule = AIC(variant, patience=patience or None)
    model = presets.greedy_qr(gamma=1 / width, max_atoms=max_atoms, stop=rule).fit(X, y)
    predicted = model.predict(X_test)
    return Measured(
        {("QR + AIC", "RMSE"): _rms(predicted - truth), ("QR + AIC", "n"): model.n_atoms_},
        {
            "inputs": X[:, 0],
            "targets": y,
            "kept": model.center_indices_,
            "fine inputs": X_test[:, 0],
            "function": truth,
            "model": predicted,
        },
    )


def training_time(
    repetition: int, *, n_train: int, share: float, width: float, nugget: float, methods: Sequence[str]
) -> Measured:
    """Seconds that the methods take to fit, with a subset that grows with the training rows.

    Parameters
    ----------
    repetition : int
        Seed of the training rows.
    n_train : int
        Number m of training rows.
    share : float
        Subset size n over m.
    width : float
        Width c of the kernel `exp(-||x - c||² / c)`.
    nugget : float
        What is added to the diagonal of the kernel matrix.
    methods : sequence of str
        Of MRX, QR and ORMP, those to time.
    """
    X, y, _, _ = _split(repetition, "house_8L", n_train, "unit", ())
    y = (y - y.mean()) / y.std()
    curves, seconds = {}, {}
    for name in methods:
        model = METHODS[name](gamma=1 / width, max_atoms=round(share * n_train), penalty="nugget", alpha=nugget)
        started = time.perf_counter()
        model.fit(X, y)
        taken = time.perf_counter() - started
        seconds[f"{name} m={n_train}"] = taken
        curves[name] = [n_train, taken]
    return Measured(curves=curves, seconds=seconds)


def _split(seed: int, source: str, n_train: int, scaling: str, one_hot: Sequence[int]) -> Split:
    """A random split, its inputs scaled by the training rows."""
    X, y = load(source)
    if one_hot:
        others = np.delete(X, one_hot, axis=1)
        X = np.hstack([OneHotEncoder(sparse_output=False).fit_transform(X[:, list(one_hot)]), others])
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    scaler = SCALERS[scaling]().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _noisy_sinc(seed: int, n_samples: int, deviation: float, half_range: float) -> Split:
    """Noisy values of sin(x) / x at equally spaced points, and true ones at 1,000 others."""
    X, fine = (np.linspace(-half_range, half_range, size)[:, None] for size in (n_samples, 1000))
    values, truth = (np.sinc(points[:, 0] / np.pi) for points in (X, fine))
    return X, values + np.random.default_rng(seed).normal(scale=deviation, size=n_samples), fine, truth


def _normalised_residual(model: KernelPursuitRegressor) -> list[float]:
    """The norm of the residual over that of the targets, by the number of atoms."""
    norms = np.asarray(model.path_.residual_norm)
    return (norms / norms[0]).tolist()


def _refitted_residual(model: KernelPursuitRegressor) -> float:
    """The same once the weights of all atoms are recomputed by least squares."""
    path = model.path_
    return float(path.refits[path.n_steps]["residual_norm"] / path.residual_norm[0])


def _squared_error(model: KernelPursuitRegressor, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def _rms(differences: np.ndarray) -> float:
    return float(np.sqrt(np.mean(differences**2)))


def _wrong(scores: np.ndarray, labels: np.ndarray) -> float:
    return float(np.mean((scores > 0) != (labels == 1)))
