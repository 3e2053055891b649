"""Experiments of Zhang (2002), section 8: how fast sparse Gaussian processes come close to the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelpursuit import presets
from kernelpursuit.bounds import GapReport, gap_report
from reproduce.experiment import Measured

# The figures' names for the three algorithms.
GREEDY, RANDOM, KAPPA = "greedy", "random", "kappa-greedy"
ROW = "first experiment"


def convergence(
    repetition: int,
    *,
    n_rows: int,
    n_features: int,
    density: float,
    alpha: float,
    kappa: int,
    n_steps: int,
    n_runs: int,
) -> Measured:
    """Figures 1 and 2: the gap to the exact process against the number of terms, on one draw of sparse data.

    Parameters
    ----------
    repetition : int
        Seed of the data.
    n_rows, n_features : int
        Shape of the data.
    density : float
        Probability that an input is not zero.
    alpha : float
        The paper's lambda.
    kappa : int
        Candidates a step of Algorithm 3.
    n_steps : int
        Steps of each algorithm.
    n_runs : int
        Runs of those that draw at random.
    """
    X, y = _sparse_inputs(np.random.default_rng(repetition), n_rows, n_features, density)
    found = _runs(X, y, alpha, kappa, n_steps, n_runs, repetition)
    report = _report(found[GREEDY][0], X, y)
    return Measured(
        cells={(ROW, "R(w^)"): _exact_risk(report), (ROW, "Delta R(0)"): float(report.risk[0]) - _exact_risk(report)},
        curves={
            "theorem 5.1": _array(report.theorem_5_1),
            **{f"terms, {name}": [_terms(model) for model in models] for name, models in found.items()},
            **{f"gap, {name}": [_gaps(model, report) for model in models] for name, models in found.items()},
        },
    )


def rates(
    repetition: int,
    *,
    inputs: str,
    n_rows: int,
    n_features: int,
    alphas: Sequence[float],
    kappa: int,
    n_terms: int,
    n_runs: int,
    density: float = 0.01,
) -> Measured:
    """Figures 3 and 4: the gap of a fixed number of terms as a part of that of none, for several alpha.

    Parameters
    ----------
    repetition : int
        Seed of the data.
    inputs : {"sparse", "alike"}
        Data of figure 3, nearly all zeros, or of figure 4, all near one.
    n_rows, n_features : int
        Shape of the data.
    alphas : sequence of float
        Values of the paper's lambda.
    kappa : int
        Candidates a step of Algorithm 3.
    n_terms : int
        Steps of each algorithm.
    n_runs : int
        Runs of those that draw at random.
    density : float
        Probability that an input of the sparse data is not zero.
    """
    generator = np.random.default_rng(repetition)
    if inputs == "sparse":
        X, y = _sparse_inputs(generator, n_rows, n_features, density)
    else:
        X, y = generator.uniform(0.9, 1.1, (n_rows, n_features)), generator.uniform(0, 2, n_rows)
    curves: dict[str, list[Any]] = {name: [] for name in (GREEDY, RANDOM, KAPPA, "theorem 5.1")}
    for alpha in alphas:
        found = _runs(X, y, alpha, kappa, n_terms, n_runs, repetition)
        report = _report(found[GREEDY][0], X, y)
        none = float(report.risk[0]) - _exact_risk(report)
        for name, models in found.items():
            curves[name].append(float(np.mean([_gaps(model, report)[-1] for model in models])) / none)
        curves["theorem 5.1"].append(float(_array(report.theorem_5_1)[-1]) / none)
    return Measured(curves=curves)


def _sparse_inputs(
    generator: np.random.Generator, n_rows: int, n_features: int, density: float
) -> tuple[sp.csr_array, np.ndarray]:
    """Inputs that are nearly all zero, and a linear target with noise."""
    shape = (n_rows, n_features)
    X = sp.csr_array(np.where(generator.random(shape) < density, generator.random(shape), 0.0))
    return X, X @ generator.random(n_features) + generator.uniform(-1, 1, n_rows)


def _runs(
    X: Any, y: np.ndarray, alpha: float, kappa: int, n_steps: int, n_runs: int, seed: int
) -> dict[str, list[Any]]:
    """Models of all steps of the three algorithms, several runs of those that draw at random."""
    common: dict[str, Any] = {"kernel": "linear", "gamma": 1.0, "alpha": alpha, "max_atoms": n_steps}
    seeds = [seed * n_runs + run for run in range(n_runs)]
    return {
        GREEDY: [presets.sparse_gp_greedy(**common).fit(X, y)],
        RANDOM: [presets.sparse_gp_random(random_state=s, **common).fit(X, y) for s in seeds],
        KAPPA: [presets.sparse_gp_kappa(random_state=s, candidates=kappa, **common).fit(X, y) for s in seeds],
    }


def _report(model: Any, X: Any, y: np.ndarray) -> GapReport:
    return gap_report(model, X, y, exact=True)


def _exact_risk(report: GapReport) -> float:
    assert report.exact_risk is not None  # asked for
    return report.exact_risk


def _array(values: np.ndarray | None) -> np.ndarray:
    assert values is not None  # the theorem covers all three algorithms
    return values


def _gaps(model: Any, report: GapReport) -> np.ndarray:
    """Gaps of the models with 0, 1, ... steps; the path has the cost in sums, the report the risk in half means."""
    cost = model.path_.cost
    return cost * (report.risk[0] / cost[0]) - _exact_risk(report)


def _terms(model: Any) -> list[int]:
    """Numbers of terms after 0, 1, ... steps; fewer than steps where a term was picked again."""
    return [model.at(k).n_atoms_ for k in range(len(model.path_) + 1)]
