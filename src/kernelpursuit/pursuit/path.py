"""What happened, step by step, and the models of every size that it leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular


@dataclass
class PursuitPath:
    """The path of a pursuit: arrays with one entry for every number of atoms k = 0, 1, ..., n_atoms.

    Attributes
    ----------
    atom : array of shape (n_atoms,)
        Atom picked at each step.
    cost : array of shape (n_atoms + 1,)
        Penalised cost `||y - D w||² + w' L w`.
    residual_norm : array of shape (n_atoms + 1,)
        Root of the weighted sum of squared residuals; with a nugget, of the columns that carry it.
    dof : array of shape (n_atoms + 1,)
        Effective degrees of freedom, the sum of the leverages; the intercept counts.
    loo : array of shape (n_atoms + 1,)
        Mean squared leave-one-out error with the picked atoms held fixed; infinite where a row is interpolated.
    loo_se : array of shape (n_atoms + 1,)
        Standard error of `loo` over rows.
    validation : array of shape (n_atoms + 1,) or None
        Mean squared error on held-out rows.
    skipped : list of (k, atom)
        Atoms left out for good after k picks, since they were numerically dependent on the picked ones.
    end_reason : str
        Why the loop ended.
    R, b : arrays
        The triangular factor and the coefficients of the orthonormal directions: the weights of the model with k
        atoms solve `R_k w = b_k` over the leading k directions.
    n_fixed : int
        Leading columns of R that were in the model from the start (1 with an intercept).
    total_weight : float
        Sum of the sample weights.
    n_units : float
        Number of rows, those of a weight above one counted by it.
    target_residual : array of shape (n_atoms + 1, n_targets)
        Weighted sum of squared residuals of the function that predicts, for each target.
    n_floored : int
        Picked atoms whose part of the penalty was lost to rounding and set to what rounding leaves.
    """

    atom: np.ndarray
    cost: np.ndarray
    residual_norm: np.ndarray
    dof: np.ndarray
    loo: np.ndarray
    loo_se: np.ndarray
    R: np.ndarray
    b: np.ndarray
    n_fixed: int
    total_weight: float
    n_units: float
    target_residual: np.ndarray
    validation: np.ndarray | None = None
    skipped: list[tuple[int, int]] = field(default_factory=list)
    n_floored: int = 0
    end_reason: str = ""

    @property
    def n_atoms(self) -> int:
        """Number of atoms at the end of the path."""
        return len(self.atom)

    def __len__(self) -> int:
        """Number of atoms at the end of the path."""
        return self.n_atoms

    def check_size(self, k: Any) -> int:
        """Return `k` if it is a number of atoms on this path."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise ValueError(f"k={k!r} is not usable; give a whole number of atoms.")
        if not 0 <= k <= self.n_atoms:
            raise ValueError(f"k={k} is not on the path; it has models with 0 to {self.n_atoms} atoms.")
        return int(k)

    def weights(self, k: int) -> np.ndarray:
        """Weights of the fixed columns and the first k atoms, shape (n_fixed + k, n_targets)."""
        size = self.n_fixed + self.check_size(k)
        if not size:
            return self.b[:0]
        return solve_triangular(self.R[:size, :size], self.b[:size], check_finite=False)

    def coef(self, k: int) -> np.ndarray:
        """Weights of the first k atoms, shape (k, n_targets)."""
        return self.weights(k)[self.n_fixed :]

    def intercept(self, k: int) -> np.ndarray:
        """Intercept of the model with k atoms, shape (n_targets,); zero without one."""
        return self.weights(k)[0] if self.n_fixed else np.zeros(self.b.shape[1])

    def noise_variance(self, k: int) -> np.ndarray:
        """`RSS / (n - dof)` for every target; NaN where the model has as many degrees of freedom as rows.

        Where weights are below one, n is the number of rows and RSS is scaled to it.
        """
        free = self.n_units - self.dof[k]
        if free <= 1e-6 * self.n_units:
            return np.full(self.b.shape[1], np.nan)
        return self.target_residual[k] * (self.n_units / self.total_weight) / free

    def with_validation(self, validation: np.ndarray) -> PursuitPath:
        """Return this path with errors on held-out rows."""
        return replace(self, validation=validation)

    def columns(self) -> dict[str, np.ndarray]:
        """The path as named columns of equal length; the atom of k = 0 is -1."""
        table = {
            "k": np.arange(self.n_atoms + 1),
            "atom": np.concatenate([[-1], self.atom]),
            "cost": self.cost,
            "residual_norm": self.residual_norm,
            "dof": self.dof,
            "loo": self.loo,
            "loo_se": self.loo_se,
        }
        return table if self.validation is None else {**table, "validation": self.validation}

    def to_frame(self) -> Any:
        """Return the path as a pandas DataFrame with one row for every k."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install 'kernelpursuit[io]'.") from None
        return pd.DataFrame(self.columns()).set_index("k")

    def __repr__(self) -> str:
        """Show size, least leave-one-out error and the end."""
        least = int(np.argmin(self.loo))
        return f"PursuitPath({self.n_atoms} atoms, least leave-one-out error at {least}; {self.end_reason})"
