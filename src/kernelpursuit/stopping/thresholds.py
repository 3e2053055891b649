"""The first model that is good enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit._types import Path
from kernelpursuit._validate import check_number, check_option
from kernelpursuit.stopping.base import StoppingRule, tell_size
from kernelpursuit.stopping.measures import noise_level, noise_reach, observations, residual_sum, row_scale


@dataclass(repr=False)
class Max(StoppingRule):
    """Keep every atom, up to `max_atoms`.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import Max
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=Max()).fit(*make_chirp(200))
    >>> model.stop_reason_
    '60 atoms: max_atoms=60 reached'
    """

    name = "max"
    for_any_loss = True


class _First(StoppingRule):
    """Rules that end the loop at the first model that is good enough; all is kept where none is."""

    def good_enough(self, path: Path, k: int) -> bool:
        """Whether the model after k steps will do."""
        raise NotImplementedError

    def fired(self, path: Path) -> bool:
        """Whether the last model will do."""
        return self.good_enough(path, path.n_steps)

    def choose(self, path: Path) -> int:
        """The first model that will do, else the last."""
        return next((k for k in range(path.n_steps) if self.good_enough(path, k)), path.n_steps)

    def explain(self, path: Path) -> str:
        """Say what was reached, or that it was not."""
        k = self.choose(path)
        if self.good_enough(path, k):
            return f"{tell_size(path, k)}: {self.tell(path, k)} is within {self.tell_bound(path)}"
        return f"{tell_size(path, k)}: {path.end_reason} before {self.tell(path, k)} reached {self.tell_bound(path)}"

    def tell(self, path: Path, k: int) -> str:
        """What is compared, with its value."""
        raise NotImplementedError

    def tell_bound(self, path: Path) -> str:
        """What it is compared with, with its value."""
        raise NotImplementedError


@dataclass(repr=False)
class Tol(_First):
    """Stop once the residual norm is at most `tol` times that of the model without atoms.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import Tol
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=Tol(0.2)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '12 atoms: the relative residual 0.194 is within tol=0.2'
    """

    tol: float = 1e-3
    name = "tol"

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=0)

    def good_enough(self, path: Path, k: int) -> bool:
        """Whether the residual is small enough."""
        return bool(path.residual_norm[k] <= self.tol * path.residual_norm[0])

    def tell(self, path: Path, k: int) -> str:
        """The relative residual."""
        start = path.residual_norm[0]
        return f"the relative residual {path.residual_norm[k] / start if start > 0 else 0.0:.3g}"

    def tell_bound(self, path: Path) -> str:
        """The tolerance."""
        return f"tol={self.tol:g}"


@dataclass(repr=False)
class TR2(_First):
    """Stop at the first model with `RSS + n sum |weights| <= sum y²` (Chen, Li and Pan 2013, Xu eq. 1.4).

    For sum y² stands the RSS of the model without atoms: with an intercept, that of y about its mean. Several targets
    are added up. The condition cannot hold where targets are small against one (Xu sec. 3.2): `n |w|` outweighs `n w²`.
    The path then runs to `max_atoms`, and all of it is kept.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import TR2
    >>> X, y = make_chirp(200)
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=TR2()).fit(X, 100 * y)  # not for small targets
    >>> model.stop_reason_
    '1 atom: RSS + n sum |weights| = 1.94e+06 is within the 2.41e+06 of no atoms'
    """

    name = "tr2"

    def good_enough(self, path: Path, k: int) -> bool:
        """Whether the condition holds after k steps."""
        return bool(k >= 1 and self._left_side(path, k) <= residual_sum(path)[0])

    def _left_side(self, path: Path, k: int) -> float:
        return float(residual_sum(path)[k] + path.n_units * np.abs(path.coef(k)).sum())

    def tell(self, path: Path, k: int) -> str:
        """The left side."""
        return f"RSS + n sum |weights| = {self._left_side(path, k):.3g}"

    def tell_bound(self, path: Path) -> str:
        """The right side."""
        return f"the {residual_sum(path)[0]:.3g} of no atoms"


class _NoiseThreshold(_First):
    """Rules that stop when what is left could be noise of a level that is given, or else estimated from the path.

    The estimate is `path.noise_level`, which takes the whole path: without `sigma`, the path runs to its end.
    """

    sigma: float | None

    def __post_init__(self) -> None:
        if self.sigma is not None:
            check_number("sigma", self.sigma, low=0)

    def value(self, path: Path, k: int) -> float:
        """What is compared with the bound."""
        raise NotImplementedError

    def bound(self, path: Path) -> float:
        """What noise reaches; nothing is within it where the noise level is not known."""
        raise NotImplementedError

    def good_enough(self, path: Path, k: int) -> bool:
        """Whether what is left could be noise."""
        return bool(self.value(path, k) <= self.bound(path))

    def choose(self, path: Path) -> int:
        """The first model whose rest could be noise, else the last."""
        bound = self.bound(path)
        return next((k for k in range(path.n_steps) if self.value(path, k) <= bound), path.n_steps)

    def fired(self, path: Path) -> bool:
        """Whether the rest could be noise of the level that was given."""
        return self.sigma is not None and self.good_enough(path, path.n_steps)

    def tell_bound(self, path: Path) -> str:
        """The bound, and the noise level it is for."""
        sigma, source = noise_level(path, self.sigma), "estimated" if self.sigma is None else "given"
        if np.isinf(sigma):
            return "that of noise, whose level could not be estimated"
        return f"the {self.bound(path):.3g} of noise of level {sigma:.3g} ({source})"


@dataclass(repr=False)
class TR3(_NoiseThreshold):
    """Stop when the residual is no longer than noise, `||r|| <= sigma sqrt(n + 2 sqrt(n log n))`.

    Normal noise is longer with a probability of at most 1/n (Cai and Wang 2011, theorem 7). There is no `mu` here: the
    coherence of the dictionary is in what the theorem asks of the weights, not in its threshold. T targets count as
    n T rows.

    Parameters
    ----------
    sigma : noise level; None for `path.noise_level`, and then the choice is made when the path is complete

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import TR3
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=TR3(sigma=0.15)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '17 atoms: the residual norm 2.41 is within the 2.44 of noise of level 0.15 (given)'
    """

    sigma: float | None = None
    name = "tr3"

    def value(self, path: Path, k: int) -> float:
        """The residual norm."""
        return float(np.sqrt(residual_sum(path)[k]))

    def bound(self, path: Path) -> float:
        """The norm that noise reaches."""
        n, sigma = observations(path), noise_level(path, self.sigma)
        return -1.0 if np.isinf(sigma) else float(sigma * np.sqrt(n + 2 * np.sqrt(n * np.log(n))))

    def tell(self, path: Path, k: int) -> str:
        """The residual norm."""
        return f"the residual norm {self.value(path, k):.3g}"


@dataclass(repr=False)
class TR4(_NoiseThreshold):
    """Stop when no atom correlates with the residual more than with noise (Zhang 2009, theorem 4).

    That is `max_j |<d_j, r>| / ||d_j|| <= sigma sqrt(2 log(2 M / eta)) / (1 - mu)` over the M atoms. With mu = 0,
    noise alone exceeds it with a probability of at most eta; in the paper, columns have norm `sqrt(n)` and both sides
    are divided by it. The theorem's mu is `max_j ||(D'D)^{-1} D' d_j||_1` over the atoms j that are not right, with the
    right ones as the columns of D: nobody knows it beforehand. With one right atom it is at most the mutual coherence,
    the largest `|<d_i, d_j>| / (||d_i|| ||d_j||)` over two atoms, for atoms of one length.

    With T targets, squares add over them, and 2 log(2 M / eta) becomes `2 t + 2 sqrt((T - 1) t) + T - 1`,
    t = `log(2 M / eta)`. It is meant for fits without a penalty, whose residual is orthogonal to the atoms picked.

    Parameters
    ----------
    sigma : noise level; None for `path.noise_level`, and then the choice is made when the path is complete
    eta : probability with which noise is taken for signal, between 0 and 1
    mu : at least 0 and below 1; larger ones keep fewer atoms. "auto" is the mutual coherence of the dictionary,
        `path.coherence`, computed before the first step in O(n M²) time and without a matrix of that size

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import TR4
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=TR4(sigma=0.15)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '12 atoms: the largest correlation 0.39 is within the 0.636 of noise of level 0.15 (given)'
    """

    sigma: float | None = None
    eta: float = 0.05
    mu: float | str = 0.0
    name = "tr4"
    needs_correlation = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < check_number("eta", self.eta, low=0, strict=True) < 1:
            raise ValueError(f"eta={self.eta!r} is too large; give a number between 0 and 1.")
        if isinstance(self.mu, str):
            check_option("mu", self.mu, ("auto",), "a number from 0 to below 1")
        elif not check_number("mu", self.mu, low=0) < 1:
            raise ValueError(f"mu={self.mu!r} is too large; give a number from 0 to below 1, or 'auto'.")

    @property
    def needs_coherence(self) -> bool:  # type: ignore[override]
        """Whether mu is to be computed."""
        return self.mu == "auto"

    def coherence(self, path: Path) -> float:
        """The mu that is used on a path."""
        if not isinstance(self.mu, str):
            return self.mu
        if path.coherence is None:
            raise ValueError(
                "TR4(mu='auto') needs the coherence of the dictionary, which only a fit with this rule computes; "
                "fit with it, or give mu as a number."
            )
        return path.coherence

    def value(self, path: Path, k: int) -> float:
        """The largest correlation; NaN where not known."""
        return float(path.correlation[k] * np.sqrt(row_scale(path)))

    def bound(self, path: Path) -> float:
        """The correlation that noise reaches."""
        if np.isnan(path.correlation).all():
            raise ValueError(
                "stop='tr4' needs the correlation of every atom with the residual; "
                "fit with selection='correlation' or 'gain' over all candidates."
            )
        reach = noise_reach(np.log(2 * path.n_candidates / self.eta), path.n_targets)
        sigma = noise_level(path, self.sigma)
        factor = 1 / (1 - self.coherence(path))
        return -1.0 if np.isinf(sigma) else float(factor * sigma * np.sqrt(reach))

    def tell_bound(self, path: Path) -> str:
        """The bound, the noise level it is for, and the factor where there is one."""
        factor = 1 / (1 - self.coherence(path))
        source = "by the coherence" if self.mu == "auto" else "given"
        return super().tell_bound(path) + (f" times 1 / (1 - mu) = {factor:.3g} ({source})" if factor > 1 else "")

    def tell(self, path: Path, k: int) -> str:
        """The largest correlation."""
        return f"the largest correlation {self.value(path, k):.3g}"
