"""What happened, step by step, and the models of every size that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kernelpursuit.pursuit.models import Factor, Models
from kernelpursuit.pursuit.reducers import LEVELS

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a path by name, and the value of one model in each.
Entry: TypeAlias = dict[str, float | np.ndarray]
# Arrays with one entry for every size, from none on.
EVERY_SIZE = (
    *("size", "cost", "residual_norm", "dof", "loo", "loo_se", "rcond", "correlation", "target_residual"),
    *("column_residual", "validation", "loo_error", "validation_error", "inverse_temperature", "loo_quantiles"),
    *("cv", "cv_error"),
)


@dataclass
class Replay:
    """Steps for a loop to take before it decides for itself: atoms to pick, and what else is known of them.

    correlation, skipped, swaps   as in `PursuitPath`; where it is not known, the correlation is NaN
    in_blocks   whether the fit may prepare for many atoms at once: that is faster, and rounds in another way
    """

    atom: np.ndarray
    correlation: np.ndarray
    in_blocks: bool = False
    skipped: list[tuple[int, int]] = field(default_factory=list)
    swaps: list[tuple[int, int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, path: PursuitPath) -> Replay:
        """The steps of a path."""
        return cls(path.atom, path.correlation, skipped=path.skipped, swaps=path.swaps)

    @classmethod
    def in_blocks_of(cls, atoms: np.ndarray) -> Replay:
        """Atoms one after the other, of which nothing else is known."""
        return cls(atoms, np.full(len(atoms), np.nan), in_blocks=True)

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        return len(self.atom)

    def until_last_pass(self) -> Replay:
        """The steps up to the last one that was decided with all atoms scored.

        What the shortlist was after it is found only by taking the steps after it again.
        """
        scored = np.flatnonzero(~np.isnan(self.correlation[: self.n_steps]))
        return replace(self, atom=self.atom[: scored[-1] if len(scored) else 0])


@dataclass
class PursuitPath:
    """The path of a pursuit: arrays with one entry for the model after k = 0, 1, ..., n_steps steps.

    Several targets are fitted in units of their standard deviations where something was learned: criteria that sum over
    them (`cost`, `residual_norm`, `loo`, `validation`, `cv`, `correlation`, `largest_target`, `noise_level`) are in
    these units, and what belongs to one target, as its weights, is in its own.

    A step picks one atom. Where an atom cannot be picked again, the model after k steps has k atoms; under
    `update="stagewise"` and `"rescale"`, which may pick an atom again, it has at most k (see `size`).

    Attributes
    ----------
    atom : array of shape (n_steps,)
        Atom picked at each step.
    size : array of shape (n_steps + 1,)
        Number of atoms in each model.
    cost : array of shape (n_steps + 1,)
        Penalised cost `||y - D w||² + w' L w`.
    residual_norm : array of shape (n_steps + 1,)
        Root of the weighted sum of squared residuals; with a nugget, of the columns that carry it.
    dof : array of shape (n_steps + 1,)
        Effective degrees of freedom, the intercept counted: the sum of the leverages, or where weights are not
        refitted, the number of atoms.
    loo : array of shape (n_steps + 1,) or None
        Mean squared leave-one-out error with the picked atoms held fixed; infinite where a row is interpolated. None
        where weights are not refitted, since only then it has a closed form.
    loo_se : array of shape (n_steps + 1,) or None
        Standard error of `loo` over rows.
    loo_quantiles : array of shape (n_steps + 1, n_levels, n_targets) or None
        Quantiles of the absolute errors that rows, each left out, have; see `half_width`. For the squared loss. Where
        atoms were learned from 500 rows or more, of those rows alone that no atom was picked from. Of classes, under
        any loss, quantiles of how far the score of the true class is below the largest; see `score_gap`.
    validation : array of shape (n_steps + 1,) or None
        Mean squared error on held-out rows.
    cv : array of shape (n_steps + 1,) or None
        Mean squared error on the rows of each fold, of models fitted without it; NaN where a fold's path was shorter.
    rcond : array of shape (n_steps + 1,)
        Reciprocal condition number of `[Q, d / ||d||]`, the basis of the picked atoms and the next one; NaN without
        a basis, and at 0.
    correlation : array of shape (n_steps + 1,)
        The largest `|<j, r>| / sqrt(<j, j>)` over atoms j, with what each model leaves, r; without a penalty that is
        `|d_j' r| / ||d_j||`. NaN where not all atoms were scored, as between the passes of a shortlist.
    refits : dict
        By number of steps, what is known of a model whose weights were recomputed at the end: with `update="minres"`
        its cost, residual norm, degrees of freedom, target residual and validation error, and under another loss than
        the squared one its cost and residual norm. The arrays have those of the iterations.
    skipped : list of (k, atom)
        Atoms left out after k steps, since they were numerically dependent on the picked ones; for good, unless an
        exchange let one of those go.
    swaps : list of (k, leaving, coming)
        Atoms exchanged in step k.
    end_reason : str
        Why the loop ended.
    used : array
        All atoms that were ever picked, each once.
    models : Models
        Atoms and weights of every model; see `atoms`, `weights`, `coef`, `intercept`.
    n_fixed : int
        Columns that were in the model from the start: an intercept, then functions that are always in.
    intercept_is_fitted : bool
        Whether the first of them is the intercept.
    loss : str
        Name of the loss. Under another one than "squared", the cost is `sum_i s_i loss_i + w' L w`, the residual norm
        is the root of the sum, `loo` and `validation` are means of the loss, and `loo` is an approximation: one step of
        Newton's method, in the metric of the last refit, away from the weights without the row.
    loo_error, validation_error, cv_error : arrays of shape (n_steps + 1,) or None
        Fraction of the rows, left out, held out or in folds, that are put in a wrong class; for classifiers.
    inverse_temperature : array of shape (n_steps + 1,) or None
        What scores are multiplied by before they become probabilities, for classifiers whose loss has none of its own;
        with many rows, that of a model up to a tenth smaller.
    n_targets : int
        Number of targets.
    n_candidates : int
        Number of atoms that could be picked.
    n_features : int or None
        Number of features of a row; None where the dictionary was precomputed.
    largest_target : float
        Largest absolute target.
    total_weight : float
        Sum of the sample weights.
    n_units : float
        Number of rows, those of a weight above one counted by it.
    target_residual : array of shape (n_steps + 1, n_targets)
        Weighted sum of squared residuals of the function that predicts, for each target; under another loss than the
        squared one, those of the working response in the metric.
    column_residual : array of shape (n_steps + 1, n_targets) or None
        With a nugget, the same of the columns of `K + alpha I` that are fitted; without one, None.
    coherence : float or None
        The largest `|d_i' d_j| / (||d_i|| ||d_j||)` over two candidates; None where no rule asked for it.

    Examples
    --------
    >>> from kernelpursuit import pursuit_path
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp(200)
    >>> path = pursuit_path(X, y, gamma=3.0, max_atoms=60)
    >>> path.n_steps, int(path.loo.argmin())  # atoms picked; where the leave-one-out error is least
    (60, 40)
    >>> path.coef(5).shape  # weights of the model with 5 atoms
    (5, 1)
    """

    atom: np.ndarray
    size: np.ndarray
    cost: np.ndarray
    residual_norm: np.ndarray
    dof: np.ndarray
    loo: np.ndarray | None
    loo_se: np.ndarray | None
    rcond: np.ndarray
    correlation: np.ndarray
    used: np.ndarray
    models: Models
    n_fixed: int
    n_targets: int
    n_candidates: int
    n_features: int | None
    largest_target: float
    total_weight: float
    n_units: float
    target_residual: np.ndarray
    column_residual: np.ndarray | None = None
    coherence: float | None = None
    intercept_is_fitted: bool = False
    loss: str = "squared"
    validation: np.ndarray | None = None
    loo_error: np.ndarray | None = None
    validation_error: np.ndarray | None = None
    inverse_temperature: np.ndarray | None = None
    loo_quantiles: np.ndarray | None = None
    cv: np.ndarray | None = None
    cv_error: np.ndarray | None = None
    refits: dict[int, Mapping[str, float | np.ndarray]] = field(default_factory=dict)
    skipped: list[tuple[int, int]] = field(default_factory=list)
    swaps: list[tuple[int, int, int]] = field(default_factory=list)
    end_reason: str = ""

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.atom)

    def __len__(self) -> int:
        """Number of steps taken."""
        return self.n_steps

    def check_size(self, k: int) -> int:
        """Return `k` if it is a number of steps on this path."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise ValueError(f"k={k!r} is not usable; give a whole number of atoms (or steps).")
        if not 0 <= k <= self.n_steps:
            what = "atoms" if self.size[-1] == self.n_steps else "steps"
            raise ValueError(f"k={k} is not on the path; it has models with 0 to {self.n_steps} {what}.")
        return int(k)

    def members(self, k: int) -> np.ndarray:
        """Return the atoms of the model after k steps, by their place in `used`."""
        return self.models.members(self.check_size(k))

    def atoms(self, k: int) -> np.ndarray:
        """Return the atoms of the model after k steps, each once."""
        return self.used[self.members(k)]

    def weights(self, k: int) -> np.ndarray:
        """Return the coefficients of the fixed columns and of `atoms(k)`, shape (n_fixed + size[k], n_targets)."""
        return self.models.weights(self.check_size(k))

    def coef(self, k: int) -> np.ndarray:
        """Return the coefficients of `atoms(k)`, shape (size[k], n_targets)."""
        return self.weights(k)[self.n_fixed :]

    def intercept(self, k: int) -> np.ndarray:
        """Return the intercept of the model after k steps, shape (n_targets,); zero without one."""
        return self.weights(k)[0] if self.intercept_is_fitted else np.zeros(self.n_targets)

    def fixed_coef(self, k: int) -> np.ndarray:
        """Return the coefficients of the functions that are always in, shape (n_functions, n_targets)."""
        return self.weights(k)[int(self.intercept_is_fitted) : self.n_fixed]

    def factor(self, k: int) -> Factor:
        """Return the triangular factor R of the model after k steps, `R'R = D'D + L`."""
        factor = self.models.factor(self.check_size(k))
        if factor is None and self.loss != "squared":
            raise ValueError("Standard deviations need the squared loss; fit with loss='squared'.")
        if factor is None:
            raise ValueError("Standard deviations need weights that are refitted; fit with update='orthogonal'.")
        return factor

    def noise_variance(self, k: int) -> np.ndarray:
        """Return `RSS / (n - dof)` for every target; NaN if the model has as many degrees of freedom as rows.

        Where weights are below one, n is the number of rows and RSS is scaled to it.
        """
        refit = self.refits.get(k, {})
        free = self.n_units - refit.get("dof", self.dof[k])
        if free <= 1e-6 * self.n_units:
            return np.full(self.n_targets, np.nan)
        return refit.get("target_residual", self.target_residual[k]) * (self.n_units / self.total_weight) / free

    def half_width(self, k: int, coverage: float) -> np.ndarray:
        """Return half the constant width of intervals for a fraction of new targets, after k steps.

        The quantile of the absolute leave-one-out errors, shape (n_targets,); linear between the levels that are kept.
        """
        if self.loo_quantiles is None:
            raise ValueError("Intervals need leave-one-out errors; fit with loss='squared' and update='orthogonal'.")
        return np.array([np.interp(coverage, LEVELS, column) for column in self.loo_quantiles[self.check_size(k)].T])

    def score_gap(self, k: int, coverage: float) -> float:
        """Return the quantile of how far the true class's leave-one-out score is below the largest, after k steps."""
        if self.loo_quantiles is None:
            raise ValueError("Sets of classes need leave-one-out scores; fit with update='orthogonal'.")
        return float(np.interp(coverage, LEVELS, self.loo_quantiles[self.check_size(k), :, 0]))

    def calibrated(self, k: int, inverse_temperature: float | None, quantiles: np.ndarray) -> PursuitPath:
        """Return the path with what validation rows say of the classes that the model after k steps names.

        Models of other sizes are as much less sure than their leave-one-out scores as this one is.
        """
        factors, known = self.inverse_temperature, self.loo_quantiles
        if factors is not None and inverse_temperature is not None and factors[k] > 0:
            factors = factors * (inverse_temperature / factors[k])
        if known is not None and np.isfinite(known[k]).all():
            known = np.maximum.accumulate(np.maximum(known + (quantiles - known[k]), 0.0), axis=1)
        return replace(self, inverse_temperature=factors, loo_quantiles=known)

    @property
    def noise_level(self) -> float:
        """Estimated standard deviation of the noise: the root of the least leave-one-out error on the path.

        Where there is none, of the least `RSS / (n - dof)`. Rules that need a noise level take this one, unless they
        are given another. Several targets are taken together. NaN under another loss than the squared one.
        """
        if self.loss != "squared":
            return np.nan
        if self.loo is not None:
            return float(np.sqrt(self.loo.min()))
        variances = np.array([self.noise_variance(k).mean() for k in range(self.n_steps + 1)])
        return float(np.sqrt(np.nanmin(variances))) if np.isfinite(variances).any() else np.nan

    def in_units(self, units: np.ndarray) -> PursuitPath:
        """Return this path, of targets that were divided by these units, with models of the targets themselves.

        What is known of every target alone is in its own units then; criteria that sum over targets stay as they are.
        """
        quantiles = None if self.loo_quantiles is None else self.loo_quantiles * units
        columns = None if self.column_residual is None else self.column_residual * np.square(units)
        return replace(
            self,
            models=self.models.in_units(units),
            target_residual=self.target_residual * np.square(units),
            column_residual=columns,
            loo_quantiles=quantiles,
        )

    def first(self, k: int) -> PursuitPath:
        """Return the path of only the first k steps; its arrays are views of those of this one."""
        k = self.check_size(k)
        cut: dict[str, Any] = {
            name: values[: k + 1] for name in EVERY_SIZE if (values := getattr(self, name)) is not None
        }
        return replace(
            self,
            **cut,
            atom=self.atom[:k],
            used=self.used[: self.models.n_places(k)],
            models=self.models.first(k),
            refits={step: refit for step, refit in self.refits.items() if step <= k},
            skipped=[entry for entry in self.skipped if entry[0] <= k],
            swaps=[entry for entry in self.swaps if entry[0] <= k],
        )

    def columns(self) -> dict[str, np.ndarray]:
        """Return the path as named columns of equal length; the atom of k = 0 is -1."""
        table = {
            "k": np.arange(self.n_steps + 1),
            "atom": np.concatenate([[-1], self.atom]),
            "size": self.size,
            "cost": self.cost,
            "residual_norm": self.residual_norm,
            "dof": self.dof,
        }
        for name in (
            *("loo", "loo_se", "loo_error", "validation", "validation_error", "cv", "cv_error"),
            *("rcond", "correlation", "inverse_temperature"),
        ):
            values = getattr(self, name)
            if values is not None and not np.isnan(values).all():
                table[name] = values
        return table

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a pandas DataFrame with one row for every k."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install 'kernelpursuit[io]'.") from None
        return pd.DataFrame(self.columns()).set_index("k")

    def __repr__(self) -> str:
        """Show size, least leave-one-out error and the end."""
        least = "" if self.loo is None else f", least leave-one-out error at {int(np.argmin(self.loo))}"
        steps = "" if self.size[-1] == self.n_steps else f" in {self.n_steps} steps"
        return f"PursuitPath({self.size[-1]} atoms{steps}{least}; {self.end_reason})"
