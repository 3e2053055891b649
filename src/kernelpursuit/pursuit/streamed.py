"""The path of models over all rows, from blocks of them: where every atom is picked, in an order that is known.

The loop needs the rows to choose an atom, and for what is recorded of each size. The first is a matter of inner
products alone, and the second of sums over rows: so one pass over blocks gives the moments, the loop runs on as many
rows as there are atoms, and a second pass gives residuals, leverages and every criterion of every size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.loop import why_end
from kernelpursuit.pursuit.models import Factor, Factored
from kernelpursuit.pursuit.moments import ModelColumns
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.reducers import (
    Freedom,
    LeaveOneOutError,
    LeaveOneOutQuantiles,
    LeaveOneOutWrong,
    Reducer,
    Residuals,
    ScoreCalibration,
    Sizes,
    ValidationError,
    ValidationWrong,
    calibration_rows,
    looked_at,
)
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.triangular_factor import TriangularFactor
from kernelpursuit.pursuit.watch import Watch
from kernelpursuit.rows import ArraySource, RowBlock, block_size
from kernelpursuit.stopping import StoppingRule

# What is made of a block in the second pass takes some times as much as its directions: so blocks are smaller.
BLOCK_BYTES = 8 * 2**20
# Atoms of which less is new are left to the loop over all rows, which may find them dependent.
BARELY_NEW = 10 * DEPENDENT
# Residuals of so many targets take no more than directions do; of more, blocks have fewer rows, down to some hundreds,
# and so few that residuals take no more than this.
TARGETS_A_BLOCK, RESIDUAL_BYTES = 2, 64 * 2**20
# Two passes over all rows find the same sum of weights but for rounding.
SAME_WEIGHT = 1e-9


@dataclass(frozen=True)
class Criteria:
    """Reducers that see the same rows."""

    reducers: tuple[Reducer, ...]

    def __add__(self, other: Criteria) -> Criteria:
        """The reducers of both sets of rows."""
        return Criteria(tuple(one + two for one, two in zip(self.reducers, other.reducers)))

    def results(self) -> dict[str, np.ndarray]:
        """The columns of a path that they make."""
        return {name: values for reducer in self.reducers for name, values in reducer.result().items()}


@dataclass(frozen=True)
class CriteriaOf:
    """The criteria of a block of rows under models of every size, for a pass over a source."""

    directions: ModelColumns
    b: np.ndarray
    reducers: tuple[Reducer, ...]

    def __call__(self, block: RowBlock) -> Criteria:
        """The criteria of these rows."""
        sizes = Sizes.of(block, self.directions.values(block.X), self.b, self.directions.n_fixed)
        return Criteria(tuple(reducer.of_block(sizes) for reducer in self.reducers))


def criteria_of(stream: Stream, factor: TriangularFactor, *reducers: Reducer) -> dict[str, np.ndarray]:
    """The columns of a path that reducers make of all rows, whatever their blocks are."""
    work = CriteriaOf(stream.columns.orthonormal(factor.R), factor.b, reducers)
    n_columns, n_targets = len(stream.columns), factor.b.shape[1]
    size = block_size(n_columns * max(1, n_targets // TARGETS_A_BLOCK), BLOCK_BYTES)
    at_most = max(1, RESIDUAL_BYTES // (8 * n_columns * n_targets))
    return stream.reduce(work, min(size, at_most)).results()


def streamed_path(
    problem: Problem,
    stream: Stream,
    factor: TriangularFactor,
    penalties: np.ndarray,
    *,
    spec: LoopSpec,
) -> PursuitPath | None:
    """The path on which the atoms of a stream are picked in their order; None where too little of one is new.

    Parameters
    ----------
    problem : Problem
        What is fitted, under the squared loss.
    stream : Stream
        Its rows, and its atoms in the order in which they are picked.
    factor : TriangularFactor
        R and b of these columns over all rows.
    penalties : array of shape (n_atoms, n_atoms)
        The penalty L, of atoms in their order.
    spec : LoopSpec
        Whether targets are codes of classes, and whether to record the quantiles of leave-one-out errors.

    Notes
    -----
    Time: `n k²` multiplications, and O(n k) for all criteria. Memory: some blocks for each thread.
    """
    n_fixed, atoms, scale = stream.columns.n_fixed, stream.columns.atoms, problem.scale
    if factor.new_parts.min() <= BARELY_NEW:
        return None
    reducers: list[Reducer] = [Residuals(), Freedom(), LeaveOneOutError()]
    calibration = _calibration_rows(problem)
    n_sizes = len(atoms) + 1
    if spec.classes:
        places = looked_at(n_sizes, stream.n_rows * factor.b.shape[1], problem.counts is not None)
        reducers += [LeaveOneOutWrong(places), ScoreCalibration(calibration, factor.b, scale, places)]
    elif spec.intervals:
        reducers.append(LeaveOneOutQuantiles(calibration, scale))
    found = _of_all_rows(criteria_of(stream, factor, *reducers), factor.total_weight)
    validation = _validation(problem, stream, factor, spec)
    squares, cost = scale**2, np.square(found["residual_norm"]) + _penalised(factor, n_fixed, penalties)
    missing = np.full(n_sizes, np.nan)
    return PursuitPath(
        atom=atoms,
        size=np.arange(n_sizes),
        cost=cost / squares,
        residual_norm=found["residual_norm"] / scale,
        dof=found["dof"],
        loo=found["loo"] / squares,
        loo_se=found["loo_se"] / squares,
        rcond=np.append(np.nan, _reciprocal_condition(factor.new_parts[n_fixed:])),
        correlation=missing,
        used=atoms,
        models=Factored(Factor(np.arange(len(atoms)), factor.R, factor.b / scale), n_fixed),
        n_fixed=n_fixed,
        n_targets=factor.b.shape[1],
        total_weight=factor.total_weight,
        n_units=float(found["n_units"]),
        target_residual=found["target_residual"] / squares,
        loo_error=found.get("loo_error"),
        inverse_temperature=found.get("inverse_temperature"),
        loo_quantiles=found.get("loo_quantiles") if spec.intervals else None,
        validation=validation.get("validation"),
        validation_error=validation.get("validation_error"),
        **problem.facts(),
    )


def ended(path: PursuitPath, rule: StoppingRule, watch: Watch, *, norms: tuple[float, float], last: str) -> PursuitPath:
    """The path up to where the loop would have ended on its way, by the rule or by callbacks that see the path.

    `norms` are those of the targets and of the unit in which they are, `last` what is said where all atoms are picked.
    """
    target_norm, scale = norms
    for k in range(path.n_steps + 1):
        running = replace(path.first(k), end_reason="running")
        reason = watch.step_done(running) if k else None
        reason = reason or why_end(float(path.residual_norm[k]) * scale, running, rule, target_norm)
        if reason is None and k == path.n_steps:
            reason = last
        if reason is not None:
            return replace(running, end_reason=reason)
    raise AssertionError("the last size ends the path")


def _of_all_rows(found: dict[str, np.ndarray], total_weight: float) -> dict[str, np.ndarray]:
    """Sums over the rows of a pass that was interrupted, as large as if the others were like them."""
    times = total_weight / float(found["weight"])
    if abs(times - 1.0) <= SAME_WEIGHT:
        return found
    sums = {name: times * found[name] for name in ("target_residual", "dof", "n_units")}
    return {**found, **sums, "residual_norm": np.sqrt(times) * found["residual_norm"]}


def _penalised(factor: TriangularFactor, n_fixed: int, penalties: np.ndarray) -> np.ndarray:
    """`w' L w` of the models of every size, whose weights are sums over the directions so far."""
    out = np.zeros(len(factor.R) - n_fixed + 1)
    if not penalties.any():
        return out
    T = np.linalg.inv(factor.R).T[:, n_fixed:]
    for along in factor.b.T:
        weights = np.cumsum(along[:, None] * T, axis=0)[max(n_fixed - 1, 0) :]
        out[len(out) - len(weights) :] += np.einsum("ij,ij->i", weights @ penalties, weights)
    return out


def _reciprocal_condition(new: np.ndarray) -> np.ndarray:
    """That of the basis and the next atom, of whose squared length the part `new` is new; see `PursuitPath.rcond`."""
    new = np.minimum(new, 1.0)
    return np.sqrt(new) / (1.0 + np.sqrt(1.0 - new))


def _calibration_rows(problem: Problem) -> np.ndarray:
    """Numbers of the rows whose leave-one-out errors calibrate intervals; of a sample, among all rows."""
    chosen = calibration_rows(problem.targets.shape[1], problem.calibrates)
    return chosen if problem.all_rows is None else problem.all_rows.numbers[chosen]


def _validation(problem: Problem, stream: Stream, factor: TriangularFactor, spec: LoopSpec) -> dict[str, np.ndarray]:
    """The errors of every size on validation rows, by the names of their columns; nothing where there are none."""
    if problem.held_out is None:
        return {}
    X, targets, weights = problem.held_out
    counted = np.flatnonzero(weights)
    held_out = ArraySource(X[counted], problem.scale * targets.T[counted], weights[counted])
    limits = None if problem.limits is None else problem.limits * problem.scale
    rows = Stream.of_arrays(held_out, stream.columns, stream.n_threads)
    reducers: list[Reducer] = [ValidationError(limits)]
    if spec.classes:
        reducers.append(ValidationWrong(limits))
    found = criteria_of(rows, factor, *reducers)
    return {**found, "validation": found["validation"] / problem.scale**2}
