"""What is compared: by name, how it is called on the page, which sets it is for, and how it is fitted.

A method is imported when it is first fitted; one that is not installed is a line of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from sets import CLASSES, NUMBERS, Split

from .fitted import Fitted

DEFAULT, TUNED = "default", "tuned"
VARIANTS = (DEFAULT, TUNED)
OURS = "kernelpursuit"
QUICK, SLOW, SLOWEST = range(3)


@dataclass(frozen=True)
class Method:
    """A way to fit a model: `module:function`, and the sets that it is for.

    Those of a quick pace come first in a run. Above `most_rows` training rows a method is not tried. A library that has
    computed and was then forked may fail: PyTorch, which is loaded before, and used after.
    """

    title: str
    fit: str
    pace: int = SLOW
    for_numbers: bool = True
    for_classes: bool = True
    most_rows: int | None = None
    may_be_forked: bool = True
    variants: tuple[str, ...] = VARIANTS
    packages: tuple[str, ...] = ()  # beside scikit-learn and what that needs

    def is_for(self, name: str) -> bool:
        """Whether it can be fitted to a set."""
        return (self.for_numbers and name in NUMBERS) or (self.for_classes and name in CLASSES)

    def load(self) -> Callable[[Split, bool], Fitted]:
        """Import what fits it; raises ImportError where the library is missing."""
        module, function = self.fit.split(":")
        return getattr(import_module(f".{module}", __package__), function)


GPYTORCH = ("torch", "gpytorch")

METHODS: dict[str, Method] = {
    OURS: Method("kernelpursuit", "ours:ours", pace=QUICK, variants=(DEFAULT,), packages=(OURS,)),
    "svm": Method("SVR / SVC", "kernel_machines:support_vectors"),
    "kernel_ridge": Method("KernelRidge", "kernel_machines:kernel_ridge", for_classes=False),
    "gpr": Method("GaussianProcessRegressor", "kernel_machines:gaussian_process", for_classes=False, most_rows=4000),
    "omp": Method("OMP on kernel columns", "columns:matching_pursuit", pace=QUICK, for_classes=False),
    "lasso": Method("LASSO on kernel columns", "columns:lasso", for_classes=False),
    "l1_logistic": Method("L1 logistic on kernel columns", "columns:l1_logistic", for_numbers=False),
    "nystroem": Method("Nystroem + Ridge / LogisticRegression", "kernel_machines:nystroem", pace=QUICK),
    "lightgbm": Method("LightGBM", "light:lightgbm", pace=QUICK, packages=("lightgbm",)),
    "hist_boosting": Method("HistGradientBoosting", "trees:histogram_boosting", pace=QUICK),
    "sgpr": Method(
        "GPyTorch SGPR", "gaussian:collapsed", SLOWEST, for_classes=False, may_be_forked=False, packages=GPYTORCH
    ),
    "svgp": Method("GPyTorch SVGP", "gaussian:variational", SLOWEST, may_be_forked=False, packages=GPYTORCH),
    "rvm": Method("fastrvm", "relevance:relevance_vectors", SLOWEST, packages=("fastrvm",)),
}

Model = tuple[str, str]  # method and variant
OUR_MODEL: Model = (OURS, DEFAULT)
MODELS: list[Model] = [(name, variant) for name, about in METHODS.items() for variant in about.variants]


def title_of(model: Model) -> str:
    """Return what a model is called in tables."""
    method, variant = model
    return METHODS[method].title if model == OUR_MODEL else f"{METHODS[method].title}, {variant}"
