"""Whatever a fit refuses, it refuses before a single kernel value is computed."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, _native, presets
from kernelpursuit.dictionary import Always, KernelAtoms, LinearTrend
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Loss
from kernelpursuit.stopping import CV, Loo, Validation
from kernelpursuit.updates import Orthogonal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sin(X[:, 0])
LABELS = (Y > 0).astype(int)
# Operations that evaluate a kernel.
EVALUATE = ("block", "matvec", "rmatvec", "sqnorms", "examine", "pullback", "distances")


class Misshapen(Loss):
    """A loss of one's own whose value has the wrong shape."""

    def value(self, y, f):
        return np.zeros(3)

    def gradient(self, y, f):
        return f - y

    def curvature(self, y, f):
        return np.ones(y.shape[1])


REFUSED = {
    "truncate": {"truncate": -1.0},
    "truncate word": {"truncate": "yes"},
    "exchange": {"exchange": "yes"},
    "exchange of stagewise weights": {"exchange": True, "update": "stagewise", "stop": "max"},
    "rule of squares under another loss": {"loss": "huber", "stop": "mdl"},
    "rule of classes": {"stop": "loo-error"},
    "rule that needs leave-one-out": {"update": "stagewise", "stop": "loo"},
    "selection": {"selection": "best"},
    "selection under another loss": {"loss": "huber", "selection": "residual"},
    "update": {"update": "newton"},
    "update under another loss": {"loss": "huber", "update": "rescale", "stop": "max"},
    "minres by gain": {"update": "minres", "stop": "max"},
    "minres with a penalty": {"update": "minres", "selection": "residual", "stop": "max", "penalty": "ridge"},
    "penalty": {"penalty": "l1"},
    "penalty under another loss": {"loss": "huber", "penalty": "nugget"},
    "ols by correlation": {"penalty": "ols", "selection": "correlation"},
    "random of drawn candidates": {"selection": "random", "candidates": 5},
    "residual at other centres": {"selection": "residual", "kernel": KernelAtoms("rbf", X[:5] + 1.0), "gamma": 1.0},
    "residual of a kernel that is not Mercer": {"selection": "residual", "kernel": "sigmoid"},
    "rkhs of a kernel that is not Mercer": {"penalty": "rkhs", "kernel": "sigmoid"},
    "correlation of drawn candidates": {"stop": "tr4", "candidates": 5},
    "shortlist": {"shortlist": 0},
    "shortlist of stagewise weights": {"shortlist": 8, "update": "stagewise", "stop": "max"},
    "shortlist with exchange": {"shortlist": 8, "exchange": True},
    "shortlist of drawn candidates": {"shortlist": 8, "candidates": 5},
    "shortlist by residual": {"shortlist": 8, "selection": "residual"},
    "shortlist and correlation": {"shortlist": 8, "stop": "tr4"},
    "candidates": {"candidates": -3},
    "candidates beyond the last": {"candidates": [0, 1, 60]},
    "candidates word": {"candidates": "some"},
    "alpha": {"alpha": -1.0},
    "max_atoms": {"max_atoms": 0},
    "kernel": {"kernel": "gauss"},
    "gamma": {"gamma": -1.0},
    "gamma of another shape": {"gamma": [1.0, 2.0]},
    "gamma that no kernel takes": {"kernel": RBF(gamma=2.0), "gamma": 3.0},
    "centres of another shape": {"kernel": KernelAtoms("rbf", np.ones((4, 2)))},
    "refine": {"refine": "yes"},
    "refine without learning": {"refine": True, "kernel": "polynomial"},
    "refine of another system": {"refine": True, "selection": "residual"},
    "trend": {"trend": "cubic"},
    "trend of many features": {"kernel": Always(LinearTrend()) + "rbf", "gamma": 1.0},
    "outside": {"outside": "clip"},
    "fit_intercept": {"fit_intercept": 1},
    "warm_start": {"warm_start": "no"},
    "memory_budget": {"memory_budget": -5},
    "n_jobs": {"n_jobs": 0},
    "random_state": {"random_state": -1},
    "verbose": {"verbose": "loud"},
    "stop": {"stop": "kfold"},
    "more folds than rows": {"stop": CV(folds=61)},
    "validation rows of another width": {"stop": Validation(X=X[:5, :2], y=Y[:5])},
    "validation targets of another length": {"stop": Validation(X=X[:5], y=Y[:4])},
    "validation rows that are not numbers": {"stop": Validation(X=X[:5] * np.nan, y=Y[:5])},
    "targets below zero": {"loss": "poisson"},
    "a loss of a wrong shape": {"loss": Misshapen()},
    "a loss for classes": {"loss": "logistic"},
}
FOR_CLASSES = {
    "multi_class": {"multi_class": "one"},
    "class_weight": {"class_weight": {0: "heavy"}},
    "class_weight of no label": {"class_weight": {5: 1.0}},
    "a loss for numbers": {"loss": "poisson"},
    "softmax of each class": {"loss": "softmax", "multi_class": "ovr"},
    "validation rows for each class": {"stop": Validation(X=X[:5], y=LABELS[:5]), "multi_class": "ovr"},
    "validation labels that are not known": {"stop": Validation(X=X[:2], y=[7, 8])},
    "rule of squares": {"stop": "mdl"},
}


