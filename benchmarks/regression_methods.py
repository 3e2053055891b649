"""What `benchmarks/defaults.py` measures: kernelpursuit as it comes, and four peers as their users would set them.

Every function takes a `Split` and returns what it measured: `rmse` in units of the training targets' standard
deviation, `seconds` and `cpu_seconds` of all that it takes to get the model, `predict_us` a row. A peer's library is
imported by its function alone, so that none is in the way of another. Grids run in threads: there are no workers to
start, which would take longer than the grid of a small set, and all the processor time is this process's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import parallel_backend
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits
from timing import Clock, microseconds_a_row

GRID_ROWS = 5000  # most rows that a grid is searched on
COSTS = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.1, 0.5, 2.0, 8.0)  # gamma times the number of features
COMPONENTS = 500
INDUCING = 512
STEPS = 100
COVERAGE = 0.9


@dataclass
class Split:
    """A tenth of a data set, drawn by the seed, for testing and the rest for training."""

    rows: np.ndarray
    targets: np.ndarray
    seed: int

    def __post_init__(self) -> None:
        order = np.random.default_rng(self.seed).permutation(len(self.rows))
        test, train = np.split(order, [len(order) // 10])
        self.train, self.test = self.rows[train], self.rows[test]
        mean, scale = self.targets[train].mean(), self.targets[train].std()
        self.y_train, self.y_test = (self.targets[train] - mean) / scale, (self.targets[test] - mean) / scale

    @cached_property
    def standardised(self) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows, standardised by the training rows."""
        scaler = StandardScaler().fit(self.train)
        return scaler.transform(self.train), scaler.transform(self.test)

    @cached_property
    def for_grid(self) -> np.ndarray:
        """The training rows that a grid is searched on."""
        return np.random.default_rng(self.seed).permutation(len(self.train))[:GRID_ROWS]

    @property
    def gammas(self) -> list[float]:
        """Inverse widths to choose from, for standardised rows."""
        return [width / self.rows.shape[1] for width in WIDTHS]

    def rmse(self, predicted: np.ndarray) -> float:
        """Root mean squared error on the test rows."""
        return float(np.sqrt(np.mean((predicted - self.y_test) ** 2)))


def kernelpursuit(split: Split) -> dict[str, Any]:
    """The defaults on rows as they are."""
    from kernelpursuit import KernelPursuitRegressor

    model = KernelPursuitRegressor(random_state=0)
    with Clock() as clock:
        model.fit(split.train, split.y_train)
    found = {
        "rmse": split.rmse(model.predict(split.test)),
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "predict_us": microseconds_a_row(lambda: model.predict(split.test), len(split.test)),
        "atoms": model.n_atoms_,
        "bytes": float32_bytes(model),
        "stop_reason": model.stop_reason_,
    }
    if hasattr(model, "predict_interval"):
        lower, upper = model.predict_interval(split.test, coverage=COVERAGE)
        found["coverage"] = float(np.mean((lower <= split.y_test) & (split.y_test <= upper)))
        found["width"] = float(np.mean(upper - lower))
    return found


def float32_bytes(model: Any) -> int:
    """Bytes of what a prediction needs, in float32: centres, weights, a factor a feature, one an atom, a constant."""
    numbers = np.size(model.centers_) + np.size(model.coef_) + np.size(model.fixed_coef_) + np.size(model.intercept_)
    return 4 * int(numbers + model.n_features_in_ + model.n_atoms_)


def svr(split: Split) -> dict[str, Any]:
    """A support vector machine at the best of 4 x 4 settings."""
    model = SVR(cache_size=1000)
    return tuned(model, {"C": COSTS, "gamma": split.gammas}, split, lambda best: {"vectors": len(best.support_)})


def nystroem(split: Split) -> dict[str, Any]:
    """Ridge regression on Nyström features, at the best of 4 widths and 9 penalties."""
    features = Nystroem(n_components=COMPONENTS, kernel="rbf", random_state=split.seed)
    model = make_pipeline(features, RidgeCV(alphas=np.logspace(-6, 2, 9)))
    return tuned(model, {"nystroem__gamma": split.gammas}, split, lambda best: {})


def tuned(model: Any, grid: dict[str, Any], split: Split, more: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """A grid by 3-fold cross-validation on some of the rows, and one fit on all of them."""
    train, test = split.standardised
    search = GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=3, refit=False, n_jobs=2)
    warnings.filterwarnings("ignore", message="n_components > n_samples")  # a small set has fewer rows
    with Clock() as clock:
        # Two fits at a time, with one thread each.
        with Clock() as of_grid, parallel_backend("threading"), threadpool_limits(1):
            search.fit(train[split.for_grid], split.y_train[split.for_grid])
        model.set_params(**search.best_params_).fit(train, split.y_train)
    return {
        "rmse": split.rmse(model.predict(test)),
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "grid_seconds": of_grid.wall,
        "grid_cpu_seconds": of_grid.cpu,
        "predict_us": microseconds_a_row(lambda: model.predict(test), len(test)),
        "chosen": search.best_params_,
        **more(model),
    }


def lightgbm(split: Split) -> dict[str, Any]:
    """Boosted trees by their defaults, on rows as they are."""
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(verbose=-1, n_jobs=2)
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    with Clock() as clock:
        model.fit(split.train, split.y_train)
    return {
        "rmse": split.rmse(model.predict(split.test)),
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "predict_us": microseconds_a_row(lambda: model.predict(split.test), len(split.test)),
        "bytes": len(model.booster_.model_to_string().encode()),
    }


def sgpr(split: Split) -> dict[str, Any]:
    """Sparse Gaussian process regression with a length for every feature, all parameters and inducing rows learned.

    What it takes to prepare for predictions is in `cache_seconds`, not in `seconds`; predictions are of means alone.
    """
    import gpytorch
    import torch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, rows: Any, targets: Any, likelihood: Any) -> None:
            super().__init__(rows, targets, likelihood)
            self.mean = gpytorch.means.ConstantMean()
            kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=rows.shape[1]))
            start = rows[torch.randperm(len(rows))[:INDUCING]].clone()
            self.kernel = gpytorch.kernels.InducingPointKernel(kernel, inducing_points=start, likelihood=likelihood)

        def forward(self, rows: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.kernel(rows))

    torch.manual_seed(split.seed)
    train, test = (torch.tensor(rows, dtype=torch.float32) for rows in split.standardised)
    targets = torch.tensor(split.y_train, dtype=torch.float32)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(train, targets, likelihood)
    likelihood_of = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    with Clock() as clock:
        for _ in range(STEPS):
            optimiser.zero_grad()
            loss = -likelihood_of(model(train), targets)
            loss.backward()
            optimiser.step()
    model.eval()
    with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
        with Clock() as of_cache:
            predicted = model(test).mean.numpy()
        predict_us = microseconds_a_row(lambda: model(test).mean, len(test))
    return {
        "rmse": split.rmse(predicted),
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "cache_seconds": of_cache.wall,
        "predict_us": predict_us,
        "loss": loss.item(),
        "noise": likelihood.noise.item(),
    }


ALL: dict[str, Callable[[Split], dict[str, Any]]] = {
    "kernelpursuit": kernelpursuit,
    "svr": svr,
    "nystroem": nystroem,
    "lightgbm": lightgbm,
    "sgpr": sgpr,
}
