"""Sparse Gaussian processes of GPyTorch, which has no defaults: the sizes here are those of its tutorials.

Both have 500 inducing rows that are learned, of which the first are training rows, and are computed in float32. SVGP
takes more steps than its tutorial, whose four passes over the rows are few steps on few rows. By default one length
serves all features. Tuned, every feature has a length of its own; the kernel of SGPR, and the learning rate of SVGP,
are the best of two on at most 2,000 training rows. Predictions are of means alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.variational import (
    CholeskyVariationalDistribution,
    IndependentMultitaskVariationalStrategy,
    VariationalStrategy,
)
from sets import Split

from .fitted import GRID_ROWS, Fitted, n_outputs

INDUCING = 500
COLLAPSED_STEPS, COLLAPSED_RATE = 100, 0.1
STEPS, BATCH = 1000, 256  # of SVGP
RATES = (0.01, 0.1)
KERNELS = {"rbf": gpytorch.kernels.RBFKernel, "matern52": gpytorch.kernels.MaternKernel}  # Matérn has nu = 5/2


def as_tensor(rows: np.ndarray) -> torch.Tensor:
    """Return numbers as float32."""
    return torch.tensor(np.asarray(rows), dtype=torch.float32)


class Collapsed(gpytorch.models.ExactGP):
    """SGPR: the posterior of the inducing values is known in closed form."""

    def __init__(self, data: tuple[torch.Tensor, torch.Tensor], inducing: torch.Tensor, kernel: Any) -> None:
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        super().__init__(*data, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        scaled = gpytorch.kernels.ScaleKernel(kernel)
        self.kernel = gpytorch.kernels.InducingPointKernel(scaled, inducing_points=inducing, likelihood=likelihood)

    def forward(self, rows: torch.Tensor) -> Any:
        """Return the prior of the values at these rows."""
        return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.kernel(rows))


def fit_collapsed(data: tuple[torch.Tensor, torch.Tensor], kernel: Any) -> tuple[Collapsed, float]:
    """Fit SGPR to rows in random order, and return it with the bound of its likelihood, a row."""
    model = Collapsed(data, data[0][:INDUCING].clone(), kernel)
    bound = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=COLLAPSED_RATE)
    model.train()
    for _ in range(COLLAPSED_STEPS):
        optimiser.zero_grad()
        loss = -bound(model(data[0]), data[1])
        loss.backward()
        optimiser.step()
    return model.eval(), -loss.item()


def collapsed(split: Split, tuned: bool) -> Fitted:
    """Fit SGPR by 100 steps of Adam."""
    torch.manual_seed(split.seed)
    order = split.drawn(len(split.train))
    data = as_tensor(split.train[order]), as_tensor(split.y[order])
    n_features = split.train.shape[1]
    if tuned:
        few = tuple(part[:GRID_ROWS] for part in data)
        kernels = {name: lambda kind=kind: kind(ard_num_dims=n_features) for name, kind in KERNELS.items()}
        bounds = {name: fit_collapsed(few, kernel())[1] for name, kernel in kernels.items()}
        chosen = max(bounds, key=bounds.__getitem__)
        model, _ = fit_collapsed(data, kernels[chosen]())
    else:
        chosen = "rbf"
        model, _ = fit_collapsed(data, KERNELS[chosen]())

    def predict(rows: np.ndarray) -> np.ndarray:
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
            return model(as_tensor(rows)).mean.numpy()

    predict(split.train[:2])  # what predictions need of all training rows is computed once
    size = min(INDUCING, len(order))
    return Fitted(predict, size, size * (n_features + 1), {"kernel": chosen} if tuned else {})


class Variational(gpytorch.models.ApproximateGP):
    """SVGP: the posterior of the inducing values is learned, from batches of rows; for each output its own."""

    def __init__(self, inducing: torch.Tensor, outputs: int, lengths: int | None) -> None:
        batch = torch.Size([outputs] if outputs > 1 else [])
        posterior = CholeskyVariationalDistribution(len(inducing), batch_shape=batch)
        inducing = inducing.expand(*batch, *inducing.shape).clone()
        strategy: Any = VariationalStrategy(self, inducing, posterior, learn_inducing_locations=True)
        if outputs > 1:
            strategy = IndependentMultitaskVariationalStrategy(strategy, num_tasks=outputs)
        super().__init__(strategy)
        self.mean = gpytorch.means.ConstantMean(batch_shape=batch)
        kernel = gpytorch.kernels.RBFKernel(ard_num_dims=lengths, batch_shape=batch)
        self.kernel = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)

    def forward(self, rows: torch.Tensor) -> Any:
        """Return the prior of the values at these rows."""
        return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.kernel(rows))


def likelihood_of(split: Split) -> Any:
    """Return the likelihood of numbers, two classes, or more."""
    outputs = n_outputs(split)
    if not split.is_classes:
        return gpytorch.likelihoods.GaussianLikelihood()
    if outputs == 1:
        return gpytorch.likelihoods.BernoulliLikelihood()
    return gpytorch.likelihoods.SoftmaxLikelihood(num_classes=outputs, mixing_weights=False)


def batches(n_rows: int, steps: int) -> Iterator[torch.Tensor]:
    """Yield the rows of so many batches: all rows in random order, again and again."""
    done = 0
    while True:
        for rows in torch.randperm(n_rows).split(BATCH):
            if done == steps:
                return
            done += 1
            yield rows


def fit_variational(split: Split, rows: np.ndarray, tuned: bool, rate: float) -> Variational:
    """Fit SVGP to some of the training rows."""
    X = as_tensor(split.train[rows])
    codes = np.unique(split.y, return_inverse=True)[1] if split.is_classes else split.y
    y = torch.tensor(codes[rows]) if n_outputs(split) > 1 else as_tensor(codes[rows])
    model = Variational(X[:INDUCING], n_outputs(split), X.shape[1] if tuned else None)
    likelihood = likelihood_of(split)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(X))
    optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=rate)
    model.train()
    for batch in batches(len(X), STEPS):
        optimiser.zero_grad()
        loss = -bound(model(X[batch]), y[batch])
        loss.backward()
        optimiser.step()
    return model.eval()


def predictor(model: Variational, split: Split) -> Any:
    """Return what predicts numbers, or the class of the largest score."""
    classes = np.unique(split.y) if split.is_classes else None

    def predict(rows: np.ndarray) -> np.ndarray:
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
            scores = model(as_tensor(rows)).mean.numpy()
        if classes is None:
            return scores
        return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    return predict


def variational(split: Split, tuned: bool) -> Fitted:
    """Fit SVGP by 1,000 steps of Adam, each of 256 rows."""
    torch.manual_seed(split.seed)
    order = split.drawn(len(split.train))
    rate, chosen = RATES[0], {}
    if tuned:
        few = order[:GRID_ROWS]
        check, train = few[: len(few) // 3], few[len(few) // 3 :]

        def error_at(rate: float) -> float:
            predict = predictor(fit_variational(split, train, True, rate), split)
            predicted = predict(split.train[check])
            wrong = predicted != split.y[check] if split.is_classes else (predicted - split.y[check]) ** 2
            return float(np.mean(wrong))

        rate = min(RATES, key=error_at)
        chosen = {"learning_rate": rate}
    model = fit_variational(split, order, tuned, rate)
    size, outputs = min(INDUCING, len(order)), n_outputs(split)
    return Fitted(predictor(model, split), size, outputs * size * (split.train.shape[1] + 1), chosen)
