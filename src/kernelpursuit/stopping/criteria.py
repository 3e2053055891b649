"""The least of a criterion of residuals and degrees of freedom.

n is the number of rows, l the effective degrees of freedom (the sum of the leverages, the intercept counted) and RSS
the sum of squared residuals. T targets count as n T observations and l T degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit._types import Path
from kernelpursuit._validate import check_number, check_option
from kernelpursuit.stopping.base import LeastRule
from kernelpursuit.stopping.measures import (
    RESIDUALS,
    log_residual_sum,
    observations,
    over_what_is_left,
    parameters,
    residual_sum,
    weights_fitted,
)


@dataclass(repr=False)
class MDL(LeastRule):
    """Keep the least description length, `n/2 log RSS + l/2 log n` (Nair eq. 10; half of the BIC).

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it
    residual : whose residuals RSS sums under `penalty="nugget"`: those of the "function" that predicts, or of the
        "columns" of K + alpha I that are fitted, as Nair's section 5 reads. Without a nugget they are the same.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import MDL
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=MDL(patience=10)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '28 atoms: MDL is least there, of 38 tried'
    """

    patience: int | None = None
    residual: str = "function"
    name = "mdl"
    label = "MDL"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("residual", self.residual, RESIDUALS)

    def curve(self, path: Path) -> np.ndarray:
        """The description length."""
        n = observations(path)
        return n / 2 * log_residual_sum(path, self.residual) + parameters(path) / 2 * np.log(n)


@dataclass(repr=False)
class AIC(LeastRule):
    """Keep the least small-sample AIC, `n/2 log RSS + c/2 (1 + l/n) / (1 - (l + 2)/n)`; infinite where l + 2 >= n.

    c is n in the criterion of Sugiura (1978; also Hurvich and Tsai, 1989), and l as Nair's eq. 11 prints it.

    Parameters
    ----------
    variant : {"corrected", "nair"}
    patience : steps without a new least after which the loop ends; None never ends it
    residual : {"function", "columns"}, as for `MDL`

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import AIC
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=AIC()).fit(*make_chirp(200))
    >>> model.stop_reason_
    '40 atoms: AIC is least there, of 60 tried'
    """

    variant: str = "corrected"
    patience: int | None = None
    residual: str = "function"
    name = "aic"
    label = "AIC"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("variant", self.variant, ("corrected", "nair"))
        check_option("residual", self.residual, RESIDUALS)

    def curve(self, path: Path) -> np.ndarray:
        """The criterion of the variant."""
        n, size = observations(path), parameters(path)
        factor = size if self.variant == "nair" else n
        penalty = over_what_is_left(factor / 2 * (n + size), n - size - 2, n)
        return np.add(n / 2 * log_residual_sum(path, self.residual), penalty, out=penalty, where=np.isfinite(penalty))


@dataclass(repr=False)
class FPE(LeastRule):
    """Keep the least final prediction error, `RSS (n + l) / (n - l)` (Akaike 1969); infinite where l >= n.

    Akaike has no penalty, under which l is the number of weights. With one, an atom whose weight is held back takes
    less than a whole degree of freedom; Hagiwara, who compares this rule with others, does not say which l he takes.

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it
    counts : what l counts: "dof", the effective degrees of freedom, or "atoms", every atom and fixed column as one.
        Without a penalty they are the same.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import FPE
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=FPE(patience=10)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '40 atoms: FPE is least there, of 50 tried'
    """

    patience: int | None = None
    counts: str = "dof"
    name = "fpe"
    label = "FPE"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("counts", self.counts, ("dof", "atoms"))

    def curve(self, path: Path) -> np.ndarray:
        """The final prediction error, times n."""
        n, size = observations(path), parameters(path) if self.counts == "dof" else weights_fitted(path)
        return over_what_is_left(residual_sum(path) * (n + size), n - size, n)


@dataclass(repr=False)
class HDAIC(LeastRule):
    """Keep the least high-dimensional AIC, `n log(RSS / n) + 2 l log n` (Ing and Lai 2011, as Xu sec. 3.1 prints it).

    Parameters
    ----------
    patience : steps without a new least after which the loop ends; None never ends it

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import HDAIC
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=HDAIC()).fit(*make_chirp(200))
    >>> model.stop_reason_
    '28 atoms: HDAIC is least there, of 60 tried'
    """

    patience: int | None = None
    name = "hdaic"
    label = "HDAIC"

    def curve(self, path: Path) -> np.ndarray:
        """The criterion."""
        n = observations(path)
        return n * (log_residual_sum(path) - np.log(n)) + 2 * parameters(path) * np.log(n)


@dataclass(repr=False)
class TR1(LeastRule):
    """Keep the least `RSS + kappa l log n` (Barron et al. 2008, Xu eq. 1.3).

    The bound behind it holds for `kappa = 2568 M⁴ (a + 5)`, with targets of at most M in size among n^a atoms: so
    large that hardly any atom is kept below hundreds of thousands of rows (Xu sec. 3.2). It has units: give targets
    of a size about one, or a `kappa` of your own.

    Parameters
    ----------
    kappa : weight of the penalty; None for the above
    bound : M; None for the largest absolute target
    patience : steps without a new least after which the loop ends; None never ends it

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import TR1
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=TR1(kappa=0.02)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '40 atoms: TR1 is least there, of 60 tried'
    """

    kappa: float | None = None
    bound: float | None = None
    patience: int | None = None
    name = "tr1"
    label = "TR1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kappa is not None:
            check_number("kappa", self.kappa, low=0)
        if self.bound is not None:
            check_number("bound", self.bound, low=0, strict=True)
        if self.kappa is not None and self.bound is not None:
            raise ValueError(f"bound={self.bound!r} would be ignored beside kappa={self.kappa!r}; give one of the two.")

    def weight(self, path: Path) -> float:
        """The kappa that is used on a path."""
        if self.kappa is not None:
            return self.kappa
        largest = path.largest_target if self.bound is None else self.bound
        n = path.n_units
        power = max(1.0, np.log(path.n_candidates) / np.log(n)) if n > 1 else 1.0
        return float(min(np.float64(2568 * (power + 5)) * min(largest, 1e70) ** 4, 1e290))

    def curve(self, path: Path) -> np.ndarray:
        """The penalised sum of squares."""
        return residual_sum(path) + self.weight(path) * parameters(path) * np.log(observations(path))