@pytest.fixture
def no_kernel_values(monkeypatch):
    """Let any evaluation of a kernel fail."""
    for name in EVALUATE:

        def refuse(*args, name=name, **settings):
            raise AssertionError(f"{name} evaluates a kernel")

        monkeypatch.setattr(_native, name, refuse)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("no_kernel_values")
def test_regressors(name):
    rows = RNG.normal(size=(4, 9)) if "many features" in name else X
    with pytest.raises(ValueError, match=r"^[^\n]+[.?]$"):
        KernelPursuitRegressor(**REFUSED[name]).fit(rows, Y[: len(rows)])


@pytest.mark.parametrize("name", FOR_CLASSES)
@pytest.mark.usefixtures("no_kernel_values")
def test_classifiers(name):
    labels = np.digitize(Y, [-0.5, 0.5]) if "each class" in name else LABELS
    with pytest.raises(ValueError, match=r"^[^\n]+[.?]$"):
        KernelPursuitClassifier(**FOR_CLASSES[name]).fit(X, labels)


@pytest.mark.parametrize("callback", [3, "stop", [print, 4], Loo])
@pytest.mark.usefixtures("no_kernel_values")
def test_callbacks(callback):
    with pytest.raises(ValueError, match=r"callback=.*is not usable"):
        KernelPursuitRegressor().fit(X, Y, callback=callback)


@pytest.mark.usefixtures("no_kernel_values")
def test_rows_and_targets():
    bad = {
        r"^X is not usable: .*NaN": ((X * np.nan, Y), {}),
        r"^y is not usable: .*infinity": ((X, Y * np.inf), {}),
        r"^sample_weight holds negative": ((X, Y), {"sample_weight": -np.ones(60)}),
        r"^y has shape \(59,\), but X has 60 rows": ((X, Y[:-1]), {}),
    }
    for words, (data, weights) in bad.items():
        with pytest.raises(ValueError, match=words):
            KernelPursuitRegressor().fit(*data, **weights)


@pytest.mark.usefixtures("no_kernel_values")
def test_presets_and_sparse_rows():
    with pytest.raises(ValueError, match="candidates names atom 99"):
        presets.rfs(gamma="learn", candidates=[99]).fit(X, Y)
    with pytest.raises(ValueError, match="outside='return'"):
        KernelPursuitRegressor(kernel="precomputed", outside="return").fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="trend='linear'"):
        KernelPursuitRegressor(kernel="precomputed", trend="linear").fit(X @ X.T, Y)
    wide = sp.random_array((40, 2000), density=0.01, format="csr", random_state=0)
    with pytest.raises(ValueError, match="trend='linear'"):
        KernelPursuitRegressor(gamma=1.0, trend="linear").fit(wide, Y[:40])
    with pytest.raises(ValueError, match="rcond"):
        KernelPursuitRegressor(update=Orthogonal(rcond=2.0)).fit(X, Y)


def test_that_a_fit_would_fail(no_kernel_values):
    """The fixture sees every fit: a good one fails by it."""
    for estimator in (KernelPursuitRegressor(), KernelPursuitRegressor(gamma=1.0), presets.mrx()):
        with pytest.raises(AssertionError, match="evaluates a kernel"):
            estimator.fit(X, Y)
