"""What comes after classes were learned under the squared loss: validation, and the loop under the final loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary, KernelAtoms
from kernelpursuit.estimators.resolve import Resolved, learning_rows
from kernelpursuit.estimators.spec import MOST_LEARNED, FitSpec
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning import (
    Columns,
    Distinct,
    Split,
    ValidationScores,
    choose_final_loss,
    deal_folds,
    sample_of,
    scores_under,
    square_scores,
    targets_of,
)
from kernelpursuit.learning.atoms import KEEP_ALL
from kernelpursuit.learning.constants import MAX_FINAL_PRODUCTS, ONE_SPLIT_FROM
from kernelpursuit.losses import Loss
from kernelpursuit.model import FittedModel
from kernelpursuit.penalties import Atoms, Penalty, as_penalty
from kernelpursuit.pursuit import LoopSpec, TrainingRows, Watch, one_blas_thread, resolve_threads, run_pursuit
from kernelpursuit.rows import RowBlock
from kernelpursuit.stopping import ALL_LEARNED


@dataclass(frozen=True)
class Validated:
    """What validation rows say of a classifier.

    scores    of the validation rows; None where no atom was picked, or the fit was asked to end
    resolved  the loop under the final loss, over the atoms that the squared loss has picked; None where that is kept
    rows      of the loop, with targets as the loss takes them
    """

    scores: ValidationScores | None
    resolved: Resolved | None = None
    rows: TrainingRows | None = None


def validate_classes(
    model: FittedModel, rows: TrainingRows, spec: FitSpec, *, resolved: Resolved, watch: Watch
) -> Validated:
    """Validate a model of the squared loss, and decide how coefficients are found under the final loss, if any.

    Its atoms are those that the automatic rule has kept. Any other rule may want more, and has all of the path. Of a
    constant there is nothing to validate: under a likelihood its probabilities are the shares of the classes.
    """
    loss, penalty = _resolved_loss(spec, rows), as_penalty(resolved.loop.penalty)
    if loss is None and rows.calibrates is not None:
        # The path is calibrated on these rows as it is.
        return Validated(None)
    n_atoms = model.n_steps if spec.stops_by_auto and model.n_steps else model.path.n_steps
    if not n_atoms or penalty is None:
        return Validated(None) if loss is None else _under(loss, resolved, rows)
    atoms = model.atoms.take(np.arange(n_atoms))
    total = float(model.path.total_weight)
    with one_blas_thread():
        trials = _Trials.of(model, rows, spec, resolved=resolved, watch=watch)
        strength = penalty.strength(resolved.loop.alpha, Atoms.of(atoms, total))
        first = trials.splits(1.0, penalty)
        scores = square_scores(first, strength)
        is_too_costly = spec.chooses_loss and trials.n_products > MAX_FINAL_PRODUCTS
        if loss is None or is_too_costly or watch.has_ended:
            return Validated(scores)
        loop = replace(
            resolved.loop,
            candidates="all",
            max_atoms=n_atoms,
            all_picked=ALL_LEARNED,
            by_moments=False,
            # The squared loss has chosen the atoms, and how many: the final loss keeps them.
            rule=KEEP_ALL if spec.stops_by_auto and model.n_steps else resolved.loop.rule,
        )
        if spec.alpha is None:
            rival = scores if spec.chooses_loss and model.n_steps else None
            # A loss that has the constant has the columns of the square where widths are the same.
            known = {1.0: first} if loss.has_constant else {}
            found = choose_final_loss(
                lambda factor: known.get(factor) or trials.splits(factor, penalty, loss.has_constant),
                loss,
                watch,
                rival=rival,
            )
            if found is None:
                return Validated(scores)
            atoms, scores = _wider(atoms, found.width_factor), found.scores
            resolved = _of_width(resolved, found.width_factor)
            loop = replace(loop, alpha=found.strength / penalty.strength(1.0, Atoms.of(atoms, total)))
        else:
            given = as_penalty(spec.loop.penalty)
            assert given is not None
            strength = given.strength(spec.alpha, Atoms.of(atoms, total))
            scores = scores_under(trials.splits(1.0, given, loss.has_constant), loss, strength, watch)
            loop = replace(loop, penalty=spec.loop.penalty, alpha=spec.alpha)
    trend = None if resolved.learned is None else resolved.learned.trend
    loop = replace(loop, dictionary=spec.with_trend(atoms, trend))
    return _under(loss, replace(resolved, loop=loop), rows, scores)


def _resolved_loss(spec: FitSpec, rows: TrainingRows) -> Loss | None:
    """The final loss with what the targets decide of it."""
    if spec.final_loss is None:
        return None
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    return spec.final_loss.resolve(targets_of(rows.y.T, spec.final_loss), weights)


def _under(loss: Loss, resolved: Resolved, rows: TrainingRows, scores: ValidationScores | None = None) -> Validated:
    """The loop under the final loss, and its rows."""
    return Validated(scores, replace(resolved, loop=replace(resolved.loop, loss=loss)), _with_targets(rows, loss))


@dataclass(frozen=True)
class _Trial:
    """Atoms that were picked without the validation rows, and both kinds of rows by their numbers."""

    atoms: Dictionary
    fitted: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True)
class _Trials:
    """Models that have not seen their validation rows.

    Learned atoms were picked without some rows. Else the loop picks atoms anew without each fold.
    """

    model: FittedModel
    rows: TrainingRows
    weights: np.ndarray
    trials: Sequence[_Trial]
    n_threads: int

    @classmethod
    def of(cls, model: FittedModel, rows: TrainingRows, spec: FitSpec, *, resolved: Resolved, watch: Watch) -> _Trials:
        """Validation rows for a model, and atoms that were picked without them."""
        given = learning_rows(spec, rows.y, rows.weights)
        weights = np.ones(len(rows.y)) if given is None else given
        distinct = Distinct.of(rows.X, rows.y, given)
        # Rows that are all looked at are dealt in one way, so that nothing is left to the seed.
        seed = 0 if len(distinct) < ONE_SPLIT_FROM else spec.loop.seed
        trials = []
        if rows.calibrates is not None:
            kept = model.atoms.take(np.arange(model.n_steps or model.path.n_steps))
            is_fitted = (weights > 0) & ~rows.calibrates
            is_validation = (weights > 0) & rows.calibrates
            parts = (sample_of(marks, distinct, seed) for marks in (is_fitted, is_validation))
            trials.append(_Trial(kept, *parts))
        else:
            folds = list(deal_folds(rows.y.T, distinct, seed))
            for i, is_validation in enumerate(folds):
                with watch.within(i / len(folds), (i + 1) / len(folds), hidden=True):
                    loop = _for_fewer_rows(resolved.loop, model, weights, is_validation)
                    found = run_pursuit(_without(is_validation, rows, weights), loop, callback=watch)
                    atoms = found.atoms.take(found.path.members(found.n_kept))
                is_fitted = (weights > 0) & ~is_validation
                parts = (sample_of(marks, distinct, seed) for marks in (is_fitted, is_validation))
                trials.append(_Trial(atoms, *parts))
        return cls(model, rows, weights=weights, trials=trials, n_threads=resolve_threads(spec.loop.n_jobs))

    @property
    def n_products(self) -> float:
        """Products in one look at a loss: rows that are fitted, atoms and targets.

        Atoms beyond those that every fit may have do not count: where these were worth their time, the loss is too.
        """
        n_atoms = [min(trial.atoms.n_atoms, MOST_LEARNED) for trial in self.trials]
        return float(self.rows.y.shape[1] * sum(len(trial.fitted) * n for trial, n in zip(self.trials, n_atoms)))

    def splits(self, width_factor: float, penalty: Penalty, has_constant: bool = True) -> list[Split]:
        """The columns of every trial, with atoms of other widths, and without a constant where a loss has none."""
        found = []
        for trial in self.trials:
            atoms = _wider(trial.atoms, width_factor)
            # The strength is what is looked for, and the matrix is without it.
            over, every = Atoms.of(atoms, 1.0), np.arange(atoms.n_atoms)
            between = penalty.between(over, every, every)
            gram = np.diag(penalty.diagonal(over)) if between is None else between
            found.append(
                Split(*(self._columns(atoms, part, gram, has_constant) for part in (trial.fitted, trial.validation)))
            )
        return found

    def _columns(self, atoms: Dictionary, numbers: np.ndarray, gram: np.ndarray, has_constant: bool) -> Columns:
        X: Matrix = self.rows.X[numbers]
        fixed = self.model.fixed_values(X, self.n_threads)
        if not has_constant and self.model.path.intercept_is_fitted:
            fixed = fixed[1:]
        values = np.vstack([fixed, self.model.values(X, atoms, self.n_threads)])
        codes = np.ascontiguousarray(self.rows.y[numbers].T)
        return Columns(values, n_fixed=len(fixed), gram=gram, codes=codes, weights=self.weights[numbers])


def _without(is_validation: np.ndarray, rows: TrainingRows, weights: np.ndarray) -> TrainingRows:
    """Rows without those for validation, which have no weight."""
    return replace(rows, weights=np.where(is_validation, 0.0, weights), validation=None, all_rows=None)


def _for_fewer_rows(loop: LoopSpec, model: FittedModel, weights: np.ndarray, is_left_out: np.ndarray) -> LoopSpec:
    """The loop that picks as many atoms of fewer rows, with the same penalty where that grows with their number."""
    penalty = as_penalty(loop.penalty)
    assert penalty is not None
    units = [penalty.strength(1.0, Atoms.of(model.atoms, float(w.sum()))) for w in (weights, weights[~is_left_out])]
    return replace(
        loop,
        alpha=loop.alpha * units[0] / units[1],
        max_atoms=model.n_steps or model.path.n_steps,
        rule=KEEP_ALL,
        classes=False,
        intervals=False,
        verbose=False,
    )


def _wider(atoms: Dictionary, factor: float) -> Dictionary:
    """The same kernels with widths that are some times as large; any other dictionary as it is."""
    if not isinstance(atoms, KernelAtoms) or factor == 1.0:
        return atoms
    return KernelAtoms(_wider_kernel(atoms.kernel, factor), atoms.centers, factors=atoms.factors)


def _wider_kernel(kernel: Kernel, factor: float) -> Kernel:
    return kernel.with_gamma(np.asarray(kernel.gamma) * (1 / factor) ** (1 / kernel.gamma_power))


def _of_width(resolved: Resolved, factor: float) -> Resolved:
    """What was learned, with widths that are some times as large."""
    learned = resolved.learned
    if learned is None or factor == 1.0:
        return resolved
    scales = learned.scales / factor
    learned = replace(learned, kernel=_wider_kernel(learned.kernel, factor), scales=scales)
    return replace(resolved, learned=learned, scales=scales)


def _with_targets(rows: TrainingRows, loss: Loss) -> TrainingRows:
    """Rows with targets as a loss takes them."""
    validation = rows.validation
    if validation is not None:
        validation = (validation[0], targets_of(np.asarray(validation[1]), loss), validation[2])
    all_rows = rows.all_rows
    if all_rows is not None:
        all_rows = replace(all_rows, source=all_rows.source.map(TargetsOf(loss)))
    return replace(rows, y=targets_of(rows.y, loss), validation=validation, all_rows=all_rows)


@dataclass(frozen=True)
class TargetsOf:
    """A block with targets as a loss takes them, for codes of -1 and +1."""

    loss: Loss

    def __call__(self, block: RowBlock) -> RowBlock:
        """The block with other targets."""
        return replace(block, y=targets_of(block.y, self.loss))
