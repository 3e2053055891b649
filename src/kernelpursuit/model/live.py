"""A fitted model that follows rows as they come: coefficients exactly, and new atoms where errors ask for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._native.threads import one_blas_thread
from kernelpursuit.dictionary import Dictionary, KernelAtoms, Precomputed
from kernelpursuit.model.constants import ADMISSION_GAIN, ADMISSION_STANDARD_ERRORS, BUFFER_CANDIDATES
from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.model.latest import aged, none_of, together
from kernelpursuit.model.outside import Outside, widened_range
from kernelpursuit.penalties import Atoms, as_penalty
from kernelpursuit.pursuit import LoopSpec, PursuitPath, TrainingRows, run_pursuit
from kernelpursuit.pursuit.live import LiveFit, Solution
from kernelpursuit.pursuit.models import Factor, Factored
from kernelpursuit.pursuit.moments import ModelColumns, Moments
from kernelpursuit.rows import RowBlock, dense
from kernelpursuit.stopping import Loo, count_atoms
from kernelpursuit.updates import Orthogonal


@dataclass(frozen=True)
class Learning:
    """What was known when kernel, scales and penalty were learned.

    n_rows   number of rows that they were learned from
    n_atoms  number of atoms of the model
    loo      the lowest leave-one-out error of a model that was learned
    """

    n_rows: int
    n_atoms: int
    loo: float

    @classmethod
    def of(cls, model: FittedModel, n_rows: int) -> Learning:
        """What a model says that was learned from so many rows."""
        return cls(n_rows, n_atoms=model.n_steps, loo=_last(model.path.loo))


@dataclass(frozen=True)
class LiveModel:
    """A model, the moments that it goes on from, and the latest rows.

    model       the model as it is
    fit         its moments
    latest      the latest rows, at most `BUFFER_ROWS`, at which new atoms may be, with the weights that they have now
    earlier     up to `EARLIER_ROWS` rows that stand for those before, with their weight; of rows that are gone, centres
    n_seen      number of rows so far
    looked_at   number of rows when new atoms were looked for
    tried_at    number of rows when scales were learned, or when that was tried again
    learning    what was known when they were learned
    inflation   how many times the leave-one-out error of the first fit was the error by generalised cross-validation
    """

    model: FittedModel
    fit: LiveFit
    latest: RowBlock | None
    earlier: RowBlock
    n_seen: int
    looked_at: int
    tried_at: int
    learning: Learning
    inflation: float

    @classmethod
    def of(cls, model: FittedModel, n_rows: int, seen: tuple[RowBlock, RowBlock] | None = None) -> LiveModel:
        """The model that a fit of so many rows has kept, without the rest of its path.

        `seen` are the latest of its rows and those that stand for the others, where they are known (`latest.begun`).
        """
        _check(model)
        model = model.without_later_steps()
        path, columns = model.path, _columns(model, model.atoms)
        factor = path.factor(path.n_steps)
        solution = Solution(factor.R, factor.b, path.cost, target_residual=path.target_residual, dof=path.dof)
        nothing = np.zeros((0, 0))
        rows = Moments(nothing, nothing, nothing, total_weight=path.total_weight, n_rows=n_rows)
        fit = LiveFit.of(columns, solution, rows, penalty=model.origin.penalty, alpha=model.origin.alpha)
        expected, loo = float(_gcv(solution, path.total_weight, _unit(model))[-1]), _last(path.loo)
        inflation = loo / expected if np.isfinite(loo) and expected > 0 else 1.0
        latest, earlier = (None, _at_centers(model)) if seen is None else seen
        return cls(
            model,
            fit,
            latest,
            earlier,
            n_seen=n_rows,
            looked_at=n_rows,
            tried_at=n_rows,
            learning=Learning.of(model, n_rows),
            inflation=max(inflation, 1.0),
        )

    def begun_anew(self, model: FittedModel, alpha: float, *, rows: RowBlock, n_learned: int) -> LiveModel:
        """What goes on from a model that was learned from some of these rows, the latest.

        Its weights are those of all of these, and of the rows that stand for others, none of which counts more than one
        of the latest does: with the weight of all that it stands for, so few would decide. `alpha` is in the unit of
        these weights.
        """
        n_seen, earlier, latest = self.n_seen, self.earlier, rows
        earlier = replace(earlier, weights=np.minimum(earlier.sample_weights, latest.sample_weights.mean()))
        rows = together([earlier, latest]) if len(earlier) else latest
        live, k, n_targets = LiveModel.of(model, n_learned), model.n_steps + model.path.n_fixed, rows.y.shape[1]
        nothing = Moments(np.zeros((k, k)), np.zeros((k, n_targets)), np.zeros(n_targets), total_weight=0.0, n_rows=0)
        origin = replace(model.origin, alpha=alpha)
        live = replace(
            live,
            model=replace(live.model, origin=origin),
            fit=replace(live.fit, moments=nothing, alpha=alpha).added(rows),
            latest=latest,
            earlier=earlier,
            n_seen=n_seen,
            looked_at=n_seen,
            tried_at=n_seen,
        )._solved(rows)
        model = live.model
        if model.outside is not None and self.model.outside is not None:
            model = replace(model, outside=model.outside.united(self.model.outside))
        learning = Learning.of(model, n_learned)
        best = min(learning.loo, self.learning.loo)
        return replace(live, model=model, learning=replace(learning, loo=best))

    def squared_errors(self, rows: RowBlock, n_threads: int | None) -> np.ndarray:
        """Of rows that were fitted, errors as large as those of other rows, in the units that the path has."""
        path = self.model.path
        errors = np.square((rows.y - self.model.scores(rows.X, n_threads)) / _unit(self.model)).mean(axis=1)
        unit = np.square(_unit(self.model))
        fitted = float(np.mean(path.target_residual[-1] / unit)) / path.total_weight if path.total_weight else 0.0
        expected = _last(path.loo)
        return errors * (expected / fitted if fitted > 0 and np.isfinite(expected) else 1.0)

    def updated(
        self, block: RowBlock, *, forgetting: float, max_atoms: int, new_atoms: bool, n_threads: int | None
    ) -> LiveModel:
        """The model after more rows."""
        surprise = _mean_square(self.model, block, n_threads)
        with one_blas_thread():
            fit = self.fit.added(block, forgetting, n_threads)
            latest, earlier = aged(self.latest, self.earlier, block, forgetting)
            n_seen = self.n_seen + len(block)
            live = replace(self, fit=fit, latest=latest, earlier=earlier, n_seen=n_seen)._solved(block)
            is_surprised = surprise > (1 + ADMISSION_GAIN) * _last(self.model.path.loo)
            is_due = is_surprised or n_seen >= 2 * self.looked_at
            if new_atoms and is_due and live.model.n_steps < max_atoms:
                live = replace(live, looked_at=n_seen)._admitted(max_atoms, n_threads)
        return live

    def _solved(self, block: RowBlock) -> LiveModel:
        """The model with the weights that least squares give now."""
        solution, fit = self.fit.solved()
        moments, model = fit.moments, self.model
        loo = self.inflation * _gcv(solution, moments.total_weight, _unit(model))
        path = _path(model.path, solution, fit, loo)
        largest = max(path.largest_target, float(np.abs(block.y / _unit(model)).max(initial=0.0)))
        path = replace(path, largest_target=largest, n_units=float(moments.total_weight))
        size = count_atoms(path.n_steps)
        reason = f"{size}: {self.n_seen} rows so far, the latest by partial_fit"
        if solution.ridge:
            reason += (
                f"; a ridge of {solution.ridge:g} of the mean square stands for what the rows that count do not tell"
            )
        model = replace(model, path=path, n_steps=path.n_steps, reason=reason)
        if model.outside is not None and len(block):
            model = replace(model, outside=_widened(model.outside, model, block))
        return replace(self, model=model, fit=fit)

    def _admitted(self, max_atoms: int, n_threads: int | None) -> LiveModel:
        """The model with atoms at some of the latest rows, where those lower the leave-one-out error there."""
        rows, model = self.latest, self.model
        atoms = model.atoms
        if rows is None or not isinstance(atoms, KernelAtoms) or not len(rows):
            return self
        n_most = max_atoms - model.n_steps
        residual = rows.y - model.scores(rows.X, n_threads)
        places = np.linspace(0, len(rows) - 1, min(len(rows), BUFFER_CANDIDATES)).astype(np.intp)
        candidates = atoms.with_centers(dense(rows.X[places], np.float64))
        # A penalty that grows with the rows is as strong here as beside all of them.
        here, everywhere = (Atoms.of(candidates, w) for w in (rows.total_weight, self.fit.moments.total_weight))
        penalty = as_penalty(model.origin.penalty)
        strengths = (1.0, 1.0) if penalty is None else (penalty.strength(1.0, here), penalty.strength(1.0, everywhere))
        loop = LoopSpec(
            candidates,
            min(n_most, len(places)),
            0,
            rule=Loo(),
            penalty=penalty,
            alpha=model.origin.alpha * strengths[1] / strengths[0],
            intervals=False,
            n_jobs=n_threads,
        )
        found = run_pursuit(TrainingRows(rows.X, residual / _unit(model), rows.weights), loop)
        assert found.path.loo is not None
        assert found.path.loo_se is not None
        before, after = found.path.loo[0], found.path.loo[found.n_kept]
        error = ADMISSION_STANDARD_ERRORS * found.path.loo_se[found.n_kept]
        is_clear = before - after > max(ADMISSION_GAIN * before, error)
        if not found.n_kept or not is_clear:
            return self
        picked = found.path.atoms(found.n_kept)
        earlier = replace(self.earlier, y=self.earlier.y - model.scores(self.earlier.X, n_threads))
        fit, kept = self.fit.with_atoms(_columns(model, atoms.joined(candidates.take(picked))), rows, earlier)
        numbers = rows.numbers[places[picked[kept]]]
        wider = replace(model, atoms=fit.columns.dictionary, numbers=np.concatenate([model.numbers, numbers]))
        return replace(self, model=wider, fit=fit)._solved(none_of(rows))


def _check(model: FittedModel) -> None:
    """Refuse models whose weights are no least-squares fit of fixed atoms."""
    penalty = as_penalty(model.origin.penalty)
    orders = penalty is not None and (penalty.depends_on_order or penalty.changes_dictionary)
    is_refitted = isinstance(model.origin.update, Orthogonal) and not model.path.swaps
    if model.measure.loss is not None or not is_refitted or orders:
        raise ValueError(
            "partial_fit needs the squared loss, update='orthogonal', exchange=False and penalty 'auto', 'ridge' or "
            "'rkhs'; use fit for other models."
        )
    if isinstance(model.atoms, Precomputed):
        raise ValueError("partial_fit does not go with kernel='precomputed'; give rows.")


def _columns(model: FittedModel, atoms: Dictionary) -> ModelColumns:
    return ModelColumns(atoms, np.arange(atoms.n_atoms), model.always, model.path.intercept_is_fitted)


def _unit(model: FittedModel) -> np.ndarray | float:
    return 1.0 if model.units is None else model.units


def _last(loo: np.ndarray | None) -> float:
    """The leave-one-out error of the largest model, infinite where it is not known."""
    return np.inf if loo is None else float(loo[-1])


def _gcv(solution: Solution, total_weight: float, unit: np.ndarray | float) -> np.ndarray:
    """The error of every size by generalised cross-validation (Golub, Heath and Wahba 1979), targets averaged."""
    mean = np.mean(solution.target_residual / np.square(unit), axis=1) / total_weight
    left = np.maximum(1.0 - solution.dof / total_weight, np.finfo(float).eps)
    return mean / np.square(left)


def _path(path: PursuitPath, solution: Solution, fit: LiveFit, loo: np.ndarray) -> PursuitPath:
    """The path with what is known of its models now; sizes that are new have what the last had."""
    n_steps = len(loo) - 1
    n_more = n_steps - path.n_steps
    before = _last(path.loo)
    scale = np.sqrt(loo[-1] / before) if np.isfinite(before) and before > 0 else 1.0

    def longer(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else np.concatenate([column, np.repeat(column[-1:], n_more, axis=0)])

    quantiles, loo_se = longer(path.loo_quantiles), longer(path.loo_se)
    if quantiles is not None and path.loo_error is None:
        quantiles = quantiles * scale
    return replace(
        path,
        atom=np.arange(n_steps),
        used=np.arange(n_steps),
        size=np.arange(n_steps + 1),
        cost=solution.cost,
        residual_norm=np.sqrt(solution.target_residual.sum(axis=1)),
        target_residual=solution.target_residual,
        dof=solution.dof,
        loo=loo,
        loo_se=loo_se,
        loo_quantiles=quantiles,
        loo_error=longer(path.loo_error),
        inverse_temperature=longer(path.inverse_temperature),
        rcond=np.full(n_steps + 1, np.nan),
        correlation=np.full(n_steps + 1, np.nan),
        validation=None,
        validation_error=None,
        cv=None,
        cv_error=None,
        skipped=[],
        refits={},
        models=Factored(Factor(np.arange(n_steps), solution.R, solution.b), path.n_fixed),
        total_weight=float(fit.moments.total_weight),
        end_reason="rows came by partial_fit",
    )


def _mean_square(model: FittedModel, block: RowBlock, n_threads: int | None) -> float:
    """The mean squared error of rows before they are fitted, in the units that the path has."""
    errors = (block.y - model.scores(block.X, n_threads)) / _unit(model)
    return float(block.sample_weights @ np.square(errors).mean(axis=1) / block.total_weight)


def _at_centers(model: FittedModel) -> RowBlock:
    """Rows at the centres of a model, which stand for those that it was fitted to, with its predictions for targets."""
    centers = model.centers if isinstance(model.atoms, KernelAtoms) else None
    X = np.zeros((0, 1)) if centers is None else dense(centers, np.float64)
    y = model.scores(X) if len(X) else np.zeros((0, model.path.n_targets))
    return RowBlock(0, X, y, weights=np.full(len(X), model.path.total_weight / max(len(X), 1)))


def _widened(outside: Outside, model: FittedModel, block: RowBlock) -> Outside:
    """The box of the rows and the range of the targets, with those of more rows."""
    X = dense(block.X, np.float64)[:, outside.features]
    targets = block.y - model.base(block.X) if model.scores_are_targets else block.y
    floor, ceiling = widened_range(targets)
    limits = outside.limits
    if limits is not None:
        low, high = widened_range(block.y)
        limits = np.array([np.minimum(limits[0], low), np.maximum(limits[1], high)])
    return replace(
        outside,
        low=np.minimum(outside.low, X.min(axis=0)),
        high=np.maximum(outside.high, X.max(axis=0)),
        floor=np.minimum(outside.floor, floor),
        ceiling=np.maximum(outside.ceiling, ceiling),
        limits=limits,
    )
