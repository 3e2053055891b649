"""The gap to the exact Gaussian process along a path, beside its certificate and the bounds of theorems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_flag, check_number, check_option
from kernelpursuit.bounds.duality import best_dual
from kernelpursuit.bounds.greedy import orthogonal_greedy_gap
from kernelpursuit.bounds.orthogonality import check_reference, rho
from kernelpursuit.bounds.training import Problem, check_problem, fitted_with, model_weights
from kernelpursuit.bounds.zhang import zhang_corollary_5_1, zhang_theorem_5_1, zhang_theorem_6_1
from kernelpursuit.estimators import KernelPursuitRegressor
from kernelpursuit.pursuit.selection import AUTO_CANDIDATES
from kernelpursuit.updates import Orthogonal, Rescale, as_update

# Most rows for which exact="auto" solves the exact problem, and for which rho is computed.
EXACT_UP_TO = 4000
RHO_UP_TO = 1000

# The arrays of a report in the order of a table: the gap itself, its certificate, then bounds from tight to loose.
COLUMNS = (
    "risk",
    "rounding",
    "actual",
    "certificate",
    "greedy",
    "theorem_6_1",
    "theorem_5_1",
    "corollary_5_1",
)


@dataclass(frozen=True)
class GapReport:
    """Gaps to the exact Gaussian process and their bounds, for k = 0, 1, ... atoms, in the units of Zhang's R.

    Attributes
    ----------
    risk : array of shape (n_atoms + 1,)
        `R(f_k)`.
    rounding : array of shape (n_atoms + 1,)
        Bound on the rounding error of `risk`; large where coefficients are so large that the norm of the function is
        lost to cancellation.
    actual : array of shape (n_atoms + 1,) or None
        `R(f_k) - min R`; None where the exact solution was not computed.
    certificate : array of shape (n_atoms + 1,)
        Duality gap `R(f_k) - Q` with the dual point of the model kept, plus rounding errors: an upper bound on the gap.
    theorem_5_1, corollary_5_1 : arrays of shape (n_atoms + 1,) or None
        Zhang's bounds; None where they do not cover the model, see `guarantee`.
    theorem_6_1 : array of shape (n_atoms + 1,) or None
        Zhang's bound from the reference atoms; None where rho was not computed.
    greedy : array of shape (n_atoms + 1,) or None
        DeVore and Temlyakov's bound from the exact coefficients; None where those were not computed, or where the fit
        does not refit all coefficients.
    exact_risk : float or None
        `min R`.
    dual : float
        `Q`, a lower bound of `min R`.
    rho : float or None
        Zhang's rho of the reference atoms.
    guarantee : str
        "every run", "on average" (Theorem 5.1 bounds the expectation over the draws), or "none"; then why.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.bounds import gap_report
    >>> from kernelpursuit.data import make_chirp
    >>> settings = {"kernel": "rbf", "gamma": 1.0, "penalty": "rkhs", "alpha": 0.1, "fit_intercept": False}
    >>> X, y = make_chirp(100)
    >>> report = gap_report(KernelPursuitRegressor(max_atoms=10, **settings).fit(X, y), X, y)
    >>> list(report.columns())
    ['k', 'risk', 'rounding', 'actual', 'certificate', 'greedy', 'theorem_6_1', 'theorem_5_1', 'corollary_5_1']
    >>> bool((report.actual <= report.certificate).all())
    True
    """

    risk: np.ndarray
    rounding: np.ndarray
    actual: np.ndarray | None
    certificate: np.ndarray
    theorem_5_1: np.ndarray | None
    corollary_5_1: np.ndarray | None
    theorem_6_1: np.ndarray | None
    greedy: np.ndarray | None
    exact_risk: float | None
    dual: float
    rho: float | None
    guarantee: str

    def columns(self) -> dict[str, np.ndarray]:
        """The arrays that are not None, by name, each with one entry for every k."""
        arrays = {name: getattr(self, name) for name in COLUMNS}
        return {"k": np.arange(len(self.risk))} | {name: a for name, a in arrays.items() if a is not None}

    def __repr__(self) -> str:
        """Show up to nine sizes as a table."""
        table = self.columns()
        last = len(self.risk) - 1
        sizes = np.unique(np.round(np.linspace(0, last, 9)).astype(int))
        lines = ["".join(f"{name:>15}" for name in table)]
        for k in sizes:
            lines.append(f"{k:>15d}" + "".join(f"{table[name][k]:>15.4g}" for name in table if name != "k"))
        return "\n".join([f"GapReport, guarantee: {self.guarantee}", *lines])


def gap_report(
    model: KernelPursuitRegressor,
    X: Matrix,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    exact: bool | str = "auto",
    reference: ArrayLike | None = None,
    n_iterations: int = 0,
) -> GapReport:
    """Compare every model on a path with the exact Gaussian process, and its gap with the bounds of theorems.

    Parameters
    ----------
    model : KernelPursuitRegressor
        Fitted with `penalty="rkhs"`, `fit_intercept=False` and one Mercer kernel at the training rows.
    X, y : arrays
        What it was fitted on; several targets count together.
    sample_weight : array of shape (n_samples,), optional
        The weights of the fit.
    exact : {"auto", True, False}
        Whether to solve the exact problem; "auto" does for up to 4,000 rows. Without the exact solution, Theorem 5.1
        takes the bounds on the exact risk from the path and the certificate, and stays valid.
    reference : array of int, optional
        Training rows whose atoms Theorem 6.1 compares with; those of the model by default. It is computed up to 1,000
        rows, with the exact solution.
    n_iterations : int
        Conjugate gradient steps for the certificate.

    Returns
    -------
    GapReport

    Notes
    -----
    Without the exact solution, one pass over the kernel matrix and O(n n_atoms²) for the risks, in O(n + n_atoms²)
    memory and tiles. The exact solution adds O(n³) time and O(n²) memory, and so does rho.

    Several targets are summed, and rows are averaged with their sample weights. Theorems on random draws take no sample
    weights, since draws are uniform.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.bounds import gap_report
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp(200)
    >>> settings = {"penalty": "rkhs", "alpha": 0.1, "fit_intercept": False, "max_atoms": 10}
    >>> model = KernelPursuitRegressor(kernel="rbf", gamma=1.0, **settings)
    >>> report = gap_report(model.fit(X, y), X, y)
    >>> report.guarantee
    'every run'
    >>> bool((report.actual <= report.greedy).all() and (report.greedy <= report.theorem_5_1).all())
    True
    """
    check_number("n_iterations", n_iterations, low=0, integer=True)
    exact = check_option("exact", exact, ("auto",)) if isinstance(exact, str) else check_flag("exact", exact)
    problem = check_problem(model, X, y, sample_weight)
    n_rows = len(problem.y)
    guarantee = _guarantee(model, problem)
    risk, rounding = problem.risks([model_weights(model.at(k)) for k in range(len(model.path_) + 1)])
    dual, dual_rounding = best_dual(problem, *model_weights(model), n_iterations)
    solve = n_rows <= EXACT_UP_TO if exact == "auto" else exact
    solution = _Exact(problem) if solve else None
    if solution is not None:
        dual = min(dual, solution.risk)
    k = np.arange(len(risk))
    start, M, alpha = float(risk[0]), problem.largest_norm, problem.alpha
    at_most = max(0.0, float(np.min(risk + rounding))) if solution is None else solution.risk
    gap_at_zero = max(0.0, start - (dual - dual_rounding if solution is None else solution.risk))
    refitted = guarantee == "every run" and isinstance(as_update(fitted_with(model, "update")), Orthogonal)
    bounds: dict[str, Any] = dict.fromkeys(("theorem_5_1", "corollary_5_1", "theorem_6_1", "greedy"))
    found = None
    if not guarantee.startswith("none"):
        bounds["theorem_5_1"] = zhang_theorem_5_1(k, gap_at_zero, at_most, largest_norm=M, alpha=alpha)
        bounds["corollary_5_1"] = zhang_corollary_5_1(k, start, M, alpha)
    if refitted and solution is not None:
        bounds["greedy"] = orthogonal_greedy_gap(k, gap_at_zero, solution.l1_norm)
        wanted = model.center_indices_ if reference is None else check_reference(reference, n_rows)
        if n_rows <= RHO_UP_TO and len(wanted):
            found, gap = solution.compare(np.unique(wanted))
            bounds["theorem_6_1"] = zhang_theorem_6_1(
                k, gap_at_zero, gap, n_reference=len(np.unique(wanted)), rho=found
            )
    return GapReport(
        risk=risk,
        rounding=rounding,
        actual=None if solution is None else risk - solution.risk,
        certificate=np.maximum(0.0, risk - dual) + rounding + dual_rounding,
        exact_risk=None if solution is None else solution.risk,
        dual=dual,
        rho=found,
        guarantee=guarantee,
        **bounds,
    )


class _Exact:
    """The exact solution, by one factorisation of the n x n matrix B; see `Problem`."""

    def __init__(self, problem: Problem):
        self.problem = problem
        numbers = problem.numbers
        self.K = problem.atoms.block(problem.rows, numbers, n_threads=problem.n_threads)
        B = problem.root * self.K * problem.root.T
        B[np.diag_indices_from(B)] += problem.n * problem.alpha
        try:
            factor = scipy.linalg.cho_factor(B, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            raise ValueError(
                f"alpha={problem.alpha!r} is too small to solve the exact problem in double precision; use exact=False."
            ) from None
        self.beta = scipy.linalg.cho_solve(factor, problem.b, check_finite=False)
        # The dual value is stationary in beta: of all formulas for min R, its error alone is of second order.
        self.risk = problem.dual_value(self.beta, problem.times(self.beta))[0]

    @property
    def l1_norm(self) -> float:
        """`sum_i |alpha_i| ||x_i||_G` over the exact weights."""
        problem = self.problem
        squares = np.square(self.K) @ problem.s / problem.n + problem.alpha * self.K.diagonal()
        return float(np.linalg.norm(problem.root * self.beta, axis=1) @ np.sqrt(squares))

    def compare(self, reference: np.ndarray) -> tuple[float, float]:
        """Rho of the reference atoms, and the gap of the best function made of them."""
        problem, columns = self.problem, self.K[:, reference]
        inner = (self.K * problem.s) @ self.K.T / problem.n + problem.alpha * self.K
        target = columns.T @ (problem.s[:, None] * problem.y) / problem.n
        weights = np.linalg.lstsq(inner[np.ix_(reference, reference)], target, rcond=None)[0]
        (risk,), (rounding,) = problem.risks([(reference, weights)])
        # Any function of these atoms is a valid reference, so rounding of the best one does no harm.
        return rho(inner, reference), max(0.0, float(risk - self.risk)) + float(rounding)


def _guarantee(model: KernelPursuitRegressor, problem: Problem) -> str:
    """Whether Theorem 5.1 covers the model's settings: "every run", "on average", or "none" and why."""
    n_rows = len(problem.y)
    update, selection = as_update(fitted_with(model, "update")), fitted_with(model, "selection")
    refits, rescales = isinstance(update, Orthogonal), isinstance(update, Rescale)
    if fitted_with(model, "exchange"):
        return "none, since exchange is not among Zhang's algorithms"
    if fitted_with(model, "held_out") is not None:
        return "none, since rows were held out of the fit"
    if not (refits or rescales):
        return f"none, since update={update!r} is not among Zhang's algorithms"
    # With refits, the proof holds for selection by correlation as well: `w' (G w - z)` is zero, so the step needs no
    # scaling of the old coefficients.
    greedy = selection == "gain" or (refits and selection == "correlation")
    if not greedy and selection != "random":
        return f"none, since selection={selection!r} is not among Zhang's algorithms"
    if (fitted_with(model, "shortlist") or 1) > 1:
        return "none, since with a shortlist not all atoms are looked at in each step"
    candidates = fitted_with(model, "candidates")
    if isinstance(candidates, str):
        looks_at_all = candidates == "all" or n_rows <= AUTO_CANDIDATES
    elif isinstance(candidates, (int, np.integer)):
        looks_at_all = int(candidates) >= n_rows
    else:
        return "none, since candidates names the atoms to look at"
    if greedy and looks_at_all:
        return "every run"
    if np.ptp(problem.s) > 0:
        return "none, since sample_weight and uniform draws do not go together"
    return "on average"
