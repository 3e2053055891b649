"""Rules on the leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit._types import Path
from kernelpursuit._validate import check_number
from kernelpursuit.stopping.base import ALL_PICKED, LeastRule, tell_size
from kernelpursuit.stopping.measures import noise_level, noise_reach, row_scale


class _LooRule(LeastRule):
    """Rules that look for the least leave-one-out error first."""

    needs_loo = True
    label = "the leave-one-out error"

    def curve(self, path: Path) -> np.ndarray:
        """The mean squared leave-one-out error."""
        if path.loo is None:
            raise ValueError(
                f"stop={self.name!r} needs the leave-one-out error, which only update='orthogonal' has; "
                "fit with that, or use stop='validation' or 'cv'."
            )
        return path.loo

    def _where_the_least_is(self, path: Path) -> str:
        """Say where the leave-one-out error was least, and whether it was still falling there."""
        least = self.least(path)
        falls = 0 < least == path.n_steps and path.end_reason != ALL_PICKED
        falling = f", though {path.end_reason} while it was still falling" if falls else ""
        return f"the least leave-one-out error, at {least}{falling}"


@dataclass(repr=False)
class Loo(_LooRule):
    """Keep the k with the least leave-one-out error.

    The error is exact for the picked atoms held fixed: with leverage h_i and residual r_i, leaving row i out gives
    `r_i / (1 - h_i)` (Allen's PRESS; Hagiwara eq. 30).

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it
    within : keep the fewest atoms whose error is above the least by no more than this fraction of it

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import Loo
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=Loo(patience=10)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '40 atoms: the leave-one-out error is least there, of 50 tried'
    """

    patience: int | None = None
    within: float = 0.0
    name = "loo"
    for_any_loss = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("within", self.within, low=0)

    def choose(self, path: Path) -> int:
        """Return the minimum of the curve, or the first size that is close to it."""
        least = self.least(path)
        if not self.within or not np.isfinite(path.loo[least]):
            return least
        return int(np.flatnonzero(path.loo <= path.loo[least] + self.within * abs(path.loo[least]))[0])

    def explain(self, path: Path) -> str:
        """Say where the least error was."""
        k = self.choose(path)
        if k == self.least(path):
            return super().explain(path)
        return f"{tell_size(path, k)}: within {100 * self.within:g} % of {self._where_the_least_is(path)}"


@dataclass(repr=False)
class LooError(LeastRule):
    """Keep the fewest atoms with the fewest leave-one-out classification errors.

    For classifiers. The scores without a row are exact for the squared loss and the picked atoms held fixed, and one
    Newton step away for the others.

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernelpursuit import KernelPursuitClassifier
    >>> from kernelpursuit.stopping import LooError
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> KernelPursuitClassifier(gamma=1.0, stop=LooError(patience=10)).fit(X, y).stop_reason_
    '15 atoms: the leave-one-out misclassification is least there, of 25 tried'
    """

    patience: int | None = None
    name = "loo-error"
    label = "the leave-one-out misclassification"
    needs_loo = True
    needs_classes = True
    for_any_loss = True

    def curve(self, path: Path) -> np.ndarray:
        """The fraction of the rows in a wrong class."""
        if path.loo_error is None:
            raise ValueError(
                "stop='loo-error' needs the leave-one-out errors of a classifier, fitted with update='orthogonal'; "
                "fit with that, or use stop='validation' or 'cv'."
            )
        return path.loo_error


@dataclass(repr=False)
class OneSE(_LooRule):
    """Keep the fewest atoms whose leave-one-out error is within one standard error of the least (Breiman et al. 1984).

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import OneSE
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop="loo").fit(*make_chirp(200))
    >>> model.n_atoms_, model.select(OneSE()).n_atoms_  # another rule, without another fit
    (40, 23)
    """

    patience: int | None = None
    name = "one-se"
    for_any_loss = True

    def choose(self, path: Path) -> int:
        """The first k within the band."""
        least = self.least(path)
        bound = path.loo[least] + path.loo_se[least]
        return int(np.flatnonzero(path.loo <= bound)[0]) if np.isfinite(bound) else least

    def explain(self, path: Path) -> str:
        """Say where the least error was and what the band allowed."""
        kept = tell_size(path, self.choose(path))
        return f"{kept}: within one standard error of {self._where_the_least_is(path)}"


@dataclass(repr=False)
class TCR(_LooRule):
    """Keep atoms up to the last one that lowered the cost by more than noise could (Hagiwara eq. 28 to 30).

    Step k lowers the penalised cost by `c_k²`. Were there nothing left but noise of level sigma, the best of the
    `n_k = n_candidates - (k - 1)` atoms not yet picked would reach `|c_k| = sigma sqrt((2 + epsilon) log n_k)`. Of the
    steps up to the least leave-one-out error, the last one above that is kept. With T targets, `c_k²` adds over them,
    and is held against `sigma² (2 t + 2 sqrt((T - 1) t) + T - 1)` with `t = (1 + epsilon / 2) log n_k`.

    Parameters
    ----------
    epsilon : number of at least 0; larger ones keep fewer atoms
    sigma : noise level; None for the root of the least leave-one-out error, `path.noise_level`
    patience : steps without a new least leave-one-out error after which the loop ends; None never ends it

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import TCR
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=TCR()).fit(*make_chirp(200))
    >>> model.stop_reason_
    '17 atoms: no later step stands out of noise of level 0.17 (estimated) before the least leave-one-out error, at 40'
    """

    epsilon: float = 0.0
    sigma: float | None = None
    patience: int | None = None
    name = "tcr"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("epsilon", self.epsilon, low=0)
        if self.sigma is not None:
            check_number("sigma", self.sigma, low=0)

    def reductions(self, path: Path) -> np.ndarray:
        """`|c_k|` of the steps 1, 2, ..., shape (n_steps,)."""
        return np.sqrt(np.maximum(-np.diff(path.cost), 0.0) * row_scale(path))

    def thresholds(self, path: Path) -> np.ndarray:
        """What `|c_k|` must reach, shape (n_steps,); infinite where the noise level is not known."""
        atoms_left = np.maximum(path.n_candidates - np.arange(path.n_steps), 1)
        reach = noise_reach((1 + self.epsilon / 2) * np.log(atoms_left), path.n_targets)
        sigma = noise_level(path, self.sigma)
        return np.full(path.n_steps, np.inf) if np.isinf(sigma) else sigma * np.sqrt(reach)

    def choose(self, path: Path) -> int:
        """The last step above the threshold, up to the least leave-one-out error."""
        above = self.reductions(path) >= self.thresholds(path)
        return int(np.flatnonzero(above[: self.least(path)]).max(initial=-1)) + 1

    def explain(self, path: Path) -> str:
        """Say which noise level was used, and where the least error was."""
        kept, sigma = tell_size(path, self.choose(path)), noise_level(path, self.sigma)
        source = "estimated" if self.sigma is None else "given"
        return (
            f"{kept}: no later step stands out of noise of level {sigma:.3g} ({source}) "
            f"before {self._where_the_least_is(path)}"
        )
