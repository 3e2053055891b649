"""The systems of the five papers, each as one configuration of an estimator.

A preset is called like a class and returns an estimator that is not yet fitted; keyword arguments override what it
sets. Printed, it says in one line what it is.

>>> from kernelpursuit import presets
>>> presets.rfs
rfs: regularised forward selection (Hagiwara section 2.2): selection='gain', update=Orthogonal(), penalty='ridge'
>>> presets.greedy_qr(max_atoms=50, stop="mdl").max_atoms
50

For classes, `classifier` returns the same system on the labels, as Vincent and Bengio and Nair use theirs: least
squares on the codes -1 and +1, and with more than two classes a model for each against the rest.

>>> presets.greedy_qr.classifier(max_atoms=50, stop="mdl").loss
'squared'

Every preset runs to `max_atoms` unless told otherwise (`stop="max"`), without an intercept, over all candidates, as the
papers print their algorithms; those that are a stopping rule by name have that rule. The width is a rule of thumb
unless given; `gamma="learn"` learns a scale for each feature and the penalty, and runs the same loop with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kernelpursuit.estimators import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.losses import SquaredTanh
from kernelpursuit.updates import MinRes, Orthogonal, Rescale, Stagewise

AS_PRINTED: dict[str, Any] = {
    "kernel": "rbf",
    "gamma": "scale",
    "fit_intercept": False,
    "candidates": "all",
    "stop": "max",
    "sample_rows": None,
}
# What the papers do for classes: least squares on -1 and +1; each class against the rest, with atoms of its own.
FOR_CLASSES: dict[str, Any] = {"loss": "squared", "multi_class": "ovr"}


@dataclass(frozen=True, repr=False, eq=False)
class Preset:
    """Settings of the estimators that make the system of a paper.

    Parameters
    ----------
    name : str
        Its name here.
    summary : str
        What it does, in a few words.
    source : str
        Where it is from.
    settings : mapping
        Parameters of the estimator that make it that system.
    estimator : class
        What it is a configuration of.
    not_for_classes : str
        Why the system has no meaning for classes, and what has; empty where it has one.

    Examples
    --------
    >>> from kernelpursuit import presets
    >>> from kernelpursuit.data import make_chirp
    >>> presets.oga_ptr.source, presets.oga_ptr.settings["stop"]
    ('Xu algorithm 2 and section 2.2', 'ptr')
    >>> presets.oga_ptr(gamma=3.0, max_atoms=40).fit(*make_chirp(200)).stop_reason_
    '6 atoms: PTR with T=1, which has the least HDAIC of 20 values tried'
    """

    name: str
    summary: str
    source: str
    settings: Mapping[str, Any]
    estimator: type[BaseKernelPursuit] = KernelPursuitRegressor
    not_for_classes: str = ""

    @property
    def __name__(self) -> str:
        """The name, as a function has it."""
        return self.name

    def __call__(self, **params: Any) -> Any:
        """Return the estimator, unfitted; keyword arguments override the preset's settings."""
        return self.estimator(**{**AS_PRINTED, **self.settings, **params})

    def classifier(self, **params: Any) -> KernelPursuitClassifier:
        """Return the system as a classifier, unfitted; keyword arguments override the preset's settings.

        Parameters
        ----------
        **params
            Parameters of `KernelPursuitClassifier`.

        Returns
        -------
        KernelPursuitClassifier
            Under the squared loss on the codes -1 and +1 (`kmp_tanh`: its own loss), so that for two classes it picks
            the atoms that the preset picks for these numbers. Of more than two classes each is told from the rest by
            atoms of its own (`multi_class="ovr"`), as the digits are in Nair table 6 and Vincent and Bengio table 1.

        Raises
        ------
        ValueError
            Where the system has no meaning for classes.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kernelpursuit import presets
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> model = presets.greedy_qr.classifier(gamma=1.0, max_atoms=40, stop="mdl").fit(X, y)
        >>> bool(model.score(X, y) > 0.95)
        True
        """
        if self.not_for_classes:
            raise ValueError(f"presets.{self.name} has no classifier, since {self.not_for_classes}.")
        return KernelPursuitClassifier(**{**AS_PRINTED, **FOR_CLASSES, **self.settings, **params})

    def __repr__(self) -> str:
        """Say in one line what the system is and what makes it so."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{self.name}: {self.summary} ({self.source}): {settings}"


def _preset(
    name: str,
    summary: str,
    source: str,
    estimator: type[BaseKernelPursuit] = KernelPursuitRegressor,
    not_for_classes: str = "",
    **settings: Any,
) -> Preset:
    return Preset(
        name, summary, source, settings=MappingProxyType(settings), estimator=estimator, not_for_classes=not_for_classes
    )


kmp_basic = _preset(
    "kmp_basic",
    "basic matching pursuit, which may pick an atom again",
    "Vincent and Bengio figure 1",
    selection="correlation",
    update=Stagewise(),
    penalty=None,
)
kmp_backfit = _preset(
    "kmp_backfit",
    "matching pursuit with back-fitting",
    "Vincent and Bengio section 2.2",
    selection="correlation",
    update=Orthogonal(),
    penalty=None,
)
kmp_prefit = _preset(
    "kmp_prefit",
    "matching pursuit with pre-fitting",
    "Vincent and Bengio figure 3",
    selection="gain",
    update=Orthogonal(),
    penalty=None,
)
kmp_tanh = _preset(
    "kmp_tanh",
    "matching pursuit with back-fitting under the squared loss after tanh, for classes",
    "Vincent and Bengio figure 4 and section 3.2",
    estimator=KernelPursuitClassifier,
    selection="correlation",
    update=Stagewise(refit_every=1, solver="cg"),
    loss=SquaredTanh(),
    multi_class="ovr",
    penalty=None,
)
greedy_qr = _preset(
    "greedy_qr",
    "largest residual, thin QR",
    "Nair section 4.2",
    selection="residual",
    update=Orthogonal(rcond=1e-8),
    penalty=None,
)
greedy_qr_exchange = _preset(
    "greedy_qr_exchange",
    "largest residual, thin QR, atoms exchanged",
    "Nair algorithms 1 and 3",
    selection="residual",
    update=Orthogonal(rcond=1e-8),
    exchange=True,
    penalty=None,
)
mrx = _preset(
    "mrx",
    "minimal residual iterations, atoms exchanged",
    "Nair algorithms 1 and 2",
    selection="residual",
    update=MinRes(),
    exchange=True,
    penalty=None,
)
ormp = _preset(
    "ormp",
    "order recursive matching pursuit, which is pre-fitting by another name",
    "Natarajan, in Nair section 2.1",
    selection="gain",
    update=Orthogonal(),
    penalty=None,
)
rfs = _preset(
    "rfs",
    "regularised forward selection",
    "Hagiwara section 2.2",
    selection="gain",
    update=Orthogonal(),
    penalty="ridge",
)
ols = _preset(
    "ols",
    "regularised orthogonal least squares",
    "Hagiwara section 2.3",
    selection="gain",
    update=Orthogonal(),
    penalty="ols",
)
tcr = _preset(
    "tcr",
    "regularised forward selection, cost reductions thresholded",
    "Hagiwara section 3.3",
    not_for_classes="its threshold is for numbers with Gaussian noise; use presets.rfs.classifier(stop='loo-error')",
    selection="gain",
    update=Orthogonal(),
    penalty="ridge",
    alpha=1e-6,
    stop="tcr",
)
sparse_gp_greedy = _preset(
    "sparse_gp_greedy",
    "greedy sparse Gaussian process",
    "Zhang algorithm 1",
    selection="gain",
    update=Rescale(),
    penalty="rkhs",
)
sparse_gp_random = _preset(
    "sparse_gp_random",
    "random sparse Gaussian process",
    "Zhang algorithm 2",
    selection="random",
    update=Orthogonal(),
    penalty="rkhs",
)
sparse_gp_kappa = _preset(
    "sparse_gp_kappa",
    "greedy sparse Gaussian process over kappa random candidates a step",
    "Zhang algorithm 3",
    selection="gain",
    update=Rescale(),
    penalty="rkhs",
    candidates=59,
)
sparse_gp_subspace = _preset(
    "sparse_gp_subspace",
    "subspace greedy sparse Gaussian process",
    "Zhang algorithm 4",
    selection="gain",
    update=Orthogonal(),
    penalty="rkhs",
)
oga = _preset(
    "oga",
    "orthogonal greedy algorithm, predictions truncated",
    "Xu algorithms 1 and 2",
    not_for_classes="truncated scores have the same signs; use presets.kmp_backfit.classifier(), its untruncated twin",
    selection="correlation",
    update=Orthogonal(),
    penalty=None,
    truncate="auto",
)
oga_ptr = _preset(
    "oga_ptr",
    "orthogonal greedy algorithm, ended by the prediction-based rule",
    "Xu algorithm 2 and section 2.2",
    not_for_classes="its rule is for numbers with noise; use presets.kmp_backfit.classifier(stop='loo-error')",
    selection="correlation",
    update=Orthogonal(),
    penalty=None,
    truncate="auto",
    stop="ptr",
)

ALL: tuple[Preset, ...] = (
    kmp_basic,
    kmp_backfit,
    kmp_prefit,
    kmp_tanh,
    greedy_qr,
    greedy_qr_exchange,
    mrx,
    ormp,
    rfs,
    ols,
    tcr,
    sparse_gp_greedy,
    sparse_gp_random,
    sparse_gp_kappa,
    sparse_gp_subspace,
    oga,
    oga_ptr,
)

__all__ = ["ALL", "Preset", *(preset.name for preset in ALL)]
