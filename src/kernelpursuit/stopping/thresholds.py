"""The first model that is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelpursuit._validate import check_number
from kernelpursuit.stopping.base import StoppingRule, tell_size
from kernelpursuit.stopping.measures import noise_level, noise_reach, observations, residual_sum, row_scale


@dataclass(repr=False)
class Max(StoppingRule):
    """Keep every atom, up to `max_atoms`."""

    name = "max"
    for_any_loss = True


class _First(StoppingRule):
    """Rules that end the loop at the first model that is good enough; all is kept where none is."""

    def good_enough(self, path: Any, k: int) -> bool:
        """Whether the model after k steps will do."""
        raise NotImplementedError

    def fired(self, path: Any) -> bool:
        """Whether the last model will do."""
        return self.good_enough(path, path.n_steps)

    def choose(self, path: Any) -> int:
        """The first model that will do, else the last."""
        return next((k for k in range(path.n_steps) if self.good_enough(path, k)), path.n_steps)

    def explain(self, path: Any) -> str:
        """Say what was reached, or that it was not."""
        k = self.choose(path)
        if self.good_enough(path, k):
            return f"{tell_size(path, k)}: {self.tell(path, k)} is within {self.tell_bound(path)}"
        return f"{tell_size(path, k)}: {path.end_reason} before {self.tell(path, k)} reached {self.tell_bound(path)}"

    def tell(self, path: Any, k: int) -> str:
        """What is compared, with its value."""
        raise NotImplementedError

    def tell_bound(self, path: Any) -> str:
        """What it is compared with, with its value."""
        raise NotImplementedError


@dataclass(repr=False)
class Tol(_First):
    """Stop once the residual norm is at most `tol` times that of the model without atoms."""

    tol: float = 1e-3
    name = "tol"

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=0)

    def good_enough(self, path: Any, k: int) -> bool:
        """Whether the residual is small enough."""
        return bool(path.residual_norm[k] <= self.tol * path.residual_norm[0])

    def tell(self, path: Any, k: int) -> str:
        """The relative residual."""
        start = path.residual_norm[0]
        return f"the relative residual {path.residual_norm[k] / start if start > 0 else 0.0:.3g}"

    def tell_bound(self, path: Any) -> str:
        """The tolerance."""
        return f"tol={self.tol:g}"


@dataclass(repr=False)
class TR2(_First):
    """Stop at the first model with `RSS + n sum |weights| <= sum y²` (Chen, Li and Pan 2013, Xu eq. 1.4).

    For sum y² stands the RSS of the model without atoms: with an intercept, that of y about its mean. Several targets
    are added up. The condition cannot hold where targets are small against one (Xu sec. 3.2): n |w| outweighs n w². The
    path then runs to `max_atoms`, and all of it is kept.
    """

    name = "tr2"

    def good_enough(self, path: Any, k: int) -> bool:
        """Whether the condition holds after k steps."""
        return bool(k >= 1 and self._left_side(path, k) <= residual_sum(path)[0])

    def _left_side(self, path: Any, k: int) -> float:
        return float(residual_sum(path)[k] + path.n_units * np.abs(path.coef(k)).sum())

    def tell(self, path: Any, k: int) -> str:
        """The left side."""
        return f"RSS + n sum |weights| = {self._left_side(path, k):.3g}"

    def tell_bound(self, path: Any) -> str:
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

    def value(self, path: Any, k: int) -> float:
        """What is compared with the bound."""
        raise NotImplementedError

    def bound(self, path: Any) -> float:
        """What noise reaches; nothing is within it where the noise level is not known."""
        raise NotImplementedError

    def good_enough(self, path: Any, k: int) -> bool:
        """Whether what is left could be noise."""
        return bool(self.value(path, k) <= self.bound(path))

    def choose(self, path: Any) -> int:
        """The first model whose rest could be noise, else the last."""
        bound = self.bound(path)
        return next((k for k in range(path.n_steps) if self.value(path, k) <= bound), path.n_steps)

    def fired(self, path: Any) -> bool:
        """Whether the rest could be noise of the level that was given."""
        return self.sigma is not None and self.good_enough(path, path.n_steps)

    def tell_bound(self, path: Any) -> str:
        """The bound, and the noise level it is for."""
        sigma, source = noise_level(path, self.sigma), "estimated" if self.sigma is None else "given"
        if np.isinf(sigma):
            return "that of noise, whose level could not be estimated"
        return f"the {self.bound(path):.3g} of noise of level {sigma:.3g} ({source})"


@dataclass(repr=False)
class TR3(_NoiseThreshold):
    """Stop when the residual is no longer than noise, `||r|| <= sigma sqrt(n + 2 sqrt(n log n))`.

    Normal noise is longer with a probability of at most 1/n (Cai and Wang 2011, theorem 7). T targets count as n T
    rows.

    Parameters
    ----------
    sigma : noise level; None for `path.noise_level`, and then the choice is made when the path is complete
    """

    sigma: float | None = None
    name = "tr3"

    def value(self, path: Any, k: int) -> float:
        """The residual norm."""
        return float(np.sqrt(residual_sum(path)[k]))

    def bound(self, path: Any) -> float:
        """The norm that noise reaches."""
        n, sigma = observations(path), noise_level(path, self.sigma)
        return -1.0 if np.isinf(sigma) else float(sigma * np.sqrt(n + 2 * np.sqrt(n * np.log(n))))

    def tell(self, path: Any, k: int) -> str:
        """The residual norm."""
        return f"the residual norm {self.value(path, k):.3g}"


@dataclass(repr=False)
class TR4(_NoiseThreshold):
    """Stop when no atom correlates with the residual more than with noise (Zhang 2009, theorem 4).

    That is `max_j |<d_j, r>| / ||d_j|| <= sigma sqrt(2 log(2 M / eta))` over the M atoms, which noise exceeds with a
    probability of at most eta; in the paper, columns have norm `sqrt(n)` and both sides are divided by it. The theorem
    asks for more, a factor `1 / (1 - mu)` that depends on which atoms are the right ones. With T targets, squares add
    over them, and 2 log(2 M / eta) becomes `2 t + 2 sqrt((T - 1) t) + T - 1`, t = `log(2 M / eta)`. It is meant for
    fits without a penalty, whose residual is orthogonal to the atoms picked.

    Parameters
    ----------
    sigma : noise level; None for `path.noise_level`, and then the choice is made when the path is complete
    eta : probability with which noise is taken for signal, between 0 and 1
    """

    sigma: float | None = None
    eta: float = 0.05
    name = "tr4"
    needs_correlation = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < check_number("eta", self.eta, low=0, strict=True) < 1:
            raise ValueError(f"eta={self.eta!r} is too large; give a number between 0 and 1.")

    def value(self, path: Any, k: int) -> float:
        """The largest correlation; NaN where not known."""
        return float(path.correlation[k] * np.sqrt(row_scale(path)))

    def bound(self, path: Any) -> float:
        """The correlation that noise reaches."""
        if np.isnan(path.correlation).all():
            raise ValueError(
                "stop='tr4' needs the correlation of every atom with the residual; "
                "fit with selection='correlation' or 'gain' over all candidates."
            )
        reach = noise_reach(np.log(2 * path.n_candidates / self.eta), path.n_targets)
        sigma = noise_level(path, self.sigma)
        return -1.0 if np.isinf(sigma) else float(sigma * np.sqrt(reach))

    def tell(self, path: Any, k: int) -> str:
        """The largest correlation."""
        return f"the largest correlation {self.value(path, k):.3g}"
