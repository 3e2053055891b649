"""What rules read off a path: residual sums, numbers of observations, the reach of noise."""

from __future__ import annotations

import numpy as np

from kernelpursuit._types import Path

# Fewer degrees of freedom left than this fraction of the rows are none but for rounding, as in `path.noise_variance`.
NONE_LEFT = 1e-6
# Whose residuals a criterion may take.
RESIDUALS = ("function", "columns")


def observations(path: Path) -> float:
    """Number of values that were fitted: rows times targets."""
    return path.n_units * path.n_targets


def parameters(path: Path) -> np.ndarray:
    """Effective degrees of freedom over all targets, shape (n_steps + 1,)."""
    return path.dof * path.n_targets


def weights_fitted(path: Path) -> np.ndarray:
    """Weights of the atoms and of the fixed columns over all targets, shape (n_steps + 1,)."""
    return (path.n_fixed + path.size) * path.n_targets


def row_scale(path: Path) -> float:
    """What turns weighted sums of squares into sums over rows: 1, but where weights are below one."""
    return path.n_units / path.total_weight


def residual_sum(path: Path, of: str = "function") -> np.ndarray:
    """Sum of squared residuals over rows and targets, shape (n_steps + 1,).

    `of` is one of `RESIDUALS`: the functions that predict, or the columns that were fitted. A nugget tells them apart.
    """
    fitted = of == "columns" and path.column_residual is not None
    return (path.column_residual if fitted else path.target_residual).sum(axis=1) * row_scale(path)


def log_residual_sum(path: Path, of: str = "function") -> np.ndarray:
    """Its logarithm; -inf where nothing is left."""
    with np.errstate(divide="ignore"):
        return np.log(residual_sum(path, of))


def over_what_is_left(numerator: np.ndarray, left: np.ndarray, n: float) -> np.ndarray:
    """`numerator / left`, infinite where no degrees of freedom are left of n."""
    some = left > NONE_LEFT * n
    return np.divide(numerator, left, out=np.full(np.shape(left), np.inf), where=some)


def noise_reach(log_count: float | np.ndarray, n_targets: int) -> float | np.ndarray:
    """What the largest of `exp(log_count)` sums of T squared normal variables of variance one stays below.

    `2 t + 2 sqrt((T - 1) t) + T - 1` with t = `log_count`. For one target it is the `2 log n` of Hagiwara's eq. 26;
    for more, the tail of chi-squared with T degrees of freedom above it is below that of one degree above 2 t (after
    Laurent and Massart, Annals of Statistics 28, 2000, lemma 1).
    """
    return 2 * log_count + 2 * np.sqrt((n_targets - 1) * log_count) + n_targets - 1


def noise_level(path: Path, sigma: float | None) -> float:
    """The noise level given, or that on the path; infinite where neither is known."""
    if sigma is not None:
        return sigma
    level = path.noise_level
    return level if np.isfinite(level) else np.inf
