"""Kernel machines of scikit-learn, and linear models on its Nyström features."""

from __future__ import annotations

import numpy as np
from regression_methods import COMPONENTS, COSTS
from sets import Split
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from .fitted import Fitted, fit_best, n_outputs

RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
FEATURE_RIDGES = np.logspace(-6, 2, 9)
EPSILONS = (0.01, 0.1)  # of SVR: errors below it cost nothing
ITERATIONS = 300


def support_vectors(split: Split, tuned: bool) -> Fitted:
    """Fit a support vector machine; tuned, at the best of 4 costs, 5 widths, and 2 epsilons for numbers."""
    machine = SVC(cache_size=1000) if split.is_classes else SVR(cache_size=1000)
    grid = {"C": COSTS, "gamma": split.gammas} if tuned else {}
    if tuned and not split.is_classes:
        grid |= {"epsilon": EPSILONS}
    model, chosen = fit_best(machine, grid, split)
    size = len(model.support_)
    numbers = size * split.train.shape[1] + model.dual_coef_.size + np.size(model.intercept_)
    return Fitted(model.predict, size, numbers, chosen)


def kernel_ridge(split: Split, tuned: bool) -> Fitted:
    """Fit kernel ridge regression with the Gaussian kernel; tuned, at the best of 4 penalties and 5 widths."""
    grid = {"alpha": RIDGES, "gamma": split.gammas} if tuned else {}
    model, chosen = fit_best(KernelRidge(kernel="rbf"), grid, split)
    return Fitted(model.predict, len(split.train), split.train.size + len(split.train), chosen)


def gaussian_process(split: Split, tuned: bool) -> Fitted:
    """Fit a Gaussian process; tuned, with a length for every feature and a noise of maximal likelihood.

    By default one length serves all features, and targets are taken to be free of noise.
    """
    model = GaussianProcessRegressor(random_state=split.seed)
    if tuned:
        lengths = RBF(np.sqrt(split.train.shape[1]) * np.ones(split.train.shape[1]), (1e-2, 1e4))
        model.set_params(kernel=ConstantKernel(1.0, (1e-3, 1e4)) * lengths + WhiteKernel(0.1, (1e-6, 1e1)))
    model.fit(split.train, split.y)
    chosen = {"kernel": str(model.kernel_)[:100]} if tuned else {}
    return Fitted(model.predict, len(split.train), split.train.size + len(split.train), chosen)


def nystroem(split: Split, tuned: bool) -> Fitted:
    """Fit a linear model on Nyström features: 100 by default; tuned, 500 at the best of 5 widths and of penalties."""
    features = Nystroem(n_components=min(COMPONENTS if tuned else 100, len(split.train)), random_state=split.seed)
    grid = {"nystroem__gamma": split.gammas} if tuned else {}
    if split.is_classes:
        linear = LogisticRegression(max_iter=ITERATIONS) if tuned else LogisticRegression()
        grid |= {"logisticregression__C": COSTS} if tuned else {}
    else:
        linear = RidgeCV(alphas=FEATURE_RIDGES) if tuned else Ridge()
    model, chosen = fit_best(make_pipeline(features, linear), grid, split)
    size = len(model[0].components_)
    numbers = model[0].components_.size + (size + 1) * n_outputs(split)  # the normalisation folds into the coefficients
    return Fitted(model.predict, size, numbers, chosen)
